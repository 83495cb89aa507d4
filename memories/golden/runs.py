"""How golden questions do: the place of each answer, under what holds and under what is proposed,
compared and kept."""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from memories import metrics
from memories.english import lexical
from memories.golden.questions import request_of
from memories.index import prepared_sql, workspace_index
from memories.models import GoldenQuestion, GoldenRun, WorkspaceIndex, change_of, is_lost
from memories.search import Hit, search
from memories.search.context import context
from workspaces.models import Workspace
from workspaces.scope import Scope, worker_scope

TOP = 10  # hits that are looked at
TOLD = 50  # hits that a context is packed of
SPARE = 10  # and so many more where some of them are left out
DAY = timedelta(days=1)
KEPT = 100  # runs of a workspace
# The heads of what is expected: who replaced it, and so on. A ring of replacements ends.
HEADS = """
with recursive heads (asked, id) as (
  select id, id from memories_memory where id = any(%(ids)s::uuid[])
  union
  select h.asked, m.superseded_by_id from heads h join memories_memory m on m.id = h.id
  where m.superseded_by_id is not null)
select asked, id from heads
"""
# Memories that stand on nothing but what these rules found.
OF_RULES = """
select f.memory_id as id from memories_fact f
where f.workspace_id = %(workspace)s and f.memory_id is not null
group by f.memory_id having bool_and(f.rule = any(%(rules)s::text[]))
"""


class AnswerPlace(NamedTuple):
    """The place of an answer among the first TOP hits, from 1; None where it is not there; and
    whether a context of the usual length holds it, None where nobody looked."""

    rank: int | None
    kept: bool | None = None


AnswerPlaces = Mapping[uuid.UUID, AnswerPlace]


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a search goes by: the index as it is or would be, and memories that would not be
    there."""

    index: WorkspaceIndex
    missing: Collection[uuid.UUID] = frozenset()


def answer_places(scope: Scope, rows: Sequence[GoldenQuestion], lookup: Lookup) -> AnswerPlaces:
    """Of each question, by search and by context. Raises ProviderError never: words alone decide
    then."""
    asked = [each for row in rows for each in row.memory_ids]
    heads: dict[uuid.UUID, set[uuid.UUID]] = {}
    for pair in prepared_sql.rows(HEADS, {"ids": asked}) if asked else ():
        heads.setdefault(pair.asked, set()).add(pair.id)
    found: dict[uuid.UUID, AnswerPlace] = {}
    for row in rows:
        wanted = {head for each in row.memory_ids for head in heads.get(each, ())}
        answers = _is_answer(row, wanted | set(row.episode_ids))
        limit = TOP + (SPARE if lookup.missing else 0)
        hits = search(scope, request_of(row, limit), lookup.index).hits
        # Each place with what shares it, without what would not be there.
        gone = lookup.missing
        left = [[one for one in (hit, *hit.echoes) if one.row.id not in gone] for hit in hits]
        places = [each for each in left if each][:TOP]
        rank = next((place for place, each in enumerate(places, 1) if answers(each)), None)
        told = context(scope, request_of(row, TOLD), index=lookup.index)
        is_kept = answers([hit for hit in told.hits if hit.row.id not in gone])
        found[row.pk] = AnswerPlace(rank, is_kept)
    return found


def _is_answer(row: GoldenQuestion, ids: Collection[uuid.UUID]) -> Callable[[list[Hit]], bool]:
    words = set(lexical.stems(row.answer))

    def answers(place: list[Hit]) -> bool:
        for one in place:
            message = one.source.episode if one.source else None
            if one.row.id in ids or (message and message.id in ids):
                return True
            text = f"{one.row.content} {one.source.text if one.source else ''}"
            if words and words <= set(lexical.stems(text)):
                return True
        return False

    return answers


def memories_of_rules(workspace_id: uuid.UUID, rules: Collection[str]) -> frozenset[uuid.UUID]:
    """The memories that nothing else would have found."""
    if not rules:
        return frozenset()
    values = {"workspace": workspace_id, "rules": sorted(rules)}
    return frozenset(row.id for row in prepared_sql.rows(OF_RULES, values))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found for the same questions, before and after."""

    before: AnswerPlaces
    after: AnswerPlaces

    @property
    def results(self) -> list[dict[str, Any]]:
        """As a run keeps them, what became worse first."""
        rows = []
        for pk, after in self.after.items():
            before = self.before.get(pk, AnswerPlace(None))
            line = {
                "question": str(pk), "before": before.rank, "after": after.rank,
                "kept_before": before.kept, "kept_after": after.kept,
            }  # fmt: skip
            gained = _worth(after.rank) - _worth(before.rank)
            rows.append((not is_lost(line), gained, line))
        return [line for *_, line in sorted(rows, key=lambda each: each[:2])]

    @property
    def is_worse(self) -> bool:
        """One is found no more, or clearly further down, or held by no context any more, whatever
        others gain; or all are a little further down."""
        for line in self.results:
            was, now = line["before"], line["after"]
            is_down = was and (now is None or _worth(was) - _worth(now) > CLEARLY)
            if is_down or is_lost(line):
                return True
        before, after = ranks_of(self.before), ranks_of(self.after)
        found = share_found(after) - share_found(before)
        return found == 0 and mean_reciprocal(after) - mean_reciprocal(before) < -LEAST


def _worth(rank: int | None) -> float:
    return 1 / rank if rank else 0.0


def ranks_of(found: AnswerPlaces) -> list[int | None]:
    return [each.rank for each in found.values()]


CLEARLY = 0.1  # of 1 / rank: from the third place to the fifth, not from the third to the fourth
LEAST = 0.01  # of the mean of 1 / rank: a fall below that is no fall


def share_found(places: Iterable[int | None]) -> float:
    """Of the questions; 1 of none."""
    known = list(places)
    return sum(place is not None for place in known) / len(known) if known else 1.0


def mean_reciprocal(places: Iterable[int | None]) -> float:
    """The mean of 1 / rank; 1 of none."""
    known = list(places)
    return sum(map(_worth, known)) / len(known) if known else 1.0


@transaction.atomic
def keep(
    scope: Scope,
    cause: str,
    compared: Comparison,
    *,
    outcome: str = "",
    changed: Sequence[str] = (),
) -> GoldenRun:
    """Write a run down; of a workspace's the newest KEPT stay."""
    before, after = ranks_of(compared.before), ranks_of(compared.after)
    usual = GoldenRun.Outcome.WORSE if compared.is_worse else GoldenRun.Outcome.FINE
    made = GoldenRun.objects.create(
        workspace_id=scope.workspace_id, cause=cause, outcome=outcome or usual,
        changed=[each[:200] for each in changed], requested_by=scope.actor,
        results=compared.results,
        found_before=share_found(before), found_after=share_found(after),
        mean_before=mean_reciprocal(before), mean_after=mean_reciprocal(after),
    )  # fmt: skip
    rows = GoldenRun.objects.filter(workspace_id=scope.workspace_id).order_by("-pk")
    GoldenRun.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[KEPT:])).delete()
    metrics.count("golden_runs", outcome=made.outcome, workspace=str(scope.workspace_id))
    return made


def run(scope: Scope, cause: str = GoldenRun.Cause.HAND) -> GoldenRun:
    """Ask all questions as things are, and compare with when they were asked last."""
    rows = questions_of(scope.workspace_id)
    index = workspace_index.index_of(scope.workspace_id)
    after = answer_places(worker_scope(scope.workspace_id), rows, Lookup(index))
    # What was never asked is compared with itself.
    before = {
        row.pk: AnswerPlace(row.rank, row.in_context) if row.checked_at else after[row.pk]
        for row in rows
    }
    made = keep(scope, cause, Comparison(before, after))
    now = timezone.now()
    for row in rows:
        found, good = after[row.pk], before[row.pk]
        if row.worse_since:
            good = AnswerPlace(row.rank_before, row.in_context_before)
        line = {"before": good.rank, "after": found.rank}
        is_worse = change_of(line | {"kept_before": good.kept, "kept_after": found.kept}) == "worse"
        GoldenQuestion.objects.filter(pk=row.pk).update(
            rank=found.rank, in_context=found.kept, checked_at=now,
            rank_before=good.rank if is_worse else None,
            in_context_before=good.kept if is_worse else None,
            worse_since=(row.worse_since or now) if is_worse else None,
        )  # fmt: skip
    return made


def questions_of(workspace_id: uuid.UUID) -> list[GoldenQuestion]:
    rows = GoldenQuestion.objects.filter(workspace_id=workspace_id).order_by("pk")
    return list(rows.with_names())


def due() -> list[uuid.UUID]:
    """Workspaces with questions that were not asked by the clock for a day."""
    asked = GoldenQuestion.objects.order_by().values("workspace").distinct()
    recent = GoldenRun.objects.filter(
        cause=GoldenRun.Cause.SCHEDULE, created_at__gt=timezone.now() - DAY
    )
    rows = Workspace.objects.filter(pk__in=asked).exclude(pk__in=recent.values("workspace"))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def run_scheduled(workspace_id: uuid.UUID) -> GoldenRun:
    return run(worker_scope(workspace_id), GoldenRun.Cause.SCHEDULE)
