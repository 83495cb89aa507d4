"""Words that a dead process left to be taken out or given back: gone on with by whoever comes."""

import uuid

from memories.belief.cases.case_decision import CaseDecision
from memories.belief.cases.decide_case import BEGUN, decide_case, give_up
from memories.belief.review import taken_words
from memories.errors import Conflict, Invalid, NotFound
from memories.index import workspace_index
from memories.models import Case, Intent, LongJob
from memories.reading import intents
from workspaces.scope import Scope


def due_workspaces() -> list[uuid.UUID]:
    """Return the workspaces in which a process died while it took words out or back."""
    return list(taken_words.left_behind().values_list("workspace_id", flat=True).distinct())


def go_on(workspace_id: uuid.UUID) -> int:
    """Take words out or back that are due in a workspace, each with the rights of its asker: those
    of cases that are being decided, of orders, and of memories. Return of how many."""
    space, done = workspace_index.index_of(workspace_id), 0
    for job in taken_words.left_behind().filter(workspace=workspace_id).order_by("pk"):
        scope = taken_words.asker_of(job, workspace_id)
        if job.item is None:
            continue
        rows = Intent.objects.select_related("episode", "session", "subject")
        if case := Case.objects.filter(pk=job.item).first():
            _finish(scope, case)
        elif intent := rows.filter(pk=job.item).first():
            _go_on_with(scope, intent)
        else:
            taken_words.go_on(scope, space, job.item)
        done += 1
    return done


def _finish(scope: Scope, case: Case) -> None:
    """Take the decision that was begun; where that is not possible, put back what went ahead."""
    begun = next((step for step in case.steps if step["act"] == BEGUN), None)
    if case.is_decided or begun is None:
        taken_words.drop_due(case.pk)
        return
    own = taken_words.job_of(LongJob.Kind.MASKING, case.pk)
    try:
        if begun["edits"]:
            raise Conflict("Its wording is gone with its process.", "stale", "edit")
        decide_case(scope, case.pk, CaseDecision.of_ids(begun, case.note))
    except (Conflict, Invalid, NotFound):
        if own.exists():
            give_up(scope, case.pk)


def _go_on_with(scope: Scope, intent: Intent) -> None:
    if intent.state == Intent.State.DONE:
        intents.take_again(scope, intent)
    elif intent.state == Intent.State.CASE:
        intents.withhold_again(scope, intent)
    intents.give_back_due(scope, intent)
    taken_words.job_of(LongJob.Kind.MASKING, intent.pk).delete()
