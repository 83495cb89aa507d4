"""What the database is asked while something runs, with the plan of each statement.

The plan is made right before the statement: of a prepared one the generic plan, as the hot
connection takes it, of another one the plan for its values.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg._queries import PostgresQuery, PostgresRawQuery
from psycopg.adapt import Transformer

from memories.index import prepared_sql
from memoryproject.postgres import prepared, visible

PLANNED = ("select", "insert", "update", "delete", "with")
SHOWN = re.compile(rf"^set local {visible.SETTING} to '[^']*'; ")
EXECUTE, ASK_EACH = psycopg.Cursor.execute, prepared.ask_each


@dataclass(frozen=True)
class Sent:
    text: str
    plan: str


def generic_plan(text: str, values: Any, kind: type[PostgresQuery] = PostgresQuery) -> str:
    """The plan that is made once for all values: the session asks for that."""
    raw = prepared_sql.hot_connection().pgconn
    query = kind(Transformer(prepared_sql.hot_connection()))
    query.convert(text, values)
    raw.prepare(b"seen", query.query, query.types)
    nothing = b", ".join([b"null"] * len(query.types))
    found = raw.exec_(b"explain execute seen" + (b"(" + nothing + b")" if nothing else b""))
    raw.exec_(b"deallocate seen")
    assert found.ntuples, (found.error_message, text)
    return "\n".join((found.get_value(i, 0) or b"").decode() for i in range(found.ntuples))


def plan_for(cursor: psycopg.Cursor[Any], text: str, values: Any) -> str:
    with type(cursor)(cursor.connection) as other:
        return "\n".join(str(row[0]) for row in EXECUTE(other, f"explain {text}", values))


@contextmanager
def sent() -> Iterator[list[Sent]]:
    """All statements of this thread that have a plan, in their order."""
    found: list[Sent] = []

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        # What is visible is said in the same text, where a statement is alone.
        text = SHOWN.sub("", str(query)).strip()
        if text.lower().startswith(PLANNED):
            is_prepared = options.get("prepare")
            told = generic_plan(text, params, self._query_cls) if is_prepared else plan_for(self, text, params)
            found.append(Sent(text, told))
        return EXECUTE(self, query, params, **options)

    def ask_each(wrapper: BaseDatabaseWrapper, asked: Any) -> list[prepared.PreparedResult]:
        asked = list(asked)
        for statement, values in asked:
            text = statement.strip()
            if text.lower().startswith(PLANNED):
                kind = PostgresQuery if isinstance(values, Mapping) else PostgresRawQuery
                found.append(Sent(text, generic_plan(text, values, kind)))
        return ASK_EACH(wrapper, asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", execute)
        patch.setattr(prepared, "ask_each", ask_each)
        yield found
