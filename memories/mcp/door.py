"""A request of MCP as the front hands it over, and its answer: who asks is decided here, for every
request anew; what is asked goes to the SDK's ASGI application. No session is kept."""

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from django.http import HttpRequest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memories import metrics
from memories.mcp.asker import PATH, McpAsker, asker_of
from memories.mcp.protocol import ASKER, McpProtocol, Run, in_plain_words
from memoryproject import log_lines
from memoryproject.front.lanes import MCP
from memoryproject.log_lines import NOTED
from memoryproject.postgres import visible
from workspaces.api.problems import Problem, page, problem_of
from workspaces.keys import LABEL, prefix_of

log = logging.getLogger(__name__)

# Verbs wait for the database, each in a thread with a connection of its own.
_threads = ThreadPoolExecutor(MCP.threads, thread_name_prefix="mcp")


async def in_thread(act: Callable[..., Any], *given: Any) -> Any:
    """What `act` gives, in a thread that may wait."""
    context = contextvars.copy_context()

    def work() -> Any:
        close_old_connections()
        return context.run(act, *given)

    return await asyncio.get_running_loop().run_in_executor(_threads, work)


class McpDoor:
    """Answers requests while it is `open`, in one event loop. `run` is how a function is called
    that waits for the database."""

    def __init__(self, run: Run = in_thread) -> None:
        self.run = run
        self.manager = StreamableHTTPSessionManager(
            McpProtocol(run).server(),
            json_response=True,
            stateless=True,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["McpDoor"]:
        async with self.manager.run():
            yield self

    async def respond(self, environ: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Status and headers, and the body. `environ` is WSGI's; what the front has to know is
        written into it."""
        environ["REQUEST_ID"] = environ["HTTP_X_REQUEST_ID"]
        token = log_lines.request_id.set(environ["REQUEST_ID"])
        try:
            with metrics.timer("requests", route="mcp", method=environ["REQUEST_METHOD"]):
                if environ["REQUEST_METHOD"] != "POST":
                    raise Problem(405, "Only POST is answered here: nothing is streamed.")
                if len(body) > (largest := settings.DATA_UPLOAD_MAX_MEMORY_SIZE):
                    raise Problem(413, f"The body is larger than {largest} bytes.")
                asker = await self.run(asker_of, environ)
                with visible.only(asker.scope.workspace_id):
                    return await self._protocol(asker, body)
        except Exception as error:
            return refusal(error, environ)
        finally:
            log_lines.request_id.reset(token)

    async def _protocol(self, asker: McpAsker, body: bytes) -> tuple[dict[str, Any], bytes]:
        head: dict[str, Any] = {}
        parts: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                names = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in message["headers"]]
                head.update(status=message["status"], headers=names)
            else:
                parts.append(message.get("body", b""))

        await self.manager.handle_request(asgi_scope(asker), receive, send)  # type: ignore[arg-type]  # its mappings are of Any
        return head, in_plain_words(b"".join(parts))


def asgi_scope(asker: McpAsker) -> dict[str, Any]:
    """What ASGI says of a request of which WSGI said the same."""
    environ = asker.environ
    headers = [
        (name[5:].replace("_", "-").lower().encode(), value.encode("latin-1", "replace"))
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        headers.append((name.replace("_", "-").lower().encode(), str(environ[name]).encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": "http",
        "path": PATH,
        "raw_path": PATH.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": (environ["REMOTE_ADDR"], 0),
        "server": (environ["SERVER_NAME"], int(environ["SERVER_PORT"])),
        ASKER: asker,
    }


def refusal(error: Exception, environ: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """A problem as the API has it. No metadata of OAuth: clients would then ignore their key."""
    problem = problem_of(error)
    if problem is None:
        log.exception("request %s failed", environ["REQUEST_ID"], exc_info=error)
        problem = Problem(500, "The server failed. The log has the cause under this requestId.")
    request = HttpRequest()
    request.META = environ
    answer = page(problem, request)
    headers = [*answer.headers.items(), ("x-request-id", environ["REQUEST_ID"])]
    if problem.status_code == 401:
        headers.append(("www-authenticate", "Bearer"))
    if problem.status_code == 405:
        headers.append(("allow", "POST"))
    if problem.wait is not None:
        headers.append(("retry-after", str(max(1, round(problem.wait)))))
    if problem.status_code in NOTED:
        shown = prefix_of(environ.get("HTTP_AUTHORIZATION", "").partition(" ")[2])
        asker = f"key {LABEL}_{shown}" if shown else "nobody"
        log.warning(
            "%s POST %s from %s, %s", problem.status_code, PATH, environ["REMOTE_ADDR"], asker
        )
    return {"status": problem.status_code, "headers": headers}, answer.content
