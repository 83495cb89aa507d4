"""Reads what callers send against the class that declares it, and reports all faults at once, with
their places."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import IO, Any, TypeVar

from django.conf import settings
from django.http import HttpRequest
from pydantic import TypeAdapter, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.views import APIView

from workspaces.api.problems import FieldProblem, Problem, invalid, said_once, too_large

DEEPEST = 64

Declared = TypeVar("Declared")
# The message and the code for each kind of fault that pydantic finds.
FAULTS = {
    kind: (message, code)
    for message, code, kinds in (
        ("This field is required.", "required", "missing"),
        ("Not a valid string.", "invalid", "string_type"),
        (
            "A valid integer is required.",
            "invalid",
            "int_type int_parsing int_parsing_size int_from_float",
        ),
        ("A valid number is required.", "invalid", "float_type float_parsing finite_number"),
        ("Must be a valid boolean.", "invalid", "bool_type bool_parsing"),
        ("Must be a valid UUID.", "invalid", "uuid_type uuid_parsing"),
        (
            "Ensure this value is greater than or equal to {ge:g}.",
            "min_value",
            "greater_than_equal",
        ),
        ("Ensure this value is less than or equal to {le:g}.", "max_value", "less_than_equal"),
        ("This field may not be blank.", "blank", "string_too_short"),
        (
            "Ensure this field has no more than {max_length} characters.",
            "max_length",
            "string_too_long",
        ),
        ("Ensure this field has at least {min_length} elements.", "min_length", "too_short"),
        ("Ensure this field has no more than {max_length} elements.", "max_length", "too_long"),
        ('Expected a list of items but got type "{input}".', "not_a_list", "tuple_type"),
        ('Expected a dictionary of items but got type "{input}".', "not_a_dict", "dict_type"),
        ("Invalid data. Expected a dictionary, but got {input}.", "invalid", "dataclass_type"),
    )
    for kind in kinds.split()
}
UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
_adapters: dict[type[Any], TypeAdapter[Any]] = {}  # making one takes longer than most requests
_schemas: dict[type[Any], dict[str, Any]] = {}


class StrictJSONParser(BaseParser):
    """JSON without NUL, lone surrogates, NaN and endless nesting, none of which Postgres can
    store."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        request: Request = (parser_context or {})["request"]
        if int(request.META.get("CONTENT_LENGTH") or 0) > (largest := settings.DATA_UPLOAD_MAX_MEMORY_SIZE):
            raise too_large(largest)
        try:
            data = json.loads(request._request.read().decode("utf-8"))
        except RecursionError:
            raise Problem(400, "The body is nested too deeply.", code="parse_error") from None
        except ValueError as error:
            raise Problem(400, f"The body is not JSON: {error}", code="parse_error") from None
        for path, message in flaws(data):
            raise invalid(path, message)
        return data


def flaws(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (path, message) for each part of `value` that cannot be stored."""
    if isinstance(value, str):
        if message := flaw_of_text(value):
            yield path, message
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, "Must be a finite number."
    elif isinstance(value, dict | list) and depth >= DEEPEST:
        yield path, f"Nested deeper than {DEEPEST}."
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from flaws(part, f"{path}[{index}]", depth + 1)
    elif isinstance(value, dict):
        for key, part in value.items():
            if message := flaw_of_text(key):
                yield path or "body", f"A key is not right: {message}"
            yield from flaws(part, f"{path}.{key}" if path else key, depth + 1)


def flaw_of_text(text: str) -> str:
    """Return the reason why Postgres could not store `text`; empty where it can."""
    if "\0" in text:
        return "Null characters are not allowed."
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "Surrogates that stand alone are not allowed."
    return ""


def refuse_null_in_address(request: HttpRequest) -> None:
    """Answer 400 where the path or the query string holds a NUL."""
    if "\0" in request.path:
        raise invalid("path", "Null characters are not allowed.")
    if "%00" not in request.META.get("QUERY_STRING", ""):
        return
    for name, values in request.GET.lists():
        if "\0" in name or any("\0" in value for value in values):
            raise invalid(name.replace("\0", ""), "Null characters are not allowed.")


def refuse_unmeasured_body(request: HttpRequest) -> None:
    """Answer 411 where a body comes without its length: WSGI would show it as empty."""
    if request.META.get("HTTP_TRANSFER_ENCODING") and not request.META.get("CONTENT_LENGTH"):
        raise Problem(411, "Send the body with a Content-Length.")


def read(of: type[Declared], data: Any) -> Declared:
    """Read a body. Raises 400 with all that is wrong with it. Unknown fields are refused before all
    else, so that nothing the caller believes to have said is lost."""
    try:
        return adapter_of(of).validate_python(data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    errors = []
    for fault in faults:
        place, kind, given = fault["loc"], fault["type"], fault["input"]
        if kind == "too_short" and len(given) >= fault["ctx"]["min_length"]:
            continue  # too short only because parts of it are wrong
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        if kind in UNKNOWN:
            known = ", ".join(_known_at(of, place[:-1]))
            message, code = f"There is no such field. Known: {known}.", "unknown_field"
        elif given is None:
            message, code = "This field may not be null.", "null"
        elif kind in FAULTS:
            message, code = FAULTS[kind]
            message = message.format(**fault.get("ctx", {}), input=type(given).__name__)
        else:
            message, code = fault["msg"], kind
        errors.append(FieldProblem(path.removeprefix("."), message, code))
    extra = [str(f["loc"][0]) for f in faults if f["type"] in UNKNOWN and len(f["loc"]) == 1]
    if extra:
        raise _unknown("field", extra, _known_at(of, ()))
    errors = said_once(errors)
    raise Problem(400, " ".join(map(str, errors)), code="invalid", errors=errors)


def read_query(of: type[Declared], request: Request) -> Declared:
    """Read the query string; of a parameter that occurs twice, the last counts. Unknown parameters
    were refused before, by `refuse_unknown_parameters`."""
    known = _known_at(of, ())
    said = request.query_params.dict().items()
    return read(of, {name: value for name, value in said if name in known})


def refuse_unknown_parameters(view: APIView, request: Request) -> None:
    """Answer 400 with each parameter of the query string that this operation does not have. A
    `?dryRun=true` that is ignored would carry out what the caller only asks about."""
    method = "get" if request.method == "HEAD" else (request.method or "").lower()
    handler = getattr(type(view), method, None)
    if not request.META.get("QUERY_STRING") or method not in view.http_method_names or not handler:
        return
    of = getattr(handler, "query", None)
    known = _known_at(of, ()) if of else []
    if unknown := [name for name in request.query_params if name not in known]:
        raise _unknown("parameter", unknown, known)


def _unknown(what: str, unknown: Iterable[str], known: Iterable[str]) -> Problem:
    there_are = f"Known: {', '.join(known) or 'none'}."
    message = f"There is no such {what}. {there_are}"
    errors = said_once(FieldProblem(name, message, "unknown_field") for name in unknown)
    detail = f"Unknown: {', '.join(unknown)}. {there_are}"
    return Problem(400, detail, code="unknown_field", errors=errors)


def values_of(request: object, of: type[Any]) -> dict[str, Any]:
    """Return the values of a request in the fields that `of` has, too."""
    return {field.name: getattr(request, field.name) for field in fields(of)}


def adapter_of(of: type[Declared]) -> TypeAdapter[Declared]:
    if of not in _adapters:
        _adapters[of] = TypeAdapter(of)
    return _adapters[of]


def _known_at(of: type[Any], place: Sequence[int | str]) -> list[str]:
    """Return the names of the fields in a part of a request."""
    if of not in _schemas:
        _schemas[of] = adapter_of(of).json_schema()
    schema = part = _schemas[of]
    for step in place:
        part = part["items"] if isinstance(step, int) else part["properties"][step]
        part = next((one for one in part.get("anyOf", ()) if one.get("type") != "null"), part)
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    return list(part["properties"])
