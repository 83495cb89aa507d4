"""Pages of a list, the newest or the most pressing first: `{results, next, previous}`, stable while
rows are added."""

import base64
import binascii
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
from django.db.models import Model, Q
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.problems import invalid
from workspaces.request_fields import Maybe, Trimmed, declared

AFTER, BEFORE = b"a", b"b"
RANK = struct.Struct("<d")


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
    """Return conditions on a list's columns, for those of them that the query names."""
    said = {column: getattr(query, name) for name, column in columns.items()}
    return {column: value for column, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place where a page begins: after or before the row of this id, and of this rank, in lists
    that have ranks."""

    direction: bytes
    row_id: uuid.UUID
    rank: float | None = None

    def __str__(self) -> str:
        rank = b"" if self.rank is None else RANK.pack(self.rank)
        raw = self.direction + self.row_id.bytes + rank
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def beyond(self, column: str) -> Q:
        """Return the condition for rows behind the cursor in its direction. `column` is that of the
        rank, "" where there is none."""
        way = "gt" if self.direction == BEFORE else "lt"
        by_id = Q(**{f"pk__{way}": self.row_id})
        if not column:
            return by_id
        return Q(**{f"{column}__{way}": self.rank}) | by_id & Q(**{column: self.rank})


def cursor_of(text: str) -> Cursor:
    """Read a cursor, or the whole address that stood in `next`."""
    if "://" in text:
        text = parse_qs(urlsplit(text).query).get("cursor", [""])[-1]
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        direction, row_id = raw[:1], uuid.UUID(bytes=raw[1:17])
        rank = RANK.unpack(raw[17:])[0] if raw[17:] else None
    except (ValueError, binascii.Error, struct.error):
        direction = b""
    if direction not in (AFTER, BEFORE):
        raise invalid("cursor", "This is no cursor of a list.")
    return Cursor(direction, row_id, rank)


class PagedRows(Protocol):
    """The rows that a list is made of: a queryset, or several as one."""

    def filter(self, condition: Q, /) -> "PagedRows": ...

    def order_by(self, *names: str) -> "PagedRows": ...

    def __getitem__(self, part: slice, /) -> Iterable[Any]: ...


def paged(request: Request, rows: PagedRows, shape: Callable[[Any], JsonAnswer], *, rank: str = "") -> Response:
    """Return one page of `rows`, each through `shape`: by id, the newest first, or by the column
    `rank`, the highest first."""
    query = read_query(PageQuery, request)
    cursor = None if query.cursor is None else cursor_of(query.cursor)
    if cursor is not None and (cursor.rank is None) != (not rank):
        raise invalid("cursor", "This is a cursor of another list.")
    goes_back = cursor is not None and cursor.direction == BEFORE
    if cursor:
        rows = rows.filter(cursor.beyond(rank))
    order = [rank, "pk"] if rank else ["pk"]
    rows = rows.order_by(*(order if goes_back else [f"-{name}" for name in order]))
    page = list(rows[: query.limit + 1])
    more = len(page) > query.limit  # in its direction
    page = page[: query.limit][:: -1 if goes_back else 1]
    has_next = bool(page) if goes_back else more
    has_previous = more if goes_back else cursor is not None and bool(page)
    return Response(
        {
            "results": [shape(row) for row in page],
            "next": _address(request, AFTER, page[-1], rank) if has_next else None,
            "previous": _address(request, BEFORE, page[0], rank) if has_previous else None,
        }
    )


def _address(request: Request, direction: bytes, row: Model, rank: str) -> str:
    query = request.query_params.copy()
    query["cursor"] = str(Cursor(direction, row.pk, getattr(row, rank) if rank else None))
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


@cache
def page_of(item: type[JsonAnswer]) -> type[JsonAnswer]:
    """Return the class of a page that lists `item`."""
    results = ("results", list[item])  # type: ignore[valid-type]  # known when it runs
    fields = [results, ("next", str | None), ("previous", str | None)]
    name = f"{item.__name__.removesuffix('Json')}Page"
    return cast(type[JsonAnswer], msgspec.defstruct(name, fields, bases=(JsonAnswer,)))
