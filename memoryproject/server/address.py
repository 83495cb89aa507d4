"""The address that the web server listens on, and the host names by which requests reach it."""

import socket
import urllib.request
from dataclasses import dataclass
from urllib.error import HTTPError, URLError

from django.conf import settings

EVERYWHERE = ("0.0.0.0", "::")


class AddressInUse(Exception):
    """The server cannot listen at the address."""


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @property
    def reached(self) -> tuple[str, int]:
        """The host and port by which this machine reaches the server."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host), self.port

    @property
    def url(self) -> str:
        here, _ = self.reached
        return f"http://[{here}]:{self.port}" if ":" in here else f"http://{here}:{self.port}"


def reserve(host: str, port: int) -> socket.socket:
    """Return a socket that holds the address, if it is free; port 0 finds a free one.

    Checked beforehand, because the web server would silently share a port with another of its kind;
    and held, so that nobody else takes it while the web server starts or restarts.
    """
    held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((host, port))
    except (OSError, OverflowError) as error:
        held.close()
        raise AddressInUse(f"Cannot listen at {host}, port {port}: {error}") from None
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as the web server does
    return held


def answers(address: Address) -> bool:
    """Tell whether a web process behind the front answers the home page by now."""
    try:
        urllib.request.urlopen(f"{address.url}/", timeout=5).close()
    except HTTPError as error:
        return error.code < 500
    except (URLError, OSError):
        return False
    return True


def allowed_hosts(host: str) -> list[str]:
    """The names that requests may use: those of the settings, and what listening at `host` adds."""
    if host in EVERYWHERE:
        own = [socket.gethostname(), socket.getfqdn()]
    else:
        own = [f"[{host}]" if ":" in host else host]
    names = [*settings.ALLOWED_HOSTS, *own]
    return list(dict.fromkeys(name.lower() for name in names if name))
