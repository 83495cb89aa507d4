"""The ledger of model calls: what they took is written down, budgets end them, people see it."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from memories import metrics
from memories.errors import BudgetSpent, Unasked
from memories.meters import breakers, costs, stored_metrics
from memories.meters.costs import LedgerLine, LedgerSum, Price, price_of, prices
from memories.models import DueVector, ModelPrice, ModelUse
from memories.providers import network
from memories.reading.extraction.fallback_chain import chain_of, unusable
from tests.api_fixtures import caller
from tests.desk import member, superuser
from tests.meters.test_metrics import scraped
from tests.people import Person, bound_to_agent
from tests.wire_servers import (
    FACT,
    chat_completion,
    facts_json,
    failing,
    openai_error,
    serve_embeddings,
    serve_in_turn,
)
from workspaces.models import Role, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "As of this spring I live in Lisbon, by the river."
FOUND = chat_completion(facts_json(FACT | {"quotes": [{"message": 0, "text": "I live in Lisbon"}]}))


@pytest.fixture(autouse=True)
def nothing_counted_before() -> Iterator[None]:
    metrics.clear()
    breakers.forget()
    yield
    metrics.clear()
    breakers.forget()


def model(workspace: Workspace, server: HTTPServer, *answers: Any, **budget: Any) -> list[Any]:
    """A language model of the workspace, called `m` at the server's host, and its budget."""
    bodies = serve_in_turn(server, "/m/chat/completions", *answers)
    entry = {"provider": "openai", "model": "m", "baseUrl": server.url_for("/m")}
    workspace.settings = {"extractors": [entry], "budget": budget}
    workspace.save()
    return bodies


@pytest.fixture
def embedder(settings: Settings, httpserver: HTTPServer, tmp_path: Any) -> list[Any]:
    settings.EMBEDDING_PROVIDER, settings.OPENAI_API_KEY = "openai", "key"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    settings.QUERY_CACHE_SECONDS, settings.QUERY_CACHE_DIR = 1000, tmp_path / "kept"
    return serve_embeddings(httpserver, 1536)


def uses(workspace: Workspace) -> dict[str, tuple[int, int, int, int]]:
    rows = ModelUse.objects.filter(workspace=workspace, day=timezone.now().date())
    values = ("purpose", "calls", "failed", "input_tokens", "output_tokens")
    return {purpose: tuple(rest) for purpose, *rest in rows.values_list(*values)}  # type: ignore[misc]


def spent(workspace: Workspace, cost: str, days_ago: int = 0, tokens: int = 0) -> None:
    ModelUse.objects.create(
        workspace=workspace,
        day=timezone.now().date() - timedelta(days=days_ago),
        purpose="extraction",
        model="m",
        calls=1,
        input_tokens=tokens,
        cost=Decimal(cost),
    )


def test_a_model_that_reads_is_written_down_with_tokens_and_money(alice: Person, httpserver: HTTPServer) -> None:
    ModelPrice.objects.create(model="m", input_per_million=10, output_per_million=100)
    model(alice.workspace, httpserver, failing(429, openai_error("busy")), FOUND)
    alice.say(TEXT)
    alice.say(TEXT + " It is lovely.")
    assert uses(alice.workspace) == {"extraction": (2, 1, 120, 40)}
    row = ModelUse.objects.get()
    assert row.model == f"m at {httpserver.host}:{httpserver.port}"
    assert row.cost == Decimal("0.0052")
    found = scraped()
    assert found['memory_model_calls_total{outcome="ok",purpose="extraction"}'] == 1
    assert found['memory_model_tokens_total{direction="out",purpose="extraction"}'] == 40
    assert found['memory_model_cost_micros_total{purpose="extraction"}'] == 5200


def test_embeddings_queries_and_reranks_are_written_down(
    alice: Person, embedder: list[Any], httpserver: HTTPServer, settings: Settings
) -> None:
    alice.note("Prefers tea")
    results = {"results": [{"index": 0, "relevance_score": 0.5}], "usage": {"total_tokens": 7}}
    serve_in_turn(httpserver, "/v2/rerank", results)
    settings.RERANK_BASE_URL = httpserver.url_for("/").rstrip("/")
    alice.finds("tea", rerank=True)
    assert uses(alice.workspace) == {
        "embedding": (1, 0, 1, 0),
        "query": (1, 0, 1, 0),
        "rerank": (1, 0, 7, 0),
    }
    alice.finds("tea")
    assert uses(alice.workspace)["query"] == (1, 0, 1, 0)  # out of the cache


def test_features_and_summaries_are_told_apart(workspace: Workspace, settings: Settings) -> None:
    settings.EXTRACTION_PROVIDER, settings.OPENAI_BASE_URL = "openai", "http://127.0.0.1:1"
    chains = [chain_of(workspace.pk), chain_of(workspace.pk, "summaries")]
    assert [chain.use for chain in chains if chain] == ["extraction", "summaries"]


def test_a_web_process_writes_nothing_in_a_search_and_all_with_its_counts(
    alice: Person, embedder: list[Any], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.note("Prefers tea")
    settings.PROCESS_KIND = "web"
    alice.finds("tea")
    assert "query" not in uses(alice.workspace)
    alice.workspace.settings = {"budget": {"tokensPerDay": 2}}
    alice.workspace.save()
    assert costs.spent_by(alice.workspace.pk).tokens_today == 2  # what is unwritten counts
    assert costs.spent_by(alice.workspace.pk).today == 0
    stored_metrics.flush()
    assert uses(alice.workspace)["query"] == (1, 0, 1, 0)


def test_what_the_database_does_not_take_is_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(costs, "ADD", "insert into nowhere values (%s)")
        costs.counted(workspace.pk, "extraction", "m", lambda: network.add(5))
    assert "kept until the database takes them" in caplog.text
    assert uses(workspace) == {}
    stored_metrics.flush()
    assert uses(workspace) == {"extraction": (1, 0, 5, 0)}
    monkeypatch.setattr(costs, "ADD", "insert into nowhere values (%s)")
    costs._sums.held[LedgerLine(workspace.pk, timezone.now().date(), "query", "m")] = LedgerSum(1)
    with pytest.raises(DatabaseError):
        costs.flush()


def test_calls_of_a_workspace_that_went_are_dropped(workspace: Workspace) -> None:
    line = LedgerLine(workspace.pk, timezone.now().date(), "query", "m")
    costs._sums.held[line] = LedgerSum(1)
    workspace.delete()
    costs.flush()
    costs.flush()
    assert not ModelUse.objects.exists()


def test_who_was_not_asked_cost_nothing(workspace: Workspace) -> None:
    def refuse() -> None:
        raise Unasked("switched off", permanent=False)

    with pytest.raises(Unasked):
        costs.counted(workspace.pk, "query", "m", refuse)
    costs.flush()
    assert not ModelUse.objects.exists()


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"perDay": 1}, "money for models of today is used up (2 of 1)"),
        ({"perMonth": 2}, "money for models of this month is used up (2 of 2)"),
        ({"tokensPerDay": 30}, "tokens of today are used up (30 of 30)"),
    ],
)
def test_a_spent_budget_leaves_patterns_and_says_so(
    alice: Person,
    httpserver: HTTPServer,
    budget: dict[str, Any],
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bodies = model(alice.workspace, httpserver, FOUND, **budget)
    spent(alice.workspace, "2", tokens=30)
    session = alice.say("I prefer tea to coffee.", TEXT, "Zorble frumption.", user_id="ana")
    assert (session.state, bodies) == ("done", [])
    assert words in session.reason
    assert "provider failed" not in session.reason
    assert "User prefers tea to coffee" in alice.live()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            with pytest.raises(BudgetSpent) as caught:
                costs.check(alice.workspace.pk)
    assert caplog.text.count("asks no model any more") == 1
    assert 0 < (caught.value.retry_after or 0) <= costs.RETRY
    told = caller(alice).get("/costs").body
    assert words in told["budget"]["reached"]
    assert "No model is asked any more" in member(alice.workspace).sees(reverse("admin:memories_costs"))


def test_a_spent_budget_leaves_words_and_vectors_that_wait(
    alice: Person, embedder: list[Any], httpserver: HTTPServer
) -> None:
    alice.note("Prefers tea")
    asked = len(embedder)
    alice.workspace.settings = {"budget": {"tokensPerDay": 0}}
    alice.workspace.save()
    alice.note("Prefers milk")
    assert DueVector.objects.count() == 1
    found = caller(alice).post("/memories/search", {"query": "tea"}).body
    assert found["results"][0]["memory"]["content"] == "Prefers tea"
    assert [note["code"] for note in found["notes"]] == ["words_only"]
    assert len(embedder) == asked


def test_the_smaller_of_the_servers_and_the_workspaces_budget_holds(workspace: Workspace, settings: Settings) -> None:
    assert costs.budget_of(workspace.pk).is_endless
    settings.WORKSPACE_COST_PER_DAY, settings.WORKSPACE_TOKENS_PER_DAY = 3.0, 500
    workspace.settings = {"budget": {"perDay": 5, "perMonth": 9, "tokensPerDay": 20}}
    workspace.save()
    budget = costs.budget_of(workspace.pk)
    assert (budget.per_day, budget.per_month, budget.tokens_per_day) == (3, 9, 20)
    spent(workspace, "2", days_ago=70)
    costs.check(workspace.pk)  # another month is over


def test_prices_of_the_operator_come_first_and_known_ones_hold_for_their_service() -> None:
    known = prices()
    assert price_of("gpt-5-mini", known) == Price(Decimal("0.25"), Decimal("2"), cached_share=Decimal("0.1"))
    assert price_of("gpt-5-mini at proxy.lan", known) is None
    ModelPrice.objects.create(model="gpt-5-mini", input_per_million=7)
    ModelPrice.objects.create(model="gpt-5-mini at proxy.lan", per_thousand_calls=2)
    own = prices()
    assert price_of("gpt-5-mini at else.lan", own) == Price(Decimal(7), cached_share=Decimal("0.1"))
    proxy = price_of("gpt-5-mini at proxy.lan", own)
    assert proxy is not None
    assert proxy.of(3, 100, 100) == Decimal("0.006")


def test_a_later_price_changes_nothing_that_was_spent(workspace: Workspace) -> None:
    ModelPrice.objects.create(model="m", input_per_million=1_000_000)
    costs.counted(workspace.pk, "extraction", "m", lambda: network.add(2))
    ModelPrice.objects.update(input_per_million=5)
    assert ModelUse.objects.get().cost == 2


def test_costs_are_told_by_day_purpose_and_model(alice: Person, mallory: Person) -> None:
    spent(alice.workspace, "2")
    spent(alice.workspace, "0.5", days_ago=1)
    spent(mallory.workspace, "90")
    http = caller(alice)
    told = http.get("/costs").body
    assert [(row["cost"], row["model"], row["isPriced"]) for row in told["results"]] == [
        (2.0, "m", False),
        (0.5, "m", False),
    ]
    [whole] = http.get("/costs", by="purpose").body["results"]
    assert (whole["purpose"], whole["cost"], whole["calls"], whole["day"]) == (
        "extraction",
        2.5,
        2,
        None,
    )
    today = timezone.now().date().isoformat()
    assert len(http.get("/costs", until=f"{today}T00:00:00Z").body["results"]) == 1
    assert len(http.get("/costs", since=f"{today}T00:00:00Z", by="all").body["results"]) == 1
    assert http.get("/costs", by="nothing").fields == ["by"]


def test_costs_are_for_admins(alice: Person, mallory: Person) -> None:
    agent = bound_to_agent(alice.workspace, "bot")
    assert caller(agent).get("/costs").status == 403
    assert caller(mallory).call("GET", f"//api/v1/workspaces/{alice.workspace.slug}/costs").status == 404
    editor = member(alice.workspace, Role.EDITOR)
    page = reverse("admin:memories_costs")
    assert editor.status(f"{page}?workspace={alice.workspace.slug}") == 403
    assert editor.status(page) == 404
    assert member(mallory.workspace).status(f"{page}?workspace={alice.workspace.slug}") == 404


def test_the_page_draws_what_was_spent_and_takes_a_budget(alice: Person, mallory: Person) -> None:
    page = reverse("admin:memories_costs")
    owner = member(alice.workspace)
    assert "No model was asked" in owner.sees(page)
    ModelUse.objects.create(
        workspace=alice.workspace, day=timezone.now().date(), purpose="query", model="free", calls=3
    )
    assert "Nobody said what these models cost" in owner.sees(page)
    spent(alice.workspace, "2.5", tokens=1000)
    spent(mallory.workspace, "90")
    html = owner.sees(page)
    assert "<strong>2.5</strong>today" in html
    assert "no price" in html
    assert "<strong>90</strong>" not in html
    answer = owner.client.post(page, {"per_day": "3", "per_month": "", "tokens_per_day": "4000"})
    assert answer.status_code == 302
    alice.workspace.refresh_from_db()
    assert alice.workspace.settings["budget"] == {"perDay": 3.0, "tokensPerDay": 4000}
    assert "today of 3" in owner.sees(page)
    assert "Enter a number" in owner.client.post(page, {"per_day": "much"}).content.decode()
    answer = owner.client.post(page, {})
    alice.workspace.refresh_from_db()
    assert "budget" not in alice.workspace.settings
    assert "By workspace" in superuser().sees(page)


def test_only_administrators_of_the_server_change_prices(workspace: Workspace) -> None:
    add, rows = (reverse(f"admin:memories_modelprice_{name}") for name in ("add", "changelist"))
    assert member(workspace).status(rows) == 403
    operator = superuser()
    assert "No price was written down" in operator.sees(rows)
    values = {"model": "m", "input_per_million": "1", "output_per_million": "-1"}
    said = operator.client.post(add, values | {"per_thousand_calls": "0"}).content.decode()
    assert "greater than or equal to 0" in said
    values = values | {"output_per_million": "2", "per_thousand_calls": "0"}
    assert operator.client.post(add, values).status_code == 302
    assert ModelPrice.objects.get().output_per_million == 2


def test_a_wrong_budget_is_refused(alice: Person) -> None:
    answer = caller(alice).patch("", {"settings": {"budget": {"perDay": -1, "perWeek": 2}}})
    assert answer.status == 400
    assert set(answer.fields) == {"settings.budget.perDay", "settings.budget.perWeek"}


# ---- an entry without an address -------------------------------------------------------------


def test_an_entry_without_an_address_is_asked_at_the_servers_own(
    alice: Person, httpserver: HTTPServer, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = httpserver.url_for("/own/"), "the-key"
    bodies = serve_in_turn(httpserver, "/own/chat/completions", FOUND)
    alice.workspace.settings = {"extractors": [{"provider": "openai", "model": "m"}]}
    alice.workspace.save()
    alice.say(TEXT)
    assert [body["model"] for body in bodies] == ["m"]
    request = httpserver.log[-1][0]
    assert request.headers["Authorization"] == "Bearer the-key"


def test_an_entry_with_a_named_key_is_asked_where_that_key_belongs(
    alice: Person, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRACTOR_KEY_HOUSE", "house-key")
    monkeypatch.setenv("EXTRACTOR_URL_HOUSE", httpserver.url_for("/house"))
    bodies = serve_in_turn(httpserver, "/house/chat/completions", FOUND)
    entry = {"provider": "openai", "model": "m", "keyEnv": "EXTRACTOR_KEY_HOUSE"}
    alice.workspace.settings = {"extractors": [entry]}
    alice.workspace.save()
    alice.say(TEXT)
    assert len(bodies) == 1
    assert httpserver.log[-1][0].headers["Authorization"] == "Bearer house-key"


def test_models_that_cannot_be_asked_are_named(settings: Settings) -> None:
    settings.OPENAI_API_KEY = settings.OPENAI_BASE_URL = settings.ANTHROPIC_API_KEY = ""
    entries = [{"provider": "openai", "model": "m"}, {"provider": "anthropic"}]
    assert unusable(entries) == [
        "model 1 (m) needs OPENAI_API_KEY",
        "model 2 (anthropic) needs ANTHROPIC_API_KEY",
    ]
    settings.OPENAI_BASE_URL = "http://localhost:11434/v1"
    assert unusable(entries[:1]) == []
    assert "extractors" in unusable([{"provider": "nobody"}])[0]
