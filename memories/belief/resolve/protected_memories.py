"""The policy of a workspace: which memories a machine may not replace alone. Pure: values in, a
reason out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

PINNED, PROTECTED, UNTRUSTED, UNSURE, GREY = "pinned", "protected", "untrusted", "unsure", "grey"


@dataclass(frozen=True, slots=True)
class Replacement:
    """A memory that is about to replace another. `agent`: the agent that wrote it, or ""."""

    similarity: float | None
    confidence: float
    categories: frozenset[str]
    agent: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """Replacements to hold back: similarity from `grey[0]` up to `grey[1]`, confidence under
    `confidence`, memories of these categories, and writes of these agents. Pinned ones always are.
    """

    grey: tuple[float, float] = (0.0, 0.0)
    confidence: float = 0.0
    categories: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Mapping[str, Any] | None) -> Self:
        """Read settings that have no faults; {} and None hold back only pinned memories."""
        found = settings or {}
        low, high = found.get("similarity") or (0.0, 0.0)
        return cls(
            (float(low), float(high)),
            float(found.get("confidence") or 0.0),
            frozenset(found.get("categories") or ()),
            frozenset(found.get("agents") or ()),
        )

    def holds(self, replacement: Replacement) -> str:
        """Return the reason to hold it back until a person decides; "" where there is none."""
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
    """Return the text kept with a held decision: the reason, and the rule the machine went by."""
    return f"{reason}: {rule}" if rule and rule != reason else reason
