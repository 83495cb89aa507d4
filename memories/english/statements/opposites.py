"""Two statements that say of one thing what cannot both be so: "sleeps well" and "sleeps badly".

They are alike but for one word each, and the two exclude one another. Words that tell two things of
a kind apart ("the early shift", "the left knee") are no opposites: they stand before what they
tell apart.
"""

from collections import Counter
from collections.abc import Sequence

from memories.english.statements.duplicates import LONGEST, Relation
from memories.english.statements.read_statement import Reading
from memories.english.statements.word_lists import BE
from memories.english.statements.wording import root

OPPOSITE = "opposite"
# What something is, or how it is done.
QUALITIES = (
    "well|badly terribly poorly horribly", "good great|bad poor terrible awful", "early|late",
    "hot warm|cold", "older elder|younger", "oldest eldest|youngest", "taller|shorter", "close near|far",
    "long|short", "introvert|extrovert extravert", "lefthanded|righthanded", "big large|small tiny",
    "loud|quiet", "high|low", "fast quick|slow", "easy|hard difficult", "strong|weak", "cheap|expensive",
    "optimist|pessimist", "heavy|light", "rich|poor", "with|without", "on|off", "indoors|outdoors", "tidy|messy",
    "patient|impatient", "happy content|unhappy miserable", "before|after", "soft|hard firm", "sweet|savoury savory",
    "calm|anxious nervous", "full|empty", "wide|narrow", "thick|thin", "alone|together", "deep|shallow",
)  # fmt: skip
# How often, wherever that stands.
OFTEN = (
    "always often usually frequently mostly regularly|rarely seldom hardly scarcely barely never",
)
# What somebody does, as the verb.
ACTS = ("quit stop|start begin take", "pass|fail", "accept|reject decline refuse", "gain|lose")
# They come and go beside the two words, and say nothing by themselves.
BESIDE = frozenset("ever really very so to from at all up most of time pretty rather".split())


def opposed(old: Reading, new: Reading) -> Relation | None:
    """A person is asked which of the two holds."""
    was, now = old.order, new.order
    if _telling.isdisjoint(was) or _telling.isdisjoint(now):
        return None
    if abs(len(was) - len(now)) > MOST_BESIDE or len(was) > LONGEST:
        return None
    one, other = _only(was, now), _only(now, was)
    kind = _excluding.get((one[0], other[0]), "") if len(one) == len(other) == 1 else ""
    if not kind or old.is_plan != new.is_plan:
        return None
    if old.dates != new.dates or old.numbers != new.numbers:
        return None
    # "quit smoking" is told as a denial, and "started smoking" as past.
    if kind != "acts" and (old.is_past != new.is_past or old.parse.denials != new.parse.denials):
        return None
    # How often it is so may be read as part of whom it is about.
    subjects = [
        [part for part in reading.subject.split("-") if part not in {one[0], other[0], *_beside}]
        for reading in (old, new)
    ]
    is_told = _stands(kind, old, one[0]) and _stands(kind, new, other[0])
    return Relation("unsure", OPPOSITE) if is_told and subjects[0] == subjects[1] else None


def _only(words: Sequence[str], others: Sequence[str]) -> list[str]:
    return [word for word in (Counter(words) - Counter(others)).elements() if word not in _beside]


def _stands(kind: str, reading: Reading, word: str) -> bool:
    """Whether the word tells what is so, not which of two things is meant."""
    place = reading.order.index(word)
    if kind == "often":
        return True
    if kind == "acts":
        return place <= MOST_BEFORE_VERB
    after = reading.order[place + 1] if place + 1 < len(reading.order) else ""
    is_last = not after or after in _small
    # "is an early riser", "is on the small side"
    is_what_it_is = "be" in reading.order[1:place] and reading.head == "be"
    return place > 1 and (is_last or is_what_it_is)


# Of these the other side is looked for by its word: the two share no other.
_elsewhere = {
    "introvert": ("extrovert",), "extrovert": ("introvert",), "oldest": ("youngest", "eldest"),
    "youngest": ("oldest", "eldest"), "optimist": ("pessimist",), "pessimist": ("optimist",),
    "riser": ("riser", "bird", "owl", "person"),
}  # fmt: skip


def words_opposed(reading: Reading) -> tuple[str, ...]:
    """Words by which what says the opposite can be looked up, where nothing else leads to it."""
    return tuple(other for word in reading.words for other in _elsewhere.get(word.text, ()))


MOST_BEFORE_VERB = 4  # words: "user 's brother just quit"
MOST_BESIDE = 3  # words that one of the two says more, none of which says anything


_excluding = {
    pair: kind
    for kind, rows in (("qualities", QUALITIES), ("acts", ACTS), ("often", OFTEN))
    for left, right in (row.split("|") for row in rows)
    for one in map(root, left.split())
    for other in map(root, right.split())
    for pair in ((one, other), (other, one))
}
_telling = frozenset(word for pair in _excluding for word in pair)
_beside = frozenset(map(root, BESIDE))
_small = frozenset(
    map(root, "to from at in on of for with than about and my their his her the".split())
) | set(map(root, BE))
