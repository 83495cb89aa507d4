"""Secrets and orders in new messages: masked before they are written, and held for a person."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from django.utils import timezone

from memories.belief.resolve import file_facts
from memories.belief.resolve.forgotten_words import ToldAgain, forgotten_of, places_in
from memories.ingest.ingest_request import NewMessage
from memories.language.bounds import STATEMENT
from memories.language.english import clauses
from memories.models import (
    Category,
    Citation,
    Episode,
    Fact,
    MaskedSpan,
    MemorySession,
    Visibility,
)
from memories.privacy import masks
from memories.reading import guard
from memories.reading.guard.masked_text import masked
from workspaces.models.workspace import uuid7
from workspaces.scope import Scope

OWN_KINDS = (Episode.Kind.USER, Episode.Kind.SYSTEM)
GUARD = "guard"  # what a session's steps call it; so begins the rule of a fact that is held
# What a person pastes in: code, quoted lines, a mail, a quotation, what they say that they found.
_pasted = re.compile(
    r"```.{0,20000}?(?:```|\Z)|^>[^\n]*(?:\n>[^\n]*)*|^(?:From|Subject|Sent): [^\n]+\n.{0,20000}"
    r"|[“„][^“”\n]{25,2000}[“”]|«[^»\n]{25,2000}»|‘[^’\n]{25,2000}’|\"[^\"\n]{25,2000}\""
    r"|(?<!\w)'[^'\n]{25,2000}'(?!\w)"
    r"|\b(?:got|received|found|copied|pasted|says?|said|contains?|reads|wrote"
    r"|[Ff]rom (?:the|an?|this) (?:\w+ )?"
    r"(?:e-?mail|page|web ?site|site|pdf|newsletter|article|post|forum|readme|letter|ad))\b"
    r"[^.!?\n:]{0,40}:\s.{0,20000}",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Screened:
    """The words to mask in a message: `places` of its content, `words` of its payload and metadata,
    and places that repeat what was `forgotten`."""

    places: tuple[guard.Finding, ...] = ()
    words: tuple[str, ...] = ()
    forgotten: tuple[ToldAgain, ...] = ()


def screen(
    message: NewMessage,
    allowed: Collection[str] = (),
    *,
    before: str = "",
    is_whole_text: bool = False,
) -> Screened:
    """Find what nobody may read in a message, but for what the workspace allows; `before` is the
    message that it may answer. A whole text is its sender's own words; a text among messages is a
    document's."""
    text = message.content
    kind = message.kind or message.role
    whose = guard.ASSISTANT if kind == Episode.Kind.ASSISTANT else guard.OTHER
    is_text = kind == Episode.Kind.TEXT and is_whole_text
    if kind in OWN_KINDS or is_text:
        own = guard.TEXT if is_text else guard.OWN
        found = guard.findings(text, own, allowed, before=before)
        for pasted in _pasted.finditer(text):
            more = guard.findings(pasted[0], guard.OTHER, allowed)
            found += [guard.Finding(f.start + pasted.start(), f.end + pasted.start(), f.label) for f in more]
    else:
        found = guard.findings(text, whose, allowed, before=before)
    beside = (message.name, message.payload, message.metadata)
    words = [word for value in beside for word in guard.words_in(value, whose, allowed)]
    return Screened(tuple(sorted(set(found))), tuple(words))


def screen_each(
    messages: Sequence[NewMessage],
    allowed: Collection[str] = (),
    *,
    before: str = "",
    is_whole_text: bool = False,
) -> list[Screened]:
    """Screen each message, with the one before it as `before`."""
    befores = [before, *(message.content for message in messages)]
    return [
        screen(message, allowed, before=earlier, is_whole_text=is_whole_text)
        for message, earlier in zip(messages, befores, strict=False)
    ]


def without_secrets(message: NewMessage, screened: Screened) -> str:
    """Return the message's content as it will be kept."""
    hidden = [(place.start, place.end) for place in screened.places]
    hidden += [(place.start, place.end) for place in screened.forgotten]
    return masked(message.content, hidden) if hidden else message.content


def with_forgotten(
    messages: Sequence[NewMessage], screened: Sequence[Screened], scope: Scope, user: str
) -> list[Screened]:
    """Add the places where an assistant or a tool repeats what this subject had forgotten."""
    others = (*Episode.OF_MACHINES, "tool")
    kinds = [message.kind or message.role for message in messages]
    if not user or not any(kind in others for kind in kinds):
        return list(screened)
    people = Episode.OF_PEOPLE
    own = [one.content for one, kind in zip(messages, kinds, strict=True) if kind in people]
    forgotten = forgotten_of(scope.workspace_id, user, own, agent_id=scope.agent_id)
    return [
        replace(each, forgotten=tuple(places_in(message.content, forgotten, user))) if kind in others else each
        for message, kind, each in zip(messages, kinds, screened, strict=True)
    ]


@dataclass(slots=True)
class HeldBatch:
    """The rows written beside new episodes: masks, and facts that wait for a person."""

    masks: list[MaskedSpan] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)

    @classmethod
    def of(cls, made: Sequence[Episode], screened: Sequence[Screened], session: MemorySession | None) -> "HeldBatch":
        """Make the batch of new episodes, and mask these."""
        batch = cls()
        for episode, own in zip(made, screened, strict=True):
            for place in own.forgotten:
                why = masks.MaskReason(MaskedSpan.Kind.FORGOTTEN, "told again", place.cause)
                batch.masks += masks.of_new(episode, [(place.start, place.end)], why)
            if own.places or own.words:
                batch.take(episode, own, session)
        return batch

    @property
    def reason(self) -> str:
        reasons = "; ".join(dict.fromkeys(fact.quarantine_reason for fact in self.facts))
        return f"{len(self.facts)} held for a person: {reasons}" if self.facts else ""

    def take(self, episode: Episode, screened: Screened, session: MemorySession | None) -> None:
        """Mask an episode that is not written yet. Each sentence with something to hold is a fact
        in quarantine, where there is a session to accept it for."""
        text, cause = episode.content, None
        for start, end, places in _sentences(text, screened.places) if session else ():
            reason = guard.reason_of(places)
            fact = Fact(
                id=uuid7(),
                workspace_id=episode.workspace_id,
                session=session,
                subject_id=episode.subject_id,
                agent_id=episode.agent_id,
                statement=text[start:end],
                category=Category.OTHER,
                method=Fact.Method.PATTERN,
                rule=f"{GUARD}:{places[0].label}",
                visibility=Visibility.PRIVATE,
                quarantined_at=timezone.now(),
                quarantine_reason=reason,
            )
            cause = fact.pk
            why = masks.MaskReason(MaskedSpan.Kind.SECRET, reason, cause)
            spans = [(max(p.start, start), min(p.end, end)) for p in places]
            self.masks += masks.of_new(episode, spans, why)
            self.masks += masks.of_new_fact(fact, [(a - start, b - start) for a, b in spans], why)
            self.facts.append(fact)
            self.citations.append(
                Citation(
                    workspace_id=episode.workspace_id,
                    fact=fact,
                    episode=episode,
                    start=start,
                    end=end,
                    quote=episode.content[start:end],
                )
            )
        reason = guard.reason_of(screened.places) or "a secret"
        why = masks.MaskReason(MaskedSpan.Kind.SECRET, reason, cause)
        rest = [] if cause else [(place.start, place.end) for place in screened.places]
        self.masks += masks.of_new(episode, rest, why, screened.words)

    def write(self) -> None:
        """Write the rows after the episodes, in their transaction."""
        if not self.masks:
            return
        Fact.objects.bulk_create(self.facts)
        Citation.objects.bulk_create(self.citations)
        MaskedSpan.objects.bulk_create(self.masks)
        file_facts(self.facts)


def _sentences(text: str, places: Sequence[guard.Finding]) -> list[tuple[int, int, list[guard.Finding]]]:
    """Return the sentences that hold the places, each with its places; none is longer than a
    statement may be, unless a place is."""
    found: list[tuple[int, int, list[guard.Finding]]] = []
    for place in places:
        begin = max(0, place.start - STATEMENT)
        before = [a for a, _ in clauses.sentences(text[begin : place.end]) if begin + a <= place.start]
        start = begin + (before[-1] if before else 0)
        after = next(
            (b for _, b in clauses.sentences(text[start : place.end + STATEMENT]) if start + b >= place.end),
            None,
        )
        end = place.end if after is None else start + after
        if end - start > STATEMENT:
            start, end = place.start, place.end
        if found and start < found[-1][1]:
            first, last, own = found[-1]
            found[-1] = (first, max(last, end), [*own, place])
        else:
            found.append((start, end, [place]))
    return found
