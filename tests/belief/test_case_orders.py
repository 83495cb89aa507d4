"""What somebody asks of the memory and waits for a person: done, done in part, left, and taken
back."""

from typing import Any

import pytest
from django.utils import timezone

from memories.belief import cases, review
from memories.belief.cases import CaseDecision
from memories.belief.review import taken_words
from memories.ingest import NewMessage
from memories.models import Case, Episode, Intent, LongJob, MaskedSpan, Memory, Rejection
from memories.privacy import masks
from memories.worker import sweep
from tests.admin.test_admin_review import ACT, act_on
from tests.api_fixtures import Caller, caller
from tests.desk import list_of, member, page_of
from tests.people import Person
from workspaces.models import Role

SALARY = "My salary is 91,000 a year."
FORGET = "Please forget what I said about my salary."
NEVER = "Never bring up my salary again."
MOVED = "It's Thursday, not Tuesday."


def say(person: Person, *texts: str) -> None:
    for text in texts:
        person.say(text, user_id="u1", thread_id="t1")


def pinned(person: Person) -> None:
    for memory in Memory.objects.filter(workspace=person.workspace):
        review.edit(person.scope, memory.pk, {"pinned": True})


def waits(alice: Person, fact: str = SALARY, order: str = FORGET) -> tuple[Caller, str]:
    """A pinned memory, and an order about it that waits."""
    say(alice, fact)
    pinned(alice)
    say(alice, order)
    return caller(alice), f"/cases/{Case.objects.get(kind='intent').pk}"


def state() -> list[Any]:
    """All that a decision on an order can change."""
    return [
        sorted(Memory.objects.values_list("pk", "content", "is_head", "forgotten_at", "pinned")),
        sorted(Episode.objects.values_list("pk", "content")),
        sorted(Intent.objects.values_list("pk", "state", "memory_ids", "reason", "case_id")),
        MaskedSpan.objects.count(),
        Rejection.objects.count(),
    ]


@pytest.mark.parametrize(
    ("fact", "order", "gone"),
    [
        (SALARY, FORGET, "91,000"),
        (SALARY, NEVER, "91,000"),
        ("I have a horse called Thunder.", "I was only kidding about the horse.", ""),
        ("I have a dentist appointment on Tuesday.", MOVED, ""),
    ],
)
def test_what_was_asked_is_done_and_taken_back(alice: Person, fact: str, order: str, gone: str) -> None:
    http, case = waits(alice, fact, order)
    before, live = state(), alice.live()
    answer = http.post(f"{case}/decide", {"intent": "do"})
    assert (answer.status, answer.body["state"]) == (200, "decided")
    assert Intent.objects.get().state == "done"
    assert alice.live() != live
    if gone:
        shown = str(http.get(case).body) + str(http.get("/episodes").body)
        assert gone not in shown
    assert http.post(f"{case}/undo").body["state"] == "open"
    assert state()[1:] == before[1:]
    assert alice.live() == live


def test_what_is_left_stays_and_may_be_asked_again(alice: Person) -> None:
    http, case = waits(alice)
    before = state()
    answer = http.post(f"{case}/decide", {"intent": "leave"})
    assert (answer.status, alice.live()) == (200, ["User's salary is 91,000 a year"])
    intent = Intent.objects.get()
    assert (intent.state, intent.reason, intent.memory_ids) == ("undone", "left as it is", [])
    assert http.post(f"{case}/undo").status == 200
    assert state() == before


def test_an_order_has_to_be_answered(alice: Person) -> None:
    http, case = waits(alice)
    answer = http.post(f"{case}/decide", {})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "intent")
    assert Intent.objects.get().state == "case"


def test_some_of_what_was_named_is_spared(alice: Person) -> None:
    for town in ("Rome", "Oslo", "Bern", "Graz", "Turin", "Lima"):
        alice.note(f"User likes {town}.", user_id="u1")
    say(alice, "Forget everything you know about me.")
    spared = Memory.objects.get(content__contains="Oslo")
    case = f"/cases/{Case.objects.get().pk}"
    chosen = {"intent": "do", "keep": [str(spared.pk)]}
    assert caller(alice).post(f"{case}/decide", chosen).status == 200
    assert alice.live() == ["User likes Oslo."]
    caller(alice).post(f"{case}/undo")
    assert len(alice.live()) == 6


def test_what_was_named_and_has_a_newer_version_goes_too(alice: Person) -> None:
    http, case = waits(alice)
    memory = Memory.objects.live().get()
    review.edit(alice.scope, memory.pk, {"content": "User's salary is 92,000 a year"})
    assert http.post(f"{case}/decide", {"intent": "do"}).status == 200
    assert alice.live() == []


def test_a_correction_of_what_is_gone_is_a_conflict(alice: Person) -> None:
    http, case = waits(alice, "I have a dentist appointment on Tuesday.", MOVED)
    review.forget(alice.scope, Memory.objects.live().get().pk)
    answer = http.post(f"{case}/decide", {"intent": "do"})
    assert (answer.status, Case.objects.get(kind="intent").state) == (409, "open")
    assert http.post(f"{case}/decide", {"intent": "leave"}).status == 200


def test_an_order_taken_back_by_itself_waits_again_with_its_case(alice: Person) -> None:
    http, case = waits(alice)
    before = state()
    http.post(f"{case}/decide", {"intent": "do"})
    intent = Intent.objects.get()
    assert http.post(f"/intents/{intent.pk}/undo").body["state"] == "undone"
    assert http.post(f"{case}/undo").status == 200
    assert state() == before


def test_what_is_never_to_be_mentioned_is_not_learned_again(alice: Person) -> None:
    say(alice, "I have a boat called Esmeralda.", "Never mention my boat again.")
    assert Intent.objects.get().state == "done"
    say(alice, "I have a boat called Esmeralda.", "I do have a boat called Esmeralda!")
    assert alice.live() == []
    alice.tell("User has a boat that is called Esmeralda", user_id="u1")
    assert alice.live() == []


def test_an_erased_order_waits_no_more(alice: Person) -> None:
    http, _ = waits(alice)
    episode = Intent.objects.get().episode_id
    assert http.delete(f"/episodes/{episode}").status in (200, 202)
    assert not Case.objects.undecided().exists()
    assert not Intent.objects.exists()


@pytest.mark.parametrize(("verb", "left"), [("approve", []), ("reject", 1), ("keep-both", 1)])
def test_a_curator_decides_on_the_page(alice: Person, verb: str, left: Any) -> None:
    _, _ = waits(alice)
    case = Case.objects.get(kind="intent")
    grace = member(alice.workspace, Role.EDITOR)
    page = grace.sees("/admin/memories/case/inbox/")
    assert "asks to forget" in page
    assert "asked because: pinned" in page
    assert "Leave it" in grace.sees(f"/admin/memories/case/{case.pk}/change/")
    [result] = act_on(grace, ACT, verb, [str(case.pk)])
    assert (result["ok"], result["state"]) == (True, "decided")
    assert len(alice.live()) == (left or 0)
    [result] = act_on(grace, ACT, "undo", [str(case.pk)])
    assert (result["ok"], len(alice.live())) == (True, 1)


def test_only_people_and_the_workspaces_own_backend_see_an_order(alice: Person, bob: Person, mallory: Person) -> None:
    http, case = waits(alice)
    Memory.objects.update(visibility="global")
    for person in (bob, mallory):
        stranger = caller(person)
        assert stranger.get(case).status == 404
        assert stranger.post(f"{case}/decide", {"intent": "do"}).status == 404
        assert stranger.post(f"{case}/undo").status == 404
    assert Intent.objects.get().state == "case"
    assert http.post(f"{case}/decide", {"intent": "do"}).status == 200
    assert caller(bob).post(f"{case}/undo").status == 404


class Killed(Exception):
    """As if the process were."""


def test_a_decision_that_is_being_carried_out_says_so_and_how_far_it_is(
    alice: Person, mallory: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken_words, "BATCH", 2)
    http, path = waits(alice)
    for number in range(4):
        again = NewMessage("Your salary of 91,000 a year is noted.", role="assistant")
        alice.say(again, user_id="u1", thread_id=f"echo {number}")
    assert http.get(path).body["work"] is None
    case, mask, masked = Case.objects.get(kind="intent"), masks.mask_episodes, list[int]()

    def once(*given: Any) -> Any:
        masked.append(1)
        if len(masked) > 1:
            raise Killed
        return mask(*given)

    with monkeypatch.context() as patch:
        patch.setattr(masks, "mask_episodes", once)
        with pytest.raises(Killed):
            cases.decide_case(alice.scope, case.pk, CaseDecision(intent="do"))

    [listed] = http.get("/inbox", kind="intent").body["results"]
    for told in (listed["case"], http.get(path).body):
        total = told["work"]["total"]
        assert (told["state"], told["work"]["done"], total > 4) == ("open", 2, True)
    grace = member(alice.workspace, Role.VIEWER)
    for page in (page_of(case), "/admin/memories/case/inbox/", list_of(Case)):
        words = "at work" if page == list_of(Case) else f"being carried out: 2 of {total} texts"
        assert words in grace.sees(page)
    assert caller(mallory).get(path).status == 404
    assert member(mallory.workspace).status(page_of(case)) == 404
    LongJob.objects.update(updated_at=timezone.now() - 2 * LongJob.SILENT)
    sweep.sweep()
    told = http.get(path).body
    assert (told["state"], told["work"]) == ("decided", None)
