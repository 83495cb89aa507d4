"""Heads learned in the background: gather, fit, compare, write. The rows that wait are the queue.

A head is compared with the judge as it came: on fixed pairs, on the decided pairs by heads that did not learn from
them, and by the golden questions, which are asked without the memories that the head alone would question. Where it is
worse in any of them it does not serve.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from memories.belief import touches
from memories.errors import Conflict
from memories.index import workspace_index
from memories.judge.fit_head import TriedHead, try_head
from memories.judge.fixed_pairs import NOT_OVER, OVER
from memories.judge.judge import JudgedPair, SeenPairs, Thresholds, TrainedJudge, shipped
from memories.judge.taught import Head, over_of
from memories.models import GoldenRun, JudgeHead, Memory, Touch
from memories.quality import golden_runs
from memories.quality.answer_places import Comparison, Lookup, answer_places
from memories.quality.golden_gate import OFF
from memories.settings.workspace_settings import WorkspaceSettings, settings_of
from memories.teaching.decided_pairs import MOST, DecidedPair, decided_pairs, decided_touches
from memories.teaching.served_head import end_serving, serve
from workspaces.models import Workspace
from workspaces.scope import Scope, worker_scope

FEWEST, FEWEST_OF_KIND = 40, 5  # decided pairs from which a head is learned, and of those that are over, and are not
EVERY = 20  # new decided pairs after which the next one is learned
LOOKED_THROUGH = 500  # newest pairs of the judge's, of which it is told what a head would question
MOST_ATTEMPTS = 3
KEPT = 20  # heads of a workspace
FIXED, DECIDED, GOLDEN = "fixed pairs", "decided pairs", "golden questions"

State = JudgeHead.State


@dataclass(slots=True)
class LearnedHead:
    """A head and how it compares. `figures` are pairs of numbers, before and after, and counts."""

    head: Head
    pairs: Sequence[DecidedPair]
    figures: dict[str, Any] = field(default_factory=dict)
    fell: list[str] = field(default_factory=list)

    @property
    def people(self) -> int:
        return len({one.lesson.person for one in self.pairs})


def workspaces_to_ask() -> list[uuid.UUID]:
    """Return the workspaces of which so much was decided, or taken back, since a head was last learned that another one
    is due."""
    decided = Touch.objects.filter(by=Touch.By.PERSON).order_by().values("workspace_id")
    counted = decided.annotate(number=Count("pk"), newest=Max("decided_at"))
    heads = JudgeHead.objects.exclude(state=State.ERASED).order_by("workspace_id", "-pk").distinct("workspace_id")
    last = {row.workspace_id: row for row in heads.defer("weights")}
    return [
        row["workspace_id"]
        for row in counted
        if row["number"] >= FEWEST and _is_due(row["workspace_id"], row["newest"], last.get(row["workspace_id"]))
    ]


def _is_due(workspace_id: uuid.UUID, newest: datetime, last: JudgeHead | None) -> bool:
    if last is None:
        return True
    if last.state == State.WAITING or (newest <= last.created_at and last.state != State.SERVING):
        return False
    ids = _newest_ids(workspace_id)
    return len(ids - set(last.touches)) >= EVERY or (last.state == State.SERVING and _is_taken_back(last))


def _newest_ids(workspace_id: uuid.UUID) -> set[int]:
    return set(decided_touches(workspace_id).order_by("-decided_at", "-pk").values_list("pk", flat=True)[:MOST])


def _is_taken_back(row: JudgeHead) -> bool:
    """Tell whether something that a head learned from was decided otherwise since."""
    return decided_touches(row.workspace_id).filter(pk__in=row.touches).count() < len(row.touches)


def ask_due(workspace_id: uuid.UUID) -> JudgeHead | None:
    """Ask for a head, if the workspace lets its judge learn. Where one that serves has learned from decisions that were
    taken back, the new one serves in its place."""
    own = settings_of(Workspace.objects.only("settings").get(pk=workspace_id)).judge
    if not (own.enabled and own.learn):
        return None
    serving = JudgeHead.objects.filter(workspace_id=workspace_id, state=State.SERVING).first()
    values = {
        "requested_by": worker_scope(workspace_id).actor,
        "takes_over": serving is not None and _is_taken_back(serving),
    }
    return JudgeHead.objects.get_or_create(workspace_id=workspace_id, state=State.WAITING, defaults=values)[0]


def due_workspaces(judge: TrainedJudge = shipped) -> list[uuid.UUID]:
    """Return the workspaces in which a head waits to be learned, or serves that was learned of another model."""
    waiting = JudgeHead.objects.filter(state=State.WAITING, attempts__lte=MOST_ATTEMPTS)
    serving = JudgeHead.objects.filter(state=State.SERVING)
    found = set(waiting.values_list("workspace_id", flat=True))
    # The model is loaded where there is something to learn, and not before.
    if (found or serving.exists()) and judge.name:
        return sorted(found | set(serving.exclude(base=judge.name).values_list("workspace_id", flat=True)))
    return []


def learn(workspace_id: uuid.UUID, judge: TrainedJudge = shipped) -> JudgeHead | None:
    """Learn the head that waits in a workspace; None where none does. One that serves and was learned of another model
    is learned anew."""
    row = _claimed(workspace_id, str(judge.name))
    if row is None or row.attempts > MOST_ATTEMPTS:
        return row and _give_up(row, State.FAILED, "Its process ended three times.")
    settings = settings_of(Workspace.objects.only("settings").get(pk=workspace_id))
    pairs = decided_pairs(workspace_id)
    if reason := _too_few(pairs):
        return _give_up(row, State.REFUSED, reason)
    learned = try_pairs(worker_scope(workspace_id, row.requested_by), pairs, settings, judge)
    if learned is None:
        return None
    if learned.fell and row.takes_over:  # what served has learned from what is not so any more
        end_serving(workspace_id)
    return _written(row, learned)


@transaction.atomic(durable=True)
def _claimed(workspace_id: uuid.UUID, name: str) -> JudgeHead | None:
    """Return the waiting head, counted first: one that kills its process is given up at last."""
    own = JudgeHead.objects.filter(workspace_id=workspace_id)
    old = own.filter(state=State.SERVING).exclude(base=name)
    if old.exists():
        old.update(state=State.ENDED)
        if not own.filter(state=State.WAITING).exists():
            own.create(workspace_id=workspace_id, requested_by=worker_scope(workspace_id).actor, takes_over=True)
    row = own.filter(state=State.WAITING).select_for_update().first()
    if row is None:
        return None
    row.attempts += 1
    row.save(update_fields=["attempts", "updated_at"])
    return row


@transaction.atomic(durable=True)
def _give_up(row: JudgeHead, state: str, reason: str) -> JudgeHead:
    """End a request without a head; what was decided until now asks for none again."""
    row.state, row.figures, row.touches = state, {"reason": reason}, sorted(_newest_ids(row.workspace_id))
    row.save()
    if row.takes_over:
        end_serving(row.workspace_id)
    return row


def try_workspace(scope: Scope, judge: TrainedJudge = shipped) -> LearnedHead:
    """Learn a head now, without writing anything. Conflict where too little was decided, or there is no judge."""
    pairs = decided_pairs(scope.workspace_id)
    if reason := _too_few(pairs):
        raise Conflict(reason, "too_few")
    learned = try_pairs(scope, pairs, settings_of(scope), judge)
    if learned is None:
        raise Conflict("The judge does not answer: its model is missing.", "no_model")
    return learned


def _too_few(pairs: Sequence[DecidedPair]) -> str:
    over = sum(one.lesson.is_over for one in pairs)
    if len(pairs) >= FEWEST and min(over, len(pairs) - over) >= FEWEST_OF_KIND:
        return ""
    return (
        f"{len(pairs)} pairs are decided, {over} of them as no longer true: at least {FEWEST} tell something, and"
        f" {FEWEST_OF_KIND} of each kind."
    )


def try_pairs(
    scope: Scope, pairs: Sequence[DecidedPair], settings: WorkspaceSettings, judge: TrainedJudge
) -> LearnedHead | None:
    """Learn a head of these pairs and compare it; None where the judge does not answer."""
    seen, thresholds = judge.see([one.pair for one in pairs]), judge.thresholds
    if seen is None or thresholds is None:
        return None
    tried = try_head(seen, [one.lesson for one in pairs])
    learned = LearnedHead(Head(str(judge.name), tried.weights), pairs)
    own = settings.judge.over(thresholds)
    _compare_decided(learned, tried, own)
    judged = _judged_pairs(scope.workspace_id)
    fixed, others = judge.see([*OVER, *NOT_OVER]), judge.see([pair for _, pair in judged])
    if fixed is None or others is None:
        return None
    _compare_fixed(learned, fixed, thresholds)
    questioned = _rehearse(learned, [memory for memory, _ in judged], others, own.ask)
    if settings.golden_questions.gate != OFF:
        _compare_golden(learned, scope, questioned)
    return learned


def _compare_decided(learned: LearnedHead, tried: TriedHead, own: Thresholds) -> None:
    both = (tried.before, tried.after)
    right, acted = [tried.right(one, own.ask) for one in both], [tried.acted_wrongly(one, own.act) for one in both]
    loss = [round(tried.loss(one), 4) for one in both]
    learned.figures["decided"] = {"right": right, "actedWrongly": acted, "loss": loss, "of": len(learned.pairs)}
    if right[1] < right[0] or acted[1] > acted[0] or loss[1] >= loss[0]:
        learned.fell.append(DECIDED)


def _compare_fixed(learned: LearnedHead, seen: SeenPairs, thresholds: Thresholds) -> None:
    both, number = (over_of(seen), learned.head.over(seen)), len(OVER)
    over = [int((one[:number] >= thresholds.ask).sum()) for one in both]
    not_over = [int((one[number:] < thresholds.ask).sum()) for one in both]
    acted = [int((one[number:] >= thresholds.act).sum()) for one in both]
    learned.figures["fixed"] = {"over": over, "notOver": not_over, "actedWrongly": acted, "of": [number, len(NOT_OVER)]}
    if over[1] < over[0] or not_over[1] < not_over[0] or acted[1] > acted[0]:
        learned.fell.append(FIXED)


def _judged_pairs(workspace_id: uuid.UUID) -> list[tuple[uuid.UUID, JudgedPair]]:
    """Return the newest pairs that the judge decided of memories that are believed, by memory."""
    live = Memory.objects.live().filter(workspace_id=workspace_id)
    rows = Touch.objects.filter(workspace_id=workspace_id, by=Touch.By.JUDGE, memory__in=live).order_by("-pk")
    of_memory = dict(rows.values_list("pk", "memory_id")[:LOOKED_THROUGH])
    return [(of_memory[row.id], pair) for row, pair in touches.pairs_of(list(of_memory))]


def _rehearse(learned: LearnedHead, memories: Sequence[uuid.UUID], seen: SeenPairs, ask: float) -> set[uuid.UUID]:
    """Tell of pairs that were judged what the head would question, and what no longer; return the memories that it
    alone would question."""
    before = over_of(seen) >= ask
    after = learned.head.over(seen) >= ask
    by_judge = {memory for memory, is_over in zip(memories, before, strict=True) if is_over}
    by_head = {memory for memory, is_over in zip(memories, after, strict=True) if is_over}
    more, fewer = by_head - by_judge, by_judge - by_head
    learned.figures["judged"] = {"more": len(more), "fewer": len(fewer), "of": len(memories)}
    return more


def _compare_golden(learned: LearnedHead, scope: Scope, questioned: set[uuid.UUID]) -> None:
    rows = golden_runs.questions_of(scope.workspace_id)
    learned.figures["golden"] = {"worse": 0, "better": 0, "of": len(rows)}
    if not rows or not questioned:
        return
    index, asker = workspace_index.index_of(scope.workspace_id), worker_scope(scope.workspace_id)
    compared = Comparison(
        answer_places(asker, rows, Lookup(index)), answer_places(asker, rows, Lookup(index, frozenset(questioned)))
    )
    made = golden_runs.keep(scope, GoldenRun.Cause.JUDGE, compared, changed=[learned.head.name])
    learned.figures["golden"] |= {"worse": made.worse, "better": made.better, "run": str(made.pk)}
    if compared.is_worse:
        learned.fell.append(GOLDEN)


def keep(scope: Scope, learned: LearnedHead) -> JudgeHead:
    """Keep a head that was learned by hand; it serves where nothing fell. Conflict where a decision that it learned
    from was taken back or erased meanwhile."""
    kept = _written(JudgeHead(workspace_id=scope.workspace_id, requested_by=scope.actor, takes_over=True), learned)
    if kept is None:
        raise Conflict("Somebody took a decision back meanwhile. Learn it again.", "stale")
    return kept


@transaction.atomic(durable=True)
def _written(row: JudgeHead, learned: LearnedHead) -> JudgeHead | None:
    """Write what was learned, unless what it learned from was taken back meanwhile: then it waits on."""
    # An erasure holds the same lock: it sees the head, or its touches are gone here.
    workspace_index.lock(workspace_index.index_of(row.workspace_id))
    touched = [one.touch for one in learned.pairs]
    if Touch.objects.filter(pk__in=touched, by=Touch.By.PERSON).count() < len(touched):
        return None
    row.base, row.version = learned.head.base, learned.head.version
    row.weights, row.people = learned.head.weights.tobytes(), learned.people
    row.touches = [one.touch for one in learned.pairs]
    row.figures, row.fell = learned.figures, learned.fell
    row.state = State.REFUSED if learned.fell else State.READY
    row.save()
    if row.takes_over and not learned.fell:
        serve(row)
    worker_scope(row.workspace_id, row.requested_by).audit(
        "learn_judge", row, after={"name": row.name, "fell": row.fell}
    )
    others = JudgeHead.objects.filter(workspace_id=row.workspace_id).exclude(state__in=(State.SERVING, State.WAITING))
    JudgeHead.objects.filter(pk__in=list(others.values_list("pk", flat=True)[KEPT:])).delete()
    return row
