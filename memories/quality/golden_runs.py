"""Runs of golden questions: asked, compared with the run before, kept; once a day by themselves."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from memories import metrics
from memories.index import workspace_index
from memories.models import GoldenQuestion, GoldenRun, change_of
from memories.quality.answer_places import (
    AnswerPlace,
    Comparison,
    Lookup,
    answer_places,
    mean_reciprocal,
    ranks_of,
    share_found,
)
from workspaces.models import Workspace
from workspaces.scope import Scope, worker_scope

KEPT = 100  # runs of a workspace

DAY = timedelta(days=1)


@transaction.atomic
def keep(
    scope: Scope,
    cause: str,
    compared: Comparison,
    *,
    outcome: str = "",
    changed: Sequence[str] = (),
) -> GoldenRun:
    """Write a run down; the newest KEPT of a workspace stay."""
    before, after = ranks_of(compared.before), ranks_of(compared.after)
    usual = GoldenRun.Outcome.WORSE if compared.is_worse else GoldenRun.Outcome.FINE
    made = GoldenRun.objects.create(
        workspace_id=scope.workspace_id,
        cause=cause,
        outcome=outcome or usual,
        changed=[each[:200] for each in changed],
        requested_by=scope.actor,
        results=compared.results,
        found_before=share_found(before),
        found_after=share_found(after),
        mean_before=mean_reciprocal(before),
        mean_after=mean_reciprocal(after),
    )
    rows = GoldenRun.objects.filter(workspace_id=scope.workspace_id).order_by("-pk")
    GoldenRun.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[KEPT:])).delete()
    metrics.count("golden_runs", outcome=made.outcome, workspace=str(scope.workspace_id))
    return made


def run(scope: Scope, cause: str = GoldenRun.Cause.HAND) -> GoldenRun:
    """Ask all questions as things are, and compare with the previous run."""
    rows = questions_of(scope.workspace_id)
    index = workspace_index.index_of(scope.workspace_id)
    after = answer_places(worker_scope(scope.workspace_id), rows, Lookup(index))
    # Questions that were never asked are compared with themselves.
    before = {row.pk: AnswerPlace(row.rank, row.in_context) if row.checked_at else after[row.pk] for row in rows}
    made = keep(scope, cause, Comparison(before, after))
    now = timezone.now()
    for row in rows:
        found, good = after[row.pk], before[row.pk]
        if row.worse_since:
            good = AnswerPlace(row.rank_before, row.in_context_before)
        line = {"before": good.rank, "after": found.rank}
        is_worse = change_of(line | {"kept_before": good.kept, "kept_after": found.kept}) == "worse"
        GoldenQuestion.objects.filter(pk=row.pk).update(
            rank=found.rank,
            in_context=found.kept,
            checked_at=now,
            rank_before=good.rank if is_worse else None,
            in_context_before=good.kept if is_worse else None,
            worse_since=(row.worse_since or now) if is_worse else None,
        )
    return made


def questions_of(workspace_id: uuid.UUID) -> list[GoldenQuestion]:
    rows = GoldenQuestion.objects.filter(workspace_id=workspace_id).order_by("pk")
    return list(rows.with_names())


def due() -> list[uuid.UUID]:
    """Workspaces with questions that were not asked on schedule for a day."""
    asked = GoldenQuestion.objects.order_by().values("workspace").distinct()
    recent = GoldenRun.objects.filter(cause=GoldenRun.Cause.SCHEDULE, created_at__gt=timezone.now() - DAY)
    rows = Workspace.objects.filter(pk__in=asked).exclude(pk__in=recent.values("workspace"))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def run_scheduled(workspace_id: uuid.UUID) -> GoldenRun:
    return run(worker_scope(workspace_id), GoldenRun.Cause.SCHEDULE)
