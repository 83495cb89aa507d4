"""Why messages were not read, counted per session and per workspace."""

from memories.ingest import NewMessage
from memories.meters.skip_counts import count_skips
from memories.models import MemorySession
from tests.api_fixtures import caller
from tests.desk import member, page_of
from tests.people import Person


def chat(person: Person) -> MemorySession:
    tool = NewMessage("Seven boats lie in the harbour of Ghent.", "tool", kind="tool_result")
    return person.say("Hi!", "Thanks a lot!", "I prefer tea to coffee.", "What is that?", tool)


def test_a_session_counts_why_messages_were_not_read(alice: Person) -> None:
    counts = chat(alice).counts
    told = {name: n for name, n in counts.items() if name.startswith("skipped")}
    assert told == {"skipped": 4, "skipped_courtesy": 2, "skipped_question": 1, "skipped_kept": 1}


def test_the_page_of_a_session_tells_it_in_words(alice: Person) -> None:
    page = member(alice.workspace).sees(page_of(chat(alice)))
    assert "Greetings, thanks and other courtesies" in page
    assert "Only questions" in page
    assert "skipped courtesy" not in page


def test_a_workspace_adds_up_its_sessions(alice: Person) -> None:
    chat(alice)
    chat(alice)
    found = count_skips(alice.scope)
    assert (found.messages, found.skipped) == (10, 8)
    assert found.reasons[0][0::2] == ("courtesy", 4)


def test_days_that_are_past_do_not_count(alice: Person) -> None:
    chat(alice)
    MemorySession.objects.update(created_at="2020-01-01T00:00Z")
    assert count_skips(alice.scope).messages == 0


def test_verdicts_are_told_over_http(alice: Person) -> None:
    chat(alice)
    told = caller(alice).get("/verdicts", days=7).body
    assert (told["days"], told["messages"], told["skipped"]) == (7, 5, 4)
    first = {"reason": "courtesy", "meaning": "greetings, thanks and other courtesies", "count": 2}
    assert told["reasons"][0] == first


def test_agents_count_their_own_and_strangers_nothing(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    chat(bob)
    assert [count_skips(each.scope).messages for each in (alice, bob, carol)] == [5, 5, 0]
    assert count_skips(mallory.scope).messages == 0
    assert caller(mallory, alice.workspace).get("/verdicts").status == 404
