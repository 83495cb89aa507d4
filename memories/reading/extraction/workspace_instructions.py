"""Instructions of a workspace, and of one ingest: what is to be written down above all, and what is left out.

A model reads them as they are. Patterns and the judge know no words of ours: of what they find is left out what has all
the words of one of the things that are named.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Self

from pydantic import Field

from memories.language.english import lexical
from memories.settings_objects import SettingsObject, checked, faults

LONGEST = 1_000  # characters
_line = re.compile(r"[.;\n]+")
_thing = re.compile(r",|\b(?:and|or)\b", re.IGNORECASE)
# What is excepted, or the other way round, is for a model to understand.
_otherwise = re.compile(
    r"\b(?:not|no|never|but|except|unless|besides|only|without|apart|rather|than|if|when)\b|n['’]t\b", re.IGNORECASE
)
_orders = frozenset(lexical.stems("ignore skip leave drop forget store keep save remember anything everything"))


class InstructionSettings(SettingsObject):
    """The words for models besides their rules: what they shall write down of messages above all (`extract`), and
    what shall be left out (`ignore`)."""

    extract: Annotated[str, Field(max_length=LONGEST)] = ""
    ignore: Annotated[str, Field(max_length=LONGEST)] = ""


@dataclass(frozen=True, slots=True)
class Instructions:
    extract: str = ""
    ignore: str = ""

    @classmethod
    def of(cls, *settings: object) -> Self:
        """Return what all of these say together. What is no such setting says nothing."""
        told = [
            checked(InstructionSettings, one, "instructions")
            for one in settings
            if isinstance(one, Mapping) and not faults(InstructionSettings, one, "instructions")
        ]
        return cls(_joined(one.extract for one in told), _joined(one.ignore for one in told))

    def leave_out(self, text: str) -> bool:
        """Tell whether `text` has all the words of a thing that is to be ignored."""
        said = lexical.stem_set(text)
        return any(thing <= said for thing in _things(self.ignore))


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, texts))


@lru_cache(maxsize=64)
def _things(ignore: str) -> tuple[frozenset[str], ...]:
    """Return the things to be ignored, each by the stems of its words."""
    lines = [line for line in _line.split(ignore) if not _otherwise.search(line)]
    things = (frozenset(lexical.stems(thing)) - _orders for line in lines for thing in _thing.split(line))
    return tuple(filter(None, things))
