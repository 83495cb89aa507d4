"""A reranker has the last word in a search, and only that: asked over a real socket."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories import metrics
from memories.errors import ProviderError
from memories.providers.http_reranker import LONGEST, HttpReranker, RerankerConfig
from memories.providers.network import offline
from tests.api_fixtures import caller
from tests.people import Person
from tests.wire_servers import Json, failing, silent_server

PATH = "/v2/rerank"
GATE, DUCKS = "The orchard gate is painted green", "Ducks sleep behind the orchard press"


def reranker(server: HTTPServer, timeout: float = 60.0) -> HttpReranker:
    url = server.url_for("/").rstrip("/")
    return HttpReranker(RerankerConfig(url, "rank-1", "secret", timeout))


def serve(server: HTTPServer, score: Callable[[str], float]) -> list[Json]:
    """Answer best first, as rerankers do. Returns the list in which the bodies will be."""
    bodies: list[Json] = []

    def answer(request: Request) -> Response:
        body = json.loads(request.data)
        bodies.append(body | {"key": request.headers.get("Authorization")})
        scored = [(score(text), index) for index, text in enumerate(body["documents"])]
        best = sorted(scored, reverse=True)[: body["top_n"]]
        results = [{"index": index, "relevance_score": value} for value, index in best]
        return Response(json.dumps({"results": results}), content_type="application/json")

    server.expect_request(PATH, method="POST").respond_with_handler(answer)
    return bodies


def failure(found: HttpReranker) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        found.scores("gate", ["a", "b"])
    return caught.value


# ---- the wire -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "path", "documents", "number"),
    [
        ("jina", "/v1/rerank", "documents", "top_n"),
        ("voyage", "/v1/rerank", "documents", "top_k"),
        ("tei", "/rerank", "texts", ""),
    ],
)
def test_other_wires_are_spoken(httpserver: HTTPServer, wire: str, path: str, documents: str, number: str) -> None:
    bodies: list[Json] = []

    def answer(request: Request) -> Response:
        bodies.append(json.loads(request.data))
        name = "score" if wire == "tei" else "relevance_score"
        rows = [{"index": n, name: value} for n, value in ((1, 0.9), (0, 0.2))]
        results = {"jina": {"results": rows}, "voyage": {"data": rows}, "tei": rows}[wire]
        return Response(json.dumps(results), content_type="application/json")

    httpserver.expect_request(path, method="POST").respond_with_handler(answer)
    url = httpserver.url_for("/").rstrip("/")
    config = RerankerConfig(url, "rank-1", "secret", 60.0, wire)
    assert HttpReranker(config).scores("gate", ["a", "b"]) == [0.2, 0.9]
    [body] = bodies
    assert body[documents] == ["a", "b"]
    assert body.get(number, 2) == 2


def test_scores_come_in_the_order_of_the_documents(httpserver: HTTPServer) -> None:
    bodies = serve(httpserver, lambda text: len(text) / 10)
    assert reranker(httpserver).scores("gate", ["abc", "a", "abcde"]) == [0.3, 0.1, 0.5]
    assert bodies == [
        {"model": "rank-1", "query": "gate", "documents": ["abc", "a", "abcde"], "top_n": 3, "key": "Bearer secret"}
    ]


def test_what_the_server_leaves_out_has_no_score(httpserver: HTTPServer) -> None:
    answer = {"results": [{"index": 1, "relevance_score": 0.9}]}
    httpserver.expect_request(PATH).respond_with_json(answer)
    assert reranker(httpserver).scores("gate", ["a", "b"]) == [None, 0.9]


def test_a_very_long_document_is_sent_in_part(httpserver: HTTPServer) -> None:
    bodies = serve(httpserver, lambda text: 0.5)
    reranker(httpserver).scores("gate", ["a" * LONGEST * 2])
    assert len(bodies[0]["documents"][0]) == LONGEST


def test_nothing_to_order_asks_nobody(httpserver: HTTPServer) -> None:
    assert reranker(httpserver).scores("gate", []) == []
    assert httpserver.log == []


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"results": []},
        {"results": [{"index": 5, "relevance_score": 0.1}]},
        {"results": [{"index": 0, "relevance_score": None}]},
        {"results": [{"index": -1, "relevance_score": 0.2}]},
    ],
)
def test_an_answer_of_another_shape_is_a_provider_error(httpserver: HTTPServer, answer: object) -> None:
    httpserver.expect_request(PATH).respond_with_json(answer)
    assert "shape" in failure(reranker(httpserver)).message


@pytest.mark.parametrize(("status", "permanent"), [(401, True), (429, False), (503, False)])
def test_a_refusal_says_what_the_server_said(httpserver: HTTPServer, status: int, permanent: bool) -> None:
    httpserver.expect_request(PATH).respond_with_response(failing(status, {"message": "go away"}))
    error = failure(reranker(httpserver))
    assert (error.permanent, "go away" in error.message) == (permanent, True)
    assert "secret" not in error.message


def test_a_slow_server_is_not_waited_for() -> None:
    with silent_server() as server:
        assert "in time" in failure(reranker(server, timeout=0.2)).message


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://x", "nonsense"])
def test_a_server_that_is_not_there_is_told(url: str) -> None:
    failure(HttpReranker(RerankerConfig(url)))


def test_the_network_can_be_switched_off(httpserver: HTTPServer) -> None:
    with offline():
        assert "switched off" in failure(reranker(httpserver)).message
    assert httpserver.log == []


# ---- in a search ----------------------------------------------------------------------------


@pytest.fixture
def asked(settings: Settings, httpserver: HTTPServer, alice: Person) -> Iterator[Person]:
    """Alice, who told two things, and a reranker in the settings that answers nothing yet."""
    settings.RERANK_BASE_URL = httpserver.url_for("/").rstrip("/")
    alice.tell(GATE)
    alice.tell(DUCKS)
    metrics.clear()
    yield alice
    metrics.clear()


def outcomes() -> list[str]:
    return [dict(found.labels)["outcome"] for found in metrics.snapshot() if found.name == "reranks"]


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector", "keyword"])
def test_the_reranker_decides_the_order(asked: Person, httpserver: HTTPServer, ranking: str) -> None:
    serve(httpserver, lambda text: 0.9 if "Ducks" in text else 0.2)
    hits = asked.ask("orchard gate", rerank=True, ranking=ranking, include=frozenset({"scores"}))
    assert hits[0].memory.content == DUCKS
    assert (hits[0].score, hits[0].scores["rerank"]) == (0.9, 0.9)
    assert outcomes() == ["ok"]


def test_a_search_that_does_not_ask_for_it_asks_nobody(asked: Person, httpserver: HTTPServer) -> None:
    assert asked.finds("orchard gate")[0] == GATE
    assert httpserver.log == []


def test_no_more_than_fifty_are_sent(asked: Person, httpserver: HTTPServer) -> None:
    bodies = serve(httpserver, lambda text: 0.5)
    asked.say(*[f"The orchard counts {n} {n * 7919} trees" for n in range(70)], extract="none")
    hits = asked.ask("orchard", rerank=True, limit=10, layers=("episodes",))
    assert (len(bodies[0]["documents"]), len(hits)) == (50, 10)


def test_scores_out_of_bounds_are_cut(asked: Person, httpserver: HTTPServer) -> None:
    serve(httpserver, lambda text: 7.5 if "Ducks" in text else -3.0)
    assert [hit.score for hit in asked.ask("orchard", rerank=True)] == [1.0, 0.0]


def test_the_threshold_is_of_the_final_score(asked: Person, httpserver: HTTPServer) -> None:
    serve(httpserver, lambda text: 0.9 if "Ducks" in text else 0.2)
    assert asked.finds("orchard gate", rerank=True, threshold=0.5) == [DUCKS]


def test_a_search_goes_on_without_a_reranker_that_fails(asked: Person, httpserver: HTTPServer) -> None:
    httpserver.expect_request(PATH).respond_with_response(failing(500, {"message": "broken"}))
    hits = asked.ask("orchard gate", rerank=True)
    assert [hit.memory.content for hit in hits] == asked.finds("orchard gate")
    assert not any("rerank" in hit.scores for hit in hits)
    assert outcomes() == ["failed"]


def test_asking_for_a_reranker_that_nobody_configured_is_refused(alice: Person) -> None:
    answer = caller(alice).post("/memories/search", {"query": "gate", "rerank": True})
    assert (answer.status, answer.fields) == (400, ["rerank"])


def test_the_route_takes_the_wish(asked: Person, httpserver: HTTPServer) -> None:
    serve(httpserver, lambda text: 0.9 if "Ducks" in text else 0.2)
    body = {"query": "orchard gate", "rerank": True, "include": ["scores"]}
    hit = caller(asked).post("/memories/search", body).body["results"][0]
    assert (hit["memory"]["content"], hit["scores"]["rerank"]) == (DUCKS, 0.9)


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector", "keyword"])
def test_what_was_left_unscored_keeps_its_order_behind_the_others(
    asked: Person, httpserver: HTTPServer, ranking: str
) -> None:
    asked.tell("The orchard lies on a hill")
    asked.tell("An orchard gate creaks at night")
    wish: dict[str, Any] = {"ranking": ranking, "include": frozenset({"scores"})}
    before = asked.finds("orchard gate", **wish)
    answer = {"results": [{"index": 2, "relevance_score": 0.4}]}
    httpserver.expect_request(PATH).respond_with_json(answer)
    hits = asked.ask("orchard gate", rerank=True, **wish)
    left = [text for place, text in enumerate(before) if place != 2]
    assert [hit.memory.content for hit in hits] == [before[2], *left]
    assert [hit.scores.get("rerank") for hit in hits] == [0.4, *[None] * len(left)]


@pytest.mark.parametrize("route", ["search", "context"])
@pytest.mark.parametrize("works", [True, False])
def test_an_answer_says_whether_it_was_reranked(asked: Person, httpserver: HTTPServer, route: str, works: bool) -> None:
    if works:
        serve(httpserver, lambda text: 0.5)
    else:
        httpserver.expect_request(PATH).respond_with_response(failing(500, {"message": "broken"}))
    http = caller(asked)
    answer = http.post(f"/memories/{route}", {"query": "orchard gate", "rerank": True})
    assert (answer.status, answer.body["reranked"]) == (200, works)
    assert "reranked" not in http.post(f"/memories/{route}", {"query": "orchard gate"}).body
