"""What mem0's client sends (more than is used here, and that is no fault of its caller), its
filters among it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, with_config
from rest_framework.request import Request

from memories.errors import Invalid
from memories.search import filters
from memories.search.filters import Filter
from workspaces.request_fields import AnyText, Flag, Free, NullIs, Number, OwnId, Text

ENTITIES = {
    "user_id": "userId",
    "agent_id": "agentId",
    "run_id": "threadId",
    "app_id": "metadata.app_id",
}
FIELDS = {
    **ENTITIES,
    "created_at": "createdAt",
    "updated_at": "updatedAt",
    "categories": "category",
    "keywords": "content",
}
OPERATORS = {
    **{name: name for name in ("eq", "gt", "gte", "lt", "lte", "in", "contains")},
    "ne": "neq",
    "icontains": "contains",
}
ANY = "*"
JOINTS = {"AND": "and", "OR": "or"}
DEEPEST = 10


def filter_of(given: Mapping[str, Any]) -> Filter:
    """The filter that a request names, in `filters` or beside it. Invalid where it names none."""
    tree = given.get("filters") or {}
    if not isinstance(tree, dict):
        raise Invalid("filters", "Must be an object.")
    beside = {name: given[name] for name in ENTITIES if given.get(name) is not None}
    parts = [part for part in (tree, beside) if part]
    if not parts:
        raise Invalid("filters", f"Name whose memories: one of {', '.join(ENTITIES)}.")
    return filters.parse({"and": [_translated(part, "filters") for part in parts]}, ("memories",))


def _translated(given: Any, path: str, depth: int = 0) -> dict[str, Any]:
    if not isinstance(given, dict) or not given:
        raise Invalid(path, "Must be an object that is not empty.")
    if depth > DEEPEST:
        raise Invalid(path, f"Nested deeper than {DEEPEST}.")
    parts: list[dict[str, Any]] = []
    for name, value in given.items():
        place = f"{path}.{name}"
        if name in JOINTS or name == "NOT":
            listed = value if isinstance(value, list) else [value]
            if not listed:
                raise Invalid(place, "Must not be empty.")
            within = [_translated(part, place, depth + 1) for part in listed]
            parts.append({JOINTS[name]: within} if name in JOINTS else {"not": {"or": within}})
        elif name == "metadata":
            if not isinstance(value, dict) or not value:
                raise Invalid(place, "Must be an object that is not empty.")
            for key, wanted in value.items():
                parts += _conditions(f"metadata.{key}", wanted, f"{place}.{key}")
        elif name in FIELDS:
            parts += _conditions(FIELDS[name], value, place)
        else:
            known = ", ".join([*JOINTS, "NOT", *FIELDS, "metadata"])
            raise Invalid(place, f"There is no such field. Known: {known}.")
    return {"and": parts}


def _conditions(field: str, wanted: Any, path: str) -> list[dict[str, Any]]:
    if wanted == ANY:
        return [{"field": field, "op": "exists", "value": True}]
    if not isinstance(wanted, dict):
        return [{"field": field, "op": "contains" if field == "content" else "eq", "value": wanted}]
    parts = []
    for op, value in wanted.items():
        if op not in OPERATORS:
            raise Invalid(f"{path}.{op}", f"Known: {', '.join(OPERATORS)}.")
        parts.append({"field": field, "op": OPERATORS[op], "value": value})
    return parts


sent = with_config(ConfigDict(extra="ignore"))

Name = Annotated[OwnId, NullIs("")]
LARGEST_PAGE = 100
LAST_SECOND = 253_370_764_800  # the last year that a date can have begins

Score = Annotated[Number, Field(ge=0, le=1)]


@sent
@dataclass(frozen=True, slots=True)
class Mem0Message:
    role: Text
    content: AnyText
    name: Annotated[AnyText, Field(max_length=255), NullIs("")] = ""


@sent
@dataclass(frozen=True, slots=True)
class Mem0Add:
    messages: Annotated[tuple[Mem0Message, ...], Field(min_length=1, max_length=1000)]
    user_id: Name = ""
    agent_id: Name = ""
    run_id: Name = ""
    app_id: Name = ""
    filters: Annotated[Free, NullIs({})] = field(default_factory=dict)
    metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
    infer: Annotated[Flag, NullIs(True)] = True
    expiration_date: date | None = None
    timestamp: Annotated[int, Field(ge=0, lt=LAST_SECOND)] | None = None

    def name(self, which: str) -> str:
        """Whom or what it is of: said beside the messages, or as a filter."""
        named = getattr(self, which) or self.filters.get(which)
        return named if isinstance(named, str) else ""

    @property
    def occurred_at(self) -> datetime | None:
        return (
            None if self.timestamp is None else datetime.fromtimestamp(self.timestamp).astimezone()
        )


@sent
@dataclass(frozen=True, slots=True)
class Mem0Search:
    query: Annotated[Text, Field(max_length=10_000)]
    top_k: Annotated[int, Field(ge=1), NullIs(10)] = 10
    threshold: Score | None = None


@sent
@dataclass(frozen=True, slots=True)
class Mem0Page:
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    page_size: Annotated[int, Field(ge=1)] = LARGEST_PAGE

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size

    @property
    def last(self) -> int:
        """One behind it."""
        return self.first + self.size

    @property
    def size(self) -> int:
        return min(self.page_size, LARGEST_PAGE)

    def answer(self, request: Request, count: int, rows: Sequence[Any]) -> dict[str, Any]:
        """The rows of this page, with the addresses of those beside it, where there are any."""

        def link(page: int, *, there: bool) -> str | None:
            query = f"?page={page}&page_size={self.size}"
            return request.build_absolute_uri(request.path + query) if there else None

        return {
            "count": count,
            "next": link(self.page + 1, there=self.last < count),
            "previous": link(self.page - 1, there=self.page > 1),
            "results": rows,
        }


@sent
@dataclass(frozen=True, slots=True)
class Mem0Update:
    text: Text | None = None
    metadata: Free | None = None
    expiration_date: date | None = None


@sent
@dataclass(frozen=True, slots=True)
class Mem0BatchItem:
    memory_id: Text
    text: Text | None = None
    metadata: Free | None = None


@sent
@dataclass(frozen=True, slots=True)
class Mem0Batch:
    memories: Annotated[tuple[Mem0BatchItem, ...], Field(min_length=1, max_length=1000)]
