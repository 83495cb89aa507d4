"""Hits of many sittings before many hits of one."""

import numpy as np
from numpy.typing import NDArray

from memories.ranking.columns import Array, Integers


def spread(
    order: NDArray[np.intp], total: Array, sitting: Integers, apart: float
) -> tuple[NDArray[np.intp], Array]:
    """The candidates of `order` again, each losing `apart` for every one of its sitting that
    stands before it; and what each lost (0 or less, by candidate).

    The best of what is left comes next, equal ones in the given order.
    """
    left, groups = total[order], sitting[order]
    lost = np.zeros(total.size)
    chosen = np.empty_like(order)
    for place in range(order.size):
        best = int(np.argmax(left))
        chosen[place] = order[best]
        lost[order[best]] = left[best] - total[order[best]]
        left[best] = -np.inf
        left[groups == groups[best]] -= apart
    return chosen, lost
