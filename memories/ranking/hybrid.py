"""The ranking `hybrid`: a weighted sum of what speaks for a candidate, its days among them; and the
ranking of a document's passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memories.language.english.calendar import Span
from memories.ranking.columns import Array, Candidates, Columns, Integers, Ranked
from memories.ranking.message_marks import Mark
from memories.ranking.query import EventSide, QueryView
from memories.ranking.weights import DEFAULT, Weights

_epoch = date(1970, 1, 1).toordinal()
_second = 1 / 86_400
_a_month, _a_year = 28, 365  # days


# The share of the better of its two neighbours: an answer is longer than a passage, or its words
# stand before it. Over six sets more of the evidence is served in all, .01 to .04; from .5 on less
# again.
BESIDE = 0.3


class _Reach(NamedTuple):
    """The worth of a day that lies so many days before or after what the query names."""

    before: int
    after: int
    worth: float


_inside = _Reach(0, 0, 1.0)
# People speak of a day in the days after it. By the length of what is named: days, months, years.
_SAID = (
    (_inside, _Reach(3, 14, 0.7), _Reach(20, 31, 0.3)),
    (_inside, _Reach(0, 25, 0.6)),
    (_Reach(0, 0, 0.3),),
)
# A dated event is of its date; one dated to the month begins on the first.
_HAPPENED = (
    (_inside, _Reach(1, 1, 0.5), _Reach(14, 14, 0.15)),
    (_inside,),
    (_Reach(0, 0, 0.6),),
)
# A statement without a date may be of the day when it was told, or of none.
_UNDATED = ((_Reach(0, 0, 0.7),), (_Reach(0, 0, 0.7),), (_Reach(0, 0, 0.2),))


def fits(dates: Sequence[Span], columns: Columns) -> Array:
    """The best over the dates, by candidate: of what has a date of its own, by that; of what
    has none, by when it was told."""
    said, told = (_best_fit(reaches, dates, columns.at) for reaches in (_SAID, _UNDATED))
    happened = _best_fit(_HAPPENED, dates, columns.event)
    undated = np.where(columns.is_message, said, told)
    return np.where(np.isnan(columns.event), undated, happened)


def beside(side: EventSide, columns: Columns) -> Array:
    """Score how well each candidate's time lies on one side of an event, 0 to 1: on the same day or
    on the other side 0, on the right side more the nearer it is."""
    at = np.where(np.isnan(columns.event), columns.at, columns.event)
    days = (side.at - at if side.is_before else at - side.at) / _day
    near: Array = 0.5 ** (np.maximum(days, 0) / _half_near)
    fit = near if side.is_near else 0.7 + 0.3 * near
    return np.where(days >= _apart, fit, 0.0)


_half_near, _apart = 30.0, 0.5  # days


def _best_fit(reaches: Sequence[Sequence[_Reach]], dates: Sequence[Span], at: Array) -> Array:
    best = np.zeros(at.size)
    days = np.floor(at * _second)
    for span in dates:
        length = (span.last_day - span.first_day).days + 1
        reach_of = reaches[0 if length < _a_month else 1 if length < _a_year else 2]
        years = [span.first_day.year]
        if span.any_year:  # that of each year of the days
            known = days[~np.isnan(days)].astype("datetime64[D]").astype("datetime64[Y]")
            years = [int(year) + 1970 for year in np.unique(known.astype(int))]
        for year in years:
            try:
                first = span.first_day.replace(year=year).toordinal() - _epoch
            except ValueError:  # the calendar has no such day in that year
                continue
            last = first if span.grain == "part" else first + length - 1  # a night's is its first
            for reach in reach_of:
                near = (days >= first - reach.before) & (days <= last + reach.after)
                best = np.maximum(best, reach.worth * near)
    return best


def spread(order: NDArray[np.intp], total: Array, sitting: Integers, apart: float) -> tuple[NDArray[np.intp], Array]:
    """The candidates of `order` again, each losing `apart` for every one of its sitting that
    stands before it; and what each lost (0 or less, by candidate).

    The best of what is left comes next, equal ones in the given order.
    """
    left, groups = total[order], sitting[order]
    lost = np.zeros(total.size)
    chosen = np.empty_like(order)
    for place in range(order.size):
        best = int(np.argmax(left))
        chosen[place] = order[best]
        lost[order[best]] = left[best] - total[order[best]]
        left[best] = -np.inf
        left[groups == groups[best]] -= apart
    return chosen, lost


_day = 86_400.0
_not_a_message = 0.3  # as good as said by the user, were it not that the message stands for it
# The extra weight of a standing instruction and of a preference where help is asked for.
_instructed, _preferred = 3.0, 2.0
# Of all that was said in a time, the messages that something was learned from tell the most.
_taught = 1.5
# A memory that tells the very attribute asked for counts more than any word does.
_attribute = 3.0
_sittings = 5  # after so many others, a sitting is half as recent
_log_length = 4.0  # log(1 + stems) of a message of ordinary length, about 50


@dataclass(frozen=True, slots=True)
class RecencyBoost:
    """A boost for recent times: `weight` today, half of it after `half_life_days`."""

    weight: float
    half_life_days: float
    now: datetime

    def of(self, times: Array) -> Array:
        """Return the boost for each of these seconds since 1970; the future counts as today."""
        days = np.maximum(0.0, self.now.timestamp() - times) / _day
        young: Array = self.weight * 0.5 ** (days / self.half_life_days)
        return young


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
    parts = _parts(query, columns, weights)
    if recency:
        parts["recency"] = parts.get("recency", 0.0) + recency.of(columns.time)
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
    cosines = [None if isnan(one) else one for one in columns.cosine[order].tolist()]
    return [
        Ranked(
            *who,
            score,
            {name: value for name, value in zip(parts, values, strict=True) if value},
            cosine,
        )
        for who, score, values, cosine in zip(best, scores.tolist(), shown.T.tolist(), cosines, strict=True)
    ]


def _parts(query: QueryView, columns: Columns, w: Weights) -> dict[str, Array]:
    """Return the parts of each candidate's score, weighted."""
    keyword = columns.keyword
    parts = {
        "keyword": w.keyword * keyword,
        "vector": w.vector * columns.vector,
        "session": w.session_best * columns.best_of_sitting(keyword)
        + w.session_some * columns.three_best_of_sitting(keyword)
        + w.session_vector * columns.best_of_sitting(columns.vector),
        "neighbours": w.following * columns.of_neighbour(keyword, 1) + w.previous * columns.of_neighbour(keyword, -1),
    }
    if query.named:
        said = (columns.authors == query.named).astype(float)
        parts["speaker"] = w.speaker * query.told_by_named * said
    if query.dates:
        fit = fits(query.dates, columns)
        parts["date"] = w.date * fit
        if query.asks_whatever:
            parts["taught"] = _taught * columns.taught * fit
    if query.told:
        parts["attribute"] = _attribute * columns.among(query.told)
    for mark, name, weight in _kinds(w):
        if query.kind & mark:
            parts[name] = weight * columns.marked(mark)
    if query.side:
        name = "side" if query.side.of_event else "date"
        parts[name] = w.date * beside(query.side, columns)
    among = query.among
    for share, own in ((among, _among_people), (1 - among, _with_assistant)):
        for name, part in own(query, columns, w).items() if share else ():
            parts[name] = parts.get(name, 0.0) + share * part
    return parts


def _kinds(w: Weights) -> tuple[tuple[Mark, str, float], ...]:
    """The kinds of answer that a query may ask for, each with its part of the score and its
    weight."""
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
    if asked or query.asks_help:
        user = np.where(columns.is_message, 1.0 - columns.assistant, _not_a_message)
        wished = asked * columns.marked(Mark.RULE)
        if query.asks_help:
            wished = _instructed * columns.marked(Mark.RULE)
            wished += _preferred * columns.marked(Mark.PREFERENCE)
        parts["rule"] = w.rule * user * wished
        if not (query.asks_assistant or query.asks_overview):
            parts["role"] = w.role * asked * user
    if turn:
        recent: Array = 0.5 ** (columns.sittings_since / _sittings)
        near = columns.best_of_sitting(columns.keyword)
        parts["recency"] = turn * recent * (w.turn_recency + w.turn_session * near)
        parts["length"] = w.turn_length * turn * _length(columns)
        parts["around"] = w.turn_around * turn * columns.vector_around
    if query.asks_overview:
        # The match of the user's message, for the assistant's message after it.
        match = (columns.keyword + columns.vector) * (columns.assistant == 0)
        after = columns.of_neighbour(match, -1).clip(min=0.0)
        parts["reply"] = w.reply * after * (columns.assistant == 1)
    return parts


def _length(columns: Columns) -> Array:
    return np.log1p(columns.length) / _log_length


def _ceiling(query: QueryView, w: Weights) -> float:
    """The score of an ideal candidate for this query."""
    best = w.keyword + w.vector + w.following + w.previous
    best += w.session_best + w.session_some + w.session_vector
    best += w.speaker * query.told_by_named * bool(query.named) + w.date * bool(query.dates or query.side)
    best += sum(weight for mark, _, weight in _kinds(w) if query.kind & mark)
    best += _taught * query.asks_whatever + _attribute * bool(query.told)
    among = w.length + w.answer + w.answer_vector + w.previous_vector
    asked = 1.0 - query.turn
    alone = asked * w.role * (not query.asks_assistant and not query.asks_overview)
    alone += w.rule * (_instructed + _preferred if query.asks_help else asked)
    alone += 2 * w.reply * query.asks_overview
    alone += query.turn * (w.turn_recency + w.turn_session + w.turn_around + w.turn_length)
    return best + query.among * among + (1 - query.among) * alone


# The ranking of a document's passages: their words and their meaning, each beside the best.

KEYWORD, VECTOR = 0.7, 0.3


def by_passage(candidates: Candidates, recency: RecencyBoost | None = None) -> list[Ranked]:
    """Best first, with scores from 0 to 1; ties by id, newest first.

    What stands near to the question only as most do has no meaning in common with it: a cosine
    counts from the mean of the candidates on. The first of a text has nothing before it, and
    stands for that itself: a text of one passage loses nothing by it.
    """
    columns = Columns.of(candidates)
    if not columns.size:
        return []
    parts = {"keyword": KEYWORD * columns.keyword, "vector": VECTOR * _scaled(columns.cosine)}
    own: Array = sum(parts.values(), np.zeros(columns.size))
    before = np.where(columns.positions <= 0, own, columns.of_neighbour(own, -1))
    parts["neighbours"] = BESIDE * np.maximum(before, columns.of_neighbour(own, 1))
    ceiling = (KEYWORD + VECTOR) * (1 + BESIDE)
    if recency:
        parts["recency"] = recency.of(columns.time)
        ceiling += recency.weight
    total: Array = sum(parts.values(), np.zeros(columns.size)) / ceiling
    order = np.lexsort((-columns.ids, -total))
    shown = np.array([part[order] for part in parts.values()]) / ceiling
    cosines = [None if np.isnan(one) else float(one) for one in columns.cosine[order]]
    rows = zip(columns.names(order), total[order].tolist(), shown.T.tolist(), cosines, strict=True)
    return [
        Ranked(*who, min(1.0, score), {n: v for n, v in zip(parts, own, strict=True) if v}, cosine)
        for who, score, own, cosine in rows
    ]


def _scaled(cosines: Array) -> Array:
    """0 at the candidates' mean (or at no cosine at all), 1 at their best."""
    known = cosines[~np.isnan(cosines)]
    if not known.size:
        return np.zeros(cosines.size)
    low = max(float(known.mean()), 0.0)
    reach = max(float(known.max()) - low, 1e-9)
    scaled: Array = np.nan_to_num((cosines - low) / reach).clip(0.0, 1.0)
    return scaled
