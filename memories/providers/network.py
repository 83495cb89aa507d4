"""The one door out of the machine: what every call to a model server has in common.

The official SDKs of OpenAI and Anthropic are built alike, down to the names of their errors;
so one translation serves both. Neither is imported here: that takes a second or two.
"""

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from memories import metrics
from memories.errors import ProviderError

Client = TypeVar("Client")

# Set to False (or enter `offline`) and every call fails before a socket is opened.
ALLOW_NETWORK = True

MAX_RETRIES = 2
CONNECT_SECONDS = 5.0
# A server that wants a longer pause than this gets it, but not while a worker sleeps: the call
# fails with `retry_after`, and whoever keeps the queue comes back later.
LONGEST_PAUSE = 20.0

BUSY = {408, 409, 425, 429}
HINTS = {
    401: "the key was refused",
    402: "the account has to be paid",
    403: "the key may not do this",
    404: "check the name of the model and the base URL",
    413: "the request is too large",
    429: "too many requests",
    529: "the server is overloaded",
}
# What reading an answer of a foreign shape raises, inside the SDKs and in our own readers.
MALFORMED = (AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Endpoint:
    """Where a model is served. An empty `base_url` is the vendor's own; `timeout` in seconds, of each of
    the SDK's tries; `retries` come after the first."""

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    retries: int = MAX_RETRIES

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


@contextmanager
def offline() -> Iterator[None]:
    """No call leaves the machine inside."""
    global ALLOW_NETWORK
    before, ALLOW_NETWORK = ALLOW_NETWORK, False
    try:
        yield
    finally:
        ALLOW_NETWORK = before


@contextmanager
def asking(sdk: ModuleType, who: str) -> Iterator[None]:
    """Around one call of `sdk` and the reading of its answer: all that fails is a ProviderError.

    `who` names the model and its server in the messages that people will read.
    """
    if not ALLOW_NETWORK:
        raise ProviderError(f"{who} was not asked: the network is switched off", permanent=True)
    with metrics.timer("provider_calls", provider=sdk.__name__):
        try:
            yield
        except sdk.APITimeoutError as error:
            raise ProviderError(f"{who} did not answer in time", permanent=False) from error
        except sdk.APIConnectionError as error:
            raise ProviderError(
                f"{who} cannot be reached: {error.__cause__ or error}", permanent=False
            ) from error
        except sdk.APIStatusError as error:
            raise from_status(error, who) from error
        except MALFORMED as error:
            raise ProviderError(
                f"{who} answered in a shape that was not expected: {error}"[:400], permanent=False
            ) from error


def from_status(error: Any, who: str) -> ProviderError:
    """Of an SDK's APIStatusError. Only what passes by itself is not permanent."""
    status: int = error.status_code
    hint = f" ({HINTS[status]})" if status in HINTS else ""
    return ProviderError(
        f"{who} answered {status}{hint}: {_told(error.body)}",
        permanent=status < 500 and status not in BUSY,
        retry_after=pause_wanted(error.response.headers),
    )


def _told(body: object) -> str:
    """The server's own words: from `error.message` (Anthropic) or `message` (OpenAI)."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner) if isinstance(inner, dict) else inner
    words = " ".join(str(body or "nothing more").split())
    return words if len(words) <= 300 else words[:299] + "…"


def pause_wanted(headers: Mapping[str, str]) -> float | None:
    """Seconds out of Retry-After, which may be a number or a date; None without a readable one."""
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
    """Without this the SDKs sleep as long as the server says, be it an hour."""
    if (pause_wanted(response.headers) or 0.0) > LONGEST_PAUSE:
        response.headers["x-should-retry"] = "false"


def connect(
    client: Callable[..., Client], http_client: Callable[..., object], endpoint: Endpoint
) -> Client:
    """The SDK's `client` for `endpoint`, kept with its open connections."""
    kept: Client = _connected(client, http_client, endpoint)
    return kept


@functools.lru_cache(maxsize=16)
def _connected(
    client: Callable[..., object], http_client: Callable[..., object], endpoint: Endpoint
) -> Any:
    check(endpoint)
    return client(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url or None,
        timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout)),
        max_retries=endpoint.retries,
        http_client=http_client(event_hooks={"response": [_refuse_long_pause]}),
    )


def check(endpoint: Endpoint) -> None:
    """Raises ProviderError where base URL or key cannot be sent at all."""
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
