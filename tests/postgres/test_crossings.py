"""The functions that cross workspaces, called by the role that serves with whatever it likes: they
change nothing that it may not see, and tell where something belongs and no more."""

import itertools
import math
import random
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from memoryproject.postgres import crossings, visible
from memoryproject.postgres.crossings import Crossing
from tests.factories import UserFactory
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces.models import Workspace

SECRET = "Plums are kept in the cellar."
TEXTS = (
    "",
    "%",
    "workspaces_user",
    "workspaces_apikey",
    "memories_memory",
    "memories_featureset",
    "pg_authid",
    "x' or '1'='1",
    "'); drop table workspaces_user; --",
    "$1",
    "\\",
    "a" * 100_000,
)
NUMBERS = (0, -1, 1, 2**63 - 1, -(2**63))
# Of what is visible, as a statement may say it: nothing, a stranger's, and what is no list at all.
SETTINGS = ("", "{}", "{00000000-0000-0000-0000-000000000000}", "{%s}", "x", "{*}", "**", "*,")
# Functions that tell more than a workspace's id, or yes and no; each gives it of one row alone.
TELLS_MORE = {"cross_password_of": "the hash of an account's password, by its id"}
MOST_CALLS = 400


@pytest.fixture
def secrets(alice: Person, mallory: Person) -> list[uuid.UUID]:
    """Ids of rows that the caller may not see, of every kind that a function takes."""
    alice.tell(SECRET, user_id="u")
    account = UserFactory()
    tables = [
        *crossings.OF_ROWS,
        *crossings.PROVEN,
        "memories_memory",
        "workspaces_auditentry",
        "workspaces_auditmark",
    ]
    ids = [alice.workspace.pk, mallory.workspace.pk, account.pk]
    with connection.cursor() as cursor:
        for table in tables:
            key = "line_id" if table.endswith("auditmark") else "id"
            cursor.execute(f"select {key} from {table} limit 2")
            ids += [row[0] for row in cursor.fetchall()]
    assert len(ids) > 6
    return ids


def hostile(kind: str, ids: list[uuid.UUID]) -> list[Any]:
    match kind:
        case "uuid":
            return [*ids, uuid.UUID(int=0), None]
        case "uuid[]":
            return [ids, [*ids, None], [], None, [uuid.uuid4() for _ in range(20_000)] + ids]
        case "text":
            return [*TEXTS, None]
        case "bytea":
            return [b"", b"\0" * 32, b"x" * 100_000, None]
        case "bigint":
            return [*NUMBERS, None]
        case "boolean":
            return [True, False, None]
        case "bigint[]":
            return [[], [0, -1, 2**63 - 1], None, list(range(20_000))]
    raise AssertionError(f"say what is hostile of the type {kind}")


def calls(function: Crossing, ids: list[uuid.UUID]) -> Iterator[tuple[Any, ...]]:
    kinds = [kind.strip() for kind in function.takes.split(",") if kind.strip()]
    values = [hostile(kind, ids) for kind in kinds]
    if math.prod(map(len, values)) <= MOST_CALLS:
        return itertools.product(*values)
    chance = random.Random(7)  # the same each time, and of all places in the list
    return (tuple(map(chance.choice, values)) for _ in range(MOST_CALLS))


def all_rows() -> dict[str, str]:
    """Of every table its content, as the owner sees it."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'")
        for (name,) in cursor.fetchall():
            cursor.execute(
                f"select md5(coalesce(string_agg(row::text, '' order by row::text), '')) from \"{name}\" row"
            )
            found[name] = cursor.fetchone()[0]
    return found


def answer(function: Crossing, values: tuple[Any, ...], setting: str) -> Any:
    """Of one call; of a refusal its words."""
    kinds = [kind.strip() for kind in function.takes.split(",") if kind.strip()]
    places = ", ".join(f"%s::{kind}" for kind in kinds)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"set local {visible.SETTING} to '{setting}'")
            cursor.execute(f"select {function.name}({places})", values)
            return cursor.fetchone()[0]
    except DatabaseError as error:
        return str(error)


@pytest.mark.django_db
@pytest.mark.parametrize("function", crossings.CROSSINGS, ids=lambda each: each.name)
def test_hostile_arguments_change_nothing_and_tell_of_no_row(
    alice: Person, mallory: Person, secrets: list[uuid.UUID], function: Crossing
) -> None:
    stranger = Workspace.objects.create(slug="moor", name="Moor")
    before = all_rows()
    workspaces = {alice.workspace.pk, mallory.workspace.pk, stranger.pk}
    with connection.cursor() as cursor:
        cursor.execute(
            "select password from workspaces_user union all select encode(digest, 'hex') from workspaces_apikey"
        )
        hidden = {SECRET, *(row[0] for row in cursor.fetchall())}
    assert len(hidden) > 2
    settings = [each % stranger.pk if "%s" in each else each for each in SETTINGS]
    told = []
    with ordinary_role():
        for number, values in enumerate(calls(function, secrets)):
            told.append(answer(function, values, settings[number % len(settings)]))
        told += [
            answer(function, values, each)
            for values in itertools.islice(calls(function, secrets), 3)
            for each in settings
        ]
    for each in told:
        if function.name not in TELLS_MORE:
            assert not any(words in repr(each) for words in hidden)
        if isinstance(each, uuid.UUID | list):
            ids = each if isinstance(each, list) else [each]
            assert set(ids) <= workspaces
        else:
            kinds = {"boolean": bool, "bigint": int, "text": str}
            assert each is None or isinstance(each, str | kinds.get(function.gives, str))
    assert all_rows() == before
