"""The head that serves a workspace: asked for, put in place, taken back, and unlearned with what it learned from."""

import uuid

from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict, needed
from memories.judge.judge import TrainedJudge
from memories.judge.taught import Head, TaughtJudge
from memories.models import JudgeHead, Touch
from workspaces.models import Workspace
from workspaces.scope import Scope

State = JudgeHead.State
ERASURE = "erasure"  # by whom a head is asked for that is to serve in place of an unlearned one


def taught(workspace_id: uuid.UUID, judge: TrainedJudge) -> TrainedJudge:
    """Return the judge as this workspace taught it; as it is where none of its heads serves, or the one that does was
    learned of another model."""
    row = JudgeHead.objects.filter(workspace_id=workspace_id, state=State.SERVING, base=judge.name or "").first()
    return judge if row is None else TaughtJudge(judge, head_of(row))


def head_of(row: JudgeHead) -> Head:
    return Head.of_bytes(row.base, bytes(row.weights or b""))


@transaction.atomic(durable=True)
def ask_to_learn(scope: Scope) -> JudgeHead:
    """Ask for a new head, learned in the background; it does not serve until somebody lets it take over. One that
    waits already is returned."""
    _locked(scope.workspace_id)
    waiting = JudgeHead.objects.filter(workspace_id=scope.workspace_id, state=State.WAITING).first()
    if waiting is None:
        waiting = JudgeHead.objects.create(workspace_id=scope.workspace_id, requested_by=scope.actor)
        scope.audit("ask_to_learn", waiting)
    return waiting


@transaction.atomic(durable=True)
def take_over(scope: Scope, head_id: uuid.UUID) -> JudgeHead:
    """Let a head serve its workspace; NotFound where `scope` sees none, Conflict where it is worse in anything."""
    _locked(scope.workspace_id)
    row = needed(JudgeHead.objects.visible_to(scope).filter(pk=head_id).first(), "Head")
    if row.state not in (State.READY, State.ENDED) or row.weights is None or row.fell:
        told = f": worse in {', '.join(row.fell)}" if row.fell else ""
        raise Conflict(f"It is {row.state}{told}, and cannot take over.", "stale", "state")
    serve(row)
    scope.audit("take_over_judge", row, after={"name": row.name})
    return row


def serve(row: JudgeHead) -> None:
    """Put a head in the place of the one that serves, in the caller's transaction."""
    end_serving(row.workspace_id)
    row.state, row.served_at = State.SERVING, timezone.now()
    row.save(update_fields=["state", "served_at", "updated_at"])


@transaction.atomic(durable=True)
def go_back(scope: Scope) -> JudgeHead | None:
    """Let the head serve that served before the one that does, else the judge as it is: None. Conflict where none
    serves. What a head has decided stays, under its name."""
    _locked(scope.workspace_id)
    own = JudgeHead.objects.visible_to(scope)
    serving = own.filter(state=State.SERVING).first()
    if serving is None:
        raise Conflict("The judge is as it came: there is nothing to go back to.", "stale", "state")
    end_serving(scope.workspace_id)
    earlier = own.filter(state=State.ENDED, base=serving.base, weights__isnull=False, served_at__lt=serving.served_at)
    before = earlier.order_by("-served_at").first()
    if before is not None:
        # It keeps its time: going back once more leads to the one before it.
        own.filter(pk=before.pk).update(state=State.SERVING)
    scope.audit("go_back_judge", serving, before={"name": serving.name}, after={"name": before.name if before else ""})
    return before


def end_serving(workspace_id: uuid.UUID) -> None:
    JudgeHead.objects.filter(workspace_id=workspace_id, state=State.SERVING).update(state=State.ENDED)


def unlearn(workspace_id: uuid.UUID) -> int:
    """Delete the weights of heads that learned from what is erased now, in the caller's transaction; return how many.
    If one of them serves, the judge is as it came until another one is learned of what is left."""
    own = JudgeHead.objects.filter(workspace_id=workspace_id)
    gone = [
        row.pk
        for row in own.filter(weights__isnull=False).defer("weights")
        if Touch.objects.filter(pk__in=row.touches).count() < len(row.touches)
    ]
    heads = own.filter(pk__in=gone)
    if heads.filter(state=State.SERVING).exists() and not own.filter(state=State.WAITING).exists():
        own.create(workspace_id=workspace_id, requested_by=ERASURE, takes_over=True)
    return heads.update(state=State.ERASED, weights=None, touches=[])


def _locked(workspace_id: uuid.UUID) -> None:
    """Let one act on the heads of a workspace follow the other."""
    Workspace.objects.select_for_update(no_key=True).get(pk=workspace_id)
