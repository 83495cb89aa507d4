"""Rehearsals of the judge: what it makes of the messages of the last week, and what thresholds make of that."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.ingest import judged_messages, rehearse_judge
from memories.ingest.judge_outcomes import FORGOTTEN, KEPT, QUESTIONED, REPLACED, JudgeOutcome, JudgeScore, outcomes
from memories.models import Episode, JudgeRehearsal, LongJob, Memory
from memories.queue import long_jobs
from memories.worker import side_processes
from tests.factories import EpisodeFactory
from tests.ingest.test_judged_messages import CORSA, HIVE, told
from tests.people import Person
from tests.scripted_judge import Judge, change
from workspaces.models.workspace import first_uuid7

AS_IT_IS = Judge().thresholds
ENDS = Judge(change(ends=0.95, compatible=0.05), fact=0.4)


def rehearsed(person: Person, judge: Judge) -> list[JudgeScore]:
    row = rehearse_judge.request(person.scope)
    while row.state == "waiting":
        assert rehearse_judge.go_on(row.pk, judge=judge) is not None
        row.refresh_from_db()
    assert row.state == "done"
    return [JudgeScore(**each) for each in row.scores]


def kinds(scores: list[JudgeScore], **chosen: float) -> dict[str, int]:
    found = [one.kind for one in outcomes(scores, AS_IT_IS._replace(**chosen)).values()]
    return {kind: found.count(kind) for kind in (QUESTIONED, REPLACED, KEPT, FORGOTTEN) if kind in found}


@pytest.fixture
def belief(alice: Person) -> Memory:
    alice.say("I keep bees in the orchard.", user_id="ada")
    return Memory.objects.get()


def test_other_thresholds_are_tried_on_what_was_said(alice: Person, belief: Memory) -> None:
    told(alice, HIVE, user_id="ada")
    scores = rehearsed(alice, ENDS)
    assert kinds(scores) == {REPLACED: 1}
    assert kinds(scores, act=0.96) == {QUESTIONED: 1}
    assert kinds(scores, act=0.96, far=1.0, ask=1.0) == {}
    assert kinds(scores, act=0.96, keep=0.4) == {QUESTIONED: 1, KEPT: 1}
    [(about, found)] = outcomes(scores, AS_IT_IS).items()
    assert about[0] == str(belief.pk)
    assert Episode.objects.get(pk=found.score.episode).content[found.score.start : found.score.end] == HIVE


def test_what_was_replaced_meanwhile_is_counted_as_it_is_now(alice: Person, belief: Memory) -> None:
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judged_messages.run(alice.workspace.pk, judge=ENDS)
    assert belief.content not in alice.live()
    assert kinds(rehearsed(alice, ENDS)) == {REPLACED: 1}


def test_earlier_words_that_nothing_was_read_in_are_counted(alice: Person) -> None:
    told(alice, CORSA, user_id="ada")
    told(alice, HIVE, user_id="ada")
    judge = Judge(change(ends=0.6, compatible=0.4), fact=0.5)
    assert kinds(rehearsed(alice, judge)) == {QUESTIONED: 1}


def test_what_a_rule_has_heard_needs_less(alice: Person) -> None:
    alice.say("I live in Bergen.", user_id="ada")
    told(alice, "I no longer live in Bergen, I think.", user_id="ada")
    judge = Judge(change(ends=0.15, compatible=0.85), fact=0.0)
    scores = rehearsed(alice, judge)
    assert [score.of for score in scores] == ["near"]
    assert kinds(scores) == {QUESTIONED: 1}
    assert kinds(scores, ask=0.4) == {}


def test_what_is_not_meant_is_forgotten_and_ends_nothing(alice: Person, belief: Memory) -> None:
    told(alice, HIVE, user_id="ada")
    scores = rehearsed(alice, Judge(change(ends=0.95, compatible=0.05), fiction=0.85))
    assert kinds(scores) == {REPLACED: 1}
    assert kinds(scores, drop=0.8) == {FORGOTTEN: 1}


def test_nothing_is_written_but_the_rehearsal(alice: Person, belief: Memory) -> None:
    told(alice, HIVE, user_id="ada")
    row = rehearse_judge.request(alice.scope)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        rehearse_judge.go_on(row.pk, judge=Judge(change(ends=0.95), fact=0.9, fiction=0.95))
    writes = {
        each["sql"].split('"')[1]
        for each in asked.captured_queries
        if each["sql"].startswith(("INSERT", "UPDATE", "DELETE", "insert", "update", "delete"))
    }
    assert writes <= {"memories_judgerehearsal", "memories_longjob"}
    assert alice.live() == [belief.content]


def test_only_messages_of_people_of_the_last_week_are_looked_at(alice: Person, mallory: Person) -> None:
    mallory.say(HIVE, user_id="ada")
    EpisodeFactory(workspace=alice.workspace, kind="assistant", content=HIVE)
    EpisodeFactory(
        workspace=alice.workspace, kind="user", content=HIVE, pk=first_uuid7(timezone.now() - timedelta(days=8))
    )
    judge = Judge(change(compatible=1.0), fact=1.0)
    assert rehearsed(alice, judge) == []
    assert judge.read == []


def test_it_is_done_in_bounded_steps_the_newest_message_first(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearse_judge, "MOST", 5)
    monkeypatch.setattr(rehearse_judge, "AT_ONCE", 2)
    for number in range(7):
        told(alice, f"Boat number {number} lies in the harbour.", user_id="ada")
    row = rehearse_judge.request(alice.scope)
    assert rehearse_judge.request(alice.scope) == row
    judge, far = Judge(change(compatible=1.0), fact=0.9), []
    while row.state == "waiting":
        rehearse_judge.go_on(row.pk, seconds=0.001, judge=judge)
        row.refresh_from_db()
        far.append(row.done)
    assert far == [2, 4, 5]
    newest = [f"Boat number {number} lies in the harbour." for number in (6, 5, 4, 3, 2)]
    assert {line.text for line in judge.read} == {*newest}
    assert len(row.scores) == 5


def test_a_newer_one_takes_the_place_of_an_earlier_one(alice: Person) -> None:
    judge = Judge(change(compatible=1.0))
    rehearsed(alice, judge)
    first = JudgeRehearsal.objects.get()
    rehearsed(alice, judge)
    assert JudgeRehearsal.objects.get() != first


def test_a_judge_that_fails_is_asked_again_and_given_up(alice: Person, belief: Memory) -> None:
    told(alice, HIVE, user_id="ada")
    row = rehearse_judge.request(alice.scope)
    for _ in range(3):
        rehearse_judge.go_on(row.pk, judge=Judge(None))
        JudgeRehearsal.objects.filter(state="waiting").update(due_at=timezone.now())
    row.refresh_from_db()
    assert row.state == "failed"
    assert rehearse_judge.due(Judge()) is None
    assert rehearse_judge.go_on(row.pk, judge=Judge()) is None


def test_who_stops_it_keeps_nothing(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    told(alice, HIVE, user_id="ada")
    row = rehearse_judge.request(alice.scope)
    monkeypatch.setattr(rehearse_judge, "AT_ONCE", 1)

    def stopped(job: Any, number: int) -> None:
        raise long_jobs.Stopped

    monkeypatch.setattr(long_jobs.JobRecorder, "advance", stopped)
    rehearse_judge.go_on(row.pk, judge=ENDS)
    assert not JudgeRehearsal.objects.exists()
    assert set(LongJob.objects.values_list("state", flat=True)) <= {"cancelled"}


def test_without_a_model_nothing_is_due(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    rehearse_judge.request(alice.scope)
    assert rehearse_judge.due(Judge(name=None)) is None


def test_the_process_of_the_judge_does_it_where_nothing_else_waits(alice: Person) -> None:
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    row = rehearse_judge.request(alice.scope)
    while side_processes.judge_messages():
        pass
    row.refresh_from_db()
    assert (row.state, row.done, row.model[:6]) == ("done", 1, "judge-")


PLACE: dict[str, Any] = {"episode": "e", "start": 0, "end": 9}


@pytest.mark.parametrize(
    ("score", "kind"),
    [
        (JudgeScore("far", **PLACE, probability=0.91, memory="m", among=20, acts=True), REPLACED),
        (JudgeScore("far", **PLACE, probability=0.91, memory="m", among=20), QUESTIONED),
        (JudgeScore("far", **PLACE, probability=0.89, memory="m", among=20, acts=True), QUESTIONED),
        (JudgeScore("far", **PLACE, probability=0.45, memory="m", among=1), QUESTIONED),
        (JudgeScore("far", **PLACE, probability=0.45, memory="m", among=20), ""),
        (JudgeScore("far", **PLACE, probability=0.91, memory="m", among=1, fiction=0.9), ""),
        (JudgeScore("near", **PLACE, probability=0.95, memory="m", acts=True), QUESTIONED),
        (JudgeScore("near", **PLACE, probability=0.1, memory="m"), ""),
        (JudgeScore("near", **PLACE, probability=0.1, memory="m", heard=True), QUESTIONED),
        (JudgeScore("fact", **PLACE, probability=0.8), KEPT),
        (JudgeScore("fact", **PLACE, probability=0.79), ""),
        (JudgeScore("fiction", **PLACE, probability=0.9, memory="m"), FORGOTTEN),
        (JudgeScore("fiction", **PLACE, probability=0.8, memory="m"), ""),
    ],
)
def test_what_thresholds_make_of_a_probability(score: JudgeScore, kind: str) -> None:
    found = outcomes([score], AS_IT_IS)
    assert [one.kind for one in found.values()] == ([kind] if kind else [])
    assert JudgeScore(**score.row) == score


def test_of_what_shares_no_word_with_a_message_the_likeliest_alone_is_questioned() -> None:
    far = [JudgeScore("far", **PLACE, probability=p, memory=f"{p}", among=2) for p in (0.7, 0.8)]
    assert list(outcomes(far, AS_IT_IS).values()) == [JudgeOutcome(QUESTIONED, far[1])]
