"""The default ranking: words, meaning, and where, when and by whom a thing was said.

A weighted sum of parts, each about 0 to 1. One set of weights serves talk between people, talk
with an assistant, questions about the past and the next turn of a conversation: which parts count
is read from the query (`turn`) and from who speaks (`among_people`), never configured.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memories.ranking.columns import Array, Candidates, Columns
from memories.ranking.fitting import fits
from memories.ranking.message_marks import Mark
from memories.ranking.query import QueryView
from memories.ranking.ranked import Ranked
from memories.ranking.spread import spread
from memories.ranking.weights import DEFAULT, Weights

_day = 86_400.0
_not_a_message = 0.3  # as good as said by the user, were it not that the message stands for it
_sittings = 5  # after so many others, a sitting is half as recent
_log_length = 4.0  # log(1 + stems) of a message of ordinary length, about 50


@dataclass(frozen=True, slots=True)
class RecencyBoost:
    """A boost for what is young: `weight` today, half of it after `half_life_days`."""

    weight: float
    half_life_days: float
    now: datetime


def hybrid(
    query: QueryView,
    candidates: Candidates,
    *,
    limit: int | None = None,
    weights: Weights = DEFAULT,
    recency: RecencyBoost | None = None,
) -> list[Ranked]:
    """The candidates best first, with scores from 0 to 1; ties by id, newest first.

    A score says how near a candidate comes to the best that this query allows, and is the sum
    of its parts. It compares hits of one query, not of two.
    """
    columns = Columns.of(candidates)
    if not columns.size:
        return []
    own = _among_people if query.among_people else _with_assistant
    parts = _matches(columns, weights) | _hints(query, columns, weights)
    parts |= own(query, columns, weights)
    if recency:
        days = np.maximum(0.0, recency.now.timestamp() - columns.time) / _day
        young: Array = recency.weight * 0.5 ** (days / recency.half_life_days)
        parts["recency"] = parts.get("recency", 0.0) + young
    ceiling = _ceiling(query, weights) + (recency.weight if recency else 0.0)
    total: Array = sum(parts.values(), np.zeros(columns.size))
    order = np.lexsort((-columns.ids, -total))[:limit]
    apart = weights.diversity + weights.spread * query.asks_many
    if apart:
        order, parts["spread"] = spread(order, total, columns.sitting, apart)
        total = total + parts["spread"]
    shown = np.array([part[order] for part in parts.values()]) / ceiling
    scores = (total[order] / ceiling).clip(0.0, 1.0)
    best = columns.names(order)
    return [
        Ranked(
            *who, score, {name: value for name, value in zip(parts, values, strict=True) if value}
        )
        for who, score, values in zip(best, scores.tolist(), shown.T.tolist(), strict=True)
    ]


def _matches(columns: Columns, w: Weights) -> dict[str, Array]:
    keyword = columns.keyword
    return {
        "keyword": w.keyword * keyword,
        "vector": w.vector * columns.vector,
        "session": w.session_best * columns.best_of_sitting(keyword)
        + w.session_some * columns.three_best_of_sitting(keyword)
        + w.session_vector * columns.best_of_sitting(columns.vector),
        "neighbours": w.following * columns.of_neighbour(keyword, 1)
        + w.previous * columns.of_neighbour(keyword, -1),
    }


def _hints(query: QueryView, columns: Columns, w: Weights) -> dict[str, Array]:
    parts: dict[str, Array] = {}
    if query.named:
        parts["speaker"] = w.speaker * (columns.authors == query.named).astype(float)
    if query.dates:
        parts["date"] = w.date * fits(query.dates, columns)
    for mark, name, weight in _kinds(w):
        if query.kind & mark:
            parts[name] = weight * columns.marked(mark)
    return parts


def _kinds(w: Weights) -> tuple[tuple[Mark, str, float], ...]:
    """What a query may ask for, and how much an answer that says it gains."""
    return (
        (Mark.TIME, "when", w.when),
        (Mark.NUMBER, "number", w.number),
        (Mark.PLACE, "place", w.place),
    )


def _among_people(query: QueryView, columns: Columns, w: Weights) -> dict[str, Array]:
    question = columns.marked(Mark.QUESTION)
    match = w.answer * columns.keyword + w.answer_vector * columns.vector
    return {
        "length": w.length * _length(columns),
        "question": w.question * question,
        "answer": columns.of_neighbour(match * question, -1),
        "previous": w.previous_vector * columns.of_neighbour(columns.vector, -1),
    }


def _with_assistant(query: QueryView, columns: Columns, w: Weights) -> dict[str, Array]:
    """A question is answered by what the user said; the next turn goes on from recent talk."""
    parts: dict[str, Array] = {}
    turn, asked = query.turn, 1.0 - query.turn
    if asked:
        user = np.where(columns.is_message, 1.0 - columns.assistant, _not_a_message)
        parts["rule"] = w.rule * asked * user * columns.marked(Mark.RULE)
        if not (query.asks_assistant or query.asks_overview):
            parts["role"] = w.role * asked * user
    if turn:
        recent: Array = 0.5 ** (columns.sittings_since / _sittings)
        near = columns.best_of_sitting(columns.keyword)
        parts["recency"] = turn * recent * (w.turn_recency + w.turn_session * near)
        parts["length"] = w.turn_length * turn * _length(columns)
    if query.asks_overview:
        # How well what the user said matches, for the assistant's message after it.
        match = (columns.keyword + columns.vector) * (columns.assistant == 0)
        after = columns.of_neighbour(match, -1).clip(min=0.0)
        parts["reply"] = w.reply * after * (columns.assistant == 1)
    return parts


def _length(columns: Columns) -> Array:
    return np.log1p(columns.length) / _log_length


def _ceiling(query: QueryView, w: Weights) -> float:
    """What an ideal candidate of this query would have."""
    best = w.keyword + w.vector + w.following + w.previous
    best += w.session_best + w.session_some + w.session_vector
    best += w.speaker * bool(query.named) + w.date * bool(query.dates)
    best += sum(weight for mark, _, weight in _kinds(w) if query.kind & mark)
    if query.among_people:
        return best + w.length + w.answer + w.answer_vector + w.previous_vector
    asked = 1.0 - query.turn
    best += asked * (w.rule + w.role * (not query.asks_assistant and not query.asks_overview))
    best += 2 * w.reply * query.asks_overview
    return best + query.turn * (w.turn_recency + w.turn_session + w.turn_length)
