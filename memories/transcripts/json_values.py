"""Values of JSON as readers take them: fields, texts, times."""

import math
import re
from contextlib import suppress
from datetime import UTC, datetime

from memories.transcripts.transcript import Json

# Taking typed pieces out of JSON whose shape nobody promised, times as aware UTC, and what does
# not fit for a database made to fit: Postgres takes no NUL, UTF-8 no lone surrogate, JSON no NaN.


# Seconds since 1970 stay below this until the year 5138; bigger numbers are milliseconds.
MILLISECONDS_FROM = 1e11
SURROGATES = re.compile("[\ud800-\udfff]")


def fields(data: Json) -> dict[str, Json]:
    return data if isinstance(data, dict) else {}


def string(data: Json, *keys: str) -> str:
    """Return the first of `keys` that holds words or a number, as stripped text; else ""."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, str) and found.strip():
            return found.strip()
        if isinstance(found, int | float) and not isinstance(found, bool):
            return str(found)
    return ""


def mapping(data: Json, *keys: str) -> dict[str, Json]:
    """Return the first of `keys` that holds an object; else an empty one."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, dict):
            return found
    return {}


def items(data: Json, *keys: str) -> list[Json]:
    """Return the first of `keys` that holds a list; else an empty one."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, list):
            return found
    return []


def first(data: Json, *keys: str) -> Json:
    """Return the first of `keys` that is there and not null."""
    found = (fields(data).get(key) for key in keys)
    return next((value for value in found if value is not None), None)


def instant(raw: Json) -> datetime | None:
    """Read ISO 8601, or seconds or milliseconds since 1970 as number or text; else return None."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    moment = None
    try:
        if isinstance(raw, str):
            with suppress(ValueError):
                moment = datetime.fromisoformat(raw.strip())
        if moment is None:
            number = float(raw)
            seconds = number / 1000 if abs(number) >= MILLISECONDS_FROM else number
            return datetime.fromtimestamp(seconds, UTC)
        moment.astimezone(UTC)  # a day of the calendar there, too
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def written(raw: str, pattern: str) -> datetime | None:
    """Read a time in the given strptime pattern; return None if it does not fit."""
    try:
        return datetime.strptime(raw.strip(), pattern).replace(tzinfo=UTC)
    except ValueError:
        return None


def clean_text(text: str) -> str:
    """Drop NULs, and turn lone halves of surrogate pairs into the replacement character."""
    if text.isascii():
        return text.replace("\x00", "")
    return SURROGATES.sub("\ufffd", text).replace("\x00", "")


def clean(data: Json) -> Json:
    """Clean all strings of a JSON value likewise, keys too; infinite numbers become null."""
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, list):
        return [clean(item) for item in data]
    if isinstance(data, dict):
        return {clean_text(key): clean(item) for key, item in data.items()}
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
