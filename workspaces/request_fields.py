"""Types in which requests are declared: what a caller may send.

A request is a dataclass, or a TypedDict where it matters which fields were not given, with
`@declared` on it. On the wire its fields are in camelCase. `workspaces.api.json_requests` checks
requests against it, and the OpenAPI schema is made of it.
"""

import json
from collections.abc import Iterable
from copy import copy
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    with_config,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from workspaces.time_zones import known_zones

Given = TypeVar("Given")
FORMAT = "YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]"

# Metadata keys that only the server sets, and no caller may claim (compat/memmachine_bodies.py).
MEMMACHINE = ("memmachine_project", "memmachine_produced_for")
RESERVED = frozenset(MEMMACHINE)
# Characters. All of it is looked through for secrets when it comes, and served with each hit.
LONGEST_METADATA = 64 * 2**10

declared = with_config(ConfigDict(alias_generator=to_camel, extra="forbid"))


class NullIs:
    """Allows null, with the meaning of `value`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            lambda given: copy(self.value) if given is None else given,
            core_schema.nullable_schema(handler(source)),
        )


class _Unsaid:
    """A value that may be missing, but is never null."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        assert schema["type"] == "nullable"
        return schema["schema"]


class OneOf:
    """One of a few texts: Django's choices, or plain ones."""

    def __init__(self, choices: type[Enum] | Iterable[str]) -> None:
        if isinstance(choices, type):
            members = list(choices)
            self.schema: CoreSchema = core_schema.enum_schema(choices, members)
            self.names = [str(member.value) for member in members]
        else:
            self.names = [*choices]
            self.schema = core_schema.literal_schema(self.names)

    def check(self, given: Any, _: object) -> str:
        if isinstance(given, str) and given in self.names:
            return given
        values = {"input": str(given), "known": ", ".join(self.names)}
        raise PydanticCustomError("invalid_choice", '"{input}" is not known here. Known: {known}.', values)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self.check, self.schema)


def _told_moment(given: Any) -> datetime:
    try:
        moment = parse_datetime(given) if isinstance(given, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise PydanticCustomError(
            "invalid",
            "Datetime has wrong format. Use one of these formats instead: {format}.",
            {"format": FORMAT},
        )
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise PydanticCustomError("overflow", "Datetime value out of range for timezone UTC.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(given: Any) -> datetime:
    return _told_moment(given).astimezone(UTC)


def _zone(given: str) -> str:
    if given and given not in known_zones():
        raise PydanticCustomError("invalid", "Not a time zone: give a name like Europe/Madrid, or UTC.")
    return given


def _past_moment(given: Any) -> datetime:
    moment, said = _moment(given), parse_datetime(given)
    if said is None or said.tzinfo is None:
        raise PydanticCustomError("no_zone", "Say in which zone: an offset or Z after the time.")
    if moment > timezone.now():
        raise PydanticCustomError("future", "Must not lie in the future.")
    return moment


def _email(given: str) -> str:
    try:
        validate_email(given)
    except ValidationError:
        raise PydanticCustomError("invalid", "Enter a valid email address.") from None
    return given


def _not_blank(given: str) -> str:
    if not given.strip():
        raise PydanticCustomError("string_too_short", "This field may not be blank.")
    return given


def not_too_large(given: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(given, ensure_ascii=False)) > LONGEST_METADATA:
        known = {"most": LONGEST_METADATA}
        raise PydanticCustomError("max_length", "At most {most} characters as JSON.", known)
    return given


def without_reserved(given: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(RESERVED & given.keys()):
        raise PydanticCustomError("reserved", "{name} is a name of the server's own: leave it out.", {"name": taken[0]})
    return given


AnyText = Annotated[str, Field(strict=True)]  # as sent; numbers are not accepted as texts
Text = Annotated[AnyText, Field(min_length=1)]
Words = Annotated[Text, AfterValidator(_not_blank)]  # as sent, and more than spaces
Trimmed = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]
OwnId = Annotated[Text, Field(max_length=255)]  # an id of the caller's own
ExternalId = Annotated[OwnId, NullIs("")]  # the same; null and absent mean none
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
ToldMoment = Annotated[datetime, BeforeValidator(_told_moment)]  # a Moment that keeps its offset
Moment = Annotated[datetime, BeforeValidator(_moment)]  # ISO 8601; without a zone it is UTC
PastMoment = Annotated[datetime, BeforeValidator(_past_moment)]  # the same, with a zone and not in the future
TimeZone = Annotated[AnyText, AfterValidator(_zone)]  # an IANA name; empty: none
Email = Annotated[Trimmed, AfterValidator(_email), Field(json_schema_extra={"format": "email"})]
Maybe = Annotated[Given | None, _Unsaid()]  # a parameter of a query string; None where it is absent
Free = dict[str, Any]  # an object whose keys are the caller's own
Metadata = Annotated[Free, AfterValidator(not_too_large), AfterValidator(without_reserved)]
