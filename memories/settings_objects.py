"""Settings that a caller sends as JSON, declared as classes: all faults are reported at once, each
with its path in the caller's own words. Pure."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from memories.errors import Invalid, refuse

CONFIG = ConfigDict(alias_generator=to_camel, extra="forbid", validate_by_name=True)
UNKNOWN = "unknown_field"
Value = TypeVar("Value")


EXTRA = {"extra_forbidden", "unexpected_keyword_argument"}


class SettingsObject(BaseModel):
    """A JSON object with camel-case keys; missing keys have their defaults."""

    model_config = CONFIG | ConfigDict(frozen=True)


def checked(kind: Any, raw: object, place: str = "") -> Any:
    """`raw` as a value of `kind`, a class or type. Raises Invalid, which names every fault."""
    try:
        return _adapter(kind).validate_json(json.dumps(raw), strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        errors: list[Any] = [*error.errors(include_url=False)]
    found = []
    for each in errors:
        path = place
        for part in each["loc"]:
            if isinstance(part, int):
                path += f"[{part}]"
            else:
                path += f".{part}" if path else part
        words = MESSAGES.get(each["type"])
        message = words(each.get("ctx", {})) if words else each["msg"]
        found.append(Invalid(path, message, UNKNOWN if each["type"] in EXTRA else "invalid"))
    return refuse(found)


def faults(kind: Any, raw: object, place: str = "") -> list[Invalid]:
    """All faults that `checked` would name; [] if there are none."""
    try:
        checked(kind, raw, place)
    except Invalid as first:
        return first.all
    return []


class Check:
    """A check of a parsed value, and its entry in the schema of the setting."""

    def __init__(self, check: Callable[[Any], Any], schema: dict[str, Any]) -> None:
        self.check, self.schema = check, schema

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(core) | self.schema


def between(least: float, most: float) -> Check:
    """A check for numbers; nan is never within a range."""

    def check(value: float) -> float:
        if not least <= value <= most:
            kind = "A whole number" if isinstance(value, int) else "A number"
            raise wrong(f"{kind} from {least:g} to {most:g}.")
        return value

    return Check(check, {"minimum": least, "maximum": most})


def named_once(rows: Sequence[Value]) -> Sequence[Value]:
    names = [row.name for row in rows]  # type: ignore[attr-defined]  # rows of named things
    if len(set(names)) < len(names):
        raise wrong("A name stands twice.")
    return rows


def wrong(message: str) -> PydanticCustomError:
    """A fault in words for people, for use in validators."""
    return PydanticCustomError("invalid", "{message}", {"message": message})


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _words(text: str) -> Callable[[dict[str, Any]], str]:
    return lambda context: text.format(**context)


MESSAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    **dict.fromkeys(EXTRA, _words("There is no such field.")),
    "missing": _words("This is needed."),
    "string_type": _words("A text."),
    "string_too_long": _words("A text of at most {max_length} characters."),
    "string_too_short": _words("A text of at least {min_length} characters."),
    **dict.fromkeys(
        ("literal_error", "enum"),
        lambda context: f"One of {context['expected'].replace(chr(39), '').replace(' or ', ', ')}.",
    ),
    "invalid_choice": _words("One of {known}."),  # of workspaces.request_fields
    "float_type": _words("A number."),
    "int_type": _words("A whole number."),
    "int_from_float": _words("A whole number."),
    "too_long": _words("At most {max_length}."),
    "too_short": _words("At least {min_length}."),
    "list_type": _words("A list."),
    "tuple_type": _words("A list."),
    **dict.fromkeys(("model_type", "dataclass_type", "dict_type"), _words("An object.")),
}
