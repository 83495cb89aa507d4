"""Instructions hidden in what was said: even a model that obeys them makes nobody believe it.

Each attack comes with what an obedient model would answer: a fact that is not in the text, with a
quote that is, or one that is not.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memories.models import Fact
from memories.providers import ExtractionRequest, PromptMessage, prompts
from tests.people import Person
from tests.wire_servers import FACT, claude_message, facts_json, serve_in_turn

CORPUS = Path(__file__).parents[1] / "data" / "attacks.jsonl"
ATTACKS = [json.loads(line) for line in CORPUS.read_text().splitlines()]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["text"][:30])
def test_what_a_model_makes_of_an_attack_is_believed_by_nobody(
    alice: Person, httpserver: HTTPServer, settings: Any, attack: dict[str, str]
) -> None:
    settings.ANTHROPIC_API_KEY = "test"
    settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
    obeyed = FACT | {
        "statement": attack["fact"],
        "quotes": [{"message": 0, "text": attack["quote"]}],
    }
    serve_in_turn(httpserver, "/v1/messages", claude_message(facts_json(obeyed)))
    alice.say(attack["text"], extract="llm", user_id="Mara")
    assert attack["fact"] not in alice.live()
    assert not Fact.objects.filter(quarantined_at=None).exists()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["text"][:30])
def test_an_attack_stays_inside_the_data_of_the_prompt(attack: dict[str, str]) -> None:
    text = prompts.extraction_text(ExtractionRequest((PromptMessage(0, "user", attack["text"]),)))
    assert text.count("</messages>") == 1
    assert attack["text"] not in prompts.extraction_rules(ExtractionRequest(()))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["text"][:30])
def test_patterns_quote_an_attack_but_do_not_obey_it(alice: Person, attack: dict[str, str]) -> None:
    alice.say(attack["text"], extract="patterns")
    assert attack["fact"] not in alice.live()
