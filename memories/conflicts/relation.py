"""Whether a new statement says the same as an old one, replaces it, or stands beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memories.conflicts.attributes import Slot
from memories.conflicts.changes import ENDINGS, EVENTS, MANY_VALUED, NOW_SINGLE, OLD_AFTER
from memories.conflicts.grammar import PREPOSITIONS
from memories.conflicts.parsing import RENAMED, change_roots
from memories.conflicts.reading import Reading
from memories.conflicts.synonyms import LIGHT
from memories.conflicts.wording import Word, root

Kind = Literal["same", "update", "different", "unsure"]
LIGHT_WEIGHT = 0.2
SHARED_START = 5  # letters that two forms of a word have in common: guitar, guitarist
COPULAS = ("be", RENAMED)


@dataclass(frozen=True, slots=True)
class Relation:
    """`rule` tells why; `richer`: both say the same and the new one says more."""

    kind: Kind
    rule: str
    richer: bool = False


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
    def missing(self) -> float:
        return weight(self.only_old)

    @property
    def added(self) -> float:
        return weight(self.only_new)


DIFFERENT = Relation("different", "other")


def relation(old: Reading, new: Reading, cosine: float | None, threshold: float) -> Relation:
    """How `new` stands to `old`, which was said before it.

    `cosine`: similarity of their embeddings, None without any; `threshold`: from where on the
    embedding model takes two texts for one.
    """
    overlap = compare(old, new)
    return (
        _identical(old, new)
        or _by_slot(old, new, overlap)
        or _contradiction(old, new, overlap)
        or _ending(old, new, overlap)
        or _replacement(old, new, overlap)
        or _new_value(old, new, overlap)
        or _duplicate(old, new, overlap)
        or _near(old, new, overlap, cosine, threshold)
        or DIFFERENT
    )


def weight(words: frozenset[str]) -> float:
    return sum(LIGHT_WEIGHT if word in _light() else 1.0 for word in words)


@cache
def _light() -> frozenset[str]:
    return frozenset(map(root, LIGHT))


def compare(old: Reading, new: Reading) -> Overlap:
    shared = old.stems & new.stems
    only_old, only_new = set(old.stems - shared), set(new.stems - shared)
    if only_old and only_new:
        for word in sorted(only_old):
            twin = next((other for other in only_new if _related(word, other)), None)
            if twin:
                only_old.discard(word)
                only_new.discard(twin)
                shared |= {word}
    return Overlap(shared, frozenset(only_old), frozenset(only_new))


def _related(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < SHARED_START - 1 or not short.isalpha() or len(long) - len(short) > 4:
        return False
    return long.startswith(short[: max(SHARED_START - 1, len(short) - 1)])


def _same_subject(old: Reading, new: Reading) -> bool:
    return old.subject == new.subject


def _same_marks(old: Reading, new: Reading) -> bool:
    """Numbers, dates, order and times agree."""
    return (
        old.numbers == new.numbers
        and old.dates == new.dates
        and old.order_words == new.order_words
        and (
            not old.relative_dates
            or not new.relative_dates
            or old.relative_dates == new.relative_dates
        )
        and not _turned(old, new)
    )


def _turned(old: Reading, new: Reading) -> bool:
    """From Lyon to Paris and from Paris to Lyon."""
    return bool(
        _after(old, "from") & _after(new, "to", "for") | _after(old, "to", "for") & _after(new, "from")
    )


def _after(reading: Reading, *texts: str) -> set[str]:
    words = reading.words
    return {words[i + 1].root for i in range(len(words) - 1) if words[i].text in texts}


def _identical(old: Reading, new: Reading) -> Relation | None:
    if old.is_negated != new.is_negated or old.is_past != new.is_past:
        return None
    if [w.root for w in old.words] == [w.root for w in new.words] and old.replaced == new.replaced:
        if ("past" in old.change) == ("past" in new.change):
            return Relation("same", "normal-form", len(new.statement) > len(old.statement) + 8)
    return None


# ---- single-valued attributes


def _by_slot(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    pairs = list(_shared_slots(old, new))
    changed = next((slot for was, slot in pairs if _differs(was.value, slot.value)), None)
    if changed:
        return Relation("update", f"slot:{changed.name}")
    if pairs and old.is_negated == new.is_negated and _same_but_for_slot(old, new, overlap, pairs):
        return Relation("same", f"slot:{pairs[0][1].name}", _is_richer(old, new, overlap))
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
    said = _words_of(pairs)
    missing = weight(frozenset(w for w in overlap.only_old if w not in said))
    added = weight(frozenset(w for w in overlap.only_new if w not in said))
    return min(missing, added) < 1 and max(missing, added) <= 4


def _words_of(pairs: Sequence[tuple[Slot, Slot]]) -> frozenset[str]:
    """Words that tell the attribute itself, in one way or the other."""
    found: set[str] = set()
    for pair in pairs:
        for slot in pair:
            found |= {slot.name, root(slot.name), *slot.value.split(), *slot.subject.split("-")}
    return frozenset(found) | _attribute_words()


@cache
def _attribute_words() -> frozenset[str]:
    text = (
        "live drive work employ call name report boss manager own lead host handle born car "
        "commute plan schedule date use"
    )
    return frozenset(map(root, text.split()))


def _is_richer(old: Reading, new: Reading, overlap: Overlap) -> bool:
    return overlap.added > overlap.missing


# ---- denials, endings, replacements


def _contradiction(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """The same, denied: "likes olives" and "does not like olives"."""
    if old.is_negated == new.is_negated or old.is_past and not old.is_negated:
        return None
    if not (_same_subject(old, new) or overlap.is_equal) or not _same_or_less(old, new):
        return None
    if "past" in new.change or new.is_plan != old.is_plan:
        return None
    covered = weight(overlap.shared - _subject_words(old))
    lost, added = overlap.missing, overlap.added
    if covered < 1 or lost > 0.5 and "end" not in new.change:
        return None
    if min(lost, added) < 1 and max(lost, added) <= covered + 1 and _same_head(old, new):
        return Relation("update", "denied")
    return None


def _same_or_less(old: Reading, new: Reading) -> bool:
    return new.numbers <= old.numbers and new.dates <= old.dates


def _same_head(old: Reading, new: Reading) -> bool:
    return old.head == new.head or bool({old.head, new.head} & (_light() | set(COPULAS)))


def _same_verb(old: Reading, new: Reading) -> bool:
    weak = _light() | set(COPULAS)
    return old.head == new.head or all(
        head in weak or head in old.stems & new.stems for head in (old.head, new.head)
    )


def _subject_words(reading: Reading) -> frozenset[str]:
    return frozenset(word for part in reading.subject.split("/") for word in part.split("-"))


@dataclass(frozen=True, slots=True)
class _Verbs:
    verbs: frozenset[str]
    ended: frozenset[str]
    is_any: bool
    needs_object: bool


@cache
def _endings() -> tuple[_Verbs, ...]:
    return tuple(
        _Verbs(
            frozenset(map(root, row.verbs.split())),
            frozenset(map(root, row.ended.split())) - {"*"},
            row.ended == "*",
            row.needs_object,
        )
        for row in ENDINGS
    )


def _ending(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """ "sold her Fiat" ends "drives a Fiat"."""
    if new.is_negated or new.is_plan or "past" in old.change or old.is_past or old.is_negated:
        return None
    if not _meet(old, new):
        return None
    verbs = _clause_verbs(new)
    for row in _endings():
        for verb, place in verbs.items():
            if verb in row.verbs and verb not in old.stems and _ends(row, old, new, place):
                return Relation("update", f"ended:{verb}")
    return None


def _clause_verbs(reading: Reading) -> dict[str, int]:
    """The verb of the statement and of what "and" joins to it, with their places."""
    words = reading.words
    places = [i for i in range(len(words)) if i == reading.verb_at or words[i - 1].text in ("and", ",")]
    return {words[i].root: i for i in reversed(places) if i >= reading.verb_at}


def _ends(row: _Verbs, old: Reading, new: Reading, place: int) -> bool:
    said = old.stems - {old.subject.partition("/")[0]} - set(old.subject.split("-"))
    states = row.ended & said | ({"be"} & row.ended if old.head == "be" else set())
    if not row.is_any and not states:
        return False
    if not row.needs_object:
        return True
    objects = _objects(new, place)
    if not objects:  # "the parrot died", "the trip was cancelled"
        objects = _subject_words(new) - {new.subject.partition("/")[0]} or _subject_words(new)
    found = objects & (said | _subject_words(old)) - row.ended
    if not found or not objects <= found | row.ended | _unsaid():
        return False
    covered = weight(found - states) + len(states) + (1 if old.is_plan else 0)
    return covered * 2.5 >= weight(said)


@cache
def _unsaid() -> frozenset[str]:
    return _light() | frozenset(map(root, EVENTS)) | {"new", "old"}


def _objects(reading: Reading, place: int) -> frozenset[str]:
    """The content words right after the verb: "Fiat" of "sold her Fiat to Liv"."""
    found: list[str] = []
    after = reading.words[place + 1 :]
    source = next((i for i, word in enumerate(after) if word.text == "from"), 0)
    for word in after[source:]:
        if word.is_function and (found or word.text in ("because", "since", "after", "before")):
            break
        if not word.is_function:
            found.append(word.root)
    return frozenset(found)


def _meet(old: Reading, new: Reading) -> bool:
    """Both speak of the same: one subject, or one's subject is in the other."""
    if _same_subject(old, new):
        return True
    owner = old.subject.partition("/")[0]
    return bool(owner) and owner == new.subject.partition("/")[0]


def _replacement(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """The new one names what it replaces: "B instead of A", "from A to B"."""
    if new.is_plan and not old.is_plan or old.is_past or new.is_negated:
        return None
    gone = new.replaced | _after(new, *OLD_AFTER)
    if gone - _subject_words(old) and gone <= old.stems and _meet(old, new):
        texts = {word.text for word in new.words}
        if "to" in new.change or "insteadof" in texts or new.head in _turning() and "to" in texts:
            return Relation("update", "replaced")
    return None


@cache
def _turning() -> frozenset[str]:
    return change_roots() | {root("go")}


def _new_value(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """All is alike but for one value, and the thing can have but one."""
    if old.is_negated != new.is_negated or not _meet(old, new):
        return None
    if old.is_past or new.is_past and not new.change or old.is_plan != new.is_plan:
        return None
    numbers = old.numbers != new.numbers
    rest = overlap.only_old - old.numbers, overlap.only_new - new.numbers
    if numbers and old.numbers and new.numbers and old.dates == new.dates:
        if weight(rest[0]) + weight(rest[1]) < 1 and _is_measure(old):
            return Relation("update", "number")
    if new.change & {"now", "nowadays", "again", "to", "instead"}:
        return _now(old, new, overlap)
    return None


def _is_measure(reading: Reading) -> bool:
    """A number of something, not the number that names it (ticket 12, port 80)."""
    return any(
        word.is_number and i >= reading.verb_at for i, word in enumerate(reading.words)
    )


def _now(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    if old.subject != new.subject or not (old.head == new.head or new.head == RENAMED):
        return None
    if not overlap.only_old or len(overlap.only_new) > 3:
        return None
    common = overlap.shared - _subject_words(old)
    if old.head in _many_valued():
        is_close = len(common) > 1 and max(overlap.missing, overlap.added) <= 1
        if not is_close or old.head not in _now_single() and "instead" not in new.change:
            return None
    elif not common and "/" not in old.subject:
        return None
    return Relation("update", "now")


@cache
def _now_single() -> frozenset[str]:
    return frozenset(map(root, NOW_SINGLE))


@cache
def _many_valued() -> frozenset[str]:
    return frozenset(map(root, MANY_VALUED))


# ---- duplicates


def _duplicate(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    if not _same_claim(old, new):
        return None
    if _is_whole(overlap) and (_same_subject(old, new) or not _swapped(old, new)):
        return Relation("same", "same-words", _is_richer(old, new, overlap))
    if not _same_subject(old, new) or min(overlap.missing, overlap.added) >= 0.5:
        return None
    richer, extra = (new, overlap.only_new) if overlap.added > overlap.missing else (old, overlap.only_old)
    if _only_adds(richer, extra, overlap) and _same_verb(old, new):
        return Relation("same", "contained", richer is new)
    return None


def _same_claim(old: Reading, new: Reading) -> bool:
    return (
        old.is_negated == new.is_negated
        and old.is_plan == new.is_plan
        and ("past" in old.change) == ("past" in new.change)
        and _same_marks(old, new)
    )


def _is_whole(overlap: Overlap) -> bool:
    return overlap.missing + overlap.added < 0.9 and weight(overlap.shared) >= 1.9


def _swapped(old: Reading, new: Reading) -> bool:
    """Who does it to whom has changed: "Ann lent Bo a pen", "Bo lent Ann a pen".

    A passive, a possessive or a verb told from the other side turns the words round as well.
    """
    was, now = {w.root for w in old.words}, {w.root for w in new.words}
    if "be" in was | now or "'s" in was ^ now:
        owners = _owner(old), _owner(new)
        return bool(owners[0] and owners[1] and owners[0] != owners[1])
    return not (was ^ now) & _turns()


def _owner(reading: Reading) -> str:
    words = reading.words
    for i in range(1, len(words)):
        if words[i].root == "'s":
            return words[i - 1].root
        if words[i].root == "of" and i + 1 < len(words) and words[i + 1].is_name:
            return words[i + 1].root
    return ""


@cache
def _turns() -> frozenset[str]:
    verbs = "by from find relax fascinate inspire excite bore interest annoy calm scare please"
    return frozenset(map(root, verbs.split()))


def _only_adds(richer: Reading, extra: frozenset[str], overlap: Overlap) -> bool:
    """What the longer one has more is a phrase of its own or a word before a shared one:
    "a kitten from the animal shelter", not "coffee cake" for "coffee"."""
    own = weight(overlap.shared - _subject_words(richer))
    if own < 1 or overlap.shared - _subject_words(richer) <= _light() or weight(extra) > 2 * own + 1:
        return False
    return not any(_breaks(richer.words, i, extra) for i in range(1, len(richer.words)))


def _breaks(words: Sequence[Word], i: int, extra: frozenset[str]) -> bool:
    """An added word right after a shared one, with nothing of the shared to follow."""
    if words[i].root not in extra or words[i - 1].root in extra or words[i - 1].is_function:
        return False
    j = i
    while j < len(words) and words[j].root in extra:
        j += 1
    if {word.root for word in words[i:j]} <= _light():
        return False
    return j >= len(words) or words[j].text in PREPOSITIONS


def _near(
    old: Reading, new: Reading, overlap: Overlap, cosine: float | None, threshold: float
) -> Relation | None:
    """Where the embedder takes them for one and no guard objects."""
    if cosine is None or cosine < threshold or not _same_claim(old, new):
        return None
    if not _same_subject(old, new):
        return None
    if old.head != new.head and overlap.only_old <= {old.head} and overlap.only_new <= {new.head}:
        return Relation("same", "near", _is_richer(old, new, overlap))
    return Relation("unsure", "near")
