"""Why a database that answers does not do what it is asked: full, read-only, no connection left."""

import psycopg
from psycopg import errors

# PostgreSQL's code of a connection that it refuses does not reach us; its words do.
NO_ROOM = "No space left on device"
CROWDED = (
    "too many clients",
    "remaining connection slots",
    "too many connections for",
    "no more connections allowed",
)
FULL = ("database_full", "The database's disk is full: send this again when there is room.")
READ_ONLY = (
    "database_read_only",
    "The database is read-only: send this again when it takes changes.",
)
NO_CONNECTION = ("database_crowded", "The database has no connection left for this.")


def cause_of(error: BaseException | None) -> tuple[str, str] | None:
    """A code and a sentence for a caller, where the database is well and cannot; `error` is
    psycopg's, or Django's about it."""
    while error is not None and not isinstance(error, psycopg.Error):
        error = error.__cause__
    match error:
        case errors.DiskFull():
            return FULL
        case psycopg.OperationalError() if NO_ROOM in str(error):
            return FULL
        case errors.ReadOnlySqlTransaction():
            return READ_ONLY
        case errors.TooManyConnections():
            return NO_CONNECTION
        case psycopg.OperationalError() if any(words in str(error) for words in CROWDED):
            return NO_CONNECTION
        case _:
            return None
