"""How sure an answer is: the chance that what was asked for stands in its hits; and how near one
hit is to the question.

The chance is a logistic function of five signs, fitted on questions whose conversation holds the
answer, that ask for what nobody said, or that belong to another one (LoCoMo, BEAM-100K; the
embedded model).
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from math import exp, log

from memories.english import lexical
from memories.models import EmbeddingModel
from memories.search.request import Hit

# Below it stands what has nothing to do with the question: a context is empty, if nobody says else.
FLOOR = 0.16
BEST, FIRST = 10, 3  # hits that are read, and those that tell whether a few stand apart
WEIGHTS = {
    "cosine": 6.35,
    "stands_apart": -7.0,
    "held_in_a_passage": 3.41,
    "held_by_the_named": 2.03,
    "told_by_the_named": 1.31,
}
START = -3.39
READ = 20_000  # characters of a hit
PASSAGE = 600  # characters
ASKED, PLACES = 40, 20  # words of a question, and places of each in a hit
# What a few hits do not hold may yet be meant by them: up to so many the chance is drawn to even.
MANY, EVEN, NEAR = 30, 0.5, 0.4
# Of documents one passage may be the whole answer, and stand apart from all others. Where it
# holds so much of the words, 6 of 300 questions that documents answer are held back in place of
# 18, and of 300 that they do not answer 183 in place of 184 (SQuAD).
HELD = 0.6
TELLING = 8  # letters: a longer word says no more
MEANT = 3  # letters of a stem that keeps its last
SURE = log(99)  # odds of what says the same; at the floor of its model a hit is as good as chance

# Somebody asks about himself, or about who answers.
_personal = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours|you|your)\b", re.IGNORECASE)
# Words of a question about the talk itself, which no message of it holds.
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


_name = re.compile(r"(?:[A-Z][^\W\d_]{1,40}\b ?){1,2}")
_spaced = str.maketrans(dict.fromkeys("\t\n\r!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", " "))


def similarity_of(cosine: float | None, model: EmbeddingModel | None) -> float | None:
    """0 to 1, of the cosine of a question and a hit: a half at the model's `search_floor`, .99 at
    its `duplicate_threshold`; None where there is none."""
    if cosine is None or model is None:
        return None
    reach = max(model.duplicate_threshold - model.search_floor, 0.01)
    return 1 / (1 + exp(-SURE * (cosine - model.search_floor) / reach))


def similarity_by_words(query: str, hit: Hit) -> float:
    """Where no vector is known: the share of the question's words that a hit holds."""
    wanted = set(lexical.stems(query)[:ASKED])
    return _share({stem for _, stem in _places(hit.row.content, wanted)}, wanted)


def confidence_of(query: str, hits: Sequence[Hit], limit: int) -> float:
    """0 to 1; 0 where there are no hits. There are fewer than `limit` hits only where there is no
    more to be found.

    What counts: the mean of the nearest meanings, and how far a few of them stand before the
    others; how much of the question's words one passage holds; and, where somebody is named,
    whether the first is theirs, and how much more of the words theirs hold.
    """
    if not hits:
        return 0.0
    best = hits[:BEST]
    asked = set(lexical.stems(query)[:ASKED])
    speakers = [{stem for one in (hit, *hit.echoes) for stem in _told_of(one)} for hit in best]
    named = asked.intersection(set().union(*speakers))
    wanted = asked - named - _about_talk
    places = [
        _places("\n".join(one.row.content for one in (hit, *hit.echoes)), wanted) for hit in best
    ]
    passages = [_best_passage(of_one, wanted) for of_one in places]
    cosines = [hit.cosine or 0.0 for hit in best]
    near, mean = sorted(cosines)[-FIRST:], sum(cosines) / len(cosines)
    is_own = [bool(named & who) for who in speakers]
    held = _share({stem for of_one in places for _, stem in of_one}, wanted)
    if named and not wanted:  # what somebody has to say, whatever it is
        held, passages = 1.0, [float(own) for own in is_own]
    most = sorted(passages)[-FIRST:]
    signs = {
        "cosine": mean,
        "stands_apart": sum(near) / len(near) - mean,
        "held_in_a_passage": sum(most) / FIRST,
        "held_by_the_named": _ahead(passages, is_own) if named else 0.0,
        "told_by_the_named": float(is_own[0]),
    }
    sure = 1 / (1 + exp(-START - sum(WEIGHTS[name] * sign for name, sign in signs.items())))
    if len(hits) < limit and (held or max(cosines) > NEAR or _personal.search(query)):
        share = min(1.0, len(hits) / MANY)
        sure = share * sure + (1 - share) * max(sure, EVEN)
    if most[-1] >= HELD and all(hit.chunk for hit in best):
        sure = max(sure, EVEN)
    return sure


def _told_of(hit: Hit) -> list[str]:
    """Who says it, or whom a statement begins with."""
    if hit.episode:
        return lexical.stems(hit.row.author)
    name = _name.match(hit.row.content)
    return lexical.stems(name[0]) if name else []


def _ahead(values: Sequence[float], is_own: Sequence[bool]) -> float:
    """By how much the best of one's own is before the best of the others."""
    own = max((value for value, mine in zip(values, is_own, strict=True) if mine), default=0.0)
    others = max(
        (value for value, mine in zip(values, is_own, strict=True) if not mine), default=0.0
    )
    return own - others


def _places(text: str, stems: Iterable[str]) -> list[tuple[int, str]]:
    """Where a word begins as one of the stems does, in order."""
    low = f" {text[:READ]}".lower().translate(_spaced)
    plain = lexical.unaccented(low)  # as stems are
    places = []
    for stem in stems:
        # "happi" is the stem of "happy"; what is no ASCII is not cut into words by spaces alone.
        key, read = stem, low
        if stem.isascii():
            key, read = f" {stem.removesuffix('i') if len(stem) > MEANT else stem}", plain
        at = read.find(key)
        for _ in range(PLACES):
            if at < 0:
                break
            places.append((at, stem))
            at = read.find(key, at + 1)
    return sorted(places)


def _best_passage(places: Sequence[tuple[int, str]], wanted: AbstractSet[str]) -> float:
    """The share of the wanted words that stand within PASSAGE characters."""
    best, first = 0.0, 0
    for last, (at, _) in enumerate(places):
        while places[first][0] < at - PASSAGE:
            first += 1
        best = max(best, _share({stem for _, stem in places[first : last + 1]}, wanted))
    return best


def _share(stems: AbstractSet[str], wanted: AbstractSet[str]) -> float:
    """How much of what is wanted is held, by the letters of its words; 0 where nothing is."""
    whole = sum(min(len(stem), TELLING) for stem in wanted)
    return sum(min(len(stem), TELLING) for stem in wanted & stems) / whole if whole else 0.0
