"""An ASGI application as the process for streams will be one: it tells events, one by one."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]


async def app(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    if scope["type"] != "http":
        return
    body = (await receive()).get("body", b"")
    headers = [(b"content-type", b"text/event-stream"), (b"x-path", scope["path"].encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"data: " + body, "more_body": True})
    if scope["query_string"] == b"for=ever":
        await asyncio.sleep(3600)
    await send({"type": "http.response.body", "body": b"\n\n"})
