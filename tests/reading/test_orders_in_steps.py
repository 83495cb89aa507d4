"""An order about many texts that a person decides: its words go in steps before the case says that
it is decided, come back in steps, and whoever comes after a dead process goes on."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memories.belief import cases, review
from memories.belief.cases import CaseDecision
from memories.belief.review import taken_words
from memories.errors import Conflict
from memories.ingest import NewMessage
from memories.models import Case, CaseItem, Episode, Intent, LongJob, MaskedSpan, Memory
from memories.privacy import masks
from memories.worker import sweep
from tests.api_fixtures import caller
from tests.people import Person

SALARY, FORGET = "My salary is 73,500 euros.", "Please forget my salary."
AGAIN = "your salary of 73,500 euros is noted."
BADGE = "Ravi's badge for the north gate is NG-1188-C."
PURGE = "Please purge NG-1188-C from the shared memory."
MANY = 7
Act = Callable[[], object]


class Killed(Exception):
    """As if the process were."""


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken_words, "BATCH", 2)


def said(person: Person) -> str:
    rows = Episode.objects.filter(workspace=person.workspace).order_by("pk")
    return " ".join(rows.values_list("content", flat=True))


def echo(person: Person, number: int, text: str = AGAIN) -> None:
    words = NewMessage(f"{number}: {text}", role="assistant")
    person.say(words, user_id="u1", thread_id=f"t{number}")


def pinned_salary(alice: Person) -> Case:
    """An order about a pinned memory waits; what an assistant tells of it is served meanwhile."""
    alice.say(SALARY, user_id="u1", thread_id="work")
    memory = Memory.objects.live().get(workspace=alice.workspace)
    review.edit(alice.scope, memory.pk, {"pinned": True})
    for number in range(MANY):
        echo(alice, number)
    alice.say(FORGET, user_id="u1", thread_id="work")
    return Case.objects.get(workspace=alice.workspace, kind="intent")


def badge_of_another(alice: Person) -> Case:
    """An order about what somebody else told waits; what it names is hidden meanwhile."""
    for name, text in (("Omar", "Morning, all."), ("Ravi", BADGE)):
        alice.say(NewMessage(text, name=name), user_id="desk", thread_id="talk")
    for number in range(MANY):
        words = NewMessage(f"{number}: NG-1188-C, noted.", role="assistant")
        alice.say(words, user_id="desk", thread_id=f"t{number}")
    alice.say(NewMessage(PURGE, name="Lena"), user_id="desk", thread_id="talk")
    return Case.objects.get(workspace=alice.workspace, kind="intent")


def decide(alice: Person, case: Case, what: str = "do") -> Act:
    return lambda: cases.decide_case(alice.scope, case.pk, CaseDecision(intent=what))


def killed(act: Act, name: str, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of an act ends when it has masked, or put back, so many times."""
    step, left = getattr(masks, name), [after]

    def dying(*given: Any) -> Any:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return step(*given)

    with monkeypatch.context() as patched:
        patched.setattr(masks, name, dying)
        with pytest.raises(Killed):
            act()


def worker_comes() -> int:
    LongJob.objects.update(updated_at=timezone.now() - 2 * LongJob.SILENT)
    return sweep.sweep().masked


def state(order: Intent) -> str:
    return Intent.objects.get(pk=order.pk).state


@pytest.mark.parametrize("after", [1, 3])
def test_a_decision_whose_process_ended_is_written_down_and_the_worker_takes_it(
    alice: Person, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, order = pinned_salary(alice), Intent.objects.get()
    killed(decide(alice, case), "mask_episodes", after, monkeypatch)
    # It is not said to be done while words of it are served.
    assert "73,500" in said(alice)
    case.refresh_from_db()
    assert (case.state, state(order), len(alice.live())) == ("open", "case", 1)
    assert sweep.sweep().masked == 0  # somebody may be at it
    assert worker_comes() == 1
    case.refresh_from_db()
    assert (case.state, state(order), alice.live()) == ("decided", "done", [])
    assert case.decided_by == alice.scope.actor
    assert "73,500" not in said(alice)
    assert not LongJob.objects.exists()


def test_who_decides_again_goes_on(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    case, before = pinned_salary(alice), said(alice)
    killed(decide(alice, case), "mask_episodes", 2, monkeypatch)
    decide(alice, case)()
    assert "73,500" not in said(alice)
    assert not LongJob.objects.exists()
    cases.undo_case(alice.scope, case.pk)
    assert said(alice) == before
    assert not MaskedSpan.objects.exists()


def test_who_leaves_it_after_all_has_all_words_back(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    case, before = pinned_salary(alice), said(alice)
    killed(decide(alice, case), "mask_episodes", 2, monkeypatch)
    decide(alice, case, "leave")()
    assert (said(alice), len(alice.live())) == (before, 1)
    assert not LongJob.objects.exists()


def test_a_decision_that_is_not_possible_any_more_puts_back_what_went_ahead_of_it(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, before = pinned_salary(alice), said(alice)
    killed(decide(alice, case), "mask_episodes", 2, monkeypatch)
    Case.objects.update(version=case.version + 1)  # something came
    assert worker_comes() == 1
    case.refresh_from_db()
    assert (case.state, case.steps, said(alice)) == ("open", [], before)
    assert not LongJob.objects.exists()


def test_a_decision_that_leaves_out_what_waits_is_refused_with_all_words_back(
    alice: Person,
) -> None:
    case, before = pinned_salary(alice), said(alice)
    held = alice.note("User has a boat.", user_id="u1")
    Memory.objects.filter(pk=held.pk).update(held_at=timezone.now())
    item = {"case": case, "memory": held, "at": timezone.now()}
    CaseItem.objects.create(workspace=alice.workspace, **item)
    answer = caller(alice).post(f"/cases/{case.pk}/decide", {"intent": "do"})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "keep")
    assert said(alice) == before
    case.refresh_from_db()
    assert (case.state, case.steps) == ("open", [])
    assert not LongJob.objects.exists()


def test_what_it_names_stays_hidden_and_the_rest_comes_back_where_an_undo_was_killed(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = badge_of_another(alice)
    assert "NG-1188-C" not in said(alice)
    hidden = MaskedSpan.objects.count()
    decide(alice, case)()
    cases.undo_case(alice.scope, case.pk)
    assert "NG-1188-C" not in said(alice)
    assert MaskedSpan.objects.count() == hidden

    decide(alice, case, "leave")()
    assert said(alice).count("NG-1188-C") == MANY + 2
    again = lambda: cases.undo_case(alice.scope, case.pk)  # noqa: E731
    killed(again, "mask_episodes", 1, monkeypatch)
    assert "NG-1188-C" in said(alice)
    assert worker_comes() == 1
    assert "NG-1188-C" not in said(alice)
    assert MaskedSpan.objects.count() == hidden
    assert not LongJob.objects.exists()


@pytest.mark.parametrize("what", ["leave", "undo"])
def test_words_that_a_killed_process_gave_back_in_part_come_back_by_the_worker(
    alice: Person, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "leave":
        case = badge_of_another(alice)
        act = decide(alice, case, "leave")
    else:
        case = pinned_salary(alice)
        decide(alice, case)()
        act = lambda: cases.undo_case(alice.scope, case.pk)  # noqa: E731
    killed(act, "unmask", 2, monkeypatch)
    assert MaskedSpan.objects.exists()
    assert worker_comes() == 1
    assert not MaskedSpan.objects.exists()
    assert not LongJob.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_an_order_means_is_looked_for_without_the_lock(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bool] = []
    for name in ("told_in", "in_documents"):
        look = getattr(taken_words, name)
        monkeypatch.setattr(
            taken_words,
            name,
            lambda *given, look=look: looked.append(connection.in_atomic_block) or look(*given),
        )
    case = pinned_salary(alice)
    decide(alice, case)()
    alice.say("My bike is green.", "Please forget that my bike is green.", user_id="u2")
    assert Intent.objects.filter(state="done").count() == 2
    assert len(looked) >= 8
    assert not any(looked)


def test_what_is_told_while_an_order_is_carried_out_goes_too(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    case, fill, told = pinned_salary(alice), masks.fill, list[int]()

    def told_meanwhile(*given: Any) -> None:
        fill(*given)
        if told:
            return
        told.append(1)
        with monkeypatch.context() as patched:  # as a process whose text was on its way before
            patched.setattr("memories.ingest.mask_messages.forgotten_of", lambda *_, **__: [])
            echo(alice, 99)

    monkeypatch.setattr(masks, "fill", told_meanwhile)
    decide(alice, case)()
    assert told
    assert "73,500" not in said(alice)


def restored(alice: Person) -> tuple[Memory, str]:
    alice.say(SALARY, user_id="u1", thread_id="work")
    for number in range(MANY):
        echo(alice, number)
    memory, before = Memory.objects.live().get(), said(alice)
    review.forget(alice.scope, memory.pk, "private")
    assert "73,500" not in said(alice)
    return memory, before


def test_who_restores_again_goes_on_where_a_restore_was_cut_off(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, before = restored(alice)
    killed(lambda: review.restore(alice.scope, memory.pk), "unmask", 2, monkeypatch)
    assert 0 < said(alice).count("73,500") < MANY + 1
    answer = caller(alice).post(f"/memories/{memory.pk}/restore")
    assert (answer.status, said(alice)) == (200, before)
    assert not MaskedSpan.objects.exists()
    with pytest.raises(Conflict):
        review.restore(alice.scope, memory.pk)


def test_the_worker_goes_on_where_a_restore_was_cut_off(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, before = restored(alice)
    killed(lambda: review.restore(alice.scope, memory.pk), "unmask", 2, monkeypatch)
    assert sweep.sweep().masked == 0
    assert worker_comes() == 1
    assert said(alice) == before
    assert not LongJob.objects.exists()


def test_a_restore_of_what_an_order_took_is_gone_on_with_too(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    alice.say(SALARY, user_id="u1", thread_id="work")
    for number in range(MANY):
        alice.say(SALARY, user_id="u1", thread_id=f"t{number}")
    memory = Memory.objects.live().get()
    alice.say(FORGET, user_id="u1", thread_id="work")
    assert "73,500" not in said(alice)
    killed(lambda: review.restore(alice.scope, memory.pk), "unmask", 2, monkeypatch)
    assert worker_comes() == 1
    assert said(alice).count("73,500") == MANY + 1


def test_what_is_forgotten_again_meanwhile_comes_back_no_more(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, _ = restored(alice)
    killed(lambda: review.restore(alice.scope, memory.pk), "unmask", 2, monkeypatch)
    review.forget(alice.scope, memory.pk, "private")
    worker_comes()
    assert "73,500" not in said(alice)
