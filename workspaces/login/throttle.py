"""Throttling of logins: every try of a password, a code or a link is counted before it is checked,
by where it comes from."""

import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from memoryproject.server.front.callers import network_of, parsed_address
from workspaces.models import LoginAttempt, LoginPause, User

# A request with any of these was forwarded.
FORWARDED = (
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_FORWARDED",
    "HTTP_X_REAL_IP",
    "HTTP_VIA",
)


FREE = {"account": 5, "browser": 5, "address": 20}  # tries without a pause
LONGEST = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(days=1)
ATTEMPTS_KEPT = timedelta(days=90)
MOST_ATTEMPTS = 100_000
BROWSER_KNOWN = timedelta(days=180)
SALT = "workspaces.door"


def client_address(request: HttpRequest) -> str:
    """Return the peer's address; behind a trusted proxy, the last one it names in X-Forwarded-For.
    Empty where that is no address, as at a Unix socket."""
    named = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_TLS_PROXY:
        named = request.META.get("HTTP_X_FORWARDED_FOR", named).rpartition(",")[2]
    found = parsed_address(named)
    return str(found) if found else ""


def is_of_this_machine(request: HttpRequest) -> bool:
    """Tell whether the peer itself is on this machine, and speaks for nobody else."""
    peer = parsed_address(request.META.get("REMOTE_ADDR", ""))
    is_forwarded = any(name in request.META for name in FORWARDED)
    return peer is not None and peer.is_loopback and not is_forwarded


def request_id_of(request: HttpRequest) -> str:
    return str(request.META.get("REQUEST_ID", ""))


log = logging.getLogger(__name__)


class TooEarly(ValidationError):
    """The try is not checked: the pause after the last wrong one is not over. `wait` is in
    seconds."""

    def __init__(self, wait: timedelta) -> None:
        self.wait = max(1, ceil(wait.total_seconds()))
        told = f"{ceil(self.wait / 60)} minutes"
        if self.wait < 90:
            told = f"{self.wait} second{'s' if self.wait > 1 else ''}"
        message = f"Too many wrong tries. The next one is looked at in {told}."
        super().__init__(message, code="too_early")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try that was let in, and counts as wrong until it is reported right."""

    request: HttpRequest
    kind: str
    name: str
    keys: list[str]

    def succeeded(self) -> None:
        """Start the account's count anew; the address gets back this try, and no more."""
        own = [key for key in self.keys if not key.startswith("address:")]
        LoginPause.objects.filter(key__in=own).delete()
        LoginPause.objects.filter(key__in=self.keys).update(
            failures=Greatest(F("failures") - 1, Value(0)), not_before=timezone.now()
        )
        _count(self.kind, "ok")

    def failed(self, user: User | None) -> None:
        _count(self.kind, "wrong")
        address, request_id = client_address(self.request), request_id_of(self.request)
        LoginAttempt.objects.create(kind=self.kind, user=user, name=self.name, address=address, request_id=request_id)
        log.warning(
            "login: wrong %s for %s from %s, request %s",
            self.kind,
            f"user:{user.pk}" if user else f"unknown name {self.name[:8]}",
            address,
            request_id,
        )


def begin(request: HttpRequest, kind: str, account: str) -> Attempt:
    """Count a try at `account`, a name as typed. Raises TooEarly."""
    name = digest_of(account)
    nonce = _nonce_of_known(request, name)
    # Codes and links are counted apart: a known password does not buy tries at the code.
    keys = [f"browser:{kind}:{nonce}" if nonce else f"account:{kind}:{name}"]
    address = client_address(request)
    if address and not nonce:
        keys.append(f"address:{network_of(address)}")
    if wait := _reserve(keys):
        _count(kind, "too_early")
        log.warning(
            "login: %s not looked at, name %s from %s, request %s",
            kind,
            name[:8],
            address,
            request_id_of(request),
        )
        raise TooEarly(wait)
    return Attempt(request, kind, name, keys)


@transaction.atomic
def _reserve(keys: list[str]) -> timedelta:
    """Count one more try for all of `keys`; or none, where one of them still has its pause. Return
    what is left of the pause."""
    now = timezone.now()
    kept = LoginPause.objects.filter(key__in=keys).order_by("key")
    # A pause above the maximum was set by a wrong clock.
    paused = kept.filter(not_before__gt=now, not_before__lte=now + LONGEST)
    # Checked first: a refused try leaves no row, whatever name it used.
    if last := max(paused.values_list("not_before", flat=True), default=None):
        return last - now
    LoginPause.objects.bulk_create(
        [LoginPause(key=key, tried_at=now, not_before=now) for key in sorted(keys)],
        ignore_conflicts=True,
    )
    rows = list(kept.select_for_update())
    if last := max(paused.values_list("not_before", flat=True), default=None):
        return last - now
    for row in rows:
        is_old = abs(now - row.tried_at) > FORGOTTEN_AFTER
        row.failures = 1 if is_old else row.failures + 1
        row.tried_at = now
        row.not_before = now + pause_after(row.failures, FREE[row.key.partition(":")[0]])
    LoginPause.objects.bulk_update(rows, ["failures", "tried_at", "not_before"])
    return timedelta()


def pause_after(failures: int, free: int) -> timedelta:
    """Return no pause for the free tries; then 1, 2, 4 ... seconds."""
    if failures < free:
        return timedelta()
    return min(LONGEST, timedelta(seconds=2 ** min(failures - free, 20)))


def digest_of(account: str) -> str:
    plain = User.normalize_username(account).strip().casefold()
    return salted_hmac(f"{SALT}.name", plain, algorithm="sha256").hexdigest()[:32]


def _count(kind: str, outcome: str) -> None:
    import_string(settings.LOGIN_COUNTER)("logins", kind=kind, outcome=outcome)


# ---- browsers that logged in before ---------------------------------------------------------


def remember_browser(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Let this browser's next tries at the account not wait for anybody else's."""
    name = digest_of(user.get_username())
    if _nonce_of_known(request, name):
        return
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE,
        signing.dumps([name, secrets.token_hex(8)], salt=SALT),
        max_age=BROWSER_KNOWN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _nonce_of_known(request: HttpRequest, name: str) -> str:
    """Return the browser's nonce; empty where it never logged in under this name."""
    given = request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE, "")
    try:
        known, nonce = signing.loads(given, salt=SALT, max_age=BROWSER_KNOWN)
    except signing.BadSignature:
        return ""
    return nonce if known == name else ""
