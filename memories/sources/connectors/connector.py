"""The two calls of a source of documents: list what changed, and fetch one item.

    changes(cursor) -> items and the next cursor        a page of them, until it is the last
    fetch(item) -> its bytes, or None where they are as they were

A cursor is an object of JSON that only its connector reads; {} begins from nothing.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlencode, urljoin, urlsplit

from pydantic import Field

from memories.file_formats.known_formats import READABLE
from memories.providers.web_fetch import (
    FetchError,
    FetchLimits,
    WebAnswer,
    WebRequest,
    fetch,
)
from memories.settings_objects import SettingsObject

Cursor: TypeAlias = dict[str, Any]


class Unlisted(StrEnum):
    """The fate of known items that a complete listing has not named."""

    KEPT = "kept"  # it named only what changed
    CHECKED = "checked"  # they are fetched again, and go where the source has them no more
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class SourceItem:
    """Something that may become a document. `id` is the source's own; the same `version` is the
    same content, an empty one is known by fetching it alone. `type` is one of a document's."""

    id: str
    version: str = ""
    title: str = ""
    url: str = ""
    filename: str = ""
    type: str = ""
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """A page of what changed. After the last one, `cursor` is where the next sync begins."""

    items: Sequence[SourceItem]
    cursor: Cursor
    is_last: bool = True
    unlisted: Unlisted = Unlisted.KEPT


@dataclass(frozen=True, slots=True)
class FetchedItem:
    """An item as it came; `marks` are handed in again when it is fetched the next time."""

    data: bytes
    filename: str = ""
    url: str = ""
    title: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)


class CursorExpired(Exception):
    """An expired cursor: everything must be listed again, and compared."""


@dataclass(slots=True)
class Wire:
    """The connection to a source. `base` is its address; addresses below it may be given as paths.
    `allowed` as in `providers.allowed_addresses`."""

    base: str = ""
    allowed: tuple[str, ...] = ()
    limits: FetchLimits = field(default_factory=FetchLimits)
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> WebAnswer:
        """Send a request. Raises FetchError. Secrets go to the host of the base alone."""
        url = urljoin(self.base, path)
        if self.headers and urlsplit(url)[:2] != urlsplit(self.base)[:2]:
            raise FetchError("fetch_refused", "The source named an address of another server.")
        if query:
            url += ("&" if "?" in url else "?") + urlencode(query)
        return fetch(
            WebRequest(url, method, {**self.headers, **(headers or {})}, body),
            self.limits,
            self.allowed,
        )

    def json(self, path: str, *, query: Mapping[str, str] | None = None, body: Any = None) -> Any:
        """Return the JSON that it answers; with a `body` it is a POST. Raises FetchError."""
        sent = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"content-type": "application/json"}
        method = "GET" if body is None else "POST"
        return read_json(self.ask(path, method=method, query=query, body=sent, headers=headers))


LARGEST_ANSWER = 20 * 2**20  # bytes of a source's answer that is read here; files are not


def read_json(answer: WebAnswer) -> Any:
    if len(answer.data) > LARGEST_ANSWER:
        raise malformed()
    try:
        return json.loads(answer.data)
    except (ValueError, RecursionError) as error:
        raise malformed() from error


def is_readable(name: str, endings: Sequence[str] = ()) -> bool:
    """Tell whether a file of this name becomes a document: by its ending, which must be in
    `endings` or, where that is empty, in READABLE. Then names like README need no ending."""
    base = name.rpartition("/")[2]
    start, dot, ending = base.rpartition(".")
    if endings:
        return bool(dot) and ending.lower() in {each.lower().lstrip(".") for each in endings}
    return ending.lower() in READABLE and bool(start) if dot else base[:1].isupper()


def malformed() -> FetchError:
    return FetchError("fetch_failed", "The source answered in a shape that was not expected.")


Endings = Annotated[list[Annotated[str, Field(max_length=20)]], Field(max_length=50)]


class Connector(ABC):
    """One source, with its options and credentials. `renewed` are credentials that took the place
    of the given ones meanwhile: whoever keeps them writes them down."""

    Options: type[SettingsObject] = SettingsObject
    Credentials: type[SettingsObject] | None = None
    label = ""
    named_by: tuple[str, ...] = ()  # options that tell sources apart whose items may be called alike
    base = ""  # where the source is, unless the operator says otherwise

    def __init__(self, options: Any, credentials: Any, wire: Wire) -> None:
        self.options, self.credentials, self.wire = options, credentials, wire
        self.renewed: dict[str, str] | None = None

    @abstractmethod
    def changes(self, cursor: Cursor) -> Changes:
        """Return the next page of changes. Raises FetchError, CursorExpired."""

    @abstractmethod
    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        """Fetch an item. Raises FetchError; `source_gone` where it no longer exists."""

    @abstractmethod
    def test(self) -> str:
        """Ask the source once. Return words for a person who wants to know that it works. Raises
        FetchError."""
