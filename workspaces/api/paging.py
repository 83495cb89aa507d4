"""Pages of a list, the newest first: `{results, next, previous}`, stable while rows are added."""

import base64
import binascii
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
from django.db.models import Model, QuerySet
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.problems import invalid
from workspaces.request_fields import Maybe, Trimmed, declared

AFTER, BEFORE = b"a", b"b"


@declared
@dataclass(frozen=True, slots=True)
class PageQuery:
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Maybe[
        Annotated[
            Trimmed,
            Field(max_length=2000, description="What `next` or `previous` of a page holds."),
        ]
    ] = None


def narrowing(query: object, columns: Mapping[str, str]) -> dict[str, Any]:
    """The conditions on a list's columns, where the query has a word on them."""
    said = {column: getattr(query, name) for name, column in columns.items()}
    return {column: value for column, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins: after or before the row of this id."""

    direction: bytes
    row_id: uuid.UUID

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self.direction + self.row_id.bytes).decode().rstrip("=")


def cursor_of(text: str) -> Cursor:
    """From a cursor, or from the whole address that stood in `next`."""
    if "://" in text:
        text = parse_qs(urlsplit(text).query).get("cursor", [""])[-1]
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        direction, row_id = raw[:1], uuid.UUID(bytes=raw[1:])
    except (ValueError, binascii.Error):
        direction = b""
    if direction not in (AFTER, BEFORE):
        raise invalid("cursor", "This is no cursor of a list.")
    return Cursor(direction, row_id)


def paged(request: Request, rows: QuerySet[Any], shape: Callable[[Any], JsonAnswer]) -> Response:
    """One page of `rows` by id, the newest first, each through `shape`."""
    query = read_query(PageQuery, request)
    cursor = None if query.cursor is None else cursor_of(query.cursor)
    goes_back = cursor is not None and cursor.direction == BEFORE
    if cursor and goes_back:
        rows = rows.filter(pk__gt=cursor.row_id).order_by("pk")
    else:
        rows = rows.filter(pk__lt=cursor.row_id) if cursor else rows
        rows = rows.order_by("-pk")
    page = list(rows[: query.limit + 1])
    more = len(page) > query.limit  # in its direction
    page = page[: query.limit][:: -1 if goes_back else 1]
    has_next = bool(page) if goes_back else more
    has_previous = more if goes_back else cursor is not None and bool(page)
    return Response(
        {
            "results": [shape(row) for row in page],
            "next": _address(request, AFTER, page[-1]) if has_next else None,
            "previous": _address(request, BEFORE, page[0]) if has_previous else None,
        }
    )


def _address(request: Request, direction: bytes, row: Model) -> str:
    query = request.query_params.copy()
    query["cursor"] = str(Cursor(direction, row.pk))
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


@cache
def page_of(item: type[JsonAnswer]) -> type[JsonAnswer]:
    """A page of a list of `item`."""
    results = ("results", list[item])  # type: ignore[valid-type]  # known when it runs
    fields = [results, ("next", str | None), ("previous", str | None)]
    name = f"{item.__name__.removesuffix('Json')}Page"
    return cast(type[JsonAnswer], msgspec.defstruct(name, fields, bases=(JsonAnswer,)))
