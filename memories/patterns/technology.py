"""Which tools a team uses, and what it changed them for."""

from memories.patterns.pattern import Pattern

_tool = r"[\w.+#/-]{1,40}(?: [\w.+#/-]{1,40}){0,4}?"
_reason = r"(?= because\b| since\b| as\b| for\b| due\b| so\b| to\b| in\b| last\b| this\b| after\b| when\b| and\b| on\b| a\b| \d|[,;.(]|$)"
PATTERNS = (
    Pattern(
        name="team-switched",
        category="technology",
        regex=rf"\b(?:we|the team|our team)(?: have|'ve|’ve)?(?: just| recently| finally| now)? (?P<verb>switched|migrated|moved|changed)(?: over)? from (?P<old>{_tool}) to (?P<new>{_tool}){_reason}",
        statement="Team {verb} from {old} to {new}",
        entities=("old", "new"),
        confidence=0.9,
        is_team=True,
        examples=(
            (
                "We switched from JWT to Clerk for authentication because of compliance requirements",
                "Team switched from JWT to Clerk",
            ),
            ("We've migrated from MySQL to Postgres.", "Team migrated from MySQL to Postgres"),
        ),
        counter_examples=("We moved from the kitchen", "Have we switched yet"),
    ),
)
