"""A repository at GitHub: the files of one branch, each a document; and pages of a Notion
workspace."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from memories.connectors.connector import (
    Changes,
    Connector,
    Cursor,
    CursorExpired,
    Endings,
    FetchedItem,
    SourceItem,
    Unlisted,
    Wire,
    is_readable,
    malformed,
)
from memories.providers.network import pause_wanted
from memories.providers.web_fetch import WAIT, FetchError
from memories.settings_objects import SettingsObject

GITHUB_VERSION = "2022-11-28"
MOST_COMPARED = 300  # files that a comparison names; one of more is listed anew
LARGEST_FILE = 5_000_000  # bytes
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]


class GitHubOptions(SettingsObject):
    """`ref` is a branch, by default the repository's own; `folder` and `endings` say which of its
    files count."""

    owner: Name
    repository: Name
    ref: Annotated[str, Field(max_length=200)] = ""
    folder: Annotated[str, Field(max_length=500)] = ""
    endings: Endings = []


class GitHubCredentials(SettingsObject):
    token: Annotated[str, Field(min_length=1, max_length=500)]


class GitHubConnector(Connector):
    """The version of a file is its hash in git. After the first listing, which is the tree of a
    commit, two commits are compared."""

    Options = GitHubOptions
    Credentials = GitHubCredentials
    label = "GitHub"
    named_by = ("owner", "repository", "ref")
    base = "https://api.github.com/"
    options: GitHubOptions
    credentials: GitHubCredentials | None

    def __init__(self, options: Any, credentials: Any, wire: Wire) -> None:
        super().__init__(options, credentials, wire)
        wire.headers = {
            "accept": "application/vnd.github+json",
            "x-github-api-version": GITHUB_VERSION,
        }
        if self.credentials:
            wire.headers["authorization"] = f"Bearer {self.credentials.token}"

    @property
    def _path(self) -> str:
        return f"repos/{self.options.owner}/{self.options.repository}"

    def changes(self, cursor: Cursor) -> Changes:
        try:
            if trees := cursor.get("trees"):
                return self._of_trees(str(cursor["head"]), trees)
            ref = self.options.ref or self._json(self._path)["default_branch"]
            head = self._json(f"{self._path}/commits/{quote(ref, safe='')}")["sha"]
            known = cursor.get("head")
            if known == head:
                return Changes([], cursor)
            if known:
                return self._compared(str(known), head)
            # One that is too large for one answer comes folder by folder.
            tree = self._json(f"{self._path}/git/trees/{head}", {"recursive": "1"})
            if tree.get("truncated"):
                return self._of_trees(head, [["", head]])
            items = [item for node in tree["tree"] for item in self._items("", node)]
            return Changes(items, {"head": head}, unlisted=Unlisted.GONE)
        except (LookupError, TypeError) as error:
            raise malformed() from error

    def _of_trees(self, head: str, trees: Sequence[Sequence[str]]) -> Changes:
        (prefix, sha), *rest = trees
        nodes = self._json(f"{self._path}/git/trees/{sha}")["tree"]
        items = [item for node in nodes for item in self._items(prefix, node)]
        inner = [[f"{prefix}{n['path']}/", n["sha"]] for n in nodes if n["type"] == "tree"]
        if left := [*inner, *rest]:
            return Changes(items, {"head": head, "trees": left}, False, Unlisted.GONE)
        return Changes(items, {"head": head}, unlisted=Unlisted.GONE)

    def _items(self, prefix: str, node: Mapping[str, Any]) -> Iterator[SourceItem]:
        path = f"{prefix}{node['path']}"
        is_file = node["type"] == "blob" and node.get("mode") != "120000"  # no link
        if is_file and self._is_wanted(path) and int(node.get("size") or 0) <= LARGEST_FILE:
            yield self._item(path, node["sha"])

    def _item(self, path: str, sha: str) -> SourceItem:
        own = f"{self.options.owner}/{self.options.repository}"
        ref = quote(self.options.ref or "HEAD")
        page = f"https://github.com/{own}/blob/{ref}/{quote(path)}"
        return SourceItem(path, sha, path, page, path.rpartition("/")[2])

    def _is_wanted(self, path: str) -> bool:
        folder = self.options.folder.strip("/")
        is_inside = not folder or path.startswith(f"{folder}/")
        return is_inside and is_readable(path, self.options.endings)

    def _compared(self, known: str, head: str) -> Changes:
        try:
            answer = self._json(f"{self._path}/compare/{known}...{head}")
        except FetchError as error:
            if error.status == 404:  # the branch was written anew, and the commit is gone
                raise CursorExpired from error
            raise
        files = answer["files"]
        if len(files) >= MOST_COMPARED or answer.get("status") not in ("ahead", "identical"):
            raise CursorExpired
        items = []
        for file in files:
            path = file["filename"]
            before = file.get("previous_filename") or path
            if file["status"] in ("removed", "renamed") and self._is_wanted(before):
                items.append(SourceItem(before, is_deleted=True))
            if file["status"] != "removed" and self._is_wanted(path):
                items.append(self._item(path, file["sha"]))
        return Changes(items, {"head": head})

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        query = {"ref": self.options.ref} if self.options.ref else {}
        headers = {"accept": "application/vnd.github.raw+json"}
        if "etag" in marks:
            headers["if-none-match"] = marks["etag"]
        path = f"{self._path}/contents/{quote(item_id)}"
        try:
            answer = self.wire.ask(path, query=query, headers=headers)
        except FetchError as error:
            raise limited(error) from error
        if answer.status == 304:
            return None
        etag = answer.headers.get("etag", "")
        name = item_id.rpartition("/")[2]
        return FetchedItem(answer.data, name, marks={"etag": etag} if etag else {})

    def test(self) -> str:
        try:
            found = self._json(self._path)
            return f"{found['full_name']}, branch {self.options.ref or found['default_branch']}."
        except (LookupError, TypeError) as error:
            raise malformed() from error

    def _json(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        try:
            return self.wire.json(path, query=query)
        except FetchError as error:
            raise limited(error) from error


def limited(error: FetchError) -> FetchError:
    """GitHub may say 403 where others say 429, and tells when it counts anew."""
    if error.answer is None or error.status not in (403, 429):
        return error
    headers, pause = error.answer.headers, pause_wanted(error.answer.headers)
    is_spent = headers.get("x-ratelimit-remaining") == "0"
    if error.status == 403 and pause is None and not is_spent:
        return error
    reset = headers.get("x-ratelimit-reset", "")
    if pause is None and is_spent and reset.isdecimal():
        pause = max(1.0, int(reset) - time.time())
    return FetchError(
        "rate_limited",
        error.message,
        is_passing=True,
        retry_after=WAIT if pause is None else pause,
        answer=error.answer,
    )


# Pages of a Notion workspace that an integration may read, as Markdown.

NOTION_VERSION = "2022-06-28"
PAGE = 100  # what one request gives at most
OVERLAP = timedelta(minutes=3)  # times are those of whole minutes, and its index lags behind
DAY = timedelta(days=1)
DEEPEST, MOST_BLOCKS = 8, 5_000
MALFORMED = (LookupError, TypeError, AttributeError, ValueError)
MARKS = {
    "heading_1": "# ", "heading_2": "## ", "heading_3": "### ", "bulleted_list_item": "- ",
    "numbered_list_item": "1. ", "quote": "> ", "callout": "> ", "toggle": "",
}  # fmt: skip
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
                "filter": {"property": "object", "value": "page"}, "page_size": PAGE,
                "sort": {"direction": "descending", "timestamp": "last_edited_time"},
            }  # fmt: skip
            if start := cursor.get("start"):
                body["start_cursor"] = start
            answer = self.wire.json("search", body=body)
            rows = answer["results"]
            saw = cursor.get("saw") or (rows[0]["last_edited_time"] if rows else newest)
            if is_whole := cursor.get("whole", not listed or moment(saw) - moment(listed) >= DAY):
                listed = saw
            since = None if is_whole or not newest else moment(newest) - OVERLAP
            fresh = [
                row for row in rows if since is None or moment(row["last_edited_time"]) >= since
            ]
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
            page["id"], page["last_edited_time"], title, page.get("url") or "",
            f"{title or page['id']}.md", "notion_doc", is_gone,
        )  # fmt: skip

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
