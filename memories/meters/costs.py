"""Costs of model calls: counted where calls are made, added up by workspace, day, purpose and
model, and refused where a budget is used up; and the prices."""

import logging
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from memories import metrics
from memories.errors import BudgetSpent, Unasked
from memories.models import ModelPrice, ModelUse
from memories.providers import network
from memoryproject.postgres import visible
from workspaces.models import Workspace

# Prices of models: those known when this version was made, and those that the operator entered,
# which win.

MILLION, THOUSAND = Decimal(1_000_000), Decimal(1_000)


RETRY = 3600.0  # seconds after which what waits for a budget looks again, at most
SETTING = "budget"
LATER = ("query", "rerank")  # asked by searches
MICRO = 1_000_000
ADD = """
insert into memories_modeluse as u
  (workspace_id, day, purpose, model, calls, failed, input_tokens, output_tokens, cached_tokens, cost)
values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
on conflict (workspace_id, day, purpose, model) do update
set calls = u.calls + excluded.calls, failed = u.failed + excluded.failed,
    input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens,
    cached_tokens = u.cached_tokens + excluded.cached_tokens, cost = u.cost + excluded.cost
"""
SUMS = ("calls", "failed", "input_tokens", "output_tokens", "cached_tokens", "cost")
BY = ("day", "purpose", "model")


@dataclass(frozen=True, slots=True)
class Price:
    """A price in the operator's currency; those below are US dollars. `cached_share`: what a token costs
    that was found in the server's cache, of the price of one that was not."""

    input_per_million: Decimal = Decimal(0)
    output_per_million: Decimal = Decimal(0)
    per_thousand_calls: Decimal = Decimal(0)
    cached_share: Decimal = Decimal(1)

    def of(self, calls: int, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Decimal:
        read = input_tokens - cached_tokens + self.cached_share * cached_tokens
        tokens = self.input_per_million * read + self.output_per_million * output_tokens
        return tokens / MILLION + self.per_thousand_calls * calls / THOUSAND


def _known(input_price: str, output_price: str = "0") -> Price:
    return Price(Decimal(input_price), Decimal(output_price), cached_share=Decimal("0.1"))


# Prices of the services themselves: the same model elsewhere has the price of that host.
KNOWN_PRICES = {
    "text-embedding-3-small": _known("0.02"),
    "text-embedding-3-large": _known("0.13"),
    "text-embedding-ada-002": _known("0.10"),
    "gpt-5": _known("1.25", "10"),
    "gpt-5-mini": _known("0.25", "2"),
    "gpt-5-nano": _known("0.05", "0.40"),
    "claude-haiku-4-5": _known("1", "5"),
    "claude-sonnet-4-5": _known("3", "15"),
}


def prices() -> dict[str, Price]:
    """Prices by model, named as in the ledger (`model at host`) or by its name alone."""
    rows = ModelPrice.objects.values_list("model", "input_per_million", "output_per_million", "per_thousand_calls")
    own = {
        name: Price(read, written, calls, cached_share=KNOWN_PRICES.get(name, Price()).cached_share)
        for name, read, written, calls in rows
    }
    return KNOWN_PRICES | own


def price_of(model: str, known: Mapping[str, Price]) -> Price | None:
    """The price of a model, or None if nobody set one. A host's own price comes before that of the
    name, and the known price of a service holds for no other host."""
    name, _, host = model.partition(" at ")
    found = known.get(model) or known.get(name)
    return None if host and found is KNOWN_PRICES.get(name) else found


# The ledger of model calls. `counted` is the only way to a model: it checks whether the workspace
# may still spend, and records the cost of the call.
#
# A search of a web process only adds to sums, which are written with the counts of metrics.py: no
# read waits for a write. Everything else is written at once, so that a budget holds from the next
# call on.


Answer = TypeVar("Answer")
log = logging.getLogger(__name__)


class LedgerLine(NamedTuple):
    """The key of a sum: workspace, day (UTC), purpose and model (`name at host`) of the calls."""

    workspace_id: uuid.UUID
    day: date
    purpose: str
    model: str


@dataclass(slots=True)
class LedgerSum:
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def add(self, other: "LedgerSum") -> None:
        self.calls += other.calls
        self.failed += other.failed
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cached_tokens += other.cached_tokens


@dataclass(frozen=True, slots=True)
class ModelBudget:
    """Spending limits of a workspace for models, None without limit; days and months are UTC's."""

    per_day: Decimal | None = None
    per_month: Decimal | None = None
    tokens_per_day: int | None = None

    @property
    def is_endless(self) -> bool:
        return self == ModelBudget()


@dataclass(frozen=True, slots=True)
class Spent:
    """The amounts that a workspace has spent so far."""

    today: Decimal
    this_month: Decimal
    tokens_today: int


_sums: metrics.Sums[LedgerLine, LedgerSum] = metrics.Sums(LedgerSum.add)
_told: set[tuple[uuid.UUID, date, str]] = set()  # what the log says of a budget, once a day


def counted(workspace_id: uuid.UUID, purpose: str, model: str, act: Callable[[], Answer]) -> Answer:
    """Run `act`, one call of a model, and record it in the ledger, even if it fails."""
    line = LedgerLine(workspace_id, timezone.now().date(), purpose, model[:300])
    asked, failed = 1, 1
    with network.counting() as tokens:
        try:
            answer = act()
            failed = 0
            return answer
        except (Unasked, network.NeedsNetwork):  # nothing was sent
            asked = failed = 0
            raise
        finally:
            if asked:
                _sums.add(line, LedgerSum(asked, failed, tokens.input, tokens.output, tokens.cached))
                own, outcome = str(workspace_id), "failed" if failed else "ok"
                metrics.count("model_calls", purpose=purpose, workspace=own, outcome=outcome)
                for way, number in (("in", tokens.input), ("out", tokens.output)):
                    metrics.add("model_tokens", number, purpose=purpose, workspace=own, direction=way)
                if settings.PROCESS_KIND != "web" or purpose not in LATER:
                    flush_or_keep()


def flush_or_keep() -> None:
    try:
        flush()
    except DatabaseError as error:
        log.warning("Costs of models are kept until the database takes them: %s", error)


def flush() -> None:
    """Write the counts of this process; counts that cannot be written are kept."""
    with _sums.taken() as taken:
        rows = _write(taken) if taken else []
    for row in rows:
        metrics.add("model_cost_micros", round(row[-1] * MICRO), purpose=row[2], workspace=str(row[0]))


def _write(taken: Mapping[LedgerLine, LedgerSum]) -> list[tuple[Any, ...]]:
    """Write the lines of workspaces that still exist; return them as written."""
    ids = {line.workspace_id for line in taken}
    with visible.only(*ids):
        there = set(Workspace.objects.filter(pk__in=ids).values_list("pk", flat=True))
        known, rows = prices(), []
        # Sorted, so that two processes never wait for each other in a circle.
        for line, amount in sorted(taken.items(), key=lambda each: each[0]):
            if line.workspace_id not in there:
                continue
            price = price_of(line.model, known)
            values = (amount.calls, amount.input_tokens, amount.output_tokens, amount.cached_tokens)
            cost = price.of(*values) if price else Decimal(0)
            rows.append((*line, amount.calls, amount.failed, *values[1:], cost))
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(ADD, rows)
    return rows


def check(workspace_id: uuid.UUID) -> None:
    """Raise BudgetSpent where a workspace may not call models any more."""
    budget = budget_of(workspace_id)
    if budget.is_endless:
        return
    spent = spent_by(workspace_id)
    reached = reached_of(budget, spent)
    if not reached:
        return
    now = timezone.now()
    metrics.count("model_budgets_spent", workspace=str(workspace_id))
    told = (workspace_id, now.date(), reached)
    if told not in _told:
        _told.add(told)
        log.warning("Workspace %s asks no model any more: %s", workspace_id, reached)
    tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
    wait = min(RETRY, (tomorrow - now).total_seconds())
    raise BudgetSpent(reached, permanent=False, retry_after=wait)


def budget_of(workspace_id: uuid.UUID) -> ModelBudget:
    """The workspace's own budget combined with the server's: the smaller of each limit holds."""
    own = Workspace.objects.filter(pk=workspace_id).values_list(f"settings__{SETTING}", flat=True)
    said = own.first() or {}

    def least(value: object, servers: float) -> Decimal | None:
        named = [Decimal(str(each)) for each in (value, servers or None) if each is not None]
        return min(named, default=None)

    tokens = least(said.get("tokensPerDay"), settings.WORKSPACE_TOKENS_PER_DAY)
    return ModelBudget(
        least(said.get("perDay"), settings.WORKSPACE_COST_PER_DAY),
        least(said.get("perMonth"), settings.WORKSPACE_COST_PER_MONTH),
        None if tokens is None else int(tokens),
    )


def spent_by(workspace_id: uuid.UUID) -> Spent:
    """The spending of this day and month, with what this process has not written yet."""
    today = timezone.now().date()
    is_today = Q(day=today)
    rows = ModelUse.objects.filter(workspace_id=workspace_id, day__gte=today.replace(day=1))
    sums = rows.aggregate(
        today=Sum("cost", filter=is_today),
        month=Sum("cost"),
        tokens=Sum(F("input_tokens") + F("output_tokens"), filter=is_today),
    )
    with _sums.lock:
        own = [each for each in _sums.held.items() if each[0].workspace_id == workspace_id]
    known = prices() if own else {}
    cost, tokens = Decimal(0), 0
    for line, amount in own:
        tokens += amount.input_tokens + amount.output_tokens
        if price := price_of(line.model, known):
            cost += price.of(amount.calls, amount.input_tokens, amount.output_tokens, amount.cached_tokens)
    return Spent(
        (sums["today"] or Decimal(0)) + cost,
        (sums["month"] or Decimal(0)) + cost,
        (sums["tokens"] or 0) + tokens,
    )


def reached_of(budget: ModelBudget, spent: Spent) -> str:
    """Describe the limit of a budget that is reached; "" where none is."""
    pairs = (
        ("money for models of this month is", spent.this_month, budget.per_month),
        ("money for models of today is", spent.today, budget.per_day),
        ("tokens of today are", Decimal(spent.tokens_today), budget.tokens_per_day),
    )
    for name, amount, end in pairs:
        if end is not None and amount >= end:
            return f"the workspace's {name} used up ({float(amount):.6g} of {float(end):.6g})"
    return ""


@dataclass(frozen=True, slots=True)
class CostRow:
    """Sums of calls; fields by which they are not grouped are empty. `is_priced` is False where
    nobody set a price of the model."""

    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: Decimal
    day: date | None = None
    purpose: str = ""
    model: str = ""
    workspace: uuid.UUID | None = None
    is_priced: bool = True

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def cost_rows(
    workspaces: Collection[uuid.UUID] | None, since: date, until: date, by: Collection[str] = BY
) -> list[CostRow]:
    """Sums from `since` on and before `until`, grouped by some of BY, or by "workspace"; None: all
    workspaces. The newest day comes first, then the highest cost."""
    rows = ModelUse.objects.filter(day__gte=since, day__lt=until)
    if workspaces is not None:
        rows = rows.filter(workspace__in=workspaces)
    known = prices() if "model" in by else {}
    found = []
    sums = {f"{name}_sum": Sum(name) for name in SUMS}
    for row in rows.order_by().values(*by).annotate(**sums):
        named: dict[str, Any] = {name: row[name] for name in by}
        if "model" in named:
            named["is_priced"] = price_of(named["model"], known) is not None
        found.append(CostRow(**{name: row[f"{name}_sum"] for name in SUMS}, **named))
    return sorted(found, key=lambda row: (-(row.day.toordinal() if row.day else 0), -row.cost, row.purpose))
