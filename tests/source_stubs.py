"""Sources as their makers document them, each a small server with rows that a test changes."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers.web_fetch import FetchLimits
from memories.settings_objects import checked
from memories.sources.connectors import CONNECTORS
from memories.sources.connectors.connector import Changes, Connector, Cursor, CursorExpired, Wire

Answers = Callable[[Request], Response | None]


def says(data: object, status: int = 200, **headers: str) -> Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(json.dumps(data), status, sent, content_type="application/json")


@dataclass
class Stub:
    """What is asked of the server is answered by `answers`, but for the next `faults`; `asked` are
    paths that were asked."""

    server: HTTPServer
    answers: Answers
    faults: list[Response] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.expect_request(re.compile(".*")).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.asked.append(unquote(request.path))
        if self.faults:
            return self.faults.pop(0)
        return self.answers(request) or Response("none", 404)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server.port}/"

    def connector(self, provider: str, options: dict[str, Any], credentials: dict[str, Any] | None = None) -> Connector:
        kind = CONNECTORS[provider]
        given = None
        if credentials is not None and kind.Credentials:
            given = checked(kind.Credentials, credentials)
        wire = Wire(self.url, ("localhost",), FetchLimits(20, 1_000_000))
        return kind(checked(kind.Options, options), given, wire)


def listed(connector: Connector, cursor: Cursor) -> tuple[dict[str, str], set[str], Changes]:
    """All pages from a cursor on: versions by id, ids that are gone, and the last page. An expired
    cursor begins anew, as a sync does."""
    versions: dict[str, str] = {}
    gone: set[str] = set()
    for _ in range(100):
        try:
            page = connector.changes(json.loads(json.dumps(cursor)))
        except CursorExpired:
            cursor = {}
            continue
        for item in page.items:
            if item.is_deleted:
                gone.add(item.id)
            else:
                versions[item.id] = item.version
        if page.is_last:
            return versions, gone, page
        cursor = page.cursor
    raise AssertionError("It has no end.")
