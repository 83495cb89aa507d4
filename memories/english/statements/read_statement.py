"""What a statement says, taken apart so that two of them can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from memories.bounds import STATEMENT
from memories.english.statements.attribute_forms import NO_WORDS, OwnSlot, OwnWords, Slot, own_slots
from memories.english.statements.auxiliaries import (
    RENAMED,
    Parse,
    is_date,
    is_time,
    is_when,
    key,
)
from memories.english.statements.contradictions import OLD_AFTER, ORDER
from memories.english.statements.find_attributes import slots_of
from memories.english.statements.instruction_kinds import instruction_kinds
from memories.english.statements.parse import parse, second_clause
from memories.english.statements.word_lists import ARTICLES
from memories.english.statements.wording import RELATIVE_DATES, Word, root, words

_old_after = frozenset((*OLD_AFTER, "replace"))
# "left" is a side here; as a verb it has its place among the endings
_order = frozenset(root(word) for word in ORDER if word != "left") | {"left"}


@dataclass(frozen=True)
class Reading:
    """A statement in its normal form; words are compared by their roots.

    `subject`: "alice", "alice/sister", "team", "api". `slots`: attributes with one value at a
    time. `replaced`: what "from A to B" names as the old value. `dates` hold days, months, weekdays and times of day. `change`: signs that something is
    new or over ("now", "to", "end", "past"...). `head`: the verb, "be" for a copula. `stems`: the
    content words, numbers and dates too, without the subject's name.
    """

    statement: str
    subject: str
    numbers: frozenset[str]
    dates: frozenset[str]
    relative_dates: frozenset[str]
    order_words: frozenset[str]
    is_negated: bool
    negated: frozenset[str]
    change: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]
    replaced: frozenset[str]
    head: str
    verb_at: int
    is_past: bool
    is_definite: bool
    is_plan: bool
    is_ongoing: bool
    words: tuple[Word, ...]
    parse: Parse = field(repr=False, compare=False)
    own: Sequence[OwnSlot] = field(default=(), repr=False, compare=False)

    @cached_property
    def about(self) -> frozenset[str]:
        """The words of its subject."""
        return frozenset(self.subject.replace("/", "-").split("-"))

    @property
    def person(self) -> str:
        """Whom it may be about, or whose it is: "alice" of "alice/sister"; "" of a thing's, a team's."""
        owner = self.subject.partition("/")[0]
        return "" if self.is_definite or owner == "team" else owner

    @cached_property
    def clause_verbs(self) -> dict[str, int]:
        """The verb of the statement and of what "and" joins to it, with their places."""
        joined = [i for i, word in enumerate(self.words, 1) if word.text in ("and", ",")]
        places = {i for i in joined if self.verb_at < i < len(self.words)}
        if self.verb_at < len(self.words):
            places.add(self.verb_at)
        return {self.words[i].root: i for i in sorted(places, reverse=True)}

    @cached_property
    def ousted(self) -> frozenset[str]:
        """What it names as the old value: A of "from A to B", of "B instead of A"."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return self.replaced | {after.root for word, after in pairs if word.text in _old_after}

    @cached_property
    def contrasted(self) -> frozenset[str]:
        """What it says is not so, beside what is: A of "B, not A" and of "B instead of A"."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return frozenset(after.root for word, after in pairs if word.text == "insteadof")

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All its words by their roots as they stand there, without the articles."""
        said = words(self.statement)
        return tuple(word.root for word in said if word.text not in ARTICLES)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        # Most of what a statement is compared with is never asked for them.
        found: tuple[Slot, ...] = ()
        if len(self.parse.words) > 1:
            # Those of the clause that "and" adds, too.
            later = second_clause(self.parse)
            found = slots_of(self.parse) + (slots_of(later) if later else ())
        wishes = [
            Slot(of.who, "wish", of.key, of.value) for of in instruction_kinds(self.statement)
        ]
        return (*found, *wishes, *own_slots(self.own, self.statement, self.parse))

    @cached_property
    def past_slots(self) -> tuple[Slot, ...]:
        """Those that it tells of the past, as they were then: the home of "lived in Oslo"."""
        if self.is_plan or not (self.is_past or "past" in self.change):
            return ()
        then = replace(self.parse, is_past=False, change=self.parse.change - {"past"})
        times = {word.root for word in self.words if is_when(word)}
        return tuple(
            # The rent of 2025 is the rent: when it was so is no part of what it was.
            replace(slot, key=" ".join(part for part in slot.key.split() if part not in times))
            for slot in slots_of(then)
            if slot not in self.slots and not set(slot.value.split()) <= times
        )


def read(statement: str, own: OwnWords = NO_WORDS) -> Reading:
    """Take a statement of one sentence apart. Anything is accepted; nonsense has no slots, and
    what is longer than a memory may be is read as far as that."""
    return (_read_short if len(statement) <= STATEMENT else _read_long)(statement, own)


def _read(statement: str, own: OwnWords) -> Reading:
    found = parse(statement)
    content = [word for word in found.words if not word.is_function and word.root != RENAMED]
    dates = [word for word in content if is_date(word)]
    numbers = frozenset(word.root for word in content if word.is_number)
    sides = {word.text for word in found.words if word.text == "left"}
    verb = found.predicate[0].root if found.predicate else ""
    telling = (w.root for w in found.predicate if not w.is_function and not is_time(w))
    return Reading(
        statement=statement,
        subject=_subject(found),
        numbers=frozenset() if numbers == {"1"} else numbers,  # a lone "one" is no more than "a"
        dates=frozenset(w.root for w in dates if w.text not in RELATIVE_DATES),
        relative_dates=frozenset(w.text for w in dates if w.text in RELATIVE_DATES),
        order_words=frozenset(w.root for w in found.words if w.root in _order) | sides,
        is_negated=(found.denials + found.flips) % 2 == 1,
        negated=frozenset(found.negated),
        change=frozenset(found.change),
        stems=frozenset(word.root for word in content),
        names=frozenset(w.root for w in content if w.is_name),
        replaced=frozenset(found.replaced),
        head=verb if verb == "be" else next(telling, verb),
        verb_at=found.verb,
        is_past=found.is_past,
        is_definite=found.is_definite,
        is_plan=found.is_plan,
        is_ongoing=found.is_ongoing,
        words=tuple(found.words),
        parse=found,
        own=own.slots,
    )


_read_short = lru_cache(maxsize=8192)(_read)  # of a batch of a thousand, all it is compared with
_read_long = lru_cache(maxsize=512)(_read)


def is_said_by(reading: Reading, speaker: str) -> bool:
    """Whether it is about whoever has this name."""
    return not {word.root for word in words(speaker)}.isdisjoint(reading.person.split("-"))


def slot_keys(reading: Reading) -> tuple[str, ...]:
    """Names under which an older value of the same attribute can be looked up, sorted; of what is
    told of the past, too."""
    slots = (*reading.slots, *reading.past_slots)
    keys = {f"{s.subject}|{s.name}|{s.key}" for s in slots}
    # What is told of "Ann's son Ben" is told of "Ben", too.
    named = reading.subject.partition("/")[2].split("-")
    for name in reading.names.intersection(named) if len(named) > 1 else ():
        keys |= {f"{name}|{s.name}|{s.key}" for s in slots if name in s.subject.split("-")}
    return tuple(sorted(keys))


def _subject(found: Parse) -> str:
    phrase = found.noun_phrase
    cut = next((i for i, word in enumerate(phrase) if word.root == "'s"), None)
    if cut is None:
        return key(phrase)
    if cut == 1 and phrase[0].text == "team":
        return key(phrase)
    return f"{key(phrase[:cut])}/{key(phrase[cut + 1 :])}"
