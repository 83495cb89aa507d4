"""The summary of a conversation as an asker may read it: kept lines, and sentences since then."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q, QuerySet

from memories.guard import served_line
from memories.models import ConversationSummary, Episode
from memories.summaries import choose_sentences, stale
from memories.summaries.choose_sentences import Sentence
from memories.summaries.sources import (
    UNSAID,
    EpisodePlace,
    audience,
    citations,
    place_of,
    plain,
    speaker,
    texts_with_citations,
)
from memories.tokens import tokens_of
from workspaces.scope import Scope

FALLEN = 2_000  # messages between summary and window that sentences are chosen from at once


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary, with the episodes it stands on."""

    text: str
    episode_ids: tuple[uuid.UUID, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """`method` is extractive or llm; `upto_position` is that of the last episode it covers.

    `is_current`: nothing between it and the window was left to be looked at later.
    """

    lines: list[SummaryLine]
    method: str
    rule: str
    tokens: int
    upto_position: int
    is_current: bool

    @property
    def text(self) -> str:
        return "".join(f"- {line.text}\n" for line in self.lines)

    @property
    def episode_ids(self) -> list[uuid.UUID]:
        return list(dict.fromkeys(one for line in self.lines for one in line.episode_ids))


@dataclass(slots=True)
class _Before:
    """What came before the window, as far as it is needed."""

    episodes: list[Episode]
    found: list[Sentence]
    lines: list[SummaryLine] = field(default_factory=list)


def summary_before(
    scope: Scope, episodes: QuerySet[Episode], first: Episode, room: int
) -> Summary | None:
    """What came before `first`, in at most `room` tokens; None where nothing says anything.

    `episodes`: those of the conversation that `scope` sees.
    """
    row = _row(scope, first)
    fallen_out = episodes.filter(place_of(first).before)  # of the window
    if row is not None and row.upto_at is not None:
        upto = EpisodePlace(row.upto_at, row.upto_position)
        fallen_out = fallen_out.filter(upto.after | Q(position__gt=row.seen))
    fallen = list(fallen_out.order_by("-occurred_at", "-position")[: FALLEN + 1])
    is_current = len(fallen) <= FALLEN
    if not is_current or len(fallen) >= stale.STEP:
        stale.want(first, scope.agent_id)
    named = [one for line in row.lines for one in _cited(line)] if row is not None else []
    known = {one.pk: one for one in episodes.filter(pk__in=named)} if named else {}
    all_of_it = _gathered(fallen[:FALLEN][::-1], known, row, place_of(first))
    lines = _chosen(all_of_it, room)
    if not lines:
        return None
    by_model = row is not None and bool(all_of_it.lines)
    last = fallen[0].position if fallen else row.upto_position if row else 0
    text = "".join(f"- {line.text}\n" for line in lines)
    return Summary(
        lines,
        ConversationSummary.Method.LLM if by_model else ConversationSummary.Method.EXTRACTIVE,
        row.rule if row is not None and by_model else choose_sentences.RULE,
        tokens_of(text),
        last,
        is_current,
    )


def _row(scope: Scope, first: Episode) -> ConversationSummary | None:
    """The audience's summary, if there is one that says something, and nothing else than the
    asker may see: a model's words cannot be told apart by whom they came from."""
    own = Q(agent_id=scope.agent_id) if scope.agent_id else Q(agent=None)
    rows = ConversationSummary.objects.filter(own, workspace_id=scope.workspace_id)
    row = rows.filter(conversation=first.conversation_id, upto_at__isnull=False).first()
    if row is None or row.method == ConversationSummary.Method.EXTRACTIVE:
        return row
    if scope.subject_ids is None:
        return row
    others = audience(row).exclude(subject_id__in=scope.subject_ids)
    return None if others.exists() else row


def _cited(line: dict[str, Any]) -> list[uuid.UUID]:
    return [uuid.UUID(one) for one in line.get("episodes", [line.get("episode")])]


def _gathered(
    fallen: Sequence[Episode],
    known: dict[uuid.UUID, Episode],
    row: ConversationSummary | None,
    window: EpisodePlace,
) -> _Before:
    """Sentences of what has fallen out since, beside those that the summary kept."""
    episodes = sorted({*fallen, *known.values()}, key=place_of)
    at = {episode.pk: index for index, episode in enumerate(episodes)}
    cited = citations(at)
    texts = texts_with_citations(episodes, cited)
    fresh = choose_sentences.weighed(texts_with_citations(fallen, cited))
    found = [replace(one, index=at[fallen[one.index].pk]) for one in fresh]
    before = _Before(episodes, found)
    for line in row.lines if row is not None else ():
        ids = _cited(line)
        if not all(one in known for one in ids) or place_of(known[ids[0]]) >= window:
            continue  # not for this asker, or told by the window itself
        if "text" in line:
            weights = [weight for one in ids for _, _, weight in cited.get(one, ())]
            if UNSAID not in weights:
                before.lines.append(SummaryLine(plain(line["text"]), tuple(ids)))
            continue
        index, span = at[ids[0]], (line["start"], line["end"])
        if kept := choose_sentences.again(index, texts[index], span, line["score"]):
            before.found.append(kept)
    return before


def _chosen(before: _Before, room: int) -> list[SummaryLine]:
    """The model's lines, and the best sentences in the room that they leave."""
    lines = []
    for line in before.lines:
        if _cost(line) <= room:
            room -= _cost(line)
            lines.append(line)
    best = choose_sentences.choose(
        before.found, lambda one: _cost(_line_of(before.episodes, one)), room
    )
    return [*lines, *(_line_of(before.episodes, one) for one in best)]


def _cost(line: SummaryLine) -> int:
    return tokens_of(f"- {line.text}\n")


def _line_of(episodes: Sequence[Episode], one: Sentence) -> SummaryLine:
    episode = episodes[one.index]
    told = served_line.one_line(one.text)
    name = served_line.name(speaker(episode))
    return SummaryLine(f"[{episode.occurred_at:%Y-%m-%d}] {name}: {told}", (episode.pk,))
