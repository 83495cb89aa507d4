"""What models say wrong, over the wire: small ones above all. None of it is believed, and none of it costs
somebody's messages."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.ingest import NewMessage
from memories.models import Fact, MemorySession
from memories.providers import message_pieces
from memories.reading.extraction import fallback_chain
from tests.people import Person
from tests.wire_servers import FACT, Json, chat_completion, facts_json, failing, openai_error, serve_in_turn

MOVED = "I moved to Lisbon for good, by the river."
SAID_AT = datetime(2026, 5, 6, 12, tzinfo=UTC)  # a Wednesday
Model = Callable[..., list[Json]]


@pytest.fixture
def model(httpserver: HTTPServer, settings: Any) -> Model:
    """A server of one's own, which gives these answers in turn: facts, texts, or whole responses."""
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = "openai", "small"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")

    def answers(*each: Any) -> list[Json]:
        return serve_in_turn(httpserver, "/v1/chat/completions", *map(answer_of, each))

    return answers


def answer_of(each: Any) -> Any:
    if isinstance(each, dict) and "statement" in each:
        each = facts_json(each)
    return chat_completion(each) if isinstance(each, str) else each


def fact(statement: str, *quotes: str, **more: Any) -> Json:
    quoted = [{"message": 0, "text": quote} for quote in quotes]
    return FACT | {"statement": statement, "entities": [], "quotes": quoted} | more


def tell(person: Person, *said: str | NewMessage, **wish: Any) -> MemorySession:
    return person.say(*said, **{"extract": "llm", "user_id": "Ana", **wish})


def waiting() -> list[str]:
    """Why each statement that nobody believes waits."""
    return list(Fact.objects.exclude(quarantined_at=None).values_list("quarantine_reason", flat=True))


# ---- what it stands on


def test_the_schema_asks_for_quotes_first_and_bounds_what_could_go_on_for_ever(alice: Person, model: Model) -> None:
    asked = model(facts_json())
    tell(alice, MOVED)
    shapes = asked[0]["response_format"]["json_schema"]["schema"]["$defs"]
    fields = shapes["FactAnswer"]["properties"]
    assert next(iter(fields)) == "quotes"
    assert (fields["quotes"]["minItems"], fields["quotes"]["maxItems"]) == (1, 4)
    assert all("maxItems" in field for field in fields.values() if field.get("type") == "array")
    assert fields["statement"]["maxLength"] == 300


def test_a_claim_without_a_quote_waits(alice: Person, model: Model) -> None:
    model(fact("Ana moved to Lisbon"))
    assert tell(alice, MOVED).state == "done"
    assert (alice.live(), waiting()) == ([], ["no evidence in the text"])


@pytest.mark.parametrize("index", [1, 7, -1, 10**9])
def test_a_quote_with_a_wrong_index_stands_where_its_words_are(alice: Person, model: Model, index: int) -> None:
    model({**fact("Ana moved to Lisbon"), "quotes": [{"message": index, "text": "I moved to Lisbon"}]})
    session = tell(alice, MOVED, "It rained all day at the harbour.")
    assert alice.live() == ["Ana moved to Lisbon"]
    citation = Fact.objects.get().citations.get()
    assert citation.episode_id == session.episode_ids[0]


def test_a_quote_of_no_message_is_none_whatever_its_index(alice: Person, model: Model) -> None:
    model({**fact("Ana moved to Porto"), "quotes": [{"message": 0, "text": "I moved to Porto"}]})
    tell(alice, MOVED)
    assert (alice.live(), waiting()) == ([], ["no evidence in the text"])


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Did you ever check out that spot by the river?", "Ana checked out the spot by the river"),
        ("Have you moved to Lisbon yet?", "Ana moved to Lisbon"),
    ],
)
def test_a_question_is_no_evidence(alice: Person, model: Model, said: str, statement: str) -> None:
    model(fact(statement, said.rstrip("?")))
    tell(alice, f"It rained all day at the harbour. {said}")
    assert (alice.live(), waiting()) == ([], ["a question is no evidence"])


def test_what_is_told_beside_a_question_is_evidence(alice: Person, model: Model) -> None:
    model(fact("Ana moved to Lisbon", "I moved to Lisbon"))
    tell(alice, "I moved to Lisbon, can you recommend a dentist?")
    assert alice.live() == ["Ana moved to Lisbon"]


def test_a_pronoun_takes_no_words_from_long_before(alice: Person, model: Model) -> None:
    old = ["My brother collects antique tractors.", "It rained all day in Porto.", "We had soup at the harbour."]
    model({**fact("Ana likes antique tractors"), "quotes": [{"message": 4, "text": "I like it a lot"}]})
    tell(alice, *old, "The bus to the office was late.", "In the end I like it a lot, as my sister does.")
    assert alice.live() == []
    assert waiting() == ["words that the quotes do not support: antique, tractors"]


def test_a_pronoun_takes_its_words_from_right_before(alice: Person, model: Model) -> None:
    model({**fact("Ana painted the shed green"), "quotes": [{"message": 1, "text": "I painted it green"}]})
    tell(alice, "The shed was ugly.", "So I painted it green last spring.")
    assert alice.live() == ["Ana painted the shed green"]


# ---- what it adds


@pytest.mark.parametrize(
    ("said", "day", "kept"),
    [
        ("I moved to Lisbon.", "2019-03-01", None),
        ("I moved to Lisbon yesterday.", "2031-05-05", None),
        ("I moved to Lisbon yesterday.", "2026-05-05", "2026-05-05"),
        ("I moved to Lisbon in March 2019.", "2019-03-01", "2019-03-01"),
        ("I moved to Lisbon on Monday.", "2026-05-04", "2026-05-04"),
        ("I moved to Lisbon on Monday.", "2026-05-05", None),
    ],
)
def test_a_day_is_kept_that_the_words_mean(alice: Person, model: Model, said: str, day: str, kept: str | None) -> None:
    model(fact("Ana moved to Lisbon", said.rstrip("."), event_date=day))
    tell(alice, NewMessage(said, created_at=SAID_AT))
    assert alice.live()
    found = Fact.objects.get().event_date
    assert (found and found.date().isoformat()) == kept


def test_names_that_nobody_said_are_left_out(alice: Person, model: Model) -> None:
    model(fact("Ana moved to Lisbon", "I moved to Lisbon", entities=["Ana", "Lisbon", "Elon Musk"]))
    tell(alice, MOVED)
    assert Fact.objects.get().entities == ["Ana", "Lisbon"]


def test_a_category_of_its_own_becomes_other(alice: Person, model: Model) -> None:
    model(fact("Ana moved to Lisbon", "I moved to Lisbon", category="relocation"))
    tell(alice, MOVED)
    assert Fact.objects.get().category == "other"


def test_the_speakers_i_becomes_a_name(alice: Person, model: Model) -> None:
    model(fact("I moved to Lisbon for good", "I moved to Lisbon for good"))
    tell(alice, NewMessage(MOVED, name="Ana"))
    assert alice.live() == ["Ana moved to Lisbon for good"]


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("You'll love them!", "You'll love them!"),
        ("I love that one so much.", "Ana loves that one so much"),
        ("I went there with him.", "Ana went there with him"),
    ],
)
def test_what_means_nothing_alone_is_not_worth_keeping(alice: Person, model: Model, said: str, statement: str) -> None:
    model(fact(statement, said.rstrip(".!")))
    session = tell(alice, f"It rained all day at the harbour. {said}")
    assert (alice.live(), waiting()) == ([], [])
    assert "not worth keeping" in session.reason


def test_a_statement_in_another_language_waits(alice: Person, model: Model) -> None:
    model(fact("Ana se mudó a Lisboa para siempre", "I moved to Lisbon for good"))
    tell(alice, MOVED)
    assert alice.live() == []
    assert len(waiting()) == 1


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Ich wohne seit 2019 in Bern.", "Ana wohnt seit 2019 in Bern"),
        ("Vivo en Lisboa desde marzo.", "Ana vive en Lisboa desde marzo"),
        ("Живу в Лиссабоне с марта.", "Ana живёт в Лиссабоне с марта"),
    ],
)
def test_a_message_in_another_language_is_read(alice: Person, model: Model, said: str, statement: str) -> None:
    model(fact(statement, said.rstrip(".。")))
    tell(alice, said)
    assert alice.live() == [statement]


# ---- its form


def test_prose_and_a_fence_around_the_answer_do_no_harm(alice: Person, model: Model) -> None:
    answer = facts_json(fact("Ana moved to Lisbon", "I moved to Lisbon"))
    model(f"Sure! Here is what I found:\n```json\n{answer}\n```\nLet me know.")
    tell(alice, MOVED)
    assert alice.live() == ["Ana moved to Lisbon"]


def test_a_claim_that_is_repeated_is_one(alice: Person, model: Model) -> None:
    model(facts_json(*[fact("Ana moved to Lisbon", "I moved to Lisbon")] * 12))
    tell(alice, MOVED)
    assert Fact.objects.count() == 1


def test_a_list_without_end_loses_nothing_that_was_whole_before(alice: Person, model: Model) -> None:
    head = facts_json(fact("Ana moved to Lisbon", "I moved to Lisbon"), fact("Ana lives by the river", "by the river"))
    endless = head[: head.rindex('"entities": [') + len('"entities": [')] + '"Ana", ' * 400 + '"An'
    assert json.loads(head)["facts"][1]["statement"] in endless
    model(chat_completion(endless, "length"))
    session = tell(alice, MOVED)
    assert (session.state, session.error) == ("done", "")
    assert alice.live() == ["Ana moved to Lisbon"]


def test_the_last_claim_of_a_cut_answer_counts_where_it_broke_off_behind_its_words(alice: Person, model: Model) -> None:
    told = {"quotes": [{"message": 0, "text": "I moved to Lisbon"}], "statement": "Ana moved to Lisbon"}
    cut = json.dumps({"facts": [told]})[:-3] + ', "entities": ["Ana", "Ana", "An'
    model(chat_completion(cut, "length"))
    tell(alice, MOVED)
    assert alice.live() == ["Ana moved to Lisbon"]


@pytest.mark.parametrize(
    "answer",
    [
        chat_completion('{"facts": [{"quotes": [{"message": 0, "te', "length"),
        chat_completion(None, refusal="I will not"),
    ],
)
def test_no_bad_answer_fails_a_session_for_good(alice: Person, model: Model, answer: Json) -> None:
    asked = model(answer)
    session = tell(alice, "I prefer tea to coffee.", "Zorble frumption grelled in Lisbon.", extract="auto")
    assert session.state == "done"
    assert session.error
    assert "User prefers tea to coffee" in alice.live()
    assert len(asked) == 1


def test_an_answer_that_is_no_json_is_asked_for_twice_and_no_more(alice: Person, model: Model) -> None:
    asked = model("I could not find anything, sorry.")
    session = tell(alice, MOVED)
    assert (session.state, len(asked)) == ("received", 1)
    MemorySession.objects.update(next_attempt_at=SAID_AT)
    again = ingest.run(session.pk)
    assert again is not None
    assert (again.state, len(asked)) == ("done", 2)
    assert "did not answer with the JSON" in again.error


def test_what_was_read_is_not_paid_for_again(alice: Person, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_pieces, "PIECE", 200)
    monkeypatch.setattr(message_pieces, "PART", 150)
    monkeypatch.setattr(message_pieces, "OVERLAP", 0)
    monkeypatch.setattr(fallback_chain, "STEPS", 100)
    lines = [f"Nothing at all of line {number} is worth a word, as everybody knows." * 2 for number in range(3)]
    first, busy = fact("Ana moved to Lisbon", "I moved to Lisbon"), failing(503, openai_error("busy"))
    asked = model(first, busy, busy, busy, facts_json())
    session = tell(alice, MOVED, *lines)
    assert session.state == "received"
    before = len(asked)
    MemorySession.objects.update(next_attempt_at=SAID_AT)
    again = ingest.run(session.pk)
    assert again is not None
    while again.state == "received":
        MemorySession.objects.update(next_attempt_at=SAID_AT)
        again = ingest.run(session.pk)
        assert again is not None
    assert again.state == "done"
    told = [body["messages"][1]["content"] for body in asked]
    assert [number for number, text in enumerate(told) if "moved to Lisbon" in text.partition("<messages>")[2]] == [0]
    assert len(asked) > before
    assert alice.live() == ["Ana moved to Lisbon"]
