"""Do two statements give one attribute the same value, or another?"""

from collections.abc import Iterator, Sequence
from functools import cache

from memories.english.statements.duplicates import is_richer
from memories.english.statements.overlap import Overlap, weight
from memories.english.statements.read_statement import Reading
from memories.english.statements.slot_values import Slot
from memories.english.statements.verdict import Relation
from memories.english.statements.wording import root

# Of these another word of the name is another one; of a person it is the surname.
PLACES = frozenset("residence place school employer".split())


def by_slot(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    pairs = list(_shared_slots(old, new))
    changed = next((slot for was, slot in pairs if _is_other(was, slot, old, new)), None)
    if changed:
        return Relation("update", f"slot:{changed.name}")
    if pairs and old.is_negated == new.is_negated and _same_but_for_slot(old, new, overlap, pairs):
        return Relation("same", f"slot:{pairs[0][1].name}", is_richer(old, new, overlap))
    return None


def _shared_slots(old: Reading, new: Reading) -> Iterator[tuple[Slot, Slot]]:
    for slot in new.slots:
        for was in old.slots:
            if (was.name, was.key) == (slot.name, slot.key) and _is_of_one(was, slot, old, new):
                yield was, slot


def _is_of_one(was: Slot, slot: Slot, old: Reading, new: Reading) -> bool:
    """ "The build on main is green" and "the build is red on main" have the same subject."""
    if was.subject == slot.subject:
        return True
    if slot.name not in ("status", "deadline"):
        return False
    one, other = set(was.subject.split("-")), set(slot.subject.split("-"))
    return one <= new.stems and other <= old.stems


def _is_other(was: Slot, slot: Slot, old: Reading, new: Reading) -> bool:
    return _differs(was.value, slot.value) or (
        slot.name in PLACES and (_is_longer_name(was, new) or _is_longer_name(slot, old))
    )


def _is_longer_name(slot: Slot, reading: Reading) -> bool:
    """ "Porto Alegre" is not Porto; "Porto, Portugal" is."""
    value, words = set(slot.value.split()), reading.words
    return any(
        words[i].root in value
        and words[i + 1].is_name
        and words[i + 1].root not in value
        or words[i + 1].root in value
        and words[i].is_name
        and words[i].root not in value
        for i in range(reading.verb_at + 1, len(words) - 1)
    )


def _differs(old: str, new: str) -> bool:
    was, now = set(old.split()), set(new.split())
    numbers = [{word for word in words if word[:1].isdigit()} for words in (was, now)]
    if all(numbers) and numbers[0] != numbers[1]:
        return True
    return not (was <= now or now <= was)


def _same_but_for_slot(
    old: Reading, new: Reading, overlap: Overlap, pairs: Sequence[tuple[Slot, Slot]]
) -> bool:
    """The attribute is the whole of what the shorter one says."""
    if old.numbers != new.numbers or old.dates != new.dates:
        return False
    if pairs[0][1].name in ("status", "relationship", "color", "diet", "count"):
        return False
    # Words that tell the attribute itself, in one way or the other.
    found: set[str] = set()
    for pair in pairs:
        for slot in pair:
            found |= {slot.name, root(slot.name), *slot.value.split(), *slot.subject.split("-")}
    said = frozenset(found) | _attribute_words()
    missing = weight(frozenset(w for w in overlap.only_old if w not in said))
    added = weight(frozenset(w for w in overlap.only_new if w not in said))
    return min(missing, added) < 1 and max(missing, added) <= 4


@cache
def _attribute_words() -> frozenset[str]:
    text = (
        "live drive work employ call name report boss manager own lead host handle born car "
        "commute plan schedule date use"
    )
    return frozenset(map(root, text.split()))
