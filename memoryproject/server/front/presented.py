"""The credential that a request presents. Only this module reads it: the front counts by the same
credential that processes look up, or another spelling would pass for another credential."""

from collections.abc import Mapping
from http import cookies
from typing import Any

from memoryproject.server.front.lanes import API

SCHEMES = ("bearer", "token")
# Django's cookie names; by whether a proxy in front of us speaks TLS.
SESSION_COOKIE = {False: "sessionid", True: "__Host-sessionid"}


def presented_key(headers: Mapping[str, Any]) -> str | None:
    """The key that a request presents, or None; other schemes of Authorization have none."""
    scheme, _, rest = headers.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() in SCHEMES:
        return str(rest.strip())
    return headers.get("HTTP_X_API_KEY")


def presented_session(headers: Mapping[str, Any], *, behind_proxy: bool) -> str:
    """The key of a browser's session as Django reads it: of several cookies of one name the last,
    without quotes; empty if there is none."""
    found = ""
    text = headers.get("HTTP_COOKIE", "").encode("latin-1", "replace").decode(errors="replace")
    for cookie in text.split(";"):
        name, _, value = cookie.partition("=")
        if name.strip() == SESSION_COOKIE[behind_proxy]:
            found = cookies._unquote(value.strip())
    return found


def is_keyed(path: str, headers: Mapping[str, Any]) -> bool:
    """Tell whether a key alone identifies the caller, without a session beside it."""
    return path.startswith((*API, "/mcp")) and presented_key(headers) is not None
