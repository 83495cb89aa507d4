"""Subject, verb and rest of a statement; negations, tense and signs of change taken out of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from memories.conflicts.grammar import (
    ADVERBS,
    ARTICLES,
    CHANGED_NOW,
    FUNCTION,
    IRREGULAR_PAST,
    MODAL,
    NOW,
    PARTICIPLES,
    PAST_TIMES,
    PLAN,
    VERBS,
)
from memories.conflicts.opposites import NEGATIVES
from memories.conflicts.slots import CHANGE_TO
from memories.conflicts.wording import MONTHS, RELATIVE_DATES, WEEKDAYS, Word, root, words

ME = {"i": "user", "me": "user", "myself": "user", "we": "team", "us": "team"}
MY = {"my": "user", "mine": "user", "our": "team", "ours": "team"}
NO = frozenset("not no never nobody nothing none neither nor noone nowhere".split())
QUIT = frozenset("stop stops stopped stopping quit quits quitting ceased ceases".split())
NO_ING = frozenset(
    "morning evening nothing thing string meeting building wedding king ring spring ceiling "
    "something anything everything feeling earring during amazing interesting challenging".split()
)
MODIFIERS = frozenset("new current latest old updated own".split())
RENAMED = "@"  # stands for "was changed to", "rose to" and their like


@dataclass(slots=True)
class Parse:
    """What the statement says, in normal words, and how it says so."""

    words: list[Word] = field(default_factory=list)
    verb: int = 1
    verbs: set[int] = field(default_factory=set)
    denials: int = 0
    flips: int = 0
    negated: list[str] = field(default_factory=list)
    change: set[str] = field(default_factory=set)
    replaced: list[str] = field(default_factory=list)
    is_past: bool = False
    is_plan: bool = False
    is_passive: bool = False

    @property
    def noun_phrase(self) -> Sequence[Word]:
        return self.words[: self.verb]

    @property
    def predicate(self) -> Sequence[Word]:
        return self.words[self.verb :]

    @property
    def form(self) -> str:
        """The roots, each followed by a space; templates are matched against it."""
        return "".join([word.root + " " for word in self.words])


DAY_PARTS = frozenset("morning evening afternoon night summer winter spring autumn".split())
QUARTERS = frozenset("q1 q2 q3 q4".split())


def parse(statement: str) -> Parse:
    found = Parse()
    pending = _first_person(words(statement))
    for position, word in enumerate(pending):
        _take(found, word, pending[position + 1 : position + 4])
    _turn_around(found)
    found.words = _changes_to(found)
    found.verb = _boundary(found)
    _settle_tense(found)
    return found


def _first_person(found: list[Word]) -> list[Word]:
    out: list[Word] = []
    for word in found:
        if word.text in ME:
            out.append(_plain(ME[word.text]))
        elif word.text in MY:
            out += [_plain(MY[word.text]), _plain("'s")]
        else:
            out.append(word)
    return out


def _plain(text: str) -> Word:
    return Word(text, root(text))


def _take(found: Parse, word: Word, after: Sequence[Word]) -> None:
    text = word.text
    if text in ARTICLES or (text == "always"):
        return
    if text in NOW:
        found.change |= {text} & CHANGED_NOW
        if text == "anymore":
            found.change.add("end")
    elif text in PAST_TIMES:
        found.is_past = True
        found.change.add("past")
    elif text in ADVERBS:
        return
    elif text in NO or text == "nolonger":
        _deny(found, after, ends=text == "nolonger")
    elif text in QUIT and not _has(after, "at", "by", "for", "in"):
        _deny(found, after, ends=True)
    elif word.root in ("be", "have", "do") or text in ("will", "to"):
        _auxiliary(found, word, after)
    elif text in MODAL:
        found.is_plan = True
    else:
        _keep(found, word)


def _turn_around(found: Parse) -> None:
    """ "Every Friday Ann swims" is "Ann swims every Friday"; "likes A better" is "prefers A"."""
    all_words = found.words
    end = 0
    if all_words and all_words[0].text in ("every", "each", "on", "in", "since", "by", "at"):
        while end < len(all_words) and (_is_when(all_words[end]) or all_words[end].is_function):
            end += 1
        if any(map(_is_when, all_words[:end])) and end < len(all_words) - 1:
            moved = [word for word in all_words[:end] if word.text != ","]
            found.words = [*all_words[end:], *moved]
            found.verbs = {place - end for place in found.verbs if place >= end}
    for place, word in enumerate(found.words):
        if word.text in ("better", "best", "most", "more") and place > 1:
            liked = [i for i, w in enumerate(found.words[:place]) if w.root == root("love")]
            if liked and (place + 1 == len(found.words) or found.words[place + 1].text == "over"):
                found.words[liked[0]] = _plain("prefers")
                found.words.pop(place)
                return


def _is_when(word: Word) -> bool:
    is_year = word.is_number and len(word.root) == 4
    return is_year or is_date(word) or word.text in DAY_PARTS


def is_date(word: Word) -> bool:
    return (
        "_" in word.root
        or is_time(word)
        or word.text in MONTHS
        or word.root in WEEKDAYS
        or word.text in RELATIVE_DATES
        or word.text in QUARTERS
    )


def is_time(word: Word) -> bool:
    return word.root[:1].isdigit() and ":" in word.root


def _has(after: Sequence[Word], *texts: str) -> bool:
    return bool(after) and after[0].text in texts


def _deny(found: Parse, after: Sequence[Word], *, ends: bool) -> None:
    found.denials += 1
    if ends:
        found.change.add("end")
        found.verbs.add(len(found.words))
    found.negated += [w.root for w in after if w.root not in FUNCTION and w.text not in ARTICLES][:1]


def _keep(found: Parse, word: Word) -> None:
    opposite = _negatives().get(word.text)
    if opposite:
        found.flips += 1
        found.negated.append(root(opposite))
        word = replace(word, root=root(opposite))
    found.words.append(word)


@cache
def _negatives() -> dict[str, str]:
    forms = dict(NEGATIVES)
    for word in "hate dislike detest loathe despise forbid ban disallow distrust".split():
        forms |= {word + ending: NEGATIVES[word] for ending in ("s", "d", "ed")}
    return forms


def _auxiliary(found: Parse, word: Word, after: Sequence[Word]) -> None:
    """Drop "is" before "going", "has" before "gone", "does" before "not"; note the tense."""
    following = [w for w in after if w.text not in ADVERBS and w.text not in NO][:1]
    verb = following[0].text if following else ""
    here = len(found.words)
    found.verbs.add(here)
    match word.root:
        case "be":
            found.is_past |= word.text in ("was", "were")
            if verb == "going" and any(w.text == "to" for w in after[1:]):
                return
            if _is_progressive(verb):
                found.is_past = False
                return
            if is_participle(verb) and verb not in ("called", "named"):
                found.is_passive = True
                return
            found.verbs.add(here)
        case "have":
            if verb == "to":
                found.is_plan = True
                return
            if is_participle(verb) or verb == "been":
                return
        case "do":
            found.is_past |= word.text == "did"
            if word.text != "done":
                return
        case "will":
            return
    if word.text == "to":
        found.verbs.discard(here)
    found.words.append(word)


def _is_progressive(verb: str) -> bool:
    return len(verb) > 4 and verb.endswith("ing") and verb not in NO_ING


def is_participle(verb: str) -> bool:
    if verb in PARTICIPLES:
        return True
    return verb.endswith("ed") and len(verb) > 3 and verb not in ("red", "bed", "need")


@cache
def change_roots() -> frozenset[str]:
    return frozenset(map(root, CHANGE_TO))


def _changes_to(found: Parse) -> list[Word]:
    """ "rose from 3 to 5" becomes "@ 5"; the place keeps its number in `verbs`."""
    old = found.words
    for start, word in enumerate(old[1:], 1):
        if word.root not in change_roots():
            continue
        end = next((i for i in range(start + 1, len(old)) if old[i].text == "to"), 0)
        if not end or end - start > 6 or end + 1 >= len(old):
            continue
        between = old[start + 1 : end]
        if between and between[0].text not in ("from", "back", "by", "up", "down"):
            continue
        if word.root == root("move") and not between and old[end + 1].is_name:
            continue  # "Ann moved to Oslo" tells where Ann lives
        found.change.add("to")
        found.replaced += [w.root for w in between if w.root not in FUNCTION]
        found.verbs.add(start)
        return [*old[:start], Word(word.text, RENAMED), *old[end + 1 :]]
    return old


@cache
def _verb_forms() -> frozenset[str]:
    third = {verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s") for verb in VERBS}
    return VERBS | third | {verb[:-1] + "ies" for verb in VERBS if verb.endswith("y")}


def _boundary(found: Parse) -> int:
    """Where the verb stands: the first word after the subject."""
    all_words = found.words
    colon = next((i for i, word in enumerate(all_words[:4]) if word.text == ":"), 0)
    if colon and colon + 1 < len(all_words):
        return colon + 1  # "Team policy: never deploy on Fridays"
    for i in range(1, len(all_words)):
        if _is_verb(found, i):
            return i
    return min(1, len(all_words))


def _is_verb(found: Parse, i: int) -> bool:
    word, previous = found.words[i], found.words[i - 1]
    if word.root in ("be", "have", RENAMED) or i in found.verbs:
        return True
    if word.is_function or previous.root == "'s" or word.text[:1].isdigit():
        return False
    if word.is_past and not word.is_name:
        return True
    agrees = word.text.endswith("s") or previous.text.endswith("s") or i == 1
    if word.text in _verb_forms() and (agrees or previous.is_name) and not word.is_name:
        return True
    starts_with_name = i == 1 and found.words[0].text in ("user", "team", "he", "she", "they", "it")
    return starts_with_name and word.text.endswith("s") and not _next_is_verb(found, i)


def _next_is_verb(found: Parse, i: int) -> bool:
    return i + 1 in found.verbs or (
        i + 1 < len(found.words) and found.words[i + 1].root in ("be", RENAMED)
    )


def second_clause(found: Parse) -> Parse | None:
    """ "Ann left Bergen and now lives in Oslo": what is said after "and", of Ann."""
    for i in range(found.verb + 1, len(found.words) - 2):
        if found.words[i].text == "and" and _is_verb(found, i + 1):
            words = [*found.noun_phrase, *found.words[i + 1 :]]
            later = Parse(words=words, verb=found.verb, change=set(found.change))
            _settle_tense(later)
            return later
    return None


def _settle_tense(found: Parse) -> None:
    head = next((w for w in found.predicate if not w.is_function), None)
    if head is None:
        return
    rest = [w.text for w in found.predicate[found.predicate.index(head) + 1 :]]
    is_wish = head.root not in _of_things() or "to" in rest[:2]
    found.is_plan |= head.root in _plan_roots() and is_wish and not found.is_passive
    found.is_plan |= found.predicate[0].root == "be" and found.words[found.verb - 1].root in _wishes()
    first = found.predicate[0]
    if first.is_past and first.text in IRREGULAR_PAST | {first.text} and not found.is_passive:
        found.is_past = True


@cache
def _of_things() -> frozenset[str]:
    """Wishes that take a thing as well: "wants short answers"."""
    return frozenset(map(root, "want need wish apply offer".split()))


@cache
def _wishes() -> frozenset[str]:
    return frozenset(map(root, "dream wish hope intention ambition".split()))


@cache
def _plan_roots() -> frozenset[str]:
    return frozenset(map(root, PLAN))


def key(phrase: Sequence[Word]) -> str:
    """A noun phrase without regard to order: "rate of the API" and "API rate" are one."""
    parts, direction = set(), ""
    if len(phrase) > 2 and phrase[0].text == "team" and phrase[1].root == "'s":
        phrase = phrase[2:]  # "our standup" is the standup
    for word in phrase:
        if word.text in ("from", "to", "before", "after"):
            direction = word.text + ":"
        elif not word.is_function and word.text not in MODIFIERS:
            parts.add(direction + word.root)
            direction = ""
    return "-".join(sorted(parts))
