"""Requests of each method, and their tries: values and generators that know no network, so that
the client and its twin for asyncio say it once."""

import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memoryproject_client.answers import camel
from memoryproject_client.faults import fault_of

BUSY = (429, 502, 503)
PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, str] = field(default_factory=dict)

    def headers(self) -> dict[str, str]:
        """Return the headers of all tries of this call: a POST is the same one, however often it is sent."""
        return {"Idempotency-Key": str(uuid.uuid4())} if self.method == "POST" else {}


@dataclass(frozen=True, slots=True)
class Reply:
    """`status` is 0 where the connection was lost before there was an answer."""

    status: int
    body: Any = None
    pause: float | None = None
    detail: str = ""


def tries(call: Call, retries: int) -> Generator[float, Reply, Any]:
    """The body of the answer. Yields the seconds to wait before each try, and is sent its reply.
    Raises MemoryFault."""
    pause = 0.0
    for left in reversed(range(retries + 1)):
        reply = yield pause
        if 200 <= reply.status < 300:
            return reply.body
        fault = fault_of(reply.status, reply.body or {"detail": reply.detail})
        lost = reply.status == 0 and call.method in ("GET", "POST")
        again = lost or reply.status in BUSY or fault.code == "in_progress"
        if not again or not left:
            raise fault
        backoff = PAUSE * 2 ** (retries - left)
        pause = min(LONGEST_PAUSE, backoff if reply.pause is None else reply.pause)
    raise AssertionError


def ingest(said: str | Sequence[Message], options: Mapping[str, Any]) -> Call:
    what: dict[str, Any] = {"content": said} if isinstance(said, str) else {"messages": list(said)}
    return Call("POST", "/memories/ingest", what | spoken(options))


def search(query: str, options: Mapping[str, Any]) -> Call:
    return Call("POST", "/memories/search", {"query": query} | spoken(options))


def context(query: str, options: Mapping[str, Any]) -> Call:
    return Call("POST", "/memories/context", {"query": query} | spoken(options))


def profile(user_id: str, options: Mapping[str, Any]) -> Call:
    return Call("GET", "/memories/profile", query=texts({"user_id": user_id, **options}))


def memories(options: Mapping[str, Any]) -> Call:
    return Call("GET", "/memories", query=texts(options))


def correct(memory_id: str, content: str) -> Call:
    return Call("PATCH", f"/memories/{uuid.UUID(memory_id)}", {"content": content})


def forget(memory_id: str, reason: str, messages: str) -> Call:
    given = {"reason": reason, "messages": messages}
    query = {name: value for name, value in given.items() if value}
    return Call("DELETE", f"/memories/{uuid.UUID(memory_id)}", query=query)


def chain(memory_id: str) -> Call:
    return Call("GET", f"/memories/{uuid.UUID(memory_id)}/chain")


def facts(memory_id: str) -> Call:
    return Call("GET", f"/memories/{uuid.UUID(memory_id)}/facts")


def spoken(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by their names on the wire; None is not said."""
    return {camel(name): plain(value) for name, value in options.items() if value is not None}


def texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in spoken(options).items()}


def plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
