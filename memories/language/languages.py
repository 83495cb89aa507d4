"""The languages that a workspace reads besides English: the setting `languages` names them.

A language is a folder. To add one: write its courtesies, its dates and its patterns with their own
examples, and add a row here. English is always read: statements are compared in it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.language.bounds import Budget
from memories.language.english.calendar import Span
from memories.language.english.patterns.pattern import Found
from memories.language.german import dates as german_dates
from memories.language.german import patterns as german_patterns


@dataclass(frozen=True, slots=True)
class Language:
    """The functions of a language: courtesies to pass over, claims with their places, dates."""

    is_courtesy: Callable[[str], bool]
    extract: Callable[[str, str, datetime, Budget | None], Iterator[Found]]
    spans: Callable[[str, datetime], list[Span]]


ENGLISH = "en"
LANGUAGES = {"de": Language(german_patterns.is_courtesy, german_patterns.extract, german_dates.spans)}
NAMES = (ENGLISH, *LANGUAGES)


def beside_english(names: Iterable[str]) -> Sequence[Language]:
    return [LANGUAGES[name] for name in names if name in LANGUAGES]


def is_courtesy(text: str, names: Iterable[str]) -> bool:
    return any(language.is_courtesy(text) for language in beside_english(names))


def extract(text: str, speaker: str, at: datetime, names: Iterable[str], budget: Budget | None = None) -> list[Found]:
    """Extract the claims in the languages of `names`, except English."""
    return [claim for language in beside_english(names) for claim in language.extract(text, speaker, at, budget)]


def spans(query: str, at: datetime, names: Iterable[str]) -> list[Span]:
    return [span for language in beside_english(names) for span in language.spans(query, at)]
