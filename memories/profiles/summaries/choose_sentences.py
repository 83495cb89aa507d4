"""The choice of sentences that tell what a conversation was about: chosen, never rewritten.

A sentence counts for the facts that were read from it, for how much of the whole conversation's
talk it shares (centrality), and a little for being late. Pure and deterministic: the same
messages with the same citations give the same choice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import log

from memories.language.english import clauses, lexical

RULE = "sentences-1"
SUMMARY_SHARE = 0.25  # of a window's tokens: so much room is kept for what is chosen
FACT, CENTRAL, RECENT, TELLING = 0.5, 0.35, 0.1, 0.05  # weights; they add up to one
SHORTEST = 3  # stems; what says less is no more than a nod
ENOUGH = 12  # stems from which on length no longer counts for a sentence
ALIKE = 0.6  # share of a sentence's stems that a chosen one has already said
QUESTION = 0.5  # a question tells what was asked, not what is so


@dataclass(frozen=True, slots=True)
class Said:
    """A message, with the places in it that facts were read from and how much each counts;
    what stands in one below zero is not to be told."""

    text: str
    cited: tuple[tuple[int, int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is `said[index].text[start:end]`; `score` is within 0..1."""

    index: int
    start: int
    end: int
    text: str
    score: float = 0.0
    stems: frozenset[str] = field(default=frozenset(), compare=False)


def weighed(said: Sequence[Said]) -> list[Sentence]:
    """Return all sentences that say something, in their order, each with its score."""
    found = []
    for index, message in enumerate(said):
        for start, end in clauses.sentences(message.text):
            text = message.text[start:end]
            if len(lexical.stem_set(text)) >= SHORTEST and not _is_unsaid(message, start, end):
                found.append(Sentence(index, start, end, text, stems=lexical.stem_set(text)))
    spread = Counter(stem for sentence in found for stem in sentence.stems)
    # The share of it that is said elsewhere too; a long sentence is no better for it.
    central = [sum(log(spread[stem]) for stem in one.stems) / max(len(one.stems), SHORTEST) ** 0.5 for one in found]
    most = max(central, default=0.0) or 1.0
    scored = []
    for one, share in zip(found, central, strict=True):
        near = (w for a, b, w in said[one.index].cited if a < one.end and one.start < b)
        recent = (one.index + 1) / len(said)
        telling = min(len(one.stems), ENOUGH) / ENOUGH
        fact, central_share = max(near, default=0), share / most
        score = FACT * fact + CENTRAL * central_share + RECENT * recent + TELLING * telling
        is_question = one.text.rstrip("\"'”’)").endswith("?")
        score = round(score * (QUESTION if is_question else 1.0), 6)
        scored.append(replace(one, score=score))
    return scored


def choose(found: Iterable[Sentence], cost: Callable[[Sentence], int], room: int) -> list[Sentence]:
    """Choose the best sentences that cost no more than `room` together, in the order they were
    said.

    What a chosen sentence has said already is not said again.
    """
    chosen: list[Sentence] = []
    for one in sorted(found, key=lambda one: (-one.score, -one.index, one.start)):
        price = cost(one)
        if price <= room and not any(
            (len(one.stems & other.stems) >= ALIKE * max(1, len(one.stems))) for other in chosen
        ):
            chosen.append(one)
            room -= price
    return sorted(chosen, key=lambda one: (one.index, one.start))


MOST_TOPICS, LEAST_SAID, LARGEST_SHARE = 60, 3, 0.2


def topics(texts: Sequence[str]) -> dict[str, list[int]]:
    """Find words that several of the texts use, each as it was written, with the places of the
    texts.

    A word in more than a fifth of the texts distinguishes nothing. Of two words in the same texts
    the longer one names the topic.
    """
    places: dict[str, list[int]] = {}
    written: dict[str, Counter[str]] = {}
    for at, text in enumerate(texts):
        for word in dict.fromkeys(text.lower().split()):
            bare = word.strip(".,;:!?\"'()[]’”“")
            for stem in lexical.stems(bare) if bare.isalpha() else ():
                own = places.setdefault(stem, [])
                if not own or own[-1] != at:
                    own.append(at)
                written.setdefault(stem, Counter())[bare] += 1
    most = max(LEAST_SAID, LARGEST_SHARE * len(texts))
    names: dict[tuple[int, ...], str] = {}
    for stem, own in places.items():
        if LEAST_SAID <= len(own) <= most:
            [(word, _)] = written[stem].most_common(1)
            names[tuple(own)] = max(word, names.get(tuple(own), ""), key=len)
    largest = sorted(names, key=lambda own: (-len(own), names[own]))[:MOST_TOPICS]
    return {names[own]: list(own) for own in largest}


def again(index: int, said: Said, span: tuple[int, int], score: float) -> Sentence | None:
    """Return a sentence that was weighed before; None where it must no longer be told."""
    start, end = span
    if _is_unsaid(said, start, end):
        return None
    return Sentence(index, start, end, said.text[start:end], score, lexical.stem_set(said.text[start:end]))


def _is_unsaid(said: Said, start: int, end: int) -> bool:
    return any(weight < 0 and a < end and start < b for a, b, weight in said.cited)
