"""Rehearsal of other words on what replaces what, on recent statements. Nothing is stored."""

import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memories.belief.resolve.policy_rehearsal import MACHINES, MOST
from memories.index import workspace_index
from memories.language.english.statements import OwnWords, Relation, read, relation
from memories.models import Memory, Supersession
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

MOST_NEW = 300  # memories of the time that are compared with what stands beside them
BESIDE = 40  # with each


@dataclass(frozen=True, slots=True)
class OtherDecision:
    """Two memories that other words decide differently; `was` and `would` are the relation of the
    newer to the older. `decision`: the recorded decision, if any."""

    old: Memory
    new: Memory
    was: Relation
    would: Relation
    decision: Supersession | None = None


@dataclass(frozen=True, slots=True)
class WordsRehearsal:
    """The pairs, of `asked` ones, that other words `changed`; `is_cut`: some were not asked, for
    their number or for want of time."""

    asked: int
    changed: list[OtherDecision]
    is_cut: bool


def rehearse_words(
    scope: Scope, before: OwnWords, after: OwnWords, since: datetime, *, seconds: float
) -> WordsRehearsal:
    """Compare both on each pair that a machine decided since then and, where words are added, on
    new memories and those of the same subject, as far as `seconds` of work last."""
    space = workspace_index.index_of(scope.workspace_id)
    model, end = space.embedding_model, time.thread_time() + seconds
    threshold = model.duplicate_threshold if model is not None else 1.0
    is_more = (before.slots, before.changes) != (after.slots, after.changes)
    asked, changed, is_cut = 0, [], False
    for old, new, decision in _pairs(scope, since, is_more):
        if asked >= MOST or time.thread_time() > end:
            is_cut = True
            break
        asked += 1
        cosine = decision.similarity if decision else None
        was, would = (
            relation(
                read(old.content, words),
                read(new.content, words),
                cosine=cosine,
                threshold=threshold,
                words=words,
            )
            for words in (before, after)
        )
        if was.kind != would.kind:
            changed.append(OtherDecision(old, new, was, would, decision))
    return WordsRehearsal(asked, changed, is_cut)


def _pairs(scope: Scope, since: datetime, is_more: bool) -> Iterator[tuple[Memory, Memory, Supersession | None]]:
    rows = Supersession.objects.visible_to(scope).filter(pk__gte=first_uuid7(since), method__in=MACHINES)
    known = set()
    for each in rows.select_related("old", "new").order_by("-pk")[:MOST]:
        known.add((each.old_id, each.new_id))
        yield each.old, each.new, each
    if not is_more:
        return
    live = Memory.objects.visible_to(scope).live()
    fresh = list(live.filter(pk__gte=first_uuid7(since)).order_by("-pk")[:MOST_NEW])
    beside: dict[uuid.UUID | None, list[Memory]] = defaultdict(list)
    of = {memory.subject_id for memory in fresh}
    for memory in live.filter(subject__in=of - {None}).order_by("-pk")[: MOST_NEW * BESIDE]:
        if len(beside[memory.subject_id]) < BESIDE:
            beside[memory.subject_id].append(memory)
    for new in fresh:
        for old in beside[new.subject_id]:
            if old.pk < new.pk and (old.pk, new.pk) not in known:
                yield old, new, None
