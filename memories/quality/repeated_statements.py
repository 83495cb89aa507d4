"""Repeats: statements that agents keep making, counted by agent and session.

Statements only, never the words they were read from: whoever may see a fact's memory may see that
its agent said so.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated

import numpy as np
from pydantic import Field

from memories.index import workspace_index
from memories.language.english.statements import Reading, read
from memories.models import Category, Entry, Fact, Layer, Memory, Vector, seen_by
from workspaces.request_fields import OneOf, declared
from workspaces.scope import Scope

NEWEST_FACTS = 20_000  # what is looked at, so that no workspace is too large to ask
MOST_STATEMENTS = 3_000  # of these so many are compared with one another: the most repeated
SLACK = 0.13  # so much less similar than duplicates may be what shares most of its words
SHARED_WORDS = 0.5
# Further apart may be what says the same of another thing: "add a null check before using x"
FAR_SLACK, CONTAINED, LEAST_SHARED = 0.35, 0.75, 3
SHOWN_MEMORIES = 20
MOST = 100_000


COLUMNS = (
    "memory_id",
    "memory__fingerprint",
    "memory__content",
    "category",
    "entities",
    "agent__external_id",
    "agent__name",
    "session_id",
    "created_at",
)


@declared
@dataclass(frozen=True, slots=True)
class RepeatQuery:
    min_agents: Annotated[
        int,
        Field(
            ge=1,
            le=MOST,
            description="What one agent alone says counts where it did so in two sessions at least.",
        ),
    ] = 1
    min_count: Annotated[int, Field(ge=1, le=MOST, description="How often it was said in all.")] = 2
    category: Annotated[str, OneOf(Category)] = ""
    limit: Annotated[int, Field(ge=1, le=100)] = 50


@dataclass(frozen=True, slots=True)
class AgentShare:
    """One agent's count of a statement, and of its sessions; `agent_id` is the caller's own."""

    agent_id: str
    name: str
    count: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """One statement in its most frequent wording, with all others of the same meaning."""

    statement: str
    category: str
    count: int
    sessions: int
    agents: tuple[AgentShare, ...]
    memory_ids: tuple[uuid.UUID, ...]
    entities: tuple[str, ...]
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class _Utterance:
    memory_id: uuid.UUID
    fingerprint: bytes
    content: str
    category: str
    entities: Sequence[str]
    agent_id: str
    agent_name: str
    session_id: uuid.UUID | None
    said_at: datetime


@dataclass(slots=True)
class _Statement:
    """Utterances in the same words, and later those of the same meaning."""

    said: list[_Utterance] = field(default_factory=list)

    @property
    def first(self) -> _Utterance:
        return self.said[0]

    @property
    def agents(self) -> set[str]:
        return {each.agent_id for each in self.said}


def repeats(scope: Scope, query: RepeatQuery) -> list[Repeat]:
    """Statements that at least `min_agents` agents made, `min_count` times in all: those of most
    agents first, from the newest 20,000 facts. Forgotten ones and those in review are left out."""
    told = Memory.objects.visible_to(scope).filter(forgotten_at=None, held_at=None)
    facts = Fact.objects.filter(seen_by(scope), memory__in=told, agent__isnull=False, quarantined_at=None)
    if query.category:
        facts = facts.filter(category=query.category)
    in_same_words: dict[bytes, _Statement] = {}
    for row in facts.order_by("-id").values_list(*COLUMNS)[:NEWEST_FACTS]:
        said = _Utterance(row[0], bytes(row[1]), *row[2:])
        in_same_words.setdefault(said.fingerprint, _Statement()).said.append(said)
    most_first = sorted(in_same_words.values(), key=lambda statement: -len(statement.said))
    alike = _same_meaning(scope, most_first)
    kept = [
        each
        for each in alike
        if len(each.agents) >= query.min_agents
        and len(each.said) >= query.min_count
        and (query.min_count == 1 or len(each.agents) > 1 or _sessions(each.said) > 1)
    ]
    found = [_repeat(each) for each in kept]
    found.sort(key=lambda one: (-len(one.agents), -one.count, -one.last_at.timestamp()))
    return found[: query.limit]


def _same_meaning(scope: Scope, statements: list[_Statement]) -> list[_Statement]:
    """Each statement joins the first, more frequent one of the same meaning; never a chain of
    similar ones, whose ends would have nothing in common."""
    compared, rest = statements[:MOST_STATEMENTS], statements[MOST_STATEMENTS:]
    space = workspace_index.index_of(scope.workspace_id)
    model = space.embedding_model
    if model is None:
        return statements
    memories = [each.first.memory_id for each in compared]
    entries = Entry.objects.filter(item__in=memories, layer=Layer.MEMORIES)
    items = dict(entries.values_list("pk", "item"))
    rows = Vector.objects.filter(entry_id__in=items, embedding_model_id=model.pk, part=0)
    found = rows.values_list("entry_id", "embedding")
    vectors = {items[entry]: np.asarray(vector, np.float32) for entry, vector in found}
    if not vectors:
        return statements
    placed = [each for each in compared if each.first.memory_id in vectors]
    unplaced = [each for each in compared if each.first.memory_id not in vectors]
    leading = _led([vectors[each.first.memory_id] for each in placed], placed, model.duplicate_threshold)
    for number, leader in enumerate(leading):
        if leader != number:
            placed[leader].said += placed[number].said
    leaders = [each for number, each in enumerate(placed) if leading[number] == number]
    return [*leaders, *unplaced, *rest]


def _led(vectors: list[np.ndarray], statements: list[_Statement], threshold: float) -> list[int]:
    """For each statement the number of the one it joins; its own number if it joins none."""
    matrix = np.stack(vectors)
    similarities = matrix @ matrix.T
    leading = list(range(len(statements)))
    leaders = np.zeros(len(statements), dtype=bool)
    reading = cache(lambda number: read(statements[number].first.content))
    for number in range(len(statements)):
        cosines = similarities[number, :number]
        near = np.flatnonzero((cosines >= threshold - FAR_SLACK) & leaders[:number])
        for other in sorted(near.tolist(), key=lambda index: -cosines[index]):
            distance = float(threshold - cosines[other])
            if _means_the_same(reading(other), reading(number), distance=distance):
                leading[number] = other
                break
        leaders[number] = leading[number] == number
    return leading


def _means_the_same(one: Reading, other: Reading, *, distance: float) -> bool:
    """Compare what is said about the subject; the subject's name does not count."""
    sides = {one.order_words, other.order_words} - {frozenset()}  # a shorter wording has none
    if _marks(one) != _marks(other) or len(sides) > 1:
        return False
    either, shared = len(one.stems | other.stems), len(one.stems & other.stems)
    if distance > SLACK:
        least = min(len(one.stems), len(other.stems))
        return shared >= LEAST_SHARED and shared >= CONTAINED * least
    return distance <= 0 or bool(either and shared >= SHARED_WORDS * either)


def _marks(reading: Reading) -> tuple[object, ...]:
    """The parts that equal statements have in common: polarity, numbers, dates, names."""
    return (
        reading.is_negated,
        reading.numbers,
        reading.dates,
        reading.names,
    )


def _repeat(statement: _Statement) -> Repeat:
    said = statement.said
    wordings = Counter((each.content, each.category) for each in said)
    content, category = wordings.most_common(1)[0][0]
    times = [each.said_at for each in said]
    by_agent: dict[str, list[_Utterance]] = {}
    for each in said:
        by_agent.setdefault(each.agent_id, []).append(each)
    shares = [AgentShare(agent, own[0].agent_name, len(own), _sessions(own)) for agent, own in by_agent.items()]
    return Repeat(
        statement=content,
        category=category,
        count=len(said),
        sessions=_sessions(said),
        agents=tuple(sorted(shares, key=lambda share: (-share.count, share.agent_id))),
        memory_ids=tuple(dict.fromkeys(each.memory_id for each in said))[:SHOWN_MEMORIES],
        entities=tuple(dict.fromkeys(name for each in said for name in each.entities)),
        first_at=min(times),
        last_at=max(times),
    )


def _sessions(said: Iterable[_Utterance]) -> int:
    return len({each.session_id for each in said if each.session_id})
