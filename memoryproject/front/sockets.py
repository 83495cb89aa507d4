"""The connections of clients, and whose are closed where they are too many.

The HTTP server below us takes so many and lets others wait unheard, those that ask for our health
as well; it tells nobody whose they are. The kernel does: each is a file of this process.
"""

import heapq
import os
import socket
from contextlib import suppress

FILES = "/dev/fd"


def close_excess(most: int) -> int:
    """Where there are more than `most`, close the newest connections of whichever address has most
    of them, until a quarter of the room is free; how many were closed."""
    files = os.listdir(FILES)
    if len(files) <= most:
        return 0
    by_address: dict[str, list[int]] = {}
    for file in sorted(map(int, files)):  # the oldest first
        with suppress(OSError):  # closed meanwhile, or no connection
            seen = socket.socket(fileno=file)
            try:
                if seen.family in (socket.AF_INET, socket.AF_INET6):
                    by_address.setdefault(str(seen.getpeername()[0]), []).append(file)
            finally:
                seen.detach()  # it is not ours
    largest = [(-len(own), address) for address, own in by_address.items()]
    heapq.heapify(largest)
    closed = 0
    while largest and closed < len(files) - most * 3 // 4:
        _, address = heapq.heappop(largest)
        own = by_address[address]
        closed += _close(own.pop(), address)
        if own:
            heapq.heappush(largest, (-len(own), address))
    return closed


def _close(file: int, address: str) -> bool:
    """Whether it was still the connection of this address. Its owner reads that it has ended."""
    with suppress(OSError), socket.socket(fileno=os.dup(file)) as own:
        if own.getpeername()[0] == address:
            own.shutdown(socket.SHUT_RDWR)
            return True
    return False
