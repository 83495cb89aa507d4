"""One request as the front holds it, who asks, and what the front answers by itself: RFC 9457
problems."""

import hashlib
import json
import random
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from memoryproject.front.lanes import Lane, lane_of
from memoryproject.front.wire import BODY_FILE, packed

ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}\Z")
SESSION_COOKIE = re.compile(r"(?:^|;\s*)(?:__Host-)?sessionid=([^;]+)")
KEY_PREFIX = re.compile(r"(?:^|\s)(mp_[0-9a-z]{1,16})_")
UPLOADS = "/documents"
# Read by us, or of the connection and not of the request.
OWN = frozenset({"content-type", "content-length", "transfer-encoding", "connection", "expect"})


@dataclass(slots=True, eq=False)
class Request:
    """`tenant` and `asker` say whose share it takes; a credential that proved nothing yet counts by
    its address. The body of an upload is `spooled`: the path of its file, and its size."""

    method: str
    path: str
    environ: dict[str, Any]
    address: str
    credential: str
    lane: Lane
    body: bytes = b""
    spooled: tuple[str, int] | None = None
    tenant: str = ""
    asker: str = ""

    @property
    def request_id(self) -> str:
        return str(self.environ["HTTP_X_REQUEST_ID"])

    @property
    def key_prefix(self) -> str:
        """What a key shows of itself in a log line."""
        shown = self.environ.get("HTTP_AUTHORIZATION") or self.environ.get("HTTP_X_API_KEY") or ""
        found = KEY_PREFIX.search(shown)
        return found[1] if found else ""

    def frame(self) -> bytes:
        more = {"CONTENT_LENGTH": str(len(self.body))}
        if self.spooled is not None:
            more = {BODY_FILE: self.spooled[0], "CONTENT_LENGTH": str(self.spooled[1])}
        return packed({"environ": self.environ | more}, self.body)

    @property
    def is_upload(self) -> bool:
        kind = self.environ["CONTENT_TYPE"].lower()
        is_form = self.method == "POST" and kind.startswith("multipart/form-data")
        return is_form and self.path.startswith("/api/v1/") and self.path.endswith(UPLOADS)


def request_of(scope: Any, *, behind_proxy: bool) -> Request:
    """The request that an RSGI scope tells of; its body is still to be read."""
    headers: dict[str, str] = {}
    for name, value in scope.headers.items():
        joint = "; " if name == "cookie" else ","
        headers[name] = f"{headers[name]}{joint}{value}" if name in headers else value
    client, _, port = scope.client.rpartition(":")
    host, _, server_port = (scope.authority or headers.get("host", "")).rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        # As WSGI has it: the bytes of the path, each as one character.
        "PATH_INFO": scope.path.encode(errors="replace").decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "REMOTE_ADDR": client.strip("[]"),
        "REMOTE_PORT": port,
        "SERVER_NAME": host or "localhost",
        "SERVER_PORT": server_port if server_port.isdigit() else "80",
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "CONTENT_TYPE": headers.get("content-type", ""),
    }
    # A name with an underscore would pass for one with a hyphen.
    environ |= {
        f"HTTP_{name.upper().replace('-', '_')}": value
        for name, value in headers.items()
        if name not in OWN and "_" not in name
    }
    if not ACCEPTED_ID.match(environ.get("HTTP_X_REQUEST_ID", "")):
        environ["HTTP_X_REQUEST_ID"] = f"{random.getrandbits(128):032x}"
    return Request(
        method=scope.method,
        path=scope.path,
        environ=environ,
        address=address_of(environ, behind_proxy),
        credential=credential_of(environ),
        lane=lane_of(scope.method, scope.path),
    )


def address_of(environ: dict[str, Any], behind_proxy: bool) -> str:
    """The client's; behind a proxy the one that it saw, which it adds last."""
    seen = environ.get("HTTP_X_FORWARDED_FOR", "") if behind_proxy else ""
    return seen.rpartition(",")[2].strip() or str(environ["REMOTE_ADDR"])


def credential_of(environ: dict[str, Any]) -> str:
    """A digest of what the request proves itself by; empty where it shows nothing."""
    shown = environ.get("HTTP_AUTHORIZATION") or environ.get("HTTP_X_API_KEY")
    if not shown:
        cookie = SESSION_COOKIE.search(environ.get("HTTP_COOKIE", ""))
        shown = cookie[1] if cookie else ""
    return hashlib.sha256(shown.encode(errors="replace")).hexdigest() if shown else ""


PROBLEM = "application/problem+json"


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Refusal(Exception):
    """An answer that is an error; `wait` in seconds, for Retry-After."""

    def __init__(self, status: int, detail: str, code: str, *, wait: float = 0) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.wait = status, detail, code, wait

    def headers(self, request_id: str) -> list[tuple[str, str]]:
        headers = [("content-type", PROBLEM), ("x-request-id", request_id)]
        if self.wait:
            headers.append(("retry-after", str(max(1, round(self.wait)))))
        return headers

    def body(self, request_id: str) -> str:
        return json.dumps(
            {
                "type": "about:blank",
                "title": HTTPStatus(self.status).phrase,
                "status": self.status,
                "detail": self.detail,
                "code": self.code,
                "errors": [],
                "requestId": request_id,
            }
        )
