"""Contexts hold passages of documents beside messages, and what is believed of their words."""

from pathlib import Path
from typing import Any

import pytest

from memories.ingest import NewMessage
from tests.api_fixtures import Answer, caller
from tests.documents.test_document_memories import learned
from tests.handed_in import hand_in
from tests.people import Person, bound_to_agent

pytestmark = pytest.mark.django_db(transaction=True)

PUMP = "How often does the copper pump need oil?"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def context(person: Person, query: str, **asked: Any) -> Answer:
    return caller(person).post("/memories/context", {"query": query, **asked})


def test_a_context_holds_what_a_document_answers_if_nobody_names_layers(alice: Person) -> None:
    document = hand_in(alice, title="Pumps")
    alice.say(NewMessage("The copper pump leaks again."), user_id="ada")
    body = context(alice, PUMP, userId="ada").body
    assert "[c1]" in body["text"]
    assert "every ninth day" in body["text"]
    assert "leaks again" in body["text"]
    assert [hit["chunk"]["documentId"] for hit in body["hits"] if hit["layer"] == "chunks"] == [str(document.pk)]
    narrowed = context(alice, PUMP, userId="ada", layers=["memories", "episodes"]).body
    assert "every ninth day" not in narrowed["text"]


def test_what_is_believed_of_a_passage_is_named_beside_it(alice: Person) -> None:
    learned(alice)
    text = context(alice, "Which test must every deployment pass?").body["text"]
    assert text.count("smoke test") == 1
    assert "[c1 m1" in text


def test_the_title_of_a_document_is_told_once(alice: Person) -> None:
    sections = (f"# Copper pump {n}\n\nThe copper pump {n} is oiled on day {n}. {'It hums. ' * 150}" for n in range(4))
    hand_in(alice, "\n\n".join(sections), title="Handbook of pumps")
    text = context(alice, "When is the copper pump oiled?").body["text"]
    assert text.count("[c") > 1
    assert text.count("Handbook of pumps") == 1


def test_a_passage_is_in_the_contexts_of_those_alone_who_see_its_document(alice: Person) -> None:
    bob = bound_to_agent(alice.workspace, "bob-of-papers")
    carol = bound_to_agent(alice.workspace, "carol-of-papers")
    hand_in(bob, title="Pumps", visibility="private")
    assert "every ninth day" in context(bob, PUMP).body["text"]
    assert "every ninth day" in context(alice, PUMP).body["text"]
    assert "every ninth day" not in context(carol, PUMP).body["text"]


def test_a_question_about_nothing_that_is_known_has_no_passages_either(alice: Person) -> None:
    hand_in(alice, title="Pumps")
    assert context(alice, "Who composed the Goldberg Variations?").body["text"] == ""


def test_a_title_that_holds_what_was_asked_makes_its_passage_more_of_an_answer(alice: Person, mallory: Person) -> None:
    kept, asked = "Copies are kept for ninety days in a cellar.", "How long are backups kept?"
    hand_in(alice, kept, title="Backups")
    hand_in(mallory, kept, title="Papers")
    named, unnamed = (context(person, asked).body["confidence"] for person in (alice, mallory))
    assert named > unnamed + 0.1
    off = "Who conducts the backups of the choir on the Faroe Islands?"
    assert context(alice, off).body["confidence"] < named
