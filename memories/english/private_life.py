"""Whether a sentence tells of somebody's private life, which no team decides, or of work."""

import re

_private = re.compile(
    r"\b(?:divorc\w*|separat(?:e|ed|ing) (?:from|legally|for good|after)|break(?:ing)? up|broke up|split(?:ting)? up|marri(?:ed|age)|marry(?:ing)?|engaged to|engagement ring|wedding|honeymoons?"
    r"|elop\w+|prenup\w*|husband|wife|wives|spouse|fianc\w+|boyfriend|girlfriend|in-laws?|mother|father|mum|mom|dad|sisters?|brothers?|siblings?"
    r"|grand(?:ma|pa|mother|father|parents?|kids?|child\w*)|daughters?|sons?|bab(?:y|ies)|twins|toddlers?|newborn|aunts?|uncles?|nieces?|nephews?"
    r"|(?:our|my|his|her|the|a|an|another|first|second|third|two|three|have|having|raise|raising|more) (?:kids?|child(?:ren)?|parents)|name for the (?:boy|girl)|foster (?:care|child\w*|kids?)"
    r"|pregnan\w+|ivf|fertility|conceiv\w+|surrogacy|abortion|miscarriage|vasectomy|contracepti\w+|adopt(?:ion|ing|ed)? (?:a |an |another |our )?(?:\w+ )?(?:child|baby|kid|boy|girl|dog|puppy|cat|kitten)"
    r"|custody|childcare|nursery|kindergarten|day ?care|home ?school\w*|famil(?:y|ies)|therap(?:y|ists?)|counsel(?:l?ing|lor)|rehab|sober|psychiatr\w+|psycholog\w+"
    r"|alcohol|drinking|affair|sex\w*|cancer|chemo\w*|tumou?r|surgery|diagnos\w+|medication|antidepress\w+|depress(?:ed|ion)|anxiety|burn-?out|illness|sick(?:ness)? leave|hospice|hospital|funeral|burial|grave"
    r"|will and testament|inherit\w*|mortgages?|my debts?|our (?:debts?|savings)|bankrupt\w*|alimony|salar(?:y|ies)|my (?:loan|pay|wages?|bonus)|mov(?:e|ing|ed) in together|living together|open relationship|relationship|couples?"
    r"|church|pray\w*|baptis\w+|mosque|synagogue|pension|retire(?:d|ment)? (?:early|home|to)|quit(?:ting)? (?:my|our|his|her) jobs?)\b",
    re.IGNORECASE,
)
# Where nothing tells of work.
_homely = re.compile(
    r"\b(?:household|at home|holidays?|vacations?|camping|anniversary|birthdays?|christmas|easter|thanksgiving|dinners?|lunch|breakfast|barbecue|picnic|supper|movie|cinema|concert|restaurant|sushi|pizza"
    r"|our (?:home|house|flat|apartment|bedroom|garden|kitchen|dog|cat|car|neighbou?rs?|landlord|rent)|the (?:bedroom|dog|cat|puppy|garden|flat|apartment|house|couch|sofa|kids|children)|kids|children|parents"
    r"|buy(?:ing)? (?:a |an |the )?(?:new |used |bigger |smaller )?(?:house|home|flat|apartment|car|boat|van|caravan|sofa|bed)|bought (?:a |an |the )?(?:new |used )?(?:house|home|flat|apartment|car|boat)"
    r"|(?:a|one|single|second) car|mov(?:e|ing|ed) to|emigrat\w*|retire\w*|vegan|vegetarian|diet|gym|yoga|debts?|savings|loan|separat(?:e|ed|ion)|engaged|for the move|partner and I)\b",
    re.IGNORECASE,
)
_work = re.compile(
    r"\b(?:services?|servers?|apis?|endpoints?|databases?|db|deploy\w*|releas\w+|rollouts?|rollbacks?|sprints?|stand-?ups?|retros?|scrum|kanban|pull requests?|prs?|merge requests?|code(?:base)?|reviews?|branch(?:es)?|merg\w+"
    r"|repos?(?:itor(?:y|ies))?|back-?ends?|front-?ends?|full-?stack|tests?|testing|ci(?:/cd)?|cd|pipelines?|builds?|staging|production|prod|environments?|migrations?|schemas?|queues?|cach(?:e|es|ing)|logs?|logging|monitoring|alerts?"
    r"|on-?call|incidents?|outages?|infra(?:structure)?|cloud|clusters?|containers?|kubernetes|k8s|docker|librar(?:y|ies)|frameworks?|languages?|sdks?|runtimes?|compilers?|versions?|support for|features?|products?|roadmaps?|customers?|clients?"
    r"|vendors?|suppliers?|contracts?|pricing|launch\w*|marketing|campaigns?|sales|hir(?:e|es|ing)|candidates?|interviews?|onboarding|office|meetings?|projects?|deadlines?|milestones?|quarters?|q[1-4]|budgets?|invoices?|billing|payments?|checkout"
    r"|security|compliance|gdpr|audits?|polic(?:y|ies)|data|analytics|dashboards?|reports?|reporting|documentation|docs|wiki|tickets?|backlog|bugs?|issues?|design system|apps?|website|mobile|plugins?|modules?|packages?|dependenc(?:y|ies)"
    r"|monorepo|micro-?services?|monolith|trunk|feature flags?|graphql|grpc|json|yaml|protobuf|auth\w*|log-?in|sso|oauth|tokens?|team'?s?|departments?|engineering|engineers?|developers?|devs|qa|stakeholders?|users?|architecture|refactor\w*"
    r"|prototype|mvp|beta|spec(?:s|ification)?|standards?|conventions?|linters?|formatters?|type ?checking|indentation|tabs|naming|hotfix\w*|freeze|backups?|storage|search|index(?:es)?|latency|performance|scal\w+|webhooks?|emails?|newsletter"
    r"|warehouse|factory|shipment|inventory|fleet|patients?|clinic|students?|curriculum|lab|experiment\w*|compan(?:y|ies)|firm|department|investors?|kpis?|okrs?|sla|rfp|tender|compliant|licen[cs]es?"
    r"|postgres\w*|mysql|sqlite|mongo\w*|redis|kafka|rabbitmq|elastic\w*|terraform|ansible|jenkins|github|gitlab|jira|slack|figma|python|java|kotlin|typescript|javascript|rust|golang|react|vue|angular|svelte|django|rails|node|aws|azure|gcp)\b"
    r"|\b[A-Za-z]+(?:\.(?:js|py|io|net|ts)|SQL|DB|MQ|QL)\b|\b(?-i:[A-Z][a-z]+[A-Z])\w*",
    re.IGNORECASE,
)


def is_private_life(text: str) -> bool:
    return bool(_private.search(text) or (_homely.search(text) and not _work.search(text)))


def is_work(text: str) -> bool:
    """Whether words of a team's work stand in it."""
    return _work.search(text) is not None
