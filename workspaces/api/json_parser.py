"""Reading what callers send: JSON as the database can hold it, bounded, with the bad field named."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from workspaces.api.problems import Problem, invalid

DEEPEST = 64


class StrictJSONParser(BaseParser):
    """JSON without NUL, lone surrogates, NaN and endless nesting, none of which Postgres stores."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        request: Request = (parser_context or {})["request"]
        largest = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if int(request.META.get("CONTENT_LENGTH") or 0) > largest:
            raise Problem(413, f"The body is larger than {largest} bytes.", code="too_large")
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
    """Where `value` holds what cannot be stored, and why; as (path, message)."""
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
    """Why Postgres could not store `text`; empty where it can."""
    if "\0" in text:
        return "Null characters are not allowed."
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "Surrogates that stand alone are not allowed."
    return ""


def refuse_null_in_address(request: HttpRequest) -> None:
    """400 where the path or the query string holds a NUL."""
    if "\0" in request.path:
        raise invalid("path", "Null characters are not allowed.")
    if "%00" not in request.META.get("QUERY_STRING", ""):
        return
    for name, values in request.GET.lists():
        if "\0" in name or any("\0" in value for value in values):
            raise invalid(name.replace("\0", ""), "Null characters are not allowed.")


def refuse_unmeasured_body(request: HttpRequest) -> None:
    """411 where a body comes without its length: WSGI would show it as empty."""
    if request.META.get("HTTP_TRANSFER_ENCODING") and not request.META.get("CONTENT_LENGTH"):
        raise Problem(411, "Send the body with a Content-Length.")
