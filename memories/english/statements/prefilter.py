"""A quick look at two statements, before they are taken apart: can they be about the same at all?

Of a thousand statements most neighbours are only near: ten thousand texts to be parsed for nothing.
The words alone take a fourth of that. What is told apart here, `relation` calls different too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from memories.bounds import WHOLE
from memories.english.statements.auxiliaries import GETS, NO, QUIT, negatives
from memories.english.statements.function_words import ADVERBS, ARTICLES, MODAL, NOW, PAST_TIMES
from memories.english.statements.overlap import SHARED_START, light
from memories.english.statements.parse import ME, MY, change_roots
from memories.english.statements.read_statement import Reading
from memories.english.statements.replacement import ending_verbs
from memories.english.statements.sentence import RENAMED
from memories.english.statements.wording import Word, root, texts
from memories.english.statements.workspace_slots import NO_WORDS, OwnWords

START = SHARED_START - 1  # letters that all forms of a word have in common
APART = 2  # words of one side only: one of them may be the verb, which has its twins
TURNS = frozenset("better best most more".split())
TILL = frozenset("to until till".split())
# Parsing may take these out of a statement, or put another word in their place.
PASSING = (
    *ADVERBS, *ARTICLES, *MODAL, *NOW, *PAST_TIMES, *NO, *QUIT, *GETS, *ME, *MY, *TURNS, *TILL,
    "always", "nolonger", "once", "will",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Glance:
    """The first letters of a statement's content words: of those that it surely has and that
    weigh, no numbers; and of all that it may have."""

    sure: frozenset[str]
    possible: frozenset[str]


def glance(statement: str) -> Glance:
    return _glance(statement[:WHOLE])


@lru_cache(maxsize=8192)
def _glance(statement: str) -> Glance:
    said = texts(statement)
    seen = [_seen(text) for text in said]
    possible = _put_in().union([start for _, start in seen])
    if not negatives().keys().isdisjoint(said):
        possible |= _starts(root(negatives().get(text, text)) for text in said)
    if _may_be_cut(said):
        return Glance(frozenset(), possible)
    return Glance(frozenset([start for start, _ in seen if start]), possible)


def glance_of(reading: Reading) -> Glance:
    """The same of what is taken apart already: nothing is unsure."""
    weigh = reading.stems - light() - reading.numbers
    return Glance(_starts(weigh), _starts(reading.stems))


def are_strangers(one: Glance, other: Glance) -> bool:
    """Each says at least two things of which the other has no form of a word. Where the newer of
    them is `still`, and an embedder does not take them for one, they are different."""
    return len(one.sure - other.possible) >= APART and len(other.sure - one.possible) >= APART


def is_still(reading: Reading, own: OwnWords = NO_WORDS) -> bool:
    """It tells of no change, denies and ends nothing, and gives no attribute a value."""
    if reading.is_negated or reading.change or reading.ousted or reading.slots:
        return False
    return ending_verbs(own.changes).isdisjoint(reading.clause_verbs)


def _may_be_cut(said: Sequence[str]) -> bool:
    """ "rose from 3 to 5": what stands between is left out."""
    return not TILL.isdisjoint(said) and not change_roots().isdisjoint(map(root, said))


@lru_cache(maxsize=50_000)
def _seen(text: str) -> tuple[str, str]:
    """How the word's root begins: "" where it may be left out or says little, and in any case."""
    word = Word(text, root(text))
    says_little = word.is_function or word.is_number or word.root in light() | _turned()
    start = word.root[:START]
    return "" if says_little or text in _passing() else start, start


@cache
def _passing() -> frozenset[str]:
    return frozenset(PASSING) | negatives().keys()


@cache
def _turned() -> frozenset[str]:
    """ "likes A better" is read as "prefers A"."""
    return frozenset({RENAMED, root("love")})


@cache
def _put_in() -> frozenset[str]:
    """Words that a statement may have without saying them."""
    return _starts(map(root, (*ME.values(), *MY.values(), "prefer")))


def _starts(roots: Iterable[str]) -> frozenset[str]:
    return frozenset([each[:START] for each in roots])
