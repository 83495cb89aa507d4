"""The workspaces whose rows the database shows to this thread.

Policies of every table with a workspace read one setting of the transaction (memoryproject/postgres/walls.py
makes them): without it no row is visible. The value here becomes that setting, at the beginning of
each transaction and beside each single statement, with no round trip of its own: nothing outlives
its transaction, for a pooler hands the session to others.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

SETTING = "memoryproject.workspaces"
VIEWS = "walls"  # the schema of views that stands before the owner's, for whoever serves
EVERYTHING = "*"  # what the setting is where rows of all workspaces are visible
# Lets a session look through the views, where there are any: a policy hides a table with a view
# from everybody who does not use it, even from an owner who is no superuser.
THROUGH_VIEWS = f"""
select set_config('search_path', '{VIEWS}, ' || quote_ident(current_schema()), false)
where to_regnamespace('{VIEWS}') is not null and '{VIEWS}' <> all(current_schemas(false))
"""
BY_VIEWS = "LOOKS_THROUGH_VIEWS"  # a login's setting: its new sessions are told so
_setting: ContextVar[str] = ContextVar("workspaces", default="")


def setting() -> str:
    """The value that the policies read: an array of ids as PostgreSQL writes it, EVERYTHING, or
    nothing."""
    return _setting.get()


def command(value: str) -> bytes:
    """The SQL that applies a setting to the open transaction. `value` comes from `setting`."""
    return f"set local {SETTING} to '{value}'".encode()


@contextmanager
def only(*ids: uuid.UUID) -> Iterator[None]:
    """Inside, show rows of these workspaces and no others; none where none is named."""
    token = _setting.set(_array(ids))
    try:
        yield
    finally:
        _setting.reset(token)


def narrow(*ids: uuid.UUID) -> None:
    """Narrow like `only`, until the surrounding `only` ends."""
    _setting.set(_array(ids))


def narrow_to(value: str) -> None:
    """Narrow to a value of `setting`, until the surrounding `only` ends."""
    _setting.set(value)


@contextmanager
def as_set(value: str) -> Iterator[None]:
    """Inside, restore a value of `setting`: for a thread that continues another one's work."""
    token = _setting.set(value)
    try:
        yield
    finally:
        _setting.reset(token)


def add(workspace_id: uuid.UUID) -> None:
    """Show one more workspace, which has just been made, until the surrounding `only` ends."""
    if setting() != EVERYTHING:
        _setting.set(_array([*ids(), workspace_id]))


def ids() -> list[uuid.UUID]:
    """The visible ids. Raises ValueError where everything is visible."""
    return [uuid.UUID(each) for each in setting().strip("{}").split(",") if each]


def _array(ids: Sequence[uuid.UUID]) -> str:
    return "{%s}" % ",".join(map(str, ids)) if ids else ""  # noqa: UP031  braces
