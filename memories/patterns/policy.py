"""What a team always does, never does, or asks of everybody's work."""

from memories.patterns.pattern import Pattern

# what teams make rules about; "we always go camping" is no policy
_work = (
    r"(?:use|run|write|deploy|test|review|document|merge|commit|push|release|ship|build|log|store|"
    r"validate|check|format|lint|name|version|tag|branch|rebase|squash|squash-merge|require|pin|"
    r"encrypt|back up|backup|monitor|alert|cache|mock|type|handle|return|raise|wrap|add|include|"
    r"avoid|prefer|keep|put|call|import|export|follow|create|open|close|approve|assign|estimate|"
    r"migrate|rotate|share|send|answer|respond|reply|ask|schedule|start|update|support|notify|escalate|"
    r"allow|accept|have|set|make sure|ensure|hash|sanitize|sanitise|escape|disable|enable|rely|expose)"
)
PATTERNS = (
    Pattern(
        name="team-always",
        category="policy",
        regex=rf"\bwe (?:all )?(?P<rule>(?:always|never|only) {_work}\b.{{2,200}})",
        statement="Team policy: {rule}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "We always use Prettier for formatting",
                "Team policy: always use Prettier for formatting",
            ),
            ("We never deploy on Fridays.", "Team policy: never deploy on Fridays"),
        ),
        counter_examples=("We always go camping in July", "I always use a pen"),
    ),
    Pattern(
        name="team-should",
        category="policy",
        regex=rf"\b(?:we|everyone|the team|our team) (?P<rule>(?:should|must|have to|need to|shall)(?: not|n't)?(?: always| never| only)? {_work}\b.{{2,200}})",
        statement="Team policy: {rule}",
        confidence=0.8,
        is_team=True,
        examples=(
            (
                "We should use feature flags for risky changes",
                "Team policy: should use feature flags for risky changes",
            ),
            (
                "Everyone must review at least one pull request a day",
                "Team policy: must review at least one pull request a day",
            ),
        ),
        counter_examples=("We should go out some time",),
    ),
    Pattern(
        name="should-add-check",
        category="policy",
        regex=r"\b(?:should|must|needs? to|please|to) (?P<verb>add|include) (?:an? |the |some |more |another )?(?P<what>[\w-]+(?: [\w-]+){0,2}? (?:check|validation|test|guard|handling)s?)\b",
        statement="Should {verb} {what}",
        confidence=0.8,
        is_team=True,
        examples=(
            (
                "This function should add null check before reading the name",
                "Should add null check",
            ),
            ("You should add a null check here", "Should add null check"),
            ("This endpoint should include input validation", "Should include input validation"),
        ),
        counter_examples=("I should check the oven",),
    ),
)
