"""Memories fetched from another memory server by its own API, page by page: mem0's and
supermemory's. Whoever runs this server names theirs, and gives its key."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2

from memories.errors import ProviderError, TimedOut
from memories.providers import network
from memories.providers.http_reranker import refusal_of
from memories.providers.network import CONNECT_SECONDS, MALFORMED, Endpoint, unexpected_shape

PAGE = 100  # memories
MOST_PAGES = 100_000
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PullSource:
    """A server to pull from. `kind` is one of PULLS; `user_id`: only what is of this one."""

    kind: str
    base_url: str
    key: str = field(repr=False)
    user_id: str = ""
    timeout: float = 60.0

    @property
    def address(self) -> str:
        return (self.base_url or HOMES[self.kind]).rstrip("/")

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.key, self.address, self.timeout)


HOMES = {"mem0": "https://api.mem0.ai", "supermemory": "https://api.supermemory.ai"}


def pull(source: PullSource) -> Iterator[list[Json]]:
    """The memories, a page at a time, as the other server gives them. Raises ProviderError."""
    network.check(source.endpoint)
    timeout = httpx2.Timeout(source.timeout, connect=CONNECT_SECONDS)
    with httpx2.Client(timeout=timeout) as client:
        yield from PULLS[source.kind](client, source)


def _mem0(client: httpx2.Client, source: PullSource) -> Iterator[list[Json]]:
    filters = {"AND": [{"user_id": source.user_id or "*"}]}
    for page in range(1, MOST_PAGES):
        path = f"/v3/memories/?page={page}&page_size={PAGE}"
        answer = _asked(client, source, path, {"filters": filters}, f"Token {source.key}")
        yield _rows(source, answer, "results")
        if not answer.get("next"):
            return


def _supermemory(client: httpx2.Client, source: PullSource) -> Iterator[list[Json]]:
    for page in range(1, MOST_PAGES):
        body: Json = {"page": page, "limit": PAGE, "includeContent": True}
        if source.user_id:
            body["containerTags"] = [source.user_id]
        path = "/v3/documents/list"
        answer = _asked(client, source, path, body, f"Bearer {source.key}")
        yield _rows(source, answer, "memories")
        pages = answer.get("pagination")
        if not isinstance(pages, dict) or page >= int(pages.get("totalPages") or 0):
            return


PULLS: dict[str, Callable[[httpx2.Client, PullSource], Iterator[list[Json]]]] = {
    "mem0": _mem0,
    "supermemory": _supermemory,
}


def _asked(client: httpx2.Client, source: PullSource, path: str, body: Json, credential: str) -> Json:
    who = f"{source.kind} at {source.endpoint.host}"
    network.check_allowed(who)

    def call() -> httpx2.Response:
        try:
            return client.post(source.address + path, json=body, headers={"Authorization": credential})
        except httpx2.TimeoutException as error:
            raise TimedOut(f"{who} did not answer in time", permanent=False) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ProviderError(f"{who} cannot be reached: {error}", permanent=False) from error

    response = network.within(who, source.timeout, call)
    if response.status_code != 200:
        raise refusal_of(response, who)
    try:
        answer = response.json()
    except ValueError as error:
        raise unexpected_shape(who) from error
    if not isinstance(answer, dict):
        raise unexpected_shape(who)
    return answer


def _rows(source: PullSource, answer: Json, name: str) -> list[Json]:
    try:
        return [dict(row) for row in answer[name]]
    except MALFORMED as error:
        raise unexpected_shape(f"{source.kind} at {source.endpoint.host}") from error
