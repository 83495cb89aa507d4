"""mem0's filters, as the product's own."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, with_config

from memories.errors import Invalid
from memories.search import filters
from memories.search.filters import Filter
from workspaces.request_fields import NullIs, OwnId

# What mem0's client sends (more than is used here, and that is no fault of its caller), its
# filters among it.

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
EMPTY = "Is empty: say whose, or leave it out."
UNSAID = frozenset(("null", "none", "undefined", "nan"))  # as a program writes a value that it lacks
JOINTS = {"AND": "and", "OR": "or"}
DEEPEST = 10


def filter_of(given: Mapping[str, Any]) -> Filter:
    """Return the filter of a request, in `filters` or beside it. Raises Invalid without one, and
    for an id that is empty: it would name nobody, or, left out, all."""
    tree = given.get("filters") or {}
    if not isinstance(tree, dict):
        raise Invalid("filters", "Must be an object.")
    beside = {name: given[name] for name in ENTITIES if given.get(name) is not None}
    parts = [part for part in (tree, beside) if part]
    for name, value in beside.items():
        if isinstance(value, str) and not value.strip():
            raise Invalid(name, EMPTY)
    if not parts:
        raise Invalid("filters", f"Name whose memories: one of {', '.join(ENTITIES)}.")
    return filters.parse({"and": [_translated(part, "filters") for part in parts]}, ("memories",))


def filter_to_forget(given: Mapping[str, Any]) -> Filter:
    """Return the filter of what is to be forgotten, as `filter_of`; an id that a program wrote for
    none names nobody. Raises Invalid."""
    for name in ENTITIES:
        if str(given.get(name, "")).strip().lower() in UNSAID:
            raise Invalid(name, f"{given[name]!r} names nobody: nothing was deleted.")
    return filter_of(given)


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
    if field in ENTITIES.values() and (wanted is None or (isinstance(wanted, str) and not wanted.strip())):
        raise Invalid(path, EMPTY)
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
