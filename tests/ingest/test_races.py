"""Two writers at once: real threads, real processes, one head."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.models import F

from memories import ingest
from memories.belief import review
from memories.errors import Conflict
from memories.index import check, workspace_index
from memories.ingest import IngestRequest, NewMessage, store
from memories.models import (
    Conversation,
    EmbeddingModel,
    Episode,
    Fact,
    Memory,
    MemoryPeriod,
    MemorySession,
    Supersession,
)
from memories.privacy import erase
from tests.api_fixtures import Answer, Caller
from tests.live_server import PATIENCE
from tests.people import Person
from workspaces.keys import issue_server_key
from workspaces.models import ApiKey, Invitation, Subject, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "The orchard gate is painted green"


def at_once(*acts: Callable[[], object]) -> list[BaseException]:
    """Run the acts in threads that start together; what they raised."""
    gate, raised = threading.Barrier(len(acts)), []

    def run(act: Callable[[], object]) -> None:
        try:
            gate.wait()
            act()
        except BaseException as error:
            raised.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.fixture
def low_threshold(alice: Person) -> None:
    alice.tell("Something that makes the embedding model known.", user_id="nobody")
    EmbeddingModel.objects.update(duplicate_threshold=0.5)


@pytest.fixture
def worker_database() -> str:
    """The name of the database that the tests use, for other processes."""
    return str(connection.settings_dict["NAME"])


@pytest.mark.parametrize("round_", range(3))
def test_the_same_content_from_threads_ends_in_one_head(alice: Person, round_: int) -> None:
    raised = at_once(*[lambda: alice.tell(TEXT, user_id="u")] * 6)
    assert raised == []
    memory = Memory.objects.get()
    assert memory.source_count == 6
    assert MemoryPeriod.objects.filter(until_at=None).count() == 1


def test_contradictions_from_threads_end_in_one_chain_without_forks(alice: Person, low_threshold: None) -> None:
    colours = ["green", "blue", "white"]
    acts = [lambda c=c: alice.tell(f"The orchard gate is painted {c}", user_id="u") for c in colours]
    assert at_once(*acts) == []
    chain = Memory.objects.filter(subject__external_id="u").order_by("version")
    assert [m.version for m in chain] == [1, 2, 3]
    assert [m.superseded_by_id for m in chain] == [chain[1].pk, chain[2].pk, None]
    assert Supersession.objects.filter(state="applied").count() == 2


def test_the_same_ids_from_threads_are_the_same_episodes(alice: Person) -> None:
    messages = [NewMessage(f"Line {i} of the story.", id=str(i)) for i in range(5)]
    raised = at_once(*[lambda: alice.say(*messages, thread_id="t", user_id="u")] * 4)
    assert raised == []
    assert Episode.objects.count() == 5


def test_one_session_is_run_by_one_of_many_workers(alice: Person) -> None:
    session = ingest.receive(alice.scope, IngestRequest(content=TEXT))
    done: list[object] = []
    assert at_once(*[lambda: done.append(ingest.run(session.pk))] * 5) == []
    assert sum(result is not None for result in done) == 1
    assert MemorySession.objects.get().attempts == 1


def test_the_same_content_from_two_processes_ends_in_one_head(alice: Person, worker_database: str) -> None:
    program = Path(__file__).parent.with_name("tell_again.py")
    command = [sys.executable, str(program), worker_database, alice.key, TEXT]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    errors = [process.communicate(timeout=PATIENCE)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], errors
    memory = Memory.objects.get()
    assert memory.source_count == 20
    assert MemoryPeriod.objects.filter(memory=memory, until_at=None).count() == 1


def test_a_merge_of_subjects_is_undone_by_one_of_many(alice: Person) -> None:
    for name in ("ada", "grace"):
        alice.note(f"{name} sings", user_id=name)
    ids = [Subject.objects.get(external_id=name).pk for name in ("grace", "ada")]
    made = review.merge_subjects(alice.scope, *ids)
    raised = at_once(*[lambda: review.separate(alice.scope, made.pk)] * 4)

    assert [type(each) for each in raised] == [Conflict] * 3
    assert Memory.objects.get(subject=ids[0]).content == "grace sings"


def test_what_is_learned_while_subjects_merge_and_part_is_about_one_of_them(alice: Person) -> None:
    for name in ("ada", "grace"):
        alice.note(f"{name} sings", user_id=name)
    ids = [Subject.objects.get(external_id=name).pk for name in ("grace", "ada")]

    def merge_and_part() -> None:
        for _ in range(3):
            review.separate(alice.scope, review.merge_subjects(alice.scope, *ids).pk)

    def learn(name: str) -> None:
        for number in range(8):
            alice.tell(f"{name} planted tree number {number}", user_id=name)

    raised = at_once(merge_and_part, lambda: learn("ada"), lambda: learn("grace"))

    assert raised == []
    assert run_due() == 16
    assert check.check_index(workspace_index.index_of(alice.workspace.pk), lambda _: None).broken == {}
    assert Fact.objects.exclude(subject=F("memory__subject")).count() == 0


def run_due() -> int:
    """Sessions done when those that were taken over have run again."""
    for session in MemorySession.objects.exclude(state=MemorySession.State.DONE):
        ingest.run(session.pk)
    return MemorySession.objects.filter(state=MemorySession.State.DONE).count()


@pytest.mark.parametrize("round_", range(4))
@pytest.mark.parametrize("place", [{}, {"thread_id": "talk"}, {"user_id": "ada"}])
def test_the_same_message_sent_twice_at_once_is_kept_once(alice: Person, place: dict[str, str], round_: int) -> None:
    said = NewMessage("The orchard gate is painted green.", id="m-1")
    request = IngestRequest(messages=(said,), **place)
    alice.tell("Something that makes the embedding model known.")
    raised = at_once(*[lambda: ingest.receive(alice.scope, request)] * 4)
    assert raised == []
    assert Episode.objects.filter(external_id="m-1").count() == 1


@pytest.mark.parametrize("round_", range(4))
def test_the_same_message_appended_twice_at_once_is_kept_once(alice: Person, round_: int) -> None:
    said = NewMessage("The orchard gate is painted green.", id="m-1")
    ingest.receive(alice.scope, IngestRequest(messages=(NewMessage("Hello."),), thread_id="talk"))
    talk = Conversation.objects.get()
    raised = at_once(*[lambda: store.append(alice.scope, talk, [said])] * 4)
    assert raised == []
    assert Episode.objects.filter(external_id="m-1").count() == 1


def test_one_key_at_once_makes_one_workspace_and_gives_one_answer(db: None) -> None:
    _, text = issue_server_key("deploy", actor="test")
    answers: list[Answer] = []

    def make() -> None:
        headers = {"Authorization": f"Bearer {text}", "Idempotency-Key": "acme-1"}
        body = {"slug": "acme", "name": "Acme", "ownerEmail": "boss@example.org"}
        answers.append(Caller("acme", headers).post("//api/v1/workspaces", body))

    assert at_once(*[make] * 6) == []
    assert {answer.status for answer in answers} == {201}
    ids = {answer.body["id"] for answer in answers}
    assert len(ids) == Workspace.objects.count() == 1
    keys = [answer.body["key"] for answer in answers if answer.body["key"]]
    assert len(keys) == ApiKey.objects.count() == 1  # its secret is told once
    assert Invitation.objects.count() == 1


def test_who_erases_beside_a_worker_hears_of_it_when_it_is_gone(alice: Person) -> None:
    for number in range(5):
        alice.tell(f"The barn number {number} is painted green.", user_id="u")
    target = erase.target_of(alice.scope, "subject", Subject.objects.get().pk)
    asked = erase.request(alice.scope, target).pk
    states: list[str] = []

    def wait() -> None:
        states.append(erase.run_or_wait(asked, PATIENCE).state)

    assert at_once(wait, wait, lambda: erase.run(asked)) == []
    assert states == ["done", "done"]
