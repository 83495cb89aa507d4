"""Messages that come one by one are read with those before them, but only with one's own."""

from datetime import UTC, datetime, timedelta

from memories.ingest import NewMessage
from memories.models import Citation, Episode, Fact
from tests.people import Person

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)


def said(text: str, role: str = "user", *, at: datetime = NOON) -> NewMessage:
    name = "Ada" if role == "user" else ""
    return NewMessage(text, role, name, created_at=at)


def statements() -> list[str]:
    return list(Fact.objects.order_by("id").values_list("statement", flat=True))


def test_an_answer_is_read_with_the_question_of_an_earlier_request(alice: Person) -> None:
    alice.say(said("Where do you live?", "assistant"), thread_id="t")
    session = alice.say(said("Lisbon"), thread_id="t")
    assert statements() == ["Ada lives in Lisbon"]
    assert "skipped" not in session.reason


def test_an_answer_cites_its_question_too(alice: Person) -> None:
    alice.say(said("Hello! Do you have any pets?", "assistant"), said("Yes!"), thread_id="t")
    citations = Citation.objects.order_by("episode__position")
    assert [citation.quote for citation in citations] == ["Do you have any pets?", "Yes!"]
    assert statements() == ["Ada has pets"]


def test_a_pronoun_is_not_tied_to_somebody_of_an_earlier_request(alice: Person) -> None:
    alice.say(said("My sister moved to Oslo."), thread_id="t")
    alice.say(said("She works as a nurse there."), thread_id="t")
    assert not any("nurse" in each for each in statements())


def test_another_conversation_is_no_context(alice: Person) -> None:
    alice.say(said("Where do you live?", "assistant"), thread_id="t")
    alice.say(said("Lisbon"), thread_id="other")
    assert statements() == []


def test_an_earlier_day_is_no_context(alice: Person) -> None:
    alice.say(said("Where do you live?", "assistant"), thread_id="t")
    alice.say(said("Lisbon", at=NOON + timedelta(days=1)), thread_id="t")
    assert statements() == []


def test_what_another_agent_recorded_is_no_context(alice: Person, bob: Person, carol: Person) -> None:
    bob.say(said("Where do you live?", "assistant"), thread_id="t")
    alice.say(said("Lisbon"), thread_id="t", agent_id="carol")
    assert statements() == []


def test_context_makes_no_claims_of_its_own(alice: Person) -> None:
    alice.say(said("I moved to Porto in May."), thread_id="t", extract="none")
    alice.say(said("I prefer tea to coffee."), thread_id="t")
    assert statements()[1:] == ["Ada prefers tea to coffee"]
    assert Episode.objects.count() == 2
