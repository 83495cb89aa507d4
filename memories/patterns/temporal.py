"""What happened, and when."""

from memories.patterns.morphology import ADVERB
from memories.patterns.pattern import Pattern

PATTERNS = (
    Pattern(
        name="team-started-using",
        category="temporal",
        regex=r"\bwe(?: have|'ve|’ve)? (?:just )?started using\b.{2,200}",
        confidence=0.85,
        is_team=True,
        examples=(("We started using Docker last May", "Team started using Docker last May"),),
        counter_examples=("Have we started",),
    ),
    Pattern(
        name="started-using",
        category="temporal",
        regex=rf"^(?:I {ADVERB})?started using\b.{{2,200}}",
        confidence=0.8,
        examples=(
            ("I started using Zustand last May", "Alex started using Zustand last May"),
            ("Started using Vim 3 weeks ago", "Alex started using Vim 3 weeks ago"),
        ),
        counter_examples=("The engine started",),
    ),
)
