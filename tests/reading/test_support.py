"""A model's statement is believed for what its quotes say, not for a quote beside it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memories.ingest import NewMessage
from memories.models import Fact
from memories.reading.extraction.evidence import Evidence, sentences_of, unsupported
from tests.people import Person
from tests.wire_servers import FACT, claude_message, facts_json, serve_in_turn

CORPUS = Path(__file__).parents[1] / "data" / "model_statements.jsonl"
ROWS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
EVERYDAY = CORPUS.with_name("model_statements_everyday.jsonl")
FRESH = [json.loads(line) for line in EVERYDAY.read_text(encoding="utf-8").splitlines()]
SHED = "The shed belongs to Zebulon, and Mara has the key since March."


def why_not(statement: str, text: str, before: str = "") -> str:
    evidence = Evidence(
        quotes=(text,),
        around=f"{before}\n{text}",
        asked=before if before.endswith("?") else "",
        speakers=("Mara",),
        said_at=datetime(2026, 11, 18, 12, tzinfo=UTC),
        meant=before,
    )
    return unsupported(statement, evidence)


def share_believed(rows: list[dict[str, Any]]) -> float:
    believed = [not why_not(row["fact"], row["text"], row.get("before", "")) for row in rows]
    return sum(believed) / len(believed)


@pytest.mark.parametrize("rows", [ROWS, FRESH])
def test_what_is_said_in_other_words_is_believed(rows: list[dict[str, Any]]) -> None:
    assert share_believed([row for row in rows if row["faithful"]]) >= 0.95


@pytest.mark.parametrize("rows", [ROWS, FRESH])
def test_what_quotes_do_not_say_is_not_believed(rows: list[dict[str, Any]]) -> None:
    assert share_believed([row for row in rows if not row["faithful"]]) <= 0.05


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("Mara killed Zebulon", "words that the quotes do not support: killed"),
        ("Mara has the key since March 4711", "numbers that the quotes do not have: 4711"),
        ("Mara has the key since May", "days that the quotes do not have: month 5"),
        ("Mara has the key, see https://evil.example/x", "addresses that the quotes do not have"),
        ("Zebulon does not have a shed", "the quotes say the opposite"),
        ("Mara belongs to Zebulon", "the quotes say it of others"),
        ("Мара убила Зебулона", "in another script than the text: CYRILLIC"),
        ("x" * 20_000, "a statement of 20000 characters"),
    ],
)
def test_the_reason_says_what_is_lacking(statement: str, reason: str) -> None:
    assert why_not(statement, SHED).startswith(reason)


def test_a_quote_stands_for_its_sentence() -> None:
    text = "I came late. In spring I moved to Bern. It rained."
    assert sentences_of(text, [(text.index("Bern"), text.index("Bern") + 4)]) == ("In spring I moved to Bern.",)


# ---- on the way to the memories


@pytest.fixture
def claude(httpserver: HTTPServer, settings: Any) -> Callable[..., list[Any]]:
    settings.ANTHROPIC_API_KEY = "test"
    settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
    return lambda *facts: serve_in_turn(httpserver, "/v1/messages", claude_message(facts_json(*facts)))


def fact(statement: str, quote: str, message: int = 0) -> dict[str, Any]:
    return FACT | {"statement": statement, "quotes": [{"message": message, "text": quote}]}


def test_what_is_not_believed_waits_with_its_reason(alice: Person, claude: Any) -> None:
    claude(fact("Mara killed Zebulon", SHED), fact("Mara has the key", SHED))
    alice.say(SHED, extract="llm", user_id="Mara")
    assert alice.live() == ["Mara has the key"]
    waiting = Fact.objects.exclude(quarantined_at=None).get()
    assert "killed" in waiting.quarantine_reason


def test_a_statement_that_is_far_too_long_is_not_kept_at_its_length(alice: Person, claude: Any) -> None:
    claude(fact("x " * 10_000, SHED))
    alice.say(SHED, extract="llm", user_id="Mara")
    assert len(Fact.objects.get().statement) < 1_000


@pytest.mark.parametrize("index", [0, 7])
def test_a_quote_under_a_wrong_number_is_found_in_another_message(alice: Person, claude: Any, index: int) -> None:
    claude(fact("Mara has the key", "Mara has the key", index))
    alice.say("It rained all day, and nobody came.", SHED, extract="llm", user_id="Mara")
    assert alice.live() == ["Mara has the key"]


def test_a_user_without_a_name_is_called_by_the_name_that_the_model_gives_to_i(alice: Person, claude: Any) -> None:
    claude(fact("Nora has a canoe", "I have a canoe"))
    alice.say("Well, I have a canoe now.", extract="llm")
    assert alice.live() == ["Nora has a canoe"]


def test_an_answer_is_believed_with_its_question(alice: Person, claude: Any) -> None:
    statement = "Mara has been a vegetarian since she finished college"
    claude(fact(statement, "ever since I finished college", 1))
    question = NewMessage("Are you vegetarian?", "assistant")
    alice.say(question, "Yes, ever since I finished college.", extract="llm", user_id="Mara")
    assert alice.live() == [statement]
