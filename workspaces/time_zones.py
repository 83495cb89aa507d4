"""Time zones: of pages, where times are in the reader's zone, and days are days, the same in all zones;
and of speakers, whose "yesterday" counts from their own day."""

import zoneinfo
from datetime import UTC, date, datetime, time, timedelta
from datetime import timezone as fixed_zone
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


def offset_of(at: datetime, *zones: str) -> int:
    """Return by how many minutes the speaker's clock is ahead of UTC: as the time was given or, of a
    time in UTC, which programs send for people everywhere, by the first zone that is known. Midnight
    in UTC is a day without a time."""
    if not at.utcoffset() and at.time() == time():
        return 0
    zone = next((name for name in zones if name in known_zones()), "")
    try:
        ahead = at.utcoffset() or (at.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset() if zone else None) or timedelta()
        at.astimezone(UTC).replace(tzinfo=None) + ahead
    except OverflowError:  # at an end of the calendar the day is UTC's
        return 0
    return round(ahead / timedelta(minutes=1))


def by_clock(at: datetime, offset: int) -> datetime:
    """Return an instant in the time of a clock that is so many minutes ahead of UTC."""
    return at.astimezone(fixed_zone(timedelta(minutes=offset)))


def as_day_is_stored(at: datetime) -> datetime:
    """Return a time of a speaker's clock beside days, which are stored as midnight in UTC."""
    return at.replace(tzinfo=UTC)
