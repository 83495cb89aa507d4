"""How many of their words two statements share, and who and what stand on which side of them: the
same words in another order need not say the same.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memories.english.statements.auxiliaries import RENAMED
from memories.english.statements.contradictions import KIN, MUTUAL
from memories.english.statements.read_statement import Reading
from memories.english.statements.word_lists import LIGHT
from memories.english.statements.wording import root

Kind = Literal["same", "update", "different", "unsure"]


@dataclass(frozen=True, slots=True)
class Relation:
    """`rule` tells why; `richer`: both say the same and the new one says more."""

    kind: Kind
    rule: str
    richer: bool = False


DIFFERENT = Relation("different", "other")


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
    if same_subject(old, new) or is_by_name(old, new):
        return True
    owner = old.subject.partition("/")[0]
    if not owner or owner != new.subject.partition("/")[0]:
        return False
    kin = (subject_words(old) ^ subject_words(new)) & KIN_ROOTS
    return kin <= old.stems & new.stems


def is_by_name(old: Reading, new: Reading) -> bool:
    """ "Ann's son Ben" of the one is "Ben" of the other."""
    for one, other in ((old, new), (new, old)):
        named = one.subject.partition("/")[2].split("-")
        if len(named) > 1 and other.subject in named and other.subject in one.names:
            return True
    return False


def is_family(old: Reading, new: Reading) -> bool:
    """Whether one of them is about kin or a pet, of whom there is one with that name."""
    return bool(_family & (subject_words(old) | subject_words(new)))


KIN_ROOTS = frozenset(map(root, KIN))
_family = KIN_ROOTS - frozenset(
    map(
        root,
        "friend neighbor neighbour colleague coworker boss manager roommate flatmate teacher coach doctor landlord"
        " client customer ex family team company".split(),
    )
)


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


JOINTS = frozenset("and or but , ;".split())  # what they join may stand in any order
PERSONS = frozenset("i we he she they it user team".split())
EVEN = frozenset("with to of".split())  # "Ann is friends with Bo", "Bo is friends with Ann"
# One of these in only one of two statements turns its sentence round: a passive, an owner.
TURNERS = frozenset("be 's by of".split())
EXCLUSIVE = frozenset("than but".split())  # both ways round cannot be true
LONGEST = 60  # words; a longer text is no claim of one order


def turned_round(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """ "dogs but not cats" and "cats but not dogs": nothing but who stands where has changed."""
    between = exchanged(old, new) if overlap.is_equal else None
    if between is None:
        return None
    is_over = old.is_past or new.is_past or old.is_plan or new.is_plan
    if between & EXCLUSIVE and not is_over:
        return Relation("update", "turned")
    return Relation("unsure" if "over" in between else "different", "turned")


def exchanged(old: Reading, new: Reading) -> frozenset[str] | None:
    """The words between two parts that have changed places, None where none have or it says
    nothing: two of a list, two phrases in a row, both sides of "is" or of "is friends with"."""
    was, now = old.order, new.order
    if was == now or max(len(was), len(now)) > LONGEST or (set(was) ^ set(now)) & TURNERS:
        return None
    both = Counter(was) & Counter(now)
    between = _between([w for w in was if w in both], [w for w in now if w in both])
    said, equals = set(between), _equals
    if not said or said <= JOINTS | PERSONS or (said <= EVEN | equals and said & equals):
        return None
    # A list of three and more may stand in any order.
    is_list = {between[0], between[-1]} <= JOINTS and "but" not in said
    return None if is_list else frozenset(said)


def _between(was: list[str], now: list[str]) -> list[str]:
    """The m of "a m b" and "b m a", without what is alike before and after; [] for any other."""
    if len(was) != len(now) or was == now:
        return []
    start = next(i for i in range(len(was)) if was[i] != now[i])
    end = next(i for i in range(len(was), 0, -1) if was[i - 1] != now[i - 1])
    was, now = was[start:end], now[start:end]
    for first in range(1, len(was) - 1):
        for last in range(1, len(was) - first):
            parts = was[:first], was[first:-last], was[-last:]
            if now == [*parts[2], *parts[1], *parts[0]]:
                return parts[1]
    return []


_equals = frozenset(map(root, MUTUAL)) | {"be"}
