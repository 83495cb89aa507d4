"""Do two statements say the same, and how many of their words do they share? Guards first: an embedder
sees neither "not" nor order."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memories.language.english.statements.auxiliaries import RENAMED
from memories.language.english.statements.read_statement import Reading
from memories.language.english.statements.word_lists import KIN, LIGHT, MANY_VALUED, MUTUAL, PREPOSITIONS
from memories.language.english.statements.wording import Word, root

# How many of their words two statements share, and who and what stand on which side of them: the
# same words in another order need not say the same.

Kind = Literal["same", "update", "different", "unsure"]


KIN_ROOTS = frozenset(map(root, KIN))
JOINTS = frozenset("and or but , ;".split())  # what they join may stand in any order
PERSONS = frozenset("i we he she they it user team".split())
EVEN = frozenset("with to of".split())  # "Ann is friends with Bo", "Bo is friends with Ann"
# One of these in only one of two statements turns its sentence round: a passive, an owner.
TURNERS = frozenset("be 's by of".split())
EXCLUSIVE = frozenset("than but".split())  # both ways round cannot be true
LONGEST = 60  # words; a longer text is no claim of one order
# The one who feels it follows: "spiders scare Ann", "Ann is scared of spiders".
TURNED_TEXTS = frozenset(
    "scare scares frighten frightens terrify terrifies fascinate fascinates bore bores relax "
    "relaxes calm calms worry worries inspire inspires interest interests annoy annoys".split()
)
MANY_VALUED_ROOTS = frozenset(map(root, MANY_VALUED))


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of two statements. `rule` tells why; `richer`: both say the same and the new one
    says more."""

    kind: Kind
    rule: str
    richer: bool = False


DIFFERENT = Relation("different", "other")


MANY_WORDS = 40  # of texts that differ in more, no two forms of a word make one claim
SHARED_START = 5  # letters that two forms of a word have in common: guitar, guitarist
COPULAS = ("be", RENAMED)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Content words of both statements, and those of only one that are no form of a shared word."""

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


def weight(words: frozenset[str]) -> float:
    """Return the weight of the words; a light word counts a fifth."""
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
    """Tell whether both are about the same, or about things of one person; a sister is not a
    thing."""
    if same_subject(old, new) or is_by_name(old, new):
        return True
    owner = old.subject.partition("/")[0]
    if not owner or owner != new.subject.partition("/")[0]:
        return False
    kin = (subject_words(old) ^ subject_words(new)) & KIN_ROOTS
    return kin <= old.stems & new.stems


def is_by_name(old: Reading, new: Reading) -> bool:
    """Tell whether one names the other's subject: "Ann's son Ben" is "Ben"."""
    for one, other in ((old, new), (new, old)):
        named = one.subject.partition("/")[2].split("-")
        if len(named) > 1 and other.subject in named and other.subject in one.names:
            return True
    return False


def is_family(old: Reading, new: Reading) -> bool:
    """Tell whether either is about kin or a pet, so that there is only one with that name."""
    return bool(_family & (subject_words(old) | subject_words(new)))


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
    return old.head == new.head or all(head in weak or head in old.stems & new.stems for head in (old.head, new.head))


def words_after(reading: Reading, *texts: str) -> set[str]:
    words = reading.words
    return {words[i + 1].root for i in range(len(words) - 1) if words[i].text in texts}


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
    """Return the words between two parts that have changed places: two of a list, two phrases in a
    row, both sides of "is" or of "is friends with". None if no parts have, or if that means
    nothing."""
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
    """Return the m of "a m b" and "b m a", without what is alike before and after; [] for any
    others."""
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


def identical(old: Reading, new: Reading) -> Relation | None:
    if old.is_negated != new.is_negated or old.is_past != new.is_past:
        return None
    if ("past" in old.change) != ("past" in new.change) or old.replaced != new.replaced:
        return None
    if len(old.words) != len(new.words):
        return None
    if any(was.root != now.root for was, now in zip(old.words, new.words, strict=True)):
        return None
    return Relation("same", "normal-form")


def duplicate(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    found = _said_again(old, new, overlap)
    # Last, because it takes longest and most pairs share no more than a word.
    return found if found and same_claim(old, new) else None


def _said_again(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Return "same" if the words agree; what they claim may still differ."""
    if (overlap.missing + overlap.added < 0.9 and weight(overlap.shared) >= 1.9) and (
        same_subject(old, new) or not swapped(old, new)
    ):
        return Relation("same", "same-words", is_richer(old, new, overlap))
    if not same_subject(old, new) or min(overlap.missing, overlap.added) >= 0.5:
        return None
    if old.is_past != new.is_past:
        return None
    richer, extra = (new, overlap.only_new) if overlap.added > overlap.missing else (old, overlap.only_old)
    if _only_adds(richer, extra, overlap) and same_verb(old, new):
        return Relation("same", "contained", richer is new)
    return None


_mutual = frozenset(map(root, MUTUAL))


def near(old: Reading, new: Reading, overlap: Overlap, cosine: float | None, threshold: float) -> Relation | None:
    """Return the relation if the embedder takes them for one and no guard objects."""
    if cosine is None or cosine < threshold or not same_subject(old, new):
        return None
    if old.head != new.head and {old.head, new.head} <= _done_somewhere:
        return None
    # Last, because it takes longest.
    if not same_claim(old, new):
        return None
    if old.head != new.head and overlap.only_old <= {old.head} and overlap.only_new <= {new.head}:
        return Relation("same", "near", is_richer(old, new, overlap))
    # Other statements so near are one told twice in other words, or two things of one kind, and
    # nobody has to decide between them; unless one thing or name takes the place of another.
    named = old.names - new.stems, new.names - old.stems
    is_exchange = all(named) or len(overlap.only_old) == len(overlap.only_new) == 1
    is_one = old.head == new.head and old.head not in MANY_VALUED_ROOTS
    if old.is_past or new.is_past or not (is_exchange and is_one):
        return None
    return Relation("unsure", "near")


# Who lives in a town does not work there for that.
_done_somewhere = frozenset(map(root, "live work study teach train volunteer shop stay".split()))


def same_claim(old: Reading, new: Reading) -> bool:
    return (
        old.is_negated == new.is_negated
        and old.is_plan == new.is_plan
        and ("past" in old.change) == ("past" in new.change)
        # Numbers, dates, order and times agree.
        and old.numbers == new.numbers
        and old.dates == new.dates
        and old.order_words == new.order_words
        and (not old.relative_dates or not new.relative_dates or old.relative_dates == new.relative_dates)
        # From Lyon to Paris and from Paris to Lyon.
        and not words_after(old, "from") & words_after(new, "to", "for")
        and not words_after(old, "to", "for") & words_after(new, "from")
        and exchanged(old, new) is None
        # What one of them says is so, the other says is not.
        and not old.contrasted & (new.stems - new.contrasted)
        and not new.contrasted & (old.stems - old.contrasted)
    )


def is_richer(old: Reading, new: Reading, overlap: Overlap) -> bool:
    return overlap.added > overlap.missing


def swapped(old: Reading, new: Reading) -> bool:
    """Tell whether the two sides have changed places: "Ann lent Bo a pen", "Bo lent Ann a pen".

    A passive, a possessive or a verb told from the other side turns the words round as well.
    """
    was, now = {w.root for w in old.words}, {w.root for w in new.words}
    if {w.text for w in old.words} & TURNED_TEXTS ^ {w.text for w in new.words} & TURNED_TEXTS:
        return False
    if _mutual & was & now and "and" in was ^ now:
        return False
    if _is_of_owner(old, new) or _is_of_owner(new, old):
        return True
    if "be" in was | now or "'s" in was ^ now:
        owners = owner(old), owner(new)
        return bool(owners[0] and owners[1] and owners[0] != owners[1])
    return not (was ^ now) & _turns()


def _is_of_owner(old: Reading, new: Reading) -> bool:
    """Tell whether another person acts: "Ann called her mother", "Ann's mother called"."""
    person, _, owned = new.subject.partition("/")
    act = {old.head} - {"be", "have"} - light()
    return bool(act and owned and old.subject == person and old.head == new.head and owned in old.stems)


def owner(reading: Reading) -> str:
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
    """Tell whether the longer one only adds a phrase of its own or a word before a shared one: "a
    kitten from the animal shelter", not "coffee cake" for "coffee"."""
    own = weight(overlap.shared - subject_words(richer))
    if own < 1 or overlap.shared - subject_words(richer) <= light() or weight(extra) > 2 * own + 1:
        return False
    return not any(breaks(richer.words, i, extra) for i in range(1, len(richer.words)))


def breaks(words: Sequence[Word], i: int, extra: frozenset[str]) -> bool:
    """Tell whether added words stand right after a shared one, with nothing shared to follow."""
    if words[i].root not in extra or words[i - 1].root in extra or words[i - 1].is_function:
        return False
    j = i
    while j < len(words) and words[j].root in extra:
        j += 1
    if {word.root for word in words[i:j]} <= light():
        return False
    return j >= len(words) or words[j].text in PREPOSITIONS
