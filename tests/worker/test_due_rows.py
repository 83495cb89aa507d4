"""A queue's rows: one worker has each, its attempts are counted, and what failed waits longer each time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.models import DueSummary
from memories.queue.due_rows import Queue, pause_after
from memories.queue.leases import TakenOver
from tests.people import Person

pytestmark = pytest.mark.django_db

FIRST = timedelta(seconds=30)
QUEUE = Queue(DueSummary, FIRST, most_attempts=3)


@pytest.fixture
def row(alice: Person) -> DueSummary:
    return DueSummary.objects.create(workspace=alice.workspace)


def claimed(row: DueSummary) -> DueSummary:
    found = QUEUE.claim(row.pk)
    assert found is not None
    return found


def taken_over(row: DueSummary) -> DueSummary:
    """The claim of the next worker, after the lease of the first one ran out."""
    DueSummary.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    return claimed(row)


def test_a_claimed_row_is_nobody_elses(row: DueSummary) -> None:
    assert QUEUE.due() == [row.pk]
    claimed(row)
    assert (QUEUE.claim(row.pk), QUEUE.due()) == (None, [])


def test_who_was_taken_over_writes_nothing(row: DueSummary) -> None:
    first = claimed(row)
    second = taken_over(row)
    assert not QUEUE.give_back(first)
    with pytest.raises(TakenOver):
        QUEUE.keep(first)
    assert QUEUE.give_back(second)
    assert QUEUE.due() == [row.pk]


def test_deaths_are_attempts_until_a_step_is_done(row: DueSummary) -> None:
    last = claimed(row)
    for _ in range(2):
        last = taken_over(row)
    assert not QUEUE.died_too_often(last)
    QUEUE.keep(last)
    assert taken_over(row).attempts == 2
    for _ in range(2):
        last = taken_over(row)
    assert QUEUE.died_too_often(last)


def test_a_failure_is_due_later_and_the_last_one_no_more(row: DueSummary) -> None:
    first = claimed(row)
    again_at = QUEUE.retry_at(first)
    assert again_at is not None
    assert again_at > timezone.now() + FIRST
    assert QUEUE.leave(first, again_at)
    assert QUEUE.due() == []
    DueSummary.objects.update(attempts=2, due_at=timezone.now())
    assert QUEUE.retry_at(claimed(row)) is None


def test_what_was_given_back_has_all_its_attempts_again(row: DueSummary) -> None:
    QUEUE.give_back(claimed(row), timedelta(0))
    assert claimed(row).attempts == 1


@pytest.mark.parametrize(
    ("failures", "wanted", "seconds"), [(1, 0.0, 60), (3, 0.0, 240), (50, 0.0, 3600), (1, 90.0, 90), (50, 7200.0, 7200)]
)
def test_a_pause_doubles_up_to_an_hour_or_is_what_the_other_side_wants(
    failures: int, wanted: float, seconds: int
) -> None:
    assert pause_after(failures, FIRST, wanted) == timedelta(seconds=seconds)
