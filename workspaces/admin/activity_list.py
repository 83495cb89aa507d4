"""The list of acts, with one line a day for each routine act of a machine."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.http import urlencode
from django.utils.translation import ngettext

from workspaces.adminbase.act_words import INGEST, QUIET
from workspaces.adminbase.list_admin import MOST, BoundedPaginator, PreparedList
from workspaces.models import AuditEntry


class BriefLine(NamedTuple):
    """The part of a line of the log that says to which run it belongs."""

    pk: UUID
    workspace_id: UUID
    actor: str
    action: str
    created_at: datetime


def runs_of(lines: Iterable[BriefLine]) -> list[list[BriefLine]]:
    """Group lines, newest first, into runs. A quiet act joins the run of the same act, actor and
    day, unless an act that is not quiet lies between them; every other line stands alone."""
    runs: list[list[BriefLine]] = []
    open_runs: dict[tuple[Any, ...], list[BriefLine]] = {}
    for line in lines:
        key = (line.workspace_id, line.actor, line.action, line.created_at.date())
        if line.action in QUIET and key in open_runs:
            open_runs[key].append(line)
            continue
        runs.append([line])
        if line.action in QUIET:
            open_runs[key] = runs[-1]
        else:
            open_runs.clear()
    return runs


class RunsPaginator(BoundedPaginator):
    """Pages of runs among the newest 10,000 lines. Each row of a page is the newest line of a run,
    with `run` and, where the run read messages, `sums`."""

    def __init__(self, lines: QuerySet[Any], per_page: int) -> None:
        super().__init__(lines, per_page)
        self.lines = lines

    @cached_property
    def runs(self) -> list[list[BriefLine]]:
        newest = self.lines.values_list(*BriefLine._fields)[: MOST + 1]
        lines = [BriefLine(*line) for line in newest]
        self.is_more = len(lines) > MOST
        return runs_of(lines[:MOST])

    @cached_property
    def count(self) -> int:
        return len(self.runs)

    @property
    def is_cut(self) -> bool:
        return self.count > 0 and self.is_more

    def rows(self, number: int) -> list[Any]:
        """Return the rows of one page, which must exist."""
        shown = self.runs[(number - 1) * self.per_page : number * self.per_page]
        lines = AuditEntry.objects.select_related("workspace")
        known: dict[UUID, Any] = dict(lines.in_bulk([run[0].pk for run in shown]))
        rows: list[Any] = []
        for run in shown:
            if (row := known.get(run[0].pk)) is not None:  # else it was pruned meanwhile
                row.run = run
                rows.append(row)
        add_sums(rows)
        return rows


def add_sums(rows: Sequence[Any]) -> None:
    """Set `sums` of messages and facts on each row whose run read messages."""
    own = [row for row in rows if row.action == INGEST]
    ids = [line.pk for row in own for line in row.run]
    counted = AuditEntry.objects.filter(pk__in=ids).order_by() if ids else AuditEntry.objects.none()
    counts = {
        pk: (int(messages or 0), int(facts or 0))
        for pk, messages, facts in counted.values_list("pk", KT("after__messages"), KT("after__facts"))
    }
    for row in own:
        each = [counts.get(line.pk, (0, 0)) for line in row.run]
        row.sums = sum(messages for messages, _ in each), sum(facts for _, facts in each)


def run_words(row: Any) -> str:
    """Return the size of a run in words: "12 messages in 3 batches, 5 facts"."""
    number = len(row.run)
    if row.action != INGEST:
        return ngettext("%(n)d time", "%(n)d times", number) % {"n": number}
    messages, facts = row.sums
    return ", ".join(
        (
            ngettext("%(n)d message", "%(n)d messages", messages) % {"n": messages}
            + " "
            + ngettext("in %(n)d batch", "in %(n)d batches", number) % {"n": number},
            ngettext("%(n)d fact", "%(n)d facts", facts) % {"n": facts},
        )
    )


class ActivityList(PreparedList):
    """A list of runs, unless the filter asks for a quiet act: then each line is shown."""

    queryset: QuerySet[Any]
    page_num: int

    def get_results(self, request: HttpRequest) -> None:
        if request.GET.get("did") in QUIET:
            super().get_results(request)
            return
        paginator = RunsPaginator(self.queryset, self.list_per_page)
        self.result_count, self.paginator = paginator.count, paginator
        self.can_show_all, self.multi_page = False, paginator.num_pages > 1
        self.page_num = max(1, min(self.page_num, paginator.num_pages))
        self.take(request, paginator.rows(self.page_num))

    def url_for_result(self, result: Any) -> str:
        run = getattr(result, "run", [])
        if len(run) < 2:
            return str(super().url_for_result(result))
        asked = {
            "did": result.action,
            "who": result.actor,
            "day": timezone.localdate(run[0].created_at).isoformat(),
        }
        return f"{reverse('admin:workspaces_auditentry_changelist')}?{urlencode(asked)}"
