"""Comparison of statements: whether a new one says the same as an old one, replaces it, or neither.

A quick check comes before they are parsed: can they be about the same thing at all? Among a
thousand statements most neighbours are only near: ten thousand texts would be parsed for nothing.
The words alone take a quarter of that time. What the check tells apart, `relation` calls different
too.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memories.language.bounds import WHOLE
from memories.language.english.plain_words import ENDED, SLOT
from memories.language.english.statements.asides import aside
from memories.language.english.statements.attributes import NO_WORDS, OwnWords, Slot
from memories.language.english.statements.auxiliaries import GETS, NO, QUIT, RENAMED, negatives
from memories.language.english.statements.duplicates import (
    DIFFERENT,
    SHARED_START,
    Overlap,
    Relation,
    compare,
    duplicate,
    identical,
    is_by_name,
    is_family,
    is_richer,
    light,
    near,
    turned_round,
    weight,
)
from memories.language.english.statements.read_statement import ME, MY, Reading, change_roots, read
from memories.language.english.statements.replacement import contrasted, denied, ended, ending_verbs, new_value, over
from memories.language.english.statements.word_lists import ADVERBS, ARTICLES, MODAL, NOW, PAST_TIMES
from memories.language.english.statements.wording import Word, root, texts

APART = 0.2  # below the threshold, a text within another is about something else
LONG = 24  # content words; a text of so many says more than the one thing that has changed


# For these, one more word in the name makes it another; for a person it is the surname.
PLACES = frozenset("residence place school employer".split())
START = SHARED_START - 1  # letters that all forms of a word have in common
UNSHARED = 2  # words of one side only: one of them may be the verb, which has its twins
TURNS = frozenset("better best most more".split())
TILL = frozenset("to until till".split())
# Parsing may take these out of a statement, or put another word in their place.
PASSING = (
    *ADVERBS,
    *ARTICLES,
    *MODAL,
    *NOW,
    *PAST_TIMES,
    *NO,
    *QUIT,
    *GETS,
    *ME,
    *MY,
    *TURNS,
    *TILL,
    "always",
    "nolonger",
    "once",
    "will",
)


def relation(
    old: Reading,
    new: Reading,
    *,
    cosine: float | None,
    threshold: float,
    words: OwnWords = NO_WORDS,
) -> Relation:
    """Decide how `new` relates to `old`, which was said before it.

    `cosine`: similarity of their embeddings, None without any; `threshold`: the similarity from
    which the embedding model takes two texts for one; `words`: those of the workspace's own.
    """
    found = _relation(old, new, cosine, threshold, words)
    if found.kind == "update" and _is_beside(old, new, found.rule, threshold, words):
        return Relation("unsure", found.rule)  # what it rests on has ended
    # What may have ended is for a person to say.
    if found.kind == "update" and (_hedged.search(new.statement) or (is_by_name(old, new) and not is_family(old, new))):
        return Relation("unsure", found.rule)
    return found


_hedged = re.compile(
    r"\b(?:probably|possibly|maybe|perhaps|apparently|supposedly|presumably|likely"
    r"|(?:think|guess|believe|suppose|fear|seem|look|sound)s? (?:that|they|he|she|it|like|as)"
    r"|not (?:\w+ )?(?:sure|certain|settled|confirmed|signed|decided|final) yet)\b",
    re.IGNORECASE,
)


def _is_beside(old: Reading, new: Reading, rule: str, threshold: float, words: OwnWords) -> bool:
    """Tell whether `new` ends by this rule only what the old one mentions beside its main point:
    "wears a helmet when they ride their Vespa" when the Vespa is sold."""
    match = aside(old.statement)
    # A new value replaces what holds in a place, too.
    if match is None or match["where"] and rule.partition(":")[0] not in _ending:
        return False
    main = read(old.statement[: match.start()], words)
    return _relation(main, new, None, threshold, words).kind != "update"


_ending = frozenset(rule.partition(":")[0] for rule in ("denied", "over", ENDED))


def _relation(old: Reading, new: Reading, cosine: float | None, threshold: float, words: OwnWords) -> Relation:
    overlap = compare(old, new)
    found = (
        identical(old, new)
        or by_slot(old, new, overlap, words.off)
        or denied(old, new, overlap)
        or over(old, new, overlap)
        or ended(old, new, words)
        or contrasted(old, new)
        or new_value(old, new, overlap)
        or turned_round(old, new, overlap)
        or duplicate(old, new, overlap)
        or near(old, new, overlap, cosine, threshold)
        or DIFFERENT
    )
    if found.rule == "contained" and cosine is not None and cosine < threshold - APART:
        return DIFFERENT
    if found.kind == "update" and len(old.stems) > LONG:
        return Relation("unsure", found.rule)
    return found


def by_slot(old: Reading, new: Reading, overlap: Overlap, off: frozenset[str] = frozenset()) -> Relation | None:
    pairs = [
        (was, slot)
        for slot in new.slots
        for was in old.slots
        if (was.name, was.key) == (slot.name, slot.key)
        and f"{SLOT}{slot.name}" not in off
        and _is_of_one(was, slot, old, new)
        and (not _differs(was.value, slot.value) or _is_of_one_kind(slot.name, old, new))
    ]
    others = (
        slot
        for was, slot in pairs
        if _differs(was.value, slot.value)
        or (slot.name in PLACES and (_is_longer_name(was, new) or _is_longer_name(slot, old)))
    )
    changed = next(others, None)
    if changed:
        return Relation("update", f"{SLOT}{changed.name}")
    if pairs and old.is_negated == new.is_negated and _same_but_for_slot(old, new, overlap, pairs):
        return Relation("same", f"{SLOT}{pairs[0][1].name}", is_richer(old, new, overlap))
    return None


def are_rivals(one: Reading, other: Reading, off: frozenset[str] = frozenset()) -> bool:
    """Tell whether both give one attribute different values, each for its time, past or present."""
    return any(
        (was.name, was.key) == (slot.name, slot.key)
        and f"{SLOT}{slot.name}" not in off
        and _is_of_one(was, slot, one, other)
        and _differs(was.value, slot.value)
        for was in (*one.slots, *one.past_slots)
        for slot in (*other.slots, *other.past_slots)
    )


def _is_of_one(was: Slot, slot: Slot, old: Reading, new: Reading) -> bool:
    """Tell whether both have one subject: "the build on main is green", "the build is red on
    main"."""
    if was.subject == slot.subject or is_by_name(old, new):
        return True
    if slot.name not in ("status", "deadline"):
        return False
    one, other = set(was.subject.split("-")), set(slot.subject.split("-"))
    return one <= new.stems and other <= old.stems


# "is red", "is a Volvo", "is from Crete": what a thing or somebody is, comes in kinds, and one kind
# takes no other's place.
_what_it_is = re.compile(r"(?P<what>.*?['’]s [\w -]+?) (?:is|are) (?:(?:now|currently|still|also) )?(?P<value>\S+)")
_kinds_of_value = (
    ("some", re.compile(r"(?:an?|one|another)$")),
    ("beside", re.compile(r"(?:from|in|at|on|with|near|by|of|into|to|out|off|under|over|for)$")),
    ("name", re.compile(r"[A-Z\d]|the$")),
)
_of_any_kind = frozenset("status deadline age relationship color count place residence".split())
# What is used, or done, where and for what: "at home", "for the bakery".
_where_used = re.compile(r"\b(?:at|for) (?:the |my |his |her |their )?([\w-]+)[.!]?$")


def _is_of_one_kind(name: str, old: Reading, new: Reading) -> bool:
    if name == "reading":  # what somebody reads all the time may be many
        return old.is_ongoing and new.is_ongoing
    if name == "tool":
        places = [_where_used.search(one.statement) for one in (old, new)]
        return not all(places) or len({place[1].lower() for place in places if place}) == 1
    texts = [{word.text for word in each.words[: each.verb_at]} for each in (old, new)]
    if "old" in texts[0] and "new" in texts[1]:
        return False  # "the old laptop is slow", "the new one is fast"
    if name in _of_any_kind:
        return True
    one, other = (_what_it_is.match(each.statement) for each in (old, new))
    if not one or not other or one["what"] != other["what"]:
        return True
    kinds = [next((kind for kind, form in _kinds_of_value if form.match(found["value"])), "") for found in (one, other)]
    return kinds[0] == kinds[1]


def _is_longer_name(slot: Slot, reading: Reading) -> bool:
    """Tell whether a name goes on: "Porto Alegre" is not Porto; "Porto, Portugal" is."""
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


def _same_but_for_slot(old: Reading, new: Reading, overlap: Overlap, pairs: Sequence[tuple[Slot, Slot]]) -> bool:
    """Tell whether the attribute is all that the shorter statement says."""
    if old.numbers != new.numbers or old.dates != new.dates:
        return False
    if pairs[0][1].name in ("status", "relationship", "color", "diet", "count"):
        return False
    # Words that tell the attribute itself, in one way or the other.
    found: set[str] = set()
    for pair in pairs:
        for slot in pair:
            found |= {slot.name, root(slot.name), *slot.value.split(), *slot.subject.split("-")}
    said = frozenset(found) | _attribute_words
    missing = weight(frozenset(w for w in overlap.only_old if w not in said))
    added = weight(frozenset(w for w in overlap.only_new if w not in said))
    return min(missing, added) < 1 and max(missing, added) <= 4


_attribute_words = frozenset(
    map(
        root,
        (
            "live drive work employ call name report boss manager own lead host handle born car "
            "commute plan schedule date use"
        ).split(),
    )
)


def _starts(roots: Iterable[str]) -> frozenset[str]:
    return frozenset([each[:START] for each in roots])


@dataclass(frozen=True, slots=True)
class Prefilter:
    """The first letters of a statement's content words: those it surely has and that carry weight,
    without numbers; and all that it may have."""

    sure: frozenset[str]
    possible: frozenset[str]


def prefilter(statement: str) -> Prefilter:
    return _prefilter(statement[:WHOLE])


@lru_cache(maxsize=8192)
def _prefilter(statement: str) -> Prefilter:
    said = texts(statement)
    seen = [_seen(text) for text in said]
    possible = _put_in.union([start for _, start in seen])
    if not negatives().keys().isdisjoint(said):
        possible |= _starts(root(negatives().get(text, text)) for text in said)
    # "rose from 3 to 5": what stands between is left out.
    if not TILL.isdisjoint(said) and not change_roots().isdisjoint(map(root, said)):
        return Prefilter(frozenset(), possible)
    return Prefilter(frozenset([start for start, _ in seen if start]), possible)


def prefilter_of(reading: Reading) -> Prefilter:
    """Return the prefilter of a parsed statement, of which nothing is uncertain."""
    weigh = reading.stems - light() - reading.numbers
    return Prefilter(_starts(weigh), _starts(reading.stems))


def are_strangers(one: Prefilter, other: Prefilter) -> bool:
    """Tell whether each says at least two things of which the other has no form of a word. If the
    newer is `still`, and an embedder does not take them for one, they are different."""
    return len(one.sure - other.possible) >= UNSHARED and len(other.sure - one.possible) >= UNSHARED


def is_still(reading: Reading, own: OwnWords = NO_WORDS) -> bool:
    """Tell whether a statement tells of no change, denies and ends nothing, and gives no attribute
    a value."""
    if reading.is_negated or reading.change or reading.ousted or reading.slots:
        return False
    return ending_verbs(own.changes).isdisjoint(reading.clause_verbs)


@lru_cache(maxsize=50_000)
def _seen(text: str) -> tuple[str, str]:
    """Return the beginning of the word's root twice; the first is "" if the word may be left out or
    says little."""
    word = Word(text, root(text))
    says_little = word.is_function or word.is_number or word.root in light() | _turned
    start = word.root[:START]
    return "" if says_little or text in _passing else start, start


_passing = frozenset(PASSING) | negatives().keys()


# "likes A better" is read as "prefers A".
_turned = frozenset({RENAMED, root("love")})


# Words that a statement may have without saying them.
_put_in = _starts(map(root, (*ME.values(), *MY.values(), "prefer")))
