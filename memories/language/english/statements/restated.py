"""A test whether a new statement restates, in other words, one that a person has rejected.

Stricter than "same": what is wrongly taken for a rejected claim is lost from memory without a
trace. It must say all that the rejected one said, about the same, with the same numbers, dates and
sense; and what it adds must be words that say little.
"""

import re

from memories.language.english.statements.compare import relation
from memories.language.english.statements.duplicates import (
    KIN_ROOTS,
    Overlap,
    breaks,
    compare,
    exchanged,
    light,
    owner,
    subject_words,
    swapped,
)
from memories.language.english.statements.read_statement import Reading
from memories.language.english.statements.word_lists import PREPOSITIONS
from memories.language.english.statements.wording import root

FLOOR = 0.45  # how far below the model's threshold the cosine of a restatement may lie
# These reverse what is said, or say that it is over or not so yet.
TURNS = frozenset("against without except unless instead away anti former ex ended over".split())
# They name what an attribute is; its value is said by other words.
FRAME = frozenset(
    """
    home profession age aged yearsold member date instrument diet salary income birth collection
    collector owner one moment amount value location address code belong take follow suffer
    directly part participate most more best rather place subject language job
    """.split()
)
# These are light beside other words, but change the meaning in place of one: "was born in Lyon",
# "works in Lyon".
ACTS = frozenset("work go visit study meet".split())
# With one of these a fact is only wished for.
WISHES = frozenset("want plan try hope wish dream".split())
# Words of one meaning where the rest of a statement is the same.
TWINS = (
    "choose chose decide decision settle agree",
    "write implement build program code",
    "visit trip travel go went",
    "job work profession employ",
    "name call",
    "prefer favorite preference choice best better rather",
    "afraid fear frighten scare",
    "birthday born birth",
)
# A word that is added to all that was rejected makes it another claim, where it is one of these.
ENDINGS = frozenset(
    """
    stop quit leave left give gave sell sold lose lost cancel delay finish refuse deny avoid forget
    fail teach learn dream doubt want plan hope wish try consider watch visit former retire
    used almost nearly hardly rarely seldom
    """.split()
)
SURE = 0.02  # how far above the threshold the cosine must lie where a word is added
STATES = frozenset("be have use own get belong".split())
SUFFIXES = frozenset("er r ner or ist list ian ic al ing ment ion ation ship ed d s es y ly li".split())
_wished = re.compile(r"\bwould (like|rather|prefer)\b", re.IGNORECASE)
_future = re.compile(r"\b(will|going to|planning|plans?|intends?)\b", re.IGNORECASE)


def restates(rejected: Reading, new: Reading, cosine: float | None, threshold: float) -> bool:
    """Tell whether `new` repeats the claim of `rejected`; cosine and threshold as in `relation`."""
    if cosine is not None and cosine < threshold - FLOOR:
        return False
    if not _same_sense(rejected, new):
        return False
    overlap = compare(rejected, new)
    is_near = cosine is not None and cosine >= threshold + SURE
    if _covers(rejected, new, overlap, is_near):
        return True
    found = relation(rejected, new, cosine=cosine, threshold=threshold)
    says_less = overlap.missing > overlap.added
    return found.kind == "same" and found.rule != "near" and not says_less


def _same_sense(old: Reading, new: Reading) -> bool:
    # A plan may be told as what will be.
    return (
        old.is_negated == new.is_negated
        and _numbers(old) == _numbers(new)
        and old.dates == new.dates
        and _ends(old) == _ends(new)
        # A wish is no fact; a plan and what will be are one.
        and (_is_plan(old) == _is_plan(new) or root("want") in old.stems & new.stems or _are_future(old, new))
        and not (old.stems ^ new.stems)
        & _wishes - (frozenset({root("plan")}) if _are_future(old, new) else frozenset())
        and not _roles_turned(old, new)
        and not _roles_turned(new, old)
        and exchanged(old, new) is None
    )


def _ends(reading: Reading) -> frozenset[str]:
    said = {word.text for word in reading.words}
    return frozenset(said & TURNS) | (reading.change & {"past", "end"})


def _numbers(reading: Reading) -> frozenset[str]:
    """ "thirty-four" is read as two numbers."""
    found = reading.numbers
    tens = [n for n in found if n.isdigit() and len(n) == 2 and n[1] == "0"]
    ones = [n for n in found if n.isdigit() and len(n) == 1]
    if len(found) == 2 and tens and ones:
        return frozenset({str(int(tens[0]) + int(ones[0]))})
    return found


def _are_future(old: Reading, new: Reading) -> bool:
    return all(_future.search(reading.statement) for reading in (old, new))


def _is_plan(reading: Reading) -> bool:
    return reading.is_plan and not _wished.search(reading.statement)


def _roles_turned(one: Reading, other: Reading) -> bool:
    """Tell whether roles are only put another way: "Ann's tutor is Bo" and "Ann tutors Bo"."""
    owner, _, owned = one.subject.partition("/")
    verb = _verb(other)
    return verb != root("married") and verb in owned.split("-") and other.subject == owner


def _verb(reading: Reading) -> str:
    return reading.words[reading.verb_at].root if reading.verb_at < len(reading.words) else ""


def _covers(old: Reading, new: Reading, overlap: Overlap, is_near: bool) -> bool:
    # The words of one side only, but for those that stand for one another: runs, runner.
    missing, added = set(overlap.only_old), set(overlap.only_new)
    for word in sorted(missing):
        twin = next((other for other in sorted(added) if _twins(word, other)), None)
        if twin:
            missing.discard(word)
            added.discard(twin)
    if added & _acts and (missing or root("go") in added):
        return False
    more = added - _frame - {root("like")} - new.numbers
    # "Ann's rent is 900 euros", "Ann pays 900 euros of rent".
    if more and not (
        (more == {_verb(new)} and _verb(old) == "be" and bool(old.numbers)) or (is_near and _is_detail(new, more))
    ):
        return False
    if not _may_lack(old, new, missing - old.numbers, is_all=bool(more)):
        return False
    about = subject_words(old)
    if not about <= new.stems | _frame or (owner(old) and owner(new) and owner(old) != owner(new)):
        return False
    # Two who are named in both have changed places, and the verb is not turned with them.
    both = (old.names | about) & old.stems & new.stems
    if len(both) > 1 and _first(old, both) != _first(new, both) and swapped(old, new):
        return False
    # Besides whom it is about, something must have been said in both.
    told = overlap.shared - about
    return bool(told - _frame or told & (old.numbers | old.names))


def _may_lack(old: Reading, new: Reading, missing: set[str], *, is_all: bool) -> bool:
    """Tell whether `missing` words say little, or are a verb that a state implies: "plays a cello",
    "has a cello"."""
    if root("prefer") in missing:
        return False
    if is_all:
        return not missing - _states
    heavy = missing - _frame
    return not heavy or (heavy == {_verb(old)} and _verb(new) in _states)


def _is_detail(new: Reading, added: set[str]) -> bool:
    """Tell whether one more word names nobody, turns nothing and makes no compound: "coffee
    cake"."""
    if len(added) > 1 or added & (new.names | new.order_words | KIN_ROOTS | _endings):
        return False
    return not any(breaks(new.words, i, frozenset(added)) for i in range(1, len(new.words)))


def _twins(one: str, other: str) -> bool:
    if any({one, other} <= group for group in _groups):
        return True
    short, long = sorted((one, other), key=len)
    base = short[:-1] if len(short) > 4 else short
    return (
        len(base) >= 3
        and long.startswith(base)
        and long.removeprefix(short if long.startswith(short) else base) in SUFFIXES
    )


def _first(reading: Reading, names: frozenset[str]) -> str:
    """Return the first name that no preposition leads in, as "in Oslo" does."""
    before = ["", *(word.text for word in reading.words)]
    led = zip(before, reading.words, strict=False)
    return next((w.root for led_by, w in led if w.root in names and led_by not in _leading), "")


_leading = frozenset(word for word in PREPOSITIONS if word.isalpha()) - {"and", "or", "but"}


_frame = frozenset(map(root, FRAME)) | light()


_acts = frozenset(map(root, ACTS))


_wishes = frozenset(map(root, WISHES))


_groups: tuple[frozenset[str], ...] = tuple(frozenset(map(root, group.split())) for group in TWINS)


_endings = frozenset(map(root, ENDINGS))


_states = frozenset(map(root, STATES))
