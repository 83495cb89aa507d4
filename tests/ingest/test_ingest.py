"""Keep first, then learn: what an ingest leaves behind."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from memories import ingest
from memories.errors import Conflict, Forbidden, Invalid
from memories.ingest import IngestRequest, NewMessage, process, session_queue
from memories.models import Citation, Conversation, Episode, Fact, Memory, MemorySession
from memories.queue import outbox
from tests.people import Person, bound_to_agent, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

TEXT = "The orchard gate is painted green."


def test_a_text_without_a_claim_is_kept_whole_and_says_so(alice: Person) -> None:
    text = "Orchard: gate, ladder, press."
    session = alice.tell(text, extract="auto")
    assert alice.live() == [text]
    assert session.state == "done"
    assert "kept whole" in session.reason


def test_a_fact_cites_the_words_it_stands_on(alice: Person) -> None:
    alice.tell(f"  {TEXT}\n")
    citation = Citation.objects.get()
    assert citation.quote == TEXT
    assert citation.episode.content[citation.start : citation.end] == TEXT


def test_messages_without_a_claim_leave_their_episodes_alone(alice: Person) -> None:
    session = alice.say("What time is it?", "No idea.")
    assert Episode.objects.count() == 2
    assert (Memory.objects.count(), session.state) == (0, "done")
    assert session.reason


def test_extract_none_keeps_each_message_as_one_memory(alice: Person) -> None:
    alice.say("First things first.", "Then the second.", extract="none")
    assert alice.live() == ["First things first.", "Then the second."]


NUMBERED = (
    "message number",
    "Message",
    "This is message",
    "We opened ticket",
    "heartbeat",
    "test message",
)


@pytest.mark.parametrize("words", NUMBERED)
def test_messages_kept_whole_that_are_numbered_stand_side_by_side(alice: Person, words: str) -> None:
    told = [f"{words} {n}" for n in range(4)]
    alice.say(*told[:2], extract="none")
    for message in told[2:]:
        alice.say(message, extract="none")
    assert alice.live() == told


@pytest.mark.parametrize("words", ["The tank holds", "The ticket costs"])
def test_a_message_kept_whole_with_another_amount_replaces(alice: Person, words: str) -> None:
    alice.say(f"{words} 12", extract="none")
    alice.say(f"{words} 14", extract="none")
    assert alice.live() == [f"{words} 14"]


def test_a_message_kept_whole_with_a_word_of_change_replaces(alice: Person) -> None:
    alice.say("Ada has locker 12", extract="none")
    alice.say("Ada now has locker 14", extract="none")
    assert alice.live() == ["Ada now has locker 14"]


def test_a_known_message_adds_nothing(alice: Person) -> None:
    message = NewMessage("I prefer cider to beer.", id="1")
    alice.say(message, thread_id="t")
    before = _counts()
    session = alice.say(message, thread_id="t")
    assert _counts() == before
    assert "known already" in session.reason


def test_known_messages_that_wait_for_the_worker_are_done_at_once(alice: Person) -> None:
    messages = (NewMessage("I prefer cider to beer.", id="1"),)
    alice.say(*messages, thread_id="t")
    request = IngestRequest(messages=messages, thread_id="t", mode="async")
    done = ingest.run(ingest.receive(alice.scope, request).pk)
    assert done is not None
    assert (done.state, done.reason) == ("done", "all messages are known already")


def test_a_known_id_with_other_words_is_a_conflict(alice: Person) -> None:
    alice.say(NewMessage("One thing.", id="1"), thread_id="t")
    with pytest.raises(Conflict) as caught:
        alice.say(NewMessage("New.", id="0"), NewMessage("Another.", id="1"), thread_id="t")
    assert caught.value.field == "messages[1].id"
    assert Episode.objects.count() == 1


def test_the_same_id_in_another_thread_is_another_episode(alice: Person) -> None:
    for thread in ("a", "b", ""):
        alice.say(NewMessage("One thing.", id="1"), thread_id=thread)
    assert Episode.objects.count() == 3


def test_the_same_claim_in_other_messages_is_support_and_no_second_memory(alice: Person) -> None:
    alice.tell(TEXT)
    alice.tell(TEXT.upper())
    memory = Memory.objects.get()
    assert (memory.source_count, Fact.objects.count()) == (2, 2)


def test_sending_again_finishes_what_was_not_learned(alice: Person) -> None:
    request = IngestRequest(messages=(NewMessage("I prefer cider to beer.", id="1"),))
    unfinished = ingest.receive(alice.scope, request)
    ingest.receive(alice.scope, request)
    ingest.run(unfinished.pk)
    assert MemorySession.objects.get(pk=unfinished.pk).state == "done"
    assert Episode.objects.count() == 1


def test_the_requests_metadata_is_on_its_episodes_and_memories(alice: Person) -> None:
    alice.tell(TEXT, metadata={"shelf": 3})
    alice.say(NewMessage("Other words.", metadata={"shelf": 4}), metadata={"shelf": 3, "a": 1})
    assert Memory.objects.get().metadata == {"shelf": 3}
    told = [episode.metadata for episode in Episode.objects.order_by("id")]
    assert told == [{"shelf": 3}, {"shelf": 4, "a": 1}]


def test_appended_messages_are_in_the_index_as_the_truth_has_them(alice: Person) -> None:
    conversation = Conversation.objects.create(workspace=alice.workspace, external_id="t")
    ingest.append(alice.scope, conversation, [NewMessage("The kayak is stored here.")])
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())


def test_a_message_without_words_is_kept_like_the_others(alice: Person) -> None:
    session = alice.say("", "I prefer cider to beer.", thread_id="t")
    assert [e.content for e in Episode.objects.order_by("position")][0] == ""
    assert (session.state, len(alice.live())) == ("done", 1)
    assert len(alice.ask("cider", layers=("episodes",))) >= 1


def test_a_session_runs_once(alice: Person) -> None:
    session = ingest.receive(alice.scope, IngestRequest(content=TEXT))
    assert ingest.run(session.pk) is not None
    assert ingest.run(session.pk) is None
    assert Fact.objects.count() == 1


def test_a_session_that_kills_its_worker_is_dead_at_last(alice: Person) -> None:
    session = ingest.receive(alice.scope, IngestRequest(content=TEXT))
    abandoned = {"state": "extracting", "lease_until": session.created_at}
    MemorySession.objects.update(attempts=ingest.MAX_ATTEMPTS, **abandoned)
    ingest.run(session.pk)
    session.refresh_from_db()
    assert (session.state, session.error) == ("dead", "attempts used up")
    assert ingest.retry(alice.scope, session).state == "received"


def test_sessions_whose_worker_died_are_there_for_all_workers_again(alice: Person) -> None:
    request = IngestRequest(content=TEXT)
    old, other, under_way = (ingest.receive(alice.scope, request).pk for _ in range(3))
    rows = MemorySession.objects.filter(pk__in=[old, other, under_way])
    rows.update(state="extracting", attempts=2, lease_until=timezone.now() + timedelta(minutes=1))
    rows.filter(pk__in=[old, other]).update(lease_until=timezone.now() - timedelta(minutes=1))
    assert session_queue.give_back_abandoned() == 2
    assert {session_queue.next_due() for _ in range(20)} <= {old, other}
    posted = {row for rows in outbox.waiting().values() for row in rows}
    assert {str(old), str(other)} <= posted
    assert dict(rows.values_list("pk", "attempts")) == dict.fromkeys([old, other, under_way], 2)
    assert session_queue.give_back_abandoned() == 0


def test_a_session_that_no_attempt_can_end_says_which_fault_it_was(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = ingest.receive(alice.scope, IngestRequest(content=TEXT))
    monkeypatch.setattr(process, "MOST_MESSAGES", None)
    with pytest.raises(TypeError):
        ingest.run(session.pk)
    MemorySession.objects.update(attempts=ingest.MAX_ATTEMPTS, lease_until=session.created_at)
    ingest.run(session.pk)
    session.refresh_from_db()
    assert (session.state, session.error) == ("dead", "attempts used up: TypeError")


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (IngestRequest(), "content"),
        (IngestRequest(content="a", messages=(NewMessage("b"),)), "content"),
        (IngestRequest(content="a", scope="thread"), "threadId"),
        (IngestRequest(content="a", scope="workflow"), "workflowId"),
    ],
)
def test_what_cannot_be_kept_is_refused(alice: Person, request_: IngestRequest, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        ingest.receive(alice.scope, request_)
    assert caught.value.field == field
    assert not Episode.objects.exists()


def test_a_bound_key_speaks_for_its_own_agent_only(bob: Person) -> None:
    assert bob.tell(TEXT).agent_id == bob.scope.agent_id
    with pytest.raises(Forbidden):
        bob.tell(TEXT, agent_id="somebody-else")


def test_a_key_limited_to_subjects_writes_about_them_only(alice: Person) -> None:
    ada = Subject.objects.create(workspace=alice.workspace, external_id="ada")
    narrow = with_key(alice.workspace, KeyOptions("narrow", subjects=(ada,)))
    assert narrow.tell(TEXT, user_id="ada").subject_id == ada.pk
    for user in ("", "eve"):
        with pytest.raises(Forbidden):
            narrow.tell(TEXT, user_id=user)


def test_appended_messages_are_found_but_not_learned_until_they_are_ingested(
    alice: Person,
) -> None:
    message = NewMessage("I prefer cider to beer.", id="1", name="Ada")
    conversation = Conversation.objects.create(workspace=alice.workspace, external_id="t")
    for _ in range(2):
        ingest.append(alice.scope, conversation, [message])
    assert alice.finds("cider", layers=("episodes",)) == [message.content]
    assert not Fact.objects.exists()
    alice.say(message, thread_id="t")
    assert (Episode.objects.count(), len(alice.live())) == (1, 1)


def _counts() -> list[int]:
    return [model.objects.count() for model in (Episode, Fact, Memory, Citation)]


def test_workspaces_take_turns_with_the_worker_however_much_one_sent(alice: Person, mallory: Person) -> None:
    """By chance: that twenty turns in a row are one's is a matter of one in a million."""
    for number in range(30):
        ingest.receive(mallory.scope, IngestRequest(content=f"Reed number {number} is cut."))
    ingest.receive(alice.scope, IngestRequest(content=TEXT))
    for _ in range(20):
        ingest.run_next()
    assert MemorySession.objects.get(workspace=alice.workspace).state == "done"


def test_the_workspace_of_which_nothing_is_worked_on_comes_first(alice: Person, mallory: Person) -> None:
    for number in range(20):
        ingest.receive(mallory.scope, IngestRequest(content=f"Reed number {number} is cut."))
    under_way = MemorySession.objects.order_by("pk")[0]
    MemorySession.objects.filter(pk=under_way.pk).update(
        state="extracting", lease_until=timezone.now() + timedelta(minutes=1)
    )
    ingest.receive(alice.scope, IngestRequest(content=TEXT))
    done = ingest.run_next()
    assert done is not None
    assert done.workspace_id == alice.workspace.pk


def test_what_is_quick_is_taken_past_long_texts_and_what_waits_for_a_model(alice: Person, mallory: Person) -> None:
    mallory.workspace.settings = {"extractors": [{"provider": "openai", "model": "m", "baseUrl": "http://localhost:9"}]}
    mallory.workspace.save()
    ingest.receive(mallory.scope, IngestRequest(content="Reed is cut."))
    plain = ingest.receive(mallory.scope, IngestRequest(content=TEXT, extract="patterns"))
    ingest.receive(alice.scope, IngestRequest(content="Reed. " * 20_000))
    short = ingest.receive(alice.scope, IngestRequest(content=TEXT))
    taken = [ingest.run_next(only_quick=True) for _ in range(3)]
    assert {session and session.pk for session in taken} == {plain.pk, short.pk, None}
    assert set(MemorySession.objects.values_list("state", flat=True)) == {"received", "done"}


def test_an_id_is_one_episode_of_its_thread_and_taken_for_who_does_not_see_it(
    alice: Person, bob: Person, mallory: Person
) -> None:
    first, other = (NewMessage(f"The gate code is {code}.", id="m-1") for code in (4711, 4712))
    bob.say(first, thread_id="t")
    alice.say(first, thread_id="t")
    with pytest.raises(Conflict, match="something else"):
        alice.say(other, thread_id="t")
    stranger = bound_to_agent(alice.workspace, "stranger")
    for guess in (first, other):
        with pytest.raises(Conflict, match="taken"):
            stranger.say(guess, thread_id="t")
    assert Episode.objects.filter(workspace=alice.workspace).count() == 1
    mallory.say(first, thread_id="t")
    assert Episode.objects.filter(workspace=mallory.workspace).count() == 1


def test_where_the_server_has_a_model_only_what_asks_none_is_quick(alice: Person, settings: Any) -> None:
    settings.EXTRACTION_PROVIDER = "openai"
    ingest.receive(alice.scope, IngestRequest(content=TEXT))
    assert ingest.run_next(only_quick=True) is None
    alice.workspace.settings = {"extractors": []}
    alice.workspace.save()
    assert ingest.run_next(only_quick=True) is not None


def test_a_session_that_was_erased_is_waited_for_by_nobody(alice: Person) -> None:
    """Two wait for one session, and one for a session that is erased meanwhile."""
    due, gone = (ingest.receive(alice.scope, IngestRequest(content=text)) for text in "ab")
    ids = [str(gone.pk), str(due.pk), str(due.pk)]
    gone.delete()
    assert ingest.settled_among(ids) == ids[:1]
    ingest.run(due.pk)
    assert ingest.settled_among(ids) == ids


def test_within_a_workspace_the_oldest_is_first(alice: Person) -> None:
    first, second = (ingest.receive(alice.scope, IngestRequest(content=f"{TEXT} {n}")) for n in "ab")
    done = ingest.run_next()
    assert done is not None
    assert done.pk == first.pk
    ingest.run_next()
    assert ingest.run_next() is None
    assert MemorySession.objects.get(pk=second.pk).state == "done"


def test_an_ingest_that_learns_at_once_waits_for_the_disk_at_its_end_alone(
    transactional_db: None, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.say("I moved to Faro.")
    commit, waits = connections["default"]._commit, []

    def noting() -> None:
        with connection.cursor() as cursor:
            cursor.execute("show synchronous_commit")
            waits.append(cursor.fetchone()[0])
        commit()

    with connection.cursor() as cursor:
        cursor.execute("set synchronous_commit to on")
    monkeypatch.setattr(connections["default"], "_commit", noting)
    alice.say("I moved to Lisbon.")
    assert waits == ["off", "on"]
    waits.clear()
    alice.say("I moved to Porto.", mode="async")
    assert set(waits) == {"on"}
    with connection.cursor() as cursor:
        cursor.execute("reset synchronous_commit")
