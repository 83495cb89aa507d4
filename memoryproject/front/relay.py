"""Event streams, chat and MCP: passed on, as they come, to the ASGI process beside the web
processes."""

from typing import Any

import httpx2

from memoryproject.front.answers import Refusal
from memoryproject.front.requests import Request

PREFIXES = ("/mcp", "/streams/")
SILENCE = 300.0  # seconds for which a stream may say nothing
BY_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "content-length", "host", "te"}
)


def is_stream(path: str) -> bool:
    return path.startswith(PREFIXES)


class Relay:
    """`socket` is where the ASGI process listens; without one there are no streams."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self._client: httpx2.AsyncClient | None = None

    async def pass_on(self, request: Request, scope: Any, proto: Any) -> None:
        """Raises Refusal where there is no such process, or it does not answer."""
        if not self.socket:
            raise Refusal(404, "This route was not found.", "not_found")
        if self._client is None:
            transport = httpx2.AsyncHTTPTransport(uds=self.socket)
            timeout = httpx2.Timeout(10.0, read=SILENCE)
            self._client = httpx2.AsyncClient(transport=transport, timeout=timeout)
        target = request.path + (f"?{scope.query_string}" if scope.query_string else "")
        headers = [(n, v) for n, v in scope.headers.items() if n not in BY_HOP]
        headers.append(("host", scope.authority or scope.headers.get("host", "localhost")))
        headers.append(("x-request-id", request.request_id))
        try:
            async with self._client.stream(
                request.method, f"http://streams{target}", headers=headers, content=request.body
            ) as answer:
                kept = [(n, v) for n, v in answer.headers.multi_items() if n not in BY_HOP]
                stream = proto.response_stream(answer.status_code, kept)
                async for part in answer.aiter_raw():
                    await stream.send_bytes(part)
        except httpx2.TransportError as error:
            raise Refusal(
                503, "The process for streams does not answer.", "busy", wait=2
            ) from error
