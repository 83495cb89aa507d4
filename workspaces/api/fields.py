"""What callers may send and what they get, in the API's manner: camelCase, and strict about types.

Serializers here read bodies and query strings and describe both to the OpenAPI schema. They never
touch a model; one instance per class is kept and read with (`read`), for making one takes longer
than most requests have to spare.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, ClassVar, NoReturn

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request

from workspaces.api.problems import FieldError, Problem


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class Camel(serializers.Serializer[Any]):
    """Fields are declared in snake_case and spoken of in camelCase."""

    def get_fields(self) -> dict[str, Any]:
        spoken = {}
        for name, field in super().get_fields().items():
            if camel(name) != name and field.source is None:
                field.source = name
            spoken[camel(name)] = field
        return spoken

    @cached_property
    def _needed(self) -> frozenset[str]:
        """Of these something comes also where they are not given: an error, or a default."""
        return frozenset(
            name
            for name, field in self.fields.items()
            if field.required or field.default is not serializers.empty
        )

    def unknown_in(self, data: Mapping[str, Any]) -> list[str]:
        return [str(key) for key in data if key not in self.fields]

    @property
    def no_such_field(self) -> str:
        return f"There is no such field. Known: {', '.join(self.fields)}."

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """As DRF's, which looks at every field there is, for each message of a thousand."""
        if not isinstance(data, Mapping):
            return dict(super().to_internal_value(data))
        values: dict[str, Any] = {}
        # Of a whole body `read` refuses them, of a query the view.
        unknown = self.unknown_in(data) if self.parent is not None else []
        errors: dict[str, Any] = {
            name: [ErrorDetail(self.no_such_field, "unknown_field")] for name in unknown
        }
        for name, field in self.fields.items():
            if name not in data and name not in self._needed:
                continue
            try:
                value = field.run_validation(data.get(name, serializers.empty))
            except serializers.ValidationError as error:
                errors[name] = error.detail
            else:
                values[field.source or name] = value
        if errors:
            raise serializers.ValidationError(errors)
        return values


@cache
def _reader(of: type[Camel]) -> Camel:
    return of()


def read(of: type[Camel], data: Any) -> dict[str, Any]:
    """What a body says, by the declared names; fields that are not given are missing. What the
    caller believes to have said must not be lost: a field that there is not is refused."""
    reader = _reader(of)
    if isinstance(data, Mapping):
        _refuse_unknown(data, reader)
    return dict(reader.run_validation(data))


def _refuse_unknown(data: Mapping[str, Any], reader: Camel) -> None:
    if unknown := reader.unknown_in(data):
        errors = [FieldError(key, reader.no_such_field, "unknown_field") for key in unknown]
        detail = f"Unknown: {', '.join(unknown)}. Known: {', '.join(reader.fields)}."
        raise Problem(400, detail, code="unknown_field", errors=errors)


def read_query(of: type[Camel], request: Request) -> dict[str, Any]:
    """What the query string says; of a parameter that stands twice, the last counts. One that there
    is not is refused before, by `schema.refuse_unknown_parameters`."""
    return dict(_reader(of).run_validation(request.query_params.dict()))


class Text(serializers.CharField):
    """A string exactly as it was sent; numbers are not taken for strings."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **options})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class ExternalId(Text):
    """One of the callers' own ids; null and absent are the same."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 255, "required": False, "allow_null": True, **options})


class Choice(serializers.ChoiceField):
    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid_choice": '"{input}" is not known here. Known: {known}.'
    }

    def fail(self, key: str, **values: Any) -> NoReturn:
        super().fail(key, known=", ".join(map(str, self.choices)), **values)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=data)
        return str(super().to_internal_value(data))


class Whole(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class Number(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        try:
            number = float(data)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail("invalid")
        return number


class Flag(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Moment(serializers.DateTimeField):
    """ISO 8601; without a zone it is UTC."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"default_timezone": UTC, **options})

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str):
            self.fail("invalid", format="ISO 8601")
        try:
            return super().to_internal_value(value).astimezone(UTC)
        except (OverflowError, ValueError):
            self.fail("overflow", timezone="UTC")


class Free(serializers.DictField):
    """An object whose keys are the caller's own."""


def moment(value: datetime | None) -> str | None:
    """A time as the API says it."""
    if value is None:
        return None
    there = value if value.tzinfo is UTC else value.astimezone(UTC)
    return f"{there.isoformat()[: -len('+00:00')]}Z"
