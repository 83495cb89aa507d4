"""All patterns, in the order in which they are tried: the first that fits a clause has it."""

from memories.patterns import (
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
from memories.patterns.pattern import Pattern

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
# what may stand in a request: it sets a rule for others
DEMANDS = tuple(pattern for pattern in PATTERNS if pattern.category in ("policy", "instruction"))
# what need not be tried on a clause that begins with neither "I", "we" nor "my"
_of_speaker = ("^I ", "^(?:I|we)", "^(?:I|we|")
OF_OTHERS = tuple(pattern for pattern in PATTERNS if not pattern.regex.startswith(_of_speaker))


def candidates(clause: str, *, is_request: bool) -> tuple[Pattern, ...]:
    """The patterns that `clause` may fit, judged by its beginning."""
    if is_request:
        return DEMANDS
    return PATTERNS if clause[:2].lower() in ("i ", "we", "my", "me") else OF_OTHERS
