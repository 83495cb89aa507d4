"""The inbox: all that waits for a person in one list, the most pressing first. Cases, sessions and
documents that failed, and golden questions that got worse."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from django.db.models import Count, F, FloatField, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from memories.models import (
    Case,
    CaseItem,
    Citation,
    Document,
    FailureMark,
    GoldenQuestion,
    MemorySession,
    Revision,
)
from memories.models.case import AGEING

# Urgency: a message that nothing was learned from, a text that nobody finds, a known answer lost.
RISKS = {"session": 0.7, "document": 0.6, "question": 0.5}
KINDS = (*Case.Kind.values, *RISKS)

FailedRow = MemorySession | Document | GoldenQuestion
# Those of some rows that the asker may see.
Limit = Callable[[QuerySet[Any]], QuerySet[Any]]


class Epoch(Func):
    """Seconds since 1970, of an aware time."""

    template = "extract(epoch from %(expressions)s)::float8"
    output_field = FloatField()


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """`kinds`: all where there are none. `user_id` and `document_id` say what it is about;
    `assignees` whose it is, and with `is_free` what is nobody's: all, where neither is said.
    `is_snoozed`: what rests, instead."""

    kinds: frozenset[str] = frozenset()
    user_id: str | None = None
    document_id: uuid.UUID | None = None
    assignees: frozenset[uuid.UUID] = frozenset()
    is_free: bool = False
    is_snoozed: bool = False

    def whose(self, path: str) -> Q:
        """The condition on the assignee, for rows that hold it at `path`."""
        if not self.assignees and not self.is_free:
            return Q()
        free = Q(**{path: None}) if self.is_free else Q(pk=None)
        return Q(**{f"{path}__in": self.assignees}) | free


@dataclass(frozen=True, slots=True)
class InboxRows:
    """Rows of several tables in one order, sliced as a queryset is; each has `urgency`."""

    sources: tuple[QuerySet[Any], ...]
    order: tuple[str, ...] = ("-urgency", "-pk")

    def filter(self, condition: Q, /) -> Self:
        return replace(self, sources=tuple(each.filter(condition) for each in self.sources))

    def order_by(self, *names: str) -> Self:
        return replace(self, order=names)

    def __getitem__(self, part: slice) -> list[Any]:
        rows = [row for each in self.sources for row in each.order_by(*self.order)[: part.stop]]
        rows.sort(key=lambda row: (row.urgency, row.pk), reverse=self.order[0].startswith("-"))
        return rows[part]


def failed(kind: str) -> QuerySet[Any]:
    """Sessions or documents that failed, or questions that got worse: also what rests or is left
    as it is. Each with `since` and `urgency`."""
    rows: QuerySet[Any]
    since: Any
    now: Any
    if kind == "session":
        rows = MemorySession.objects.filter(state__in=MemorySession.STUCK)
        since, now = Coalesce("finished_at", "updated_at"), F("claims")
    elif kind == "document":
        rows = Document.objects.filter(state=Document.State.FAILED)
        since, now = F("updated_at"), F("claims")
    else:
        rows = GoldenQuestion.objects.filter(worse_since__isnull=False)
        since, now = F("worse_since"), Coalesce("rank", 0)
    return rows.select_related("workspace", "subject", "failure_mark__assignee__user").annotate(
        since=since, failure=now, urgency=Value(RISKS[kind]) - Epoch(since) / Value(AGEING)
    )


def waiting(limit: Limit, wanted: InboxFilter = InboxFilter()) -> Mapping[str, QuerySet[Any]]:
    """Return the rows that wait or are snoozed, by source (case, session, document, question),
    unordered."""
    chosen = wanted.kinds or frozenset(KINDS)
    found = {}
    if kinds := chosen.intersection(Case.Kind.values):
        state = Case.State.SNOOZED if wanted.is_snoozed else Case.State.OPEN
        rows = limit(Case.objects.all()).filter(state=state).annotate(urgency=F("rank"))
        if len(kinds) < len(Case.Kind):
            rows = rows.filter(kind__in=kinds)
        if wanted.user_id is not None:
            rows = rows.filter(subject__external_id=wanted.user_id)
        if wanted.document_id:
            said = Citation.objects.filter(revision__document=wanted.document_id).values("fact")
            items = CaseItem.objects.filter(Q(fact__in=said) | Q(memory__facts__in=said))
            rows = rows.filter(pk__in=items.values("case"))
        found["case"] = rows.filter(wanted.whose("assignee"))
    for kind in RISKS:
        if kind in chosen:
            found[kind] = _failures(kind, limit(failed(kind)), wanted)
    return found


def inbox(limit: Limit, wanted: InboxFilter) -> InboxRows:
    return InboxRows(tuple(waiting(limit, wanted).values()))


def _failures(kind: str, rows: QuerySet[Any], wanted: InboxFilter) -> QuerySet[Any]:
    rests = Q(failure_mark__snoozed_until__gt=timezone.now())
    rows = rows.exclude(failure_mark__left_as=F("failure"))
    rows = rows.filter(rests) if wanted.is_snoozed else rows.exclude(rests)
    if wanted.user_id is not None:
        rows = rows.filter(subject__external_id=wanted.user_id)
    if wanted.document_id:
        revisions = Revision.objects.filter(document=wanted.document_id)
        of_it = {"document": [wanted.document_id], "session": revisions.values("session")}
        rows = rows.filter(pk__in=of_it.get(kind, []))
    return rows.filter(wanted.whose("failure_mark__assignee"))


def documents_of(case_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, uuid.UUID]:
    """Return, by case, a document that something in it stands on, where there is one."""
    found: dict[uuid.UUID, uuid.UUID] = {}
    for path in ("memory__facts", "fact"):
        at = f"{path}__citations__revision__document"
        rows = CaseItem.objects.filter(case__in=case_ids, **{f"{at}__isnull": False})
        found |= dict(rows.order_by("pk").values_list("case", at))
    return found


def kind_of(row: Any) -> str:
    """The kind under which the inbox lists it."""
    if isinstance(row, Case):
        return row.kind
    names = {MemorySession: "session", Document: "document", GoldenQuestion: "question"}
    return names[type(row)]


def mark_of(row: FailedRow) -> FailureMark | None:
    """Return the mark that people left on a failure."""
    return getattr(row, "failure_mark", None)


def risk_of_row(row: Any) -> float:
    """From 0 to 1, as `Case.risk_now`: how bad it is, and how long it has waited."""
    if isinstance(row, Case):
        return row.risk_now
    waited = max((timezone.now() - row.since).total_seconds(), 0.0)
    return round(min(RISKS[kind_of(row)] + waited / AGEING, 1.0), 3)


@dataclass(frozen=True, slots=True)
class InboxFigures:
    """Counts of what waits now, by kind, and of what was done since `since`: cases decided by
    people and keys, by whom, and failures that were left as they are."""

    since: datetime
    waiting: int = 0
    snoozed: int = 0
    opened: int = 0
    left: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    decided_by: dict[str, int] = field(default_factory=dict)

    @property
    def decided(self) -> int:
        return sum(self.decided_by.values())


def figures(limit: Limit, since: datetime) -> InboxFigures:
    """Count in all that the asker sees, in one statement."""
    cases, failures = limit(Case.objects.all()), InboxFilter(frozenset(RISKS), is_snoozed=True)
    people = Q(decided_by__startswith="user:") | Q(decided_by__startswith="key:")
    marks = FailureMark.objects.filter(left_as__isnull=False, updated_at__gte=since)
    left = [limit(failed(kind)).filter(pk__in=marks.values(kind)) for kind in RISKS]
    counted = [
        _counted("kind", F("kind") if kind == "case" else Value(kind), rows) for kind, rows in waiting(limit).items()
    ]
    resting = [cases.filter(state=Case.State.SNOOZED), *waiting(limit, failures).values()]
    counted += [_counted("snoozed", Value(""), rows) for rows in resting]
    counted += [_counted("left", Value(""), rows) for rows in left]
    counted.append(_counted("opened", Value(""), cases.filter(created_at__gte=since)))
    decided = cases.filter(people, decided_at__gte=since)
    counted.append(_counted("by", F("decided_by"), decided))
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for name, value, number in counted[0].union(*counted[1:], all=True):
        sums[name][value] += number
    return InboxFigures(
        since=since,
        waiting=sums["kind"].total(),
        snoozed=sums["snoozed"].total(),
        opened=sums["opened"].total(),
        left=sums["left"].total(),
        kinds=dict(sums["kind"]),
        decided_by=dict(sums["by"]),
    )


def _counted(name: str, value: Any, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Count rows by a value, as (name, value, number)."""
    tags = {"tag": Value(name, TextField()), "told": Cast(value, TextField())}
    found = rows.order_by().annotate(**tags).values("tag", "told").annotate(number=Count("pk"))
    return found.values_list("tag", "told", "number")
