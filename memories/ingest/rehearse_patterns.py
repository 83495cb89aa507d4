"""Rehearsals of other patterns on messages of the last days: read once with those in use and once
with the others. Nothing is stored; somebody waits for it, so it is bounded."""

import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.belief.resolve import Claim
from memories.index import workspace_index
from memories.language.english.workspace_patterns import OwnPattern
from memories.models import Episode, MemorySession, WorkspaceIndex
from memories.reading.extraction import ExtractionRun, ExtractOptions, Message, speaker_of
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

MOST_MESSAGES = 600


@dataclass(frozen=True, slots=True)
class PatternChoice:
    """A choice of patterns: the workspace's own, and names of the library's that are off."""

    own: tuple[OwnPattern, ...]
    off: frozenset[str]


@dataclass(frozen=True, slots=True)
class StatementChange:
    """A statement that one of two choices makes and the other does not, and where it was said."""

    statement: str
    quote: str
    rule: str
    episode_id: uuid.UUID
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class PatternsRehearsal:
    """The changed statements, and how many of the period's `messages` (at most MOST_MESSAGES) were
    `read`."""

    read: int
    messages: int
    made: list[StatementChange]
    lost: list[StatementChange]


def rehearse_patterns(
    scope: Scope, before: PatternChoice, after: PatternChoice, since: datetime, *, seconds: float
) -> PatternsRehearsal:
    """Read the newest messages since then that `scope` may see, conversation by conversation, as
    far as `seconds` of work last."""
    space = workspace_index.index_of(scope.workspace_id)
    rows = Episode.objects.visible_to(scope).filter(
        pk__gte=first_uuid7(since), kind__in=(*Episode.OF_PEOPLE, Episode.Kind.ASSISTANT)
    )
    newest = list(rows.select_related("subject").order_by("-pk")[:MOST_MESSAGES])
    talks: dict[uuid.UUID, list[Episode]] = defaultdict(list)
    for episode in newest:
        talks[episode.conversation_id or episode.session_id or episode.pk].append(episode)
    made: list[StatementChange] = []
    lost: list[StatementChange] = []
    read, end = 0, time.thread_time() + seconds
    for talk in talks.values():
        if read and time.thread_time() > end:
            break
        read += len(talk)
        messages = messages_of_talk(talk)
        was, would = (_claims(space, messages, choice) for choice in (before, after))
        made += only_in(would, was, messages)
        lost += only_in(was, would, messages)
    return PatternsRehearsal(read, len(newest), made, lost)


def messages_of_talk(talk: Sequence[Episode]) -> list[Message]:
    """Return the messages of a conversation in their order."""
    return [
        Message(
            index=index,
            id=episode.pk,
            kind=episode.kind,
            role=episode.role,
            speaker=episode.author or speaker_of(episode.kind, episode.subject.name if episode.subject else ""),
            text=episode.content,
            occurred_at=episode.said_at,
        )
        for index, episode in enumerate(sorted(talk, key=lambda each: each.pk))
    ]


def only_in(claims: Sequence[Claim], others: Sequence[Claim], messages: Sequence[Message]) -> list[StatementChange]:
    """Return the statements that the first have and the others have not."""
    known, at = {_key(claim) for claim in others}, {message.id: message.occurred_at for message in messages}
    return [_reading(claim, at) for claim in claims if _key(claim) not in known]


def _claims(space: WorkspaceIndex, messages: Sequence[Message], choice: PatternChoice) -> list[Claim]:
    options = ExtractOptions(
        MemorySession.Extract.PATTERNS,
        patterns=choice.own,
        date_order=space.date_order,
        trust=space.guard,
        patterns_off=choice.off,
    )
    run = ExtractionRun(options)
    run.read(*messages)
    return run.found.claims


def _key(claim: Claim) -> tuple[uuid.UUID, str]:
    return claim.quotes[0].text_id, claim.statement


def _reading(claim: Claim, at: dict[uuid.UUID, datetime]) -> StatementChange:
    quote = claim.quotes[0]
    return StatementChange(claim.statement, quote.quote, claim.rule, quote.text_id, at[quote.text_id])
