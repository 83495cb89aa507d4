"""Routes: numbers of searches and of those without a result, costs of models, and the budget."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Self

from django.utils import timezone
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.documents.blobs import FileShare, share_of
from memories.errors import refuse_narrow
from memories.meters import costs, search_counts, stored_metrics
from memories.meters.costs import BY, CostRow, ModelBudget, Spent, cost_rows
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Maybe, Moment, OneOf, declared

MONTH = timedelta(days=30)


@declared
@dataclass(frozen=True, slots=True)
class UsageQuery:
    since: Annotated[
        Maybe[Moment],
        Field(description="From this day on, in UTC; by default 30 days. 35 are kept."),
    ] = None
    until: Annotated[Maybe[Moment], Field(description="Before this day.")] = None


class SearchDayJson(JsonAnswer):
    day: date
    searches: int
    results: Annotated[int, Meta(description="Hits of all searches together.")]
    empty: Annotated[int, Meta(description="Searches without any hit.")]
    users: Annotated[int, Meta(description="About how many users something was asked.")]
    searches_of_users: int
    searches_per_user: float
    results_per_search: float


class KeptFilesJson(JsonAnswer):
    """Files of documents that the workspace keeps; the same file twice is one."""

    count: int
    bytes: int
    limit_bytes: Annotated[
        int | None,
        Meta(description="WORKSPACE_FILES_MAX_MB of the server: more is a 507; null: no limit."),
    ]

    @classmethod
    def of_share(cls, share: FileShare) -> Self:
        return cls(share.files, share.bytes, share.most)


class UsageJson(JsonAnswer):
    results: list[SearchDayJson]
    query_vectors: Annotated[dict[str, int], Meta(description="Vectors of queries: hit (kept from before) and miss.")]
    kept_files: KeptFilesJson


class UsageView(WorkspaceView):
    needs = dict.fromkeys(("GET",), Capability.ADMIN)

    @operation("readUsage", query=UsageQuery, answer=UsageJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Count searches by day, and kept files. Not for keys of an agent, or limited to subjects
        or spaces."""
        refuse_narrow(self.scope.is_narrow)
        query, today = read_query(UsageQuery, request), timezone.now().date()
        until = query.until.date() if query.until else today + timedelta(days=1)
        since = query.since.date() if query.since else until - MONTH
        own = [self.scope.workspace_id]
        kept = stored_metrics.counts_by_label("query_vectors", "outcome", own, since, until)
        days = search_counts.search_days(own, since, until)
        files = KeptFilesJson.of_share(share_of(self.scope.workspace_id))
        return Response(UsageJson([SearchDayJson.of(each) for each in days], kept, files))


@declared
@dataclass(frozen=True, slots=True)
class CostQuery:
    since: Annotated[Maybe[Moment], Field(description="From this day on, in UTC; by default 30 days.")] = None
    until: Annotated[Maybe[Moment], Field(description="Before this day.")] = None
    by: Annotated[
        Maybe[Annotated[str, OneOf(("all", *BY))]],
        Field(description="What sums are told apart by; by default all three."),
    ] = None


class CostJson(JsonAnswer):
    day: date | None
    purpose: str
    model: str
    calls: int
    failed: int
    input_tokens: int
    cached_tokens: Annotated[int, Meta(description="Of the input tokens, those found in the model server's cache.")]
    output_tokens: int
    cost: Annotated[float, Meta(description="By the operator's prices, in their currency.")]
    is_priced: Annotated[bool, Meta(description="False: nobody said what this model costs.")]

    @classmethod
    def of_row(cls, row: CostRow) -> Self:
        return cls(
            row.day,
            row.purpose,
            row.model,
            row.calls,
            row.failed,
            row.input_tokens,
            row.cached_tokens,
            row.output_tokens,
            float(row.cost),
            row.is_priced,
        )


class BudgetJson(JsonAnswer):
    """The budget: the smaller of the workspace's setting `budget` and the server's; null: no
    limit."""

    per_day: float | None
    per_month: float | None
    tokens_per_day: int | None
    spent_today: float
    spent_this_month: float
    tokens_today: int
    reached: Annotated[str, Meta(description="Which end is reached, in words; empty: none.")]

    @classmethod
    def of_sums(cls, budget: ModelBudget, spent: Spent) -> Self:
        day, month = budget.per_day, budget.per_month
        return cls(
            None if day is None else float(day),
            None if month is None else float(month),
            budget.tokens_per_day,
            float(spent.today),
            float(spent.this_month),
            spent.tokens_today,
            costs.reached_of(budget, spent),
        )


class CostListJson(JsonAnswer):
    results: list[CostJson]
    budget: BudgetJson


class CostsView(WorkspaceView):
    needs = dict.fromkeys(("GET",), Capability.ADMIN)

    @operation("listCosts", query=CostQuery, answer=CostListJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Return calls, tokens and money by day, purpose and model, and the budget. Not for keys of
        an agent, or keys limited to subjects or spaces."""
        refuse_narrow(self.scope.is_narrow)
        query, today = read_query(CostQuery, request), timezone.now().date()
        until = query.until.date() if query.until else today + timedelta(days=1)
        since = query.since.date() if query.since else until - MONTH
        own = self.scope.workspace_id
        by = BY if query.by in (None, "all") else (query.by,)
        rows = cost_rows([own], since, until, by)
        budget, spent = costs.budget_of(own), costs.spent_by(own)
        return Response(CostListJson([CostJson.of_row(row) for row in rows], BudgetJson.of_sums(budget, spent)))
