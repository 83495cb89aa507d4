"""Time zones of pages: times are in the reader's zone, and days are days, the same in all zones."""

import zoneinfo
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

COOKIE = "time_zone"  # desk.js keeps the browser's name of its zone in it


@cache
def known_zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones() - {"localtime", "Factory"})


def zone_of(request: HttpRequest, user: Any) -> str:
    """Return the zone that the person has chosen, else the browser's; UTC where neither is
    known."""
    asked = getattr(user, "time_zone", "") or request.COOKIES.get(COOKIE, "")
    return asked if asked in known_zones() else "UTC"


def begin_of(day: date) -> datetime:
    """Return the beginning of a day in the person's time zone."""
    return timezone.make_aware(datetime.combine(day, time()))


def day_of(at: datetime) -> date:
    """Return the day of an instant. Midnight in UTC is how a day without a time is stored."""
    at = at.astimezone(UTC)
    return at.date() if at.time() == time() else timezone.localtime(at).date()
