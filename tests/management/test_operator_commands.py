"""`keys`, `members` and `stats` from the shell; caps and rotation of keys."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, get_commands, load_command_class
from django.db import connection
from django.utils import timezone

from memories.meters.stored_metrics import table_sizes
from memoryproject.server.front.rate_limits import Tenants
from memoryproject.server.front.requests import Refusal, Request
from tests.api_fixtures import caller
from tests.factories import MembershipFactory
from tests.management.test_commands import run
from tests.people import Person, with_key
from workspaces.keys import KeyOptions, scope_for_key
from workspaces.models import ApiKey, AuditEntry, Invitation, Membership, Workspace


def key_of(person: Person) -> ApiKey:
    return ApiKey.objects.get(pk=person.scope.key_id)


# Programs that run until they are ended, of which `up` starts the others; and one of Django's.
OTHERS = {"up", "web", "work", "models", "migrate"}
CHANGING = {
    "backup",
    "createworkspace",
    "erase",
    "exportworkspace",
    "importmemories",
    "importworkspace",
    "ingestfile",
    "keys",
    "members",
    "prune",
    "removeworkspace",
    "restore",
}


def own_commands() -> list[str]:
    return sorted({n for n, app in get_commands().items() if app == "memories"} - OTHERS)


@pytest.mark.parametrize("name", own_commands())
def test_every_command_has_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(name, "--help")
    told = capsys.readouterr().out
    assert f"examples:\n  manage.py {name}" in told


@pytest.mark.parametrize("name", sorted(CHANGING))
def test_what_changes_something_shows_it_first_and_speaks_json(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    told = command.create_parser("manage.py", name).format_help()
    assert "--dry-run" in told
    assert "--json" in told


def test_a_workspace_is_made_and_removed_in_json_after_a_look(alice: Person) -> None:
    make = ("createworkspace", "acme", "--json")
    assert json.loads(run(*make, "--dry-run"))["dryRun"] == "yes"
    assert not Workspace.objects.filter(slug="acme").exists()
    with pytest.raises(CommandError, match="There is a workspace 'orchard' already"):
        run("createworkspace", "orchard", "--dry-run")
    assert json.loads(run(*make))["slug"] == "acme"
    gone = ("removeworkspace", "acme", "--json")
    assert json.loads(run(*gone, "--dry-run"))["dryRun"]


@pytest.mark.django_db(transaction=True)
def test_what_goes_for_good_is_told_in_json(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada")
    erasing = ("erase", "subject", "ada", "--json", "--workspace", "orchard")
    assert json.loads(run(*erasing, "--dry-run"))["rows"]["memories"] == 1
    gone = json.loads(run(*erasing, "--yes"))
    assert (gone["rows"]["memories"], bool(gone["certificate"])) == (1, True)
    removed = json.loads(run("removeworkspace", "orchard", "--yes", "--json"))
    assert removed["certificate"]
    assert not Workspace.objects.filter(slug="orchard").exists()


def test_a_key_is_made_in_json(alice: Person) -> None:
    told = json.loads(run("createkey", "--workspace", "orchard", "--expires", "30d", "--json"))
    scope = scope_for_key(told["key"])
    assert scope is not None
    assert (told["workspace"], scope.workspace_id) == ("orchard", alice.workspace.pk)
    assert told["expiresAt"]
    server = json.loads(run("createkey", "--server", "--json"))
    assert server["key"].startswith("mps_")
    assert server["expiresAt"] is None


@pytest.mark.parametrize("name", ["keys", "members", "stats"])
def test_help_ends_with_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(name, "--help")
    assert f"examples:\n  manage.py {name}" in capsys.readouterr().out


# ---- keys -----------------------------------------------------------------------------------


def test_keys_are_listed_without_those_that_are_over(alice: Person, mallory: Person) -> None:
    old = with_key(alice.workspace, KeyOptions("old"))
    run("keys", "revoke", key_of(old).prefix, "--workspace", "orchard")
    listed = run("keys", "list", "--workspace", "orchard")
    assert key_of(alice).prefix in listed
    assert "old" not in listed
    told = json.loads(run("keys", "list", "--all", "--json", "--workspace", "orchard"))
    assert [(key["name"], key["state"]) for key in told] == [
        ("backend", "active"),
        ("old", "revoked"),
    ]


def test_a_key_of_another_workspace_is_not_revoked(alice: Person, mallory: Person) -> None:
    with pytest.raises(CommandError, match="There is no key"):
        run("keys", "revoke", key_of(mallory).prefix, "--workspace", "orchard")


def test_a_dry_run_revokes_nothing(alice: Person) -> None:
    run("keys", "revoke", key_of(alice).prefix, "--dry-run")
    assert scope_for_key(alice.key) is not None
    run("keys", "revoke", f"mp_{key_of(alice).prefix}")
    assert scope_for_key(alice.key) is None


def test_a_rotated_key_may_do_the_same(alice: Person) -> None:
    narrow = with_key(alice.workspace, KeyOptions("n", capabilities=("read",), per_minute=7))
    text = run("keys", "rotate", key_of(narrow).prefix).strip()
    assert scope_for_key(narrow.key) is None
    new = scope_for_key(text)
    assert new is not None
    assert (new.capabilities, new.per_minute) == (frozenset({"read"}), 7)


def test_an_overlap_keeps_the_old_key_for_a_while(alice: Person) -> None:
    old = key_of(alice)
    run("keys", "rotate", old.prefix, "--overlap", "24h", "--json")
    assert scope_for_key(alice.key) is not None
    left = ApiKey.objects.get(pk=old.pk).expires_at
    assert left is not None
    assert timedelta(hours=23) < left - timezone.now() <= timedelta(hours=24)
    assert AuditEntry.objects.filter(action="expire_key", target_id=old.pk).exists()


def test_what_is_over_is_not_rotated(alice: Person) -> None:
    run("keys", "revoke", key_of(alice).prefix)
    with pytest.raises(CommandError, match="revoked or expired"):
        run("keys", "rotate", ApiKey.objects.get().prefix)


def test_keys_are_rotated_by_administrators_alone(alice: Person, bob: Person, mallory: Person) -> None:
    spare = with_key(alice.workspace, KeyOptions("spare", capabilities=("read",)))
    path = f"/keys/{key_of(spare).pk}/rotate"
    assert caller(bob).post(path).status == 403
    assert caller(mallory).post(path).status == 404
    made = caller(alice).post(path, {"overlapSeconds": 60})
    assert (made.status, made.body["capabilities"]) == (201, ["read"])
    assert caller(alice).post(path, {"overlapSeconds": -1}).status == 400
    assert scope_for_key(spare.key) is not None
    caller(alice).delete(f"/keys/{key_of(spare).pk}")
    assert caller(alice).post(path).status == 409


def test_no_key_rotates_one_that_may_do_more(alice: Person) -> None:
    admin = with_key(alice.workspace, KeyOptions("a", capabilities=("admin",)))
    answer = caller(admin).post(f"/keys/{key_of(alice).pk}/rotate")
    assert (answer.status, scope_for_key(alice.key) is None) == (403, False)


def test_a_key_is_made_with_a_cap(workspace: Workspace) -> None:
    scope = scope_for_key(run("createkey", "--per-minute", "30").strip())
    assert scope is not None
    assert scope.per_minute == 30
    with pytest.raises(CommandError, match="no number from 1"):
        run("createkey", "--per-minute", "0")


def test_the_cap_of_a_key_holds_beside_the_servers() -> None:
    tenants = Tenants(clock=lambda: 100.0)
    request = Request.__new__(Request)
    request.credential, request.address = "digest", "127.0.0.1"
    tenants.learn("digest", "orchard", 2)
    assert tenants.name(request)
    for _ in range(2):
        tenants.check_caps(request, known=True, key=50, workspace=0, anonymous=0)
    with pytest.raises(Refusal):
        tenants.check_caps(request, known=True, key=50, workspace=0, anonymous=0)
    tenants.learn("digest", "orchard")
    tenants.check_caps(request, known=True, key=0, workspace=0, anonymous=0)


# ---- members --------------------------------------------------------------------------------


def test_a_member_is_invited_listed_changed_and_removed(workspace: Workspace) -> None:
    path = run("members", "invite", "ada@example.org", "--role", "admin").splitlines()[-1]
    assert Invitation.objects.get().role == "admin"
    assert str(Invitation.objects.get().pk) in path
    MembershipFactory(workspace=workspace)
    ben = MembershipFactory(workspace=workspace, role="viewer")
    assert ben.user.email in run("members", "list")
    run("members", "role", ben.user.email, "--role", "owner")
    assert Membership.objects.get(pk=ben.pk).role == "owner"
    run("members", "remove", ben.user.email)
    told = json.loads(run("members", "list", "--json"))
    assert [each["role"] for each in told] == ["owner"]


def test_the_last_owner_stays(workspace: Workspace) -> None:
    owner = MembershipFactory(workspace=workspace)
    with pytest.raises(CommandError, match="needs an owner"):
        run("members", "remove", owner.user.email)


def test_a_dry_run_changes_no_member(workspace: Workspace) -> None:
    MembershipFactory(workspace=workspace)
    ben = MembershipFactory(workspace=workspace, role="viewer")
    run("members", "remove", ben.user.email, "--dry-run")
    run("members", "role", ben.user.email, "--role", "admin", "--dry-run")
    told = json.loads(run("members", "invite", "x@example.org", "--dry-run", "--json"))
    assert told == {"act": "invite", "email": "x@example.org", "dryRun": True, "role": "viewer"}
    assert Membership.objects.get(pk=ben.pk).role == "viewer"
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("invite", "nobody"), "email:"),
        (("remove", "x@example.org"), "There is no member"),
        (("role", "x@example.org"), "Say which role"),
    ],
)
def test_what_cannot_be_is_refused(workspace: Workspace, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run("members", *words)


# ---- stats ----------------------------------------------------------------------------------


def test_rows_and_bytes_are_counted(alice: Person, mallory: Person) -> None:
    alice.tell("Tea is served at four")
    told = json.loads(run("stats", "--json"))
    assert told["workspaces"]["orchard"]["liveMemories"] == 1
    assert told["workspaces"]["swamp"]["liveMemories"] == 0
    assert told["tables"]["memories_entry"]["indexBytes"] > 0
    assert "per live memory" in run("stats")
    assert "swamp" not in run("stats", "--workspace", "orchard", "--all-tables")


@pytest.mark.django_db(transaction=True)
def test_a_table_that_was_never_analyzed_tells_what_was_written_to_it() -> None:
    with connection.cursor() as cursor:
        cursor.execute("create table young as select 1 from generate_series(1, 7)")
        try:
            cursor.execute("select pg_stat_force_next_flush()")
            cursor.execute("select 1")
            assert {size.name: size.rows for size in table_sizes()}["young"] == 7
        finally:
            cursor.execute("drop table young")
