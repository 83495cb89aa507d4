"""Anchors: words by which a message can be about the same thing as a statement. Names, numbers and nouns;
not verbs, not the speaker's own name, not words that stand in every talk. Pure.

Anchors are stems of the index, so that what shares one is found by its keys.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from memories.language.english import calendar, lexical, numbers, verbs
from memories.language.english.statements import word_lists

MOST = 24  # of one text

_VAGUE = """
    thing things stuff something anything everything nothing someone anyone everyone one ones day days today tonight
    tomorrow yesterday week weeks weekend month months year years morning afternoon evening night time times moment
    minute minutes hour hours people person guy guys man woman way lot bit kind sort type part place area case fact idea
    point reason end side life world name word words number user speaker team good great nice bad big small little new
    old first last next long short best better worse real sure right wrong hard easy happy sad busy tired ready full
    whole different important amazing awesome cool fun funny crazy weird perfect fine okay ok yes yeah yep no nope
    please thanks thank hi hey hello bye lol haha omg btw etc today's actually maybe much many such every each another
    well also even ever never always often sometimes usually soon later early late ago recently currently lately away
    together around back home like got gotta gonna wanna let lets really quite pretty still already just
    two three four five six seven eight nine ten half couple few several dozen own main current recent favourite
    favorite answer question reply message response mine someone's somebody anybody everybody nobody because though
    although instead anymore longer rather since while without within
"""
_name = re.compile(r"(?<![.!?\n:;\"“”'’(] )(?<!^)\b[A-Z][\w'’]{1,40}|\b[A-Z]{2,40}\b")
_number = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Anchors:
    """The anchors of a text. `strong` ones are names and numbers, of which one alone says much."""

    strong: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.strong | self.nouns

    def shared(self, other: "Anchors") -> "Anchors":
        """Return what both have; what is a name in one of them is a name."""
        both = self.all & other.all
        strong = both & (self.strong | other.strong)
        return Anchors(strong, both - strong)

    def without(self, words: Iterable[str]) -> "Anchors":
        names = frozenset(words)
        return Anchors(self.strong - names, self.nouns - names)


@lru_cache(maxsize=2_048)
def anchors(text: str, own_name: str = "") -> Anchors:
    """Return the first MOST anchors of a text. `own_name` is the person's whom it is about, or who says it."""
    names = lexical.stem_set(own_name)
    words = [stem for stem in dict.fromkeys(lexical.stems(text)) if stem not in _idle() and stem not in names][:MOST]
    named = {stem for match in _name.finditer(text) for stem in lexical.stem_set(match.group())}
    strong = frozenset(stem for stem in words if stem in named or _number.search(stem))
    return Anchors(strong, frozenset(words) - strong)


@cache
def _idle() -> frozenset[str]:
    """Stems that say what is done, when, or how, and nothing that two texts could be about."""
    told = word_lists.VERBS | word_lists.ADVERBS | word_lists.MODAL | word_lists.LIGHT | word_lists.PREPOSITIONS
    told |= {form for forms in verbs.IRREGULAR for form in forms}
    told |= {*_VAGUE.split(), *numbers.NUMBERS, *calendar.WEEKDAYS, *(name.lower() for name in calendar.MONTHS)}
    return frozenset(stem for word in told for stem in lexical.stem_set(word)) - _THINGS


# Verbs that are things as often: what a person drives, eats or keeps.
_THINGS = frozenset(
    stem
    for word in """work bike lift book cook host car film film show play plan lease rent paint dance run swim camp
    coach market store lead guide report park build sail row band phone email watch chat group house account
    mentor boat ship studio order ring cut skate ski surf restaurant cafe company university
    app application software session service project language city town tool""".split()
    for stem in lexical.stem_set(word)
)
