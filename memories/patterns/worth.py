"""Which of the clauses that fit a pattern say enough to be kept.

The looser a pattern, the more its clause and the whole message must say: in talk that says
little, a loose form of words is mostly courtesy. The limits were measured on conversations.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memories.patterns import content, person
from memories.patterns.clauses import Clause
from memories.patterns.pattern import Pattern

SURE, FIRM, FAIR, LOOSE = 0.9, 0.8, 0.75, 0.55  # confidence from which a pattern counts as such
NEWS, LAST_NEWS = 4, 6  # how much news a message needs for what fits, and for a last resort
FAIR_WEIGHT, LOOSE_WEIGHT = 3, 4  # telling words that a clause needs
LONG, MOSTLY = 18, 3  # a message of so many telling words must speak of its speaker so often
_reaction = re.compile(
    r"\W*(?:wow|woah|whoa|aw+|congrat\w*|nice|way to go|good (?:job|luck|for)|so (?:glad|happy|proud)|glad"
    r"|that's|that is|sounds|looks|your?|it's (?:great|awesome|so|amazing))\b",
    re.IGNORECASE,
)
_time = re.compile(
    r"\b(?:last|yesterday|ago|recently|lately|since|weeks?|months?|years?|today|tonight|tomorrow|weekend|next"
    r"|just|still|already|soon|finally|new|first)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fit:
    """A pattern that fits a clause; `weight` counts the telling words of the clause."""

    pattern: Pattern
    match: re.Match[str]
    clause: Clause
    weight: int


@dataclass(frozen=True, slots=True)
class Message:
    """What a message says as a whole, counted over its clauses.

    `telling` words, clauses `about` the speaker, clauses that are no courtesy (`heard`), and
    `news`: how much it is likely to tell of the speaker's life.
    """

    telling: int
    about: int
    heard: int
    news: float

    @property
    def is_about_speaker(self) -> bool:
        return self.telling < LONG or self.about >= MOSTLY


def message(text: str, name: str, read: Sequence[tuple[Clause, str]]) -> Message:
    """`read` holds the clauses of `text` with their words as patterns read them."""
    telling = content.weight(text, name)
    mentions = [person.mentions(words) for _, words in read]
    asked = sum(clause.is_question for clause, _ in read)
    news = telling + 1.5 * min(6, sum(mentions)) + 1.5 * min(3, len(_time.findall(text)))
    return Message(
        telling=telling,
        about=sum(count > 0 for count in mentions),
        heard=sum(not content.is_courtesy(words) for _, words in read),
        news=news - 2 * asked - (2.5 if _reaction.match(text) else 0),
    )


def kept(fits: Sequence[Fit], told: Message) -> list[Fit]:
    """Those of a message's fits that claim something, in their order."""
    alone = [fit for fit in fits if told.heard == 1 and _stands_alone(fit, told)]
    firm = alone or [fit for fit in fits if _says_enough(fit, told)]
    if firm or not fits or not told.about or not told.is_about_speaker or told.news < LAST_NEWS:
        return firm
    heaviest = max(fits, key=lambda fit: fit.weight)
    return [heaviest] if heaviest.weight else []


def _stands_alone(fit: Fit, told: Message) -> bool:
    """Whether a clause that is all of a message is a claim: it needs no more around it."""
    if fit.pattern.confidence >= 0.7:
        return fit.weight >= 1
    return bool(told.about) and fit.pattern.confidence >= LOOSE and fit.weight >= 3


def _says_enough(fit: Fit, told: Message) -> bool:
    confidence = fit.pattern.confidence
    if confidence >= SURE and fit.weight >= 2:
        return True
    if told.news < NEWS or not fit.weight:
        return False
    if confidence >= FIRM:
        return True
    least = FAIR_WEIGHT if confidence >= FAIR else LOOSE_WEIGHT
    return told.is_about_speaker and confidence >= LOOSE and fit.weight >= least
