"""Identifiers that sort by the time they were made."""

import os
import time
import uuid


def uuid7() -> uuid.UUID:
    """A UUID of version 7 (RFC 9562): 48 bits of unix milliseconds, then random bits.

    Rows that are made together lie together in their indexes.
    """
    milliseconds = time.time_ns() // 1_000_000
    random_bits = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (2**48 - 1)) << 80 | random_bits
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)
