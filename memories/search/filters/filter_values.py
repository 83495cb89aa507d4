"""The value of a condition: whether it fits its field and its operator."""

import math
import uuid
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime

from memories.errors import Invalid
from memories.search.filters.fields import METADATA, kind_of

UNORDERED = ("gt", "gte", "lt", "lte", "contains")


def value_of(field: str, op: str, value: Any, path: str) -> Any:
    if op == "exists":
        if not isinstance(value, bool):
            raise Invalid(path, "exists takes true or false.")
        return value
    kind = "json" if field.startswith(METADATA) else kind_of(field)
    if kind == "bool" and op in UNORDERED:
        raise Invalid(path, f"{op} does not fit {field}, which is true or false.")
    if op == "contains":
        if kind in ("number", "time", "uuid"):
            raise Invalid(path, f"contains does not fit {field}.")
        return _typed("text" if kind != "json" else "json", value, path)
    if op == "in":
        if not isinstance(value, list) or not 0 < len(value) <= 1000:
            raise Invalid(path, "in takes a list of 1 to 1000 values.")
        return [_typed(kind, one, f"{path}[{i}]") for i, one in enumerate(value)]
    if kind == "list":
        raise Invalid(path, f"{field} is a list: use contains or exists.")
    return _typed(kind, value, path)


def _typed(kind: str, value: Any, path: str) -> Any:
    if kind in ("time", "uuid"):
        return _time(value, path) if kind == "time" else _uuid(value, path)
    if isinstance(value, float) and not math.isfinite(value):
        raise Invalid(path, "Must be a finite number.")
    fits = {
        "text": isinstance(value, str),
        "list": isinstance(value, str),
        "bool": isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "json": isinstance(value, str | int | float | bool),
    }[kind]
    if not fits:
        raise Invalid(path, f"Must be a {kind if kind != 'json' else 'text, number or boolean'}.")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        raise Invalid(path, "The number is too large.")
    return value


def _uuid(value: Any, path: str) -> str:
    """As the database writes it."""
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise Invalid(path, "Must be a UUID.") from None


def _time(value: Any, path: str) -> datetime:
    try:
        found = parse_datetime(value) if isinstance(value, str) else None
        if found is None and isinstance(value, str) and (day := parse_date(value)):
            found = datetime.fromisoformat(f"{day.isoformat()}T00:00:00+00:00")
    except ValueError:
        found = None
    if found is None:
        raise Invalid(path, "Must be a time as ISO 8601.")
    return found if found.tzinfo else datetime.fromisoformat(f"{found.isoformat()}+00:00")
