"""Times as files write them, as aware UTC. What has no zone is taken as UTC."""

from datetime import UTC, datetime

from memories.transcripts.transcript import Json

# Seconds since 1970 stay below this until the year 5138; bigger numbers are milliseconds.
MILLISECONDS_FROM = 1e11


def instant(raw: Json) -> datetime | None:
    """ISO 8601, or seconds or milliseconds since 1970 as number or text; else None."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    try:
        return _of_text(raw.strip()) if isinstance(raw, str) else _of_number(raw)
    except (ValueError, OverflowError, OSError):
        return None


def written(raw: str, pattern: str) -> datetime | None:
    """A time in the given strptime pattern; None where it does not fit."""
    try:
        return datetime.strptime(raw.strip(), pattern).replace(tzinfo=UTC)
    except ValueError:
        return None


def _of_text(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _of_number(float(text))
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _of_number(number: float) -> datetime:
    seconds = number / 1000 if abs(number) >= MILLISECONDS_FROM else number
    return datetime.fromtimestamp(seconds, UTC)
