"""What a person corrected stays corrected, in whatever words it comes back."""

import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from memories import ingest
from memories.belief import review
from memories.belief.review import forget
from memories.language.english import shorten_clause
from memories.language.english.statements import read, restates
from memories.models import Memory, MemorySession, Rejection, Supersession
from memories.providers import EmbedderConfig, embedder_from
from tests.people import Person

DATA = Path(__file__).parents[1] / "data"
ALLERGY = "Mira is allergic to peanuts."
PARAPHRASES = [
    "Mira is allergic to peanuts.",
    "Mira has a peanut allergy.",
    "Peanuts are something Mira is allergic to.",
    "MIRA IS ALLERGIC TO PEANUTS!",
    "Mira suffers from an allergy to peanuts.",
]


def shares(name: str, embedder: str) -> tuple[float, float]:
    """How many of the paraphrases are blocked, and how many of the other facts."""
    provider = embedder_from(EmbedderConfig(embedder))
    blocked: dict[str, Counter[bool]] = {"again": Counter(), "other": Counter()}
    for line in (DATA / f"rejections_{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        old = provider.embed_one(row["rejected"])
        for kind, counted in blocked.items():
            for text in row[kind]:
                new = provider.embed_one(text)
                cosine = None if old is None or new is None else float(old @ new)
                threshold = provider.duplicate_threshold
                counted[restates(read(row["rejected"]), read(text), cosine, threshold)] += 1
    return tuple(counted[True] / counted.total() for counted in blocked.values())


@pytest.mark.parametrize("name", ["development", "held_out"])
@pytest.mark.parametrize(("embedder", "least"), [("local", 0.70), ("hash", 0.66), ("none", 0.66)])
def test_paraphrases_are_blocked_and_other_facts_are_not(name: str, embedder: str, least: float) -> None:
    again, other = shares(name, embedder)
    assert again >= least
    assert other <= 0.02


@pytest.mark.parametrize(
    ("rejected", "other"),
    [
        ("Mira lives in Porto now.", "Mira lives in Porto Alegre."),
        ("Ann smokes.", "Ann gave up smoking."),
        ("Ann plays golf.", "Ann no longer plays golf."),
        ("Ann's tutor is Bo.", "Ann tutors Bo."),
        ("Ann's tutor is Bo.", "Ann is Bo's tutor."),
        ("Ann has a dog.", "Ann wants a dog."),
        ("Ann prefers tea.", "Ann had tea."),
        ("Ann likes coffee.", "Ann likes coffee cake."),
        ("Ann works at Google as an engineer.", "Ann works at Google."),
    ],
)
def test_another_claim_in_like_words_is_not_the_rejected_one(rejected: str, other: str) -> None:
    assert not restates(read(rejected), read(other), 0.99, 0.88)


@pytest.fixture
def denied(alice: Person) -> Memory:
    """A memory that was forgotten as wrong."""
    alice.tell(ALLERGY, user_id="u")
    return forget(alice.scope, Memory.objects.get().pk, "wrong")


@pytest.fixture
def edited(alice: Person) -> Memory:
    alice.tell("Tomas lives in Ghent.", user_id="u")
    home = Memory.objects.get(content="Tomas lives in Ghent.")
    return review.edit(alice.scope, home.pk, {"content": "Tomas lives in Aalst."})


def test_a_rejected_claim_is_not_learned_in_five_ways_of_saying_it(alice: Person, denied: Memory) -> None:
    sessions = [alice.tell(text, user_id="u") for text in PARAPHRASES]
    assert alice.live() == []
    for session, text in zip(sessions, PARAPHRASES, strict=True):
        assert session.reason == f"1 rejected before by a person: {text}"
        assert session.counts["rejected"] == 1


def test_messages_that_repeat_it_are_kept_and_not_believed(alice: Person, denied: Memory) -> None:
    alice.say(*PARAPHRASES, user_id="u")
    assert alice.live() == []
    assert alice.finds("peanuts", user_id="u", layers=frozenset({"episodes"}))


@pytest.mark.parametrize(
    "said",
    ["Mira is allergic to shellfish.", "Mira is not allergic to peanuts.", "Mira likes peanuts."],
)
def test_other_facts_of_the_subject_are_learned(alice: Person, denied: Memory, said: str) -> None:
    alice.tell(said, user_id="u")
    assert alice.live() == [said]


def test_what_is_rejected_of_one_subject_is_learned_of_another(alice: Person, denied: Memory, mallory: Person) -> None:
    alice.tell(PARAPHRASES[1], user_id="v")
    mallory.tell(PARAPHRASES[1], user_id="u")
    assert alice.live() == mallory.live() == [PARAPHRASES[1]]


def test_a_person_may_say_it_by_hand_and_then_it_is_learned_again(alice: Person, denied: Memory) -> None:
    alice.note(PARAPHRASES[1], user_id="u")
    assert not Rejection.objects.exists()
    session = alice.tell(PARAPHRASES[1], user_id="u")
    assert len(session.reinforced_ids) == 1


def test_it_stays_rejected_when_the_session_is_tried_again(alice: Person) -> None:
    session = alice.tell(ALLERGY, user_id="u")
    forget(alice.scope, Memory.objects.get().pk, "wrong")
    MemorySession.objects.filter(pk=session.pk).update(state="failed")
    ingest.run(ingest.retry(alice.scope, session).pk)
    assert alice.live() == []


@pytest.mark.django_db(transaction=True)
def test_rejections_and_edits_hold_under_another_embedding_model(
    alice: Person, denied: Memory, edited: Memory, settings: Settings
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    call_command("reembed", stdout=StringIO(), stderr=StringIO())
    alice.tell(PARAPHRASES[1], user_id="u")
    alice.tell("Tomas's home is in Ghent.", user_id="u")
    assert alice.live() == [edited.content]


def test_a_rejected_update_does_not_ask_a_second_time(alice: Person) -> None:
    alice.tell("Mira lives in Ghent.", user_id="u")
    home = Memory.objects.get()
    review.edit(alice.scope, home.pk, {"pinned": True})
    alice.note("Mira lives in Bruges.", user_id="u")
    held = Supersession.objects.filter(state="pending")
    for decision in held:
        review.reject(alice.scope, decision.pk)
    alice.tell("Mira resides in Bruges.", user_id="u")
    assert not held.all().exists()


# ---- edits and pins


def test_what_an_edit_replaced_does_not_come_back(alice: Person, edited: Memory) -> None:
    for text in ("Tomas lives in Ghent.", "Tomas's home is in Ghent.", "Tomas resides in Ghent."):
        assert "rejected before" in alice.tell(text, user_id="u").reason
    assert alice.live() == [edited.content]


def test_the_edited_words_are_reinforced(alice: Person, edited: Memory) -> None:
    assert alice.tell(edited.content, user_id="u").reinforced_ids == [edited.pk]


def test_undoing_an_edit_lets_the_old_words_be_learned(alice: Person, edited: Memory) -> None:
    review.undo(alice.scope, Supersession.objects.get(rule="edit").pk)
    session = alice.tell("Tomas lives in Ghent.", user_id="u")
    assert (len(session.reinforced_ids), alice.live()) == (1, ["Tomas lives in Ghent."])


def test_an_edit_back_takes_the_correction_back(alice: Person, edited: Memory) -> None:
    review.edit(alice.scope, edited.pk, {"content": "Tomas lives in Ghent."})
    assert [r.content for r in Rejection.objects.all()] == [edited.content]


def test_a_pin_survives_whatever_is_told_after_it(alice: Person, edited: Memory) -> None:
    review.edit(alice.scope, edited.pk, {"pinned": True})
    alice.tell("Tomas lives in Bruges.", user_id="u")
    edited.refresh_from_db()
    assert edited.pinned
    assert edited.is_live


LEAD_INS = (
    "As I said, {}",
    "Reminder: {}",
    "FYI: {}",
    "FYI {}",
    "Just so you know, {}",
    "Once again, {}",
    "I already told you that {}",
    "Please note that {}",
    "By the way, {}",
    "Don't forget: {}",
    "{}, as I said before.",
    "For the record, {}",
    "Quick reminder that {}",
    "{}, you know.",
    "We had lunch by the lake. {}. It rained.",
    "{}, and it rained all day.",
)


@pytest.mark.parametrize("lead_in", LEAD_INS)
def test_what_leads_in_to_a_rejected_claim_or_stands_beside_it_makes_no_difference(
    alice: Person, denied: Memory, lead_in: str
) -> None:
    alice.tell(lead_in.format(ALLERGY.rstrip(".")), user_id="u")
    assert alice.live() == []


@pytest.mark.parametrize(
    "said",
    [
        "As I said, I am allergic to peanuts!",
        "Reminder: I'm allergic to peanuts.",
        "I live in Porto, and I am allergic to peanuts.",
    ],
)
def test_a_rejected_claim_is_known_again_in_the_first_person(alice: Person, denied: Memory, said: str) -> None:
    alice.tell(said, user_id="u")
    assert alice.live() == []


@pytest.mark.parametrize("name", ["development", "held_out"])
def test_lead_ins_let_other_facts_through(name: str) -> None:
    blocked: Counter[bool] = Counter()
    for line in (DATA / f"rejections_{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        for text in row["other"]:
            parts = shorten_clause.parts_of(f"As I said, {text}", row["rejected"].split()[0])
            again = (restates(read(row["rejected"]), read(part), None, 0.88) for part in parts)
            blocked[any(again)] += 1
    assert blocked[True] / blocked.total() <= 0.02
