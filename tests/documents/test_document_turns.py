"""Whose turn it is among documents: a workspace that brings many, or long ones, keeps nobody from
his."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone
from django_q.models import OrmQ

from memories.documents import document_queue, document_store, pipeline
from memories.documents.document_queue import claim_next
from memories.documents.document_store import NewDocument
from memories.models import Document
from memories.queue import leases
from memories.worker import tasks
from memoryproject.postgres import visible
from tests.people import Person

pytestmark = pytest.mark.django_db
LONG = ("The harbour wall is long. " * 8_000).encode()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture
def workers(settings: Any) -> Any:
    def be(number: int) -> None:
        settings.Q_CLUSTER = {**django_settings.Q_CLUSTER, "workers": number}

    return be


def bring(person: Person, number: int = 1, words: bytes = LONG) -> list[Document]:
    with visible.only(person.workspace.pk):
        return [
            document_store.receive(person.scope, NewDocument(parts=[words + bytes([65 + n])])).document
            for n in range(number)
        ]


def owner_of(document: Document | None) -> Any:
    return document and document.workspace


def test_as_long_as_others_wait_one_document_of_a_workspace_is_worked_on(
    alice: Person, mallory: Person, workers: Any
) -> None:
    workers(4)
    bring(alice, 5)
    bring(mallory, 1)
    first, second = owner_of(claim_next()), owner_of(claim_next())
    assert {first, second} == {alice.workspace, mallory.workspace}
    # Nobody else waits: it has what places there are, but for the last.
    assert owner_of(claim_next()) == alice.workspace
    assert claim_next() is None


def test_one_worker_stays_free_of_long_documents_and_takes_short_ones(
    alice: Person, mallory: Person, workers: Any
) -> None:
    workers(2)
    bring(alice, 3)
    assert owner_of(claim_next()) == alice.workspace
    assert claim_next() is None
    bring(mallory, 1)
    assert claim_next() is None
    bring(mallory, 2, b"A short note. ")
    assert owner_of(claim_next()) == mallory.workspace
    assert claim_next() is None


def test_one_worker_alone_takes_long_documents_too_in_turns(alice: Person, mallory: Person, workers: Any) -> None:
    workers(1)
    bring(alice, 2)
    assert owner_of(claim_next()) == alice.workspace
    assert claim_next() is None


def test_a_document_whose_worker_died_holds_no_place(alice: Person, workers: Any) -> None:
    workers(2)
    bring(alice, 1)
    taken = claim_next()
    assert claim_next() is None
    Document.objects.update(lease_until=timezone.now() - leases.LEASE)
    assert claim_next() == taken


def test_what_a_task_came_for_in_vain_is_done_when_there_is_a_place(
    alice: Person, mallory: Person, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each turn that ends wakes the worker for the next, also one that is not over."""
    monkeypatch.setattr(document_queue, "TURN", 0.0)
    workers(2)
    rows = [*bring(alice, 2), *bring(mallory, 1)]
    OrmQ.objects.all().delete()
    tasks.run_document(str(rows[0].pk))
    rounds = 0
    while OrmQ.objects.exists():
        OrmQ.objects.order_by("pk")[:1].get().delete()
        tasks.run_document("")
        rounds += 1
        assert rounds < 200
    assert set(Document.objects.values_list("state", flat=True)) == {"done"}


def test_who_is_interrupted_between_two_turns_is_as_ready_as_who_waits(alice: Person, workers: Any) -> None:
    workers(2)
    [document] = bring(alice, 1)
    assert pipeline.run(document.pk, seconds=0.0) is not None
    row = Document.objects.get(pk=document.pk)
    assert (row.state, row.attempts, row.lease_until) == ("indexing", 0, None)
    assert document_queue.due() == [document.pk]
