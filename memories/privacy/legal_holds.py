"""Legal holds: what must not be erased for now; placed, lifted, and refused to an erasure."""

import uuid

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories.errors import Conflict, Invalid, needed
from memories.index import workspace_index
from memories.models import Conversation, Erasure, LegalHold
from memories.privacy.erase.erasure_plan import ErasureTarget, Kind
from workspaces.models import Subject
from workspaces.scope import Scope

# Legal holds: placed, lifted, and the refusal of whoever would erase what is held.

HELD = "legal_hold"


@transaction.atomic(durable=True)
def place(scope: Scope, subject: Subject, reason: str) -> LegalHold:
    """Hold a subject; what is held already stays so, with its first reason. Raises Invalid, and
    Conflict where an erasure of it is under way."""
    if not reason.strip():
        raise Invalid("reason", "Say why: whoever wants to erase it will read that.", "blank")
    workspace_index.lock(workspace_index.index_of(scope.workspace_id))
    known = LegalHold.objects.in_force().filter(subject=subject).first()
    if known is not None:
        return known
    going = (Erasure.State.WAITING, Erasure.State.RUNNING)
    if Erasure.objects.filter(target_id=subject.pk, state__in=going).exists():
        raise Conflict("It is being erased already: that is not held up any more.")
    made = LegalHold.objects.create(
        workspace_id=scope.workspace_id, subject=subject, reason=reason, placed_by=scope.actor
    )
    scope.audit("place_hold", made, subject_id=subject.pk, reason=reason)
    return made


@transaction.atomic(durable=True)
def lift(scope: Scope, hold_id: uuid.UUID) -> LegalHold:
    """End a hold. Raises NotFound, and Conflict where it was lifted already."""
    hold = needed(LegalHold.objects.visible_to(scope).select_for_update().filter(pk=hold_id).first(), "Hold")
    if hold.lifted_at is not None:
        raise Conflict("It was lifted already.")
    hold.lifted_at, hold.lifted_by = timezone.now(), scope.actor
    hold.save(update_fields=["lifted_at", "lifted_by", "updated_at"])
    scope.audit("lift_hold", hold, subject_id=hold.subject_id)
    return hold


def refuse_held(target: ErasureTarget) -> None:
    """Raise Conflict where something about a held subject would go."""
    subjects = {target.id} if target.kind == Kind.SUBJECT else set()
    subjects |= set(target.episodes.values_list("subject_id", flat=True).distinct())
    subjects |= set(target.documents.values_list("subject_id", flat=True).distinct())
    if target.kind == Kind.CONVERSATION:
        rows = Conversation.objects.filter(pk=target.id)
        subjects |= set(rows.values_list("subject_id", flat=True))
    _refuse(LegalHold.objects.in_force().filter(subject__in=subjects - {None}))


def refuse_workspace(workspace_id: uuid.UUID) -> None:
    """Raise Conflict where somebody in it is held."""
    _refuse(LegalHold.objects.in_force().filter(workspace_id=workspace_id))


def _refuse(holds: QuerySet[LegalHold]) -> None:
    hold = holds.select_related("subject").first()
    if hold is not None:
        raise Conflict(
            f"{hold.subject.external_id} is under a legal hold since {hold.created_at:%Y-%m-%d}"
            f" ({hold.reason}): nothing is erased until it is lifted.",
            HELD,
        )
