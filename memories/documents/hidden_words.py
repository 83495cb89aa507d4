"""What of a file nobody is to read: secrets, and orders to whoever reads it. Blocks stand for them
before the text is cut, so that no reader of it has to know."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from memories import guard
from memories.file_formats.assembly import FileText
from memories.masked_text import masked, unmasked, without_words
from memories.models import Document, MaskedSpan, Revision
from workspaces.models import AuditEntry
from workspaces.scope import Scope

SHORTEST = 4  # characters; what is shorter stands in a title by chance
MOST_WARNINGS = 50


@dataclass(frozen=True, slots=True)
class HiddenWords:
    """A file's text as it is kept, and what was taken out of it."""

    text: FileText
    original: str
    places: list[guard.Finding]

    def masks_of(self, revision: Revision) -> list[MaskedSpan]:
        """Unsaved."""
        return [
            MaskedSpan(
                workspace_id=revision.workspace_id, revision=revision, place="text",
                start=each.start, end=each.end, words=self.original[each.start : each.end],
                kind=MaskedSpan.Kind.SECRET, reason=guard.LABELS[each.label],
            )
            for each in self.places
        ]  # fmt: skip

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """{code, part}: where something was taken out, and how often."""
        parts = [part for part in self.text.parts if part.kind != "definition"]
        counts: Counter[tuple[str, str]] = Counter()
        for each in self.places:
            label = next((p.label for p in parts if p.start <= each.start < p.end), "the text")
            counts[f"{each.kind}_masked", label] += 1
        return [
            {"code": code, "part": label, "count": count}
            for (code, label), count in counts.most_common(MOST_WARNINGS)
        ]


def hide_words(read: FileText, allowed: Collection[str] = ()) -> HiddenWords:
    """`allowed` are labels of guard that the workspace lets through."""
    places = guard.findings(read.text, guard.OTHER, allowed)
    if not places:
        return HiddenWords(read, read.text, [])
    words = {read.text[each.start : each.end].strip() for each in places}
    repeated = sorted((each for each in words if len(each) >= SHORTEST), key=len, reverse=True)
    kept = replace(
        read,
        text=masked(read.text, [(each.start, each.end) for each in places]),
        parts=[replace(part, label=without_words(part.label, repeated)) for part in read.parts],
        title=without_words(read.title, repeated),
        author=without_words(read.author, repeated),
    )
    return HiddenWords(kept, read.text, places)


def has_masks(document: Document) -> bool:
    return MaskedSpan.objects.filter(revision__document=document).exists()


def audit_reveal(scope: Scope, document: Document) -> None:
    AuditEntry.line(
        scope.workspace_id, scope.actor, "reveal", document, subject_id=document.subject_id
    ).save()


def reveal_text(scope: Scope, document: Document) -> str:
    """What it says now with the words that are masked; the log keeps who looked."""
    revision = document.revision
    if revision is None:
        return ""
    audit_reveal(scope, document)
    return unmasked(revision.text, [(m.start, m.words) for m in revision.masks.order_by("pk")])
