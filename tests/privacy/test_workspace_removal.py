"""A workspace that is removed leaves no row in any table; others keep theirs."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from memories import ingest
from memories.ingest import IngestRequest
from memories.models import (
    Entry,
    Episode,
    EvaluationRun,
    FailureMark,
    Figure,
    ImportedRow,
    JudgeHead,
    JudgeRehearsal,
    LargeLayer,
    Layer,
    MaskedSpan,
    Memory,
    MemorySession,
    MemoryUse,
    ModelUse,
    SearchUse,
    WorkspaceImport,
    WorkspaceIndex,
)
from memories.privacy.erase import workspace_removal
from memories.privacy.erase.workspace_removal import WorkspaceTable, tables
from memories.queue import outbox
from memories.worker import sweep
from tests.admin_pages import SECRET, rows_of
from tests.api_fixtures import caller
from tests.api_operations import furnish
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.audit import audit_chain
from workspaces.keys import scope_for_key
from workspaces.models import OAuthClient, Workspace, WorkspaceRemoval
from workspaces.oauth import grants

CERTIFICATE = "workspaces_workspaceremoval"
SEAL = "workspaces_auditseal"  # says that its log has ended
ACTS = "memories_irrevocableact"  # says that it was removed, for whoever restores
STAY = (CERTIFICATE, SEAL, ACTS, "workspaces_user")  # an account is its person's


@pytest.fixture
def full(alice: Person) -> Person:
    """Alice's workspace with a row in every table there is for one."""
    furnish(alice)
    rows_of(alice.workspace)
    caller(alice).post("/memories", {"content": SECRET}, Idempotency_Key="once")
    space = WorkspaceIndex.objects.get(workspace=alice.workspace)
    LargeLayer.objects.create(workspace=space, layer=Layer.MEMORIES)
    Figure.objects.create(span=1, name="searches", at=timezone.now(), workspace=alice.workspace.pk, count=1)
    ingest.ingest(alice.scope, IngestRequest(content="Later.", mode="async"))
    MaskedSpan.objects.create(
        workspace=alice.workspace,
        episode=Episode.objects.latest("pk"),
        start=0,
        end=5,
        words="Later",
        kind=MaskedSpan.Kind.SECRET,
    )
    today = {"workspace": alice.workspace, "day": timezone.now().date()}
    ModelUse.objects.create(**today, purpose="query", model="m")
    SearchUse.objects.create(**today)
    MemoryUse.objects.create(**today, memory=Memory.objects.filter(workspace=alice.workspace)[0])
    came_in = {"workspace": alice.workspace.pk}
    WorkspaceImport.objects.create(**came_in, export=uuid.uuid4(), header={})
    ImportedRow.objects.create(**came_in, model="memories.Memory", row={})
    app = OAuthClient.objects.create(name="Claude", redirect_uris=["https://claude.example/"])
    given = grants.Consent(MembershipFactory(workspace=alice.workspace), None, ("read",), "c", "https://x/", True, "")
    grants.consent(app, given)
    audit_chain.extend(alice.workspace.pk)
    alice.say("Keep in mind that my locker is red.", user_id="u1")
    alice.say("I live in Lille. My favourite bakery is near my flat.", user_id="u1")
    failed = MemorySession.objects.filter(workspace=alice.workspace).first()
    FailureMark.objects.create(workspace=alice.workspace, session=failed)
    JudgeHead.objects.create(workspace=alice.workspace, requested_by="user:ada")
    JudgeRehearsal.objects.create(workspace=alice.workspace, requested_by="user:ada", since=timezone.now())
    return alice


def columns(kinds: str) -> Iterator[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select table_name, column_name from information_schema.columns"
            f" where table_schema = current_schema() and data_type in ({kinds})"
        )
        yield from cursor.fetchall()


def count(table: WorkspaceTable, workspace: Workspace) -> int:
    number = WorkspaceIndex.objects.filter(workspace=workspace).values_list("number", flat=True)
    with connection.cursor() as cursor:
        values = {"id": workspace.pk, "number": number.first()}
        cursor.execute(f"select count(*) from {table.name} where {table.rows}", values)
        return int(cursor.fetchone()[0])


def ids_of(workspace: Workspace) -> set[uuid.UUID]:
    found = {workspace.pk}
    for name, column in columns("'uuid'"):
        table = next((each for each in tables() if each.name == name), None)
        if table and column == "id" and "%(id)s" in table.rows:
            with connection.cursor() as cursor:
                cursor.execute(f"select id from {name} where {table.rows}", {"id": workspace.pk})
                found |= {row[0] for row in cursor.fetchall()}
    return found


def places(kinds: str, condition: str, value: Any) -> list[str]:
    """Every column of the database that holds it, but for those that stay."""
    found = []
    for table, column in columns(kinds):
        with connection.cursor() as cursor:
            text = condition.format(column=f'"{column}"')
            cursor.execute(f'select count(*) from "{table}" where {text}', [value])
            if cursor.fetchone()[0] and table not in STAY:
                found.append(f"{table}.{column}")
    return found


def remove(workspace: Workspace, seconds: float = 60.0) -> WorkspaceRemoval:
    asked = workspace_removal.request(workspace, "test")
    while asked.is_open:
        workspace_removal.run(asked.pk, seconds)
        asked.refresh_from_db()
    return asked


def test_every_table_of_workspaces_is_emptied(full: Person, mallory: Person) -> None:
    mallory.tell("The swamp is green.")
    before = {table.name: count(table, mallory.workspace) for table in tables()}
    empty = [table.name for table in tables() if not count(table, full.workspace)]
    assert set(empty) <= {
        "memories_commonterm",
        "memories_duevector",
        "memories_extractoruse",
        "memories_indexrepair",
        "memories_connectionitem",
        "memories_featurerefusal",
        "memories_mergedrows",
        "memories_subjectmerge",
        "memories_conversationsummary",
        "memories_duesummary",
        "memories_talksummary",
        "workspaces_apikey_subjects",
    }
    assert remove(full.workspace).state == "done"
    assert [each for each in tables() if count(each, full.workspace)] == []
    assert {table.name: count(table, mallory.workspace) for table in tables()} == before
    assert mallory.finds("swamp") == ["The swamp is green."]


def test_nothing_of_it_is_found_by_looking_into_every_column(full: Person) -> None:
    ids, space = ids_of(full.workspace), WorkspaceIndex.objects.get(workspace=full.workspace)
    assert len(ids) > 40
    removed = remove(full.workspace)
    assert places("'uuid'", "{column} = any(%s)", list(ids)) == []
    words = "'text', 'character varying', 'jsonb', 'ARRAY'"
    for word in (SECRET, "orchard", str(full.workspace.pk)):
        assert places(words, "{column}::text ilike %s", f"%{word}%") == []
    numbers = [(table, column) for table, column in columns("'integer'") if column.startswith("workspace")]
    assert len(numbers) >= 3
    assert not Entry.objects.filter(workspace=space.number).exists()
    told = f"{removed.plan} {removed.removed} {removed.error}"
    assert SECRET not in told
    assert "orchard" not in told
    assert removed.removed["workspaces"] == 1


def test_every_table_is_of_workspaces_or_of_the_server(db: None) -> None:
    """What names a workspace is found by its columns, whatever the models say."""
    named = {table for table, column in columns("'uuid', 'integer'") if column in ("workspace_id", "workspace")}
    covered = {table.name for table in tables()}
    assert named - covered == {CERTIFICATE, SEAL, ACTS}
    assert EvaluationRun._meta.db_table not in covered


def test_what_it_plans_is_what_it_takes(full: Person) -> None:
    """What waits is stopped first, and that is an event itself."""
    planned = workspace_removal.plan(full.workspace)
    removed = remove(full.workspace).removed
    assert removed["change events"] >= planned.pop("change events")
    assert removed == planned | {"change events": removed["change events"]}


def test_nobody_is_let_in_from_the_first_moment_on(full: Person) -> None:
    workspace_removal.request(full.workspace, "test")
    assert scope_for_key(full.key) is None
    assert not full.workspace.memberships.exists()
    assert not full.workspace.invitations.exists()
    assert not Workspace.objects.filter(slug="orchard").exists()
    assert [ids for ids in outbox.waiting().values() if len(ids)] == [{str(WorkspaceRemoval.objects.get().pk)}]


def test_it_goes_on_where_it_was_killed(full: Person) -> None:
    asked = workspace_removal.request(full.workspace, "test")
    steps = 0

    def killed(rows: int) -> None:
        nonlocal steps
        steps += 1
        if steps % 3 == 0:
            raise KeyboardInterrupt

    for _ in range(100):
        WorkspaceRemoval.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        try:
            if workspace_removal.run(asked.pk, 60.0, killed):
                break
        except KeyboardInterrupt:
            continue
    asked.refresh_from_db()
    assert (asked.state, asked.claims > 5) == ("done", True)
    assert not Workspace.objects.filter(pk=full.workspace.pk).exists()


def test_a_turn_that_came_to_its_end_is_no_attempt(full: Person) -> None:
    asked = workspace_removal.request(full.workspace, "test")
    WorkspaceRemoval.objects.update(attempts=8)
    workspace_removal.run(asked.pk, 0.0)
    asked.refresh_from_db()
    assert (asked.state, asked.attempts) == ("running", 0)


def test_what_kills_each_worker_waits_for_a_person_who_can_ask_again(full: Person) -> None:
    asked = workspace_removal.request(full.workspace, "test")
    WorkspaceRemoval.objects.update(attempts=50)
    ended = workspace_removal.run(asked.pk)
    assert ended is not None
    assert (ended.state, ended.error) == ("failed", "Its worker died too often.")
    assert remove(full.workspace).state == "done"


def test_the_sweep_takes_up_what_was_left(full: Person) -> None:
    asked = workspace_removal.request(full.workspace, "test")
    workspace_removal.run(asked.pk, 0.0)
    assert Workspace.objects.filter(pk=full.workspace.pk).exists()
    assert sweep.sweep().removals == 1
    assert not Workspace.objects.filter(pk=full.workspace.pk).exists()


def test_only_one_worker_is_at_it(full: Person) -> None:
    asked = workspace_removal.request(full.workspace, "test")
    WorkspaceRemoval.objects.update(lease_until=timezone.now() + timedelta(seconds=60))
    assert workspace_removal.run(asked.pk) is None
    assert workspace_removal.request(full.workspace, "test").pk == asked.pk


def test_what_was_counted_while_it_went_goes_with_the_next_sweep(alice: Person) -> None:
    remove(alice.workspace)
    Figure.objects.create(span=0, name="searches", at=timezone.now(), workspace=alice.workspace.pk, count=1)
    sweep.sweep()
    assert not Figure.objects.filter(workspace=alice.workspace.pk).exists()


def test_the_command_shows_the_plan_and_wants_a_yes(alice: Person) -> None:
    alice.tell("The gate is green.")
    out = StringIO()
    call_command("removeworkspace", "orchard", "--dry-run", stdout=out)
    assert "1 memories" in out.getvalue()
    with pytest.raises(CommandError, match="--yes"):
        call_command("removeworkspace", "orchard", stdout=StringIO())
    assert Workspace.objects.filter(slug="orchard").exists()
    call_command("removeworkspace", "orchard", "--yes", stdout=out, stderr=StringIO())
    assert "removed; certificate" in out.getvalue()
    assert not Workspace.objects.exists()
