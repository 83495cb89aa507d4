"""The chat: quotes without a model; with one, answers whose every mark is a source it was given,
over both wires, bounded in turns, tokens and money."""

import asyncio
import json
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connections
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.api import chat_routes
from memories.api.chat_routes import LiveChat, ticket_of
from memories.chat import replies
from memories.chat.replies import AskedChat, ChatRequest
from memories.chat.sources import ChatSource, CitationMarks, nearest
from memories.models import Conversation, Episode, ModelUse, Revision
from memories.providers.chat_model import ChatMessage
from memoryproject.server.stream_process import Threads
from tests.api_fixtures import Answer, caller, member
from tests.handed_in import hand_in
from tests.live_server import wait_for
from tests.people import Person
from workspaces.keys import revoke_key
from workspaces.models import ApiKey

QUESTION = "How often does the copper pump need oil?"
Json = dict[str, Any]


def asked(question: str = QUESTION, **more: Any) -> Json:
    return {"messages": [{"role": "user", "content": question}], **more}


def events(answer: Answer) -> list[tuple[str, Json]]:
    assert answer.headers["Content-Type"] == "text/event-stream"
    told = []
    for block in answer.body.decode().strip().split("\n\n"):
        name, data = block.split("\n")
        told.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return told


def is_quoted(citation: Json) -> bool:
    """As a reader checks it: by the offsets, in what is stored."""
    start, end = citation["start"], citation["end"]
    if citation["documentId"]:
        text = Revision.objects.get(document=citation["documentId"], superseded_at=None).text
    else:
        text = Episode.objects.get(pk=citation["episodeId"]).content
    return text[start:end] == citation["quote"] != ""


# ---- without a model ------------------------------------------------------------------------


def test_without_a_model_simple_answers_in_quotes(alice: Person):
    document = hand_in(alice)
    alice.say("I bought the copper pump in Oslo.", user_id="u")
    answer = caller(alice).post("/chat", asked())
    assert answer.status == 200, answer.body
    assert answer.body["model"] is None
    first = next(each for each in answer.body["citations"] if each["documentId"])
    assert first["documentId"] == str(document.pk)
    assert "oil every ninth day" in first["quote"]
    assert all(is_quoted(each) for each in answer.body["citations"])
    assert f"“{first['quote']}” [{first['n']}]" in answer.body["message"]


def test_a_memory_is_quoted_by_the_words_it_stands_on(alice: Person):
    alice.say("I live in Lisbon.", user_id="u")
    manual = alice.note("The gate is green.")
    (cited,) = caller(alice).post("/chat", asked("Where do I live?", userId="u")).body["citations"][:1]
    assert (cited["documentId"], is_quoted(cited)) == (None, True)
    told = caller(alice).post("/chat", asked("What colour is the gate?")).body["citations"]
    assert [c["quote"] for c in told if c["memoryId"] == str(manual.pk)] == ["The gate is green."]


def test_what_nothing_answers_is_said(alice: Person):
    answer = caller(alice).post("/chat", asked("zzz"))
    assert (answer.body["citations"], answer.body["message"]) == ([], replies.NOTHING)


@pytest.mark.parametrize("mode", ["agentic", "deep"])
@pytest.mark.parametrize("stream", [False, True])
def test_without_a_model_the_other_modes_are_a_conflict(alice: Person, mode: str, stream: bool):
    answer = caller(alice).post("/chat", asked(mode=mode, stream=stream))
    assert (answer.status, answer.body["code"]) == (409, "no_model")
    assert not Conversation.objects.exists()


def test_a_stream_tells_the_same_in_parts(alice: Person):
    hand_in(alice)
    told = events(caller(alice).post("/chat", asked(stream=True)))
    names = [name for name, _ in told]
    assert names[:3] == ["conversation", "search", "text"]
    assert names[-2:] == ["usage", "done"]
    done = told[-1][1]
    assert "".join(v["delta"] for n, v in told if n == "text") == done["message"]
    assert [v for n, v in told if n == "citation"] == done["citations"] != []
    again = caller(alice).post("/chat", asked(stream=True), Idempotency_Key="k")
    assert (again.status, again.fields) == (400, ["Idempotency-Key"])


def test_who_may_not_see_it_hears_nothing_of_it(alice: Person, bob: Person, carol: Person, mallory: Person):
    document = hand_in(bob, visibility="private")
    scoped = asked(scopedDocumentIds=[str(document.pk)])
    seen = {
        person: len(caller(person).post("/chat", scoped).body["citations"]) for person in (alice, bob, carol, mallory)
    }
    assert (seen[carol], seen[mallory]) == (0, 0)
    assert seen[alice] == seen[bob] > 0
    assert caller(mallory, alice.workspace).post("/chat", asked()).status == 404
    assert member(alice.workspace, "viewer").post("/chat", asked()).status == 403


def test_documents_that_are_named_are_all_that_is_looked_through(alice: Person):
    one = hand_in(alice, custom_id="pumps", container_tags=["north"])
    hand_in(alice, "The copper pump of the south needs no oil.", container_tags=["south"])
    for only in ({"scopedDocumentIds": ["pumps"]}, {"containerTags": ["north"]}):
        told = caller(alice).post("/chat", asked(**only)).body["citations"]
        assert {each["documentId"] for each in told} == {str(one.pk)}


def test_question_and_answer_are_kept_and_not_learned(alice: Person, mallory: Person):
    http = caller(alice)
    first = http.post("/chat", asked("I live in Oslo. Where?", metadata={"projectId": "p"})).body
    conversation = first["conversationId"]
    second = http.post("/chat", asked(conversationId=conversation)).body
    assert second["conversationId"] == conversation
    said = http.get(f"/conversations/{conversation}/episodes").body["results"]
    assert [each["role"] for each in said] == ["assistant", "user"] * 2
    assert said[-1]["metadata"] == {"projectId": "p"}
    assert http.get("/memories").body["results"] == []
    other = caller(mallory).post("/chat", asked(conversationId=conversation))
    assert other.status == 404
    wrong = {"messages": [{"role": "assistant", "content": "No."}]}
    assert http.post("/chat", wrong).fields == ["messages"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_that_goes_on_is_answered_from_the_words_of_its_own_user(alice: Person, stream: bool) -> None:
    alice.say("I live in Hull with my lover Roderich.", user_id="cara")
    alice.say("I live in York.", user_id="dora")
    http = caller(alice)
    begun = http.post("/chat", asked("Where do I live?", userId="dora")).body["conversationId"]
    question = asked("And who is my lover?", conversationId=begun, stream=stream)
    assert http.post("/chat", question).status == 200
    said = http.get(f"/conversations/{begun}/episodes").body["results"]
    assert [each["role"] for each in said] == ["assistant", "user"] * 2
    assert not any("Roderich" in each["content"] for each in said)
    told = http.post("/memories/context", {"query": "Who is the lover?", "userId": "dora"}).body
    assert "Roderich" not in told["text"]


def test_a_conversation_of_one_user_answers_nothing_about_another(alice: Person) -> None:
    alice.say("I live in Hull with my lover Roderich.", user_id="cara")
    http = caller(alice)
    begun = http.post("/chat", asked("Where do I live?", userId="dora")).body["conversationId"]
    refused = http.post("/chat", asked("Where?", userId="cara", conversationId=begun))
    assert (refused.status, refused.fields) == (400, ["userId"])
    said = http.get(f"/conversations/{begun}/episodes").body["results"]
    assert len(said) == 2


# ---- words ----------------------------------------------------------------------------------


def test_marks_that_name_no_source_are_struck_also_where_they_come_in_pieces():
    known = {n: ChatSource(n, uuid.uuid4(), "", "", 0.0) for n in (1, 2)}
    marks = CitationMarks(known)
    shown = "".join(marks.feed(each) for each in ("Oil [", "1], [7", "] and [2", ", 9] a[0", "] [x"))
    assert shown + marks.end() == "Oil [1],  and [2] a [x"
    assert (marks.used, marks.struck) == ([1, 2], 3)
    assert CitationMarks(known).feed("[" + "1" * 5000) == "[" + "1" * 5000


def test_the_sentences_that_are_nearest_are_quoted():
    text = "Pumps are old. The copper pump needs oil every ninth day. It is red." + " More." * 90
    start, end = nearest(text, QUESTION)
    assert text[start:end].startswith("The copper pump needs oil every ninth day. It is red.")
    assert end - start <= 300
    assert nearest("\n\n", "x") == (0, 2)


# ---- with a model, over the wires -----------------------------------------------------------


class Wire:
    """A local server that speaks OpenAI's or Anthropic's wire, as events; each turn is words, and
    what the model wants looked up."""

    def __init__(self, server: HTTPServer, settings: Any, kind: str) -> None:
        self.kind, self.bodies = kind, []  # type: str, list[Json]
        settings.CHAT_PROVIDER = kind
        url = server.url_for("")
        if kind == "openai":
            settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "k", f"{url}/v1"
        else:
            settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "k", url
        self.path = "/v1/chat/completions" if kind == "openai" else "/v1/messages"
        self.server = server

    def says(self, *turns: tuple[str, Sequence[tuple[str, Json]]]) -> None:
        """The last turn for ever."""

        def handler(request: Request) -> Response:
            self.bodies.append(json.loads(request.get_data()))
            words, calls = turns[min(len(self.bodies), len(turns)) - 1]
            make = openai_events if self.kind == "openai" else claude_events
            return Response(make(words, calls), content_type="text/event-stream")

        self.server.expect_request(self.path, method="POST").respond_with_handler(handler)


def pieces(words: str) -> list[str]:
    return [words[at : at + 5] for at in range(0, len(words), 5)]


def openai_events(words: str, calls: Sequence[tuple[str, Json]]) -> str:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
        return {**base, "choices": [choice]}

    told = [chunk({"role": "assistant", "content": piece}) for piece in pieces(words)]
    for at, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        told.append(chunk({"tool_calls": [{"index": at, "id": f"t{at}", "function": function}]}))
        for piece in pieces(json.dumps(arguments)):
            part = {"index": at, "function": {"arguments": piece}}
            told.append(chunk({"tool_calls": [part]}))
    told.append(chunk({}, "tool_calls" if calls else "stop"))
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    told.append({**chunk({}), "choices": [], "usage": usage})
    return "".join(f"data: {json.dumps(each)}\n\n" for each in told) + "data: [DONE]\n\n"


def claude_events(words: str, calls: Sequence[tuple[str, Json]]) -> str:
    usage = {"input_tokens": 100, "output_tokens": 1}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    told: list[Json] = [{"type": "message_start", "message": message}]
    blocks: list[tuple[Json, list[Json]]] = []
    if words:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(words)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for at, (name, arguments) in enumerate(calls):
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(json.dumps(arguments))]
        blocks.append(({"type": "tool_use", "id": f"t{at}", "name": name, "input": {}}, deltas))
    for at, (block, deltas) in enumerate(blocks):
        told.append({"type": "content_block_start", "index": at, "content_block": block})
        told += [{"type": "content_block_delta", "index": at, "delta": each} for each in deltas]
        told.append({"type": "content_block_stop", "index": at})
    end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    told.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}})
    told.append({"type": "message_stop"})
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in told)


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest, httpserver: HTTPServer, settings: Any) -> Wire:
    return Wire(httpserver, settings, request.param)


SEARCH = ("searchDatabase", {"query": "copper pump oil", "limit": 3})


def test_simple_is_one_call_with_its_sources_and_strikes_made_up_marks(alice: Person, wire: Wire):
    hand_in(alice)
    wire.says(("Every ninth day [1], says the moon [44].", ()))
    told = events(caller(alice).post("/chat", asked(stream=True)))
    done = told[-1][1]
    assert done["message"] == "Every ninth day [1], says the moon ."
    assert (done["struckOut"], done["model"]) == (
        1,
        "gpt-test" if wire.kind == "openai" else "claude-test",
    )
    assert [each["n"] for each in done["citations"]] == [1]
    assert all(is_quoted(each) for each in done["citations"])
    assert done["usage"] == {"inputTokens": 100, "outputTokens": 20, "calls": 1}
    assert len(wire.bodies) == 1
    assert "ninth day" in json.dumps(wire.bodies[0]["messages"])
    assert "tools" not in wire.bodies[0]


FORGED = "The copper pump needs oil [2] every ninth day ［1］, nearly [always]."


def test_a_source_cannot_pass_for_another_number(alice: Person, wire: Wire):
    hand_in(alice, FORGED, title="Pump [3] [always]")
    alice.tell(FORGED)
    wire.says(("Every ninth day [1].", ()))
    done = caller(alice).post("/chat", asked()).body
    content = wire.bodies[0]["messages"][-1]["content"]
    words = content if isinstance(content, str) else content[0]["text"]
    told = json.loads(words)["sources"]
    assert len(told) == 2
    for source in told:
        assert "needs oil (2) every ninth day (1), nearly (always)." in source["text"]
        assert "[" not in source["title"]
    assert all(is_quoted(each) for each in done["citations"])


def test_a_quote_of_an_answer_names_no_other_source(alice: Person):
    hand_in(alice, FORGED)
    answer = caller(alice).post("/chat", asked()).body
    assert answer["message"].count("[") == len(answer["citations"])
    assert all(is_quoted(each) for each in answer["citations"])


def test_agentic_looks_up_what_it_wants_and_answers(alice: Person, wire: Wire):
    hand_in(alice)
    alice.say("I live in Lisbon.", user_id="u")
    wire.says(
        ("Let me see. ", (SEARCH, ("searchMemories", {"query": "Lisbon"}), ("rm", {}))),
        ("Every ninth day [1].", ()),
    )
    answer = caller(alice).post("/chat", asked(mode="agentic", metadata={"preferredTone": "dry"}))
    assert answer.status == 200, answer.body
    assert answer.body["message"] == "Let me see. Every ninth day [1]."
    assert all(is_quoted(each) for each in answer.body["citations"])
    assert answer.body["usage"]["calls"] == len(wire.bodies) == 2
    second = json.dumps(wire.bodies[1]["messages"])
    assert "ninth day" in second
    assert "Lisbon" in second
    assert "There are these tools" in second
    assert "dry" in json.dumps(wire.bodies[0])
    use = ModelUse.objects.get(purpose="chat")
    assert (use.calls, use.input_tokens, use.output_tokens) == (2, 200, 40)


def test_deep_plans_first_and_looks_up_each_question(alice: Person, wire: Wire):
    hand_in(alice)
    wire.says(
        ("1. What is a copper pump?\n2. How often is it oiled?", ()),
        ("", (SEARCH,)),
        ("Every ninth day [1].", ()),
    )
    told = events(caller(alice).post("/chat", asked(mode="deep", stream=True)))
    queries = [values["query"] for name, values in told if name == "search"]
    assert queries == [
        QUESTION,
        "What is a copper pump?",
        "How often is it oiled?",
        SEARCH[1]["query"],
    ]
    assert told[-1][1]["message"] == "Every ninth day [1]."


def test_turns_and_tokens_come_to_an_end(alice: Person, wire: Wire, monkeypatch: pytest.MonkeyPatch):
    hand_in(alice)
    wire.says(("Once more. ", (SEARCH,)))
    answer = caller(alice).post("/chat", asked(mode="agentic"))
    assert answer.body["usage"]["calls"] == replies.TURNS["agentic"]
    assert "tools" not in wire.bodies[-1]
    monkeypatch.setitem(replies.TOKENS, "agentic", 100)
    assert caller(alice).post("/chat", asked(mode="agentic")).body["usage"]["calls"] == 2


def test_a_budget_that_is_spent_ends_it(alice: Person, wire: Wire):
    hand_in(alice)
    wire.says(("Every ninth day [1].", ()))
    alice.workspace.settings = {"budget": {"tokensPerDay": 100}}
    alice.workspace.save()
    assert caller(alice).post("/chat", asked()).status == 200
    spent = caller(alice).post("/chat", asked())
    assert (spent.status, spent.body["code"]) == (429, "budget")
    told = events(caller(alice).post("/chat", asked(stream=True)))
    assert (told[-1][0], told[-1][1]["code"]) == ("error", "budget")
    assert len(wire.bodies) == 1


def test_a_model_that_fails_is_told_as_such_and_nothing_is_kept(alice: Person, wire: Wire, httpserver: HTTPServer):
    httpserver.expect_request(wire.path, method="POST").respond_with_json({}, status=400)
    assert caller(alice).post("/chat", asked()).status == 503
    told = events(caller(alice).post("/chat", asked(stream=True)))
    assert [name for name, _ in told] == ["conversation", "search", "error"]
    assert not Conversation.objects.exists()


def test_the_chat_has_a_model_of_its_own_or_none(alice: Person, wire: Wire, settings: Any):
    settings.CHAT_MODEL = "chat-own"
    wire.says(("So.", ()))
    caller(alice).post("/chat", asked())
    assert wire.bodies[0]["model"] == "chat-own"
    settings.CHAT_PROVIDER = "none"
    assert caller(alice).post("/chat", asked(mode="deep")).status == 409
    settings.CHAT_PROVIDER, settings.EXTRACTION_PROVIDER = "auto", wire.kind
    assert caller(alice).post("/chat", asked()).body["model"] is not None


# ---- beside the web processes ----------------------------------------------------------------


def serve(ticket: Json, until: Callable[[bytes], bool], then: Callable[[], object] = bool) -> tuple[bytes, bool]:
    """What a reader hears who goes when `until` says so, and whether it was all; `then` is done
    when the stream has ended."""

    async def run() -> tuple[bytes, bool]:
        heard, gone = [], asyncio.Event()

        def send(numbers: Any, part: bytes) -> None:
            heard.append(part)
            if until(b"".join(heard)):
                gone.set()

        threads, looking = Threads(1, "test"), Threads(1, "test")
        task = asyncio.ensure_future(LiveChat(send, threads.run, looking.run).serve(1, ticket))
        leaving = asyncio.ensure_future(gone.wait())
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        is_all = task.done()
        then()
        task.cancel()
        leaving.cancel()
        for each in (threads, looking):
            await each.run(connections.close_all)  # the one thread is free again
        return b"".join(heard), is_all

    return asyncio.run(run())


@pytest.mark.django_db(transaction=True)
def test_a_reader_that_goes_ends_the_call(alice: Person, httpserver: HTTPServer, settings: Any):
    wire = Wire(httpserver, settings, "openai")
    hand_in(alice)
    wire.says(("Every ninth day [1].", ()))
    request = ChatRequest((ChatMessage("user", QUESTION),))
    ticket = json.loads(json.dumps(ticket_of(alice.scope, AskedChat(request))))
    heard, is_all = serve(ticket, lambda _: False)
    assert is_all
    assert b"event: done" in heard
    heard, is_all = serve(ticket, lambda told: b"event: search" in told)
    assert (is_all, b"event: done" in heard) == (False, False)
    assert Conversation.objects.count() == 1
    assert wait_for(lambda: not [one for one in threading.enumerate() if one.name == "provider"])


@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_revoked_hears_no_more_of_an_answer(
    alice: Person, httpserver: HTTPServer, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(chat_routes, "CHECKED_EVERY", 0.0)
    wire, is_over = Wire(httpserver, settings, "openai"), threading.Event()
    hand_in(alice)

    def handler(request: Request) -> Response:
        """The model begins to write once its reader was sent away."""
        revoke_key(ApiKey.objects.get(pk=alice.scope.key_id), actor="test")
        connections.close_all()
        is_over.wait(60)
        return Response(openai_events("Every ninth day [1].", ()), content_type="text/event-stream")

    httpserver.expect_request(wire.path, method="POST").respond_with_handler(handler)
    request = ChatRequest((ChatMessage("user", QUESTION),))
    ticket = json.loads(json.dumps(ticket_of(alice.scope, AskedChat(request))))
    heard, is_all = serve(ticket, lambda _: False, then=is_over.set)
    assert is_all
    assert b"event: text" not in heard
    assert b"event: done" not in heard
    assert Conversation.objects.count() == 0


def test_behind_the_front_another_process_answers(alice: Person):
    http = caller(alice)
    response = http.client.post(
        f"/api/v1/workspaces/{http.slug}/chat",
        json.dumps(asked(stream=True)),
        content_type="application/json",
        headers=http.headers,
        **{"memoryproject.server.front": True},
    )
    assert (response.status_code, response.content) == (200, b"")
    assert response.wsgi_request.META["memoryproject.stream"]["kind"] == "chat"
