"""To which addresses a call may go that somebody else than the operator has named.

Public ones over https, and where pages are read over http too; others where the operator allows
them, by host (`models.lan`), host and port (`localhost:11434`) or network (`10.0.0.0/8`); `*`
allows all. What a name stands for is looked at when the connection is made, and the connection goes
to the address that was looked at.
"""

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
ANY = "*"
PORTS = {"http": 80, "https": 443}
SECURE = ("https",)  # by which a public address may be asked
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # to IPv4 addresses, private ones among them


class AddressRefused(Exception):
    """The address is none that the operator allows; its words are ours."""


class GuardedTransport(httpx2.HTTPTransport):
    """Connects to allowed addresses alone. Proxies of the environment are not used: they would look
    up the name themselves."""

    def __init__(self, allowed: Sequence[str], schemes: Sequence[str] = SECURE) -> None:
        super().__init__(trust_env=False)
        self._allowed, self._schemes = tuple(allowed), tuple(schemes)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises AddressRefused."""
        url = request.url
        port = url.port or PORTS.get(url.scheme, 0)
        address = address_for(url.scheme, url.host, port, self._allowed, schemes=self._schemes)
        own = httpx2.Request(
            request.method,
            url.copy_with(host=address),
            headers=request.headers,  # its Host is the name
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )
        return super().handle_request(own)


def address_for(
    scheme: str, host: str, port: int, allowed: Sequence[str], *, schemes: Sequence[str] = SECURE
) -> str:
    """An address of `host` that a connection may go to. Raises AddressRefused, OSError for a name
    that nobody knows."""
    is_public = scheme in schemes
    named = _is_named(host, port, allowed)
    for family, _, _, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if family in (socket.AF_INET, socket.AF_INET6):
            address = str(where[0]).partition("%")[0]
            if named or _is_allowed(is_public, ipaddress.ip_address(address), allowed):
                return address
    raise AddressRefused(f"{host} is no address that this server may call")


def is_refused(url: str, allowed: Sequence[str], schemes: Sequence[str] = SECURE) -> bool:
    """Whether it can be told from a base URL alone, without looking a name up, that no call may go
    there."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_named(host, parts.port or PORTS.get(parts.scheme, 0), allowed):
        return False
    try:
        is_public = parts.scheme in schemes
        return not _is_allowed(is_public, ipaddress.ip_address(host), allowed)
    except ValueError:
        return parts.scheme not in schemes and not _networks(allowed)


def is_readable(entry: str) -> bool:
    """Whether an entry of the operator's list says something."""
    if "://" in entry or not entry.isprintable() or " " in entry:
        return False
    return "/" not in entry or bool(_networks([entry]))


def _is_named(host: str, port: int, allowed: Sequence[str]) -> bool:
    bracketed = f"[{host}]" if ":" in host else host
    return not {ANY, host, bracketed, f"{bracketed}:{port}"}.isdisjoint(allowed)


def _is_allowed(is_public: bool, address: Address, allowed: Sequence[str]) -> bool:
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in network for network in _networks(allowed)):
        return True
    if isinstance(address, ipaddress.IPv6Address):
        hides_another = address.sixtofour or address.teredo or address in TRANSLATED
        if hides_another:
            return False
    return is_public and address.is_global and not address.is_multicast


def _networks(allowed: Sequence[str]) -> list[Network]:
    networks: list[Network] = []
    for entry in allowed:
        if "/" in entry:
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                continue  # a system check tells it
    return networks
