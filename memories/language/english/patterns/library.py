"""All patterns, in the order in which they are tried, and trying them: the first that fits a clause
has it.

A pattern's regex says with which words a clause must begin, and `needs` which it must hold, so that
only the patterns that can fit are tried. If the regex begins with the speaker, that beginning is
read once for all such patterns, and the rest of each is tried at the verb.
"""

import re
from functools import cache, cached_property

from memories.language.english.patterns import (
    identity,
    instructions,
    other,
    plans,
    policy,
    preferences,
    relationships,
    technology,
    temporal,
)
from memories.language.english.patterns.pattern import SUBJECT, Pattern, S
from memories.language.english.verbs import ADVERBS

_weak = 0.7  # patterns that fit almost anything wait until the narrow ones have been tried
_by_category: tuple[Pattern, ...] = (
    *instructions.OF_ANSWERS,
    *technology.PATTERNS,
    *plans.DECISIONS,
    *policy.PATTERNS,
    *policy.CODE_REVIEWS,
    *instructions.INSTRUCTIONS,
    *identity.PATTERNS,
    *relationships.PATTERNS,
    *preferences.PREFERENCES,
    *relationships.RELATIONSHIPS,
    *relationships.POSSESSIONS,
    *plans.PLANS,
    *temporal.PATTERNS,
    *other.PATTERNS,
)
PATTERNS = tuple(sorted(_by_category, key=lambda pattern: pattern.confidence <= _weak))
# what may stand in a request: it sets a rule for others, or tells where to reach somebody
DEMANDS = tuple(
    pattern
    for pattern in PATTERNS
    if pattern.category in ("policy", "instruction") or pattern.name in ("contact", "remember")
)


OF_QUESTIONS = tuple(pattern for pattern in PATTERNS if pattern.of_questions)

MOST_ADVERBS = 3  # as in `verbs.ADVERB`
_word = re.compile(r"\w+")
_subject = re.compile(SUBJECT, re.IGNORECASE)
_adverb = re.compile(rf"(?:{'|'.join(ADVERBS)}|no longer)\s+", re.IGNORECASE)
_optional = re.compile(r"\(\?:([\w' |-]+)\)\?")
_choice = re.compile(r"(?:\(\?:([\\\w+' |-]+)\)|([\w']+))(?= |\\b)")


class Trial:
    """A pattern with what a clause must have to be worth trying it."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.needs = frozenset(pattern.needs)
        # The parts of `regex` between the "|" that stand in no brackets.
        regex = pattern.regex
        depth, starts = 0, [0]
        for position, character in enumerate(regex):
            depth += (character == "(") - (character == ")")
            if character == "|" and depth == 0:
                starts.append(position + 1)
        alternatives = [regex[a : b - 1] for a, b in zip(starts, [*starts[1:], len(regex) + 1], strict=True)]
        self.is_anchored = all(each.startswith("^") for each in alternatives)
        self.is_of_speaker = len(alternatives) == 1 and pattern.regex.startswith(S)
        self.openings = _openings(alternatives[0]) if len(alternatives) == 1 else frozenset()

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        regex = self.pattern.regex
        return re.compile(regex[len(S) :] if self.is_of_speaker else regex, re.IGNORECASE)

    def match(self, clause: str, verbs: tuple[int, ...]) -> re.Match[str] | None:
        """Return its match in `clause`; `verbs` are the places where the speaker's verb may
        begin."""
        if not self.is_of_speaker:
            return self.compiled.match(clause) if self.is_anchored else self.compiled.search(clause)
        for place in verbs:
            match = self.compiled.match(clause, place)
            if match:
                return match
        return None


def first(clause: str, *, is_request: bool) -> tuple[Pattern, re.Match[str]] | None:
    """Return the first pattern that fits `clause`; for a request only patterns that set a rule are
    tried."""
    small = clause.lower()
    words, opening, verbs = frozenset(_word.findall(small)), _word.match(small), _verbs(clause)
    known = opening[0] if opening and opening[0] in OPENINGS else ""
    for trial in _trials(known, bool(verbs), is_request):
        if trial.needs and trial.needs.isdisjoint(words):
            continue
        match = trial.match(clause, verbs)
        if match:
            return trial.pattern, match
    return None


def first_wish(clause: str, *, is_question: bool) -> Pattern | None:
    """Return the first pattern that fits `clause` and makes a lasting request."""
    words, verbs = frozenset(_word.findall(clause.lower())), _verbs(clause)
    for trial in WISHING:
        if trial.pattern.of_questions == is_question and (not trial.needs or not trial.needs.isdisjoint(words)):
            match = trial.match(clause, verbs)
            if match:
                return trial.pattern if is_wish(trial.pattern, clause) else None
    return None


def is_wish(pattern: Pattern, clause: str) -> bool:
    """Tell whether `clause`, which fits `pattern`, makes a lasting request: a rule, or how to
    address somebody."""
    if pattern.name == "name":
        return "call me" in clause.lower()
    is_order = pattern.category == "instruction" or pattern.name == "always-imperative"
    return is_order and pattern.name not in instructions.TAKES_BACK


def first_of_question(clause: str) -> tuple[Pattern, re.Match[str]] | None:
    """Return the first pattern that fits a question: few do, for most questions claim nothing."""
    words = frozenset(_word.findall(clause.lower()))
    for trial in QUESTIONING:
        if not trial.needs.isdisjoint(words) and (match := trial.compiled.search(clause)):
            return trial.pattern, match
    return None


@cache
def _trials(opening: str, is_of_speaker: bool, is_request: bool) -> tuple[Trial, ...]:
    """Return the trials for a clause that begins with `opening`; empty: with a word that no pattern
    names."""
    trials = DEMANDING if is_request else TRIALS
    return tuple(
        trial
        for trial in trials
        if (is_of_speaker if trial.is_of_speaker else opening in trial.openings or not trial.openings)
    )


def compile_patterns() -> None:
    """Compile every pattern (half a second); otherwise the first clause that each may fit pays for
    it."""
    for trial in TRIALS:
        _ = trial.compiled


def _verbs(clause: str) -> tuple[int, ...]:
    """Return the places where the verb of a clause about its speaker may begin: behind all adverbs,
    or before some, since a pattern may name an adverb itself."""
    subject = _subject.match(clause)
    places = [subject.end()] if subject else []
    while places and len(places) <= MOST_ADVERBS:
        adverb = _adverb.match(clause, places[-1])
        if adverb is None:
            break
        places.append(adverb.end())
    return tuple(reversed(places))


def _openings(regex: str) -> frozenset[str]:
    """Return the words with which a clause that fits `regex` begins; none if the regex does not
    say."""
    if not regex.startswith("^"):
        return frozenset()
    words, position = "", 1
    while optional := _optional.match(regex, position):
        words, position = f"{words}|{optional[1]}", optional.end()
    choice = _choice.match(regex, position)
    if choice is None:
        return frozenset()
    named = f"{words}|{choice[1] or choice[2]}".lower().split("|")
    return frozenset(found[0] for each in named if (found := _word.match(each)))


TRIALS = tuple(map(Trial, PATTERNS))
DEMANDING = tuple(trial for trial in TRIALS if trial.pattern in DEMANDS)
WISHING = tuple(
    trial
    for trial in TRIALS
    if trial.pattern.category == "instruction" or trial.pattern.name in ("always-imperative", "name")
)
QUESTIONING = tuple(trial for trial in TRIALS if trial.pattern in OF_QUESTIONS)
OPENINGS = frozenset(word for trial in TRIALS for word in trial.openings)
