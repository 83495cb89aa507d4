"""Messages that wait for the judge: what the rules did not read is kept as it was said, and what is believed is
compared with what was said later."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memories.belief import review
from memories.ingest import NewMessage, judged_messages
from memories.judge.judge import Effect, JudgedPair, Line, Worth
from memories.models import Episode, Fact, Memory, MemorySession, Supersession, Touch
from tests.api_fixtures import caller
from tests.factories import LONG_AGO, EpisodeFactory, SubjectFactory, evidence
from tests.people import Person
from tests.scripted_judge import Judge, change
from workspaces.models import AuditEntry

HIVE = "The last hive went to a farmer."


ENDS = change(ends=1.0)


def standing(memory_id: Any) -> str:
    return str(Memory.objects.with_names().get(pk=memory_id).standing)


def said(alice: Person, content: str, **more: Any) -> Episode:
    told = {"kind": "user", "judge_attempts": 0, "occurred_at": timezone.now(), **more}
    made: Episode = EpisodeFactory(workspace=alice.workspace, content=content, **told)
    return made


@pytest.fixture
def belief(alice: Person) -> Memory:
    alice.say("I keep bees in the orchard.", user_id="ada")
    Episode.objects.update(judge_attempts=None)
    return Memory.objects.get()


def test_a_message_is_compared_with_what_is_believed_of_its_subject(alice: Person, belief: Memory) -> None:
    message = said(alice, HIVE, subject=belief.subject)
    other = said(alice, HIVE)
    judge = Judge(change(ends=0.9, compatible=0.1))
    assert judged_messages.due_workspaces(judge) == [alice.workspace.pk]
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert [pair.belief for pair in judge.asked] == [belief.content]
    row = Touch.objects.get(episode=message)
    assert (row.relation, row.by, row.model, row.decided_at is None) == ("ends", "judge", "judge-1", False)
    assert standing(row.memory_id) == "questioned"
    assert not Touch.objects.filter(episode=other).exists()
    assert judged_messages.due_workspaces(judge) == []


def test_of_what_shares_no_word_with_a_message_it_ends_the_likeliest_alone(alice: Person, belief: Memory) -> None:
    alice.say("I play the oboe.", user_id="ada")
    Episode.objects.update(judge_attempts=None)
    said(alice, HIVE, subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert len(judge.asked) == 2
    assert Touch.objects.filter(by="judge").count() == 1


def test_below_the_threshold_for_what_shares_no_word_nothing_is_written(alice: Person, belief: Memory) -> None:
    said(alice, HIVE, subject=belief.subject)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(ends=0.25, compatible=0.75)))
    assert not Touch.objects.filter(by="judge").exists()


def test_the_more_beliefs_a_message_is_compared_with_the_surer_it_must_be() -> None:
    thresholds = Judge().thresholds
    needed = [thresholds.far_among(beliefs) for beliefs in (0, 1, 4, 20, 50)]
    assert needed == sorted(needed)
    assert thresholds.ask < needed[1] < needed[3] == needed[4] == thresholds.far


@pytest.mark.parametrize(
    "words",
    [
        "Did the last hive go?",
        "My sister Ruth gave the last hive away.",
        "My sister Ruth took the last hive to the US, i.e. away.",
        "My sister Ruth came over. She gave the last hive away.",
    ],
)
def test_what_asks_or_names_somebody_else_is_not_asked_about(alice: Person, belief: Memory, words: str) -> None:
    said(alice, words, subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked == []
    assert judged_messages.due_workspaces(judge) == []


def test_what_people_say_of_themselves_beside_others_is_asked_about(alice: Person, belief: Memory) -> None:
    said(alice, "I gave my sister Ruth the last hive.", subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert len(judge.asked) == 1


def test_a_message_waits_until_what_it_says_itself_was_read(alice: Person, belief: Memory) -> None:
    message = said(alice, HIVE, subject=belief.subject)
    MemorySession.objects.filter(pk=message.session_id).update(state="extracting")
    judge = Judge(ENDS)
    assert judged_messages.run(alice.workspace.pk, judge=judge) == 0
    MemorySession.objects.filter(pk=message.session_id).update(state="done")
    assert judged_messages.run(alice.workspace.pk, judge=judge) == 1


def test_what_was_said_before_a_belief_changes_nothing_of_it(alice: Person, belief: Memory) -> None:
    said(alice, HIVE, subject=belief.subject, occurred_at=LONG_AGO)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked == []


def test_a_message_that_kills_its_judge_is_given_up(alice: Person, belief: Memory) -> None:
    said(alice, HIVE, subject=belief.subject)
    for _ in range(3):
        judged_messages.run(alice.workspace.pk, judge=Judge())
    assert judged_messages.due_workspaces(Judge()) == []


def test_without_a_model_nothing_waits(alice: Person, belief: Memory) -> None:
    said(alice, HIVE, subject=belief.subject)
    assert judged_messages.due_workspaces(Judge(name=None)) == []
    assert judged_messages.run(alice.workspace.pk, judge=Judge(ENDS, name=None)) == 0


# What the rules did not read


def test_a_lasting_fact_that_no_rule_read_is_kept_as_it_was_said(alice: Person) -> None:
    alice.say("The Corsa sits outside our gate.", user_id="ada")
    Episode.objects.update(judge_attempts=0)
    Memory.objects.all().delete()
    Fact.objects.all().delete()
    judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0), fact=0.9))
    memory = Memory.objects.get()
    assert memory.content == 'User said: "The Corsa sits outside our gate."'
    assert (memory.category, memory.confidence) == ("possession", 0.5)
    fact = Fact.objects.get()
    assert (fact.method, fact.rule) == ("judge", "judge-1")
    assert fact.citations.get().quote == "The Corsa sits outside our gate."


def test_two_judges_of_one_message_keep_a_fact_once(alice: Person) -> None:
    class SlowJudge(Judge):
        def worth(self, lines: Sequence[Line]) -> list[Worth] | None:
            Episode.objects.update(judge_attempts=0)
            judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0), fact=0.9))
            return super().worth(lines)

    said(alice, "The Corsa sits outside our gate.")
    judged_messages.run(alice.workspace.pk, judge=SlowJudge(change(compatible=1.0), fact=0.9))
    assert Memory.objects.get().source_count == 1
    assert Fact.objects.count() == 1


def test_a_belief_about_somebody_else_is_compared_with_what_is_said_of_them(alice: Person) -> None:
    said(alice, "Our Ruth sits at the till in Spar.", subject=SubjectFactory(workspace=alice.workspace))
    judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0), fact=0.9))
    belief = Memory.objects.get()
    said(alice, "Ruth handed in her badge on Friday.", subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert [(pair.belief, pair.said) for pair in judge.asked] == [("", "Our Ruth sits at the till in Spar.")]


def test_a_belief_is_shown_beside_the_words_it_was_last_said_in(alice: Person, belief: Memory) -> None:
    again = evidence(belief, "Two hives stand in the orchard.", occurred_at=timezone.now())
    Fact.objects.filter(pk=again.pk).update(method="llm")
    said(alice, HIVE, subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert [pair.said for pair in judge.asked] == ["Two hives stand in the orchard."]


def test_what_the_judge_is_not_sure_of_stays_a_message(alice: Person) -> None:
    said(alice, HIVE)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0), fact=0.7))
    assert not Memory.objects.exists()


def test_the_judge_is_not_asked_about_what_a_rule_read_even_if_it_was_forgotten(alice: Person, belief: Memory) -> None:
    review.forget(alice.scope, belief.pk, "wrong")
    Episode.objects.update(judge_attempts=0)
    judge = Judge(change(compatible=1.0), fact=1.0)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.read == []
    assert not Memory.objects.live().exists()


@pytest.mark.parametrize("kind", ["assistant", "tool_result"])
def test_machines_words_are_not_judged(alice: Person, kind: str) -> None:
    alice.say(NewMessage(HIVE, kind=kind), user_id="ada")
    assert not Episode.objects.filter(judge_attempts__isnull=False).exists()


def choose(alice: Person, **settings: Any) -> None:
    alice.workspace.settings = {"judge": settings}
    alice.workspace.save()


def test_a_workspace_may_switch_it_off_and_on_again(alice: Person, belief: Memory) -> None:
    judge = Judge(ENDS)
    choose(alice, enabled=False)
    said(alice, HIVE, subject=belief.subject)
    assert judged_messages.due_workspaces(judge) == []
    choose(alice)
    assert judged_messages.due_workspaces(judge) == [alice.workspace.pk]
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert standing(belief.pk) == "questioned"


def test_a_workspace_may_choose_how_sure_it_must_be(alice: Person, belief: Memory) -> None:
    said(alice, HIVE, subject=belief.subject)
    choose(alice, ask=0.95, far=0.95, keep=0.95)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(ends=0.9, compatible=0.1), fact=0.9))
    assert standing(belief.pk) == "current"
    assert Memory.objects.count() == 1
    said(alice, HIVE, subject=belief.subject)
    choose(alice, ask=0.85, far=0.85)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(ends=0.9, compatible=0.1)))
    assert standing(belief.pk) == "questioned"


def test_how_sure_it_must_be_is_a_share(alice: Person) -> None:
    refused = caller(alice).patch("", {"settings": {"judge": {"far": 2}}})
    assert (refused.status, refused.fields) == (400, ["settings.judge.far"])


# Earlier words that nothing was read in

CORSA = "The Corsa sits outside our gate."


def told(person: Person, content: str | NewMessage, judge_attempts: int | None = None, **more: Any) -> Episode:
    """Say something of which nothing is believed, as if no rule had read it."""
    known = set(Fact.objects.values_list("pk", flat=True))
    person.say(content, **more)
    Memory.objects.filter(facts__in=Fact.objects.exclude(pk__in=known)).delete()
    Fact.objects.exclude(pk__in=known).delete()
    Episode.objects.update(judge_attempts=None)
    made = Episode.objects.latest("created_at")
    Episode.objects.filter(pk=made.pk).update(judge_attempts=judge_attempts)
    return made


def test_earlier_words_that_a_message_ends_are_kept_as_questioned(alice: Person) -> None:
    earlier = told(alice, f"Good morning! {CORSA}", user_id="ada")
    later = told(alice, HIVE, user_id="ada", judge_attempts=0)
    judge = Judge(change(ends=0.8, compatible=0.2), fact=0.5)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked == [("", words, "", HIVE) for words in ("Good morning!", CORSA)]
    memory = Memory.objects.with_names().get()
    assert (memory.content, memory.standing) == ('User said: "Good morning!"', "questioned")
    touch = Touch.objects.get()
    assert (touch.episode_id, touch.memory_id, touch.relation) == (later.pk, memory.pk, "ends")
    assert Fact.objects.get().citations.get().episode_id == earlier.pk


def test_words_of_others_and_later_ones_are_not_compared(alice: Person, bob: Person) -> None:
    told(alice, "The kayak hangs in the garage.", user_id="max")
    told(alice, NewMessage("The raft is in the shed.", name="Ruth"), user_id="ada")
    told(bob, "The canoe lies by the river.", user_id="ada")
    told(alice, NewMessage("The dinghy is at the pier.", role="assistant"), user_id="ada")
    earlier = told(alice, CORSA, user_id="ada")
    Episode.objects.filter(pk=earlier.pk).update(occurred_at=timezone.now() + timedelta(hours=1))
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked == []


def test_words_that_a_rule_read_are_not_compared_even_if_they_were_forgotten(alice: Person, belief: Memory) -> None:
    review.forget(alice.scope, belief.pk, "wrong")
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked == []


def test_a_message_ends_one_belief_and_one_sentence_at_most(alice: Person, belief: Memory) -> None:
    class Sure(Judge):
        def changes(self, pairs: Sequence[JudgedPair]) -> list[Effect]:
            self.asked += pairs
            return [change(ends=0.9 if CORSA in pair.said else 0.7) for pair in pairs]

    told(alice, f"The kayak hangs in the garage. {CORSA}", user_id="ada")
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judge = Sure(fact=0.5)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert len(judge.asked) == 3
    ended = Touch.objects.filter(by="judge").values_list("memory__content", flat=True)
    assert set(ended) == {belief.content, f'User said: "{CORSA}"'}


def test_what_is_still_being_learned_is_not_compared(alice: Person) -> None:
    earlier = told(alice, CORSA, user_id="ada")
    MemorySession.objects.filter(pk=earlier.session_id).update(state="extracting")
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked == []


def test_small_talk_that_a_message_seems_to_end_is_not_kept(alice: Person) -> None:
    class Amused(Judge):
        def worth(self, lines: Sequence[Line]) -> list[Worth]:
            return [Worth(0.1, 0.2, 0.7, 0.0, 0.0, 0.0, 0.0, "possession")] * len(lines)

    told(alice, CORSA, user_id="ada")
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judge = Amused(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert judge.asked != []
    assert not Memory.objects.exists()
    assert not Touch.objects.exists()


def test_a_sentence_without_end_is_read_in_parts_that_overlap(alice: Person, belief: Memory) -> None:
    dictated = "so anyway " * 25 + "the hives went to a farmer " + "and then we had tea " * 9
    said(alice, dictated, subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    parts = [pair.message for pair in judge.asked]
    assert len(parts) > 2
    assert all(len(part) <= 240 and part in dictated and part[:1].strip() for part in parts)
    assert any("the hives went to a farmer" in part for part in parts)


@pytest.mark.parametrize("words", ["a" * 5_000, " " * 5_000, "a " + "b" * 5_000])
def test_a_text_without_words_is_read_in_few_parts(alice: Person, belief: Memory, words: str) -> None:
    said(alice, words, subject=belief.subject)
    judge = Judge(ENDS)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert len(judge.asked) <= 4


# What the judge is sure of

SURE = Judge(ENDS, fact=0.5)
WORDS = f'User said: "{HIVE}"'


def test_words_that_surely_end_a_belief_take_its_place_and_an_undo_holds(alice: Person, belief: Memory) -> None:
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    judged_messages.run(alice.workspace.pk, judge=SURE)
    assert alice.live() == [WORDS]
    decision = Supersession.objects.get()
    assert (decision.state, decision.method, decision.decided_by) == ("applied", "judge", "judge-1")
    assert (decision.old_id, decision.new.content, decision.new.version) == (belief.pk, WORDS, 2)
    line = AuditEntry.objects.get(action="replace")
    assert (line.actor, line.target_id, line.after["memory"]) == ("judge-1", belief.pk, str(decision.new_id))
    review.undo(alice.scope, decision.pk)
    assert alice.live() == [belief.content]
    Episode.objects.filter(content=HIVE).update(judge_attempts=0)
    judged_messages.run(alice.workspace.pk, judge=SURE)
    assert standing(belief.pk) == "current"


def test_what_a_rule_read_in_those_words_takes_its_place(alice: Person, belief: Memory) -> None:
    alice.say("I bought a boat with the money from the hives.", user_id="ada")
    judged_messages.run(alice.workspace.pk, judge=SURE)
    [decision] = Supersession.objects.all()
    assert decision.old_id == belief.pk
    assert alice.live() == [decision.new.content]
    assert Fact.objects.filter(method="judge").count() == 0


@pytest.mark.parametrize(
    "words",
    [
        "Maybe the last hive went to a farmer.",
        "My neighbour told me the last hive went to a farmer.",
        "The last hive went to a farmer for two weeks.",
        'It says "the last hive went to a farmer".',
        "The last hive is still at the farmer's.",
    ],
)
def test_what_is_not_said_plainly_only_questions(alice: Person, belief: Memory, words: str) -> None:
    told(alice, words, user_id="ada", judge_attempts=0)
    judged_messages.run(alice.workspace.pk, judge=SURE)
    assert standing(belief.pk) != "past"
    assert not Supersession.objects.exists()


@pytest.mark.parametrize("why", ["less sure", "pinned", "protected", "asked for more", "upheld", "seen by others"])
def test_what_a_person_or_the_policy_protects_is_only_questioned(alice: Person, belief: Memory, why: str) -> None:
    if why == "pinned":
        Memory.objects.update(pinned=True)
    elif why == "protected":
        alice.workspace.settings = {"review": {"categories": [belief.category]}}
        alice.workspace.save()
    elif why == "asked for more":
        choose(alice, act=1.0)
    elif why == "upheld":
        review.forget(alice.scope, belief.pk)
        review.restore(alice.scope, belief.pk)
    elif why == "seen by others":
        Memory.objects.update(visibility="team")
    told(alice, HIVE, user_id="ada", judge_attempts=0)
    over = {"less sure": 0.85, "asked for more": 0.95}.get(why, 1.0)
    judged_messages.run(alice.workspace.pk, judge=Judge(change(ends=over, compatible=1 - over), fact=0.5))
    assert standing(belief.pk) == "questioned"


# What rules read in words that were not meant so

NOT_MEANT = Judge(change(compatible=1.0), fiction=0.95)


def test_what_a_rule_read_in_fiction_is_forgotten_and_a_person_may_restore_it(alice: Person, belief: Memory) -> None:
    Episode.objects.update(judge_attempts=0)
    judged_messages.run(alice.workspace.pk, judge=NOT_MEANT)
    belief.refresh_from_db()
    assert belief.forgotten_at is not None
    assert belief.forget_reason == "not said in earnest"
    assert AuditEntry.objects.filter(action="forget", actor="judge-1").count() == 1
    assert alice.live() == []
    review.restore(alice.scope, belief.pk)
    judged_messages.run(alice.workspace.pk, judge=NOT_MEANT)
    assert alice.live() == [belief.content]


def test_what_a_rule_read_in_chatter_is_forgotten_but_not_in_a_short_sentence(alice: Person) -> None:
    alice.say("I like tea.", user_id="ada")
    alice.say("I live in a small flat in the centre of Porto.", user_id="ada")
    judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0), fact=0.05))
    assert alice.live() == ["User likes tea"]
    assert AuditEntry.objects.filter(action="forget", actor="judge-1").exists()


def test_a_wish_and_what_has_an_end_stay_whatever_the_judge_says_of_their_worth(alice: Person) -> None:
    alice.say("Always answer in French.", user_id="ada")
    alice.say("I'm out of the office until Friday.", user_id="ada")
    judged_messages.run(alice.workspace.pk, judge=Judge(change(compatible=1.0), fact=0.0))
    assert len(alice.live()) == 2


def test_what_a_memory_in_fiction_had_replaced_is_believed_again(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada")
    Episode.objects.update(judge_attempts=None)
    alice.say("I moved to Atlantis.", user_id="ada")
    assert alice.live() == ["User moved to Atlantis"]
    judged_messages.run(alice.workspace.pk, judge=NOT_MEANT)
    assert alice.live() == ["User lives in Lisbon"]
    assert Memory.objects.get(content="User moved to Atlantis").forget_reason == "not said in earnest"


def test_of_two_in_fiction_the_first_is_not_believed_again(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada")
    Episode.objects.update(judge_attempts=None)
    alice.say("I moved to Atlantis.", user_id="ada")
    alice.say("I moved to Utopia.", user_id="ada")
    assert alice.live() == ["User moved to Utopia"]
    judged_messages.run(alice.workspace.pk, judge=NOT_MEANT)
    assert alice.live() == ["User lives in Lisbon"]


def test_fiction_speaks_against_nothing(alice: Person, belief: Memory) -> None:
    message = said(alice, HIVE, subject=belief.subject)
    place = {"start": 0, "end": len(HIVE), "said_at": message.occurred_at, "probability": 0.5}
    Touch.objects.create(
        workspace=alice.workspace, memory=belief, episode=message, relation="unsure", by="rule", **place
    )
    assert standing(belief.pk) == "questioned"
    judge = Judge(ENDS, fiction=0.95)
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert standing(belief.pk) == "current"
    assert not Touch.objects.filter(relation="ends").exists()


@pytest.mark.parametrize("why", ["less sure", "pinned", "said twice", "by hand", "restored"])
def test_what_may_be_meant_or_a_person_stands_for_stays(alice: Person, belief: Memory, why: str) -> None:
    if why == "pinned":
        Memory.objects.update(pinned=True)
    elif why == "said twice":
        alice.say("I keep bees in the orchard.", user_id="ada", thread_id="later")
    elif why == "by hand":
        Fact.objects.update(method="manual")
    elif why == "restored":
        review.forget(alice.scope, belief.pk)
        review.restore(alice.scope, belief.pk)
    Episode.objects.filter(citations__fact__memory=belief).update(judge_attempts=0)
    judge = Judge(change(compatible=1.0), fiction=0.85) if why == "less sure" else NOT_MEANT
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert alice.live() == [belief.content]
