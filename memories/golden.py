"""Golden questions: searches whose answers a person knows, asked regularly and before a change of
what searches depend on.

`check` compares the answers of today with those under a proposal, keeps the comparison as a run,
and raises Conflict where they would get worse and nobody said `anyway`.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Annotated, Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import Field

from memories import metrics
from memories.english import lexical
from memories.errors import Conflict, Invalid, needed
from memories.index import prepared_sql, workspace_index
from memories.models import (
    Conversation,
    EmbeddingModel,
    Episode,
    GoldenQuestion,
    GoldenRun,
    Memory,
    WorkspaceIndex,
    change_of,
    is_lost,
)
from memories.search import LAYERS, Hit, SearchRequest, search
from memories.search.context import context
from memories.settings_objects import SettingsObject
from workspaces.models import Workspace
from workspaces.request_fields import ExternalId, OneOf, Words, declared
from workspaces.scope import NotAllowed, Scope, agent_to_write, subject_to_write, worker_scope

# Golden questions: create, import and delete them.

MOST = 300  # in a workspace: all of them are asked before a change
MOST_EXPECTED = 20


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
    for name, model, ids in (
        ("memoryIds", Memory, new.memory_ids), ("episodeIds", Episode, new.episode_ids)
    ):  # fmt: skip
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
    row = needed(
        GoldenQuestion.objects.visible_to(scope).filter(pk=question_id).first(), "Golden question"
    )
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
            (len(text.strip()) >= SHORTEST and text.strip() in own)
            or (len(answer) >= SHORTEST and answer in text)
            for text in gone
        ):
            quoting.add(row.pk)
    return (
        rows.filter(memory_ids__overlap=list(ids))
        | rows.filter(episode_ids__overlap=list(ids))
        | rows.filter(pk__in=quoting)
    )


def drop_standing_on(
    workspace_id: uuid.UUID, ids: Collection[uuid.UUID], texts: Collection[str] = ()
) -> int:
    """Delete them in the caller's transaction; the number of questions."""
    gone = standing_on(workspace_id, ids, texts).delete()[1]
    return gone.get("memories.GoldenQuestion", 0)


SHORTEST = 4  # characters; what is shorter stands in a question by chance


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


# Results of golden questions: the place of each answer, under the current and the proposed
# settings, compared and kept.

TOP = 10  # hits that are looked at
TOLD = 50  # hits that a context is packed of
SPARE = 10  # and so many more where some of them are left out
DAY = timedelta(days=1)
KEPT = 100  # runs of a workspace
# The heads of the expected memories: their latest replacements. A ring of replacements ends.
HEADS = """
with recursive heads (asked, id) as (
  select id, id from memories_memory where id = any(%(ids)s::uuid[])
  union
  select h.asked, m.superseded_by_id from heads h join memories_memory m on m.id = h.id
  where m.superseded_by_id is not null)
select asked, id from heads
"""
# Memories that stand on nothing but findings of these rules.
OF_RULES = """
select f.memory_id as id from memories_fact f
where f.workspace_id = %(workspace)s and f.memory_id is not null
group by f.memory_id having bool_and(f.rule = any(%(rules)s::text[]))
"""


class AnswerPlace(NamedTuple):
    """The rank of an answer among the first TOP hits, from 1, or None; and whether a context of the
    usual length contains it, None where that was not checked."""

    rank: int | None
    kept: bool | None = None


AnswerPlaces = Mapping[uuid.UUID, AnswerPlace]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The basis of a search: the index as it is or would be, and memories to leave out."""

    index: WorkspaceIndex
    missing: Collection[uuid.UUID] = frozenset()


def answer_places(scope: Scope, rows: Sequence[GoldenQuestion], lookup: Lookup) -> AnswerPlaces:
    """The place of each question's answer, in search and in context. Never raises ProviderError:
    without the model, words alone decide."""
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
        # Each place with its duplicates, without the memories that would be missing.
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
    """The memories that only these rules found."""
    if not rules:
        return frozenset()
    values = {"workspace": workspace_id, "rules": sorted(rules)}
    return frozenset(row.id for row in prepared_sql.rows(OF_RULES, values))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answers to the same questions before and after."""

    before: AnswerPlaces
    after: AnswerPlaces

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results as a run keeps them, those that got worse first."""
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
        """Tell whether an answer is lost, ranks clearly lower, or is in no context any more,
        whatever others gain; or all rank a little lower."""
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
    """The share of the questions whose answer was found; 1 if there are none."""
    known = list(places)
    return sum(place is not None for place in known) / len(known) if known else 1.0


def mean_reciprocal(places: Iterable[int | None]) -> float:
    """The mean of 1 / rank; 1 if there are none."""
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
    """Write a run down; the newest KEPT of a workspace stay."""
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
    """Ask all questions as things are, and compare with the previous run."""
    rows = questions_of(scope.workspace_id)
    index = workspace_index.index_of(scope.workspace_id)
    after = answer_places(worker_scope(scope.workspace_id), rows, Lookup(index))
    # Questions that were never asked are compared with themselves.
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
    """Workspaces with questions that were not asked on schedule for a day."""
    asked = GoldenQuestion.objects.order_by().values("workspace").distinct()
    recent = GoldenRun.objects.filter(
        cause=GoldenRun.Cause.SCHEDULE, created_at__gt=timezone.now() - DAY
    )
    rows = Workspace.objects.filter(pk__in=asked).exclude(pk__in=recent.values("workspace"))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def run_scheduled(workspace_id: uuid.UUID) -> GoldenRun:
    return run(worker_scope(workspace_id), GoldenRun.Cause.SCHEDULE)


# The gate before a change of what searches depend on: how golden questions would do under it.

ASK, REFUSE, OFF = GATES = ("ask", "refuse", "off")
WORSE = "worse_answers"
RULE_OFF = "patternsOff."


class GoldenSettings(SettingsObject):
    """The gate for a change under which golden questions would do worse: `ask` lets through whoever
    confirms it, `refuse` nobody; `off` asks no questions."""

    gate: Annotated[str, OneOf(GATES)] = ASK


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A proposed change: the settings as a whole, an embedding model whose vectors exist already,
    or rules whose findings would be missing."""

    settings: Mapping[str, Any] | None = None
    model: EmbeddingModel | None = None
    without_rules: frozenset[str] = field(default=frozenset())


# Settings that searches depend on; others change what is learned from now on.
ASKED_BY = ("ranking", "languages", "dateOrder")


def changed_names(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The search settings that differ; a weight is listed by its own name."""
    names = [name for name in ASKED_BY if (before.get(name) or None) != (after.get(name) or None)]
    if "ranking" in names:
        old, new = before.get("ranking") or {}, after.get("ranking") or {}
        weights = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        names = [*(f"ranking.{name}" for name in weights), *names[1:]]
    off = set(after.get("patternsOff") or ()) - set(before.get("patternsOff") or ())
    return [*names, *(f"{RULE_OFF}{name}" for name in sorted(off))]


@dataclass(frozen=True, slots=True)
class ChangeTrial:
    """The effect of a proposal: `changed` names the search settings that would be different."""

    changed: list[str]
    compared: Comparison
    cause: str


def try_proposal(scope: Scope, before: Mapping[str, Any], proposal: ProposedChange) -> ChangeTrial:
    """Ask all questions as things are and as they would be. `before` are the current settings. Call
    it outside of transactions: models may be asked."""
    after = before if proposal.settings is None else proposal.settings
    rules = {
        name.partition(".")[2] for name in _changed(before, proposal) if name.startswith(RULE_OFF)
    }
    rows = questions_of(scope.workspace_id)
    index = workspace_index.index_of(scope.workspace_id)
    other = workspace_index.under_settings(index, after)
    if proposal.model:
        other = workspace_index.under_model(other, proposal.model)
    asker = worker_scope(scope.workspace_id)
    missing = memories_of_rules(scope.workspace_id, rules | proposal.without_rules)
    compared = Comparison(
        answer_places(asker, rows, Lookup(index)),
        answer_places(asker, rows, Lookup(other, missing)),
    )
    cause = GoldenRun.Cause.MODEL if proposal.model else GoldenRun.Cause.SETTINGS
    return ChangeTrial(_changed(before, proposal), compared, cause)


def _changed(before: Mapping[str, Any], proposal: ProposedChange) -> list[str]:
    names = changed_names(before, before if proposal.settings is None else proposal.settings)
    model = [f"embedding model: {proposal.model}"] if proposal.model else []
    return [*names, *sorted(proposal.without_rules), *model]


def check(
    scope: Scope, before: Mapping[str, Any], proposal: ProposedChange, *, anyway: bool = False
) -> GoldenRun | None:
    """Try the proposal and keep the comparison; None if nothing that searches depend on would
    change, there are no questions, or the gate is off.

    Raises Conflict with code `worse_answers` where answers would get worse and nobody said
    `anyway`, or the workspace refuses.
    """
    gate = (before.get("goldenQuestions") or {}).get("gate", ASK)
    if gate == OFF or not _changed(before, proposal):
        return None
    if not GoldenQuestion.objects.filter(workspace_id=scope.workspace_id).exists():
        return None
    trial = try_proposal(scope, before, proposal)
    is_refused = trial.compared.is_worse and (gate == REFUSE or not anyway)
    outcome = GoldenRun.Outcome.REFUSED if is_refused else ""
    if trial.compared.is_worse and not is_refused:
        outcome = GoldenRun.Outcome.ANYWAY
    made = keep(scope, trial.cause, trial.compared, outcome=outcome, changed=trial.changed)
    if is_refused:
        way = (
            "The setting goldenQuestions.gate refuses that."
            if gate == REFUSE
            else "Say `anyway` to change it all the same."
        )
        raise Conflict(
            f"{made.worse} of {len(made.results)} golden questions would be answered worse,"
            f" {made.better} better: run {made.pk} tells which. {way}",
            WORSE,
        )
    return made


__all__ = [
    "GATES", "GoldenSettings", "NewQuestion", "ProposedChange", "add", "check", "due",
    "import_questions", "keep", "of_search", "remove", "run", "run_scheduled", "try_proposal",
]  # fmt: skip
