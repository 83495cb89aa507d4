"""A test whether a sentence may be about the same thing as others, in other words: by a name or
figure that they share, and one more of their words. Pure."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Self

from memories.language.english import lexical, topics
from memories.language.english.calendar import MONTH_NAMES, WEEKDAY

_name = re.compile(r"(?<=[\w,;:] )[A-Z][\w'’-]+|^[A-Z][\w'’-]+(?= [A-Z])|(?<=\d )[A-Z][\w'’-]+")
_figure = re.compile(r"\d[\d.,:]*\d|\d{2,}")
_dated = re.compile(rf"(?:{MONTH_NAMES}|{WEEKDAY})$", re.IGNORECASE)
# Words for relations between people: they stand in many sentences about different things.
_kin = """
mother father mum mom dad sister brother son daughter uncle aunt cousin nephew niece wife husband partner
friend boyfriend girlfriend ex boss colleague neighbour neighbor user my our his her their name
""".split()
KIN = frozenset(stem for word in _kin for stem in lexical.stems(word))
_courtesy = "thanks thank okay ok got sure noted note understood sorry wow oh great nice hello hi"
COURTESY = frozenset(stem for word in _courtesy.split() for stem in lexical.stems(word))


def names_in(text: str) -> set[str]:
    """Return the stems of the names in a text."""
    words = [word for word in _name.findall(text) if not _dated.match(word)]
    return {stem for word in words for stem in topics.words_of(word)}


@dataclass(frozen=True, slots=True)
class ToldThing:
    """Something that was told: its `stems`, the `strong` ones among them, which are names and
    figures, and those that an order itself `named`."""

    stems: frozenset[str]
    strong: frozenset[str]
    named: frozenset[str]
    has_figures: bool

    @classmethod
    def of(cls, topic: str, told: Iterable[str]) -> Self:
        """`topic` is what the order names; `told` are statements that are meant by it."""
        texts = [topic, *told]
        stems = {stem for text in texts for stem in topics.naming(text)} - KIN
        strong = {stem for text in texts for stem in _strong(text)} & stems
        named = _strong(topic) & strong
        figures = any(_figure.search(text) for text in texts)
        return cls(frozenset(stems), frozenset(strong), frozenset(named), figures)

    def may_be_told_by(self, sentence: str) -> bool:
        said = set(topics.naming(sentence))
        shared = said & self.stems
        if not shared & self.strong:
            return False
        has_both = bool(shared & self.named) and self.has_figures
        return len(shared) > 1 or (has_both and _figure.search(sentence) is not None)

    def is_all_of(self, sentence: str) -> bool:
        """Tell whether a sentence says nothing but words of it, and courtesies."""
        said = set(topics.naming(sentence)) - COURTESY
        return bool(said) and said <= self.stems

    def is_named_by(self, stems: Collection[str]) -> bool:
        """Tell whether the stems include a name that the order has."""
        return not self.named.isdisjoint(stems)


def _strong(text: str) -> set[str]:
    return names_in(text).union(*map(topics.words_of, _figure.findall(text)))
