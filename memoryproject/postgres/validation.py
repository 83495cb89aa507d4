"""Refuses a server that cannot hold the vectors. Django runs this before `migrate` and in `check
--database`."""

from typing import Any

from django.core.checks import CheckMessage, Error
from django.db.backends.base.validation import BaseDatabaseValidation

PGVECTOR = (0, 7)  # the first with halfvec and sparsevec
AVAILABLE = (
    "select default_version, installed_version from pg_available_extensions where name = 'vector'"
)


class DatabaseValidation(BaseDatabaseValidation):
    def check(self, **kwargs: Any) -> list[CheckMessage]:
        with self.connection.cursor() as cursor:
            cursor.execute(AVAILABLE)
            row = cursor.fetchone()
        if row is None:
            return [_refusal("This PostgreSQL server has no pgvector.", "E001", "Install pgvector")]
        version = row[1] or row[0]
        if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR:
            advice = "Install a newer pgvector, then run: ALTER EXTENSION vector UPDATE"
            return [
                _refusal(f"pgvector {version} is too old: 0.7 or newer is needed.", "E002", advice)
            ]
        return []


def _refusal(message: str, number: str, advice: str) -> Error:
    hint = f"{advice}; or unset DATABASE_URL to use the embedded server."
    return Error(message, hint=hint, id=f"memoryproject.{number}")
