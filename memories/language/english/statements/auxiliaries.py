"""The parsing of a statement: its words, where its verb stands, and how it is said. Negations,
auxiliaries and signs of change are taken out of the words, and noted."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from memories.language.english.statements.word_lists import (
    ADVERBS,
    ARTICLES,
    CHANGED_NOW,
    FUNCTION,
    MODAL,
    NEGATIVES,
    NOW,
    PAST_TIMES,
)
from memories.language.english.statements.wording import MONTHS, RELATIVE_DATES, WEEKDAYS, Word, root
from memories.language.english.verbs import is_participle

MODIFIERS = frozenset("new current latest old updated own".split())
RENAMED = "@"  # stands for "was changed to", "rose to" and their like
DAY_PARTS = frozenset("morning evening afternoon night summer winter spring autumn".split())
QUARTERS = frozenset("q1 q2 q3 q4".split())


NO = frozenset("not no never nobody nothing none neither nor noone nowhere".split())
GETS = frozenset("get gets got getting".split())
EACH = frozenset("daily weekly monthly yearly nightly every each per in".split())
QUIT = frozenset("stop stops stopped stopping quit quits quitting ceased ceases".split())
NO_ING = frozenset(
    "morning evening nothing thing string meeting building wedding king ring spring ceiling "
    "something anything everything feeling earring during amazing interesting challenging".split()
)


@dataclass(slots=True)
class Parse:
    """The words of a statement in their normal form, and how they are meant."""

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
    is_definite: bool = False
    is_ongoing: bool = False
    passives: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)  # roots that "the" stands before

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


def key(phrase: Sequence[Word]) -> str:
    """Return a noun phrase regardless of order: "rate of the API" and "API rate" are one."""
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


def plain(text: str) -> Word:
    return Word(text, root(text))


def is_when(word: Word) -> bool:
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


def take(found: Parse, word: Word, after: Sequence[Word]) -> None:
    text = word.text
    if text in ARTICLES or (text == "always"):
        found.known |= {next_word.root for next_word in after[:1] if text == "the"}
        return
    if text in NOW:
        found.change |= {text} & CHANGED_NOW
        if text == "anymore":
            found.change.add("end")
    elif text in PAST_TIMES and not (text == "once" and _has(after, *EACH)):
        found.is_past = True
        found.change.add("past")
    elif text in ADVERBS or text == "once":
        return
    elif text in NO or text == "nolonger":
        _deny(found, after, ends=text == "nolonger")
    elif text in QUIT and not _has(after, "at", "by", "for", "in"):
        _deny(found, after, ends=True)
    elif (
        word.root in ("be", "have", "do")
        or text in ("will", "to")
        or (text in GETS and bool(after) and is_participle(after[0].text))
    ):
        _auxiliary(found, word, after)
    elif text in MODAL:
        found.is_plan = True
    else:
        _keep(found, word, after)


def _has(after: Sequence[Word], *texts: str) -> bool:
    return bool(after) and after[0].text in texts


def _deny(found: Parse, after: Sequence[Word], *, ends: bool) -> None:
    found.denials += 1
    if ends:
        found.change.add("end")
        found.verbs.add(len(found.words))
    found.negated += [w.root for w in after if w.root not in FUNCTION and w.text not in ARTICLES][:1]


def _keep(found: Parse, word: Word, after: Sequence[Word]) -> None:
    opposite = negatives().get(word.text)
    # "closed the shop" is an act, "the shop is closed" a state.
    is_act = word.text == "closed" and after and after[0].text in (*ARTICLES, "down")
    if opposite and not is_act:
        found.flips += 1
        found.negated.append(root(opposite))
        word = replace(word, root=root(opposite))
    found.words.append(word)


@cache
def negatives() -> dict[str, str]:
    forms = dict(NEGATIVES)
    for word in "hate dislike detest loathe despise dread forbid ban disallow distrust".split():
        endings = ("s", "ned") if word == "ban" else ("s", "d", "ed")  # a band forbids nothing
        forms |= {word + ending: NEGATIVES[word] for ending in endings}
    return forms


def _auxiliary(found: Parse, word: Word, after: Sequence[Word]) -> None:
    """Drop "is" before "going", "has" before "gone", "does" before "not"; note the tense."""
    verb = next((w.text for w in after if w.text not in ADVERBS and w.text not in NO), "")
    here = len(found.words)
    match word.root:
        case "be":
            is_auxiliary = _be(found, word, verb, after)
        case "have":
            is_auxiliary = verb == "been" or is_participle(verb)
            if verb == "to":
                found.is_plan = is_auxiliary = True
        case "do":
            found.is_past |= word.text == "did"
            is_auxiliary = True
        case "get":
            found.is_past |= word.text == "got"
            is_auxiliary = found.is_passive = True
            found.passives.add(verb)
        case _:
            is_auxiliary = word.text == "will"
    if word.text != "to":
        found.verbs.add(here)
    if not is_auxiliary:
        found.words.append(word)


_of_names = frozenset(map(root, "favorite name nickname surname job profession hobby".split()))


def _be(found: Parse, word: Word, verb: str, after: Sequence[Word]) -> bool:
    found.is_past |= word.text in ("was", "were")
    # What is said of these is their value, whatever that ends in: "her favourite sport is boxing".
    is_value = not _of_names.isdisjoint(word.root for word in found.words)
    if is_value or any(w.text == verb and w.is_name for w in after):
        return False
    if verb == "going" and any(w.text == "to" for w in after[1:]):
        return True
    if len(verb) > 4 and verb.endswith("ing") and verb not in NO_ING:
        found.is_past = False
        found.is_ongoing = True
        return True
    if is_participle(verb) and verb not in ("called", "named"):
        found.is_passive = True
        found.passives.add(verb)
        return True
    return False
