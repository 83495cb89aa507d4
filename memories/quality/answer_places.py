"""The places at which the answers of golden questions are found, and how two lists of places
compare."""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memories.language.english import lexical
from memories.models import Fact, GoldenQuestion, Memory, WorkspaceIndex, is_lost
from memories.quality.golden_questions import request_of
from memories.search import Hit, search
from memories.search.context import context
from workspaces.scope import Scope

# Results of golden questions: the place of each answer, under the current and the proposed
# settings, compared and kept.

TOP = 10  # hits that are looked at
TOLD = 50  # hits that a context is packed of
SPARE = 10  # and so many more where some of them are left out
# The heads of the expected memories: their latest replacements. A ring of replacements ends.
HEADS = """
with recursive heads (asked, id) as (
  select id, id from memories_memory where id = any(%(ids)s::uuid[])
  union
  select h.asked, m.superseded_by_id from heads h join memories_memory m on m.id = h.id
  where m.superseded_by_id is not null)
select asked, id from heads
"""


CLEARLY = 0.1  # of 1 / rank: from the third place to the fifth, not from the third to the fourth
LEAST = 0.01  # of the mean of 1 / rank: a fall below that is no fall


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
    pairs: Iterable[Any] = Memory.objects.raw(HEADS, {"ids": asked}) if asked else ()
    for pair in pairs:
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
    facts = Fact.objects.filter(workspace_id=workspace_id, memory__isnull=False)
    others = facts.exclude(rule__in=rules).values("memory")
    found = facts.filter(rule__in=rules).exclude(memory__in=others)
    return frozenset(found.values_list("memory", flat=True))


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
                "question": str(pk),
                "before": before.rank,
                "after": after.rank,
                "kept_before": before.kept,
                "kept_after": after.kept,
            }
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


def share_found(places: Iterable[int | None]) -> float:
    """The share of the questions whose answer was found; 1 if there are none."""
    known = list(places)
    return sum(place is not None for place in known) / len(known) if known else 1.0


def mean_reciprocal(places: Iterable[int | None]) -> float:
    """The mean of 1 / rank; 1 if there are none."""
    known = list(places)
    return sum(map(_worth, known)) / len(known) if known else 1.0
