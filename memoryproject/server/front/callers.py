"""The address of a caller, and the network in which one caller can choose addresses at will."""

import ipaddress


def parsed_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    plain = text.strip().removeprefix("[").partition("]")[0].partition("%")[0]
    if plain.count(":") == 1:  # some proxies name the port, too
        plain = plain.partition(":")[0]
    try:
        found = ipaddress.ip_address(plain)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def network_of(address: str) -> str:
    """The network by which callers are counted: an IPv4 address, or a /64 of IPv6; `address` itself
    if it is neither."""
    found = parsed_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found) if found else address
