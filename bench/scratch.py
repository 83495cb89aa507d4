"""A database that is thrown away, for commands that show or measure without touching the real
one."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from memoryproject.postgres import visible

OTHERS = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


@contextmanager
def scratch_database() -> Iterator[None]:
    """A new database beside the real one; the real one is not touched."""
    real = connection.settings_dict["NAME"]
    with visible.only():  # what is said before a statement would make a transaction of both
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute(OTHERS)  # a browser may still be asking
            connection.creation.destroy_test_db(real, verbosity=0)
