"""A long ingest is learned in steps: nothing is lost or doubled, and what is told stands in
rows."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from memories import ingest
from memories.belief import review
from memories.index import check, workspace_index
from memories.ingest import IngestRequest, NewMessage, process, session_queue
from memories.models import Citation, Fact, Memory, MemorySession, Supersession
from memories.worker import sweep
from memoryproject.postgres.database_roles import owner_connection
from tests.api_fixtures import caller
from tests.live_server import PATIENCE, wait_for
from tests.people import Person
from workspaces.models import Workspace

PLACES = ("Oslo", "Rome", "Cork", "Lima")
TALK = [
    NewMessage(text.format(n=n, place=PLACES[n % 4]), name=name, role=role)
    for n in range(8)
    for text, name, role in (
        ("I moved to {place}, I live in {place} now.", "Ada", "user"),
        ("What do you drink in the morning?", "", "assistant"),
        ("Tea number {n}, always.", "Ada", "user"),
        ("My sister Anna lives in {place}. She plays chess.", "Ada", "user"),
        ("ok", "Ada", "user"),
    )
]


def learned(person: Person) -> list[Any]:
    """What an ingest of TALK came to, by the words of it."""
    person.note("Ada plays chess", user_id="ada")
    no = person.note("Anna plays chess", user_id="ada")
    review.forget(person.scope, no.pk, "wrong")
    session = ingest.ingest(person.scope, IngestRequest(messages=tuple(TALK), user_id="ada"))
    while not session.is_final:
        session = ingest.run(session.pk, seconds=0) or session
    own = {"workspace": person.workspace}
    told = ("content", "version", "source_count", "valid_from", "superseded_by__content")
    counts = [len(ids) for ids in (session.created_ids, session.updated_ids)]
    return [
        (session.state, session.reason, session.counts, counts, len(session.reinforced_ids)),
        [step["outcome"] for step in session.steps],
        [row[:3] + row[4:] for row in Memory.objects.filter(**own).order_by("pk").values_list(*told)],
        sorted(Supersession.objects.filter(**own).values_list("old__content", "rule", "state")),
        list(Fact.objects.filter(**own).order_by("pk").values_list("statement", "rule")),
        sorted(Citation.objects.filter(**own).values_list("quote", "start", "fact__statement")),
    ]


@pytest.mark.parametrize("most", [1, 3, 7])
def test_steps_come_to_what_one_would_have_come_to(
    alice: Person, mallory: Person, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    whole = learned(alice)
    monkeypatch.setattr(process, "MOST_MESSAGES", most)
    assert learned(mallory) == whole
    assert len(whole[3]) >= 6


def test_each_turn_goes_on_where_the_one_before_stopped(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_MESSAGES", 3)
    session = ingest.receive(alice.scope, IngestRequest(messages=tuple(TALK), user_id="ada"))
    reached = []
    while not session.is_final:
        session = ingest.run(session.pk, seconds=0)
        reached.append((session.learned, session.attempts))
    assert reached == [*[(n, 0) for n in range(3, 40, 3)], (40, 1)]
    assert [step["rule"] for step in session.steps] == ["patterns"]


def test_steps_are_shorter_after_each_worker_that_died_of_one(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_MESSAGES", 8)
    session = ingest.receive(alice.scope, IngestRequest(messages=tuple(TALK), user_id="ada"))
    reached = []
    for died in range(ingest.MAX_ATTEMPTS):
        MemorySession.objects.update(attempts=died)
        session = ingest.run(session.pk, seconds=0)
        reached.append(session.learned)
    assert reached == [8, 12, 14, 15, 16, 17]


def test_a_long_sync_ingest_answers_202_when_its_time_is_over(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_MESSAGES", 3)
    http = caller(alice)
    body = {"messages": [{"role": "user", "content": f"I prefer tea {n} to coffee {n}."} for n in range(7)]}
    told = http.post("/memories/ingest", body | {"wait": 0})
    assert (told.status, told.body["status"]) == (202, "received")
    kept = MemorySession.objects.get()
    assert (len(kept.created_ids), Memory.objects.count(), kept.learned) == (3, 3, 3)
    ingest.run(kept.pk)
    told = http.get(f"/sessions/{told.body['sessionId']}").body
    assert (told["status"], told["memoriesCreated"], Memory.objects.count()) == ("done", 7, 7)


def test_a_short_one_is_answered_whatever_it_waits(alice: Person) -> None:
    told = caller(alice).post("/memories/ingest", {"content": "I own a boat.", "wait": 0})
    assert (told.status, told.body["memoriesCreated"]) == (201, 1)


# ---- in a process of its own, which is stopped or killed


NUMBER, LEASE = 60, timedelta(seconds=2)


@contextmanager
def long_request(person: Person, *, stop_at: int = 0) -> Iterator[subprocess.Popen[str]]:
    """One that has got somewhere, and is far from its end."""
    program = str(Path(__file__).parent.with_name("tell_long.py"))
    name = str(connection.settings_dict["NAME"])
    command = [sys.executable, program, name, person.key, str(NUMBER), str(stop_at)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert wait_for(lambda: MemorySession.objects.filter(learned__gt=0).exists())
            yield process
        finally:
            process.kill()


@pytest.fixture
def request_process(alice: Person) -> Iterator[subprocess.Popen[str]]:
    with long_request(alice) as process:
        yield process


def run_out() -> bool:
    return MemorySession.objects.filter(lease_until__lt=timezone.now()).exists()


def check_session(workspace: Workspace, *, claims: int) -> MemorySession:
    """All that was told is there, and once."""
    session = MemorySession.objects.get()
    assert (session.state, session.claims, session.learned) == ("done", claims, NUMBER)
    said = Fact.objects.values_list("statement", "citations__episode_id")
    assert len(said) == len(set(said)) == session.counts["facts"] >= NUMBER
    assert sorted(session.created_ids) == sorted(Memory.objects.values_list("pk", flat=True))
    assert check.check_index(workspace_index.index_of(workspace.pk), lambda _: None).broken == {}
    return session


@pytest.mark.django_db(transaction=True)
def test_a_request_that_was_killed_is_finished_from_where_it_was(
    alice: Person, request_process: subprocess.Popen[str]
) -> None:
    request_process.send_signal(signal.SIGKILL)
    request_process.wait(PATIENCE)
    known = set(MemorySession.objects.get().created_ids)
    assert known
    assert wait_for(run_out)
    assert sweep.sweep().sessions == 1
    assert known < set(check_session(alice.workspace, claims=2).created_ids)


@pytest.mark.django_db(transaction=True)
def test_a_request_that_was_stopped_tells_what_stands_in_the_rows(alice: Person) -> None:
    with long_request(alice, stop_at=20) as process:
        assert wait_for(lambda: os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG)[0] != 0)
        assert wait_for(run_out)
        assert sweep.sweep().sessions == 1
        process.send_signal(signal.SIGCONT)
        status, body = json.loads(process.communicate(timeout=PATIENCE)[0])
    session = check_session(alice.workspace, claims=2)
    assert (status, body["status"], body["sessionId"]) == (201, "done", str(session.pk))
    assert body["memoriesCreated"] == len(body["memories"]) == len(session.created_ids)
    assert body["factsExtracted"] == session.counts["facts"]


@pytest.mark.django_db(transaction=True)
def test_slow_work_is_nobody_elses(alice: Person, request_process: subprocess.Popen[str]) -> None:
    """The request waits for the workspace's lock three times longer than its lease."""
    with owner_connection() as other, other.transaction():
        other.execute(workspace_index.LOCK, {"workspace": alice.workspace.pk})
        first = MemorySession.objects.get().lease_until
        assert wait_for(lambda: MemorySession.objects.get().lease_until >= first + 3 * LEASE)
        assert session_queue.give_back_abandoned() == 0
    status, body = json.loads(request_process.communicate(timeout=PATIENCE)[0])
    assert (status, body["status"]) == (201, "done")
    check_session(alice.workspace, claims=1)


def test_nobody_waits_for_a_session_that_is_erased(alice: Person) -> None:
    under_way = alice.say("I moved to Lisbon.")
    MemorySession.objects.update(state=MemorySession.State.EXTRACTING)
    gone = str(uuid4())
    assert ingest.settled_among([gone, str(under_way.pk)]) == [gone]
