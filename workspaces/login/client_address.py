"""Where a request comes from."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

# A request with any of these was handed on.
FORWARDED = (
    "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED", "HTTP_X_REAL_IP",
    "HTTP_VIA",
)  # fmt: skip


def client_address(request: HttpRequest) -> str:
    """The peer; behind a proxy that we trust, the one it names last in X-Forwarded-For. Empty where
    that is no address, as at a Unix socket."""
    named = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_TLS_PROXY:
        named = request.META.get("HTTP_X_FORWARDED_FOR", named).rpartition(",")[2]
    found = _parsed(named)
    return str(found) if found else ""


def network_of(address: str) -> str:
    """What one caller has at will: an IPv4 address, or a /64 of IPv6."""
    found = _parsed(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return address


def is_of_this_machine(request: HttpRequest) -> bool:
    """Whether the peer itself is on this machine, and speaks for nobody else."""
    peer = _parsed(request.META.get("REMOTE_ADDR", ""))
    is_forwarded = any(name in request.META for name in FORWARDED)
    return peer is not None and peer.is_loopback and not is_forwarded


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    plain = text.strip().removeprefix("[").partition("]")[0].partition("%")[0]
    if plain.count(":") == 1:  # some proxies name the port, too
        plain = plain.partition(":")[0]
    try:
        found = ipaddress.ip_address(plain)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def request_id_of(request: HttpRequest) -> str:
    return str(request.META.get("REQUEST_ID", ""))
