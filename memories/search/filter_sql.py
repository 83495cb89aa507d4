"""A filter as SQL. Nothing of the caller's is ever part of a statement's text: it is a
parameter."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from memories.models import AS_KNOWN, NOW, AsOf, name_joins
from memories.models.document import DOCUMENT_SEEN_SQL, seen_values
from memories.models.memory import NamedSQL
from memories.search.filters import COMPARISONS, FIELDS, METADATA, Condition, Filter
from workspaces.scope import Scope


def sql_of(tree: Filter, layer: str, values: dict[str, Any], at: AsOf = NOW) -> str:
    """A boolean SQL expression over `row` (with s, a, c joined); parameters go into `values`.

    A field that the layer does not have is null: no comparison with it holds. Of a memory that is
    asked for as it was known at an instant, what was learned later does not count.
    """
    known_at = at.known_at if layer == "memories" else None
    if known_at is not None:
        values["known_at"] = known_at
    if isinstance(tree, Condition):
        sql = _condition_sql(tree, layer, values, as_known=known_at is not None)
        return f"coalesce({sql}, false)"
    parts = [sql_of(part, layer, values, at) for part in tree.parts]
    return f"(not {parts[0]})" if tree.joint == "not" else f"({f' {tree.joint} '.join(parts)})"


def indexed_sql_of(tree: Filter, values: dict[str, Any]) -> str:
    """A part of `sql_of` for memories that holds wherever the whole does, and by which an index
    finds them (memory_category); empty where there is none. Parameters go into `values`."""
    parts = [tree] if isinstance(tree, Condition) or tree.joint != "and" else tree.parts
    for part in parts:
        if isinstance(part, Condition) and part.field == "category" and part.op in ("eq", "in"):
            name = f"f{len(values)}"
            values[name] = list(part.value) if part.op == "in" else [part.value]
            return f"row.category = any(%({name})s::text[])"
    return ""


def matching_memories(scope: Scope, tree: Filter) -> NamedSQL:
    """The ids of the memories of a workspace that a filter wants; who may see them is for the
    queryset that takes them."""
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


def _condition_sql(c: Condition, layer: str, values: dict[str, Any], *, as_known: bool) -> str:

    def put(value: Any) -> str:
        name = f"f{len(values)}"
        values[name] = value
        return f"%({name})s"

    if c.field.startswith(METADATA):
        return _metadata_sql(c, layer, put, as_known=as_known)
    if c.field not in FIELDS[layer]:
        return "false"
    kind, column = FIELDS[layer][c.field]
    column = column.format(row="row")
    if as_known:
        column = f"({AS_KNOWN.get(column.removeprefix('row.'), column)})"
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
        joined="join memories_revision r on r.id = ci.revision_id"
        " join memories_document d on d.id = r.document_id"
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
