"""Who and what stand on which side: the same words in another order need not say the same."""

from collections import Counter
from functools import cache

from memories.english.statements.changes import MUTUAL
from memories.english.statements.overlap import Overlap
from memories.english.statements.read_statement import Reading
from memories.english.statements.verdict import Relation
from memories.english.statements.wording import root

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
    return frozenset(between) if between and not _is_free(between) else None


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


def _is_free(between: list[str]) -> bool:
    said = set(between)
    if said <= JOINTS | PERSONS or (said <= EVEN | _equals() and said & _equals()):
        return True
    ends = {between[0], between[-1]}
    return ends <= JOINTS and "but" not in said  # a list of three and more


@cache
def _equals() -> frozenset[str]:
    return frozenset(map(root, MUTUAL)) | {"be"}
