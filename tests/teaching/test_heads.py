"""The judge learns from what people of a workspace decided; what it learned serves there alone, and can go back."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from memories import teaching
from memories.belief import review, touches
from memories.errors import Conflict, NotFound
from memories.index import workspace_index
from memories.ingest import judged_messages
from memories.judge.judge import shipped
from memories.models import GoldenRun, JudgeHead, MaskedSpan, Supersession, Touch
from memories.privacy import erase, masks
from memories.quality import golden_questions
from memories.quality.golden_questions import NewQuestion
from memories.settings import workspace_settings
from memories.teaching.decided_pairs import decided_pairs
from memories.teaching.learn_head import DECIDED, FIXED, GOLDEN, MOST_ATTEMPTS
from memories.worker import side_processes, sweep
from tests.api_fixtures import caller
from tests.factories import MemoryFactory, SubjectFactory, TouchFactory
from tests.people import Person
from tests.scripted_judge import HesitantJudge
from tests.teaching.decided import decided
from workspaces.models import AuditEntry

JUDGE = HesitantJudge()


def taught(person: Person, judge: HesitantJudge = JUDGE) -> JudgeHead:
    """Learn at once, and take over where nothing fell."""
    return teaching.keep(person.scope, teaching.try_workspace(person.scope, judge))


def states(person: Person) -> list[str]:
    rows = JudgeHead.objects.filter(workspace=person.workspace).order_by("pk")
    return [str(state) for state in rows.values_list("state", flat=True)]


def judged(person: Person, words: str = "The last hen is gone for now", judge: HesitantJudge = JUDGE) -> Touch:
    """A touch that waits, decided by the judge as the workspace taught it."""
    memory = MemoryFactory(workspace=person.workspace, content="User keeps a hen")
    touch: Touch = TouchFactory(memory=memory, episode__content=words)
    judged_messages.run(person.workspace.pk, judge=judge)
    touch.refresh_from_db()
    return touch


def test_what_people_decided_is_learned_and_the_head_stands_on_each_decision(alice: Person) -> None:
    before = judged(alice)
    assert (before.relation, before.model) == ("ends", "judge-1")
    decided(alice)
    head = taught(alice)
    assert (head.state, head.people, head.fell, len(head.touches)) == ("serving", 3, [], 40)
    assert head.figures["decided"]["right"] == [20, 40]
    after, still = judged(alice), judged(alice, "The last hen is gone for good")
    assert (after.relation, after.model) == ("exception", head.name)
    assert (still.relation, still.model) == ("ends", head.name)
    assert head.name.startswith("judge-1+")
    assert AuditEntry.objects.filter(action="learn_judge", target_id=head.pk).exists()


def test_too_few_decisions_or_of_one_kind_alone_teach_nothing(alice: Person) -> None:
    decided(alice, 20)
    with pytest.raises(Conflict, match="20 pairs are decided"):
        teaching.try_workspace(alice.scope, JUDGE)
    decided(alice, 30, relation="adds")
    Touch.objects.update(relation="adds")
    with pytest.raises(Conflict, match="0 of them"):
        teaching.try_workspace(alice.scope, JUDGE)


def test_a_head_never_serves_another_workspace(alice: Person, mallory: Person) -> None:
    decided(alice)
    head = taught(alice)
    assert judged(mallory).model == "judge-1"
    assert decided_pairs(mallory.workspace.pk) == []
    with pytest.raises(NotFound):
        teaching.take_over(mallory.scope, head.pk)
    with pytest.raises(Conflict, match="nothing to go back to"):
        teaching.go_back(mallory.scope)
    assert states(alice) == ["serving"]


def test_an_agent_of_the_workspace_has_no_part_in_it(alice: Person, bob: Person) -> None:
    decided(alice)
    head = taught(alice)
    with pytest.raises(NotFound):
        teaching.take_over(bob.scope, head.pk)
    with pytest.raises(Conflict):
        teaching.go_back(bob.scope)


def test_it_goes_back_step_by_step_and_forward_again(alice: Person) -> None:
    decided(alice)
    first = taught(alice)
    decided(alice, 20)
    second = taught(alice)
    assert states(alice) == ["ended", "serving"]
    assert first.name != second.name
    back = teaching.go_back(alice.scope)
    assert back is not None
    assert (back.pk, judged(alice).model) == (first.pk, first.name)
    assert teaching.go_back(alice.scope) is None
    assert judged(alice).model == "judge-1"
    with pytest.raises(Conflict):
        teaching.go_back(alice.scope)
    teaching.take_over(alice.scope, second.pk)
    assert judged(alice).model == second.name


def test_what_is_worse_on_the_fixed_pairs_does_not_take_over(alice: Person) -> None:
    decided(alice)
    # It is hardly sure of changes that nobody may lose, and everybody says that most things hold.
    Touch.objects.filter(pk__in=[one.pk for one in decided(alice, 30)]).update(relation="adds")
    wavering = HesitantJudge(sure=0.52)
    head = taught(alice, wavering)
    assert head.state == "refused"
    assert FIXED in head.fell
    assert judged(alice, judge=wavering).model == "judge-1"
    with pytest.raises(Conflict, match="worse in"):
        teaching.take_over(alice.scope, head.pk)


def test_what_is_no_better_on_decided_pairs_that_it_did_not_learn_from_does_not_take_over(alice: Person) -> None:
    made = decided(alice)
    # As often one way as the other, whatever was said.
    for at, touch in enumerate(made):
        Touch.objects.filter(pk=touch.pk).update(relation="ends" if at % 4 < 2 else "adds")
    head = taught(alice, HesitantJudge(share=0.5))
    assert head.fell == [DECIDED]


def test_what_would_lose_a_golden_answer_does_not_take_over(alice: Person) -> None:
    doubting = HesitantJudge(share=0.45)
    decided(alice)
    answer = alice.note("The warehouse in Lisbon ships on Tuesdays", user_id="ada")
    TouchFactory(
        memory=answer, episode__content="shipping is gone for good", relation="adds", by="judge", probability=0.5
    )
    assert taught(alice, doubting).fell == []
    teaching.go_back(alice.scope)
    golden_questions.add(
        alice.scope, NewQuestion("When does the warehouse ship?", user_id="ada", memory_ids=(answer.pk,))
    )
    head = taught(alice, doubting)
    assert (head.fell, head.figures["golden"]["worse"]) == ([GOLDEN], 1)
    assert GoldenRun.objects.get().changed == [head.name]
    workspace_settings.change_workspace(alice.scope, changes={"goldenQuestions": {"gate": "off"}})
    assert taught(alice, doubting).fell == []


def test_erasing_a_person_erases_their_examples_and_what_was_learned_from_them(alice: Person) -> None:
    ada = SubjectFactory(workspace=alice.workspace, external_id="ada")
    decided(alice, 50)
    kept = taught(alice)
    gone = decided(alice, 10, subject=ada)
    head = taught(alice)
    asked = erase.request(alice.scope, erase.target_of(alice.scope, "subject", ada.pk))
    assert erase.run(asked.pk) is not None
    head.refresh_from_db()
    kept.refresh_from_db()
    assert (head.state, head.weights, head.touches) == ("erased", None, [])
    assert (kept.state, kept.weights is None) == ("ended", False)
    assert not {one.touch for one in decided_pairs(alice.workspace.pk)} & {touch.pk for touch in gone}
    assert judged(alice).model == "judge-1"
    with pytest.raises(Conflict, match="erased"):
        teaching.take_over(alice.scope, head.pk)
    assert teaching.due_workspaces(JUDGE) == [alice.workspace.pk]
    again = teaching.learn(alice.workspace.pk, JUDGE)
    assert again is not None
    assert (again.state, len(again.touches)) == ("serving", 50)
    assert judged(alice).model == again.name


def test_what_is_erased_while_it_is_learned_is_not_kept(alice: Person) -> None:
    made = decided(alice)
    learned = teaching.try_workspace(alice.scope, JUDGE)
    made[0].memory.delete()
    with pytest.raises(Conflict, match="meanwhile"):
        teaching.keep(alice.scope, learned)
    assert states(alice) == []


def test_a_decision_that_is_taken_back_is_unlearned(alice: Person) -> None:
    made = decided(alice, 45)
    head = taught(alice)
    assert teaching.workspaces_to_ask() == []
    touches.question_again([made[0].pk])
    assert teaching.workspaces_to_ask() == [alice.workspace.pk]
    sweep.sweep()
    assert teaching.workspaces_to_ask() == []
    again = teaching.learn(alice.workspace.pk, JUDGE)
    assert again is not None
    assert (again.state, len(again.touches)) == ("serving", 44)
    head.refresh_from_db()
    assert head.state == "ended"


def test_what_is_masked_wrong_or_private_is_no_example(alice: Person) -> None:
    made = decided(alice, 6)
    with transaction.atomic():
        why = masks.MaskReason(MaskedSpan.Kind.SECRET, "test")
        masks.mask_episodes(workspace_index.index_of(alice.workspace.pk), {made[0].episode_id: [(0, 5)]}, why)
    for touch, reason in zip(made[1:4], ("private", "wrong", "outdated"), strict=True):
        review.forget(alice.scope, touch.memory_id, reason)
    left = {one.touch for one in decided_pairs(alice.workspace.pk)}
    assert left == {made[at].pk for at in (3, 4, 5)}


def test_who_rejects_a_message_as_wrong_says_nothing_of_what_it_does(alice: Person) -> None:
    alice.say("I live in Bergen.", user_id="ada")
    alice.say("I moved to Oslo.", user_id="ada")
    change = Supersession.objects.get()
    review.undo(alice.scope, change.pk)
    assert [one.lesson.is_over for one in decided_pairs(alice.workspace.pk)] == [False]
    Supersession.objects.update(state="rejected", note="")
    assert decided_pairs(alice.workspace.pk) == []
    Supersession.objects.update(note=Supersession.KEPT_BOTH)
    assert len(decided_pairs(alice.workspace.pk)) == 1


def test_it_is_learned_in_the_background_and_waits_for_somebody_to_let_it_take_over(alice: Person) -> None:
    decided(alice)
    assert sweep.sweep().heads == 1
    assert sweep.sweep().heads == 0
    assert teaching.due_workspaces(JUDGE) == [alice.workspace.pk]
    made = teaching.learn(alice.workspace.pk, JUDGE)
    assert made is not None
    assert (made.state, judged(alice).model) == ("ready", "judge-1")
    assert teaching.due_workspaces(JUDGE) == []
    teaching.take_over(alice.scope, made.pk)
    assert judged(alice).model == made.name
    decided(alice, 10)
    assert sweep.sweep().heads == 0
    decided(alice, 10)
    assert sweep.sweep().heads == 1


def test_the_judges_own_process_learns_where_nothing_else_waits_for_it(alice: Person) -> None:
    decided(alice)
    assert not side_processes.judge_messages()
    row = teaching.ask_to_learn(alice.scope)
    assert side_processes.judge_messages()
    row.refresh_from_db()
    assert row.state in ("ready", "refused")
    assert row.name.startswith(f"{shipped.name}+")
    assert not side_processes.judge_messages()


def test_a_new_model_is_served_as_it_came_until_the_workspace_has_taught_it(alice: Person) -> None:
    decided(alice)
    head = taught(alice)
    newer = HesitantJudge(name="judge-2")
    assert judged(alice, judge=newer).model == "judge-2"
    assert teaching.due_workspaces(newer) == [alice.workspace.pk]
    made = teaching.learn(alice.workspace.pk, newer)
    assert made is not None
    assert (made.state, made.base) == ("serving", "judge-2")
    assert judged(alice, judge=newer).model == made.name
    assert states(alice) == ["ended", "serving"]
    assert teaching.go_back(alice.scope) is None
    assert head.base == "judge-1"


def test_what_kills_its_process_is_given_up(alice: Person) -> None:
    decided(alice)
    row = teaching.ask_to_learn(alice.scope)
    assert teaching.ask_to_learn(alice.scope).pk == row.pk
    JudgeHead.objects.update(attempts=MOST_ATTEMPTS)
    assert teaching.learn(alice.workspace.pk, JUDGE) is not None
    assert states(alice) == ["failed"]
    assert (teaching.due_workspaces(JUDGE), sweep.sweep().heads) == ([], 0)


def test_one_setting_switches_it_off(alice: Person) -> None:
    decided(alice)
    head = taught(alice)
    assert judged(alice).draw is not None
    http = caller(alice)
    off: dict[str, Any] = {"settings": {"judge": {"learn": "no"}}}
    refused = http.patch("", off)
    assert (refused.status, refused.fields) == (400, ["settings.judge.learn"])
    assert http.patch("", {"settings": {"judge": {"learn": False}}}).status == 200
    touch = judged(alice)
    assert (touch.model, touch.draw) == ("judge-1", None)
    decided(alice, 40)
    JudgeHead.objects.update(created_at=head.created_at - timedelta(days=1))
    assert sweep.sweep().heads == 0
    assert http.patch("", {"settings": {"judge": {"learn": True}}}).status == 200
    assert judged(alice).model == head.name
