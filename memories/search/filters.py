"""The `filter` of search and lists: parsed, validated, and turned into SQL.

{"and": [{"field": "category", "op": "eq", "value": "plan"},
         {"not": {"field": "metadata.archived", "op": "exists", "value": true}}]}
"""

import json
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime

from memories.errors import Invalid
from memories.models import (
    NOW,
    AsOf,
    Category,
    Document,
    Episode,
    FactType,
    MemoryScope,
    Source,
    TalkSummary,
    Visibility,
    name_joins,
)
from memories.models.document import DOCUMENT_SEEN_SQL, seen_values
from memories.models.memory import NamedSQL
from workspaces.scope import Scope

COMPARISONS = {"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
OPERATORS = (*COMPARISONS, "in", "contains", "exists")
METADATA = "metadata."  # before the caller's own key
# field -> (kind, column); `row` is of the layer, s, a, c are its subject, agent, thread.
COMMON = {
    "id": ("uuid", "{row}.id"),
    "content": ("text", "{row}.content"),
    "userId": ("text", "s.external_id"),
    "agentId": ("text", "a.external_id"),
    "threadId": ("text", "c.external_id"),
    "createdAt": ("time", "{row}.created_at"),
}
FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "memories": COMMON
    | {
        "scope": ("text", "{row}.scope"),
        "factType": ("text", "{row}.fact_type"),
        "category": ("text", "{row}.category"),
        "source": ("text", "{row}.source"),
        "visibility": ("text", "{row}.visibility"),
        "workflowId": ("text", "{row}.workflow"),
        "confidence": ("number", "{row}.confidence"),
        "version": ("number", "{row}.version"),
        "sourceCount": ("number", "{row}.source_count"),
        "pinned": ("bool", "{row}.pinned"),
        "isInference": ("bool", "{row}.is_inference"),
        "eventDate": ("time", "{row}.event_date"),
        "validFrom": ("time", "{row}.valid_from"),
        "validUntil": ("time", "{row}.valid_until"),
        "forgetAfter": ("time", "{row}.forget_after"),
        "updatedAt": ("time", "{row}.updated_at"),
        "entities": ("list", "{row}.entities"),
    },
    "episodes": COMMON
    | {
        "role": ("text", "{row}.role"),
        "kind": ("text", "{row}.kind"),
        "name": ("text", "{row}.author"),
        "externalId": ("text", "{row}.external_id"),
        "occurredAt": ("time", "{row}.occurred_at"),
        "position": ("number", "{row}.position"),
    },
    "features": COMMON
    | {
        "category": ("text", "{row}.category"),
        "tag": ("text", "{row}.tag"),
        "feature": ("text", "{row}.feature"),
        "value": ("text", "{row}.value"),
        "about": ("text", "{row}.about"),
        "visibility": ("text", "{row}.visibility"),
        "updatedAt": ("time", "{row}.updated_at"),
    },
    "chunks": COMMON
    | {
        "documentId": ("uuid", "{row}.document_id"),
        "customId": ("text", "{row}.custom_id"),
        "type": ("text", "{row}.type"),
        "title": ("text", "{row}.title"),
        "url": ("text", "{row}.url"),
        "source": ("text", "{row}.source"),
        "author": ("text", "{row}.author"),
        "language": ("text", "{row}.language"),
        "visibility": ("text", "{row}.visibility"),
        "publishedAt": ("time", "{row}.published_at"),
        "occurredAt": ("time", "{row}.occurred_at"),
        "updatedAt": ("time", "{row}.updated_at"),
    },
    "summaries": COMMON
    | {
        "kind": ("text", "{row}.kind"),
        "name": ("text", "{row}.name"),
        "occurredAt": ("time", "{row}.last_at"),
    },
}
# The only values of a field, by layer; a feature's category is a word of its own set.
WORDS: dict[str, dict[str, list[str]]] = {
    "memories": {
        "scope": MemoryScope.values,
        "factType": FactType.values,
        "category": Category.values,
        "source": Source.values,
        "visibility": Visibility.values,
    },
    "episodes": {"kind": Episode.Kind.values},
    "features": {"visibility": Visibility.values},
    "chunks": {"type": Document.Type.values, "visibility": Visibility.values},
    "summaries": {"kind": TalkSummary.Kind.values},
}
UNORDERED = ("gt", "gte", "lt", "lte", "contains")


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison; `path` is where it stands in the request."""

    field: str
    op: str
    value: Any
    path: str


@dataclass(frozen=True, slots=True)
class Group:
    """`and`, `or` or `not` over parts."""

    joint: str
    parts: tuple["Condition | Group", ...]


Filter = Condition | Group


def all_of(conditions: Mapping[str, list[Any]], tree: Filter | None) -> Filter | None:
    """Combine `tree` with a condition for each field with values: one of these."""
    parts: list[Filter] = [
        Condition(field, "in", list(values), field) for field, values in conditions.items() if values
    ]
    if tree is not None:
        parts.append(tree)
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Group("and", tuple(parts))


def kind_of(field: str) -> str:
    return next(fields[field][0] for fields in FIELDS.values() if field in fields)


def words_of(layers: tuple[str, ...]) -> dict[str, set[str]]:
    """Return the values of the fields that allow only certain ones in each of the layers."""
    found: dict[str, set[str]] = {}
    for layer in layers:
        for field, words in WORDS.get(layer, {}).items():
            found.setdefault(field, set()).update(words)
    free = {f for name in layers for f in set(FIELDS.get(name, {})) - set(WORDS.get(name, {}))}
    return {field: words for field, words in found.items() if field not in free}


def value_of(field: str, op: str, value: Any, path: str) -> Any:
    if op == "exists":
        if not isinstance(value, bool):
            raise Invalid(path, "exists takes true or false.")
        return value
    kind = "json" if field.startswith(METADATA) else kind_of(field)
    if kind == "bool" and op in UNORDERED:
        raise Invalid(path, f"{op} does not fit {field}, which is true or false.")
    if op == "contains":
        if kind in ("number", "time", "uuid"):
            raise Invalid(path, f"contains does not fit {field}.")
        return _typed("text" if kind != "json" else "json", value, path)
    if op == "in":
        if not isinstance(value, list) or not 0 < len(value) <= 1000:
            raise Invalid(path, "in takes a list of 1 to 1000 values.")
        return [_typed(kind, one, f"{path}[{i}]") for i, one in enumerate(value)]
    if kind == "list":
        raise Invalid(path, f"{field} is a list: use contains or exists.")
    return _typed(kind, value, path)


def _typed(kind: str, value: Any, path: str) -> Any:
    if kind == "time":
        try:
            found = parse_datetime(value) if isinstance(value, str) else None
            if found is None and isinstance(value, str) and (day := parse_date(value)):
                found = datetime.fromisoformat(f"{day.isoformat()}T00:00:00+00:00")
        except ValueError:
            found = None
        if found is None:
            raise Invalid(path, "Must be a time as ISO 8601.")
        return found if found.tzinfo else datetime.fromisoformat(f"{found.isoformat()}+00:00")
    if kind == "uuid":
        try:
            return str(uuid.UUID(value))  # as the database writes it
        except (ValueError, AttributeError, TypeError):
            raise Invalid(path, "Must be a UUID.") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise Invalid(path, "Must be a finite number.")
    fits = {
        "text": isinstance(value, str),
        "list": isinstance(value, str),
        "bool": isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "json": isinstance(value, str | int | float | bool),
    }[kind]
    if not fits:
        raise Invalid(path, f"Must be a {kind if kind != 'json' else 'text, number or boolean'}.")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        raise Invalid(path, "The number is too large.")
    return value


DEEPEST, MOST_CONDITIONS = 8, 50


def parse(raw: object, layers: tuple[str, ...]) -> Filter:
    """Return the validated tree; raises Invalid with the path of the part that is wrong."""
    known = {field for layer in layers for field in FIELDS.get(layer, {})}
    return _FilterParser(known, words_of(layers)).part(raw, "filter", 1)


class _FilterParser:
    def __init__(self, known: set[str], words: Mapping[str, set[str]]) -> None:
        self.known, self.words, self.conditions = known, words, 0

    def part(self, raw: object, path: str, depth: int) -> Filter:
        if not isinstance(raw, dict) or not raw:
            raise Invalid(path, "Must be an object with and, or, not, or a field.")
        if depth > DEEPEST:
            raise Invalid(path, f"Nested deeper than {DEEPEST}.")
        joints = [joint for joint in ("and", "or", "not") if joint in raw]
        if not joints:
            self.conditions += 1
            if self.conditions > MOST_CONDITIONS:
                raise Invalid(path, f"More than {MOST_CONDITIONS} conditions.")
            if unknown := set(raw) - {"field", "op", "value"}:
                raise Invalid(f"{path}.{min(unknown)}", "Unknown; a condition has field, op, value.")
            field, op = raw.get("field"), raw.get("op", "eq")
            if not isinstance(field, str) or not (
                field in self.known or (field.startswith(METADATA) and field != METADATA)
            ):
                raise Invalid(
                    f"{path}.field",
                    f"Unknown field. Known: {', '.join(sorted(self.known))} and metadata.<key>.",
                )
            if not isinstance(op, str) or op not in OPERATORS:
                raise Invalid(f"{path}.op", f"Unknown operator. Known: {', '.join(OPERATORS)}.")
            path, value = f"{path}.value", raw.get("value", True if op == "exists" else None)
            if value is None and "value" in raw and op in ("eq", "neq") and field in self.known:
                op, value = "exists", op == "neq"
            found = Condition(field, op, value_of(field, op, value, path), path)
            self._check_words(found)
            return found
        if len(raw) != 1:
            raise Invalid(path, "Give one of and, or, not alone.")
        return self._group(joints[0], raw[joints[0]], f"{path}.{joints[0]}", depth)

    def _group(self, joint: str, raw: object, path: str, depth: int) -> Group:
        if joint == "not" and isinstance(raw, dict):
            return Group(joint, (self.part(raw, path, depth + 1),))
        if not isinstance(raw, list) or not raw:
            raise Invalid(path, "Must be a list with at least one part.")
        parts = [self.part(p, f"{path}[{i}]", depth + 1) for i, p in enumerate(raw)]
        return Group(joint, tuple(parts))

    def _check_words(self, c: Condition) -> None:
        if c.op in ("exists", "contains") or c.field not in self.words:
            return
        words = self.words[c.field]
        for i, one in enumerate(c.value if c.op == "in" else [c.value]):
            if one not in words:
                path = f"{c.path}[{i}]" if c.op == "in" else c.path
                raise Invalid(path, f"Unknown {c.field}. Known: {', '.join(sorted(words))}.")


# A filter as SQL. Nothing of the caller's is ever part of a statement's text: it is a
# parameter.


def sql_of(tree: Filter, layer: str, values: dict[str, Any], at: AsOf = NOW) -> str:
    """Return a boolean SQL expression over `row` (with s, a, c joined); parameters go into
    `values`.

    A field that the layer does not have is null: no comparison with it holds. Of a memory that is
    asked for as it was known at an instant, what was learned later does not count.
    """
    as_known = at.columns if layer == "memories" else {}
    if as_known:
        values |= at.values
    if isinstance(tree, Condition):
        sql = _condition_sql(tree, layer, values, as_known)
        return f"coalesce({sql}, false)"
    parts = [sql_of(part, layer, values, at) for part in tree.parts]
    return f"(not {parts[0]})" if tree.joint == "not" else f"({f' {tree.joint} '.join(parts)})"


def indexed_sql_of(tree: Filter, values: dict[str, Any]) -> str:
    """Return a part of `sql_of` for memories that holds wherever the whole does, and by which an
    index finds them (memory_category); empty where there is none. Parameters go into `values`."""
    parts = [tree] if isinstance(tree, Condition) or tree.joint != "and" else tree.parts
    for part in parts:
        if isinstance(part, Condition) and part.field == "category" and part.op in ("eq", "in"):
            name = f"f{len(values)}"
            values[name] = list(part.value) if part.op == "in" else [part.value]
            return f"row.category = any(%({name})s::text[])"
    return ""


def matching_memories(scope: Scope, tree: Filter) -> NamedSQL:
    """Return the ids of the memories of a workspace that a filter wants; the queryset that takes
    them decides who may see them."""
    values: dict[str, Any] = {
        "workspace": scope.workspace_id,
        **seen_values(scope),
    }
    wanted = sql_of(tree, "memories", values)
    return NamedSQL(
        f"select row.id from memories_memory row {name_joins('row')}"
        f" where row.workspace_id = %(workspace)s and {wanted}",
        values,
    )


def _condition_sql(c: Condition, layer: str, values: dict[str, Any], as_known: Mapping[str, str]) -> str:
    def put(value: Any) -> str:
        name = f"f{len(values)}"
        values[name] = value
        return f"%({name})s"

    if c.field.startswith(METADATA):
        return _metadata_sql(c, layer, put, as_known=bool(as_known))
    if c.field not in FIELDS[layer]:
        return "false"
    kind, column = FIELDS[layer][c.field]
    column = column.format(row="row")
    if as_known:
        column = f"({as_known.get(column.removeprefix('row.'), column)})"
    if c.op == "exists":
        empty = {"text": f"{column} = ''", "list": f"cardinality({column}) = 0"}.get(kind, "false")
        missing = f"({column} is null or {empty})"
        return f"not {missing}" if c.value else missing
    if kind == "uuid":
        column, kind = f"{column}::text", "text"
    return _comparison_sql(kind, column, c, put)


def _comparison_sql(kind: str, column: str, c: Condition, put: Callable[[Any], str]) -> str:
    types = {"text": "text", "number": "float8", "bool": "bool", "time": "timestamptz"}
    if kind == "list":
        if c.op == "in":
            return f"{column}::text[] && {put(list(c.value))}::text[]"
        each = f"select 1 from unnest({column}::text[]) one"
        return f"exists ({each} where lower(one) = lower({put(c.value)}::text))"
    if c.op == "in":
        # One list, one type: 1 and 0.5 are both numbers.
        listed = list(map(float, c.value)) if kind == "number" else list(c.value)
        return f"{column} = any({put(listed)}::{types[kind]}[])"
    if c.op == "contains":
        return f"strpos(lower({column}), lower({put(c.value)}::text)) > 0"
    if c.op == "neq":
        return f"{column} is distinct from {put(c.value)}::{types[kind]}"
    return f"{column} {COMPARISONS[c.op]} {put(c.value)}::{types[kind]}"


def _metadata_sql(c: Condition, layer: str, put: Callable[[Any], str], *, as_known: bool) -> str:
    """A memory answers for its own metadata and for that of the episodes and documents it cites."""
    if c.op == "neq":
        equal = _metadata_sql(replace(c, op="eq"), layer, put, as_known=as_known)
        return f"not coalesce({equal}, false)"
    if c.op == "exists" and not c.value:
        return f"not {_metadata_sql(replace(c, value=True), layer, put, as_known=as_known)}"
    key = put(c.field.removeprefix(METADATA))
    own = _json_sql("row.metadata", key, c, put)
    if layer != "memories":
        return own
    cited = _json_sql("ep.metadata", key, c, put)
    told = _json_sql("d.metadata", key, c, put)
    at = "%(known_at)s::timestamptz"
    stands = f"f.created_at <= {at} and coalesce(f.withdrawn_at > {at}, true)"
    stands = stands if as_known else "f.withdrawn_at is null"
    facts = (
        "select 1 from memories_fact f join memories_citation ci on ci.fact_id = f.id"
        " {joined} where f.memory_id = row.id and " + stands
    )
    of_episodes = facts.format(joined="join memories_episode ep on ep.id = ci.episode_id")
    of_documents = facts.format(
        joined="join memories_revision r on r.id = ci.revision_id join memories_document d on d.id = r.document_id"
    )
    return (
        f"({own} or exists ({of_episodes}"
        " and (%(bound)s::uuid is null or ep.agent_id = %(bound)s::uuid)"
        " and (%(subjects)s::uuid[] is null or ep.subject_id = any(%(subjects)s::uuid[]))"
        f" and {cited})"
        f" or exists ({of_documents} and {DOCUMENT_SEEN_SQL} and {told}))"
    )


def _json_sql(column: str, key: str, c: Condition, put: Callable[[Any], str]) -> str:
    found = f"({column} -> {key}::text)"
    if c.op == "exists":
        return f"({found} is not null)"
    if c.op == "in":
        listed = put([json.dumps(value) for value in c.value])
        return f"{found} = any({listed}::jsonb[])"
    if c.op == "contains":
        text = f"strpos(lower({column} ->> {key}::text), lower({put(str(c.value))}::text)) > 0"
        return f"({found} @> {put(json.dumps(c.value))}::jsonb or {text})"
    value = put(json.dumps(c.value))
    same_kind = f"jsonb_typeof({found}) = jsonb_typeof({value}::jsonb)"
    return f"({same_kind} and {found} {COMPARISONS[c.op]} {value}::jsonb)"
