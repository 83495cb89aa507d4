"""Asking a server over one kept-alive connection; whatever fails is an answer of status 0."""

import http.client
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` 0: nobody answered within the time; `seconds` until the answer was whole."""

    status: int
    body: bytes
    seconds: float

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def json(self) -> dict[str, Any]:
        """The answer's object; empty where it is none."""
        with suppress(ValueError):
            read = json.loads(self.body)
            if isinstance(read, dict):
                return read
        return {}


class Client:
    """A caller with its key. A connection that failed is made anew for the next request."""

    def __init__(self, url: str, key: str = "", timeout: float = 30.0) -> None:
        self.address = urlsplit(url)
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.timeout = timeout
        self.connection: http.client.HTTPConnection | None = None

    def move_to(self, url: str) -> None:
        """Ask there from now on."""
        if url != self.address.geturl():
            self.close()
            self.address = urlsplit(url)

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """A body is sent as JSON; bytes as they are, and `headers` say what they are."""
        sent = {**self.headers, **(headers or {})}
        data = body if isinstance(body, bytes) else None
        if isinstance(body, Mapping):
            data, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        began = time.perf_counter()
        try:
            connection = self.connection or self._connect()
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            read = response.read()
            if response.will_close:
                self.close()
            return Answer(response.status, read, time.perf_counter() - began)
        except (OSError, http.client.HTTPException):
            self.close()
            return Answer(0, b"", time.perf_counter() - began)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self.address.hostname or "127.0.0.1", self.address.port or 80
        self.connection = http.client.HTTPConnection(host, port, timeout=self.timeout)
        return self.connection
