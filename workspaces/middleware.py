"""Middleware for every request: its id, a line in the log for refusals, plain HTTP refused behind
TLS, sessions for browsers alone, times in the reader's zone, the headers of pages."""

import logging
import re
import time
import uuid
import zoneinfo
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth import middleware as auth
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest, HttpResponseBase
from django.urls import get_script_prefix, set_script_prefix
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from memoryproject import log_lines
from memoryproject.log_lines import LONGEST_PATH, NOTED
from memoryproject.postgres import visible
from memoryproject.server.front.lanes import API
from memoryproject.server.front.presented import is_keyed, presented_key
from memoryproject.server.front.wire import TENANT
from workspaces.api.problems import Problem, page
from workspaces.keys import LABEL, prefix_of
from workspaces.login.throttle import client_address, is_of_this_machine
from workspaces.time_zones import zone_of

log = logging.getLogger(__name__)

ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,64}\Z")
SEEN_AT = "seen_at"
LOOKED_AT = "looked_at"  # a cookie, and the attribute of a request from which it is made
WRITTEN_TIMES = 24  # times within a session's lifetime

# The path below which a proxy serves this server, and which it takes off before it asks.
PREFIX = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~-]{1,64}){1,8}")
TOKENS = "/oauth/token"
ADMIN, REDOC = "/admin/", "/api/redoc"
# Unfold's, Swagger's and our own pages have inline styles, but no inline scripts.
POLICY = (
    "default-src 'self'; script-src 'self'{script}; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; worker-src 'self'{worker}; object-src 'none'; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
PLAIN = POLICY.format(script="", worker="")
BY_PATH = {
    # Unfold's pages use Alpine, which makes functions of the texts of attributes; its build
    # without eval does not understand these.
    ADMIN: POLICY.format(script=" 'unsafe-eval'", worker=""),
    REDOC: POLICY.format(script="", worker=" blob:"),
}
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "autoplay",
        "browsing-topics",
        "camera",
        "display-capture",
        "encrypted-media",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "serial",
        "usb",
    )
)


class RequestIdMiddleware:
    """Keeps the caller's `X-Request-Id` where it is short and plain, else makes one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.META["REQUEST_ID"] = given if ACCEPTED.match(given) else uuid.uuid4().hex
        token = log_lines.request_id.set(request.META["REQUEST_ID"])
        try:
            response = self.get_response(request)
            note(request, response)
        finally:
            log_lines.request_id.reset(token)
        response.headers["X-Request-Id"] = request.META["REQUEST_ID"]
        return response


def forwarded_prefix(request: HttpRequest) -> str:
    """Return the path that a proxy names, "" where it names none."""
    prefix = str(request.META.get("HTTP_X_FORWARDED_PREFIX", "")).rstrip("/")
    return prefix if PREFIX.fullmatch(prefix) else ""


class PrefixMiddleware:
    """Middleware that begins all addresses in an answer with the path that a proxy names in
    X-Forwarded-Prefix. What is no path is ignored; a caller who makes one up gets useless links, and
    nobody else does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        prefix = forwarded_prefix(request)
        if not prefix:
            return self.get_response(request)
        before = get_script_prefix()
        request.META["SCRIPT_NAME"], request.path = prefix, f"{prefix}{request.path_info}"
        set_script_prefix(f"{prefix}/")
        try:
            return self.get_response(request)
        finally:
            set_script_prefix(before)


def note(request: HttpRequest, response: HttpResponseBase) -> None:
    if response.status_code not in NOTED:
        return
    path = quote(request.path)[:LONGEST_PATH]
    log.warning(
        "%s %s %s from %s, %s",
        response.status_code,
        request.method,
        path,
        client_address(request) or request.META.get("REMOTE_ADDR") or "-",
        asker(request),
    )


def asker(request: HttpRequest) -> str:
    """Name the asker by what is at hand: nobody is looked up for a line in the log."""
    key = presented_key(request.META)
    if key is not None:
        return f"key {LABEL}_{prefix_of(key)}" if prefix_of(key) else "a key that is none"
    user = getattr(getattr(request, "_cached_user", None), "pk", None)
    return f"user {user}" if user else "nobody"


class PlainHttpMiddleware:
    """Middleware that refuses plain HTTP, behind TLS, to the API and to the address that gives out tokens,
    except from programs on the server's own machine, which find the address in the info file. It does not
    redirect: the key went over the wire already."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if (
            settings.BEHIND_TLS_PROXY
            and request.path_info.startswith((*API, TOKENS))
            and not request.is_secure()
            and not is_of_this_machine(request)
        ):
            return page(Problem(403, "Ask over https: this came in plain text."), request)
        return self.get_response(request)


class PastKeys(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> Any:
        if is_keyed(request.path_info, request.META):
            return self.get_response(request)
        return super().__call__(request)


class SessionMiddleware(PastKeys, sessions.SessionMiddleware):
    """Ends a session some hours after its last request: it is written anew now and then, not at
    every request. Logging in sets SEEN_AT."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        session, now = request.session, int(time.time())
        if session.accessed and SESSION_KEY in session:
            unseen = abs(now - session.get(SEEN_AT, now))
            if unseen > settings.SESSION_COOKIE_AGE / WRITTEN_TIMES:
                session[SEEN_AT] = now
        return super().process_response(request, response)


class AuthenticationMiddleware(PastKeys, auth.AuthenticationMiddleware):
    def __call__(self, request: HttpRequest) -> Any:
        """Handle a page with no rows visible until it is known who asks."""
        with visible.only():
            response = super().__call__(request)
            if response.streaming:
                response.streaming_content = shown(response.streaming_content, visible.setting())
            return response

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Tell the front whose page it was, where the page has looked that up."""
        user = getattr(request, "_cached_user", None)
        if user is not None and user.is_authenticated:
            request.META[TENANT] = f"user:{user.pk}"
        return response


def shown(parts: Iterable[bytes], setting: str) -> Iterator[bytes]:
    """Yield parts of a streamed answer, each made with the rows visible that its page saw."""
    rest = iter(parts)
    while True:
        with visible.as_set(setting):
            part = next(rest, None)
        if part is None:
            return
        yield part


class MessageMiddleware(PastKeys, messages.MessageMiddleware):
    pass


class TimeZoneMiddleware:
    """Sets the time zone for people's pages alone: programs are answered in UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(ADMIN):
            return self.get_response(request)
        with timezone.override(zoneinfo.ZoneInfo(zone_of(request, request.user))):
            return self.get_response(request)


class LookedAtMiddleware:
    """Keeps in a cookie which workspace a page was about."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        now = getattr(request, LOOKED_AT, "")
        if now and now != request.COOKIES.get(LOOKED_AT):
            secure = settings.SESSION_COOKIE_SECURE
            path = f"{get_script_prefix()}{ADMIN[1:]}"
            response.set_cookie(LOOKED_AT, now, path=path, secure=secure, httponly=True, samesite="Lax")
        return response


class PageHeadersMiddleware:
    """Adds headers to HTML only: programs do not read them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            found = (policy for path, policy in BY_PATH.items() if request.path_info.startswith(path))
            response.headers.setdefault("Content-Security-Policy", next(found, PLAIN))
            response.headers["Permissions-Policy"] = PERMISSIONS
        return response
