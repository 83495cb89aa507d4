"""What a document says of a person whom it names meets what that person said: it is a case, and is
believed beside it by nobody."""

from pathlib import Path
from typing import Any

import pytest

from memories import ingest
from memories.belief import cases, review
from memories.belief.cases import CaseDecision
from memories.belief.cases.case_decision import Replaced
from memories.ingest import NewMessage
from memories.models import Case, Memory, MemorySession, Revision
from memories.search import SearchRequest
from memories.search.context import PACKED, context
from tests.handed_in import hand_in
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

pytestmark = pytest.mark.django_db(transaction=True)

BERLIN, POTSDAM = "Oskar lives in Berlin", "Oskar lives in Potsdam"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def read(person: Person, content: str, **options: Any) -> MemorySession:
    """What came of the claims of a document."""
    document = hand_in(person, content, **options)
    revision = Revision.objects.get(document=document, superseded_at=None)
    assert revision.session_id is not None
    ingest.run(revision.session_id)
    return MemorySession.objects.get(pk=revision.session_id)


def told(person: Person, *texts: str, user: str = "oskar", name: str = "Oskar") -> list[Memory]:
    ids = [pk for text in texts for pk in person.say(NewMessage(text, name=name), user_id=user).created_ids]
    return list(Memory.objects.filter(pk__in=ids))


@pytest.mark.parametrize("pinned", [True, False])
def test_a_document_against_a_persons_word_is_a_case_and_no_live_rival(alice: Person, pinned: bool) -> None:
    [berlin] = told(alice, "I live in Berlin.")
    if pinned:
        review.edit(alice.scope, berlin.pk, {"pinned": True})
    session = read(alice, "Oskar lives in Potsdam now.")
    assert session.counts["held"] == 1
    assert alice.live() == [BERLIN]
    case = Case.objects.get()
    assert case.kind == Case.Kind.HELD
    assert case.subject is not None
    assert case.subject.external_id == "oskar"
    found = context(alice.scope, SearchRequest("Where does Oskar live?", user_id="oskar"))
    assert "Berlin" in found.text


def test_a_person_may_believe_the_document(alice: Person) -> None:
    told(alice, "I live in Berlin.")
    read(alice, "Oskar lives in Potsdam now.")
    held = Memory.objects.exclude(held_at=None).get()
    old = Memory.objects.get(content=BERLIN)
    case = Case.objects.get()
    decision = CaseDecision(replace=(Replaced(old.pk, held.pk),))
    cases.decide_case(alice.scope, case.pk, decision)
    assert alice.live() == [f"{POTSDAM} now"]


def test_it_meets_a_belief_that_only_an_agent_may_see(alice: Person, bob: Person) -> None:
    told(bob, "I live in Berlin.")
    session = read(alice, "Oskar lives in Potsdam now.")
    assert session.counts["held"] == 1
    assert alice.live() == [BERLIN]


def test_an_agent_learns_by_no_document_what_another_keeps_to_itself(bob: Person, carol: Person) -> None:
    told(bob, "I live in Berlin.")
    right, wrong = (read(carol, f"Oskar lives in {town} now.") for town in ("Berlin", "Potsdam"))
    assert (right.counts["held"], wrong.counts["held"]) == (0, 0)
    assert right.reason == wrong.reason


def test_a_key_of_one_person_writes_by_no_document_about_another(alice: Person) -> None:
    told(alice, "I live in Berlin.")
    ada = Subject.objects.create(workspace=alice.workspace, external_id="ada")
    narrow = with_key(alice.workspace, KeyOptions("phone", subjects=(ada,)))
    read(narrow, "Oskar lives in Potsdam now.", user_id="ada")
    made = Memory.objects.get(content__contains="Potsdam")
    assert made.subject == ada
    assert BERLIN in alice.live()


def test_somebody_without_a_name_is_known_by_the_callers_id(alice: Person) -> None:
    alice.say("I live in Berlin.", user_id="oskar")
    session = read(alice, "Oskar lives in Potsdam now.")
    assert session.counts["held"] == 1
    assert len(alice.live()) == 1


def test_what_does_not_contradict_is_believed_of_the_person_it_names(alice: Person) -> None:
    told(alice, "I live in Berlin.")
    read(alice, "Oskar works as a plumber.")
    plumber = Memory.objects.get(content__contains="plumber")
    assert plumber.subject is not None
    assert plumber.subject.external_id == "oskar"
    assert alice.live() == [BERLIN, "Oskar works as a plumber"]
    asked = SearchRequest("What do you know about me?", user_id="ada", layers=PACKED)
    told(alice, "I keep bees.", user="ada", name="Ada")
    assert "plumber" not in context(alice.scope, asked).text


@pytest.mark.parametrize(
    "others",
    [
        [("oskar", "Oskar"), ("oskar-2", "Oskar")],
        [("oskar", "Oskar"), ("ob", "Oskar Brandt")],
        [("ob", "Oskar Brandt")],
    ],
)
def test_a_name_that_does_not_tell_who_is_meant_leaves_a_quote(alice: Person, others: list[tuple[str, str]]) -> None:
    for user, name in others:
        told(alice, "I keep bees.", user=user, name=name)
    before = alice.live()
    session = read(alice, "Oskar lives in Potsdam now.")
    assert alice.live() == before
    assert "quoted, and not believed: Oskar lives in Potsdam" in session.reason
    assert alice.finds("Who lives in Potsdam?", layers=("chunks",))


def test_the_whole_name_tells_who_is_meant(alice: Person) -> None:
    told(alice, "I live in Berlin.", user="ob", name="Oskar Brandt")
    told(alice, "I keep bees.")
    session = read(alice, "Oskar Brandt lives in Potsdam now.")
    assert session.counts["held"] == 1


def test_whom_nobody_knows_is_nobodys_memory_as_before(alice: Person) -> None:
    told(alice, "I keep bees.", user="ada", name="Ada")
    read(alice, "Oskar lives in Potsdam now.")
    assert Memory.objects.get(content__startswith="Oskar").subject is None


def test_a_name_of_another_workspace_is_nobodys(alice: Person, mallory: Person) -> None:
    told(mallory, "I live in Berlin.")
    read(alice, "Oskar lives in Potsdam now.")
    assert Memory.objects.get(content__contains="Potsdam").subject is None
    assert Subject.objects.filter(workspace=alice.workspace).count() == 0
