"""The search desk: what an agent would be answered, and why."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.belief import review
from memories.models import DueSummary
from memories.profiles.summaries import talk_summaries
from tests.api_fixtures import caller
from tests.desk import Desk, member
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.models import Role


def asks(desk: Desk, query: str, **words: str) -> Any:
    answer = desk.client.get(reverse("admin:memories_search"), {"query": query} | words)
    assert answer.status_code == 200
    return answer.context


def found(context: Any) -> list[str]:
    """The contents of the hits."""
    return [one.row.content for one in context["answer"].shown]


def test_page_without_a_query_asks_nothing(alice: Person) -> None:
    desk = member(alice.workspace)

    assert desk.client.get(reverse("admin:memories_search")).context["answer"] is None


def test_hits_come_with_scores_and_quotes(alice: Person) -> None:
    alice.say("I prefer tea to coffee.")
    answer = asks(member(alice.workspace, Role.VIEWER), "tea")["answer"]
    [first, *_] = answer.shown

    assert "tea" in first.row.content
    assert first.parts
    assert [quote.quote for quote in first.quotes] == ["I prefer tea to coffee."]


def test_a_passage_of_a_document_leads_to_its_document_and_a_summary_to_its_words(
    alice: Person,
) -> None:
    said = {"content": "# Tea\n\nThe tea is in the blue tin.", "mode": "sync"}
    document = caller(alice).post("/documents", said).body["id"]
    alice.say(*[f"My tea number {n} is of hill {n * 7}." for n in range(12)], thread_id="talk")
    DueSummary.objects.update(due_at=timezone.now())
    assert [talk_summaries.make(pk) for pk in talk_summaries.due_rows()]
    desk = member(alice.workspace, Role.VIEWER)
    for layer, noun in (("chunks", "document"), ("summaries", "episode")):
        [first, *_] = asks(desk, "tea", layer=layer)["answer"].shown
        assert f"/{noun}/" in first.url
        assert desk.sees(first.url)
        assert noun == "episode" or document in first.url


def test_rankings_stand_side_by_side(alice: Person) -> None:
    alice.note("Prefers tea")
    alice.note("Rust is the language")
    desk = member(alice.workspace)
    context = asks(desk, "tea", ranking="all")
    others = dict(context["others"])

    assert context["answer"].ranking == "hybrid"
    assert list(others) == ["linea", "vector", "keyword"]
    assert found(desk.client.get(others["keyword"]).context) == ["Prefers tea"]
    part = desk.sees(f"{others['linea']}&part=1")
    assert part.startswith("<section")
    assert "Rust is the language" in part


def test_the_missing_one_leads_to_why_not(alice: Person) -> None:
    memory = alice.note("Rust is the language")
    desk = member(alice.workspace)
    context = asks(desk, "tea", ranking="linea")
    [one] = context["answer"].shown

    assert str(memory.pk) in one.why_not
    assert "Rust is the language" in desk.sees(one.why_not)


def test_filters_narrow_the_hits(alice: Person) -> None:
    alice.note("Prefers tea", category="preference")
    alice.note("Drinks tea at noon", category="other")
    desk = member(alice.workspace)
    condition = json.dumps({"field": "category", "op": "eq", "value": "other"})

    assert found(asks(desk, "tea", category="preference")) == ["Prefers tea"]
    assert found(asks(desk, "tea", filter=condition)) == ["Drinks tea at noon"]


def test_time_travel_finds_what_was_believed_then(alice: Person) -> None:
    old = alice.note("Prefers tea")
    between = timezone.now()
    review.edit(alice.scope, old.pk, {"content": "Prefers mint tea"})
    desk = member(alice.workspace)

    assert found(asks(desk, "tea")) == ["Prefers mint tea"]
    assert found(asks(desk, "tea", known_at=between.isoformat())) == ["Prefers tea"]
    earlier = (between - timedelta(days=1)).isoformat()
    assert found(asks(desk, "tea", known_at=earlier)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"filter": "{"},
        {"filter": '{"field": "nonsense", "op": "eq", "value": 1}'},
        {"valid_at": "soon"},
        {"limit": "1000"},
        {"ranking": "best"},
        {"threshold": "7"},
        {"workspace": "swamp"},
    ],
)
def test_a_wrong_wish_is_told_and_nothing_is_asked(alice: Person, wrong: dict[str, str]) -> None:
    context = asks(member(alice.workspace), "tea", **wrong)

    assert context["answer"] is None
    assert set(context["form"].errors) == set(wrong)


def test_an_agent_that_is_not_known_is_told(alice: Person) -> None:
    answer = asks(member(alice.workspace), "tea", agent="spy")["answer"]

    assert answer.error or answer.shown == []


def test_another_workspace_is_not_searched(alice: Person, mallory: Person) -> None:
    alice.note("Prefers tea")
    mallory_desk = member(mallory.workspace)
    context = asks(mallory_desk, "tea", workspace=alice.workspace.slug)

    assert context["answer"] is None
    assert found(asks(mallory_desk, "tea")) == []


def test_one_of_several_workspaces_is_chosen(alice: Person, mallory: Person) -> None:
    alice.note("Prefers tea")
    desk = member(mallory.workspace)
    MembershipFactory(user=desk.user, workspace=alice.workspace, role=Role.VIEWER)

    assert found(asks(desk, "tea", workspace=alice.workspace.slug)) == ["Prefers tea"]


def test_who_looks_in_memories_alone_is_led_to_the_documents(alice: Person) -> None:
    caller(alice).post("/documents", {"content": "# Quay\n\nThe ferry is called Skarv.", "mode": "sync"})
    desk = member(alice.workspace, Role.VIEWER)
    narrow = asks(desk, "ferry", layer="memories")
    everywhere = desk.client.get(reverse("admin:memories_search") + narrow["everywhere_url"])

    assert "ferry is called Skarv" in " ".join(found(everywhere.context))
    assert everywhere.context["everywhere_url"] == ""
    assert '<span class="desk-chip">documents</span>' in everywhere.content.decode()
