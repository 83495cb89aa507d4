"""Telling an address that somebody else than the operator named: one POST, to allowed places alone,
without redirects, of which the answer's status counts and nothing else."""

from collections.abc import Mapping

import httpx2

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.allowed_addresses import AddressRefused, GuardedTransport

LONGEST = 15.0  # seconds, of all of it
AGENT = "memoryproject-webhooks/1"


def post(url: str, headers: Mapping[str, str], body: bytes, allowed: tuple[str, ...]) -> int:
    """The status of the answer. Raises ProviderError where there is none."""
    network.check_allowed(url)

    def call() -> int:
        timeout = httpx2.Timeout(LONGEST, connect=network.CONNECT_SECONDS)
        own = {"content-type": "application/json", "user-agent": AGENT, **headers}
        with (
            httpx2.Client(transport=GuardedTransport(allowed), timeout=timeout) as client,
            client.stream("POST", url, content=body, headers=own) as answer,
        ):
            return answer.status_code

    try:
        return network.within("the address", LONGEST, call)
    except AddressRefused as error:
        raise ProviderError(str(error), permanent=True) from error
    except (httpx2.HTTPError, OSError) as error:
        raise ProviderError("the address cannot be reached", permanent=False) from error
