"""Memories out of documents: what a session reads of a revision, and what happens to memories of
older revisions.

Where the new revision still has a sentence, the facts read from it stay; a passage that stood in
the one before is not read again. Memories that nothing carries any more end, or wait for a person.
"""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import Claim, Quote, take_support_away
from memories.belief.review import forget_locked
from memories.index import row_marks, workspace_index
from memories.language.english.plain_words import RULES
from memories.language.english.referents import UNKNOWN
from memories.models import (
    CaseItem,
    Category,
    Citation,
    Document,
    Episode,
    Fact,
    FactType,
    MemorySession,
    Passage,
    Revision,
    WorkspaceIndex,
)
from memories.reading.extraction import Message
from memories.reading.extraction.evidence import FIRST_PERSON, sentences_of
from workspaces.scope import Scope

# Characters of one revision: a hundred pages, which take a few seconds. What comes after them is
# searched, and not read; a model is asked as often as for other sessions (`fallback.MOST_PIECES`).
MOST_READ = 400_000
CARRIED_AT_ONCE = 100  # facts of one transaction
PIECE = 32  # characters by which a text is known not to have a passage
UNSAID = RULES["unsaid"]
CARRIED = (
    "workspace_id",
    "memory_id",
    "subject_id",
    "agent_id",
    "statement",
    "category",
    "fact_type",
    "confidence",
    "method",
    "rule",
    "entities",
    "visibility",
    "event_date",
    "quarantined_at",
    "quarantine_reason",
)
_heading = re.compile(r"^#{1,6} [^\n]+$", re.MULTILINE)
_team = re.compile(r"(?:The )?team\b", re.IGNORECASE)
_we = re.compile(r"\b(?:we|our|us|team)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A revision as a session reads it. `passages` are where its messages begin in the text, by
    their ids; `known` characters stood in the revision before, `left` are beyond the budget."""

    revision: Revision
    messages: tuple[Message, ...] = ()
    passages: dict[uuid.UUID, int] = field(default_factory=dict)
    known: int = 0
    left: int = 0

    @property
    def document(self) -> Document:
        return self.revision.document

    def placed(self, claim: Claim) -> Claim:
        """Return the claim with the places of its quotes in the whole text."""
        quotes = (
            Quote(
                self.revision.pk,
                self.passages[quote.text_id] + quote.start,
                self.passages[quote.text_id] + quote.end,
                quote.quote,
                is_of_document=True,
            )
            for quote in claim.quotes
        )
        return replace(claim, quotes=tuple(quotes))

    def claims_of(self, claims: Sequence[Claim]) -> list[Claim]:
        """Return the claims that may be believed of a document: no orders to its reader, nothing
        about a speaker who is unknown or does not speak there."""
        return [self.placed(claim) for claim in claims if not _is_nobodys(claim)]

    @property
    def notes(self) -> list[str]:
        found = []
        if self.known:
            found.append(f"{self.known} characters stood in the revision before: read then")
        if self.left:
            found.append(f"too long: {self.left} characters are searched and not read")
        return found


def _is_nobodys(claim: Claim) -> bool:
    if claim.category == Category.INSTRUCTION or claim.fact_type == FactType.SYSTEM:
        return True
    quoted = " ".join(quote.quote for quote in claim.quotes)
    if _team.match(claim.statement) and not _we.search(quoted):
        return True
    if re.search(rf"\b{UNKNOWN}\b", claim.statement):
        return UNKNOWN not in quoted
    is_of_speaker = bool(claim.speaker) and claim.speaker in claim.statement
    return is_of_speaker and claim.speaker not in quoted and not FIRST_PERSON.search(quoted)


@dataclass(slots=True)
class EarlierText:
    """A text in which many passages are looked for, mostly in their order. Its pieces rule out most
    passages that it lacks, without a search through the text for each."""

    text: str
    pieces: frozenset[str] = frozenset()
    at: int = 0  # behind what was found last

    def __post_init__(self) -> None:
        starts = range(0, len(self.text), PIECE)
        self.pieces = frozenset(self.text[start : start + PIECE] for start in starts)

    def __contains__(self, passage: str) -> bool:
        # Where its pieces begin is not known: at one of the first characters.
        ends = len(passage) - PIECE + 1
        shifted = (range(first, ends, PIECE) for first in range(PIECE))
        if not any(all(passage[start : start + PIECE] in self.pieces for start in starts) for starts in shifted):
            return False
        found = self.text.find(passage, self.at)
        found = self.text.find(passage) if found < 0 else found
        self.at = found + len(passage) if found >= 0 else self.at
        return found >= 0


def reading_of(session: MemorySession) -> DocumentReading | None:
    """Return what a session of the pathway document is to read; None if its revision is gone."""
    revision = Revision.objects.select_related("document__subject").filter(session=session).first()
    if revision is None:
        return None
    if revision.superseded_at is not None:  # the newer one is read
        return DocumentReading(revision)
    older = Revision.objects.filter(document=revision.document_id, number__lt=revision.number)
    read = older.filter(session__state=MemorySession.State.DONE).order_by("-number").first()
    subject = revision.document.subject
    speaker = revision.author or (subject.name if subject else "") or UNKNOWN
    at = min(revision.published_at or revision.created_at, timezone.now())
    messages: list[Message] = []
    passages: dict[uuid.UUID, int] = {}
    known = left = taken = 0
    earlier = EarlierText(read.text if read is not None else "")
    rows = Passage.places.filter(revision=revision).order_by("ordinal")
    for pk, start, end in rows.values_list("pk", "start", "end"):
        text = revision.text[start:end]
        if text in earlier:
            known += len(text)
        elif taken + len(text) > MOST_READ:
            left += len(text)
        else:
            taken += len(text)
            passages[pk] = start
            kind, number = Episode.Kind.TEXT, len(messages)
            # They claim nothing, and are what a file among messages is told by.
            headings = tuple(each.span() for each in _heading.finditer(text))
            messages.append(Message(number, pk, kind, "", speaker, text, at, headings))
    return DocumentReading(revision, tuple(messages), passages, known, left)


def _older_facts(revision: Revision) -> QuerySet[Fact]:
    """Return the facts of older revisions of the document that are believed or wait."""
    older = Revision.objects.filter(document=revision.document_id, number__lt=revision.number)
    cited = Citation.objects.filter(revision__in=older).values("fact")
    counts = Q(memory__isnull=False, memory__forgotten_at=None) | Q(quarantined_at__isnull=False)
    return Fact.objects.standing().filter(counts, pk__in=cited)


def carry_over(space: WorkspaceIndex, reading: DocumentReading) -> int:
    """Carry facts over to the new revision where it has the same sentences: each is made anew, in
    place of the old one. Returns how many; run again, it finds none left."""
    facts = _older_facts(reading.revision).prefetch_related("citations__revision").order_by("pk")
    count, rows = 0, list(facts[:CARRIED_AT_ONCE])
    while rows:
        placed = {}
        for fact in rows:
            places = [_place_in(reading.revision.text, each) for each in fact.citations.all()]
            if None not in places:
                placed[fact.pk] = places
        count += _carry(space, reading, placed)
        rows = list(facts.filter(pk__gt=rows[-1].pk)[:CARRIED_AT_ONCE])
    return count


@transaction.atomic(durable=True)
def _carry(
    space: WorkspaceIndex,
    reading: DocumentReading,
    placed: Mapping[uuid.UUID, Sequence[int | None]],
) -> int:
    """Carry these facts over, as far as they still stand, to the places of their quotes."""
    workspace_index.lock(space)
    if is_superseded(reading):
        return 0
    revision, now = reading.revision, timezone.now()
    pairs: list[tuple[Fact, Fact]] = []
    citations: list[Citation] = []
    standing = _older_facts(revision).filter(pk__in=placed)
    for fact in standing.prefetch_related("citations").order_by("pk"):
        values = {name: getattr(fact, name) for name in CARRIED}
        anew = Fact(**values, session_id=revision.session_id)
        pairs.append((fact, anew))
        citations += [
            Citation(
                workspace_id=each.workspace_id,
                fact=anew,
                revision=revision,
                start=start,
                end=start + len(each.quote),
                quote=each.quote,
            )
            for each, start in zip(fact.citations.all(), placed[fact.pk], strict=True)
            if start is not None
        ]
    Fact.objects.bulk_create(anew for _, anew in pairs)
    Citation.objects.bulk_create(citations)
    for fact, anew in pairs:
        CaseItem.objects.filter(fact=fact).update(fact=anew)
    old = Fact.objects.filter(pk__in=[fact.pk for fact, _ in pairs])
    old.update(withdrawn_at=now, quarantined_at=None, updated_at=now)
    return len(pairs)


def _place_in(text: str, citation: Citation) -> int | None:
    """Return where the text has the quote, in the sentence that it was read from; or None."""
    old = citation.revision.text if citation.revision else ""
    (sentence,) = sentences_of(old, [(citation.start, citation.end)])
    at, inside = text.find(sentence), sentence.find(citation.quote)
    return at + inside if sentence and at >= 0 and inside >= 0 else None


def take_support(scope: Scope, space: WorkspaceIndex, reading: DocumentReading) -> int:
    """Withdraw facts that only older revisions said. Memories that nothing else carries end; about
    those that a person decided for, a person is asked. Returns how many of both. In the caller's
    transaction, which holds the workspace's lock."""
    facts = _older_facts(reading.revision)
    cases = list(CaseItem.objects.filter(fact__in=facts).values_list("case", flat=True))
    bare = take_support_away.take_support_away(facts, timezone.now())
    asked = take_support_away.decided_by_people(space, bare)
    resolve.file_unsupported([m for m in bare if m.pk in asked], row_marks.words_of(space))
    if ended := [memory for memory in bare if memory.pk not in asked]:
        forget_locked(scope, ended, UNSAID)
    resolve.settle(cases, scope.actor)
    return len(bare)


def is_superseded(reading: DocumentReading) -> bool:
    """Tell whether the document has a newer revision, which is read in its place."""
    row = Revision.objects.filter(pk=reading.revision.pk, superseded_at=None)
    return not row.exists()
