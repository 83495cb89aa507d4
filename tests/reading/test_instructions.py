"""What a workspace and an ingest say shall be written down and left out; and what people decided, as examples."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.belief import review
from memories.ingest.ingest_request import IngestInstructions
from memories.models import Conversation, Fact, Memory, MemorySession, Visibility
from memories.providers import network
from memories.providers.prompts import ExtractionRequest, FactsAnswer, PromptMessage, extraction_rules, extraction_text
from memories.reading.extraction.workspace_instructions import Instructions
from tests.api_fixtures import caller
from tests.factories import FactFactory, SessionFactory
from tests.people import Person, bound_to_agent, with_key
from tests.wire_servers import FACT, Json, chat_completion, facts_json, serve_in_turn
from workspaces.keys import KeyOptions
from workspaces.models import Subject

TEXT = "As of this spring I live in Lisbon, by the river."
Asked = Callable[..., list[Json]]


@pytest.fixture
def model(httpserver: HTTPServer, settings: Any) -> Asked:
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = "openai", "m"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    return lambda *facts: serve_in_turn(httpserver, "/v1/chat/completions", chat_completion(facts_json(*facts)))


def instruct(person: Person, **words: str) -> None:
    person.workspace.settings = {"instructions": words}
    person.workspace.save()


def rules(body: Json) -> str:
    return body["messages"][0]["content"]


def examples(body: Json) -> str:
    text = body["messages"][1]["content"]
    return text.partition("<examples>")[2].partition("</examples>")[0]


# ---- in words


def test_instructions_of_an_ingest_hold_beside_those_of_the_workspace(alice: Person, model: Asked) -> None:
    asked = model()
    instruct(alice, extract="diets", ignore="the weather")
    body = {"messages": [{"role": "user", "content": TEXT}], "extract": "llm", "wait": 0}
    own = {"extract": "addresses", "ignore": "rivers"}
    assert caller(alice).post("/memories/ingest", {**body, "instructions": own}).status == 202
    [session] = MemorySession.objects.all()
    assert session.instructions == own
    ingest.run(session.pk)
    assert rules(asked[0]).splitlines()[-2:] == [
        "- Write down above all: diets addresses",
        "- Leave out in any case: the weather rivers",
    ]
    alice.say(TEXT, extract="llm")
    assert rules(asked[1]).splitlines()[-1] == "- Leave out in any case: the weather"


@pytest.mark.parametrize(
    ("own", "field"),
    [
        ({"extract": 1}, "instructions.extract"),
        ({"ignore": "x" * 1_001}, "instructions.ignore"),
        ({"wanted": "tea"}, "instructions.wanted"),
        ("tea", "instructions"),
    ],
)
def test_wrong_instructions_of_an_ingest_are_refused(alice: Person, own: object, field: str) -> None:
    answer = caller(alice).post("/memories/ingest", {"content": TEXT, "instructions": own})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


# ---- without a model that reads them


@pytest.mark.parametrize(
    ("ignore", "statement", "is_left_out"),
    [
        ("the weather", "Ana hates rainy weather", True),
        ("Ignore small talk and greetings", "Ana has a small dog", False),
        ("pets, health", "Ana's health is poor", True),
        ("health", "Ana is healthy again", False),
        ("anything but allergies", "Ana has allergies", False),
        ("do not write down where people live", "Ana lives in Bern, where people live long", False),
        ("Wetter", "Ana mag kein Wetter wie dieses", True),
        ("", "Ana hates rainy weather", False),
    ],
)
def test_what_names_all_words_of_an_ignored_thing_is_left_out(ignore: str, statement: str, is_left_out: bool) -> None:
    assert Instructions(ignore=ignore).leave_out(statement) is is_left_out


@pytest.mark.parametrize("wish", [{"content": "I prefer tea to coffee."}, {"messages": ("I prefer tea to coffee.",)}])
def test_what_patterns_find_of_an_ignored_thing_is_left_out_and_the_answer_says_so(alice: Person, wish: Json) -> None:
    instruct(alice, ignore="tea and herbs")
    said = wish.get("messages")
    session = alice.say(*said) if said else alice.tell(wish["content"], extract="auto")
    assert (session.state, alice.live()) == ("done", [])
    assert "left out, as the instructions say: 1" in session.reason


def test_what_is_kept_word_for_word_is_kept_all_the_same(alice: Person) -> None:
    instruct(alice, ignore="tea")
    alice.tell("I prefer tea to coffee.", extract="none")
    assert alice.live() == ["I prefer tea to coffee."]


def test_a_model_that_does_not_listen_is_not_believed(alice: Person, model: Asked) -> None:
    model(FACT)
    alice.say(TEXT, extract="llm", user_id="ana", instructions=IngestInstructions(ignore="Lisbon"))
    assert alice.live() == []


# ---- what people decided


def decide(person: Person, subject: Subject | None, **more: Any) -> None:
    """Let a person keep one statement, and throw one away."""
    about = {"workspace": person.workspace, "subject": subject, "visibility": "private", **more}
    session = SessionFactory(workspace=person.workspace, subject=subject, agent=more.get("agent"))
    name = subject.external_id if subject else "Somebody"
    memory = person.note(f"{name} collects stamps of birds", user_id=subject.external_id if subject else "")
    Memory.objects.filter(pk=memory.pk).update(visibility=about["visibility"], agent=more.get("agent"))
    review.edit(person.scope, memory.pk, {"content": f"{name} collects stamps with birds"})
    doubted = {"session": session, "quarantined_at": timezone.now(), "quarantine_reason": "no evidence", "memory": None}
    fact = FactFactory(statement=f"{name} waits for the bus", **about, **doubted)
    review.dismiss(person.scope, fact.pk)


def shown_to(person: Person, asked: list[Json], **wish: Any) -> str:
    person.say(TEXT, extract="llm", **wish)
    return examples(asked[-1])


def test_what_people_kept_and_threw_away_of_somebody_are_examples(alice: Person, model: Asked) -> None:
    asked = model()
    ana, _ = (Subject.objects.create(workspace=alice.workspace, external_id=name) for name in ("Ana", "Ben"))
    assert shown_to(alice, asked, user_id="Ana") == ""
    decide(alice, ana)
    assert shown_to(alice, asked, user_id="Ana").split("\n")[1:-1] == [
        '{"kept": true, "statement": "Ana collects stamps with birds"}',
        '{"kept": false, "statement": "Ana waits for the bus"}',
    ]
    assert shown_to(alice, asked, user_id="Ben") == ""  # another person's
    assert shown_to(alice, asked) == ""


def test_private_words_are_no_examples_for_another_audience(alice: Person, mallory: Person, model: Asked) -> None:
    asked = model()
    ana = Subject.objects.create(workspace=alice.workspace, external_id="Ana")
    decide(alice, ana)
    assert shown_to(bound_to_agent(alice.workspace, "helper"), asked, user_id="Ana") == ""  # what another was told
    assert shown_to(alice, asked, user_id="Ana", visibility="team") == ""
    Conversation.objects.create(workspace=alice.workspace, external_id="all", audience="team")
    assert shown_to(alice, asked, user_id="Ana", thread_id="all") == ""
    mallory.workspace.settings = alice.workspace.settings
    mallory.workspace.save()
    assert shown_to(mallory, asked, user_id="Ana") == ""
    assert "Ana collects" in shown_to(alice, asked, user_id="Ana")


def test_shared_decisions_about_nobody_are_examples_for_all_but_keys_of_some_people(
    alice: Person, model: Asked
) -> None:
    asked = model()
    Subject.objects.create(workspace=alice.workspace, external_id="Ana")
    decide(alice, None, visibility=Visibility.TEAM)
    assert "collects stamps with birds" in shown_to(alice, asked, user_id="Ana")
    ana = Subject.objects.get(external_id="Ana")
    narrow = with_key(alice.workspace, KeyOptions("ana", subjects=(ana,)))
    assert shown_to(narrow, asked, user_id="Ana") == ""


def test_forgotten_and_masked_words_are_no_examples(alice: Person, model: Asked) -> None:
    asked = model()
    ana = Subject.objects.create(workspace=alice.workspace, external_id="Ana")
    decide(alice, ana)
    [head] = Memory.objects.live()
    review.forget(alice.scope, head.pk, "private")
    Fact.objects.filter(memory=None).update(statement="Ana waits for █████")
    assert shown_to(alice, asked, user_id="Ana") == ""


def test_examples_are_few_and_short(alice: Person, model: Asked) -> None:
    asked = model()
    ana = Subject.objects.create(workspace=alice.workspace, external_id="Ana")
    session = SessionFactory(workspace=alice.workspace, subject=ana)
    own = {"workspace": alice.workspace, "subject": ana, "visibility": "private", "session": session, "memory": None}
    for number in range(30):
        FactFactory(**own, statement=f"Ana waits for bus {number}" + " x" * (number % 2) * 99, quarantine_reason="no")
    told = shown_to(alice, asked, user_id="Ana").strip().split("\n")
    assert len(told) == 4
    assert max(map(len, told)) < 160


# ---- what a call costs


def lines(told: Iterable[str]) -> tuple[PromptMessage, ...]:
    return tuple(PromptMessage(n, "user", text, "Ana", timezone.now()) for n, text in enumerate(told))


def test_a_message_of_twenty_in_a_call_costs_at_most_350_tokens_with_rules_and_schema() -> None:
    said = "I finally booked the flights to Porto for the second week of October, with Marta and her two brothers."
    request = ExtractionRequest(lines([said] * 20))
    sent = [extraction_rules(request), extraction_text(request), str(FactsAnswer.model_json_schema())]
    assert network.estimate(sent) / 20 <= 350
