"""Schemas of tools that every client takes, and arguments as clients really send them."""

import json
from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
NAMES = ("title", "$defs")  # of our classes, which would fill prompts
# Gemini refuses this key; a name that a tool does not have is refused all the same.
LEFT_OUT = (*NAMES, "additionalProperties")
EMPTY: tuple[Any, ...] = (None, "", [], {})
TRUTHS = {"true": True, "false": False}


def of_arguments(schema: Schema) -> Schema:
    """Return a schema of arguments without references, unions with null, defaults that say nothing
    and formats but date-time: Gemini, Cursor and others refuse the tool or all tools for them."""
    return _plain(schema, schema.get("$defs", {}), is_asked=True)


def of_answer(schema: Schema) -> Schema:
    """Return a schema of an answer without references and formats; what may be null still says so."""
    return _plain(schema, schema.get("$defs", {}), is_asked=False)


def _plain(part: Any, parts: Schema, *, is_asked: bool) -> Any:
    if isinstance(part, list):
        return [_plain(one, parts, is_asked=is_asked) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        named = parts[part["$ref"].rpartition("/")[2]]
        return _plain({**named, **{k: v for k, v in part.items() if k != "$ref"}}, parts, is_asked=is_asked)
    values = [one for one in part.get("anyOf", ()) if one.get("type") != "null"]
    if is_asked and len(values) == 1:
        beside = {k: v for k, v in part.items() if k not in ("anyOf", "default") or (k == "default" and v)}
        return _plain({**values[0], **beside}, parts, is_asked=is_asked)
    left_out = LEFT_OUT if is_asked else NAMES
    made = {}
    for name, value in part.items():
        if name == "properties":
            made[name] = {own: _plain(one, parts, is_asked=is_asked) for own, one in value.items()}
        elif name not in left_out and (name != "format" or value == "date-time"):
            made[name] = _plain(value, parts, is_asked=is_asked)
    return made


def meant(given: Any, schema: Schema) -> Any:
    """Return what a client meant by a value: a list or object written as JSON in a string, a number
    or truth in a string, a number for a name; and without what it only sends to fill a field. What
    is not understood stays as it is, and is refused by its own name."""
    match schema.get("type"):
        case "object":
            given = _unpacked(given, dict)
            return _members(given, schema) if isinstance(given, dict) else given
        case "array":
            given, each = _unpacked(given, list), schema.get("items", {})
            if isinstance(given, dict) or (isinstance(given, str) and each.get("type") == "string"):
                given = [given]
            return [meant(one, each) for one in given] if isinstance(given, list) else given
        case "integer":
            return _whole(given)
        case "boolean" if isinstance(given, str):
            return TRUTHS.get(given.strip().lower(), given)
        case "string" if isinstance(given, int) and not isinstance(given, bool):
            return str(given)
    return given


def _members(given: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    known, needed = schema.get("properties", {}), schema.get("required", ())
    kept = {name: meant(value, known.get(name, {})) for name, value in given.items()}
    return {name: value for name, value in kept.items() if name in needed or value not in EMPTY}


def _unpacked(given: Any, wanted: type) -> Any:
    if not isinstance(given, str):
        return given
    if not given.strip():
        return None
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value if isinstance(value, wanted | dict) else given


def _whole(given: Any) -> Any:
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, str):
        number = given.strip()
        sign, digits = number[:1] in ("-", "+"), number.lstrip("+-").removesuffix(".0")
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            return -int(digits) if sign and number[0] == "-" else int(digits)
        return given if number else None
    return given
