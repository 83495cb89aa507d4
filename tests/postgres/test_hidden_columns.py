"""What proves who somebody is cannot be read out of the tables by the role that serves, and what it
wrote into the audit it cannot change."""

import pytest
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.db.utils import ProgrammingError
from django.test import Client

from memoryproject.postgres import crossings, visible, walls
from tests.api_fixtures import caller, member
from tests.factories import AuditEntryFactory, UserFactory
from tests.ordinary_role import ordinary_role
from tests.people import Person
from workspaces.keys import digest_of
from workspaces.login.browser_sessions import row_key, sessions_in_use
from workspaces.models import ApiKey, AuditEntry, User, Workspace


def refused(text: str) -> bool:
    """As the role that serves."""
    with ordinary_role(), transaction.atomic():
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(text)
        except ProgrammingError as error:
            return "permission denied" in str(error)
    return False


@pytest.mark.django_db
@pytest.mark.parametrize(("table", "column"), walls.HIDDEN.items())
def test_no_statement_reads_them_by_any_name(table: str, column: str):
    assert refused(f"select {column} from {table}")
    assert refused(f"select * from {table}")
    assert refused(f"select t::text from {table} t")
    assert refused(f"select 1 from {table} where {column} is not null")
    assert refused(f"update {table} set {column} = {column} returning {column}")
    assert not refused(f"select id from {table}")


def test_a_key_is_proven_and_its_digest_is_told_to_nobody(alice: Person, mallory: Person):
    with ordinary_role(), visible.only(alice.workspace.pk):
        key = ApiKey.objects.get(pk=alice.scope.key_id)
        assert key.digest is None
        assert crossings.proves("workspaces_apikey", key.pk, digest_of(alice.key))
        assert not crossings.proves("workspaces_apikey", key.pk, digest_of(mallory.key))
        assert not crossings.proves("workspaces_user", key.pk, digest_of(alice.key))
    assert caller(alice).call("GET", "/memories").status == 200
    wrong = Person(alice.workspace, alice.key[:-1] + ("x" if alice.key[-1] != "x" else "y"))
    assert caller(wrong).call("GET", "/memories").status == 401


@pytest.mark.django_db
def test_a_password_is_checked_and_changed_by_who_shows_it():
    user = UserFactory()
    with ordinary_role():
        known = User.objects.get(pk=user.pk)
        assert known.check_password("a long enough password")
        known.set_password("another long password")
        known.save()
        assert User.objects.get(pk=user.pk).check_password("another long password")
        assert User.objects.filter(pk=user.pk).values_list("password", flat=True)[0]
        assert crossings.any_password_begins(known.password[:5])
        assert not crossings.any_password_begins("crypt$")


@pytest.mark.django_db
def test_whoever_reads_the_sessions_opens_none():
    user, client = UserFactory(is_superuser=True, is_staff=True), Client()
    client.force_login(user)
    key = client.cookies["sessionid"].value
    assert [row.session_key for row in Session.objects.all()] == [row_key(key)]
    assert client.get("/admin/").status_code == 200
    thief = Client()
    thief.cookies["sessionid"] = row_key(key)
    assert thief.get("/admin/").status_code == 302
    client.logout()
    assert not Session.objects.exists()


@pytest.mark.django_db
def test_a_session_that_is_copied_into_another_row_opens_nothing():
    administrator, thief = Client(), Client()
    administrator.force_login(UserFactory(is_superuser=True, is_staff=True))
    thief.force_login(UserFactory())
    [theirs, own] = [row_key(client.cookies["sessionid"].value) for client in (administrator, thief)]
    with ordinary_role():
        data = Session.objects.get(session_key=theirs).session_data
        assert Session.objects.filter(session_key=own).update(session_data=data) == 1
    assert administrator.get("/admin/").status_code == 200
    assert thief.get("/admin/").status_code == 302
    assert sessions_in_use([theirs])[theirs]
    assert sessions_in_use([own]) == {own: {}}


def test_lines_of_the_audit_are_added_and_otherwise_left_alone(alice: Person, mallory: Person) -> None:
    for text in (
        "update workspaces_auditentry set actor = 'me'",
        "delete from workspaces_auditentry",
    ):
        assert refused(text)
        assert refused(f"set local memoryproject.erasing = 'on'; {text}")
    line = AuditEntryFactory(workspace=alice.workspace, before={"content": "plums"}, reason="why")
    with ordinary_role():
        # Whoever cannot read it empties nothing.
        with visible.only(mallory.workspace.pk), connection.cursor() as cursor:
            cursor.execute("select cross_blank_audit(array[%s])", [line.pk])
            assert cursor.fetchone() == (0,)
        assert crossings.remove_audit(alice.workspace.pk, 100) == 0  # it is not being removed
        with visible.only(alice.workspace.pk):
            assert crossings.blank_audit({line.pk: alice.workspace.pk}) == 1
    after = AuditEntry.objects.get(pk=line.pk)
    assert (after.actor, after.before, after.reason) == (line.actor, None, "")
    assert Workspace.objects.filter(pk=alice.workspace.pk).exists()
    assert member(alice.workspace, "viewer").call("GET", "/memories").status == 200
