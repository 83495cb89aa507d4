"""What was decided, chosen and found out."""

from memories.patterns.pattern import Pattern

PATTERNS = (
    Pattern(
        name="team-decided",
        category="decision",
        regex=r"\b(?:we|the team|our team)(?: have|'ve|’ve)?(?: just| recently| finally| all)? (?P<verb>decided|chose|agreed|opted)(?P<not> not)? to (?P<what>.{2,300})",
        statement="Team {verb}{not} to {what}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "We decided to drop support for Node 16 because nobody uses it",
                "Team decided to drop support for Node 16 because nobody uses it",
            ),
            ("We agreed not to release in December", "Team agreed not to release in December"),
        ),
        counter_examples=("Should we decide now", "I decided to sleep"),
    ),
    Pattern(
        name="found-workaround",
        category="decision",
        regex=r"\b(?:I|we)(?: have|'ve|’ve)?(?: just| finally)? found (?:an? |the )?(?P<what>(?:workaround|solution|fix) (?:for|to) .{2,120}? (?:by|is to|was to|:) .{2,200})",
        statement="Found {what}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "I found a workaround for NativeWind v4 by using className prop directly",
                "Found workaround for NativeWind v4 by using className prop directly",
            ),
        ),
        counter_examples=("I found a solution", "I found a dog by the river"),
    ),
)
