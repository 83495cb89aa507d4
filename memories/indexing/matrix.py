"""Many vectors against all that a subject has: one product of matrices, outside of the database.

The rows come as binary COPY out of the covering index. A thousand statements against ten thousand
memories take a tenth of a second; as a join, the same comparisons take two.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg

from memories.indexing import statements

Floats = npt.NDArray[np.float32]
CHUNK = 8_192  # rows of one product
# Of binary COPY: the signature, flags and the length of an extension; at the end a -1.
HEADER, TRAILER = 19, 2


def best_pairs(
    select: str, values: dict[str, Any], asked: Floats, *, floor: float, most: int
) -> list[tuple[int, int, float]]:
    """(row of `asked`, entry id, cosine) of pairs at or over `floor`, `most` per row, best first.

    `select` answers entry_id and embedding, all of the length that `asked` has.
    """
    found: list[list[tuple[float, int]]] = [[] for _ in asked]
    for ids, vectors in _chunks(select, values, asked.shape[1]):
        cosines = asked @ vectors.T
        for row, column in zip(*np.nonzero(cosines >= floor), strict=True):
            found[row].append((float(cosines[row, column]), int(ids[column])))
    return [
        (row, entry, cosine)
        for row, pairs in enumerate(found)
        for cosine, entry in sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:most]
    ]


def _chunks(
    select: str, values: dict[str, Any], dimensions: int
) -> Iterator[tuple[npt.NDArray[np.int64], Floats]]:
    rows = np.frombuffer(_copied(select, values), _layout(dimensions))
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        yield part["id"].astype(np.int64), part["vector"].astype(np.float32)


def _copied(select: str, values: dict[str, Any]) -> bytes:
    text = f"copy ({select}) to stdout (format binary)"
    with psycopg.Cursor(statements.hot_connection()) as cursor, cursor.copy(text, values) as reader:
        return b"".join(bytes(part) for part in reader)[HEADER:-TRAILER]


def _layout(dimensions: int) -> np.dtype[Any]:
    """One row of binary COPY: a count of fields, then each with its length before it."""
    return np.dtype(
        [("fields", ">i2"), ("id_length", ">i4"), ("id", ">i8"), ("vector_length", ">i4")]
        + [("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimensions,))]
    )
