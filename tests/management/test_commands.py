"""`createkey`, `search` and `sweep` from the shell: what they say, and how they refuse."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from memories import ingest
from memories.belief import review
from memories.ingest import IngestRequest
from memories.models import IdempotentAnswer, Memory, MemoryPeriod, MemorySession
from memories.worker import sweep
from tests.live_server import PATIENCE
from tests.people import Person
from workspaces.keys import scope_for_key
from workspaces.models import AuditEntry, Workspace
from workspaces.scope import Scope

ROOT = Path(__file__).parents[2]
COMMANDS = ("createkey", "search", "reembed", "reindex", "checkindex", "sweep")


def run(name: str, *words: str) -> str:
    """The output of `manage.py name words...`."""
    out = StringIO()
    call_command(name, *words, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(name, "--help")
    told = capsys.readouterr().out
    assert f"examples:\n  manage.py {name}" in told


@pytest.mark.parametrize("name", COMMANDS[:-1])
def test_an_unknown_workspace_is_refused_with_those_there_are(name: str, workspace: Workspace) -> None:
    words = ["tea"] if name == "search" else []
    with pytest.raises(CommandError, match="orchard"):
        run(name, *words, "--workspace", "orchrad")


# ---- createkey ------------------------------------------------------------------------------


def scope_of(text: str) -> Scope:
    found = scope_for_key(text.strip())
    assert found is not None
    return found


def test_the_key_stands_alone_on_standard_output(workspace: Workspace) -> None:
    scope = scope_of(run("createkey"))
    assert (scope.workspace_id, scope.agent_id, scope.subject_ids) == (workspace.pk, None, None)
    assert scope.may("admin")


def test_a_key_is_as_narrow_as_asked(workspace: Workspace) -> None:
    who = ["--agent", "bot", "--subject", "ada", "--subject", "bob"]
    scope = scope_of(run("createkey", *who, "--capability", "read", "--expires", "30d"))
    key = workspace.keys.get()
    assert key.agent is not None
    assert (key.name, key.agent.external_id, scope.agent_id) == ("bot", "bot", key.agent_id)
    assert scope.capabilities == {"read"}
    assert sorted(key.subjects.values_list("external_id", flat=True)) == ["ada", "bob"]
    assert key.expires_at is not None
    assert timedelta(days=29) < key.expires_at - timezone.now() <= timedelta(days=30)


@pytest.mark.parametrize("when", ["soon", "0d", "2020-01-01", "99999999d", "999999w", "2031-02-30"])
def test_a_time_that_cannot_be_is_refused(workspace: Workspace, when: str) -> None:
    with pytest.raises(CommandError, match="--expires"):
        run("createkey", "--expires", when)
    assert not workspace.keys.exists()


def test_a_date_is_taken_too(workspace: Workspace) -> None:
    run("createkey", "--expires", "2099-12-31")
    assert str(workspace.keys.get().expires_at) == "2099-12-31 00:00:00+00:00"


def test_of_several_workspaces_one_must_be_named(alice: Person, mallory: Person) -> None:
    with pytest.raises(CommandError, match="orchard, swamp"):
        run("createkey")
    assert scope_of(run("createkey", "--workspace", "swamp")).slug == "swamp"


@pytest.mark.django_db
def test_without_a_workspace_it_says_what_to_do() -> None:
    with pytest.raises(CommandError, match="up"):
        run("createkey")


# ---- search ---------------------------------------------------------------------------------


def test_a_line_for_each_hit(alice: Person) -> None:
    alice.tell("The orchard gate is\npainted green.", user_id="ada")
    [line] = run("search", "green gate").splitlines()
    assert "memory" in line
    assert "ada" in line
    assert line.endswith("The orchard gate is painted green.")


def test_scores_and_layers_are_shown_when_asked_for(alice: Person) -> None:
    alice.tell("The orchard gate is painted green.")
    told = run("search", "gate", "--layers", "memories,episodes", "--scores")
    assert "keyword" in told
    assert len(told.splitlines()) == 2


def test_json_has_the_callers_ids(alice: Person) -> None:
    alice.tell("The orchard gate is painted green.", user_id="ada")
    [hit] = json.loads(run("search", "gate", "--json"))["hits"]
    assert (hit["userId"], hit["layer"]) == ("ada", "memories")
    assert hit["content"] == "The orchard gate is painted green."


def test_a_user_limits_the_search(alice: Person) -> None:
    alice.tell("The orchard gate is painted green.", user_id="ada")
    alice.tell("The barn gate is painted red.", user_id="bob")
    assert "barn" not in run("search", "gate", "--user", "ada")
    assert "no user 'eve'" in run("search", "gate", "--user", "eve")


@pytest.mark.parametrize(
    "words",
    [[" "], ["tea", "--limit", "0"], ["tea", "--layers", "dreams"], ["tea", "--ranking", "x"]],
)
def test_a_question_that_cannot_be_is_refused(workspace: Workspace, words: list[str]) -> None:
    with pytest.raises(CommandError):
        run("search", *words)


def test_another_workspace_is_not_searched(alice: Person, mallory: Person) -> None:
    alice.tell("The orchard gate is painted green.")
    assert run("search", "gate", "--workspace", "swamp").strip() == "Nothing found."


# ---- sweep ----------------------------------------------------------------------------------


def waiting(person: Person, text: str = "The orchard gate is painted green.") -> MemorySession:
    return ingest.receive(person.scope, IngestRequest(content=text, mode="async", extract="none"))


def test_a_session_whose_bell_was_lost_is_run(alice: Person) -> None:
    waiting(alice)
    assert "1 sessions run" in run("sweep")
    assert alice.live() == ["The orchard gate is painted green."]
    assert "0 sessions run" in run("sweep")


def test_a_session_whose_worker_died_is_taken_up_when_its_lease_has_run_out(
    alice: Person,
) -> None:
    session = waiting(alice)
    rows = MemorySession.objects.filter(pk=session.pk)
    now = timezone.now()
    rows.update(state="extracting", attempts=1, lease_until=now + timedelta(minutes=1))
    assert sweep.sweep().sessions == 0
    rows.update(lease_until=now - timedelta(seconds=1))
    assert sweep.sweep().sessions == 1
    assert rows.get().state == "done"
    assert alice.live() == ["The orchard gate is painted green."]


def test_a_session_that_kills_each_worker_is_dead_at_last(alice: Person) -> None:
    session = waiting(alice)
    past = timezone.now() - timedelta(seconds=1)
    rows = MemorySession.objects.filter(pk=session.pk)
    rows.update(state="extracting", attempts=ingest.MAX_ATTEMPTS, lease_until=past)
    sweep.sweep()
    assert rows.get().state == "dead"


@pytest.mark.django_db(transaction=True)
def test_a_session_that_raises_does_not_keep_others_from_their_turn(alice: Person) -> None:
    bad, good = waiting(alice, "poison"), waiting(alice, "The barn is red.")
    with connection.cursor() as cursor:
        cursor.execute(
            "create function refuse() returns trigger language plpgsql as 'begin raise exception ''broken''; end'"
        )
        cursor.execute(
            "create trigger refuse before insert on memories_memory for each row"
            " when (new.content = 'poison') execute function refuse()"
        )
    try:
        with pytest.raises(CommandError, match="1 sessions failed"):
            run("sweep")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("drop function refuse cascade")
    assert MemorySession.objects.get(pk=bad.pk).state == "extracting"
    assert MemorySession.objects.get(pk=good.pk).state == "done"


def expiring(person: Person, **ago: int) -> Memory:
    memory = person.note("The key is under the pot.")
    until = timezone.now() - timedelta(**ago)
    MemoryPeriod.objects.filter(memory=memory).update(from_at=until - timedelta(days=1))
    review.edit(person.scope, memory.pk, {"forget_after": until})
    return Memory.objects.get(pk=memory.pk)


def test_a_memory_ends_when_its_time_is_over(alice: Person) -> None:
    memory = expiring(alice, hours=2)
    assert "1 memories expired" in run("sweep")
    ended = Memory.objects.get(pk=memory.pk)
    span = MemoryPeriod.objects.get(memory=memory)
    assert (ended.forget_reason, span.ended_by) == ("expired", "expired")
    assert span.until_at == memory.forget_after  # not when the sweep came
    line = AuditEntry.objects.get(target_id=memory.pk, action="forget")
    assert (line.actor, line.reason) == ("sweep", "expired")
    assert sweep.sweep().expired == 0


def test_what_expired_can_be_restored_and_stays(alice: Person) -> None:
    memory = expiring(alice, hours=2)
    sweep.sweep()
    review.restore(alice.scope, memory.pk)
    assert sweep.sweep().expired == 0
    assert alice.live() == ["The key is under the pot."]


def test_what_expired_is_found_by_no_ranking(alice: Person) -> None:
    expiring(alice, hours=2)
    sweep.sweep()
    for ranking in ("hybrid", "linea", "vector", "keyword"):
        assert alice.finds("key pot", ranking=ranking) == []


@pytest.mark.django_db(transaction=True)
def test_truth_and_index_agree_after_an_expiry(alice: Person) -> None:
    expiring(alice, hours=2)
    sweep.sweep()
    run("checkindex")


def test_a_memory_whose_time_is_not_over_stays(alice: Person) -> None:
    expiring(alice, hours=-2)
    assert sweep.sweep().expired == 0
    assert len(alice.live()) == 1


def test_old_answers_go(alice: Person) -> None:
    for key, hours in (("old", -1), ("new", 1)):
        IdempotentAnswer.objects.create(
            workspace=alice.workspace,
            asker="a",
            key=key,
            request_digest=b"",
            expires_at=timezone.now() + timedelta(hours=hours),
        )
    assert sweep.sweep().answers == 1
    assert IdempotentAnswer.objects.get().key == "new"


def test_a_sweep_ends_when_its_time_is_over(alice: Person) -> None:
    waiting(alice)
    assert sweep.sweep(seconds=0).sessions == 0
    assert sweep.sweep().sessions == 1


@pytest.mark.parametrize("seconds", ["0", "nan", "often", "1e9"])
def test_a_pause_that_cannot_be_is_refused(seconds: str) -> None:
    with pytest.raises(CommandError, match="--every"):
        run("sweep", "--every", seconds)


@pytest.mark.django_db(transaction=True)
def test_sweep_again_and_again_ends_at_a_signal(workspace: Workspace) -> None:
    program = (
        "import sys, django; django.setup();"
        "from django.conf import settings;"
        "settings.DATABASES['default']['NAME'] = sys.argv[1];"
        "from django.core.management import call_command;"
        "call_command('sweep', every=60)"
    )
    command = [sys.executable, "-c", program, connection.settings_dict["NAME"]]
    process = _start(command)
    assert process.stdout is not None
    assert "0 sessions run" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


def _start(command: list[str]) -> "subprocess.Popen[str]":
    env: dict[str, Any] = {**os.environ, "DJANGO_SETTINGS_MODULE": "memoryproject.settings_test"}
    env["PYTHONUNBUFFERED"] = "1"
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
