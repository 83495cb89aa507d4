"""The confidence of an answer, which is the chance that its hits hold what was asked for; and how
near one hit is to the question.

It combines two chances. One is that the hits speak of what was asked: the best of them
decides, whatever else is found. The other is that they answer it, for which all ten count: more
hits, other layers and words of strangers lower it, down to LEAST_ANSWERED at most. Both are
logistic, fitted on questions whose conversation holds the answer, that ask for what nobody said, or
that belong to another conversation (LoCoMo, BEAM-100K; and on small stores of single facts, made
for it).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

import numpy as np

from memories.language.english import lexical, verbs
from memories.models import EmbeddingModel
from memories.ranking import SPEAKER_ROLES
from memories.search.request import Hit

# An answer below it has nothing to do with the question: the context is empty, unless a caller
# names another floor. The best of a few is as near by chance far less often than the best of many,
# so each number of messages has a floor of its own: of questions about something else (LoCoMo) .90
# are below it or more, of those that are answered there, none in fifty or one.
FLOORS = {3: 0.06, 30: 0.147, 300: 0.18, 3_000: 0.36}
FLOOR_OF_FEW, FLOOR, FLOOR_OF_MANY = FLOORS[3], FLOORS[300], FLOORS[3_000]
BEST, FIRST = 10, 3  # hits that are read, and those that tell whether a few stand apart
LEAST_ANSWERED = 0.3
WORDS = 0.77  # what holding all words of the question is worth, to saying the same
DATED = 0.36  # the part of a hit's score that is its date, where that is just what was asked for
FAR = -0.2  # nearness of what was not meant
READ = 20_000  # characters of a hit
PASSAGE = 600  # characters
ASKED, PLACES = 40, 20  # words of a question, and places of each in a hit
TELLING = 8  # letters: a longer word says no more
MEANT = 3  # letters of a stem that keeps its last
TOLD = 0.8  # where a hit tells the very attribute that is asked for, of the right person
SURE = log(99)  # odds of what says the same; at the floor of its model a hit is as good as chance

# Words of a question about the conversation itself, which no message of it holds.
_about_talk = frozenset(
    lexical.stems(
        "list lists order summary summaries summarize summarise overview recap conversation"
        " conversations discussion discussions discuss discussed mention mentioned brought talked"
        " chat session sessions across throughout overall clear comprehensive brief detailed give"
        " tell show remind walk explain different various aspects things topics concepts points"
        " recommend recommended suggest suggested approach approached develop developed evolved"
        " progressed over time"
    )
)


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """The weight of each sign that the hits speak of what was asked, and that they answer it; and
    what each of the two is worth without any sign."""

    spoken_start: float
    spoken_of: Mapping[str, float]
    answered_start: float
    answered: Mapping[str, float]

    @classmethod
    def of(cls, model: EmbeddingModel | None) -> "ConfidenceWeights":
        """Return the weights measured for a model; the shipped ones where it has none, or has other
        signs."""
        told = (model.confidence if model else None) or {}
        try:
            own = cls(**told)
        except TypeError:
            return SHIPPED
        is_known = own.spoken_of.keys() == SHIPPED.spoken_of.keys()
        return own if is_known and own.answered.keys() == SHIPPED.answered.keys() else SHIPPED

    def chance(self, signs: "ConfidenceSigns") -> float:
        spoken = _chance(self.spoken_start, self.spoken_of, signs.spoken_of)
        is_answered = _chance(self.answered_start, self.answered, signs.answered)
        return spoken * (LEAST_ANSWERED + (1 - LEAST_ANSWERED) * is_answered)


SHIPPED = ConfidenceWeights(
    -3.0,
    {"best": 5.4, "by_the_named": 2.1, "in_time": 5.8},
    -0.7,
    {
        "held_by_the_named": 2.1,
        "nearness": 1.9,
        "stands_apart": -6.1,
        "held_in_a_passage": 2.9,
    },
)


@dataclass(frozen=True, slots=True)
class ConfidenceSigns:
    """The signs seen in the hits, by the names of ConfidenceWeights."""

    spoken_of: Mapping[str, float]
    answered: Mapping[str, float]


_name = re.compile(r"(?:[A-Z][^\W\d_]{1,40}\b ?){1,2}")
_spaced = str.maketrans(dict.fromkeys("\t\n\r!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", " "))


def similarity_of(cosine: float | None, model: EmbeddingModel | None) -> float | None:
    """Turn the cosine of a question and a hit into 0 to 1: a half at the model's `search_floor`,
    .99 at its `duplicate_threshold`; None where there is none."""
    if cosine is None or model is None:
        return None
    reach = max(model.duplicate_threshold - model.search_floor, 0.01)
    return 1 / (1 + exp(-SURE * (cosine - model.search_floor) / reach))


def floor_of_size(messages: int) -> float:
    """Return the floor for so many messages: between two of FLOORS it grows with each doubling."""
    sizes, floors = zip(*((log(size), log(floor)) for size, floor in FLOORS.items()), strict=True)
    return exp(float(np.interp(log(max(messages, 1)), sizes, floors)))


def similarity_by_words(query: str, hit: Hit) -> float:
    """Return the share of the question's words that a hit holds, for hits whose vector is
    unknown."""
    wanted = _words_of(query)
    return _share({stem for _, stem in _places(hit.row.content, wanted)}, wanted)


def confidence_of(query: str, hits: Sequence[Hit], weights: ConfidenceWeights = SHIPPED) -> float:
    """Return the confidence, 0 to 1, of hits whose `similarity` is known; 0 without hits."""
    if not hits:
        return 0.0
    chance = weights.chance(signs_of(query, hits))
    is_told = any(each.scores.get("attribute") for hit in hits for each in (hit, *hit.echoes))
    return max(chance, TOLD) if is_told else chance


def signs_of(query: str, hits: Sequence[Hit]) -> ConfidenceSigns:
    """Return the signs of some hits, whose `similarity` is known.

    For speaking of the question: how near the best hit is, and how many of the question's words one
    passage of it holds; whether a hit is by a person who is named, or of the time that was asked
    for, for which lying before or after an event is not enough. For answering it: how near all are,
    how far a few are ahead of the others, and how many more of the words the hits of the named
    person hold.
    """
    best = hits[:BEST]
    asked = _words_of(query)
    speakers = [frozenset().union(*map(_told_of, (hit, *hit.echoes))) for hit in best]
    named = asked.intersection(set().union(*speakers))
    wanted = asked - named - _about_talk
    places = [_places("\n".join(one.row.content for one in (hit, *hit.echoes)), wanted) for hit in best]
    lent = [_lent(hit, wanted) for hit in best]
    passages = [_best_passage(*each, wanted) for each in zip(places, lent, strict=True)]
    is_own = [bool(named & who) for who in speakers]
    if named and not wanted:  # what somebody has to say, whatever it is
        passages = [float(own) for own in is_own]
    near = [_nearness(hit) for hit in best]
    # What was learned on a day that is asked for is found by that day, too.
    dates = [
        one.scores.get("date", 0.0) + one.scores.get("taught", 0.0)
        for hit in best[:FIRST]
        for one in (hit, *hit.echoes)
    ]
    spoken_of = {
        "best": max(a + WORDS * b for a, b in zip(near, passages, strict=True)),
        "by_the_named": float(any(is_own)),
        "in_time": min(1.0, max(dates) / DATED),
    }
    mean = sum(near) / len(near)
    answered = {
        "held_by_the_named": _ahead(passages, is_own) if named else 0.0,
        "nearness": mean,
        "stands_apart": sum(sorted(near)[-FIRST:]) / min(FIRST, len(near)) - mean,
        "held_in_a_passage": sum(sorted(passages)[-FIRST:]) / FIRST,
    }
    return ConfidenceSigns(spoken_of, answered)


def _chance(start: float, weights: Mapping[str, float], signs: Mapping[str, float]) -> float:
    return 1 / (1 + exp(-start - sum(weights[name] * sign for name, sign in signs.items())))


def _nearness(hit: Hit) -> float:
    """Return 0 at the floor of the embedding model and 1 where a hit says the same: `similarity_of`
    before its curve. Without a vector, return the share of the words."""
    if hit.cosine is None:
        return hit.similarity
    odds = min(max(hit.similarity, 1e-6), 1 - 1e-6)
    return log(odds / (1 - odds)) / SURE


def speaks_of(query: str, hit: Hit, *, is_sure: bool) -> float:
    """Return how near one hit is to the question, by its words and, where `is_sure`, its meaning: 0
    as good as chance, 1 near enough for most; the best of its echoes."""
    asked = _words_of(query) - _about_talk
    return max(
        (_nearness(one) if is_sure else 0.0)
        + WORDS * _best_passage(_places(one.row.content, asked), _lent(one, asked), asked)
        for one in (hit, *hit.echoes)
    )


def is_noise(query: str, hit: Hit) -> bool:
    """Tell whether nothing speaks for the hit: it is far off in meaning, has no word of the
    question, and is of another time."""
    asked = _words_of(query) - _about_talk
    return not any(
        _nearness(one) >= FAR
        or one.scores.get("date")
        or one.scores.get("side")
        or any(True for _ in _found(one.row.content, asked))
        for one in (hit, *hit.echoes)
    )


@lru_cache(maxsize=64)
def _words_of(query: str) -> frozenset[str]:
    """Return the stems of a question, which each of its hits is compared with."""
    return frozenset(lexical.stems(query)[:ASKED])


def _told_of(hit: Hit) -> AbstractSet[str]:
    """Return the words of the name of its author, or of the name that a statement begins with:
    "user" names nobody."""
    if hit.episode:
        author: str = hit.row.author
        return frozenset() if author.casefold() in SPEAKER_ROLES else lexical.stem_set(author)
    name = _name.match(hit.row.content)
    return lexical.stem_set(name[0]) if name else frozenset()


def _ahead(values: Sequence[float], is_own: Sequence[bool]) -> float:
    """Return by how much the best of one's own values is ahead of the best of the others."""
    own = max((value for value, mine in zip(values, is_own, strict=True) if mine), default=0.0)
    others = max((value for value, mine in zip(values, is_own, strict=True) if not mine), default=0.0)
    return own - others


def _places(text: str, stems: frozenset[str]) -> list[tuple[int, str]]:
    """Return, in order, the places of words that begin as one of the stems does, or are another
    form of that verb."""
    return sorted(_found(text, stems))


def _found(text: str, stems: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the same places, stem by stem."""
    low = f" {text[:READ]}".lower().translate(_spaced)
    plain = lexical.unaccented(low)  # as stems are
    for form, stem, is_plain in _forms(stems):
        read = plain if is_plain else low
        at, left = read.find(form), PLACES
        while at >= 0 and left:
            yield at, stem
            at, left = read.find(form, at + 1), left - 1


@lru_cache(maxsize=64)
def _forms(stems: frozenset[str]) -> tuple[tuple[str, str, bool], ...]:
    """Return the forms to look for, the stem of each, and whether to look in a text without
    accents."""
    forms = []
    for stem in stems:
        # "happi" is the stem of "happy"; what is no ASCII is not cut into words by spaces alone.
        is_plain, key = stem.isascii(), stem
        if is_plain:
            key = f" {stem.removesuffix('i') if len(stem) > MEANT else stem}"
        others = (f" {other}" for other in verbs.OTHER_FORMS.get(stem, ()))
        forms += [(form, stem, is_plain) for form in (key, *others)]
    return tuple(forms)


def _lent(hit: Hit, wanted: frozenset[str]) -> AbstractSet[str]:
    """Return the words that a passage borrows from its document's title and its heading, as in the
    index."""
    titles = [f"{one.row.title}\n{one.row.heading}" for one in (hit, *hit.echoes) if one.chunk]
    return {stem for _, stem in _places("\n".join(titles), wanted)} if titles else frozenset()


def _best_passage(places: Sequence[tuple[int, str]], lent: AbstractSet[str], wanted: AbstractSet[str]) -> float:
    """Return the largest share of the wanted words that stand within PASSAGE characters, with those
    that are lent to them."""
    best, first = 0.0, 0
    for last, (at, _) in enumerate(places):
        while places[first][0] < at - PASSAGE:
            first += 1
        held = {stem for _, stem in places[first : last + 1]} | lent
        best = max(best, _share(held, wanted))
    return best


def _share(stems: AbstractSet[str], wanted: AbstractSet[str]) -> float:
    """Return the share of the wanted words that are held, by their letters; 0 where none are
    wanted."""
    whole = sum(min(len(stem), TELLING) for stem in wanted)
    return sum(min(len(stem), TELLING) for stem in wanted & stems) / whole if whole else 0.0
