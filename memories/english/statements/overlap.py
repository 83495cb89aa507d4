"""How many of their words two statements share."""

from dataclasses import dataclass
from functools import cache

from memories.english.statements.opposites import KIN
from memories.english.statements.read_statement import Reading
from memories.english.statements.sentence import RENAMED
from memories.english.statements.synonyms import LIGHT
from memories.english.statements.wording import root

MANY_WORDS = 40  # of texts that differ in more, no two forms of a word make one claim
SHARED_START = 5  # letters that two forms of a word have in common: guitar, guitarist
COPULAS = ("be", RENAMED)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Content words of both, and those of only one that are no other form of a shared one."""

    shared: frozenset[str]
    only_old: frozenset[str]
    only_new: frozenset[str]

    @property
    def is_equal(self) -> bool:
        return not self.only_old and not self.only_new

    @property
    def turned(self) -> "Overlap":
        """As seen from the other side."""
        return Overlap(self.shared, self.only_new, self.only_old)

    @property
    def missing(self) -> float:
        return weight(self.only_old)

    @property
    def added(self) -> float:
        return weight(self.only_new)


def weight(words: frozenset[str]) -> float:
    """A light word counts a fifth."""
    return (5 * len(words) - 4 * len(words & light())) / 5


@cache
def light() -> frozenset[str]:
    return frozenset(map(root, LIGHT))


def compare(old: Reading, new: Reading) -> Overlap:
    shared = old.stems & new.stems
    only_old, only_new = set(old.stems - shared), set(new.stems - shared)
    if only_old and only_new and max(len(only_old), len(only_new)) <= MANY_WORDS:
        # Take two forms of one word out of both; those of the old one.
        begun = {word[: SHARED_START - 1] for word in only_new}
        found = set()
        for word in sorted(w for w in only_old if w[: SHARED_START - 1] in begun):
            twin = next((other for other in sorted(only_new) if _related(word, other)), None)
            if twin:
                only_old.discard(word)
                only_new.discard(twin)
                found.add(word)
        pair = frozenset(found)
        shared |= pair
    return Overlap(shared, frozenset(only_old), frozenset(only_new))


def _related(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < SHARED_START - 1 or not short.isalpha() or len(long) - len(short) > 4:
        return False
    return long.startswith(short[: max(SHARED_START - 1, len(short) - 1)])


def subject_words(reading: Reading) -> frozenset[str]:
    return reading.about


def meet(old: Reading, new: Reading) -> bool:
    """Both speak of the same, or of something that is the same person's; a sister is no thing."""
    if same_subject(old, new):
        return True
    owner = old.subject.partition("/")[0]
    if not owner or owner != new.subject.partition("/")[0]:
        return False
    kin = (subject_words(old) ^ subject_words(new)) & _kin()
    return kin <= old.stems & new.stems


@cache
def _kin() -> frozenset[str]:
    return frozenset(map(root, KIN))


def same_subject(old: Reading, new: Reading) -> bool:
    return old.subject == new.subject


def same_head(old: Reading, new: Reading) -> bool:
    return old.head == new.head or bool({old.head, new.head} & (light() | set(COPULAS)))


def same_verb(old: Reading, new: Reading) -> bool:
    weak = light() | set(COPULAS)
    return old.head == new.head or all(
        head in weak or head in old.stems & new.stems for head in (old.head, new.head)
    )


def words_after(reading: Reading, *texts: str) -> set[str]:
    words = reading.words
    return {words[i + 1].root for i in range(len(words) - 1) if words[i].text in texts}
