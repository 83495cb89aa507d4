"""Pages of a Notion workspace."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from memories.providers.web_fetch import FetchError
from memories.settings_objects import SettingsObject
from memories.sources.connectors.connector import (
    Changes,
    Connector,
    Cursor,
    FetchedItem,
    SourceItem,
    Unlisted,
    Wire,
    malformed,
)

# Pages of a Notion workspace that an integration may read, as Markdown.

NOTION_VERSION = "2022-06-28"
PAGE = 100  # what one request gives at most
OVERLAP = timedelta(minutes=3)  # times are those of whole minutes, and its index lags behind
DAY = timedelta(days=1)
DEEPEST, MOST_BLOCKS = 8, 5_000
MALFORMED = (LookupError, TypeError, AttributeError, ValueError)
MARKS = {
    "heading_1": "# ",
    "heading_2": "## ",
    "heading_3": "### ",
    "bulleted_list_item": "- ",
    "numbered_list_item": "1. ",
    "quote": "> ",
    "callout": "> ",
    "toggle": "",
}
LISTS = ("bulleted_list_item", "numbered_list_item", "to_do")


class NotionOptions(SettingsObject):
    """No options: the integration determines the pages, those that people share with it."""


class NotionCredentials(SettingsObject):
    token: Annotated[str, Field(min_length=1, max_length=500)]


class NotionConnector(Connector):
    """The version of a page is the time of its last edit. A sync reads the newest first, down to
    the last one; once a day it lists all, and looks for what was not named."""

    Options = NotionOptions
    Credentials = NotionCredentials
    label = "Notion"
    base = "https://api.notion.com/v1/"
    credentials: NotionCredentials | None

    def __init__(self, options: Any, credentials: Any, wire: Wire) -> None:
        super().__init__(options, credentials, wire)
        token = self.credentials.token if self.credentials else ""
        wire.headers = {"authorization": f"Bearer {token}", "notion-version": NOTION_VERSION}

    def changes(self, cursor: Cursor) -> Changes:
        """The cursor: `newest` edit of the last sync, `listed` the day's listing; while one goes
        on, its `start`, and the newest edit that it `saw`."""
        try:
            newest, listed = cursor.get("newest", ""), cursor.get("listed", "")
            body: dict[str, Any] = {
                "filter": {"property": "object", "value": "page"},
                "page_size": PAGE,
                "sort": {"direction": "descending", "timestamp": "last_edited_time"},
            }
            if start := cursor.get("start"):
                body["start_cursor"] = start
            answer = self.wire.json("search", body=body)
            rows = answer["results"]
            saw = cursor.get("saw") or (rows[0]["last_edited_time"] if rows else newest)
            if is_whole := cursor.get("whole", not listed or moment(saw) - moment(listed) >= DAY):
                listed = saw
            since = None if is_whole or not newest else moment(newest) - OVERLAP
            fresh = [row for row in rows if since is None or moment(row["last_edited_time"]) >= since]
            items = [self._item(row) for row in fresh]
            unlisted = Unlisted.CHECKED if is_whole else Unlisted.KEPT
            if answer["has_more"] and len(fresh) == len(rows):
                more = cursor | {"start": answer["next_cursor"], "saw": saw, "whole": is_whole}
                return Changes(items, more, False, unlisted)
            return Changes(items, {"newest": saw, "listed": listed}, unlisted=unlisted)
        except MALFORMED as error:
            raise malformed() from error

    def _item(self, page: Mapping[str, Any]) -> SourceItem:
        is_gone = bool(page.get("in_trash") or page.get("archived"))
        title = title_of(page)
        return SourceItem(
            page["id"],
            page["last_edited_time"],
            title,
            page.get("url") or "",
            f"{title or page['id']}.md",
            "notion_doc",
            is_gone,
        )

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        try:
            page = self.wire.json(f"pages/{item_id}")
            if page.get("in_trash") or page.get("archived"):
                raise FetchError("source_gone", "The page lies in the trash.")
            title = title_of(page)
            lines = [f"# {title}", *self._lines(item_id, 0, [MOST_BLOCKS])]
        except MALFORMED as error:
            raise malformed() from error
        text = "\n\n".join(line for line in lines if line.strip())
        return FetchedItem(text.encode(), f"{title or item_id}.md", title=title)

    def _lines(self, block_id: str, depth: int, left: list[int]) -> Iterator[str]:
        """Yield the content below a block as Markdown; `left` counts down over the whole page."""
        start = ""
        while True:
            query = {"page_size": str(PAGE)} | ({"start_cursor": start} if start else {})
            answer = self.wire.json(f"blocks/{block_id}/children", query=query)
            for block in answer["results"]:
                left[0] -= 1
                if left[0] < 0:
                    return
                yield line_of(block, depth)
                is_page = block["type"] in ("child_page", "child_database")
                if block.get("has_children") and not is_page and depth < DEEPEST:
                    is_list = block["type"] in LISTS
                    yield from self._lines(block["id"], depth + is_list, left)
            if not answer["has_more"]:
                return
            start = answer["next_cursor"]

    def test(self) -> str:
        try:
            return f"As {self.wire.json('users/me').get('name') or 'an integration'}."
        except MALFORMED as error:
            raise malformed() from error


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def plain(texts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(each["plain_text"] for each in texts)


def title_of(page: Mapping[str, Any]) -> str:
    named = (each for each in page["properties"].values() if each.get("type") == "title")
    return next((plain(each["title"]) for each in named), "")


def line_of(block: Mapping[str, Any], depth: int) -> str:
    """One block as Markdown; "" for one without words."""
    kind = block["type"]
    own = block.get(kind) or {}
    text = plain(own.get("rich_text") or []) or plain(own.get("caption") or [])
    if kind == "code":
        return f"```{own.get('language', '')}\n{text}\n```"
    if kind == "table_row":
        return "| " + " | ".join(plain(cell) for cell in own["cells"]) + " |"
    if kind == "to_do":
        mark = "- [x] " if own.get("checked") else "- [ ] "
    else:
        mark = MARKS.get(kind, "")
    if kind in ("bookmark", "embed", "link_preview"):
        text = f"{text} {own.get('url', '')}".strip()
    indent = "  " * depth if kind in LISTS else ""
    return f"{indent}{mark}{text}" if text else ""
