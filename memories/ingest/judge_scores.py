"""Probabilities that the judge gives to past messages, whatever was decided of them since. Nothing is written."""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from memories.belief import touches
from memories.belief.review.misread import NOT_MEANT, kept_by_people
from memories.belief.touches import EarlierWords, ScoredPair
from memories.belief.touches.judged import Sentence
from memories.ingest.judge_outcomes import FACT, FAR, FICTION, NEAR, JudgeScore
from memories.ingest.judged_messages import PLAUSIBLE, shown_places, with_words, worths_of
from memories.ingest.keep_sentences import BINDING, trusted_messages
from memories.judge.judge import TrainedJudge, Worth
from memories.language.english.touch_rules import is_plain
from memories.models import Episode, Fact, Memory, Touch, WorkspaceIndex

LEAST = 0.1  # a probability that is kept: no threshold is of use below
MOST = 12  # changes of a message that are kept, the likeliest


def score_messages(
    space: WorkspaceIndex, messages: Sequence[Episode], judge: TrainedJudge, of_changes: TrainedJudge
) -> list[JudgeScore] | None:
    """Return what the judge makes of messages, `of_changes` as the workspace taught it; None where it fails."""
    episodes = with_words(Episode.objects.filter(pk__in=[one.pk for one in messages]))
    worths = worths_of(episodes, {one.pk: shown_places(one.content) for one in episodes}, judge)
    pairs = None if worths is None else touches.score(space, episodes, of_changes)
    if worths is None or pairs is None:
        return None
    likeliest: dict[tuple[object, ...], ScoredPair] = {}
    for one in pairs:
        # All that a rule has heard, and of the rest one belief and one sentence for each piece of a message.
        place = (one.episode, one.start, one.beside if one.heard else isinstance(one.beside, EarlierWords))
        if one.over >= LEAST and (place not in likeliest or likeliest[place].over < one.over):
            likeliest[place] = one
    words = {one.beside for one in likeliest.values() if isinstance(one.beside, EarlierWords)}
    earlier = with_words(Episode.objects.filter(pk__in={one.episode for one in words})) if words else []
    places = {row.pk: [(one.start, one.end) for one in words if one.episode == row.pk] for row in earlier}
    of_earlier = worths_of(earlier, places, judge)
    if of_earlier is None:
        return None
    # Small talk would not be kept.
    kept = {EarlierWords(pk, *at) for (pk, at), one in of_earlier.items() if one.fact + one.moment >= PLAUSIBLE}
    often: Counter[uuid.UUID] = Counter()
    ends = []
    for one in sorted(likeliest.values(), key=lambda one: -one.over):
        if often[one.episode] < MOST and (not isinstance(one.beside, EarlierWords) or one.beside in kept):
            often[one.episode] += 1
            ends.append(one)
    scored = ScoredMessages(space, episodes, worths)
    return [*scored.facts(), *scored.misread(), *scored.changes(ends)]


@dataclass(frozen=True, slots=True)
class ScoredMessages:
    """Messages with what was read of them, and what the judge says that their sentences are worth."""

    space: WorkspaceIndex
    episodes: Sequence[Any]
    worths: Mapping[Sentence, Worth]

    def facts(self) -> list[JudgeScore]:
        """Return the sentences in which no rule has read anything, and that might be kept."""
        trusted = {pk for _, _, messages in trusted_messages(self.space, self.episodes) for pk in messages}
        unread = set()
        for one in self.episodes:
            by_others = [each for each in one.citations.all() if each.fact.method != Fact.Method.JUDGE]
            read = [(each.start, each.end) for each in by_others]
            unread |= {(one.pk, place) for place in touches.unread_places(one.content, read) if one.pk in trusted}
        return [
            JudgeScore(FACT, str(pk), *place, _rounded(worth.fact))
            for (pk, place), worth in self.worths.items()
            if (pk, place) in unread and worth.category not in BINDING and worth.fact >= LEAST
        ]

    def misread(self) -> list[JudgeScore]:
        """Return the memories that a rule read in sentences that may not be meant, and that nobody protects."""
        citations = [
            (citation.fact.memory_id, citation, fiction)
            for one in self.episodes
            for citation in (one.citations.all() if one.kind == Episode.Kind.USER else ())
            if citation.fact.method == Fact.Method.PATTERN
            and (fiction := self.fiction_in(one.pk, citation.start, citation.start + 1)) >= LEAST
        ]
        alone = Memory.objects.filter(pk__in=[pk for pk, _, _ in citations if pk], source_count=1)
        rows = list(alone.filter(Q(is_head=True) | Q(forget_reason=NOT_MEANT)).values_list("pk", flat=True))
        may_go = {*rows} - kept_by_people(self.space, rows)
        return [
            JudgeScore(FICTION, str(one.episode_id), one.start, one.end, _rounded(fiction), memory=str(pk))
            for pk, one, fiction in citations
            if pk in may_go
        ]

    def changes(self, pairs: Sequence[ScoredPair]) -> list[JudgeScore]:
        """Return the pairs with what stands in the way of acting on them."""
        said_in = {one.pk: one.content for one in self.episodes}
        protected = kept_by_people(self.space, [one.beside for one in pairs if isinstance(one.beside, uuid.UUID)])
        return [
            JudgeScore(
                NEAR if one.heard else FAR,
                str(one.episode),
                one.start,
                one.end,
                _rounded(one.over),
                **_beside(one.beside),
                among=one.among,
                fiction=_rounded(self.fiction_in(one.episode, one.start, one.end)),
                heard=one.heard == Touch.Relation.UNSURE,
                acts=one.beside not in protected and is_plain(said_in[one.episode][one.start : one.end]),
            )
            for one in pairs
        ]

    def fiction_in(self, episode: uuid.UUID, start: int, end: int) -> float:
        """Return the probability that the words of a message there are not meant."""
        worths = (w for (pk, at), w in self.worths.items() if pk == episode and at[0] < end and start < at[1])
        return max((worth.fiction for worth in worths), default=0.0)


def _beside(words: uuid.UUID | EarlierWords) -> dict[str, Any]:
    if isinstance(words, EarlierWords):
        return {"earlier": str(words.episode), "earlier_start": words.start, "earlier_end": words.end}
    return {"memory": str(words)}


def _rounded(probability: float) -> float:
    return round(min(probability, 1.0), 4)
