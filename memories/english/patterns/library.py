"""All patterns, in the order in which they are tried: the first that fits a clause has it."""

from memories.english.patterns import (
    decision,
    identity,
    instruction,
    other,
    plan,
    policy,
    possession,
    preference,
    relationship,
    technology,
    temporal,
)
from memories.english.patterns.pattern import Pattern

_weak = 0.7  # patterns that fit almost anything wait until the narrow ones have been tried
_by_category: tuple[Pattern, ...] = (
    *technology.PATTERNS,
    *decision.PATTERNS,
    *policy.PATTERNS,
    *instruction.PATTERNS,
    *identity.PATTERNS,
    *preference.PATTERNS,
    *relationship.PATTERNS,
    *possession.PATTERNS,
    *plan.PATTERNS,
    *temporal.PATTERNS,
    *other.PATTERNS,
)
PATTERNS = tuple(sorted(_by_category, key=lambda pattern: pattern.confidence <= _weak))
# what may stand in a request: it sets a rule for others, or tells where to reach somebody
DEMANDS = tuple(
    pattern
    for pattern in PATTERNS
    if pattern.category in ("policy", "instruction") or pattern.name == "contact"
)
