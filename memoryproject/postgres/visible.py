"""Which workspaces' rows the database shows to this thread.

Policies of every table with a workspace read one setting of the transaction (memoryproject/walls.py
makes them): without it nothing is there. What stands here becomes that setting, at the beginning of
each transaction and beside each statement that is alone, with no round trip of its own: nothing
outlives its transaction, for a pooler hands the session to somebody else.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

SETTING = "memoryproject.workspaces"
VIEWS = "walls"  # the schema of views that stands before the owner's, for whoever serves
EVERYTHING = "*"  # what the setting is where rows of all workspaces are visible
# Says so to a session, where there are views: a policy shows a table that has one to nobody but by
# it, an owner who is no superuser not excepted.
THROUGH_VIEWS = f"""
select set_config('search_path', '{VIEWS}, ' || quote_ident(current_schema()), false)
where to_regnamespace('{VIEWS}') is not null and '{VIEWS}' <> all(current_schemas(false))
"""
BY_VIEWS = "LOOKS_THROUGH_VIEWS"  # a login's setting: its new sessions are told so
_setting: ContextVar[str] = ContextVar("workspaces", default="")


def setting() -> str:
    """What the policies shall read: an array of ids as PostgreSQL writes it, EVERYTHING, or
    nothing."""
    return _setting.get()


def command(value: str) -> bytes:
    """Says so to the transaction that is open. `value` is what `setting` says."""
    return f"set local {SETTING} to '{value}'".encode()


@contextmanager
def only(*ids: uuid.UUID) -> Iterator[None]:
    """Inside, rows of these workspaces and no others; of none where none is named."""
    token = _setting.set(_array(ids))
    try:
        yield
    finally:
        _setting.reset(token)


def narrow(*ids: uuid.UUID) -> None:
    """As `only`, until the `only` ends that this stands in."""
    _setting.set(_array(ids))


def narrow_to(value: str) -> None:
    """The same, as it was where `setting` said so."""
    _setting.set(value)


@contextmanager
def as_set(value: str) -> Iterator[None]:
    """As it was where `setting` said so: for a thread that goes on with another one's work."""
    token = _setting.set(value)
    try:
        yield
    finally:
        _setting.reset(token)


def add(workspace_id: uuid.UUID) -> None:
    """One more, which has just been made, until the `only` ends that this stands in."""
    if setting() != EVERYTHING:
        _setting.set(_array([*ids(), workspace_id]))


def ids() -> list[uuid.UUID]:
    """ValueError where everything is visible."""
    return [uuid.UUID(each) for each in setting().strip("{}").split(",") if each]


def _array(ids: Sequence[uuid.UUID]) -> str:
    return "{%s}" % ",".join(map(str, ids)) if ids else ""  # noqa: UP031  braces
