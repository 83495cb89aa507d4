"""What a test does as the role that web and worker log in as: with its rights, behind the walls."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from memoryproject.postgres import visible
from memoryproject.postgres.embedded_postgres import APP_ROLE

BECOME = f"set role {APP_ROLE}; set search_path = {visible.VIEWS}, public"
RETURN = "reset role; reset search_path"


class _On(threading.local):
    is_set = False


_on = _On()


@contextmanager
def ordinary_role() -> Iterator[None]:
    """Inside, this thread's connection has the rights of the ordinary role and sees nothing that is
    not asked for. Inside of itself it does nothing."""
    if _on.is_set:
        yield
        return
    with visible.only():
        _say(BECOME)
        _on.is_set = True
        try:
            yield
        finally:
            _on.is_set = False
            if connection.connection is not None and not connection.needs_rollback:
                _say(RETURN)


def _say(text: str) -> None:
    connection.ensure_connection()
    with visible.only():
        connection.connection.execute(text)  # past Django, whose queries some tests count
