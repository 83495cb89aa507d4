"""Golden questions: searches whose answers a person knows; added, imported, removed."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from django.db import transaction
from django.db.models import QuerySet
from pydantic import Field

from memories.errors import Invalid, needed
from memories.models import Conversation, Episode, GoldenQuestion, Memory
from memories.search import LAYERS, SearchRequest
from workspaces.request_fields import ExternalId, OneOf, Words, declared
from workspaces.scope import NotAllowed, Scope, agent_to_write, subject_to_write

# Golden questions: create, import and delete them.

MOST = 300  # in a workspace: all of them are asked before a change
MOST_EXPECTED = 20


SHORTEST = 4  # characters; what is shorter stands in a question by chance


@declared
@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A search and its expected answer: one of the memories, one of the episodes (also by their
    external ids), or a hit whose text contains all words of `answer`."""

    query: Annotated[Words, Field(max_length=2000)]
    user_id: ExternalId = ""
    agent_id: ExternalId = ""
    thread_id: ExternalId = ""
    layers: Annotated[tuple[Annotated[str, OneOf(LAYERS)], ...], Field(min_length=1)] = (
        "memories",
        "episodes",
    )
    memory_ids: Annotated[tuple[uuid.UUID, ...], Field(max_length=MOST_EXPECTED)] = ()
    episode_ids: Annotated[tuple[uuid.UUID, ...], Field(max_length=MOST_EXPECTED)] = ()
    external_ids: Annotated[
        tuple[Annotated[str, Field(max_length=255)], ...],
        Field(max_length=MOST_EXPECTED, description="Of episodes, as the caller named them."),
    ] = ()
    answer: Annotated[str, Field(strict=True, max_length=500)] = ""


@transaction.atomic(durable=True)
def add(scope: Scope, new: NewQuestion) -> GoldenQuestion:
    """Add a question. Raises Invalid if nothing is expected, if the expected row does not exist, or
    if there are MOST already."""
    [made] = _add(scope, [new])
    return made


@transaction.atomic(durable=True)
def import_questions(scope: Scope, rows: Sequence[NewQuestion]) -> list[GoldenQuestion]:
    """Add all questions or none: raises Invalid, which names the first faulty one by its place."""
    return _add(scope, rows)


def _add(scope: Scope, rows: Sequence[NewQuestion]) -> list[GoldenQuestion]:
    if GoldenQuestion.objects.visible_to(scope).count() + len(rows) > MOST:
        raise Invalid("questions", f"A workspace has at most {MOST} golden questions.", "too_many")
    made = []
    for place, new in enumerate(rows):
        try:
            made.append(_made(scope, new))
        except Invalid as error:
            name = error.field if len(rows) == 1 else f"questions[{place}].{error.field}"
            raise Invalid(name, error.message, error.code) from None
        except NotAllowed as error:
            raise Invalid(f"{error.field}Id", error.message) from None
    GoldenQuestion.objects.bulk_create(made)
    scope.audit("add_golden_questions", made[0], after={"added": len(made)})
    return made


def _made(scope: Scope, new: NewQuestion) -> GoldenQuestion:
    """Make a question without saving it. Raises Invalid."""
    own = {"workspace_id": scope.workspace_id}
    named = Episode.objects.filter(**own, external_id__in=new.external_ids)
    episodes = [*new.episode_ids, *named.values_list("pk", flat=True)]
    if not (new.memory_ids or episodes or new.answer.strip()):
        wrong = "externalIds" if new.external_ids else "answer"
        raise Invalid(wrong, "Say what has to be found: memories, episodes or words.", "required")
    for name, model, ids in (("memoryIds", Memory, new.memory_ids), ("episodeIds", Episode, new.episode_ids)):
        known = model._default_manager.filter(**own, pk__in=ids).count()
        if known < len(set(ids)):
            raise Invalid(name, "Not in this workspace.", "unknown")
    thread = None
    if new.thread_id:
        thread = Conversation.objects.filter(**own, external_id=new.thread_id).first()
        if thread is None:
            raise Invalid("threadId", "There is no such conversation.", "unknown")
    return GoldenQuestion(
        **own,
        query=new.query,
        subject=subject_to_write(scope, new.user_id),
        agent=agent_to_write(scope, new.agent_id),
        conversation=thread,
        layers=list(dict.fromkeys(new.layers)),
        memory_ids=list(dict.fromkeys(new.memory_ids)),
        episode_ids=list(dict.fromkeys(episodes)),
        answer=new.answer.strip(),
        created_by=scope.actor,
    )


def of_search(request: SearchRequest, layer: str, row: uuid.UUID) -> NewQuestion:
    """Make a question from a search, with the hit that a person calls its answer."""
    asked = NewQuestion(
        request.query,
        user_id=request.user_id,
        agent_id=request.agent_id,
        thread_id=request.thread_id,
        layers=request.layers,
    )
    if layer == "memories":
        return replace(asked, memory_ids=(row,))
    return replace(asked, episode_ids=(row,))


@transaction.atomic(durable=True)
def remove(scope: Scope, question_id: uuid.UUID) -> None:
    """Delete a question. Raises NotFound."""
    row = needed(GoldenQuestion.objects.visible_to(scope).filter(pk=question_id).first(), "Golden question")
    scope.audit("remove_golden_question", row)
    row.delete()


def standing_on(
    workspace_id: uuid.UUID, ids: Collection[uuid.UUID], texts: Collection[str] = ()
) -> QuerySet[GoldenQuestion]:
    """The questions that expect one of these rows, or whose words stand in these texts."""
    rows = GoldenQuestion.objects.filter(workspace_id=workspace_id)
    gone = {each.lower() for each in texts}
    quoting = set()
    for row in rows.only("query", "answer") if gone else ():
        own, answer = f"{row.query}\n{row.answer}".lower(), row.answer.lower()
        # The memory says what the text says, or the text says its answer.
        if any(
            (len(text.strip()) >= SHORTEST and text.strip() in own) or (len(answer) >= SHORTEST and answer in text)
            for text in gone
        ):
            quoting.add(row.pk)
    return (
        rows.filter(memory_ids__overlap=list(ids))
        | rows.filter(episode_ids__overlap=list(ids))
        | rows.filter(pk__in=quoting)
    )


def drop_standing_on(workspace_id: uuid.UUID, ids: Collection[uuid.UUID], texts: Collection[str] = ()) -> int:
    """Delete them in the caller's transaction; the number of questions."""
    gone = standing_on(workspace_id, ids, texts).delete()[1]
    return gone.get("memories.GoldenQuestion", 0)


def request_of(row: GoldenQuestion, limit: int) -> SearchRequest:
    """The search request of a question."""
    return SearchRequest(
        row.query,
        limit=limit,
        user_id=row.subject.external_id if row.subject else "",
        agent_id=row.agent.external_id if row.agent else "",
        thread_id=row.conversation.external_id if row.conversation else "",
        layers=tuple(row.layers),
        include=frozenset({"source"}),
    )
