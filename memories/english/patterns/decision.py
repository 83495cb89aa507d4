"""What was decided, chosen and found out."""

from memories.english.patterns.pattern import Pattern

_have = r"(?: have| had)?(?: just| recently| finally| all| now| already)?"
# a household decides too, but that is no decision of a team
_not_at_home = r"(?!.{0,200}\b(?:family|kids|trip|camping|vacation|holiday|wedding|dinner|hike|beach|baby|dog|cat|movie|married|house|apartment)\b)"
PATTERNS = (
    Pattern(
        name="team-decided",
        category="decision",
        regex=rf"\b(?:we|the team|our team|management|the company){_have} (?P<verb>decided|chose|agreed|opted|elected)(?P<not> not)? to (?P<what>{_not_at_home}.{{2,300}})",
        statement="Team {verb}{not} to {what}",
        confidence=0.85,
        is_team=True,
        needs=("decided", "chose", "agreed", "opted", "elected"),
        examples=(
            (
                "We decided to drop support for Node 16 because nobody uses it",
                "Team decided to drop support for Node 16 because nobody uses it",
            ),
            ("We agreed not to release in December", "Team agreed not to release in December"),
        ),
        counter_examples=("Should we decide now", "I decided to sleep", "We decided to go camping"),
    ),
    Pattern(
        name="team-decided-that",
        category="decision",
        regex=rf"\b(?:we|the team|our team){_have} (?P<verb>decided|agreed|concluded|settled) (?P<what>(?:that|on|upon|against|for) {_not_at_home}.{{2,300}})",
        statement="Team {verb} {what}",
        confidence=0.85,
        is_team=True,
        needs=("decided", "agreed", "concluded", "settled"),
        examples=(
            ("We settled on weekly releases", "Team settled on weekly releases"),
            ("We decided against microservices", "Team decided against microservices"),
        ),
        counter_examples=("We agreed",),
    ),
    Pattern(
        name="team-went-with",
        category="decision",
        regex=rf"(?:^(?P<lead>for (?:the|our|all|every|new|this|any) [\w' -]{{2,60}}?),? )?\b(?:we|the team|our team){_have} (?P<what>(?:went with|chose|picked|selected|are going with|will go with|opted for) {_not_at_home}.{{2,300}})",
        statement="Team {what} {lead}",
        confidence=0.85,
        is_team=True,
        needs=("we", "team"),
        examples=(
            ("We went with Stripe over Adyen", "Team went with Stripe over Adyen"),
            ("We chose Svelte for the dashboard", "Team chose Svelte for the dashboard"),
        ),
        counter_examples=("We went home",),
    ),
    Pattern(
        name="decision-is",
        category="decision",
        regex=r"^(?:the|our|final) (?:final )?(?:decision|verdict|agreement|conclusion|outcome|consensus)(?: was| is|:) (?P<what>.{4,300})",
        statement="Team decision: {what}",
        confidence=0.85,
        is_team=True,
        examples=(
            ("The decision is to keep two databases", "Team decision: to keep two databases"),
        ),
        counter_examples=("A decision was due",),
    ),
    Pattern(
        name="found-workaround",
        category="decision",
        regex=r"^(?:(?:I|we)(?: have)?(?: just| finally| also)? )?found (?:an? |the )?(?P<what>(?:workaround|solution|fix|way) (?:for|to|around) .{2,120}?(?: by|:| with|,? which is to) .{2,200})",
        statement="Found {what}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "I found a workaround for NativeWind v4 by using className prop directly",
                "Found workaround for NativeWind v4 by using className prop directly",
            ),
            (
                "Found a fix for the flaky login test by freezing the clock",
                "Found fix for the flaky login test by freezing the clock",
            ),
        ),
        counter_examples=("I found a solution", "I found a dog by the river"),
    ),
    Pattern(
        name="fixed-by",
        category="decision",
        regex=r"^(?:(?:I|we)(?: have)?(?: just| finally| also)? )?(?P<what>(?:fixed|solved|resolved|worked around|addressed|mitigated) .{2,160}? by \w+ing\b.{2,200})",
        statement="Team {what}",
        confidence=0.85,
        is_team=True,
        examples=(
            (
                "I fixed the memory leak by closing the pool",
                "Team fixed the memory leak by closing the pool",
            ),
        ),
        counter_examples=("I fixed dinner",),
    ),
    Pattern(
        name="cause-was",
        category="decision",
        regex=r"^(?:it turned out(?: that)?|turns out(?: that)?|the (?:root cause|cause|culprit|problem|bug|issue|fix|solution|workaround|answer) (?:was|is|turned out to be)) (?P<what>.{4,300})",
        confidence=0.75,
        is_team=True,
        examples=(
            (
                "The root cause was a missing index on orders",
                "The root cause was a missing index on orders",
            ),
        ),
        counter_examples=("The causes vary",),
    ),
)
