"""Do two statements say the same? Guards first: an embedder sees neither "not" nor order."""

from collections.abc import Sequence
from functools import cache

from memories.english.statements.contradictions import MANY_VALUED, MUTUAL, TWIN_VERBS
from memories.english.statements.overlap import (
    Overlap,
    Relation,
    exchanged,
    light,
    meet,
    same_subject,
    same_verb,
    subject_words,
    weight,
    words_after,
)
from memories.english.statements.read_statement import Reading
from memories.english.statements.word_lists import PREPOSITIONS
from memories.english.statements.wording import Word, root

VERBS_APART = 0.06  # below the threshold; so near are two ways of putting one thing
# The one who feels it follows: "spiders scare Ann", "Ann is scared of spiders".
TURNED_TEXTS = frozenset(
    "scare scares frighten frightens terrify terrifies fascinate fascinates bore bores relax "
    "relaxes calm calms worry worries inspire inspires interest interests annoy annoys".split()
)


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
    found = _said_again(old, new, _with_twins(old, new, overlap))
    # Last, because it takes longest and most pairs share no more than a word.
    return found if found and same_claim(old, new) else None


def _said_again(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Whether the words agree; what they claim may still differ."""
    if (overlap.missing + overlap.added < 0.9 and weight(overlap.shared) >= 1.9) and (
        same_subject(old, new) or not swapped(old, new)
    ):
        return Relation("same", "same-words", is_richer(old, new, overlap))
    if _is_acted(old, new, overlap) or _is_acted(new, old, overlap.turned):
        return Relation("same", "acted", is_richer(old, new, overlap))
    if not same_subject(old, new) or min(overlap.missing, overlap.added) >= 0.5:
        return None
    if old.is_past != new.is_past:
        return None
    richer, extra = (
        (new, overlap.only_new) if overlap.added > overlap.missing else (old, overlap.only_old)
    )
    if _only_adds(richer, extra, overlap) and same_verb(old, new):
        return Relation("same", "contained", richer is new)
    return None


def _with_twins(old: Reading, new: Reading, overlap: Overlap) -> Overlap:
    """Without the two verbs where they say the same: "attends" and "takes a pottery class"."""
    if old.head not in overlap.only_old or new.head not in overlap.only_new:
        return overlap
    if new.head not in _twins_of().get(old.head, ()):
        return overlap
    return Overlap(
        overlap.shared | {old.head},
        overlap.only_old - {old.head},
        overlap.only_new - {new.head},
    )


@cache
def _twins_of() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in TWIN_VERBS:
        verbs = frozenset(map(root, group.split()))
        found |= {verb: verbs | found.get(verb, frozenset()) for verb in verbs}
    return found


_mutual = frozenset(map(root, MUTUAL))


def _is_acted(state: Reading, act: Reading, overlap: Overlap) -> bool:
    """ "Ann's rent is 900 euros" and "Ann pays 900 euros of rent": only the verb is more."""
    return (
        state.head == "be"
        and overlap.only_new == {act.head}
        and overlap.missing < 0.5
        and len(overlap.shared) > 3
        and bool(overlap.shared & (state.numbers | state.names) - subject_words(act))
        and not act.is_past
    )


def near(
    old: Reading, new: Reading, overlap: Overlap, cosine: float | None, threshold: float
) -> Relation | None:
    """Where the embedder takes them for one and no guard objects."""
    if cosine is None or cosine < threshold - VERBS_APART:
        return None
    if old.head != new.head and {old.head, new.head} <= _done_somewhere:
        return None
    # All is alike but for how it is put: "trains for" and "prepares for a race". Where the
    # verb is the same and its object is not, the two are two things, however near the
    # embedder finds them.
    is_other_verb = (
        old.head != new.head
        and old.is_past == new.is_past
        and max(overlap.missing, overlap.added) <= 1.2
        and meet(old, new)
        and bool(overlap.shared - subject_words(old))
        and not overlap.only_old & (old.names - {old.head})
        and not overlap.only_new & (new.names - {new.head})
    )
    if not is_other_verb and (cosine < threshold or not same_subject(old, new)):
        return None
    # Last, because it takes longest.
    if not same_claim(old, new):
        return None
    if is_other_verb:
        return Relation("same", "other-verb", is_richer(old, new, overlap))
    if old.head != new.head and overlap.only_old <= {old.head} and overlap.only_new <= {new.head}:
        return Relation("same", "near", is_richer(old, new, overlap))
    # What else is so near is told twice in other words, or is two things of one kind, and nobody has
    # to decide between them; unless one thing or name stands in the place of another.
    named = old.names - new.stems, new.names - old.stems
    is_exchange = all(named) or len(overlap.only_old) == len(overlap.only_new) == 1
    is_one = old.head == new.head and old.head not in MANY_VALUED_ROOTS
    if old.is_past or new.is_past or not (is_exchange and is_one):
        return None
    return Relation("unsure", "near")


# Who lives in a town does not work there for that.
_done_somewhere = frozenset(map(root, "live work study teach train volunteer shop stay".split()))
MANY_VALUED_ROOTS = frozenset(map(root, MANY_VALUED))


def same_claim(old: Reading, new: Reading) -> bool:
    return (
        old.is_negated == new.is_negated
        and old.is_plan == new.is_plan
        and ("past" in old.change) == ("past" in new.change)
        # Numbers, dates, order and times agree.
        and old.numbers == new.numbers
        and old.dates == new.dates
        and old.order_words == new.order_words
        and (
            not old.relative_dates
            or not new.relative_dates
            or old.relative_dates == new.relative_dates
        )
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
    """Who does it to whom has changed: "Ann lent Bo a pen", "Bo lent Ann a pen".

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
    """ "Ann called her mother", "Ann's mother called": another one does it."""
    person, _, owned = new.subject.partition("/")
    act = {old.head} - {"be", "have"} - light()
    return bool(
        act and owned and old.subject == person and old.head == new.head and owned in old.stems
    )


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
    """What the longer one has more is a phrase of its own or a word before a shared one:
    "a kitten from the animal shelter", not "coffee cake" for "coffee"."""
    own = weight(overlap.shared - subject_words(richer))
    if own < 1 or overlap.shared - subject_words(richer) <= light() or weight(extra) > 2 * own + 1:
        return False
    return not any(breaks(richer.words, i, extra) for i in range(1, len(richer.words)))


def breaks(words: Sequence[Word], i: int, extra: frozenset[str]) -> bool:
    """An added word right after a shared one, with nothing of the shared to follow."""
    if words[i].root not in extra or words[i - 1].root in extra or words[i - 1].is_function:
        return False
    j = i
    while j < len(words) and words[j].root in extra:
        j += 1
    if {word.root for word in words[i:j]} <= light():
        return False
    return j >= len(words) or words[j].text in PREPOSITIONS
