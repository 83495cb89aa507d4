"""The SQL floor: what a `linea` search costs with psycopg alone. Free of Django, for other
processes use it.

One search is two prepared statements with binary values, each a round trip: the candidates (as
the server asks for them: the nearest by cosine, the texts that hold the query, their union), and
all columns of the best ten memories. Embedding the query, building its values and naming the
workspace to the policies of its tables (once for a session) is not included.
"""

from dataclasses import dataclass
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.rows import namedtuple_row

LIMIT = 10


SHOW = "select set_config(%(name)s, %(value)s, false)"


@dataclass(frozen=True, slots=True)
class Question:
    """The candidates' statement with its values, and the statement that fetches rows by `ids`;
    `shows` is the setting by which the policies let its rows be seen, and its value."""

    shows: tuple[str, str]
    candidates: str
    values: dict[str, Any]
    fetch: str
    fetch_values: dict[str, Any]


class Floor:
    """One connection, as the web process' own: same role, same session settings."""

    def __init__(self, conninfo: str) -> None:
        self.connection = psycopg.connect(conninfo, autocommit=True)
        register_vector(self.connection)
        self.shown: tuple[str, str] | None = None

    def close(self) -> None:
        self.connection.close()

    def ask(self, question: Question) -> list[Any]:
        if self.shown != question.shows:
            name, value = self.shown = question.shows
            self.rows(SHOW, {"name": name, "value": value})
        found = self.rows(question.candidates, question.values)
        best = sorted(found, key=_score)[:LIMIT]
        ids = [row.item for row in best]
        return self.rows(question.fetch, question.fetch_values | {"ids": ids})

    def rows(self, statement: str, values: dict[str, Any]) -> list[Any]:
        with psycopg.Cursor(self.connection, row_factory=namedtuple_row) as cursor:
            return cursor.execute(statement, values, prepare=True, binary=True).fetchall()


def _score(row: Any) -> tuple[float, int]:
    """Best first: the cosine, 0.2 more where the words match too, 0.3 for words alone."""
    if row.cosine is None:
        return -0.3, -row.id
    return -(row.cosine + (0.2 if row.matched else 0.0)), -row.id
