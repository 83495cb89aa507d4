"""Bodies as OpenAI's and Anthropic's servers write them, for a local server that real SDKs ask."""

import base64
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

Json = dict[str, Any]
FACT: Json = {
    "statement": "Ana lives in Lisbon",
    "category": "identity",
    "confidence": 0.95,
    "event_date": None,
    "entities": ["Ana", "Lisbon"],
    "quotes": [{"message": 0, "text": "I live in Lisbon"}],
}


def chat_completion(content: str | None, finish: str = "stop", refusal: str | None = None) -> Json:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-test-2026",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160},
    }


def claude_message(text: str, stop_reason: str = "end_turn") -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 120, "output_tokens": 40},
    }


def openai_error(message: str, code: str = "some_code") -> Json:
    return {"error": {"message": message, "type": "some_error", "code": code, "param": None}}


def claude_error(message: str, kind: str = "overloaded_error") -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def facts_json(*facts: Json) -> str:
    return json.dumps({"facts": list(facts)})


def embeddings(vectors: Sequence[Sequence[float]], as_text: bool) -> Json:
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector, as_text)}
        for index, vector in enumerate(vectors)
    ]
    # Backwards: clients must go by the index.
    return {"object": "list", "data": data[::-1], "model": "m", "usage": {"prompt_tokens": 1}}


def _encoded(vector: Sequence[float], as_text: bool) -> str | list[float]:
    if as_text:
        return base64.b64encode(np.asarray(vector, np.float32).tobytes()).decode()
    return list(vector)


def serve_embeddings(server: HTTPServer, dimensions: int, as_text: bool = True) -> list[Json]:
    """Answer /v1/embeddings: the vector of a text has its length in the first place and a 1 in
    the second. Returns the list in which the bodies of the requests will be."""
    bodies: list[Json] = []

    def answer(request: Request) -> Response:
        body = json.loads(request.data)
        bodies.append(body)
        vectors = [[len(text), 1.0, *[0.0] * (dimensions - 2)] for text in body["input"]]
        return Response(json.dumps(embeddings(vectors, as_text)), content_type="application/json")

    server.expect_request("/v1/embeddings", method="POST").respond_with_handler(answer)
    return bodies


def serve_in_turn(server: HTTPServer, path: str, *answers: Response | Json) -> list[Json]:
    """Answer POST `path` with one after the other, the last one for ever. Returns as above."""
    bodies: list[Json] = []

    def answer(request: Request) -> Response:
        bodies.append(json.loads(request.data))
        chosen = answers[min(len(bodies), len(answers)) - 1]
        if isinstance(chosen, dict):
            return Response(json.dumps(chosen), content_type="application/json")
        return Response(chosen.get_data(), chosen.status_code, chosen.headers)

    server.expect_request(path, method="POST").respond_with_handler(answer)
    return bodies


@contextmanager
def silent_server() -> Iterator[HTTPServer]:
    """One of its own that takes each request, and answers none before the end."""
    end = threading.Event()
    with HTTPServer(threaded=True) as server:
        found = server.expect_request(re.compile("/.*"))
        found.respond_with_handler(lambda _: end.wait() and Response("{}"))
        try:
            yield server
        finally:
            end.set()


def failing(status: int, body: Json, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(json.dumps(body), status, named, content_type="application/json")
