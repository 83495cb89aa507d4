"""Forgetting by hand: what goes, what stays, who is asked, and what comes back."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from memories import ingest
from memories.belief import cases, review
from memories.belief.cases import CaseDecision
from memories.belief.review import taken_words
from memories.ingest import NewMessage
from memories.models import (
    Case,
    Episode,
    Fact,
    LongJob,
    MaskedSpan,
    Memory,
    Revision,
    Supersession,
)
from memories.privacy import masks
from memories.worker import sweep
from tests.api_fixtures import Caller, caller
from tests.desk import member, page_of
from tests.handed_in import hand_in
from tests.mcp_caller import mcp_caller
from tests.people import Person, bound_to_agent

DOG, HOME = "I have a dog named Behemoth.", "I live in Lisbon."
ECHO = NewMessage("Noted: you have a dog named Behemoth.", role="assistant")
ECHO_OF_PORTO = NewMessage("Noted: you live in Porto.", role="assistant")
ABOUT: dict[str, Any] = {"user_id": "u1", "thread_id": "t1"}
LAYERS = ("memories", "episodes", "features", "chunks", "summaries")


def dog(person: Person) -> Memory:
    return Memory.objects.live().get(workspace=person.workspace, content__contains="Behemoth")


def said(person: Person) -> str:
    rows = Episode.objects.filter(workspace=person.workspace)
    return " ".join(rows.values_list("content", flat=True))


def found_by(person: Person, at: str) -> str:
    """Whatever this key is answered about the dog, now and as of `at`."""
    http, told = caller(person), []
    for then in ({}, {"knownAt": at}, {"validAt": at}):
        for layer in LAYERS:
            for ranking in ("hybrid", "keyword", "vector", "linea"):
                body = {"query": "a dog named Behemoth", "layers": [layer], "ranking": ranking}
                body |= {"include": ["citations", "chain", "neighbours"], **then}
                told.append(http.post("/memories/search", body).body["results"])
        wanted = {"query": "the dog named Behemoth", "userId": "u1", "floor": 0, **then}
        told.append(http.post("/memories/context", wanted).body["text"])
        told.append(http.get("/memories/profile", userId="u1", **then).body)
        told.append(http.get("/memories", userId="u1", live="any", **then).body)
    told += [http.get(f"/{each}").body for each in ("facts", "episodes", "rejections", "cases")]
    return str(told)


@pytest.mark.parametrize("reason", ["wrong", "private"])
def test_nobody_is_told_what_was_forgotten_as_of_no_time(
    alice: Person, bob: Person, carol: Person, mallory: Person, reason: str
) -> None:
    dave = bound_to_agent(bob.workspace, "dave")
    bob.say(DOG, HOME, ECHO, visibility="team", **ABOUT)
    then = (timezone.now() + timedelta(milliseconds=5)).isoformat()
    assert all("Behemoth" in found_by(each, then) for each in (alice, bob, dave))
    review.forget(alice.scope, dog(alice).pk, reason)
    for each in (alice, bob, dave, carol, mallory):
        assert "Behemoth" not in found_by(each, then)
    assert "Lisbon" in found_by(bob, then)


def test_its_words_go_from_messages_wherever_they_are_told_of_the_same_person(
    alice: Person,
) -> None:
    alice.say(DOG, HOME, **ABOUT)
    alice.say(ECHO, user_id="u1", thread_id="t2")
    alice.say(DOG, user_id="u2", thread_id="t3")
    memory = Memory.objects.live().get(subject__external_id="u1", content__contains="Behemoth")
    review.forget(alice.scope, memory.pk, "private")
    his = Episode.objects.filter(subject__external_id="u1")
    assert "Behemoth" not in " ".join(his.values_list("content", flat=True))
    assert HOME in said(alice)
    assert DOG in said(alice)  # another person's dog
    review.restore(alice.scope, memory.pk)
    assert said(alice).count(DOG) == 2
    assert ECHO.content in said(alice)
    assert not MaskedSpan.objects.exists()


def test_messages_stay_where_the_caller_says_so(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    memory = dog(alice)
    answer = caller(alice).delete(f"/memories/{memory.pk}", reason="wrong", messages="keep")
    assert answer.status == 204
    assert DOG in said(alice)
    memory.refresh_from_db()
    assert "Behemoth" not in memory.content
    refused = caller(alice).delete(f"/memories/{memory.pk}", messages="some")
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "messages")


def test_messages_of_what_is_outdated_go_where_the_caller_says_so(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    memory = dog(alice)
    caller(alice).delete(f"/memories/{memory.pk}", reason="outdated")
    assert DOG in said(alice)
    caller(alice).delete(f"/memories/{memory.pk}", reason="outdated", messages="mask")
    assert "Behemoth" not in said(alice)
    memory.refresh_from_db()
    assert "Behemoth" in memory.content


def test_a_context_leaves_out_what_was_forgotten_of_a_document(alice: Person) -> None:
    text = "The annual fee is 120 dollars. The garden has nine beech trees."
    document = hand_in(alice, text, filename="house.md")
    session_id = Revision.objects.get(document=document).session_id
    assert session_id is not None
    ingest.run(session_id)
    wanted = {"query": "The annual fee in dollars, and the beech trees", "floor": 0}
    wanted |= {"layers": ["memories", "chunks"]}
    assert "120 dollars" in caller(alice).post("/memories/context", wanted).body["text"]
    memory = Memory.objects.live().get(content__contains="annual fee")
    review.forget(alice.scope, memory.pk, "outdated")
    told = caller(alice).post("/memories/context", wanted).body["text"]
    assert "120 dollars" not in told
    assert "beech" in told
    assert any("dollars" in hit.row.content for hit in alice.ask("dollars", layers=("chunks",)))


def test_many_messages_go_a_few_at_a_time(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken_words, "BATCH", 2)
    for _ in range(5):
        alice.say(DOG, **ABOUT)
    memory = dog(alice)
    places, _ = taken_words.stood_on([memory.pk])
    assert [len(some) for some in taken_words.in_batches(places, 2)] == [2, 2, 1]
    review.forget(alice.scope, memory.pk, "wrong")
    assert "Behemoth" not in said(alice)
    review.restore(alice.scope, memory.pk)
    assert said(alice).count(DOG) == 5


def test_who_was_stopped_on_the_way_asks_again(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    memory = dog(alice)
    review.forget(alice.scope, memory.pk, "wrong", review.KEEP)
    assert DOG in said(alice)
    review.forget(alice.scope, memory.pk, "wrong")
    assert "Behemoth" not in said(alice)
    review.restore(alice.scope, memory.pk)
    assert (dog(alice).pk, said(alice)) == (memory.pk, DOG)


def test_what_was_outdated_becomes_private(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    memory = dog(alice)
    review.forget(alice.scope, memory.pk, "outdated")
    review.forget(alice.scope, memory.pk, "private")
    memory.refresh_from_db()
    assert memory.forget_reason == "private"
    assert "Behemoth" not in memory.content + said(alice)


def test_all_versions_of_what_is_private_go_and_one_of_what_is_wrong(alice: Person) -> None:
    def versions(reason: str) -> list[str]:
        first = alice.note("Ada lives in Bergen", user_id="ada")
        second = review.edit(alice.scope, first.pk, {"content": "Ada lives in Stavanger"})
        review.forget(alice.scope, second.pk, reason)
        rows = Memory.objects.filter(pk__in=[first.pk, second.pk]).order_by("version")
        return [text for text in rows.values_list("content", flat=True) if "Ada" in text]

    assert versions("wrong") == ["Ada lives in Bergen"]
    assert versions("private") == []


def test_what_was_private_and_is_said_again_waits_for_a_person(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    review.forget(alice.scope, dog(alice).pk, "private")
    told = alice.say(DOG, HOME, user_id="u1", thread_id="t2")
    assert alice.live() == ["User lives in Lisbon"]
    assert told.counts["quarantined"] == 1
    assert "a person is asked" in told.reason
    fact = Fact.objects.get(quarantined_at__isnull=False)
    assert fact.quarantine_reason == "was forgotten as private"
    assert Case.objects.undecided().get().items.get().fact_id == fact.pk
    review.accept(alice.scope, fact.pk)
    assert any("Behemoth" in text for text in alice.live())
    alice.say(DOG, user_id="u1", thread_id="t3")
    assert not Fact.objects.filter(quarantined_at__isnull=False).exists()


def test_what_was_private_and_is_refused_again_is_believed_by_nobody(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    review.forget(alice.scope, dog(alice).pk, "private")
    alice.say(DOG, user_id="u1", thread_id="t2")
    review.dismiss(alice.scope, Fact.objects.get(quarantined_at__isnull=False).pk)
    assert alice.live() == []


def test_the_dialog_says_what_goes_and_has_a_box_for_messages(alice: Person) -> None:
    alice.say(DOG, HOME, **ABOUT)
    desk, memory = member(alice.workspace), dog(alice)
    page = desk.sees(page_of(memory))
    assert "Also the messages it stands on" in page
    assert "can still be found by a search" in page
    desk.does(memory, "forget", reason="wrong")  # not ticked
    assert DOG in said(alice)
    desk.does(memory, "restore")
    desk.does(memory, "forget", reason="private", messages="on")
    assert "Behemoth" not in said(alice)
    assert "Behemoth" not in desk.sees(page_of(memory))
    assert "come back when it is restored" in desk.sees(page_of(memory))
    desk.does(memory, "restore")
    assert DOG in said(alice)


def test_a_tool_forgets_with_messages_and_without(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    agent, memory = mcp_caller(alice), dog(alice)
    wish = {"memory_id": str(memory.pk), "reason": "wrong"}
    agent.tool("forget_memory", **wish, messages="keep")
    assert DOG in said(alice)
    agent.tool("forget_memory", **wish)
    assert "Behemoth" not in said(alice)


def test_a_memory_that_an_order_took_comes_back_with_its_words(alice: Person) -> None:
    alice.say(DOG, **ABOUT)
    memory = dog(alice)
    alice.say("Please forget what my dog is called.", **ABOUT)
    assert "Behemoth" not in said(alice)
    review.restore(alice.scope, memory.pk)
    assert dog(alice).pk == memory.pk
    assert DOG in said(alice)


def test_only_who_sees_a_memory_takes_its_words(alice: Person, bob: Person, carol: Person, mallory: Person) -> None:
    bob.say(DOG, **ABOUT)
    path = f"/memories/{dog(bob).pk}"
    callers: list[Caller] = [caller(carol), caller(mallory)]
    assert [each.delete(path, reason="wrong").status for each in callers] == [404, 404]
    assert DOG in said(alice)
    assert caller(bob).delete(path, reason="wrong").status == 204
    assert "Behemoth" not in said(alice)


def waiting(person: Person) -> Supersession:
    """One dog is pinned, and another one that was told since waits."""
    person.say("I live in Lisbon.", **ABOUT)
    home = Memory.objects.live().get(content__contains="Lisbon")
    review.edit(person.scope, home.pk, {"pinned": True})
    person.say("I live in Porto.", ECHO_OF_PORTO, **ABOUT)
    return Supersession.objects.get(state="pending")


@pytest.mark.parametrize("note", ["wrong", "private: she asked me to"])
def test_who_rejects_by_such_a_note_takes_the_words_out_and_they_come_back(alice: Person, note: str) -> None:
    decision = waiting(alice)
    review.reject(alice.scope, decision.pk, note)
    new = Memory.objects.get(pk=decision.new_id)
    assert "Porto" not in new.content + said(alice)
    assert "Porto" not in str(caller(alice).get("/rejections").body)
    assert "Lisbon" in said(alice)
    review.reopen(alice.scope, decision.pk)
    new.refresh_from_db()
    assert ("Porto" in new.content, said(alice).count("Porto")) == (True, 2)
    assert not MaskedSpan.objects.exists()


def test_who_decides_a_case_by_such_a_note_takes_the_words_out_likewise(alice: Person) -> None:
    decision = waiting(alice)
    old, case = decision.old_id, Case.objects.get()
    choice = CaseDecision(keep=(old,), forget=(decision.new_id,), note="private: not for others")
    cases.decide_case(alice.scope, case.pk, choice)
    new = Memory.objects.get(pk=decision.new_id)
    assert "Porto" not in new.content + said(alice)
    cases.undo_case(alice.scope, case.pk)
    new.refresh_from_db()
    assert ("Porto" in new.content, said(alice).count("Porto")) == (True, 2)
    assert not MaskedSpan.objects.exists()


def test_a_plain_note_takes_nothing_out(alice: Person) -> None:
    decision = waiting(alice)
    review.reject(alice.scope, decision.pk, "not sure")
    assert said(alice).count("Porto") == 2


class Killed(Exception):
    """As if the process were."""


def test_the_worker_goes_on_where_a_process_died_between_two_batches(
    alice: Person, mallory: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken_words, "BATCH", 2)
    for number in range(3):
        alice.say(DOG, user_id="u1", thread_id=f"t{number}")
        alice.say(ECHO, user_id="u1", thread_id=f"e{number}")
    mask, asked = masks.mask_episodes, []

    def once(*given: Any) -> Any:
        asked.append(1)
        if len(asked) > 1:
            raise Killed
        return mask(*given)

    with monkeypatch.context() as patched:
        patched.setattr(masks, "mask_episodes", once)
        with pytest.raises(Killed):
            review.forget(alice.scope, dog(alice).pk, "private")
    assert 0 < said(alice).count("Behemoth") < 6
    assert sweep.sweep().masked == 0  # somebody may be at it
    LongJob.objects.update(updated_at=timezone.now() - 2 * LongJob.SILENT)
    assert sweep.sweep().masked == 1
    assert "Behemoth" not in said(alice)
    assert not LongJob.objects.exists()
    assert sweep.sweep().masked == 0


def test_what_was_restored_meanwhile_is_not_taken_out_any_more(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    alice.say(DOG, **ABOUT)
    memory = dog(alice)
    monkeypatch.setattr(taken_words, "take_words", lambda *_: None)
    review.forget(alice.scope, memory.pk, "wrong")
    monkeypatch.undo()
    assert LongJob.objects.exists()
    review.restore(alice.scope, memory.pk)
    LongJob.objects.update(updated_at=timezone.now() - 2 * LongJob.SILENT)
    sweep.sweep()
    assert DOG in said(alice)


def test_older_revisions_of_a_document_about_nobody_tell_it_no_more_in_other_words(
    alice: Person,
) -> None:
    old = "The annual fee of the club comes to 120 dollars. Herons nest on the roof."
    new = "The annual fee of the club is 120 dollars. Herons nest on the roof."
    for text in (old, new):
        document = hand_in(alice, text, filename="club.md", custom_id="club")
    session_id = Revision.objects.get(document=document, superseded_at=None).session_id
    assert session_id is not None
    ingest.run(session_id)
    memory = Memory.objects.live().get(content__contains="annual fee of the club")
    review.forget(alice.scope, memory.pk, "wrong")
    for text in Revision.objects.values_list("text", flat=True):
        assert "120 dollars" not in text
        assert "Herons nest on the roof." in text
    review.restore(alice.scope, memory.pk)
    assert set(Revision.objects.values_list("text", flat=True)) == {old, new}


@pytest.mark.django_db(transaction=True)
def test_what_is_looked_for_is_looked_for_without_the_lock(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    alice.say(DOG, **ABOUT)
    hand_in(alice, "Behemoth is the dog of u1.", user_id="u1")
    looked: list[bool] = []
    told_in, in_documents = taken_words.told_in, taken_words.in_documents
    for name, look in (("told_in", told_in), ("in_documents", in_documents)):
        monkeypatch.setattr(
            taken_words,
            name,
            lambda *given, look=look: looked.append(connection.in_atomic_block) or look(*given),
        )
    review.forget(alice.scope, dog(alice).pk, "wrong")
    assert looked == [False, False]


def test_a_passage_of_which_nothing_is_left_is_no_line_of_a_context(alice: Person) -> None:
    text = "The annual fee of the club is 120 dollars."
    document = hand_in(alice, text, filename="club.md")
    session_id = Revision.objects.get(document=document).session_id
    assert session_id is not None
    ingest.run(session_id)
    hand_in(alice, "The club has nine beech trees.", filename="trees.md")
    wanted = {"query": "annual fee of the club", "floor": 0, "layers": ["memories", "chunks"]}
    memory = Memory.objects.live().get(content__contains="annual fee")
    for reason in ("outdated", "wrong"):
        review.forget(alice.scope, memory.pk, reason)
        told = caller(alice).post("/memories/context", wanted).body["text"]
        assert "club.md" not in told
        assert "beech" in told


def test_the_worker_takes_no_more_words_than_the_key_that_forgot_may_see(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob.say(DOG, **ABOUT)
    alice.say(ECHO, user_id="u1", thread_id="t2")
    with monkeypatch.context() as patched:
        patched.setattr(taken_words, "take_words", lambda *_: None)
        review.forget(bob.scope, dog(alice).pk, "wrong")
    LongJob.objects.update(updated_at=timezone.now() - 2 * LongJob.SILENT)
    assert sweep.sweep().masked == 1
    assert DOG not in said(alice)
    assert ECHO.content in said(alice)
