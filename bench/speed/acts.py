"""Acts that are timed at a workspace: searches and ingests, through the HTTP door and beside it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from django.conf import settings

from bench.speed import http_client
from bench.speed.corpus import Corpus
from bench.speed.floor import LIMIT, Floor, Question
from bench.speed.http_client import Client
from bench.speed.loading import USER, Place
from bench.speed.recall import FILTERS
from bench.speed.timing import Act
from memories.models import Category, Layer
from memories.search import MEMORY_ROWS, SearchRequest, candidates, query_vector, search
from memories.search.conditions import LayerQuery
from memoryproject.postgres import visible
from memoryproject.postgres.embedded_postgres import APP_ROLE, DATABASE, Home

QUERIES = 200
BATCH = 100

RAW = "linea, raw statement"
VERB = "linea, verb without HTTP"
LINEA, HYBRID = "linea, HTTP", "hybrid, HTTP"
CONTEXT = "context, HTTP"
EMPTY = "empty request, HTTP"
ONE, MANY = "ingest of 1 message, HTTP", f"ingest of {BATCH} messages, HTTP"


@dataclass(frozen=True, slots=True)
class Door:
    """The two ways in: a kept-alive HTTP connection and a psycopg connection."""

    client: Client
    floor: Floor


def conninfo() -> str:
    """The embedded server as the web processes reach it."""
    host = str(Home.below(settings.DATA_DIR).socket)
    return psycopg.conninfo.make_conninfo(host=host, user=APP_ROLE, dbname=DATABASE)


def texts_to_ask(place: Place, corpus: Corpus) -> list[str]:
    number, size = place.blocks[0]
    return corpus.queries(corpus.block(place.number, number, size).texts, QUERIES)


def questions(place: Place, queries: Sequence[str]) -> list[Question]:
    """The statements that the server would send for these queries, with their values."""
    fetch_values = {"workspace": place.scope.workspace_id, "history": False}
    with visible.only(place.scope.workspace_id):
        shows = (visible.SETTING, visible.setting())
    made = []
    for query in queries:
        asked = LayerQuery(place.space, place.scope, Layer.MEMORIES, query, query_vector(place.space, query))
        statement, values = candidates.linea_statement(asked)
        made.append(Question(shows, statement, values, MEMORY_ROWS, fetch_values))
    return made


def search_requests(
    place: Place, queries: Sequence[str], ranking: str, category: Category | None = None
) -> list[bytes]:
    path = f"/api/v1/workspaces/{place.slug}/memories/search"
    body: dict[str, Any] = {"ranking": ranking, "limit": LIMIT}
    if category:
        body["filter"] = {"field": "category", "op": "eq", "value": str(category)}
    return [http_client.post(path, place.key, {"query": query, **body}) for query in queries]


def reads(door: Door, place: Place, corpus: Corpus) -> list[Act]:
    queries = texts_to_ask(place, corpus)
    asked = questions(place, queries)
    requests = {r: search_requests(place, queries, r) for r in ("linea", "hybrid")}
    path = f"/api/v1/workspaces/{place.slug}/memories/context"
    contexts = [http_client.post(path, place.key, {"query": query}) for query in queries]

    def raw(n: int) -> object:
        found = door.floor.ask(asked[n % QUERIES])
        assert found, "the floor does not see what a search finds"
        return found

    def verb(n: int) -> object:
        return search(place.scope, SearchRequest(queries[n % QUERIES], LIMIT, ranking="linea"))

    runs = [
        (RAW, raw),
        (VERB, verb),
        (LINEA, _sending(door.client, requests["linea"], 200)),
        (HYBRID, _sending(door.client, requests["hybrid"], 200)),
        (CONTEXT, _sending(door.client, contexts, 200)),
    ]
    return [_act(name, place, run) for name, run in runs]


def filtered(door: Door, place: Place, corpus: Corpus) -> list[Act]:
    """The searches over HTTP, each narrowed to what one category holds."""
    queries = texts_to_ask(place, corpus)
    wanted = [(label, category) for label, category in FILTERS.items() if category]
    return [
        _act(name + label, place, _sending(door.client, requests, 200))
        for name, ranking in ((LINEA, "linea"), (HYBRID, "hybrid"))
        for label, category in wanted
        for requests in [search_requests(place, queries, ranking, category)]
    ]


def single_ingest(door: Door, place: Place, corpus: Corpus) -> Act:
    """One message that says one new thing: episode, fact, citation, memory, conflict check."""
    said = corpus.claims(place.number, place.told)

    def run(n: int) -> object:
        return _ingest(door.client, place, said, 1)

    return _act(ONE, place, run)


def batch_ingest(door: Door, place: Place, corpus: Corpus) -> Act:
    """A hundred messages of a conversation, every third one a new claim."""
    said = corpus.messages(place.number, place.told)

    def run(n: int) -> object:
        return _ingest(door.client, place, said, BATCH)

    return _act(MANY, place, run)


def empty(door: Door) -> Act:
    """The cost of the way itself: server, client and socket."""
    return Act(EMPTY, "", 0, _sending(door.client, [http_client.get("/health/live")], 200))


def _act(name: str, place: Place, run: Callable[[int], object]) -> Act:
    return Act(name, place.plot.asked, place.plot.live, run)


def _sending(client: Client, requests: Sequence[bytes], status: int) -> Callable[[int], object]:
    def run(n: int) -> object:
        answer = client.send(requests[n % len(requests)])
        return answer if answer.status == status else answer.expect(status)

    return run


def _ingest(client: Client, place: Place, said: Iterator[str], number: int) -> dict[str, Any]:
    roles = ("user", "user", "assistant")
    messages = [{"role": roles[i % 3], "content": next(said)} for i in range(number)]
    body = {"messages": messages, "userId": USER, "threadId": "benchmark", "wait": 60}
    path = f"/api/v1/workspaces/{place.slug}/memories/ingest"
    return client.send(http_client.post(path, place.key, body)).expect(201)
