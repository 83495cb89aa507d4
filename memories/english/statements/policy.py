"""What a machine may not replace alone: the policy of a workspace. Pure: values in, a reason out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

PINNED, PROTECTED, UNTRUSTED, UNSURE, GREY = "pinned", "protected", "untrusted", "unsure", "grey"
FIELDS = ("similarity", "confidence", "categories", "agents")
LONGEST = 200  # names in a list


@dataclass(frozen=True, slots=True)
class Replacement:
    """One memory that is about to take the place of another. `agent`: who wrote it, or ""."""

    similarity: float | None
    confidence: float
    categories: frozenset[str]
    agent: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """What is held back: similarities from `grey[0]` up to `grey[1]`, confidence under
    `confidence`, memories of these categories, and what these agents write. Pinned always is.
    """

    grey: tuple[float, float] = (0.0, 0.0)
    confidence: float = 0.0
    categories: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Mapping[str, Any] | None) -> Self:
        """From settings that have no faults; {} and None hold back what is pinned alone."""
        found = settings or {}
        low, high = found.get("similarity") or (0.0, 0.0)
        return cls(
            (float(low), float(high)),
            float(found.get("confidence") or 0.0),
            frozenset(found.get("categories") or ()),
            frozenset(found.get("agents") or ()),
        )

    def holds(self, replacement: Replacement) -> str:
        """The reason to hold it back until a person decides; "" where there is none."""
        if replacement.pinned:
            return PINNED
        if replacement.categories & self.categories:
            return PROTECTED
        if replacement.agent and replacement.agent in self.agents:
            return UNTRUSTED
        if replacement.confidence < self.confidence:
            return UNSURE
        low, high = self.grey
        if replacement.similarity is not None and low <= replacement.similarity < high:
            return GREY
        return ""


def held_by(reason: str, rule: str) -> str:
    """What is kept with a decision that was held back: why, and what the machine went by."""
    return f"{reason}: {rule}" if rule and rule != reason else reason


def faults_of(settings: Any, categories: frozenset[str]) -> dict[str, str]:
    """What is wrong, by field, "" for all of it; `categories` are those that there are."""
    if not isinstance(settings, Mapping):
        return {"": "An object with similarity, confidence, categories, agents."}
    found = {str(name): "There is no such field." for name in settings if name not in FIELDS}
    if "similarity" in settings and not _is_range(settings["similarity"]):
        found["similarity"] = "Two numbers from 0 to 1, the smaller first: from, up to."
    if "confidence" in settings and not _is_share(settings["confidence"]):
        found["confidence"] = "A number from 0 to 1."
    if "categories" in settings and not _are_names(settings["categories"], categories):
        found["categories"] = f"A list out of {', '.join(sorted(categories))}."
    if "agents" in settings and not _are_names(settings["agents"], None):
        found["agents"] = "A list of ids of agents."
    return found


def _is_share(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= 1


def _is_range(value: Any) -> bool:
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    return is_pair and all(_is_share(each) for each in value) and value[0] <= value[1]


def _are_names(value: Any, known: frozenset[str] | None) -> bool:
    is_list = isinstance(value, list | tuple) and len(value) <= LONGEST
    if not is_list or not all(isinstance(each, str) for each in value):
        return False
    return known is None or set(value) <= known
