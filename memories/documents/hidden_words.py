"""The parts of a file that nobody may read: secrets, and orders to its readers. Blocks replace them
before the text is cut, so that no reader of it has to know."""

import json
import re
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from memories.belief.resolve.forgotten_words import ForgottenWords, ToldAgain, places_in
from memories.file_formats.assembly import FileText, TextPlace
from memories.models import Document, MaskedSpan, Revision
from memories.reading import guard
from memories.reading.guard.masked_text import (
    BLOCK,
    escaped,
    in_names,
    is_all_masked,
    masked,
    text_at,
    unmasked,
    with_text_at,
    without_masked,
    without_words,
)
from workspaces.models.workspace import uuid7
from workspaces.scope import Scope

SHORTEST = 4  # characters; what is shorter stands in a title by chance
MOST_WARNINGS = 50
OF_SECRETS = "secret_masked"
TOLD_AGAIN = "told again"  # why it is masked
LONGEST_ENDING = 8
JSON_SIGNS = ' "{}[],:'
_blocks = re.compile(f"{BLOCK}+")


@dataclass(frozen=True, slots=True)
class HiddenWords:
    """A file's text as it is kept, and what was taken out of it."""

    text: FileText
    original: FileText
    places: list[guard.Finding]
    in_names: int = 0  # how much in its title, author and parts that its text does not say
    forgotten: tuple[ToldAgain, ...] = ()  # places where it tells again what its subject had forgotten
    told: Mapping[str, uuid.UUID | None] = field(default_factory=dict)  # those words, with causes

    def masks_of(self, revision: Revision) -> list[MaskedSpan]:
        """Unsaved."""
        return [
            MaskedSpan(
                workspace_id=revision.workspace_id,
                revision=revision,
                place="text",
                start=each.start,
                end=each.end,
                words=self.original.text[each.start : each.end],
                kind=MaskedSpan.Kind.SECRET,
                reason=guard.LABELS[each.label],
            )
            for each in self.places
        ] + [
            MaskedSpan(
                workspace_id=revision.workspace_id,
                revision=revision,
                place="text",
                start=each.start,
                end=each.end,
                words=self.original.text[each.start : each.end],
                kind=MaskedSpan.Kind.FORGOTTEN,
                reason=TOLD_AGAIN,
                cause=each.cause,
            )
            for each in self.forgotten
        ]

    def without(
        self,
        places: Sequence[ToldAgain],
        forgotten: Sequence[ForgottenWords] = (),
        beside: Iterable[str] = (),
    ) -> "HiddenWords":
        """With these places masked, too, and its title, author and labels where they have the same
        words, or tell something `forgotten` themselves, as names `beside` it may."""
        spans = [(place.start, place.end) for place in places]
        words = words_at(self.original.text, places) | told_in_names(
            (
                self.text.title,
                self.text.author,
                *beside,
                *(part.label for part in self.text.parts),
            ),
            forgotten,
        )
        text = replace(
            self.text,
            text=masked(self.text.text, spans),
            parts=[replace(part, label=without_words(part.label, words)) for part in self.text.parts],
            title=without_words(self.text.title, words),
            author=without_words(self.text.author, words),
        )
        return replace(self, text=text, forgotten=tuple(places), told={**self.told, **words})

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """{code, part}: where something was taken out, and how often."""
        # Parts of one kind do not overlap. They are looked up, for there may be thousands.
        kinds: dict[str, tuple[list[int], list[TextPlace]]] = {}
        for part in sorted(self.text.parts, key=lambda part: part.start):
            if part.kind != "definition":
                starts, own = kinds.setdefault(part.kind, ([], []))
                starts.append(part.start)
                own.append(part)
        counts: Counter[tuple[str, str]] = Counter()
        for each in self.places:
            found = (
                own[at]
                for starts, own in kinds.values()
                if (at := bisect_right(starts, each.start) - 1) >= 0 and each.start < own[at].end
            )
            label = next((part.label for part in found), "the text")
            counts[f"{each.kind}_masked", label] += 1
        if self.in_names:
            counts[OF_SECRETS, "names"] = self.in_names
        return [
            {"code": code, "part": label, "count": count} for (code, label), count in counts.most_common(MOST_WARNINGS)
        ]


def hide_words(read: FileText, allowed: Collection[str] = ()) -> HiddenWords:
    """`allowed` are labels of guard that the workspace lets through."""
    places = guard.findings(read.text, guard.OTHER, allowed)
    beside = "\n".join((read.title, read.author, *(part.label for part in read.parts)))
    words = {read.text[each.start : each.end].strip() for each in places}
    in_names = {each for each in _words_in(beside, allowed) if not any(each in w for w in words)}
    words |= in_names
    # Few of many secrets stand in the names of many parts: a name is not looked through for each.
    said = {beside[at : at + SHORTEST] for at in range(len(beside))}
    named = (w for w in words if len(w) >= SHORTEST and said >= {w[:SHORTEST], w[-SHORTEST:]})
    repeated = sorted(named, key=len, reverse=True)
    if not repeated and not places:
        return HiddenWords(read, read, [])
    kept = replace(
        read,
        text=masked(read.text, [(each.start, each.end) for each in places]),
        parts=[replace(part, label=without_words(part.label, repeated)) for part in read.parts],
        title=without_words(read.title, repeated),
        author=without_words(read.author, repeated),
    )
    return HiddenWords(kept, read, places, len(in_names))


def with_masks_before(hidden: HiddenWords, known: Revision | None) -> HiddenWords:
    """Add the masks of the revision before, where all else reads as it did: words that come in the
    place of masked ones are masked likewise, be they the same or not."""
    now = hidden.text.text
    if known is None or without_masked(now, known.text) != known.text:
        return hidden
    more = [
        ToldAgain(each.start, each.end, each.cause)
        for each in known.masks.filter(place="text").order_by("pk")
        if not is_all_masked(now[each.start : each.end])
    ]
    return hidden.without([*hidden.forgotten, *more])


def of_title(revision: Revision, masks: Iterable[MaskedSpan], words: Collection[str]) -> list[MaskedSpan]:
    """The unsaved masks of these words in the title that a revision has of its document."""
    titled = [mask for mask in masks if mask.words in words]
    for mask in titled:
        mask.pk, mask.document, mask.revision = uuid7(), None, revision
        mask._state.adding = True
    return titled


def words_at(text: str, places: Iterable[ToldAgain]) -> dict[str, uuid.UUID | None]:
    """The words at these places in the forms that names have of them, the longest first; each with
    the cause for which it is forgotten."""
    causes = {text[one.start : one.end].strip(f"{BLOCK} \n"): one.cause for one in places}
    forms = {form: cause for words, cause in causes.items() for form in in_names([words]) if len(form) >= SHORTEST}
    return {form: forms[form] for form in sorted(forms, key=len, reverse=True)}


def told_in_names(names: Iterable[str], forgotten: Sequence[ForgottenWords]) -> dict[str, uuid.UUID | None]:
    """The words of names of a document that tell again what whoever it is about had forgotten."""
    beside = "\n\n".join(dict.fromkeys(name for name in names if name)) if forgotten else ""
    return words_at(beside, places_in(beside, forgotten, is_his=True))


def without_secrets(value: Any, allowed: Collection[str] = ()) -> Any:
    """Return text or metadata about a document as it may be served, with blocks in place of
    secrets."""
    words = set().union(*(_words_in(text, allowed) for text in _texts_in(value)))
    if not isinstance(value, str):  # a key may tell what its value is
        written = _words_in(json.dumps(value, ensure_ascii=False), allowed)
        words |= {word for each in written if (word := each.strip(JSON_SIGNS))}
    return without_words(value, sorted(words, key=len, reverse=True))


def name_without_secrets(name: str, allowed: Collection[str] = ()) -> str:
    """Return a file name without secrets; its ending, which tells its type, stays."""
    stem, dot, ending = name.rpartition(".")
    if not stem or not ending.isalnum() or len(ending) > LONGEST_ENDING:
        return str(without_secrets(name, allowed))
    return f"{without_secrets(stem, allowed)}{dot}{ending}"


def keep_hidden(
    document: Document,
    said: Mapping[str, Any],
    forgotten: Mapping[str, uuid.UUID | None] | None = None,
) -> None:
    """Keep what was taken out of columns of a document, which `said` so before, of `forgotten`
    words with their cause; what was kept of these columns goes, unless somebody asked to forget it
    and it is masked still."""
    causes = forgotten or {}
    named = Q()
    for column in said:
        named |= Q(place=column) | Q(place__startswith=f"{column}/")
    staying = set()
    for mask in document.masks.filter(named) if said else ():
        is_forgotten = mask.kind == MaskedSpan.Kind.FORGOTTEN
        try:
            text = text_at(getattr(document, mask.column), mask.pointer)
        except (LookupError, ValueError, TypeError):
            text = ""
        if is_forgotten and text[mask.start : mask.end] == BLOCK * len(mask.words):
            staying.add((mask.place, mask.start))
        else:
            mask.delete()
    MaskedSpan.objects.bulk_create(
        MaskedSpan(
            workspace_id=document.workspace_id,
            document=document,
            place=column + pointer,
            start=start,
            end=start + len(words),
            words=words,
            cause=causes.get(words),
            kind=MaskedSpan.Kind.FORGOTTEN if words in causes else MaskedSpan.Kind.SECRET,
            reason=TOLD_AGAIN if words in causes else "",
        )
        for column, value in said.items()
        for pointer, start, words in _taken(value, getattr(document, column), "")
        if (column + pointer, start) not in staying
    )


def _taken(said: Any, kept: Any, pointer: str) -> Iterator[tuple[str, int, str]]:
    """Find the blocks in `kept` that `said` does not have. Yield their pointer, place and words."""
    if isinstance(kept, str) and isinstance(said, str) and len(said) == len(kept):
        for run in _blocks.finditer(kept):
            if (words := said[run.start() : run.end()]) != run[0]:
                yield pointer, run.start(), words
    elif isinstance(kept, list | dict) and type(said) is type(kept):
        for name in kept if isinstance(kept, dict) else range(len(kept)):
            yield from _taken(said[name], kept[name], f"{pointer}/{escaped(str(name))}")


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each)


def _words_in(text: str, allowed: Collection[str]) -> set[str]:
    """Return what nobody may read in a short text, line by line."""
    found = (text[f.start : f.end] for f in guard.findings(text, guard.OTHER, allowed))
    return {line for each in found for line in each.split("\n") if line.strip()}


def is_open(document: Document) -> bool:
    """Tell whether its file says no more than is served of it: it was read, and nothing is
    masked."""
    return document.state == Document.State.DONE and not has_masks(document)


def has_masks(document: Document) -> bool:
    """Tell whether its file, as it was read, says more than is served of it."""
    if any(each.get("code") == OF_SECRETS for each in document.warnings):
        return True
    return MaskedSpan.objects.filter(revision__document=document).exists()


def can_be_unmasked(document: Document) -> bool:
    own = Q(document=document) | Q(revision=document.current_revision, revision__isnull=False)
    return MaskedSpan.objects.filter(own).exists()


def audit_reveal(scope: Scope, document: Document) -> None:
    scope.audit("reveal", document, subject_id=document.subject_id)


def reveal(scope: Scope, document: Document) -> str:
    """Return its present text with the masked words. Its title, file name and metadata are unmasked
    on `document` itself, which must not be saved then. The log keeps who looked."""
    audit_reveal(scope, document)
    unmask_names(document)
    revision = document.revision
    if revision is None:
        return ""
    return unmasked(revision.text, [(m.start, m.words) for m in revision.masks.order_by("pk")])


def unmask_names(document: Document) -> None:
    """Unmask its names and metadata on the object alone, unsaved."""
    for mask in document.masks.order_by("-pk"):
        value = getattr(document, mask.column)
        text = unmasked(text_at(value, mask.pointer), [(mask.start, mask.words)])
        setattr(document, mask.column, with_text_at(value, mask.pointer, text))
