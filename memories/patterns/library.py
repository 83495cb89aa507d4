"""All patterns, in the order in which they are tried: the first that fits a clause has it."""

from memories.patterns import decision, policy, preference, technology, temporal
from memories.patterns.pattern import Pattern

PATTERNS: tuple[Pattern, ...] = (
    *technology.PATTERNS,
    *decision.PATTERNS,
    *policy.PATTERNS,
    *temporal.PATTERNS,
    *preference.PATTERNS,
)
