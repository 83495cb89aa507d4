"""Days that are asked for, in talks of so many messages that words and meaning bring up others."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from memories import ranking
from memories.ingest import NewMessage
from tests.api_fixtures import Caller, caller
from tests.people import Person, bound_to_agent

FILLERS = 640
BEGUN = datetime(2025, 10, 1, 7, tzinfo=UTC)
DAY = datetime(2026, 3, 12, tzinfo=UTC)
DEEDS = ("gate", "roof", "lamp", "pond", "bill", "soup", "shelf", "hinge")


def of_the_day(day: datetime, whose: str = "my") -> list[NewMessage]:
    return [
        NewMessage(f"I saw to {whose} {deed}.", created_at=day + timedelta(hours=8 + place))
        for place, deed in enumerate(DEEDS)
    ]


def tell(person: Person, day: datetime, *, whose: str = "my", **wish: Any) -> None:
    """A talk of many days, none of them the week of the day that matters."""
    said = [
        NewMessage(f"The tram did come late, number {n}.", created_at=at)
        for n in range(FILLERS)
        if abs((at := BEGUN + timedelta(hours=15 * n)) - day) > timedelta(days=8)
    ]
    messages = sorted([*said, *of_the_day(day, whose)], key=lambda one: one.created_at or day)
    person.say(*messages, extract="none", **wish)


def found(http: Caller, query: str, layer: str, **wish: Any) -> list[str]:
    """Which of the day's deeds are among ten hits."""
    asked = {"query": query, "layers": [layer], **wish}
    hits = http.post("/memories/search", asked).body["results"]
    texts = " ".join(hit["memory" if layer == "memories" else "episode"]["content"] for hit in hits)
    return [deed for deed in DEEDS if f" {deed}." in texts]


QUERIES = (
    "What did I do on 12 March?",
    "What happened on 2026-03-12?",
    "What did I do on Thursday, March 12th 2026?",
    "What did I do in the second week of March 2026?",
)


@pytest.mark.parametrize("about", [{"userId": "ada"}, {}])
def test_a_day_brings_up_what_was_told_on_it(alice: Person, about: dict[str, str]) -> None:
    tell(alice, DAY, user_id="ada", thread_id="talk")
    http = caller(alice)
    for query in QUERIES:
        for layer in ("episodes", "memories"):
            assert found(http, query, layer, **about) == [*DEEDS], (query, layer)


def test_last_week_brings_up_what_was_told_in_it_and_the_context_holds_it(alice: Person) -> None:
    now = timezone.now()
    day = now.replace(hour=0) - timedelta(days=now.weekday() + 5)
    tell(alice, day, user_id="ada", thread_id="talk")
    http = caller(alice)
    for query in ("What did I do last week?", "What did I do on Wednesday last week?"):
        assert found(http, query, "episodes", userId="ada") == [*DEEDS]
        asked = {"query": query, "userId": "ada"}
        text = http.post("/memories/context", asked).body["text"]
        assert all(f" {deed}." in text for deed in DEEDS)


def test_a_month_brings_up_what_is_of_it_and_a_season_nothing_else(alice: Person) -> None:
    tell(alice, DAY, user_id="ada", thread_id="talk")
    http = caller(alice)
    query = "What did I see to in March 2026?"
    assert found(http, query, "episodes", userId="ada", limit=30) == [*DEEDS]
    asked = {"query": "What happened in spring 2026?", "layers": ["episodes"], "userId": "ada"}
    hits = http.post("/memories/search", asked).body["results"]
    months = {hit["episode"]["occurredAt"][:7] for hit in hits}
    assert months <= {"2026-03", "2026-04", "2026-05"}


MET = ("Anna", "Boris", "Clara", "Dario", "Edith", "Felix", "Greta", "Hugo")


@pytest.mark.parametrize("told_as", ["patterns", "auto"])
def test_a_month_or_season_brings_up_what_was_learned_in_it(alice: Person, told_as: str) -> None:
    begun = datetime(2026, 4, 20, 7, tzinfo=UTC)
    idle = ("Hm, fine, number {}.", "Could you make version {} shorter?", "What rhymes with {}?")
    said = [NewMessage(idle[n % 3].format(n), created_at=begun + timedelta(hours=4 * n)) for n in range(300)]
    said += [
        NewMessage(f"I met {name} at the harbour.", created_at=datetime(2026, 5, 3 * n, 9, tzinfo=UTC))
        for n, name in enumerate(MET, 1)
    ]
    said.sort(key=lambda one: one.created_at or begun)
    alice.say(*said, extract=told_as, user_id="ada", thread_id="talk")
    for query in ("What did I do in May 2026?", "What happened in spring 2026?"):
        asked = {"query": query, "layers": ["episodes"], "userId": "ada"}
        hits = caller(alice).post("/memories/search", asked).body["results"]
        texts = " ".join(hit["episode"]["content"] for hit in hits)
        assert [name for name in MET if name in texts] == [*MET]


@pytest.mark.parametrize(
    ("query", "is_whatever"),
    [
        ("What did I do in May?", True),
        ("What happened last winter?", True),
        ("Summarize what happened in May 2026.", True),
        ("What did I cook in May?", False),
        ("What happened to the boat in May?", False),
        ("What did I do?", False),
    ],
)
def test_whatever_happened_is_asked_for_by_nothing_but_its_time(query: str, is_whatever: bool) -> None:
    assert ranking.analyse(query, now=DAY).asks_whatever is is_whatever


def test_a_day_brings_up_nothing_that_its_asker_may_not_see(alice: Person) -> None:
    bob = bound_to_agent(alice.workspace, "bob-of-days")
    carol = bound_to_agent(alice.workspace, "carol-of-days")
    tell(bob, DAY, user_id="ada", thread_id="bobs", whose="Bob's", visibility="private")
    query = QUERIES[0]
    assert found(caller(bob), query, "memories", userId="ada") == [*DEEDS]
    for layer in ("episodes", "memories"):
        assert found(caller(carol), query, layer, userId="ada") == []
        assert found(caller(alice), query, layer, userId="somebody-else") == []


def test_what_was_believed_then_is_found_by_its_day(alice: Person) -> None:
    tell(alice, DAY, user_id="ada", thread_id="talk")
    then = (timezone.now() + timedelta(minutes=1)).isoformat()
    got = found(caller(alice), QUERIES[0], "memories", userId="ada", knownAt=then)
    assert got == [*DEEDS]
