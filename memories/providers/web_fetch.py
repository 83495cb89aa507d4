"""Fetching of what others serve, one address at a time, within bounds of size, time and redirects;
and posting to an address of others.

Each address, and each that one redirects to, is looked up once, checked, and asked at what was
looked up (`allowed_addresses`).
"""

import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2

from memories import metrics
from memories.errors import ProviderError, Unasked
from memories.providers import network
from memories.providers.allowed_addresses import AddressRefused, GuardedTransport, is_refused

SCHEMES = ("http", "https")
AGENT = "memoryproject"
REDIRECTS = frozenset((301, 302, 303, 307, 308))
PART = 1 << 16
WAIT = 60.0  # seconds, of a server that wants a pause and does not say how long
LONGEST_URL = 2000
OF_STATUS = {
    401: "login_required",
    403: "login_required",
    407: "login_required",
    404: "source_gone",
    410: "source_gone",
    429: "rate_limited",
}
PASSING = frozenset((408, 425, 429))  # and all of the server's own faults


LONGEST = 15.0  # seconds, of all of it
WEBHOOK_AGENT = "memoryproject-webhooks/1"


class FetchError(Exception):
    """It could not be read; `code` is one of the codes of a failed document. `is_passing`: the same
    may succeed later, after `retry_after` seconds where the other side said so. `answer` is what it
    said."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        is_passing: bool = False,
        retry_after: float | None = None,
        answer: "WebAnswer | None" = None,
    ) -> None:
        super().__init__(code, message)
        self.code, self.message, self.answer = code, message, answer
        self.is_passing, self.retry_after = is_passing, retry_after

    @property
    def status(self) -> int:
        """The status of the answer; 0 where there was none."""
        return self.answer.status if self.answer else 0

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`seconds` of all of it; `size` in bytes, of what is sent and of what it unpacks to."""

    seconds: float = 30.0
    size: int = 20 * 2**20
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class WebRequest:
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """`url` is where it was in the end; names of `headers` are in small letters."""

    url: str
    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_address(url: str) -> bool:
    """Tell whether this can be asked at all: no sign in it that no address has, and a real port."""
    try:
        _ = urlsplit(url).port
        httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL):
        return False
    return True


def refused_reason(url: str, allowed: Sequence[str]) -> str:
    """Return why this address will not be read, as far as that shows without looking up its name;
    empty where there is no reason."""
    if not is_address(url):
        return "This is no address."
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        return "An address begins with http:// or https://."
    if parts.username is not None or parts.password is not None:
        return "An address must not hold a name or a password."
    if len(url) > LONGEST_URL:
        return f"An address has at most {LONGEST_URL} characters."
    if is_refused(url, allowed, SCHEMES):
        return "This server does not read that address."
    return ""


def fetch(asked: WebRequest, limits: FetchLimits, allowed: Sequence[str]) -> WebAnswer:
    """Fetch the content; 304 is an answer, too. Raises FetchError for everything else."""
    host = urlsplit(asked.url).hostname or ""
    try:
        network.check_allowed(host)
    except Unasked as error:
        raise FetchError("fetch_failed", str(error), is_passing=not error.permanent) from error
    until = time.monotonic() + limits.seconds
    with metrics.timer("web_fetches"):
        for _ in range(limits.redirects + 1):
            if reason := refused_reason(asked.url, allowed):
                raise FetchError("fetch_refused", reason)
            answer = _once(asked, until, limits.size, allowed)
            target = answer.headers.get("location", "")
            if answer.status not in REDIRECTS or not target:
                return _checked(answer)
            if asked.method not in ("GET", "HEAD"):
                told = "An address that is written to must not redirect."
                raise FetchError("fetch_refused", told)
            url, headers = urljoin(asked.url, target), dict(asked.headers)
            before, after = urlsplit(asked.url), urlsplit(url)
            if (before.scheme, before.netloc) != (after.scheme, after.netloc):
                # Secrets are for the host that they were meant for.
                kept = ("accept", "user-agent", "range")
                headers = {name: each for name, each in headers.items() if name.lower() in kept}
            asked = WebRequest(url, asked.method, headers)
    raise FetchError("fetch_refused", f"{host} redirects too often.")


def _checked(answer: WebAnswer) -> WebAnswer:
    if answer.status < 300 or answer.status == 304:
        return answer
    host, status = urlsplit(answer.url).hostname, answer.status
    pause = network.pause_wanted(answer.headers)
    code = OF_STATUS.get(status, "fetch_status")
    if status == 503 and pause is not None:
        code = "rate_limited"
    if code == "rate_limited" and pause is None:
        pause = WAIT
    raise FetchError(
        code,
        f"{host} {network.in_words(status)}",
        is_passing=status >= 500 or status in PASSING,
        retry_after=pause,
        answer=answer,
    )


def _once(asked: WebRequest, until: float, size: int, allowed: Sequence[str]) -> WebAnswer:
    host = urlsplit(asked.url).hostname
    left = max(0.1, until - time.monotonic())
    timeout = httpx2.Timeout(left, connect=min(network.CONNECT_SECONDS, left))
    headers = {"user-agent": AGENT, "accept": "*/*", **asked.headers, "accept-encoding": "gzip"}
    transport = GuardedTransport(allowed, seconds=left, schemes=SCHEMES)
    with httpx2.Client(transport=transport, trust_env=False, timeout=timeout) as client:
        try:
            request = client.build_request(asked.method, asked.url, headers=headers, content=asked.body)
            response = client.send(request, stream=True)
            try:
                data = b"".join(_body(response, size))
            finally:
                response.close()
        except AddressRefused as error:
            raise FetchError("fetch_refused", f"{error}.") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise FetchError("fetch_refused", "This is no address.") from error
        except httpx2.TimeoutException as error:
            late = f"{host} did not answer in time."
            raise FetchError("timeout", late, is_passing=True) from error
        except (httpx2.HTTPError, OSError) as error:
            raise FetchError("fetch_failed", f"{host} cannot be read.", is_passing=True) from error
    headers = {name.lower(): value for name, value in response.headers.items()}
    return WebAnswer(asked.url, response.status_code, headers, data)


def _body(response: httpx2.Response, size: int) -> Iterator[bytes]:
    """Yield the body, unpacked. Raises FetchError where it is larger than `size`."""
    too_large = FetchError("fetch_refused", f"It is larger than {size:,} bytes.")
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    unpack: Any = None
    if encoding in ("gzip", "x-gzip", "deflate"):
        unpack = zlib.decompressobj(wbits=47)
    elif encoding not in ("", "identity"):
        raise FetchError("fetch_refused", "It is packed in a way that was not asked for.")
    left = size
    for sent in response.iter_raw(PART):
        part = sent
        if unpack is not None:
            try:
                part = unpack.decompress(sent, left + 1)
            except zlib.error as error:
                raise FetchError("fetch_failed", "It cannot be unpacked.") from error
        left -= len(part)
        if left < 0:
            raise too_large
        yield part


# Telling an address that somebody else than the operator named: one POST, to allowed places alone,
# without redirects, of which the answer's status counts and nothing else.


def post(url: str, headers: Mapping[str, str], body: bytes, allowed: tuple[str, ...]) -> int:
    """Post the body and return the status. Raises ProviderError where there is no answer."""
    if not is_address(url):
        raise ProviderError("this is no address", permanent=True)
    network.check_allowed(url)

    def call() -> int:
        timeout = httpx2.Timeout(LONGEST, connect=network.CONNECT_SECONDS)
        own = {"content-type": "application/json", "user-agent": WEBHOOK_AGENT, **headers}
        transport = GuardedTransport(allowed, seconds=LONGEST)
        with (
            httpx2.Client(transport=transport, timeout=timeout) as client,
            client.stream("POST", url, content=body, headers=own) as answer,
        ):
            return answer.status_code

    try:
        return network.within("the address", LONGEST, call)
    except AddressRefused as error:
        raise ProviderError(str(error), permanent=True) from error
    except (httpx2.HTTPError, OSError) as error:
        raise ProviderError("the address cannot be reached", permanent=False) from error
