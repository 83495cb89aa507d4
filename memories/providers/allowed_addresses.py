"""The addresses a call may go to where someone other than the operator has named it.

Public ones of other machines over https, and where pages are read over http too; others where the
operator allows them, by host (`models.lan`), host and port (`localhost:11434`) or network
(`10.0.0.0/8`); `*` allows all. What a name stands for is looked at when the connection is made, and
the connection goes to the address that was looked at. When the time of a request is over its
connection is shut.
"""

import ipaddress
import math
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
ANY = "*"
PORTS = {"http": 80, "https": 443}
SECURE = ("https",)  # by which a public address may be asked
GLOBAL_V6 = ipaddress.ip_network("2000::/3")  # others are local, or stand for an IPv4 address
# A cloud serves its machines their private data from these.
OF_CLOUDS = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "168.63.129.16/32")))


class AddressRefused(Exception):
    """The error for an address that the operator does not allow; its words are ours."""


class GuardedTransport(httpx2.HTTPTransport):
    """A transport to allowed addresses alone, for so many `seconds` of a request and its answer.

    Proxies of the environment are not used: they would look up the name themselves. Each request
    has a connection of its own, so that the end of its time is no other's. Where an answer has at
    most `size` bytes it comes unpacked: nobody bounds what it would unpack to.
    """

    def __init__(
        self,
        allowed: Sequence[str],
        *,
        seconds: float,
        size: float = math.inf,
        schemes: Sequence[str] = SECURE,
    ) -> None:
        super().__init__(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))
        self._allowed, self._schemes = tuple(allowed), tuple(schemes)
        self._seconds, self._size = seconds, size

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request. Raises AddressRefused, httpx2.ReadTimeout when the time is over."""
        deadline = _Deadline(self._seconds)
        url = request.url
        port = url.port or PORTS.get(url.scheme, 0)
        headers = request.headers.copy()  # its Host is the name
        if self._size < math.inf:
            headers["accept-encoding"] = "identity"
        try:
            address = address_for(url.scheme, url.host, port, self._allowed, schemes=self._schemes)
            own = httpx2.Request(
                request.method,
                url.copy_with(host=address),
                headers=headers,
                stream=request.stream,
                extensions=dict(request.extensions, sni_hostname=url.host, trace=deadline.trace),
            )
            with deadline.watched():
                response = super().handle_request(own)
            encoding = response.headers.get("content-encoding", "identity")
            if self._size < math.inf and encoding != "identity":
                response.close()
                raise httpx2.ReadError("The answer is packed, which was not asked for.")
        except BaseException:
            deadline.cancel()
            raise
        response.stream = _BoundedStream(response.stream, deadline, self._size)
        return response


class _Deadline:
    """The end of a request's time, when its connections are shut: nothing else ends a server that
    drips, be it a byte now and then or one interim answer after the other."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self.end)
        self._timer.daemon = True
        self._timer.start()
        self.cancel = self._timer.cancel

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        if name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._sockets.append(info["return_value"].get_extra_info("socket"))
                is_over = self.is_over
            if is_over:
                self.end()

    def end(self) -> None:
        with self._lock:
            self.is_over = True
            for each in self._sockets:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # closed already

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raise httpx2.ReadTimeout where it ended what is inside. A body without a length ends then
        like one that is whole."""
        late = "The time of the request is over."
        try:
            yield
        except (httpx2.TransportError, OSError) as error:
            if self.is_over:
                raise httpx2.ReadTimeout(late) from error
            raise
        if self.is_over:
            raise httpx2.ReadTimeout(late)


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: Any, deadline: _Deadline, size: float) -> None:
        self._stream, self._deadline, self._left = stream, deadline, size

    def __iter__(self) -> Iterator[bytes]:
        with self._deadline.watched():
            for part in self._stream:
                self._left -= len(part)
                if self._left < 0:
                    raise httpx2.ReadError("The answer is too long.")
                yield part

    def close(self) -> None:
        self._deadline.cancel()
        self._stream.close()


def address_for(scheme: str, host: str, port: int, allowed: Sequence[str], *, schemes: Sequence[str] = SECURE) -> str:
    """Return an address of `host` that a connection may go to. Raises AddressRefused, OSError for
    an unknown name."""
    is_public = scheme in schemes
    named = _is_named(host, port, allowed)
    for family, _, _, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if family in (socket.AF_INET, socket.AF_INET6):
            address = str(where[0]).partition("%")[0]
            if named or _is_allowed(is_public, ipaddress.ip_address(address), allowed):
                return address
    raise AddressRefused(f"{host} is no address that this server may call")


def is_refused(url: str, allowed: Sequence[str], schemes: Sequence[str] = SECURE) -> bool:
    """Tell whether a base URL alone shows, without a name lookup, that no call may go there."""
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
    """Tell whether an entry of the operator's list is well-formed."""
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
        if address not in GLOBAL_V6 or address.sixtofour or address.teredo:
            return False
    elif any(address in network for network in OF_CLOUDS):
        return False
    is_global = address.is_global and not address.is_multicast
    return is_public and is_global and not is_of_this_machine(address)


def is_of_this_machine(address: Address) -> bool:
    """Tell whether one of our network interfaces has it, and so no firewall stands between."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((str(address), 9))  # sends nothing: it chooses from where it would
            return str(asked.getsockname()[0]) == str(address)
    except OSError:
        return False  # no way leads there


def _networks(allowed: Sequence[str]) -> list[Network]:
    networks: list[Network] = []
    for entry in allowed:
        if "/" in entry:
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                continue  # a system check tells it
    return networks
