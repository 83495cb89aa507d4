"""Answers of the API, declared once: for writing them and for the OpenAPI schema.

A class declares names, types and, by `Annotated[..., Meta(description=...)]`, the meaning of its
fields; on the wire these are in camelCase. `of` makes an answer of a row: a field is the row's
attribute of its own name, or the one that `column` names.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta, inspect
from rest_framework.renderers import BaseRenderer


def column(name: str) -> Meta:
    """The attribute of a row that a field is read from."""
    return Meta(extra={"column": name})


def one_of(names: Iterable[str]) -> Meta:
    """The only texts that a field can have."""
    return Meta(extra_json_schema={"enum": list(names)})


UserId = Annotated[str | None, column("user_external")]
AgentId = Annotated[str | None, column("agent_external")]
ThreadId = Annotated[str | None, column("thread_external")]


class JsonAnswer(msgspec.Struct, rename="camel"):
    @classmethod
    def of(cls, row: object, **given: Any) -> Self:
        """Make an answer of a row; `given` is what the row does not say. An empty text of a field
        that may be null becomes null."""
        names, read, blank = _reader(cls, frozenset(given))
        values = dict(zip(names, read(row), strict=True))
        for name in blank:
            values[name] = values[name] or None
        return cls(**values, **given)


@cache
def _reader(
    of: type[JsonAnswer], given: frozenset[str]
) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]], tuple[str, ...]]:
    """Return the fields to read, how to read them, and those of them that are null rather than
    empty."""
    names, columns, blank = [], [], []
    for field in fields_of(of):
        if field.name in given or not field.required:
            continue
        kind, source = field.type, field.name
        if isinstance(kind, inspect.Metadata):
            source = (kind.extra or {}).get("column", source)
            kind = kind.type
        names.append(field.name)
        columns.append(source)
        # msgspec takes Django's choices for types of our own.
        for one in kind.types if isinstance(kind, inspect.UnionType) else ():
            if isinstance(one, inspect.StrType | inspect.CustomType):
                blank.append(field.name)
    return tuple(names), attrgetter(*columns), tuple(blank)


def fields_of(of: type[JsonAnswer]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(of)
    assert isinstance(info, inspect.StructType)
    return info.fields


def plain_value(value: Any) -> Any:
    """Return Python's own number or text for one of numpy's or Django's. Raises TypeError for
    others."""
    for kind in (float, str):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value)} is nothing that an answer says.")


class JsonRenderer(BaseRenderer):
    """Writes all answers with one encoder."""

    media_type = "application/json"
    format = "json"
    charset = None
    encode = msgspec.json.Encoder(enc_hook=plain_value).encode

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if isinstance(renderer_context, dict):
            renderer_context.clear()  # a cycle: the response holds it, and it holds the response
        return b"" if data is None else self.encode(data)
