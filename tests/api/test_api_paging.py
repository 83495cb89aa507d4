"""Lists come in pages that stay in place while rows are added."""

from urllib.parse import urlsplit

import pytest

from tests.api_fixtures import Answer, Caller, caller
from tests.factories import MemoryFactory
from tests.people import Person


@pytest.fixture
def http(alice: Person) -> Caller:
    for number in range(5):
        MemoryFactory(workspace=alice.workspace, content=f"number {number}")
    return caller(alice)


def follow(http: Caller, address: str) -> Answer:
    parts = urlsplit(address)
    return http.get(f"//{parts.path}?{parts.query}".replace("///", "//"))


def test_pages_lead_to_the_end_and_back(http: Caller) -> None:
    first = http.get("/memories", limit=2)
    assert first.contents() == ["number 4", "number 3"]
    assert first.body["previous"] is None
    second = follow(http, first.body["next"])
    last = follow(http, second.body["next"])
    assert (second.contents(), last.contents()) == (["number 2", "number 1"], ["number 0"])
    assert last.body["next"] is None
    back = follow(http, last.body["previous"])
    assert back.contents() == second.contents()
    begin = follow(http, back.body["previous"])
    assert (begin.contents(), begin.body["previous"]) == (first.contents(), None)


def test_rows_that_are_added_do_not_shift_the_next_page(http: Caller, alice: Person) -> None:
    first = http.get("/memories", limit=2)
    MemoryFactory(workspace=alice.workspace, content="newest")
    assert follow(http, first.body["next"]).contents() == ["number 2", "number 1"]


def test_next_may_be_sent_as_the_cursor_itself(http: Caller) -> None:
    first = http.get("/memories", limit=2, category="preference")
    answer = http.get("/memories", limit=2, cursor=first.body["next"])
    assert answer.contents() == ["number 2", "number 1"]


def test_the_address_of_the_next_page_keeps_the_filters(http: Caller) -> None:
    assert "category=preference" in http.get("/memories", limit=2, category="preference").body["next"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": "YQ"}, "cursor"),
        ({"live": "perhaps"}, "live"),
        ({"knownAt": "then"}, "knownAt"),
    ],
)
def test_a_wrong_parameter_is_named(http: Caller, query: dict[str, str], field: str) -> None:
    answer = http.get("/memories", **query)
    assert (answer.status, answer.fields) == (400, [field])
