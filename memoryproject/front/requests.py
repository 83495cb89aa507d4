"""One request as the front holds it: what it says, and who asks."""

import hashlib
import random
import re
from dataclasses import dataclass
from typing import Any

from memoryproject.front.lanes import Lane, lane_of
from memoryproject.front.wire import packed

ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}\Z")
SESSION_COOKIE = re.compile(r"(?:^|;\s*)(?:__Host-)?sessionid=([^;]+)")
KEY_PREFIX = re.compile(r"(?:^|\s)(mp_[0-9a-z]{1,16})_")
# Read by us, or of the connection and not of the request.
OWN = frozenset({"content-type", "content-length", "transfer-encoding", "connection", "expect"})


@dataclass(slots=True, eq=False)
class Request:
    """`tenant` and `asker` say whose share it takes; a credential that proved nothing yet counts by
    its address."""

    method: str
    path: str
    environ: dict[str, Any]
    address: str
    credential: str
    lane: Lane
    body: bytes = b""
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
        length = {"CONTENT_LENGTH": str(len(self.body))}
        return packed({"environ": self.environ | length}, self.body)


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
