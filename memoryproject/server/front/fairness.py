"""Fair turns: tenants take turns, and so do the callers within one.

A lone tenant has everything. If others asked a moment ago too, a tenant leaves a quarter of a
lane's places free, and may not have more than MOST_WAITING requests waiting.
"""

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")

NOBODY = "address:"  # prefix of tenants without a known credential
CONTENDED = 2.0  # seconds for which a tenant that asked counts as present
MOST_WAITING = 16  # of one tenant in one lane while others are present
MOST_IN_ALL = 2000  # in a lane; further requests would outlive their clients
MOST_SEEN = 1000
LOOKED_AT = 50  # tenants that are compared for the next turn


class FairQueue(Generic[Item]):
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.waiting = 0
        self.at_work: Counter[str] = Counter()
        self._queues: OrderedDict[str, OrderedDict[str, deque[Item]]] = OrderedDict()
        self._lengths: Counter[str] = Counter()
        self._seen: OrderedDict[str, float] = OrderedDict()

    def saw(self, tenant: str) -> None:
        """Note that a tenant asks. Callers without a valid key count for nobody's presence."""
        self._seen[tenant] = self.clock()
        self._seen.move_to_end(tenant)
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)

    def is_contended(self, tenant: str) -> bool:
        """Tell whether another tenant asked a moment ago, or is at work. A caller without a valid
        key does not count: it may be the first request of this tenant."""
        if any(other != tenant and not other.startswith(NOBODY) for other in self.at_work):
            return True
        for other, at in reversed(self._seen.items()):
            if other != tenant:
                return self.clock() - at < CONTENDED
        return False

    def is_full(self, tenant: str) -> bool:
        """Tell whether one more request of this tenant exceeds its share."""
        # Strangers have many addresses: half of the room is reserved for valid keys.
        room = MOST_IN_ALL // 2 if tenant.startswith(NOBODY) else MOST_IN_ALL
        if self.waiting >= room:
            return True
        return self._lengths[tenant] >= MOST_WAITING and self.is_contended(tenant)

    def length_of(self, tenant: str) -> int:
        return self._lengths[tenant]

    def put(self, tenant: str, asker: str, item: Item) -> None:
        queue = self._queues.setdefault(tenant, OrderedDict()).setdefault(asker, deque())
        queue.append(item)
        self._lengths[tenant] += 1
        self.waiting += 1

    def remove(self, tenant: str, asker: str, item: Item) -> None:
        """Remove an item, if it still waits."""
        askers = self._queues.get(tenant)
        queue = askers.get(asker) if askers else None
        if queue is None or item not in queue:
            return
        queue.remove(item)
        self._left(tenant, asker)

    def _left(self, tenant: str, asker: str) -> None:
        """Count one waiting item less; drop empty queues."""
        askers = self._queues[tenant]
        if not askers[asker]:
            del askers[asker]
        if not askers:
            del self._queues[tenant]
        take_off(self._lengths, tenant)
        self.waiting -= 1

    def take(self, places: int) -> tuple[str, Item] | None:
        """Return the next item, of the tenant with least at work; None where nobody may go on.

        `places`: how many can be at work in this lane. Call `done` for the tenant afterwards.
        """
        least: tuple[int, str] | None = None
        for place, tenant in enumerate(self._queues):
            held = self.at_work.get(tenant, 0)
            is_much = held >= max(1, places - max(1, places // 4))
            if held and is_much and self.is_contended(tenant):
                continue
            if least is None or held < least[0]:
                least = held, tenant
            if held == 0 or place >= LOOKED_AT:
                break
        if least is None:
            return None
        tenant = least[1]
        askers = self._queues[tenant]
        asker, queue = next(iter(askers.items()))
        item = queue.popleft()
        askers.move_to_end(asker)
        self._queues.move_to_end(tenant)
        self._left(tenant, asker)
        self.at_work[tenant] += 1
        return tenant, item

    def done(self, tenant: str) -> None:
        take_off(self.at_work, tenant)


def take_off(counter: Counter[str], tenant: str, number: int = 1) -> None:
    """Lower a tenant's count; a tenant at zero is dropped."""
    counter[tenant] -= number
    if counter[tenant] <= 0:
        del counter[tenant]
