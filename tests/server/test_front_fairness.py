"""Whose turn it is in a lane: pure, with a clock of the test's own."""

from memoryproject.server.front.fairness import CONTENDED, MOST_IN_ALL, MOST_WAITING, FairQueue


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def filled(**wanted: int) -> FairQueue[str]:
    """A queue in which each tenant wants so many turns, all asked in this order."""
    queue: FairQueue[str] = FairQueue(Clock())
    for tenant, count in wanted.items():
        queue.saw(tenant)
        for number in range(count):
            queue.put(tenant, "key", f"{tenant}{number}")
    return queue


def served(queue: FairQueue[str], places: int = 1) -> list[str]:
    """All turns in their order, each done before the next begins."""
    order = []
    while taken := queue.take(places):
        order.append(taken[1])
        queue.done(taken[0])
    return order


def test_tenants_take_turns_however_much_one_of_them_asks() -> None:
    assert served(filled(a=4, b=2)) == ["a0", "b0", "a1", "b1", "a2", "a3"]


def test_the_keys_of_a_tenant_take_turns_too() -> None:
    queue = filled()
    for key, count in {"first": 3, "second": 1}.items():
        for number in range(count):
            queue.put("a", key, f"{key}{number}")
    assert served(queue) == ["first0", "second0", "first1", "first2"]


def test_a_lone_tenant_has_all_places() -> None:
    queue = filled(a=4)
    taken = [queue.take(4) for _ in range(4)]
    assert all(taken)


def test_where_others_ask_a_tenant_leaves_a_place_free() -> None:
    queue = filled(a=4)
    queue.saw("b")
    queue.saw("a")
    assert queue.take(2)
    assert queue.take(2) is None
    queue.put("b", "key", "b0")
    assert queue.take(2) == ("b", "b0")


def test_a_lone_tenant_may_let_many_wait() -> None:
    queue = filled(a=MOST_WAITING * 10)
    assert not queue.is_full("a")


def test_where_others_ask_a_tenant_may_not_let_many_wait() -> None:
    queue = filled(a=MOST_WAITING, b=1)
    assert queue.is_full("a")
    assert not queue.is_full("b")


def test_others_count_while_they_asked_a_moment_ago() -> None:
    queue = filled(b=0, a=MOST_WAITING)
    assert queue.is_full("a")
    queue.clock.now += CONTENDED + 1
    assert not queue.is_full("a")


def test_a_lane_lets_only_so_many_wait_in_all() -> None:
    assert filled(a=MOST_IN_ALL).is_full("b")


def test_strangers_fill_half_of_a_lane_and_no_more() -> None:
    queue = filled(**{f"address:10.0.{number}.1": 1 for number in range(MOST_IN_ALL // 2)})
    assert queue.is_full("address:10.1.0.1")
    assert not queue.is_full("a")


def test_who_waits_no_more_takes_no_place() -> None:
    queue = filled(a=2, b=1)
    queue.remove("a", "key", "a0")
    queue.remove("a", "key", "a0")
    assert (queue.waiting, queue.length_of("a")) == (2, 1)
    assert served(queue) == ["a1", "b0"]


def test_requests_that_proved_nothing_yet_are_no_other_tenant() -> None:
    queue = filled(a=MOST_WAITING)
    queue.put("address:10.0.0.9", "address:10.0.0.9", "first")
    while queue.take(100):
        pass
    for number in range(MOST_WAITING):
        queue.put("a", "key", f"again{number}")
    assert not queue.is_full("a")
