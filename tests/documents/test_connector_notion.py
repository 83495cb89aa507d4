"""Pages of Notion: the newest edits first, and all of them once a day."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers.web_fetch import FetchError
from memories.sources.connectors.connector import Connector, Unlisted
from tests.source_stubs import Stub, listed, says

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TWO = 2  # pages of an answer


def text(words: str) -> list[dict[str, str]]:
    return [{"plain_text": words}]


def block(kind: str, words: str = "", children: Any = (), **own: Any) -> dict[str, Any]:
    inner = {"rich_text": text(words), **own}
    return {"type": kind, kind: inner, "has_children": bool(children), "children": [*children]}


class Notion:
    def __init__(self) -> None:
        self.pages: dict[str, dict[str, Any]] = {}
        self.blocks: dict[str, list[dict[str, Any]]] = {}

    def page(self, page_id: str, at: datetime, *blocks: dict[str, Any], **more: Any) -> None:
        self.pages[page_id] = {
            "object": "page",
            "id": page_id,
            "url": f"https://www.notion.so/{page_id}",
            "last_edited_time": at.isoformat().replace("+00:00", ".000Z"),
            "in_trash": False,
            "properties": {
                "Tags": {"type": "multi_select"},
                "Name": {"type": "title", "title": text(page_id)},
            },
        } | more
        self._keep(page_id, blocks)

    def _keep(self, parent: str, blocks: Any) -> None:
        self.blocks[parent] = []
        for number, each in enumerate(blocks):
            own = {**each, "id": f"{parent}.{number}"}
            self._keep(own["id"], own.pop("children"))
            self.blocks[parent].append(own)

    def answer(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != "Bearer secret":
            return says({"code": "unauthorized"}, 401)
        assert request.headers["notion-version"]
        kind, _, rest = request.path.strip("/").partition("/")
        if kind == "users":
            return says({"object": "user", "name": "Gardener"})
        if kind == "pages":
            return says(self.pages[rest]) if rest in self.pages else None
        if kind == "blocks":
            return self._slice(self.blocks[rest.partition("/")[0]], request.args)
        body = request.get_json()
        assert body["sort"] == {"direction": "descending", "timestamp": "last_edited_time"}
        rows = sorted(self.pages.values(), key=lambda each: each["last_edited_time"])[::-1]
        return self._slice(rows, body)

    @staticmethod
    def _slice(rows: list[Any], asked: Any) -> Response:
        start = int(asked.get("start_cursor", 0))
        more = start + TWO < len(rows)
        after = str(start + TWO) if more else None
        return says({"results": rows[start : start + TWO], "has_more": more, "next_cursor": after})


@pytest.fixture
def notion() -> Notion:
    made = Notion()
    for number, name in enumerate(("old", "middle", "new")):
        made.page(name, NOON + timedelta(hours=number), block("paragraph", f"The {name} one."))
    return made


@pytest.fixture
def stub(httpserver: HTTPServer, notion: Notion) -> Stub:
    return Stub(httpserver, notion.answer)


def source(stub: Stub, token: str = "secret") -> Connector:
    return stub.connector("notion", {}, {"token": token})


def test_the_first_sync_lists_all_pages(stub: Stub) -> None:
    versions, _, last = listed(source(stub), {})
    assert [*versions] == ["new", "middle", "old"]
    assert last.unlisted == Unlisted.CHECKED
    assert last.items[0].title == "old"


def test_then_pages_are_read_down_to_the_last_edit(stub: Stub, notion: Notion) -> None:
    cursor = listed(source(stub), {})[2].cursor
    notion.page("newest", NOON + timedelta(hours=3))
    stub.asked.clear()
    versions, _, last = listed(source(stub), cursor)
    assert set(versions) == {"newest", "new"}  # the last one again: times are of whole minutes
    assert (last.unlisted, len(stub.asked)) == (Unlisted.KEPT, 2)


def test_once_a_day_all_are_listed_again(stub: Stub, notion: Notion) -> None:
    cursor = listed(source(stub), {})[2].cursor
    notion.page("late", NOON + timedelta(hours=40))
    versions, _, last = listed(source(stub), cursor)
    assert (len(versions), last.unlisted) == (4, Unlisted.CHECKED)


def test_a_workspace_without_pages_has_none(stub: Stub, notion: Notion) -> None:
    notion.pages.clear()
    versions, _, last = listed(source(stub), {})
    assert (versions, last.cursor) == ({}, {"newest": "", "listed": ""})
    assert listed(source(stub), last.cursor)[0] == {}


def test_what_lies_in_the_trash_is_gone(stub: Stub, notion: Notion) -> None:
    notion.page("old", NOON + timedelta(hours=5), in_trash=True)
    assert listed(source(stub), {})[1] == {"old"}
    for page_id in ("old", "none"):
        with pytest.raises(FetchError) as gone:
            source(stub).fetch(page_id, {})
        assert gone.value.code == "source_gone"


def test_a_page_comes_as_markdown(stub: Stub, notion: Notion) -> None:
    inner = block("bulleted_list_item", "Inner")
    row = {"type": "table_row", "table_row": {"cells": [text("Oil"), text("Nine")]}}
    notion.page(
        "Pumps",
        NOON,
        block("heading_2", "Oil"),
        block("paragraph"),
        block("bulleted_list_item", "Outer", [inner]),
        block("to_do", "Done", checked=True),
        block("to_do", "Open"),
        block("code", "x = 1", language="python"),
        block("divider"),
        block("toggle", "More", [block("quote", "Said")]),
        block("bookmark", url="https://a.example/", caption=text("A")),
        block("child_page", children=[block("paragraph", "Not its own.")], title="Child"),
        block("table", children=[{**row, "has_children": False, "children": []}]),
        {"type": "unsupported", "has_children": False, "children": []},
    )
    found = source(stub).fetch("Pumps", {})
    assert found is not None
    assert found.data.decode().split("\n\n") == [
        "# Pumps",
        "## Oil",
        "- Outer",
        "  - Inner",
        "- [x] Done",
        "- [ ] Open",
        "```python\nx = 1\n```",
        "More",
        "> Said",
        "A https://a.example/",
        "| Oil | Nine |",
    ]
    assert (found.filename, found.title) == ("Pumps.md", "Pumps")


def test_a_page_without_an_end_is_cut(stub: Stub, notion: Notion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.sources.connectors.notion.MOST_BLOCKS", 3)
    notion.page("long", NOON, *(block("paragraph", str(n)) for n in range(5)))
    found = source(stub).fetch("long", {})
    assert found is not None
    assert found.data.decode().endswith("2")


def test_a_test_says_who_asks(stub: Stub) -> None:
    assert source(stub).test() == "As Gardener."
    with pytest.raises(FetchError) as refusal:
        source(stub, "wrong").test()
    assert refusal.value.code == "login_required"


def test_limits_and_odd_answers_are_told(stub: Stub) -> None:
    stub.faults = [says({"code": "rate_limited"}, 429, Retry_After="4")]
    with pytest.raises(FetchError) as limit:
        source(stub).changes({})
    assert (limit.value.code, limit.value.retry_after) == ("rate_limited", 4.0)
    asks = (lambda s: s.changes({}), lambda s: s.fetch("old", {}), lambda s: s.test())
    for ask in asks:
        stub.faults = [says([])]
        with pytest.raises(FetchError) as shape:
            ask(source(stub))
        assert shape.value.code == "fetch_failed"
