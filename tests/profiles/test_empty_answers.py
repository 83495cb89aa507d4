"""An empty answer over much text: a model is asked once more, and a person is told."""

import json
from collections.abc import Callable

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer

from memories.ingest import NewMessage
from memories.models import Conversation, ConversationSummary, Feature, FeatureRefusal
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.profiles.summaries import running_summary
from memories.reading.extraction.fallback_chain import AGAIN
from tests.people import Person
from tests.wire_servers import Json, chat_completion, serve_in_turn

MUCH = "I moved to Lisbon last spring, and it rains there in winter more often than I had thought it would. " * 20
HOME = {
    "quotes": [{"message": 0, "text": "I moved to Lisbon"}],
    **{"action": "add", "id": None, "category": "identity", "tag": "home", "feature": "home", "value": "Lisbon"},
}
NOTHING, FOUND = json.dumps({"commands": []}), json.dumps({"commands": [HOME]})
NO_LINES = json.dumps({"lines": []})
Script = Callable[..., list[Json]]


@pytest.fixture
def script(alice: Person, httpserver: HTTPServer) -> Script:
    def answers(*each: str) -> list[Json]:
        rung = {"provider": "openai", "model": "m", "baseUrl": httpserver.url_for("/v1")}
        alice.workspace.settings = {"extractors": [rung], "llm": "unmatched", "featureSets": {"languageModel": rung}}
        alice.workspace.save()
        return serve_in_turn(httpserver, "/v1/chat/completions", *map(chat_completion, each))

    return answers


def fold(person: Person, text: str) -> None:
    person.say(NewMessage(text, name="Ada"), user_id="ada", extract="patterns")
    discover_sets()
    update_now(person.scope, "user:ada")


def asked_of(body: Json) -> str:
    return str(body["messages"][1]["content"])


def test_an_empty_fold_over_much_text_is_asked_again_behind_the_same_words(alice: Person, script: Script) -> None:
    bodies = script(NOTHING, FOUND)
    fold(alice, MUCH)
    assert Feature.objects.get().value == "Lisbon"
    first, again = map(asked_of, bodies)
    assert again == f"{first}\n{AGAIN}"
    assert not FeatureRefusal.objects.exists()


def test_what_stays_empty_is_told_and_paid_for_no_third_time(alice: Person, script: Script) -> None:
    bodies = script(NOTHING)
    fold(alice, MUCH)
    update_now(alice.scope, "user:ada")
    assert len(bodies) == 2
    assert "found nothing in 1 messages" in FeatureRefusal.objects.get().reason


def test_an_empty_fold_over_few_words_is_believed(alice: Person, script: Script) -> None:
    bodies = script(NOTHING)
    fold(alice, "It rained all day.")
    assert len(bodies) == 1
    assert not FeatureRefusal.objects.exists()


def test_commands_of_an_answer_that_breaks_off_are_done(alice: Person, script: Script) -> None:
    bodies = script(FOUND[:-2] + ', {"quotes": [{"message": 0, "text": "it rains there"}], "action": "add", "va')
    fold(alice, MUCH)
    assert (len(bodies), Feature.objects.get().value) == (1, "Lisbon")


def test_a_summary_without_lines_is_asked_for_twice_and_then_chosen(alice: Person, script: Script) -> None:
    bodies = script(NO_LINES)
    for number in range(30):
        alice.say(f"{number}: {MUCH[:200]}", user_id="ada", thread_id="t", extract="none")
    row = ConversationSummary.objects.create(
        workspace=alice.workspace, conversation=Conversation.objects.get(), due_at=timezone.now()
    )
    done = running_summary.summarize(row.pk)
    assert done is not None
    row.refresh_from_db()
    assert (len(bodies), row.method, row.due_at) == (2, "extractive", None)
    assert "asked twice" in row.error
