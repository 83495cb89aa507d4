"""A repository at GitHub: the files of one branch, each a document."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from memories.providers.network import pause_wanted
from memories.providers.web_fetch import WAIT, FetchError
from memories.settings_objects import SettingsObject
from memories.sources.connectors.connector import (
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
