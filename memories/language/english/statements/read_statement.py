"""Statements, taken apart so that two of them can be compared: subject, verb and rest, and the
attributes that they give."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache

from memories.language.bounds import STATEMENT, WHOLE
from memories.language.english.statements.attributes import NO_WORDS, OwnSlot, OwnWords, Slot, own_slots
from memories.language.english.statements.auxiliaries import (
    QUIT,
    RENAMED,
    Parse,
    is_date,
    is_time,
    is_when,
    key,
    plain,
    take,
)
from memories.language.english.statements.find_attributes import slots_of, tool_role
from memories.language.english.statements.instruction_kinds import instruction_kinds
from memories.language.english.statements.word_lists import (
    ARTICLES,
    CHANGE_TO,
    FUNCTION,
    OLD_AFTER,
    ORDER,
    PLAN,
    SAME_IN_PAST,
    VERBS,
)
from memories.language.english.statements.wording import RELATIVE_DATES, Word, root, words

# Subject, verb and rest of a statement.

STARTS = frozenset("every each on in since by at until till".split())
OFTEN = frozenset("daily nightly weekly monthly yearly".split())
PERIODS = OFTEN | frozenset("day days week weeks weekend weekends month months year years".split())
FRONTED = frozenset("before after since during in on at by for with without until till despite as from".split())
ME = {"i": "user", "me": "user", "myself": "user", "we": "team", "us": "team"}
MY = {"my": "user", "mine": "user", "our": "team", "ours": "team"}


def parse(statement: str) -> Parse:
    """Parse a statement, up to the length of a memory."""
    found = Parse()
    pending: list[Word] = []
    for word in words(statement[:WHOLE]):
        if word.text in ME:
            pending.append(plain(ME[word.text]))
        elif word.text in MY:
            pending += [plain(MY[word.text]), plain("'s")]
        else:
            pending.append(word)
    if len(pending) > 2 and pending[2].text == "team" and pending[1].text == "'s":
        # "our team", "my team": whoever says so, it is the team.
        pending = pending[2:] if pending[0].text in ("user", "team") else pending
    pending = _going_to(_used_to(_contrasted(_with_subject(pending))))
    found.is_definite = bool(pending) and pending[0].text in ("the", "team")
    for position, word in enumerate(pending):
        take(found, word, pending[position + 1 : position + 4])
    _turn_around(found)
    found.words = _changes_to(found)
    # The verb is the first word after the subject.
    colon = next((i for i, word in enumerate(found.words[:4]) if word.text == ":"), 0)
    if colon and colon + 1 < len(found.words):
        found.verb = colon + 1  # "Team policy: never deploy on Fridays"
    else:
        places = (i for i in range(1, len(found.words)) if _is_verb(found, i))
        found.verb = next(places, min(1, len(found.words)))
    _settle_tense(found)
    return found


def _contrasted(found: list[Word]) -> list[Word]:
    """Read "on Teams, not on Slack" as "on Teams instead of Slack"; nothing is denied of Teams."""
    for i in range(3, len(found) - 1):
        if found[i].text != "not" or found[i - 1].text not in (",", "and"):
            continue
        after = i + 1
        while after < len(found) - 1 and (found[after].is_function or found[after].text in ARTICLES):
            after += 1
        denied = found[after]
        if denied.is_function or denied.text in VERBS or denied.text.endswith("ing"):
            continue
        return [*found[: i - 1], Word("insteadof", "insteadof"), *found[after:]]
    return found


def _used_to(found: list[Word]) -> list[Word]:
    """Read "Ann used to live in Oslo"; not "is used to", nor "the tool used to build it"."""
    for i in range(1, min(6, len(found) - 2)):
        if found[i].text != "used" or found[i + 1].text != "to":
            continue
        before = {word.root for word in found[:i]}
        is_verb = found[i + 2].text in VERBS or found[i + 2].root in ("have", "do", "be")
        if is_verb and before.isdisjoint({"be", "get", "have"}):
            return [*found[:i], plain("usedto"), *found[i + 2 :]]
    return found


def _going_to(found: list[Word]) -> list[Word]:
    """Read "is going to move in May" as "will move in May"; without a day it stays a plan."""
    for i in range(2, min(8, len(found) - 2)):
        is_plan = found[i].text == "going" and found[i + 1].text == "to"
        if is_plan and found[i + 2].text in VERBS and found[i - 1].root == "be":
            is_dated = any(map(is_when, found[i + 3 :]))
            return [*found[: i - 1], plain("will"), *found[i + 2 :]] if is_dated else found
    return found


def _with_subject(found: list[Word]) -> list[Word]:
    """Say "Prefers tea" of the user; not "Plans cost 12 euros"."""
    if len(found) < 2:
        return found
    first, second = found[:2]
    is_noun = second.root in ("be", "have", "'s") or second.text in VERBS
    is_now = first.text in _third_persons() or first.text in ("is", "has", "does")
    is_over = first.text in QUIT or first.is_past and (second.is_function or second.is_name)
    return [plain(ME["i"]), *found] if is_over or (is_now and not is_noun) else found


def _turn_around(found: Parse) -> None:
    """Read "Every Friday Ann swims" as "Ann swims every Friday", "likes A better" as "prefers
    A"."""
    _move_front(found)
    all_words = found.words
    end = 0
    if all_words and all_words[0].text in STARTS | OFTEN:
        while end < len(all_words) and (_tells_when(all_words[end]) or all_words[end].is_function):
            end += 1
        if any(map(_tells_when, all_words[:end])) and end < len(all_words) - 1:
            moved = [word for word in all_words[:end] if word.text != ","]
            found.words = [*all_words[end:], *moved]
            found.verbs = {place - end for place in found.verbs if place >= end}
    for place, word in enumerate(found.words):
        if word.text in ("better", "best", "most", "more") and place > 1:
            liked = [i for i, w in enumerate(found.words[:place]) if w.root == root("love")]
            if liked and (place + 1 == len(found.words) or found.words[place + 1].text == "over"):
                found.words[liked[0]] = plain("prefers")
                found.words.pop(place)
                return


def _tells_when(word: Word) -> bool:
    return is_when(word) or word.text in PERIODS


def _move_front(found: Parse) -> None:
    """Read "Before work, Ann runs" as "Ann runs before work"."""
    words = found.words
    if not words or words[0].text not in FRONTED:
        return
    comma = next((i for i, word in enumerate(words[:7]) if word.text == ","), 0)
    # A name after a plain word begins the clause: "since college Marcus".
    name = next(
        (
            i
            for i in range(2, min(5, len(words)))
            if words[i].is_name and not is_date(words[i])
            if not (words[i - 1].is_name or words[i - 1].is_function or is_date(words[i - 1]))
        ),
        0,
    )
    end, skipped = (comma, 1) if comma else (name, 0)
    if end and end + skipped + 1 < len(words):
        found.words = [*words[end + skipped :], *words[:end]]
        found.verbs = {i - end - skipped for i in found.verbs if i >= end + skipped}


@cache
def change_roots() -> frozenset[str]:
    return frozenset(map(root, CHANGE_TO))


def _changes_to(found: Parse) -> list[Word]:
    """Read "rose from 3 to 5" as "@ 5"; the place keeps its number in `verbs`."""
    old = found.words
    for start, word in enumerate(old[1:], 1):
        if word.root not in change_roots():
            continue
        near = range(start + 1, min(start + 7, len(old) - 1))
        end = next((i for i in near if old[i].text in ("to", "until", "till")), 0)
        if not end:
            continue
        between = old[start + 1 : end]
        if between and between[0].text not in ("from", "back", "by", "up", "down", "over"):
            value = old[end + 1]
            is_measured = value.is_number or is_date(value) or bool(tool_role(value))
            if not is_measured or found.is_passive:
                continue
            # "Ann's landlord raised the rent to 900" is "Ann's rent @ 900"; "Bo moved the sync to
            # Friday" is "sync @ Friday".
            owner = next((i + 1 for i, each in enumerate(old[:start]) if each.root == "'s"), 0)
            thing = [each for each in between if each.text not in ("back", "up", "down")]
            found.change.add("to")
            found.is_past = False
            found.is_definite |= not owner
            found.verbs = {owner + len(thing)}
            return [*old[:owner], *thing, Word(word.text, RENAMED), *old[end + 1 :]]
        is_place = old[end + 1].is_name and not is_date(old[end + 1])
        is_straight = {each.text for each in between} <= {"back", "home"}
        if word.root == root("move") and is_straight and is_place:
            continue  # "Ann moved back to Oslo" tells where Ann lives
        found.change.add("to")
        found.replaced += [w.root for w in between if w.root not in FUNCTION]
        found.verbs.add(start)
        return [*old[:start], Word(word.text, RENAMED), *old[end + 1 :]]
    return old


@cache
def _third_persons() -> frozenset[str]:
    third = {verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s") for verb in VERBS}
    return frozenset(third | {verb[:-1] + "ies" for verb in VERBS if verb.endswith("y")})


def _is_verb(found: Parse, i: int) -> bool:
    word, previous = found.words[i], found.words[i - 1]
    if word.root in ("be", "have", RENAMED) or i in found.verbs:
        return True
    is_other = word.text == "others" and previous.text == "and"  # "User and others own a boat"
    if word.is_function or is_other or previous.root == "'s" or word.text[:1].isdigit():
        return False
    if word.is_past and not word.is_name:
        return True
    if word.text in _third_persons() and not word.is_name:
        return True
    agrees = previous.text.endswith("s") or i == 1 or previous.is_name
    if word.text in VERBS and agrees and not word.is_name:
        return not _next_is_verb(found, i)  # "Ann's Slack handle is @ann"
    starts_with_name = i == 1 and not (found.is_definite or found.words[0].is_function)
    return starts_with_name and word.text.endswith("s") and not _next_is_verb(found, i)


def _next_is_verb(found: Parse, i: int) -> bool:
    return i + 1 in found.verbs or (i + 1 < len(found.words) and found.words[i + 1].root in ("be", RENAMED))


def second_clause(found: Parse) -> Parse | None:
    """Return the clause after "and", about Ann or another: "Ann left Bergen and now lives in
    Oslo"."""
    for i in range(found.verb + 1, len(found.words) - 2):
        if found.words[i].text == "and" and _is_verb(found, i + 1):
            words = [*found.noun_phrase, *found.words[i + 1 :]]
            later = Parse(words=words, verb=found.verb, change=set(found.change))
            later.is_definite, later.passives = found.is_definite, found.passives
            _settle_tense(later)
            return later
    # "Karl retired and Zoe reports to Birgit": what is said of Zoe.
    for i in range(found.verb + 1, len(found.words) - 3):
        words = found.words[i + 1 :]
        if found.words[i].text == "and" and words[0].is_name and not is_date(words[0]):
            verbs = {place - i - 1 for place in found.verbs if place > i}
            later = Parse(words=words, verbs=verbs, change=set(found.change))
            later.verb = 1
            if _is_verb(later, 1):
                _settle_tense(later)
                return later
    return None


def _settle_tense(found: Parse) -> None:
    head = next((w for w in found.predicate if not w.is_function), None)
    if head is None:
        return
    rest = [w.text for w in found.predicate[found.predicate.index(head) + 1 :]]
    is_wish = head.root not in _of_things or "to" in rest[:2]
    found.is_plan |= head.root in _plan_roots and is_wish and not found.is_passive
    found.is_plan |= found.predicate[0].root == "be" and found.words[found.verb - 1].root in _wishes
    first = found.predicate[0]
    was_once = first.text in SAME_IN_PAST and any(w.text in ("last", "ago", "yesterday") for w in found.words)
    if (first.is_past or was_once) and not found.is_passive:
        found.is_past = True


# Wishes that take a thing as well: "wants short answers".
_of_things = frozenset(map(root, "want need wish apply offer".split()))


_wishes = frozenset(map(root, "dream wish hope intention ambition".split()))


_plan_roots = frozenset(map(root, PLAN))


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
        """The person it may be about, or belong to: "alice" of "alice/sister"; "" for things and
        teams."""
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
        """The words it names as the old value: A of "from A to B", of "B instead of A"."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return self.replaced | {after.root for word, after in pairs if word.text in _old_after}

    @cached_property
    def contrasted(self) -> frozenset[str]:
        """The words for what it says is not so: A of "B, not A" and of "B instead of A"."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return frozenset(after.root for word, after in pairs if word.text == "insteadof")

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The roots of all its words in their order, without the articles."""
        said = words(self.statement)
        return tuple(word.root for word in said if word.text not in ARTICLES)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        # Most statements that one is compared with never need these.
        found: tuple[Slot, ...] = ()
        if len(self.parse.words) > 1:
            # Those of the clause that "and" adds, too.
            later = second_clause(self.parse)
            found = slots_of(self.parse) + (slots_of(later) if later else ())
        wishes = [Slot(of.who, "wish", of.key, of.value) for of in instruction_kinds(self.statement)]
        return (*found, *wishes, *own_slots(self.own, self.statement, self.parse))

    @cached_property
    def past_slots(self) -> tuple[Slot, ...]:
        """The attributes that it tells of the past, as they were then: the home of "lived in
        Oslo"."""
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
    """Parse a statement of one sentence. Anything is accepted; nonsense has no slots, and what is
    longer than a memory may be is cut."""
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
    """Tell whether a statement is about the speaker with this name."""
    return not {word.root for word in words(speaker)}.isdisjoint(reading.person.split("-"))


def slot_keys(reading: Reading) -> tuple[str, ...]:
    """Return names under which an older value of the same attribute can be looked up, sorted; also
    for attributes of the past."""
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
