"""The only way out of the machine: what every call to a model server has in common, and how many
tokens calls took.

The official SDKs of OpenAI and Anthropic are built alike, down to the names of their errors; so
one translation serves both. Neither is imported here: that takes a second or two."""

import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from memories import metrics
from memories.errors import Misconfigured, ProviderError, TimedOut, Unasked
from memories.providers.allowed_addresses import AddressRefused, GuardedTransport

BYTES_PER_TOKEN = 4  # of English, where a server does not say


# Set to False (or enter `offline`) and every call fails before a socket is opened.
ALLOW_NETWORK = True
# Set to True in a process that must not wait: what would wait is for another process to do.
ELSEWHERE = False
MAX_RETRIES = 2
CONNECT_SECONDS = 5.0
LARGEST_ANSWER = 2**24  # bytes, of a model that somebody else than the operator named
# A server that wants a longer pause than this gets it, but not while a worker sleeps: the call
# fails with `retry_after`, and whoever keeps the queue comes back later.
LONGEST_PAUSE = 20.0
BUSY = {408, 409, 425, 429}
FOR_ALL = {401, 402, 403, 404}  # whatever is asked, the answer will be the same
HINTS = {
    401: "the key was refused",
    402: "the account has to be paid",
    403: "the key may not do this",
    404: "check the name of the model and the base URL",
    413: "the request is too large",
    429: "too many requests",
    529: "the server is overloaded",
}
SIGNERS = ("google.auth", "botocore")  # libraries of clouds, which raise errors of their own where nobody may sign
# Exceptions from reading an answer of a foreign shape, in the SDKs and in our own readers.
MALFORMED = (AttributeError, LookupError, TypeError, ValueError)


@dataclass(slots=True)
class TokenCount:
    """`cached` of the input were found in the server's cache."""

    input: int = 0
    output: int = 0
    cached: int = 0


_counting: ContextVar[TokenCount | None] = ContextVar("tokens", default=None)


@contextmanager
def counting() -> Iterator[TokenCount]:
    """Count the tokens of the calls inside, in this thread."""
    count = TokenCount()
    before = _counting.set(count)
    try:
        yield count
    finally:
        _counting.reset(before)


def add(input_tokens: int, output_tokens: int = 0, cached_tokens: int = 0) -> None:
    if (count := _counting.get()) is not None:
        count.input += max(0, input_tokens)
        count.output += max(0, output_tokens)
        count.cached += max(0, min(cached_tokens, input_tokens))


def estimate(texts: Iterable[str]) -> int:
    """Tokens of texts whose server does not say how many they were."""
    return sum(-(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN) for text in texts)


Client = TypeVar("Client")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Endpoint:
    """The address of a model. An empty `base_url` is the vendor's own; `timeout` in seconds, of a
    call as a whole; `retries`, the SDK's, come after its first try and within the same time.
    `allowed`: someone other than the operator named it, and these addresses are allowed to them."""

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    retries: int = MAX_RETRIES
    allowed: tuple[str, ...] | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


@contextmanager
def offline() -> Iterator[None]:
    """Keep every call inside from leaving the machine."""
    global ALLOW_NETWORK
    before, ALLOW_NETWORK = ALLOW_NETWORK, False
    try:
        yield
    finally:
        ALLOW_NETWORK = before


class NeedsNetwork(BaseException):
    """Nothing was sent: this process must not wait for a model (ELSEWHERE). Not an Exception, so
    that it comes through to whoever hands the request on to a process that may."""


_patience = threading.local()


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Let all calls of this thread inside wait for at most so long together."""
    before: float | None = getattr(_patience, "left", None)
    own = seconds if before is None else min(seconds, before)
    _patience.left = own
    try:
        yield
    finally:
        _patience.left = None if before is None else before - own + _patience.left


def check_allowed(who: str) -> None:
    """Raise where `who` must not be asked: Unasked where the network is off or no time is left,
    NeedsNetwork in a process that must not wait."""
    if not ALLOW_NETWORK:
        raise Unasked(f"{who} was not asked: the network is switched off", permanent=True)
    left: float | None = getattr(_patience, "left", None)
    if left is not None and left <= 0:
        raise Unasked(f"{who} was not asked: no time is left", permanent=False)
    check_may_wait(who)


def check_may_wait(who: str) -> None:
    """Raise NeedsNetwork in a process that must not wait for a model."""
    if ELSEWHERE and not getattr(_patience, "aside", False):
        raise NeedsNetwork(who)


def ask(sdk: ModuleType, who: str, seconds: float, call: Callable[[], Answer]) -> Answer:
    """Make one `call` of `sdk` and read its answer within so many seconds; every failure is a
    ProviderError.

    `who` names the model and its server in the messages that people will read.
    """
    check_allowed(who)
    with metrics.timer("provider_calls", provider=sdk.__name__):
        try:
            return within(who, seconds, call)
        except sdk.APITimeoutError as error:
            raise TimedOut(f"{who} did not answer in time", permanent=False) from error
        except sdk.APIConnectionError as error:
            if isinstance(error.__cause__, AddressRefused):
                raise ProviderError(f"{who}: {error.__cause__}", permanent=True) from error
            raise ProviderError(
                f"{who} cannot be reached", permanent=False, foreign=str(error.__cause__ or error)
            ) from error
        except sdk.APIStatusError as error:
            raise from_status(error, who) from error
        except MALFORMED as error:
            raise unexpected_shape(who, str(error)[:300]) from error
        except Exception as error:
            if not (isinstance(error, RuntimeError | ImportError) or type(error).__module__.startswith(SIGNERS)):
                raise
            raise Misconfigured(f"{who} cannot be asked", permanent=True, foreign=str(error)[:300]) from error


def unexpected_shape(who: str, foreign: str = "") -> ProviderError:
    told = f"{who} answered in a shape that was not expected"
    return ProviderError(told, permanent=False, foreign=foreign)


def within(who: str, seconds: float, call: Callable[[], Answer]) -> Answer:
    """Return the result of `call`. After so many seconds nobody waits for it any more: TimedOut, or
    Unasked where the thread's patience was shorter than that.

    The call runs in its own thread, because nothing else bounds all of it: a name that is looked
    up, an answer that drips, the SDKs' own tries and pauses.
    """
    left: float | None = getattr(_patience, "left", None)
    wait = seconds if left is None else min(seconds, left)
    started = time.monotonic()
    answer = in_thread(call)
    try:
        return answer.result(wait)
    except TimeoutError:
        late = TimedOut if wait >= seconds else Unasked
        raise late(f"{who} did not answer in time", permanent=False) from None
    finally:
        if left is not None:
            _patience.left = left - (time.monotonic() - started)


def in_thread(call: Callable[[], Answer], *, aside: bool = False) -> "Future[Answer]":
    """Start `call` in a thread that ends with the process. `aside`: nobody waits for it, so it may
    use the network also where ELSEWHERE is set."""
    answer: Future[Answer] = Future()

    def run() -> None:
        _patience.aside = aside
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, name="provider", daemon=True).start()
    return answer


def from_status(error: Any, who: str) -> ProviderError:
    """Convert an SDK's APIStatusError. Only what passes by itself is not permanent."""
    body: object = error.body
    # The server's own words: from `error.message` (Anthropic) or `message` (OpenAI).
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    words = " ".join(str(body or "nothing more").split())
    status: int = error.status_code
    kind = Misconfigured if status in FOR_ALL else ProviderError
    found = kind(
        f"{who} {in_words(status)}",
        permanent=status < 500 and status not in BUSY,
        retry_after=pause_wanted(error.response.headers),
        foreign=words if len(words) <= 300 else words[:299] + "…",
    )
    found.status = status
    return found


def in_words(status: int) -> str:
    return f"answered {status}" + (f" ({HINTS[status]})" if status in HINTS else "")


def pause_wanted(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After, which may be a number or a date; None without a readable
    one."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _refuse_long_pause(response: httpx2.Response) -> None:
    """Refuse a long pause: otherwise the SDKs sleep as long as the server says, even for an
    hour."""
    if (pause_wanted(response.headers) or 0.0) > LONGEST_PAUSE:
        response.headers["x-should-retry"] = "false"


def connect(client: Callable[..., Client], http_client: Callable[..., object], endpoint: Endpoint) -> Client:
    """The SDK's `client` for `endpoint`, kept with its open connections."""
    kept: Client = _connected(client, http_client, endpoint)
    return kept


@functools.lru_cache(maxsize=16)
def _connected(client: Callable[..., object], http_client: Callable[..., object], endpoint: Endpoint) -> Any:
    check(endpoint)
    hooks: dict[str, Any] = {"event_hooks": {"response": [_refuse_long_pause]}}
    if endpoint.allowed is not None:
        transport = GuardedTransport(endpoint.allowed, seconds=endpoint.timeout, size=LARGEST_ANSWER)
        hooks |= {"transport": transport, "follow_redirects": False, "trust_env": False}
    return client(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url or None,
        timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout)),
        max_retries=endpoint.retries,
        http_client=http_client(**hooks),
    )


def check(endpoint: Endpoint) -> None:
    """Raise ProviderError where base URL or key cannot be sent at all."""
    scheme = urlsplit(endpoint.base_url).scheme
    if endpoint.base_url and scheme not in ("http", "https"):
        raise ProviderError(
            f"the base URL {endpoint.base_url!r} must begin with http:// or https://",
            permanent=True,
        )
    if not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
        raise ProviderError("the API key holds characters that no key has", permanent=True)


# A forked worker must not speak on its parent's sockets.
os.register_at_fork(after_in_child=_connected.cache_clear)
