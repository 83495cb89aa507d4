"""Refuses a server that cannot hold the vectors, tells of walls between workspaces that somebody
changed, and refuses a database that this version cannot bring up to date. Django runs the first two
before `migrate` and in `check --database`, the third before `migrate`."""

from typing import Any

from django.core import checks
from django.core.checks import CheckMessage, Error
from django.core.management import CommandError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.validation import BaseDatabaseValidation
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from memoryproject import walls

MEND = "`migrate` mends it. Find out who did it: rows of other workspaces may have been visible."
PGVECTOR = (0, 7)  # the first with halfvec and sparsevec
AVAILABLE = (
    "select default_version, installed_version from pg_available_extensions where name = 'vector'"
)
LAST_WITH_OLD_STEPS = "69f907e"  # commit: it has all that the first release's migrations replace


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
        if not walls.are_up(self.connection):
            return []
        return [
            checks.Warning(f"{fault[:1].upper()}{fault[1:]}.", hint=MEND, id="memoryproject.W001")
            for fault in walls.faults(self.connection)
        ]


def refuse_half_way(connection: BaseDatabaseWrapper) -> None:
    """Raises CommandError where the database has taken some of the migrations that a later one
    replaces, not all of them, and the rest is no longer there to be taken."""
    applied = MigrationRecorder(connection).applied_migrations().keys()
    there = MigrationLoader(None).disk_migrations
    for migration in there.values():
        replaced = set(migration.replaces)
        if replaced & applied and replaced - applied - there.keys():
            raise CommandError(
                "This data was written by a version before the first release, and not by the last"
                " of"
                f" them: start commit {LAST_WITH_OLD_STEPS} over it once, then this version."
            )


def _refusal(message: str, number: str, advice: str) -> Error:
    hint = f"{advice}; or unset DATABASE_URL to use the embedded server."
    return Error(message, hint=hint, id=f"memoryproject.{number}")
