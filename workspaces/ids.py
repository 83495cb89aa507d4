"""Identifiers that sort by the time they were made."""

import os
import threading
import time
import uuid
from datetime import datetime

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A UUID of version 7 (RFC 9562, method 3): unix milliseconds, 12 bits of their fraction,
    then random bits. Ids of one process are strictly ordered; rows made together lie together.
    """
    global _last
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    with _lock:  # units of 1/4096 of a millisecond since 1970, never the same twice
        _last = tick = max(_last + 1, milliseconds << 12 | nanoseconds * 4096 // 1_000_000)
    value = tick >> 12 << 80 | 0x7 << 76 | (tick & 0xFFF) << 64
    value |= 0b10 << 62 | int.from_bytes(os.urandom(8), "big") >> 2
    return uuid.UUID(int=value)


def first_uuid7(at: datetime) -> uuid.UUID:
    """The lowest id of that millisecond: ids from here on were made then or later."""
    milliseconds = int(at.timestamp() * 1000)
    return uuid.UUID(int=milliseconds << 80)
