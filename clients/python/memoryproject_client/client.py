"""The client, and its twin for asyncio."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

import httpx2

from memoryproject_client import calls
from memoryproject_client.answers import (
    ContextAnswer,
    Explanation,
    Fact,
    IngestAnswer,
    Link,
    MemoryRecord,
    Profile,
    SearchAnswer,
    decoded,
)
from memoryproject_client.calls import Call, Message, Reply, tries

TIMEOUT, RETRIES, PAGE = 90.0, 4, 100


def address_of(url: str, workspace: str) -> str:
    return f"{url.rstrip('/')}/api/v1/workspaces/{quote(workspace, safe='')}"


def reply_of(response: httpx2.Response) -> Reply:
    after = response.headers.get("Retry-After", "")
    is_json = "json" in response.headers.get("Content-Type", "")
    return Reply(
        response.status_code,
        response.json() if is_json and response.content else None,
        float(after) if after.isdigit() else None,
    )


def next_page(page: dict[str, Any], call: Call) -> Call | None:
    """Return the call for the page behind this one."""
    if not page.get("next"):
        return None
    query = {name: values[0] for name, values in parse_qs(urlsplit(page["next"]).query).items()}
    return Call(call.method, call.path, query=query)


class Memory:
    """A workspace of a server. `timeout` in seconds, of each try; `retries`, those after the first.

    All methods raise MemoryFault where the server refuses or cannot be reached. Options that are
    not named are those of the API, with underscores.
    """

    def __init__(
        self,
        url: str,
        key: str,
        workspace: str,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        self.retries, self._address = retries, address_of(url, workspace)
        self._http = httpx2.Client(
            headers={"Authorization": f"Bearer {key}"},
            timeout=timeout,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def _ask(self, call: Call) -> Any:
        headers, rounds = call.headers(), tries(call, self.retries)
        try:
            pause = next(rounds)
            while True:
                time.sleep(pause)
                try:
                    response = self._http.request(
                        call.method,
                        self._address + call.path,
                        json=call.body,
                        params=call.query,
                        headers=headers,
                    )
                    reply = reply_of(response)
                except httpx2.TransportError as error:
                    reply = Reply(0, detail=f"The server cannot be reached: {error}")
                pause = rounds.send(reply)
        except StopIteration as done:
            return done.value

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Any other route of the workspace, as the API describes it: `path` is what follows the
        workspace's name, body and answer are as on the wire."""
        return self._ask(Call(method, path, body, query or {}))

    def ingest(self, said: str | Sequence[Message], **options: Any) -> IngestAnswer:
        """Keep a text, or messages ({role, content, id?, ...}), and learn from them."""
        return decoded(IngestAnswer, self._ask(calls.ingest(said, options)))

    def search(self, query: str, **options: Any) -> SearchAnswer:
        """Search for what answers a question, best first."""
        return decoded(SearchAnswer, self._ask(calls.search(query, options)))

    def context(self, query: str, **options: Any) -> ContextAnswer:
        """Return what answers a question, as one text for a prompt."""
        return decoded(ContextAnswer, self._ask(calls.context(query, options)))

    def profile(self, user_id: str, **options: Any) -> Profile:
        """All that is known of a user."""
        return decoded(Profile, self._ask(calls.profile(user_id, options)))

    def memories(self, user_id: str | None = None, limit: int | None = None, **options: Any) -> Iterator[MemoryRecord]:
        """Memories, the newest first, over all pages; at most `limit` of them."""
        size = PAGE if limit is None else min(limit, PAGE)
        call: Call | None = calls.memories({"user_id": user_id, "limit": size, **options})
        left = limit
        while call is not None and left != 0:
            page = self._ask(call)
            for row in page["results"][:left]:
                yield decoded(MemoryRecord, row)
            left = None if left is None else max(0, left - len(page["results"]))
            call = next_page(page, call)

    def correct(self, memory_id: str, content: str) -> MemoryRecord:
        """The new version; the old one stays in its chain."""
        return decoded(MemoryRecord, self._ask(calls.correct(memory_id, content)))

    def forget(self, memory_id: str, reason: str = "", messages: str = "") -> None:
        """It is believed no more. What is `wrong` is not learned again, what is `private` not
        before a person says so; the words of both leave the messages that it stands on, too,
        unless `messages` is `keep`. `messages="mask"` takes them out for any other reason."""
        self._ask(calls.forget(memory_id, reason, messages))

    def explain(self, memory_id: str) -> Explanation:
        """All versions with the decisions between them, and the quotes that it stands on."""
        links, facts = self._ask(calls.chain(memory_id)), self._ask(calls.facts(memory_id))
        return Explanation(
            [decoded(Link, one) for one in links["results"]],
            [decoded(Fact, one) for one in facts["results"]],
        )


class AsyncMemory:
    """`Memory` for asyncio."""

    def __init__(
        self,
        url: str,
        key: str,
        workspace: str,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        self.retries, self._address = retries, address_of(url, workspace)
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"},
            timeout=timeout,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _ask(self, call: Call) -> Any:
        headers, rounds = call.headers(), tries(call, self.retries)
        try:
            pause = next(rounds)
            while True:
                await asyncio.sleep(pause)
                try:
                    response = await self._http.request(
                        call.method,
                        self._address + call.path,
                        json=call.body,
                        params=call.query,
                        headers=headers,
                    )
                    reply = reply_of(response)
                except httpx2.TransportError as error:
                    reply = Reply(0, detail=f"The server cannot be reached: {error}")
                pause = rounds.send(reply)
        except StopIteration as done:
            return done.value

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        return await self._ask(Call(method, path, body, query or {}))

    async def ingest(self, said: str | Sequence[Message], **options: Any) -> IngestAnswer:
        return decoded(IngestAnswer, await self._ask(calls.ingest(said, options)))

    async def search(self, query: str, **options: Any) -> SearchAnswer:
        return decoded(SearchAnswer, await self._ask(calls.search(query, options)))

    async def context(self, query: str, **options: Any) -> ContextAnswer:
        return decoded(ContextAnswer, await self._ask(calls.context(query, options)))

    async def profile(self, user_id: str, **options: Any) -> Profile:
        return decoded(Profile, await self._ask(calls.profile(user_id, options)))

    async def memories(
        self, user_id: str | None = None, limit: int | None = None, **options: Any
    ) -> AsyncIterator[MemoryRecord]:
        size = PAGE if limit is None else min(limit, PAGE)
        call: Call | None = calls.memories({"user_id": user_id, "limit": size, **options})
        left = limit
        while call is not None and left != 0:
            page = await self._ask(call)
            for row in page["results"][:left]:
                yield decoded(MemoryRecord, row)
            left = None if left is None else max(0, left - len(page["results"]))
            call = next_page(page, call)

    async def correct(self, memory_id: str, content: str) -> MemoryRecord:
        return decoded(MemoryRecord, await self._ask(calls.correct(memory_id, content)))

    async def forget(self, memory_id: str, reason: str = "", messages: str = "") -> None:
        await self._ask(calls.forget(memory_id, reason, messages))

    async def explain(self, memory_id: str) -> Explanation:
        links = await self._ask(calls.chain(memory_id))
        facts = await self._ask(calls.facts(memory_id))
        return Explanation(
            [decoded(Link, one) for one in links["results"]],
            [decoded(Fact, one) for one in facts["results"]],
        )
