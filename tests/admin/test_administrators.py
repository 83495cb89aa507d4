"""The role that serves makes no administrator, unless the web process vouches for the very row."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError

from memoryproject.postgres import administrators, walls
from memoryproject.postgres.embedded_postgres import APP_ROLE
from tests.factories import UserFactory
from tests.ordinary_role import ordinary_role
from workspaces.models import User

pytestmark = pytest.mark.django_db


def run(text: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, values)


@pytest.fixture
def administrator() -> User:
    return UserFactory(is_superuser=True, is_staff=True)


@pytest.mark.parametrize(
    "act",
    [
        lambda admin, other: User.objects.filter(pk=other.pk).update(is_superuser=True),
        lambda admin, other: User.objects.filter(pk=other.pk).update(is_staff=True),
        lambda admin, other: User.objects.filter(pk=admin.pk).update(password=other.password),
        lambda admin, other: User.objects.filter(pk=admin.pk).update(email="other@example.org"),
        lambda admin, other: User.objects.bulk_create([User(username="new", is_superuser=True)]),
        lambda admin, other: run(
            "create temp table pg_class as select * from pg_catalog.pg_class;"
            " update pg_class set relowner = current_user::regrole;"
            " set local search_path = pg_temp, public, pg_catalog;"
            " update workspaces_user set is_superuser = true"
        ),
        lambda admin, other: run(
            f"{administrators.command(admin)}; update workspaces_user set is_superuser = true where id = %s",
            other.pk,
        ),
    ],
    ids=["right", "staff", "password", "email", "new", "shadowed", "another one's voucher"],
)
def test_a_statement_alone_makes_no_administrator(administrator: User, act: Callable[[User, User], object]):
    other = UserFactory()
    # The guard holds even where somebody gave the role this right.
    database = connection.settings_dict["NAME"]
    run(f'grant temporary on database "{database}" to {APP_ROLE}')
    refused = pytest.raises(ProgrammingError, match="nobody vouches")
    with ordinary_role(), refused, transaction.atomic():
        act(administrator, other)


def test_the_key_of_the_vouchers_is_read_by_nobody_who_serves():
    refused = pytest.raises(ProgrammingError, match="permission denied")
    with ordinary_role(), refused, transaction.atomic():
        run(f"select key from {administrators.KEYS}")


def test_an_account_is_saved_with_its_rights_and_those_of_others_as_ever(administrator: User):
    person = UserFactory()
    with ordinary_role():
        person.is_superuser = True
        person.save()
        administrator.set_password("another long password")
        administrator.save(update_fields=["password"])
        User.objects.filter(pk=administrator.pk).update(session_number=3)
        User.objects.filter(pk=administrator.pk).update(is_superuser=False, is_staff=False)
    assert User.objects.get(pk=person.pk).is_superuser
    after = User.objects.get(pk=administrator.pk)
    assert (after.is_superuser, after.is_staff, after.session_number) == (False, False, 3)
    assert after.check_password("another long password")


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        ("alter table workspaces_user disable trigger guard_administrators", "is off on"),
        ("drop trigger guard_administrators on workspaces_user", "is missing on"),
        ("alter function guard_administrators() reset search_path", "was changed"),
    ],
)
def test_a_guard_that_was_taken_away_is_told_and_put_back(act: str, fault: str):
    run(act)
    faults = walls.faults(connection)
    assert len(faults) == 1
    assert fault in faults[0]
    walls.make(connection, APP_ROLE)
    assert walls.faults(connection) == []
