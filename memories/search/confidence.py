"""How sure an answer is: the chance that what was asked for stands in its hits.

A logistic function of four signs, fitted on questions of conversations that hold the answer, ask for what nobody
said, or belong to other conversations (LoCoMo and BEAM-100K, under the embedded model).
"""

from collections.abc import Sequence
from math import exp

from memories.english import lexical
from memories.search.request import Hit

BEST, FIRST = 10, 3  # hits that are read, and those that are read as one
WEIGHTS = {"score": 5.83, "held": 0.81, "held_together": 1.47, "by_the_named": 1.43}
START = -5.53
READ = 2_000  # characters of a hit
TELLING = 8  # letters: a longer word says no more

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

    What counts: the best score; how much of the question's words one hit holds; how much the first
    three hold together; and, where somebody is named, whether it is that one who says it.
    """
    if not hits:
        return 0.0
    told = [_words(hit) for hit in hits[:BEST]]
    speakers = [set(lexical.stems(hit.row.author)) if hit.episode else set() for hit in hits[:BEST]]
    asked = set(lexical.stems(query))
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
        "score": hits[0].score,
        "held": max(shares),
        "held_together": held(set().union(*told[:FIRST])),
        "by_the_named": by_named,
    }
    return 1 / (1 + exp(-START - sum(WEIGHTS[name] * sign for name, sign in signs.items())))


def _words(hit: Hit) -> set[str]:
    texts = [hit.row.content, *(echo.row.content for echo in hit.echoes)]
    return {stem for text in texts for stem in lexical.stems(text[:READ])}
