"""The ladder of models: in order, to the next where one fails, counted, and told step by step."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse
from pytest_httpserver import HTTPServer
from werkzeug import Response

from memories.errors import Invalid
from memories.ingest import NewMessage
from memories.models import ExtractorUse, Fact, MemorySession
from memories.providers import ExtractionRequest, PromptMessage, message_pieces
from memories.reading.extraction import fallback_chain
from memories.reading.extraction.fallback_chain import models_from
from memories.settings import workspace_settings
from tests.api_fixtures import caller
from tests.desk import member
from tests.people import Person
from tests.wire_servers import (
    FACT,
    chat_completion,
    claude_message,
    facts_json,
    failing,
    openai_error,
    serve_in_turn,
    silent_server,
)
from workspaces.models import Workspace

TEXT = "As of this spring I live in Lisbon, by the river."
Json = dict[str, Any]
BROKEN = failing(400, openai_error("no such model"))


@pytest.fixture
def rungs(httpserver: HTTPServer, workspace: Workspace) -> Callable[..., list[list[Json]]]:
    """A ladder of servers; each argument is what one of them answers in turn, and changes to its
    rung. Returns the requests that each got."""

    def build(*servers: Any, **changes: Any) -> list[list[Json]]:
        asked, extractors = [], []
        for number, answers in enumerate(servers):
            asked.append(serve_in_turn(httpserver, f"/r{number}/v1/chat/completions", *answers))
            address = httpserver.url_for(f"/r{number}/v1")
            extractors.append({"provider": "openai", "model": f"m{number}", "baseUrl": address})
        extractors[0] |= changes
        workspace.settings = {"extractors": extractors}
        workspace.save()
        return asked

    return build


def found(*facts: Json) -> Json:
    return chat_completion(facts_json(*(facts or (FACT,))))


def told(person: Person, **wish: Any) -> MemorySession:
    return person.tell(TEXT, **{"extract": "llm", "user_id": "ana", **wish})


def outcomes(session: MemorySession) -> list[tuple[str, str]]:
    return [(step["rule"], step["outcome"]) for step in session.steps]


def test_the_first_rung_that_answers_is_the_last_that_is_asked(alice: Person, rungs: Any) -> None:
    first, second = rungs([found()], [found()])
    session = told(alice)
    assert (len(first), len(second)) == (1, 0)
    [step] = session.steps
    assert (step["model"], step["outcome"], step["rule"]) == ("gpt-test-2026", "1 facts", "llm:1")
    assert (step["inputTokens"], step["outputTokens"]) == (120, 40)
    assert step["milliseconds"] > 0
    assert step["promptVersion"]


@pytest.mark.parametrize(
    "answer",
    [
        BROKEN,
        chat_completion("I could not find anything, sorry."),
        chat_completion(facts_json(FACT)[:40], "length"),
        chat_completion(None, refusal="I will not"),
    ],
)
def test_a_rung_that_fails_falls_to_the_next(alice: Person, rungs: Any, answer: Response | Json) -> None:
    rungs([answer], [found()])
    session = told(alice)
    assert [rule for rule, _ in outcomes(session)] == ["llm:1", "llm:2"]
    assert (session.state, session.error) == ("done", "")
    assert Fact.objects.get().rule.startswith("gpt-test-2026")


def test_where_all_rungs_fail_the_text_is_kept_whole(alice: Person, rungs: Any) -> None:
    rungs([BROKEN], [BROKEN])
    session = told(alice)
    assert [rule for rule, _ in outcomes(session)] == ["llm:1", "llm:2", "whole"]
    assert alice.live() == [TEXT]


def test_the_daily_cap_of_a_rung_is_counted(alice: Person, rungs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    noon = datetime(2026, 2, 6, 12, tzinfo=UTC)
    monkeypatch.setattr(fallback_chain, "timezone", SimpleNamespace(now=lambda: noon))
    first, second = rungs([found()], [found()], dailyCap=2)
    for _ in range(3):
        session = told(alice)
    assert (len(first), len(second)) == (2, 1)
    assert outcomes(session)[0] == ("llm:1", "its daily cap is reached")
    assert sorted(ExtractorUse.objects.values_list("calls", flat=True)) == [1, 2]


def test_where_all_caps_are_reached_it_is_done_with_what_patterns_found(alice: Person, rungs: Any) -> None:
    [asked] = rungs([found()], dailyCap=0)
    session = alice.say("I prefer tea to coffee.", TEXT, "Zorble frumption grelled.", user_id="ana")
    assert (session.state, asked) == ("done", [])
    assert "daily cap is reached" in session.reason
    assert "User prefers tea to coffee" in alice.live()


def test_a_silent_server_costs_one_call_and_one_time_out(alice: Person) -> None:
    with silent_server() as server:
        rung = {"provider": "openai", "model": "m", "baseUrl": server.url_for("/v1"), "timeout": 1}
        alice.workspace.settings = {"extractors": [rung]}
        alice.workspace.save()
        session = told(alice)
    assert "in time" in session.reason
    assert len(server.log) <= 1


@pytest.mark.parametrize(
    "answer",
    [
        '{"facts": [{"statement": "no end, ' + "\n" + json.dumps(FACT) + "]}",
        json.dumps({"facts": [{"statement": 3}, FACT | {"confidence": "high"}, "x"]}),
        json.dumps({"facts": [FACT | {"quotes": [*FACT["quotes"], 7], "entities": None}]}),
        json.dumps({"facts": [FACT | {"quotes": "I live in Lisbon"}]}),
    ],
)
def test_what_is_whole_of_a_malformed_answer_is_kept(alice: Person, rungs: Any, answer: str) -> None:
    rungs([chat_completion(answer)])
    told(alice)
    assert alice.live() == ["Ana lives in Lisbon"]


@pytest.mark.parametrize("answer", ["{}", '{"facts": null}', '{"facts": []}'])
def test_an_answer_without_facts_is_no_failure(alice: Person, rungs: Any, answer: str) -> None:
    [asked] = rungs([chat_completion(answer)])
    session = alice.say(TEXT, extract="llm")
    assert (session.state, session.error, len(asked)) == ("done", "", 1)


def test_without_a_ladder_the_servers_own_model_is_asked(alice: Person, httpserver: HTTPServer, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "test"
    settings.ANTHROPIC_BASE_URL = httpserver.url_for("").rstrip("/")
    asked = serve_in_turn(httpserver, "/v1/messages", claude_message(facts_json(FACT)))
    told(alice)
    assert len(asked) == 1


def test_an_empty_ladder_asks_nobody(alice: Person, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "test"
    Workspace.objects.filter(pk=alice.workspace.pk).update(settings={"extractors": []})
    session = told(alice)
    assert "no model is configured" in session.reason


def test_a_ladder_is_its_workspaces_alone(alice: Person, mallory: Person, rungs: Any) -> None:
    [asked] = rungs([found()])
    assert "no model is configured" in told(mallory).reason
    assert asked == []


def test_a_ladder_that_cannot_be_read_is_told_and_loses_nothing(alice: Person) -> None:
    wrong = {"extractors": [{"provider": "oracle"}]}
    Workspace.objects.filter(pk=alice.workspace.pk).update(settings=wrong)
    session = told(alice)
    assert "extractors[0].provider" in session.error
    assert alice.live() == [TEXT]


def test_the_steps_of_patterns_are_told_over_http(alice: Person, mallory: Person) -> None:
    session = alice.tell("I prefer tea to coffee.", extract="patterns", user_id="ana")
    [step] = caller(alice).get(f"/sessions/{session.pk}").body["steps"]
    assert (step["rule"], step["outcome"]) == ("patterns", "1 facts")
    assert caller(mallory).get(f"/sessions/{session.pk}").status == 404


# ---- keys


def key_sent(server: HTTPServer) -> str:
    return server.log[-1][0].headers["Authorization"]


def test_the_servers_key_does_not_go_to_an_address_that_a_workspace_names(
    alice: Person, rungs: Any, httpserver: HTTPServer, settings: Any
) -> None:
    settings.OPENAI_API_KEY = "secret"
    rungs([found()])
    told(alice)
    assert "secret" not in key_sent(httpserver)


def test_a_named_key_goes_to_the_operators_address(
    alice: Person, rungs: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRACTOR_KEY_HOUSE", "house-key")
    monkeypatch.setenv("EXTRACTOR_URL_HOUSE", httpserver.url_for("/r0/v1"))
    rungs([found()], keyEnv="EXTRACTOR_KEY_HOUSE")
    told(alice)
    assert key_sent(httpserver) == "Bearer house-key"


@pytest.mark.parametrize(
    ("rung", "field"),
    [
        ({"provider": "oracle"}, "provider"),
        ({"provider": "openai", "timeout": "5"}, "timeout"),
        ({"provider": "openai", "timeout": 0}, "timeout"),
        ({"provider": "openai", "dailyCap": -1}, "dailyCap"),
        ({"provider": "openai", "dailyCap": 1.5}, "dailyCap"),
        ({"provider": "openai", "baseUrl": "file:///etc/passwd"}, "baseUrl"),
        ({"provider": "openai", "keyEnv": "SECRET_KEY"}, "keyEnv"),
        ({"provider": "openai", "baseUrl": "http://x", "keyEnv": "EXTRACTOR_KEY_A"}, "baseUrl"),
        ({"provider": "openai", "apiKey": "sk-1"}, "apiKey"),
    ],
)
def test_a_wrong_rung_is_named(rung: Json, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        models_from([rung])
    assert refusal.value.field == f"extractors[0].{field}"


def test_the_admin_refuses_a_wrong_ladder(workspace: Workspace, mallory: Person) -> None:
    address = reverse("admin:workspaces_workspace_change", args=[workspace.pk])
    form = {"name": "Orchard", "slug": "orchard"}
    form |= {f"memberships-{each}_FORMS": "0" for each in ("TOTAL", "INITIAL")}
    wrong = form | {"settings": json.dumps({"extractors": [{"provider": "oracle"}]})}
    right = form | {"settings": json.dumps({"extractors": [{"provider": "openai"}]})}
    owner = member(workspace)
    assert "extractors[0].provider" in owner.client.post(address, wrong).content.decode()
    assert owner.client.post(address, right).status_code == 302
    assert member(mallory.workspace).client.post(address, right).status_code == 404


# ---- long input


def request_of(*sizes: int) -> ExtractionRequest:
    messages = [PromptMessage(n, "user", f"{n}".ljust(size, ".")) for n, size in enumerate(sizes)]
    return ExtractionRequest(tuple(messages))


def indices(*sizes: int) -> list[list[int]]:
    return [[m.index for m in piece.messages] for piece in message_pieces.pieces(request_of(*sizes))]


def test_long_input_is_cut_between_messages_with_overlap() -> None:
    third = message_pieces.PIECE // 3
    assert indices(10, 10, 10) == [[0, 1, 2]]
    assert indices(third, third, 50, 50, third, third) == [[0, 1, 2, 3], [2, 3, 4, 5]]
    assert indices() == []


def test_a_message_longer_than_a_piece_is_cut_into_parts_that_overlap() -> None:
    text = "".join(f"Sentence number {n} is here.{' ' if n % 9 else chr(10)}" for n in range(4_000))
    [*parts] = [p.messages for p in message_pieces.pieces(ExtractionRequest((PromptMessage(7, "user", text),)))]
    assert len(parts) > 5
    for [part], [following] in pairwise(parts):
        assert (part.index, len(part.text) <= message_pieces.PIECE) == (7, True)
        assert text[part.start :].startswith(part.text)
        assert part.text.endswith("here.\n")
        assert following.text.startswith("Sentence")
        assert 0 < part.start + len(part.text) - following.start <= message_pieces.SHARED
    assert parts[-1][0].start + len(parts[-1][0].text) == len(text)


@pytest.mark.parametrize("text", ["x" * 5_000, "ü。" * 2_500, "\n" * 5_000, "a b" * 2_000])
def test_every_sign_of_a_text_without_sentences_stands_in_a_part(text: str) -> None:
    spans = list(message_pieces.spans(text, 1_000, 100))
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(0 < end - start <= 1_000 for start, end in spans)
    assert all(a < b <= c < d for (a, c), (b, d) in pairwise(spans))


def test_a_fact_of_two_overlapping_pieces_is_one(alice: Person, rungs: Any) -> None:
    quoted = FACT | {"quotes": [{"message": 1, "text": "I live in Lisbon"}]}
    [asked] = rungs([found(quoted), found(quoted)])
    filler = "Nothing here. " * (message_pieces.PIECE // 16)
    alice.say(filler, TEXT, filler, extract="llm", user_id="ana")
    assert len(asked) == 2
    assert Fact.objects.filter(statement=FACT["statement"]).count() == 1


LIVES = "As I said, I live in Lisbon."
LONG = " ".join(f"Nothing at all of line {n} is worth a word." for n in range(2_500))
NONE = chat_completion(facts_json())


def test_a_quote_of_a_cut_message_stands_where_its_part_has_it(alice: Person, rungs: Any) -> None:
    text = f"{LIVES} {LONG[:50_000]}. {LIVES} {LONG[50_000:]}"
    [asked] = rungs([NONE, NONE, found(), NONE])
    session = alice.say(text, extract="llm", user_id="ana")
    citation = Fact.objects.get().citations.get()
    assert (session.state, len(asked) > 5) == ("done", True)
    assert citation.start > 50_000
    assert text[citation.start : citation.end] == citation.quote == "I live in Lisbon"


def test_what_two_parts_have_in_common_makes_one_fact(alice: Person, rungs: Any) -> None:
    place = message_pieces.PART - 200
    text = f"{LONG[:place]}. {LIVES} {LONG[place:]}"
    other_words = FACT | {"statement": "Ana is at home in Lisbon"}
    [asked] = rungs([found(), found(other_words), NONE])
    alice.say(text, extract="llm", user_id="ana")
    assert [LIVES in body["messages"][1]["content"] for body in asked[:3]] == [True, True, False]
    assert Fact.objects.get().statement == FACT["statement"]


def test_more_pieces_than_one_exchange_may_cost_are_told(
    alice: Person, rungs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback_chain, "MOST_PIECES", 2)
    [asked] = rungs([found(), NONE])
    session = alice.say(f"{LIVES} {LONG}", extract="llm", user_id="ana")
    assert (len(asked), session.state) == (2, "done")
    assert "too long: the model read 2 of 7 pieces" in session.reason
    assert alice.live() == ["Ana lives in Lisbon"]


def test_what_no_time_is_left_for_is_told(alice: Person, rungs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count(step=20)
    clock = SimpleNamespace(monotonic=lambda: next(looks), perf_counter=time.perf_counter)
    monkeypatch.setattr(fallback_chain, "time", clock)
    [asked] = rungs([found(), NONE])
    session = alice.say(f"{LIVES} {LONG}", extract="llm", user_id="ana")
    assert (session.state, session.error, alice.live()) == ("done", "", ["Ana lives in Lisbon"])
    assert f"the model read {len(asked)} of 7 pieces" in session.reason


# ---- which messages a model reads


PREFERS = "I prefer tea to coffee."


def set_llm(person: Person, llm: object) -> None:
    row = Workspace.objects.get(pk=person.workspace.pk)
    row.settings["llm"] = llm
    row.save()


def test_a_model_reads_what_no_pattern_covered(alice: Person, rungs: Any) -> None:
    [asked] = rungs([found()])
    alice.say(PREFERS, TEXT, user_id="ana")
    alice.say(PREFERS, user_id="ana")
    assert len(asked) == 0 or all(PREFERS not in str(body["messages"]) for body in asked)


def test_a_workspace_can_have_a_model_read_everything(alice: Person, rungs: Any) -> None:
    [asked] = rungs([found(FACT | {"quotes": [{"message": 0, "text": "tea to coffee"}]})])
    set_llm(alice, "always")
    alice.say(PREFERS, user_id="ana")
    assert len(asked) == 1
    methods = Fact.objects.values_list("method", flat=True)
    assert sorted(methods) == ["llm", "pattern"]


def test_what_a_pattern_and_the_model_find_alike_is_one_fact(alice: Person, rungs: Any) -> None:
    same = {"statement": "User prefers tea to coffee.", "entities": []}
    rungs([found(FACT | same | {"quotes": [{"message": 0, "text": "I prefer tea to coffee"}]})])
    set_llm(alice, "always")
    alice.say(PREFERS)
    assert Fact.objects.get().method == "pattern"


@pytest.mark.parametrize("llm", ["unmatched", "always"])
def test_an_exchange_costs_at_most_one_call(alice: Person, rungs: Any, llm: str) -> None:
    [asked] = rungs([found()])
    set_llm(alice, llm)
    for number in range(3):
        alice.say(f"Zorble {number} grelled the frumption in Lisbon.", thread_id="t")
        alice.say(NewMessage("The grelling is over by now, in Lisbon.", "assistant"), thread_id="t")
        alice.say(
            f"Zorble {number} frumped the grelling in Lisbon.",
            NewMessage("That may be so in Lisbon, by the river.", "assistant"),
            thread_id="t",
        )
    assert len(asked) <= 6


def test_a_model_is_told_what_was_said_before(alice: Person, rungs: Any) -> None:
    [asked] = rungs([found()])
    set_llm(alice, "always")
    alice.say(NewMessage("Where in Portugal is the boat?", "assistant"), thread_id="t")
    alice.say("Zorble grelled in Lisbon.", thread_id="t")
    told = asked[0]["messages"][1]["content"]
    assert "Where in Portugal" in told[: told.index("<messages>")]


@pytest.mark.parametrize("llm", ["sometimes", "", None, 1, ["always"]])
def test_another_word_for_when_a_model_reads_is_refused(llm: object) -> None:
    [fault] = workspace_settings.faults_of({"llm": llm})
    assert (fault.field, fault.message) in (
        ("llm", "One of unmatched, always."),
        ("llm", "A text."),
    )


# ---- answers that break off


def test_whole_facts_of_an_answer_that_was_cut_off_are_kept(alice: Person, rungs: Any) -> None:
    cut = facts_json(FACT, FACT | {"statement": "Ana lives by the river"})[:-70]
    _, second = rungs([chat_completion(cut, "length")], [found()])
    session = told(alice)
    assert outcomes(session) == [("llm:1", "1 facts, cut off")]
    assert (alice.live(), second) == (["Ana lives in Lisbon"], [])


# ---- the workspace's own instructions


def test_instructions_of_the_workspace_stand_behind_the_rules_that_all_share(
    alice: Person, mallory: Person, rungs: Any
) -> None:
    [asked] = rungs([found()])
    told(alice)
    alice.workspace.settings |= {"instructions": {"extract": "allergies\nand diets", "ignore": "the weather"}}
    alice.workspace.save()
    mallory.workspace.settings = {"extractors": alice.workspace.settings["extractors"]}
    mallory.workspace.save()
    told(alice)
    told(mallory)
    rules, own, others = (body["messages"][0]["content"] for body in asked)
    assert own.startswith(rules)
    assert own[len(rules) :].splitlines()[-2:] == [
        "- Write down above all: allergies and diets",
        "- Leave out in any case: the weather",
    ]
    assert others == rules


@pytest.mark.parametrize("own", [{"extract": 1}, {"extract": "x" * 1_001}, {"wanted": "tea"}, "tea"])
def test_wrong_instructions_are_refused(own: object) -> None:
    [fault] = workspace_settings.faults_of({"instructions": own})
    assert fault.field.startswith("instructions")
