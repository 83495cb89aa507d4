"""A database that is thrown away, for commands that show or measure without touching the real one."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def scratch_database() -> Iterator[None]:
    """A new database beside the real one; the real one is not touched."""
    real = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(real, verbosity=0)
