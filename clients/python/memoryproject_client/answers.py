"""Answers of a server, as values. `raw` is what was on the wire, with what is newer than this
client."""

import re
import types
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Shape = TypeVar("Shape")
Raw = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LaterSaid:
    """A message that was said after a memory, and what it says of it: it restates, adds, is an
    exception, replaces or ends it, or is unsure."""

    episode_id: str
    external_id: str | None
    occurred_at: datetime
    quote: str
    relation: str
    probability: float
    by: str
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A version of a memory."""

    id: str
    content: str
    scope: str
    fact_type: str | None
    category: str
    source: str
    confidence: float
    visibility: str
    user_id: str | None
    agent_id: str | None
    thread_id: str | None
    workflow_id: str | None
    event_date: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    superseded_by_id: str | None
    version: int
    is_latest: bool
    source_count: int
    pinned: bool
    uncertain: bool
    standing: str
    forgotten_at: datetime | None
    forget_after: datetime | None
    entities: list[str]
    metadata: Raw
    created_at: datetime
    updated_at: datetime
    later_said: list[LaterSaid] | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Citation:
    """The words that something stands on: `quote` is the episode's content from start to end."""

    episode_id: str | None
    external_id: str | None
    start: int
    end: int
    quote: str
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """`memory` is None where another layer was searched: `raw` has what was found there."""

    layer: str
    score: float
    memory: MemoryRecord | None
    citations: list[Citation] | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    results: list[Hit]
    count: int
    confidence: float
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest hit, where nothing was near enough."""

    content: str
    confidence: float


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    """`text` is ready for a prompt; empty where nothing answers: then `reason` says how near the
    nearest came."""

    text: str
    tokens: int
    truncated: bool
    confidence: float
    hits: list[Hit]
    reason: str | None
    nearest: Nearest | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class IngestAnswer:
    """`status` is done, or received where the worker is still at it; then the rest is not known."""

    session_id: str
    status: str
    memories_created: int | None
    memories_updated: int | None
    memories_reinforced: int | None
    pending_review: int | None
    reason: str | None
    memories: list[MemoryRecord] | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a user: memories by type, and features by category and tag."""

    user_id: str
    facts: list[MemoryRecord]
    preferences: list[MemoryRecord]
    events: list[MemoryRecord]
    profile: list[MemoryRecord]
    system: list[MemoryRecord]
    uncategorized: list[MemoryRecord]
    features: Raw
    static: list[str]
    dynamic: list[str]
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Supersession:
    """The reason why a version took the place of the one before."""

    id: str
    state: str
    rule: str
    decided_by: str
    decided_at: datetime
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Link:
    memory: MemoryRecord
    supersession: Supersession | None
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Fact:
    id: str
    statement: str
    rule: str
    confidence: float
    citations: list[Citation]
    raw: Raw = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Explanation:
    """All versions of a memory, oldest first, and the facts under the one that was asked for."""

    chain: list[Link]
    facts: list[Fact]


def decoded(of: type[Shape], body: Raw) -> Shape:
    """A value of a shape; what the body does not have is None."""
    shape: Any = of  # a hashable one, which the type of a type does not say
    values = {name: body if name == "raw" else _value(kind, body.get(spoken)) for name, spoken, kind in _fields(shape)}
    return of(**values)


@cache
def _fields(of: Any) -> list[tuple[str, str, Any]]:
    """Return each field's name, its name on the wire and its type."""
    hints = get_type_hints(of)
    return [(name, camel(name), kind) for name, kind in hints.items()]


def _value(kind: Any, given: Any) -> Any:
    if given is None:
        return None
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(one for one in get_args(kind) if one is not types.NoneType)
    if get_origin(kind) is list:
        [part] = get_args(kind)
        return [_value(part, one) for one in given]
    if kind is datetime:
        return datetime.fromisoformat(given)
    return decoded(kind, given) if is_dataclass(kind) and isinstance(kind, type) else given


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
