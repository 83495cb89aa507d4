"""Dates counted from the day on which they are said: "yesterday", "two weeks ago", "next Friday"."""

import re
from datetime import datetime, timedelta

from memories.english.calendar import (
    DAY_WORDS,
    PARTS,
    Clock,
    Grain,
    Span,
    at_time,
    days_from,
    later,
    midnight,
    months_from,
    months_later,
    third,
    weekday_number,
    which_of,
)
from memories.english.numbers import count

_days = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def day(match: re.Match[str], clock: Clock) -> Span:
    words = match[0].lower()
    steps = next((n for ending, n in _days.items() if words.endswith(ending)), 0)
    if "before" in words or "after " in words:
        steps *= 2
    day = days_from(later(clock.today, days=steps), 1, relative=True)
    if words == "tonight":
        return day._replace(start=later(day.start, minutes=17 * 60),
                            end=later(day.start, minutes=28 * 60), grain="part")  # fmt: skip
    part = words.split()[-1]
    return _in_part(day, part) if part in PARTS else day


def _in_part(day: Span, part: str) -> Span:
    first, last = PARTS[part]
    return day._replace(
        start=later(day.start, minutes=60 * first),
        end=later(day.start, minutes=60 * last),
        grain="part",
    )


def _unit(at: datetime, unit: str, steps: int) -> Span:
    """The day, week, month... so many of them from that of `at`."""
    today = midnight(at)
    match unit:
        case "day":
            return days_from(later(today, days=steps), 1, relative=True)
        case "week" | "weekend":
            monday = later(today, days=7 * steps - today.weekday())
            if unit == "week":
                return days_from(monday, 7, "week", relative=True)
            return days_from(later(monday, days=5), 2, "weekend", relative=True)
        case "month":
            span = months_from(months_later(today, steps), 1, "month")
        case "quarter":
            start = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
            span = months_from(months_later(start, 3 * steps), 3, "quarter")
        case "decade":
            start = today.replace(year=today.year // 10 * 10 + 10 * steps, month=1, day=1)
            span = months_from(start, 120, "decade")
        case _:
            span = months_from(today.replace(year=today.year + steps, month=1, day=1), 12, "year")
    return span._replace(is_relative=True)


def steps(match: re.Match[str], clock: Clock) -> Span | None:
    """ "Two weeks ago", "in a month", "a few days from now"."""
    words, unit = match["number"], match["unit"].lower()
    sign = -1 if match["end"] and match["end"].lower().startswith(("ago", "back", "ear")) else 1
    number, unit = (2 * count(words), "week") if unit == "fortnight" else (count(words), unit)
    if unit in ("minute", "hour"):
        minutes = sign * number * (60 if unit == "hour" else 1)
        start = later(clock.at.replace(second=0, microsecond=0), minutes=minutes)
        length = 60 if unit == "hour" and number >= 1 else 1
        grain: Grain = "hour" if length == 60 else "minute"
        return Span(start, later(start, minutes=length), grain, is_relative=True)
    if unit == "decade":
        number, unit = 10 * number, "year"
    if unit == "year" and number % 1:
        number, unit = 12 * number, "month"
    if unit == "week":
        likely = later(clock.today, days=7 * sign * number)
    if match["exact"] and unit in ("week", "month", "year") and not number % 1:
        return _same_day(clock, unit, int(sign * number))
    if "few" in words.lower():
        ends = sorted((_unit(clock.at, unit, sign * 2), _unit(clock.at, unit, sign * 5)))
        span = Span(ends[0].start, ends[1].end, "range", is_relative=True)
        middle = _unit(clock.at, unit, 3 * sign).start if unit != "week" else likely
        return span._replace(likely=middle)
    if unit == "month" and number == 1 and sign < 0:  # about this day of the month before
        day = months_later(clock.today, -1) + timedelta(days=clock.today.day - 1)
        return days_from(later(day, days=-4), 9, "range", relative=True)._replace(likely=day)
    if unit != "week":
        return _unit(clock.at, unit, int(sign * number))
    if sign > 0:  # the same day of that week, or one near it
        return days_from(later(likely, days=-3), 7, "week", relative=True)._replace(likely=likely)
    return _unit(clock.at, unit, -int(number))._replace(likely=likely)


def _same_day(clock: Clock, unit: str, steps: int) -> Span:
    """ "Exactly a year ago" is this day of last year; ValueError where that has no such day."""
    if unit == "week":
        return days_from(later(clock.today, days=7 * steps), 1, relative=True)
    first = months_later(clock.today, steps * (12 if unit == "year" else 1))
    return days_from(first.replace(day=clock.today.day), 1, relative=True)


_in_days = {"day": 1, "week": 7, "weekend": 7, "month": 30.44, "year": 365.25}


def stretch(match: re.Match[str], clock: Clock) -> Span:
    """ "The last three days", "in the past week", "over the next two months"."""
    days = round(count(match["number"] or "one") * _in_days[match["unit"].lower()])
    if match["which"].lower() in ("last", "past"):
        start, end = later(clock.today, days=-days), later(clock.today, days=1)
    else:
        start, end = clock.today, later(clock.today, days=days + 1)
    return Span(start, end, "range", is_relative=True)


def period(match: re.Match[str], clock: Clock) -> Span:
    """Last week, this month, next weekend."""
    which, unit = which_of(match), match["unit"].lower()
    steps = {"last": -1, "this": 0, "next": 1, "": 0}[which]
    return _unit(clock.at, unit, steps)


def before_last(match: re.Match[str], clock: Clock) -> Span:
    """The week before last, the month after next."""
    return _unit(clock.at, match["unit"].lower(), 2 if match["way"].lower() == "after" else -2)


def week_of(match: re.Match[str], clock: Clock) -> Span:
    """Beside a day alone: "the week of 16 November"."""
    return around(clock.at, match["unit"].lower())


def around(day: datetime, unit: str) -> Span:
    """The week, or the weekend of the week, in which it lies."""
    return _unit(day, unit, 0)


def the_weekend(match: re.Match[str], clock: Clock) -> Span:
    """ "Over the weekend": the one that is, else the next or the last."""
    is_on = clock.at.weekday() >= 5
    return _unit(clock.at, "weekend", 0 if clock.ahead or is_on else -1)


def end_of(match: re.Match[str], clock: Clock) -> Span:
    """ "By the end of next month" is its last day; the beginning of it is its first third."""
    span = period(match, clock)
    if match["part"].lower() == "end" or span.grain == "week":
        return third(span, "end")
    return third(span, match["part"])


def weekday(match: re.Match[str], clock: Clock) -> Span | None:
    name, which = match["weekday"], which_of(match)
    if len(name) < 6 and not match["which"] and clock.before not in DAY_WORDS:
        return None  # "The cat sat in the sun"
    ahead = (weekday_number(name) - clock.at.weekday()) % 7
    back = (clock.at.weekday() - weekday_number(name)) % 7 or 7
    if match["way"]:
        days = -back - 7 if match["way"].lower() == "before" else (ahead or 7) + 7
    elif which == "next":  # the very next day is called tomorrow
        days = 8 if ahead == 1 else ahead or 7
    else:
        days = ahead if which == "this" or (which == "" and clock.ahead) else -back
    return days_from(later(clock.today, days=days), 1, relative=True)


def day_of_month(match: re.Match[str], clock: Clock) -> Span | None:
    """The next such day, or the last one: "on the 1st"."""
    if clock.before not in ("on", "by", "until", "before", "from"):
        return None
    day = int(match["day"])
    for steps in range(12):
        try:
            when = months_later(clock.at, steps if clock.ahead else -steps).replace(day=day)
        except ValueError:  # a month without such a day
            continue
        if when >= clock.today if clock.ahead else when <= clock.today:
            return days_from(when, 1, relative=True)
    return None


def time_of_day(match: re.Match[str], clock: Clock) -> Span | None:
    """Of today; it is a date only beside a day."""
    if match["noon"]:
        minutes, grain = 720, "hour"
    elif match["half"]:
        hour = int(match["hour"]) % 12 + (12 if match["half"].lower() == "p" else 0)
        minutes, grain = (
            60 * hour + int(match["minute"] or 0),
            "minute" if match["minute"] else "hour",
        )
    else:
        minutes, grain = 60 * int(match["hour24"]) + int(match["minute24"]), "minute"
    day = days_from(clock.today, 1, relative=True)
    return at_time(day, minutes, "minute" if grain == "minute" else "hour")


def part_of_day(match: re.Match[str], clock: Clock) -> Span:
    return _in_part(days_from(clock.today, 1, relative=True), match["part"].lower())
