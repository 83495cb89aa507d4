"""Plans whose day has passed: they stay known, and are no longer told as what is to come."""

from collections.abc import Iterable
from datetime import date, datetime

from django.utils import timezone

from memories.english.dates import event_date, last_day
from memories.models import AsOf, Category, Feature, FeatureCitation, Memory

# Categories whose features are about what is to come.
MOVING = frozenset({"plans"})


def today(at: AsOf) -> date:
    """The day from which the profile looks ahead."""
    return (at.valid_at or at.known_at or timezone.now()).date()


def is_over(feature: Feature, cited: Iterable[FeatureCitation], on: date) -> bool:
    """Whether a plan's last day lies before `on`; one without a date never ends by itself."""
    if feature.category not in MOVING:
        return False
    ends = [end for one in cited if (end := _end(feature, one))]
    return bool(ends) and max(ends) < on


def _end(feature: Feature, one: FeatureCitation) -> date | None:
    """By the fact that was read there; else by the words of the feature, as said that day."""
    if one.fact and one.fact.event_date:
        return _last(one.fact.statement, one.fact.event_date)
    found = event_date(feature.value, one.episode.occurred_at)
    return _last(feature.value, found) if found else None


def is_over_memory(memory: Memory, on: date) -> bool:
    is_plan = memory.category == Category.PLAN and memory.event_date is not None
    return is_plan and _last(memory.content, memory.event_date) < on  # type: ignore[arg-type]


def _last(statement: str, first: datetime) -> date:
    return last_day(statement, first.date())
