"""How sure an answer is: the chance that what was asked for stands in its hits.

A logistic function of four signs, fitted on questions whose conversation holds the answer, that ask
for what nobody said, or that belong to another one (LoCoMo, BEAM-100K; the embedded model).
"""

import re
from collections.abc import Iterable, Sequence
from math import exp

from memories.english import lexical
from memories.search.request import Hit

BEST, FIRST = 10, 3  # hits that are read, and those that are read as one
WEIGHTS = {"cosine": 3.42, "held": 0.31, "held_together": 1.8, "by_the_named": 1.82}
START = -3.2
READ, LONGEST = 2_000, 50_000  # characters of a hit
# What a few hits do not hold may yet be meant by them: up to so many the chance is drawn to even.
MANY, EVEN, NEAR = 30, 0.5, 0.4
TELLING = 8  # letters: a longer word says no more

_no_word = re.compile(r"\W+")
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


def confidence_of(query: str, hits: Sequence[Hit]) -> float:
    """0 to 1; 0 where there are no hits.

    What counts: the nearest meaning; how much of the question's words one hit holds; how much the
    first three hold together; and, where somebody is named, whether it is that one who says it.
    """
    if not hits:
        return 0.0
    speakers = [set(lexical.stems(hit.row.author)) if hit.episode else set() for hit in hits[:BEST]]
    asked = set(lexical.stems(query))
    told = [_words(hit, asked) for hit in hits[:BEST]]
    named = asked.intersection(*[set().union(*speakers)])
    wanted = asked - named - _about_talk

    def held(words: set[str]) -> float:
        whole = sum(min(len(word), TELLING) for word in wanted)
        part = sum(min(len(word), TELLING) for word in wanted & words)
        return part / whole if whole else float(bool(named & words))

    shares = [held(words) for words in told]
    by_named = 0.0
    if named:
        own = [bool(named & (words | who)) for words, who in zip(told, speakers, strict=True)]
        theirs = max((s for s, is_own in zip(shares, own, strict=True) if is_own), default=0.0)
        others = max((s for s, is_own in zip(shares, own, strict=True) if not is_own), default=0.0)
        by_named = theirs - others
    signs = {
        "cosine": max((hit.cosine or 0.0 for hit in hits[:BEST]), default=0.0),
        "held": max(shares),
        "held_together": held(set().union(*told[:FIRST])),
        "by_the_named": by_named,
    }
    sure = 1 / (1 + exp(-START - sum(WEIGHTS[name] * sign for name, sign in signs.items())))
    if max(shares) or signs["cosine"] > NEAR or _personal.search(query):
        share = min(1.0, len(hits) / MANY)
        sure = share * sure + (1 - share) * max(sure, EVEN)
    return sure


def _words(hit: Hit, asked: Iterable[str]) -> set[str]:
    texts = [hit.row.content, *(echo.row.content for echo in hit.echoes)]
    words = {stem for text in texts for stem in lexical.stems(text[:READ])}
    # A long text is not stemmed: a word of it that begins as one that is asked for will do.
    rest = " ".join(_no_word.sub(" ", text[READ:LONGEST]).lower() for text in texts)
    return words | {stem for stem in asked if f" {stem}" in rest}
