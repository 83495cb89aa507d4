"""A text that is too long to be a memory becomes a document, and shares its message's fate."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from memories import ingest
from memories.documents import pipeline
from memories.index import workspace_index
from memories.models import Document, Entry, Layer, MaskedSpan, MemorySession, Revision
from memories.privacy import erase, masks
from memories.privacy.masks import MaskReason
from tests.api_fixtures import caller
from tests.handed_in import look_for, titles
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "# The harbour\n\n" + "The ferry to Tromsoe is blue and old. " * 70
QUESTION = "Which colour is the ferry to Tromsoe?"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def tell_long(person: Person, text: str = PAGE, **about: Any) -> MemorySession:
    """Told, and read as the worker would."""
    session = person.tell(text, extract="none", **about)
    for document_id in pipeline.due():
        pipeline.run(document_id)
    return session


def test_a_text_of_72_kilobytes_is_a_document_of_its_subject_agent_and_visibility(
    bob: Person,
) -> None:
    text = "# Log\n\n" + "The keeper counts the pumps of the north and writes it down. " * 1200
    session = tell_long(bob, text, user_id="ada", visibility="team")
    assert (session.state, session.created_ids) == ("done", [])
    assert "kept as documents" in session.reason
    document = Document.objects.get()
    assert (document.state, document.title, document.source) == ("done", "Log", "ingest")
    assert (document.subject, document.agent_id) == (session.subject, session.agent_id)
    assert document.visibility == "team"
    assert document.revision is not None
    assert document.revision.chunks.count() > 10
    assert titles(bob, "Who counts the pumps?") == ["Log"]


def test_a_short_text_is_a_memory_and_no_document(alice: Person) -> None:
    tell_long(alice, "The ferry is blue.")
    assert not Document.objects.exists()
    assert alice.live() == ["The ferry is blue."]


def test_its_place_in_answers_is_that_in_the_message(alice: Person) -> None:
    session = tell_long(alice)
    http = caller(alice)
    [row] = http.get("/documents").body["results"]
    assert row["episodeId"] == str(session.episode_ids[0])
    text = http.get(f"/episodes/{row['episodeId']}").body["content"]
    [hit] = look_for(alice, QUESTION).hits
    first = hit.passages[0].row
    assert first.content == text[first.start : first.end]
    assert http.get(f"/documents/{row['id']}/file").status == 404


def test_who_may_not_see_the_message_finds_no_document(bob: Person, carol: Person, mallory: Person) -> None:
    tell_long(bob, user_id="ada")
    assert titles(bob, QUESTION)
    assert titles(carol, QUESTION) == titles(mallory, QUESTION) == []


def test_a_session_that_is_learned_again_makes_no_second_one(alice: Person) -> None:
    session = tell_long(alice)
    rows = MemorySession.objects.filter(pk=session.pk)
    rows.update(state="received", learned=0, next_attempt_at=session.created_at)
    assert ingest.run(session.pk) is not None
    assert Document.objects.count() == 1


@pytest.mark.parametrize("kind", ["episode", "subject"])
def test_it_is_erased_with_its_message(alice: Person, kind: str) -> None:
    session = tell_long(alice, user_id="ada")
    ids = {"episode": session.episode_ids[0], "subject": session.subject_id}
    target = erase.target_of(alice.scope, kind, ids[kind])
    assert erase.plan(target)["documents"] == 1
    done = erase.run(erase.request(alice.scope, target).pk)
    assert done is not None
    assert done.proof["clean"]
    assert not Document.objects.exists()
    assert not Entry.objects.filter(layer=Layer.CHUNKS).exists()
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())


def test_words_that_are_masked_in_the_message_are_masked_in_it(alice: Person) -> None:
    session = tell_long(alice)
    space = workspace_index.index_of(alice.workspace.pk)
    [episode_id] = session.episode_ids
    start = PAGE.index("Tromsoe")
    why = MaskReason(MaskedSpan.Kind.FORGOTTEN)
    with transaction.atomic():
        workspace_index.lock(space)
        masks.mask_episodes(space, {episode_id: [(start, start + 7)]}, why)
    assert not Revision.objects.exists()
    for document_id in pipeline.due():
        pipeline.run(document_id)
    assert "the ferry to ███████ is" in Revision.objects.get().text[:45].lower()
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())
