"""Who was refused, or could not be served: one line in the log for each, so that an attack is seen.

A line has the address, the key's prefix or the user's id, never a secret and nothing that was said.
"""

import logging
from ipaddress import ip_address
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from memoryproject.log_lines import NOTED
from workspaces.auth import presented_key
from workspaces.keys import LABEL, prefix_of

LONGEST_PATH = 200

log = logging.getLogger(__name__)


def note(request: HttpRequest, response: HttpResponseBase) -> None:
    if response.status_code not in NOTED:
        return
    path = quote(request.path)[:LONGEST_PATH]
    log.warning(
        "%s %s %s from %s, %s",
        response.status_code,
        request.method,
        path,
        client_address(request),
        asker(request),
    )


def client_address(request: HttpRequest) -> str:
    """Behind our own proxy what it has written last; what a client wrote itself stands before."""
    named = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    if settings.BEHIND_TLS_PROXY and _is_address(named):
        return named
    return request.META.get("REMOTE_ADDR") or "-"


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def asker(request: HttpRequest) -> str:
    """By what is at hand: nobody is looked up for a line in the log."""
    key = presented_key(request.META)
    if key is not None:
        return f"key {LABEL}_{prefix_of(key)}" if prefix_of(key) else "a key that is none"
    user = getattr(getattr(request, "_cached_user", None), "pk", None)
    return f"user {user}" if user else "nobody"
