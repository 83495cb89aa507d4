"""Which tools a team uses, and what it changed them for."""

from memories.patterns.pattern import Pattern

_tool = r"[\w.+#/@-]{1,40}(?: [\w.+#/@-]{1,40}){0,4}?"
_end = r"(?= (?:because|since|as|for|due|so|in|last|this|after|when|and|on|a|with|to|two|three|\d+)\b|[,;.(]|$)"
_have = r"(?: have| had)?(?: just| recently| finally| now| already| all)?"
PATTERNS = (
    Pattern(
        name="team-switched",
        category="technology",
        regex=rf"\b(?:we|the team|our team|the company){_have} (?P<verb>switched|migrated|moved|changed|converted)(?: over)? from (?!the\b|our\b|a\b)(?P<old>{_tool}) to (?P<new>{_tool}){_end}",
        statement="Team {verb} from {old} to {new}",
        entities=("old", "new"),
        confidence=0.9,
        is_team=True,
        needs=("switched", "migrated", "moved", "changed", "converted"),
        examples=(
            (
                "We switched from JWT to Clerk for authentication because of compliance requirements",
                "Team switched from JWT to Clerk",
            ),
            ("We've migrated from MySQL to Postgres.", "Team migrated from MySQL to Postgres"),
        ),
        counter_examples=("We moved from the kitchen to the porch", "Have we switched yet"),
    ),
    Pattern(
        name="switched",
        category="technology",
        regex=rf"^(?:I {_have} ?)?(?P<verb>switched|migrated) from (?P<old>{_tool}) to (?P<new>{_tool}){_end}",
        statement="{speaker} {verb} from {old} to {new}",
        entities=("old", "new"),
        confidence=0.9,
        examples=(("I switched from Vim to Helix last year", "Alex switched from Vim to Helix"),),
        counter_examples=("I switched the light off",),
    ),
    Pattern(
        name="team-switched-to",
        category="technology",
        regex=rf"\b(?:we|the team|our team){_have} (?P<verb>switched|migrated|upgraded|downgraded)(?: (?P<what>(?:our |the |all )?[\w -]{{1,40}}?))?(?: over)? to (?P<new>{_tool}){_end}",
        entities=("new",),
        confidence=0.9,
        is_team=True,
        needs=("switched", "migrated", "upgraded", "downgraded"),
        examples=(
            (
                "We upgraded our API to Django 5 last month",
                "Team upgraded their API to Django 5 last month",
            ),
            ("We migrated to Kubernetes", "Team migrated to Kubernetes"),
        ),
        counter_examples=("I upgraded to first class",),
    ),
    Pattern(
        name="team-replaced",
        category="technology",
        regex=rf"\b(?:we|the team|our team){_have} (?P<verb>replaced|swapped(?: out)?) (?P<old>{_tool}) (?:with|by|for) (?P<new>{_tool}){_end}",
        statement="Team {verb} {old} with {new}",
        entities=("old", "new"),
        confidence=0.9,
        is_team=True,
        needs=("replaced", "swapped"),
        examples=(("We replaced Redis with Valkey", "Team replaced Redis with Valkey"),),
        counter_examples=("We replaced the window",),
    ),
    Pattern(
        name="team-uses",
        category="technology",
        regex=r"^(?:(?:at work|currently|now|today),? )?(?:we|the team|our team|our (?:company|stack|backend|frontend|app|api|service|project|codebase|infrastructure|site|pipeline)) (?:now |currently |mostly |mainly |all |still |also )?(?:use|uses|are using|is using|run on|runs on|run|are running|deploy|deploys|host|hosts|build|are building|rely on|relies on|is built (?:with|on|in)|is written in|is hosted on|is based on|store|standardi[sz]ed on) (?:on |with |to |in |everything |our \w+ |all \w+ )*(?-i:[A-Z]|[a-z]+[A-Z\d.])\S*.{0,160}",
        confidence=0.85,
        is_team=True,
        examples=(
            ("We use Terraform for all environments", "Team uses Terraform for all environments"),
            ("Our backend is written in Rust", "The team's backend is written in Rust"),
            ("We're using PostgreSQL 16", "Team is using PostgreSQL 16"),
        ),
        counter_examples=("We use umbrellas", "We run every morning"),
    ),
    Pattern(
        name="built-with",
        category="technology",
        regex=r"^(?:the|this) (?:[\w-]+ ){0,3}?(?:app|api|service|project|codebase|backend|frontend|server|site|website|system|pipeline|database|platform|repo|repository|stack|tests?|cli|worker|queue) (?:now )?(?:uses?|is using|runs? on|relies on|is built (?:with|on|in)|is written in|is hosted on|is deployed (?:on|to)|depends on) .{2,160}",
        confidence=0.8,
        is_team=True,
        examples=(
            ("The billing service is written in Go", "The billing service is written in Go"),
        ),
        counter_examples=("The service was slow",),
    ),
    Pattern(
        name="stack",
        category="technology",
        regex=r"^(?:my|our|the) (?:tech |technology |current |whole |entire )*(?:stack|tech stack|toolchain|setup) (?:is|are|consists of|includes|uses) .{2,160}",
        confidence=0.85,
        is_team=True,
        examples=(
            ("Our tech stack is Django and htmx", "The team's tech stack is Django and htmx"),
        ),
        counter_examples=("Stack them here",),
    ),
    Pattern(
        name="team-dropped",
        category="technology",
        regex=rf"\b(?:we|the team|our team){_have} (?P<verb>dropped|removed|deprecated|retired|decommissioned|adopted|introduced|rolled out|stopped using|no longer use) (?:support for )?(?P<tool>(?-i:[A-Z]|[a-z]+[A-Z\d])\S*){_end}",
        entities=("tool",),
        confidence=0.85,
        is_team=True,
        needs=("we", "team"),
        examples=(
            (
                "We deprecated GraphQL in favour of REST",
                "Team deprecated GraphQL in favour of REST",
            ),
            ("We no longer use Jenkins", "Team no longer uses Jenkins"),
        ),
        counter_examples=("We adopted a cat",),
    ),
)
