"""Statements of an uncertain end: "might be leaving the choir", "is probably moving away", "thinks
they have sold the boat"; and two statements that cannot both be true: "sleeps well" and "sleeps
badly". Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from memories.language.bounds import STATEMENT
from memories.language.english.statements.duplicates import LONGEST, Relation
from memories.language.english.statements.read_statement import Reading
from memories.language.english.statements.word_lists import BE, VERBS
from memories.language.english.statements.wording import root
from memories.language.english.verbs import PAST_OF, past

_unsure = r"(?:probably|likely|possibly|maybe|perhaps|apparently|supposedly|most likely|quite possibly|presumably|(?:very|more than) likely)"
_lead = re.compile(
    rf"^(?:{_unsure}|(?:it )?(?:looks|seems|sounds|feels) (?:like|as if|as though|that)|(?:I|User) (?:think|thinks|guess|guesses|suppose|supposes|believe|believes|fear|fears|am afraid|is afraid)(?: that)?"
    r"|there is a (?:good |fair |real )?chance(?: that)?|chances are(?: that)?),? (?=\S)",
    re.IGNORECASE,
)
_open = r"(?:sure|certain|settled|final|finali[sz]ed|confirmed|official|signed|decided|definite|fixed)"
# "the build is not fixed" denies; "..., not fixed yet" doubts what stands before it.
_tail = re.compile(
    r"(?:[,;](?: (?:but|and|though|although))?| (?:but|though|although)) (?:(?:(?:I am|I'm|User is|it is|it's|they are|that is|that's|this is) )?not|nothing(?: is)?)(?: yet| quite| entirely| \w+ly)?"
    rf" {_open}(?: (?:yet|about it|though|of it))?$",
    re.IGNORECASE,
)
_thinks = re.compile(
    r"^(?P<who>[^,;]{1,60}?) (?:thinks?|guess(?:es)?|supposes?|believes?|fears?)(?: that)? (?:they|he|she|we|I)(?: have|['’]ve| has| had|['’]d)? (?P<said>\S.*)$"
)
_may_do = re.compile(
    # What the assistant "may use again" is allowed to it, not doubted.
    rf"^(?P<who>(?![^,;]{{0,60}}\bassistant\b)[^,;]{{1,60}}?) (?:(?:might|may|could)(?: (?:soon|well|even|already))?|will {_unsure}|{_unsure} will|(?:is|are|am) (?:likely|about|bound) to) (?P<have>have )?(?P<be>be )?(?P<verb>[a-z]+)(?P<rest>\b.*)$"
)
_is_doing = re.compile(
    rf"^(?P<who>[^,;]{{1,60}}?) (?:is|are|am) {_unsure} (?:going to be )?(?P<verb>[a-z]+ing)(?P<rest>\b.*)$"
)
_has_done = re.compile(
    rf"^(?P<who>[^,;]{{1,60}}?) (?:(?:has|have) )?{_unsure} (?:(?:has|have) )?(?P<said>(?!(?:will|is|are|am)\b)\S.*)$"
)


OPPOSITE = "opposite"
# What something is, or how it is done.
QUALITIES = (
    "well|badly terribly poorly horribly",
    "good great|bad poor terrible awful",
    "early|late",
    "hot warm|cold",
    "older elder|younger",
    "oldest eldest|youngest",
    "taller|shorter",
    "close near|far",
    "long|short",
    "introvert|extrovert extravert",
    "lefthanded|righthanded",
    "big large|small tiny",
    "loud|quiet",
    "high|low",
    "fast quick|slow",
    "easy|hard difficult",
    "strong|weak",
    "cheap|expensive",
    "optimist|pessimist",
    "heavy|light",
    "rich|poor",
    "with|without",
    "on|off",
    "indoors|outdoors",
    "tidy|messy",
    "patient|impatient",
    "happy content|unhappy miserable",
    "before|after",
    "soft|hard firm",
    "sweet|savoury savory",
    "calm|anxious nervous",
    "full|empty",
    "wide|narrow",
    "thick|thin",
    "alone|together",
    "deep|shallow",
)
# How often, wherever that stands.
OFTEN = ("always often usually frequently mostly regularly|rarely seldom hardly scarcely barely never",)
# What somebody does, as the verb.
ACTS = ("quit stop|start begin take", "pass|fail", "accept|reject decline refuse", "gain|lose")
# They come and go beside the two words, and say nothing by themselves.
BESIDE = frozenset("ever really very so to from at all up most of time pretty rather".split())
MOST_BEFORE_VERB = 4  # words: "user 's brother just quit"
MOST_BESIDE = 3  # words that one of the two says more, none of which says anything


@lru_cache(maxsize=4096)
def if_so(statement: str) -> str:
    """Return a hedged statement as a plain one: "left the choir". "" if it is not hedged."""
    text = statement.rstrip(" .!")
    if len(text) > STATEMENT:
        return ""
    bare = _tail.sub("", text)
    found = _thinks.match(bare)
    bare = f"{found['who']} {found['said']}" if found else _lead.sub("", bare)
    if found := _may_do.match(bare):
        return f"{found['who']} {_done(found)}{found['rest']}"
    if found := _is_doing.match(bare):
        return f"{found['who']} {past(_base(found['verb']))}{found['rest']}"
    if found := _has_done.match(bare):
        return f"{found['who']} {found['said']}"
    return bare if bare != text else ""


def _done(found: re.Match[str]) -> str:
    verb = found["verb"]
    if found["have"]:
        return verb
    if not found["be"]:
        return past(verb)
    return past(_base(verb)) if verb.endswith("ing") else f"was {verb}"


def _base(doing: str) -> str:
    """Return "leave" for "leaving", "sell" for "selling", "quit" for "quitting"."""
    stem = doing.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1])
    return next((form for form in forms if form in PAST_OF or form in VERBS), stem)


# Two statements about one thing that cannot both be true: "sleeps well" and "sleeps badly".
#
# They are alike but for one word each, and the two exclude one another. Words that tell two things
# of a kind apart ("the early shift", "the left knee") are no opposites: they stand before what they
# tell apart.


def opposed(old: Reading, new: Reading) -> Relation | None:
    """Return "unsure" for opposites: a person is asked which of the two holds."""
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
    """Tell whether the word states something, and does not say which of two things is meant."""
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


# For these the opposite is looked up by its word: the two statements share no other.
_elsewhere = {
    "introvert": ("extrovert",),
    "extrovert": ("introvert",),
    "oldest": ("youngest", "eldest"),
    "youngest": ("oldest", "eldest"),
    "optimist": ("pessimist",),
    "pessimist": ("optimist",),
    "riser": ("riser", "bird", "owl", "person"),
}


def words_opposed(reading: Reading) -> tuple[str, ...]:
    """Return words by which opposites can be looked up, if nothing else leads to them."""
    return tuple(other for word in reading.words for other in _elsewhere.get(word.text, ()))


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
_small = frozenset(map(root, "to from at in on of for with than about and my their his her the".split())) | set(
    map(root, BE)
)
