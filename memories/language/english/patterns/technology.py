"""Patterns for the tools that a team uses, and for what replaced them."""

from memories.language.english.patterns.pattern import Pattern

_tool = r"[\w.+#/@-]{1,40}(?: [\w.+#/@-]{1,40}){0,4}?"
_end = r"(?= (?:because|since|as|for|due|so|in|last|this|after|when|and|on|a|with|to|two|three|\d+)\b|[,;.(]|$)"
# a purpose that ends the clause is kept; where reasons follow, the switch alone is the claim
_purpose = (
    r"(?P<purpose> for(?! (?:now|good|sure)\b)(?: (?!(?:because|since|due|as|so|and|but|when|last)\b)[\w./+-]+){1,6}$|)"
)
_have = r"(?: have| had)?(?: just| recently| finally| now| already| all)?"
PATTERNS = (
    Pattern(
        name="team-switched",
        category="technology",
        regex=rf"\b(?:we|the team|our team|the company){_have} (?P<verb>switched|migrated|moved|changed|converted)(?: over)? from (?!the\b|our\b|a\b)(?P<old>{_tool}) to (?P<new>{_tool}){_end}{_purpose}",
        statement="Team {verb} from {old} to {new}{purpose}",
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
            (
                "We moved from Travis to Buildkite for nightly builds.",
                "Team moved from Travis to Buildkite for nightly builds",
            ),
        ),
        counter_examples=("We moved from the kitchen to the porch", "Have we switched yet"),
    ),
    Pattern(
        name="switched",
        category="technology",
        regex=rf"^(?:I {_have} ?)?(?P<verb>switched|migrated) from (?P<old>{_tool}) to (?P<new>{_tool}){_end}{_purpose}",
        statement="{speaker} {verb} from {old} to {new}{purpose}",
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
            ("We upgraded our API to Django 5 last month", "Team upgraded their API to Django 5 last month"),
            ("We migrated to Kubernetes", "Team migrated to Kubernetes"),
        ),
        counter_examples=("I upgraded to first class",),
    ),
    Pattern(
        name="team-replaced",
        category="technology",
        regex=rf"\b(?:we|the team|our team){_have} (?P<verb>replaced|swapped(?: out)?) (?P<old>{_tool}) (?:with|by|for) (?P<new>{_tool}){_end}{_purpose}",
        statement="Team {verb} {old} with {new}{purpose}",
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
        regex=r"^(?:the|this) (?:[\w-]+ ){0,3}?(?:app|api|service|project|codebase|backend|frontend|server|site|website|system|pipeline|database|db|cluster|replica|instance|machine|container|image|lambda|gateway|proxy|cache|bot|dashboard|platform|repo|repository|stack|tests?|cli|worker|queue) (?:now |still |currently )?(?:uses?|is using|runs?(?: on)?|relies on|is built (?:with|on|in)|is written in|is hosted on|is deployed (?:on|to)|depends on) .{2,160}",
        confidence=0.8,
        is_team=True,
        examples=(
            ("The billing service is written in Go", "The billing service is written in Go"),
            ("The reporting cluster runs Kafka 3", "The reporting cluster runs Kafka 3"),
        ),
        counter_examples=("The service was slow",),
    ),
    Pattern(
        name="system-needs",
        category="technology",
        regex=r"^(?:the |this )?(?:(?!our\b)[\w-]+ ){0,3}?(?:ci|builds?|jobs?|cron ?jobs?|pipelines?|scripts?|test suite|tests|importer|exporter|deploy(?:ment)?s?|migrations?|backups?|apis?|endpoints?|servers?|services?|workers?|clusters?|databases?|replicas?|daemon|containers?|feature flags?|flag \S+|linter|formatter|webhooks?|sdk) (?:now |still |usually |always |only |currently )*(?:takes?|needs?|requires?|lives? (?:in|under|on|at)|expects?|accepts?|returns?|times? out|listens? on|is limited to|is capped at|is stored (?:in|on)|are stored (?:in|on)|reads? from|writes? to|depends? on) (?!(?:care|place|time|longer|help|you|me|work|a (?:while|lot|look|break))\b).{2,200}",
        confidence=0.8,
        is_team=True,
        examples=(
            ("The importer needs at least 8 GB of memory", "The importer needs at least 8 GB of memory"),
            ("Migrations live under db/versions", "Migrations live under db/versions"),
        ),
        counter_examples=("The job takes care", "The choir needs a tenor"),
    ),
    Pattern(
        name="team-system",
        category="technology",
        regex=r"^our (?:[\w'-]+ ){0,2}?(?:apis?|services?|apps?|backend|frontend|databases?|servers?|pipelines?|builds?|repos?|repository|codebase|website|platform|release train|deployments?|ci|staging|production|cluster|rate limits?|sla|infrastructure|test suite|endpoints?|queues?|cache|schema|sdk|webhooks?|monorepo|uptime|backups?)\b.{0,60}? (?:is|are|was|has|have|takes?|runs?|allows?|supports?|returns?|requires?|needs?|expects?|accepts?|limits?|lives?|must|can|can't|does|doesn't|fails?|scales?|handles?|costs?|breaks?|crashes)\b .{2,200}",
        confidence=0.85,
        is_team=True,
        examples=(
            ("Our upload API accepts files of at most 20 MB", "The team's upload API accepts files of at most 20 MB"),
        ),
        counter_examples=("Our garden is full of snails", "The API is slow"),
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
            ("We deprecated GraphQL in favour of REST", "Team deprecated GraphQL in favour of REST"),
            ("We no longer use Jenkins", "Team no longer uses Jenkins"),
        ),
        counter_examples=("We adopted a cat",),
    ),
)
