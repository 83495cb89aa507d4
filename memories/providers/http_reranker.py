"""A reranker over HTTP, by one of the wires that servers speak."""

import functools
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2

from memories import metrics
from memories.errors import ProviderError, TimedOut
from memories.providers import network
from memories.providers.network import CONNECT_SECONDS, MALFORMED, Endpoint

LONGEST = 8_000  # characters of a document that are sent; rerankers read less than that


@dataclass(frozen=True, slots=True)
class RerankWire:
    """A server's dialect: the path, the names of the parameters for documents and their number,
    where the results stand ("": they are the answer), and the name of a score."""

    path: str
    documents: str = "documents"
    number: str = ""
    results: str = "results"
    score: str = "relevance_score"


# Named after their makers; others speak them, too.
WIRES = {
    "cohere": RerankWire("/v2/rerank", number="top_n"),  # vLLM
    "jina": RerankWire("/v1/rerank", number="top_n"),  # Infinity, llama.cpp, LocalAI
    "voyage": RerankWire("/v1/rerank", number="top_k", results="data"),
    "tei": RerankWire("/rerank", documents="texts", results="", score="score"),
}
COHERE = "cohere"


@dataclass(frozen=True)
class RerankerConfig:
    """`base_url` is the server's root, `model` its name there; `timeout` in seconds; `wire` is one
    of WIRES."""

    base_url: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    timeout: float = 5.0
    wire: str = COHERE

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.api_key, self.base_url.rstrip("/"), self.timeout)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A status error, as `network.from_status` reads it."""

    response: httpx2.Response
    body: object

    @property
    def status_code(self) -> int:
        return self.response.status_code


def refusal_of(response: httpx2.Response, who: str) -> ProviderError:
    """Return the error for an answer with another status than 200."""
    try:
        body: object = json.loads(response.text)
    except ValueError:
        body = response.text
    return network.from_status(_Refusal(response, body), who)


class HttpReranker:
    def __init__(self, config: RerankerConfig) -> None:
        self._config = config
        self._who = f"the reranker {config.model} at {config.endpoint.host}".replace("  ", " ")

    def scores(self, query: str, documents: Sequence[str]) -> list[float | None]:
        """Score how well each document answers, in the documents' order; None for what is not
        scored.

        Raises ProviderError. One attempt only: a search waits for it.
        """
        if not documents:
            return []
        network.check_allowed(self._who)
        seconds = self._config.timeout
        with metrics.timer("provider_calls", provider="rerank"):
            response = network.within(self._who, seconds, lambda: self._ask(query, documents))
            count = len(documents)
            if response.status_code != 200:
                raise refusal_of(response, self._who)
            try:
                answer = response.json()
                wire = WIRES[self._config.wire]
                results = answer[wire.results] if wire.results else answer
                usage = answer.get("usage") if wire.results else None
                tokens = usage.get("total_tokens") if isinstance(usage, dict) else None
                if not isinstance(tokens, int):
                    tokens = network.estimate([query, *documents])
                network.add(tokens)
                found: list[float | None] = [None] * count
                for result in results:
                    index, score = result["index"], float(result[wire.score])
                    if not 0 <= index < count or not math.isfinite(score):
                        raise ValueError(f"{score} for document {index} of {count}")
                    found[index] = score
                if not results:
                    raise ValueError("no results")
                return found
            except MALFORMED as error:
                raise ProviderError(
                    f"{self._who} answered in a shape that was not expected: {error}"[:400],
                    permanent=False,
                ) from error

    def _ask(self, query: str, documents: Sequence[str]) -> httpx2.Response:
        cut = [document[:LONGEST] for document in documents]
        wire, model = WIRES[self._config.wire], self._config.model
        body: dict[str, object] = {"query": query, wire.documents: cut}
        body |= {wire.number: len(cut), "model": model} if wire.number else {"truncate": True}
        endpoint = self._config.endpoint
        try:
            return _client(endpoint).post(endpoint.base_url + wire.path, json=body)
        except httpx2.TimeoutException as error:
            raise TimedOut(f"{self._who} did not answer in time", permanent=False) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ProviderError(f"{self._who} cannot be reached: {error}", permanent=False) from error


@functools.lru_cache(maxsize=4)
def _client(endpoint: Endpoint) -> httpx2.Client:
    """Kept with its open connections."""
    network.check(endpoint)
    key = endpoint.api_key
    return httpx2.Client(
        timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout)),
        headers={"Authorization": f"Bearer {key}"} if key else {},
    )


# A forked worker must not speak on its parent's sockets.
os.register_at_fork(after_in_child=_client.cache_clear)
