"""Many vectors against all that a subject has: one product of matrices, outside of the database.

The rows come as binary COPY out of the covering index. A thousand statements against ten thousand
memories take a tenth of a second; as a join, the same comparisons take two.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import psycopg

from memories.index import statements

Floats = npt.NDArray[np.float32]
CHUNK = 2_048  # rows of one product, which stays near the processor
# Of binary COPY: the signature, flags and the length of an extension; at the end a -1.
HEADER, TRAILER = 19, 2


def best_pairs(
    select: str, values: dict[str, Any], asked: Floats, *, floor: float, most: int
) -> list[tuple[int, int, float]]:
    """(row of `asked`, entry id, cosine) of pairs at or over `floor`, `most` per row, best first.

    `select` answers entry_id and embedding, all of the length that `asked` has.
    """
    found = _Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    bounds = np.full(len(asked), floor, np.float32)
    for ids, vectors in _chunks(select, values, asked.shape[1]):
        cosines = asked @ vectors.T
        # As one row: in two dimensions numpy looks for them six times as long.
        rows, columns = divmod(np.flatnonzero(cosines >= bounds[:, None]), len(ids))
        found = found.with_more(_Pairs(rows, ids[columns], cosines[rows, columns]))
        found, ranks = found.best(most)
        # What is farther than the last of a full row is not looked at again.
        is_last = ranks == most - 1
        bounds[found.rows[is_last]] = found.cosines[is_last]
    return list(zip(*(each.tolist() for each in found), strict=True))


class _Pairs(NamedTuple):
    """Pairs by column; a row's are the best first once they are `best`."""

    rows: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    cosines: Floats

    def with_more(self, more: "_Pairs") -> "_Pairs":
        return _Pairs(
            np.concatenate((self.rows, more.rows)),
            np.concatenate((self.ids, more.ids)),
            np.concatenate((self.cosines, more.cosines)),
        )

    def best(self, most: int) -> tuple["_Pairs", npt.NDArray[np.int64]]:
        """At most so many of each row, with their ranks from 0 on."""
        order = np.lexsort((self.ids, -self.cosines, self.rows))
        rows = self.rows[order]
        ranks = np.arange(len(rows)) - np.searchsorted(rows, rows)
        kept = order[ranks < most]
        found = _Pairs(self.rows[kept], self.ids[kept], self.cosines[kept])
        return found, ranks[ranks < most]


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
