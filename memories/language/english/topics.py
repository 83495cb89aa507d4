"""Topics of statements: whether one is about what somebody names ("my salary" and "I earn 91,000 a
year"), and whether it is about private life, on which no team decides, or about work. Pure."""

import re
from collections.abc import Collection
from functools import cache

from memories.language.english import lexical
from memories.language.english.calendar import MONTH_NAMES
from memories.language.english.statements.word_lists import CLASSES, LIGHT

# Names of things that people tell in other words. The first word stands for its line; words behind
# a colon are kinds of what the words before it name, and not of each other.
_named = """
salary salaries earn earns earned earning income wage wages paycheck
job jobs work works worked working employer employed profession occupation career
quit quits quitting resign resigns resigned resigning resignation
fired fire sacked dismissed dismissal layoff firing
address addresses street avenue road lane
illness ill sick sickness disease disorder diagnosis diagnosed diagnose condition : hiv cancer depression depressed anxiety diabetes epilepsy adhd bipolar autism asthma anorexia anorexic bulimia bulimic dementia alzheimer parkinson psoriasis migraine leukaemia leukemia lymphoma tumour tumor melanoma stroke sclerosis crohn fibromyalgia endometriosis glaucoma tuberculosis schizophrenia herpes hepatitis lupus arthritis dyslexia
medication medications medicine medicines meds pills pill drug drugs antidepressant antidepressants prescription : {medicines}
therapy therapist therapists counselling psychologist psychiatrist
health illness : hiv cancer depression anxiety diabetes disorder disease diagnosed diagnosis medication antidepressants
religion religious faith : church mosque synagogue muslim christian buddhist buddhism jewish judaism catholic islam hindu atheist mormon protestant lutheran methodist anglican presbyterian baptist sikh quaker evangelical pentecostal agnostic baptised baptized converted pray
sexuality orientation : gay lesbian bisexual homosexual heterosexual queer asexual pansexual
politics political vote voted votes voting party election
death die dies died dead dying funeral passed
divorce divorced divorcing separation separated split
breakup broke dumped split
pregnancy pregnant expecting
wedding married marry marries marriage marrying engaged
birthday birthdate
birth born
age aged
weight weigh weighs weighed kilos kilo kg pounds lbs overweight
height tall
debt debts owe owes owed loan loans
money savings debt loan bank euros dollars
loss losses lost lose losing
phone telephone mobile number cell
email mail e-mail
password passcode pin
rent rental
affair affairs cheated cheating cheat
exam exams test tests
drink drinks drinking drank drunk alcohol alcoholic
smoke smokes smoked smoking cigarettes
relationship dating boyfriend girlfriend partner
holiday holidays vacation trip trips travel
accident accidents crash crashed
prison jail imprisoned convicted
adopt adopting adoption adopted
move moving moved relocation relocating
vegan vegetarian
mortgage mortgages
boxing boxer box boxed
bullying bullied bully
suspended suspension
"""
_medicines = """
sertraline fluoxetine prozac zoloft citalopram escitalopram lexapro venlafaxine mirtazapine bupropion lithium lamotrigine quetiapine olanzapine risperidone
ritalin methylphenidate adderall concerta metformin insulin ozempic semaglutide levothyroxine thyroxine ibuprofen paracetamol aspirin tramadol oxycodone morphine methadone
xanax alprazolam valium diazepam lorazepam zolpidem melatonin prednisone cortisone warfarin statins atorvastatin ramipril lisinopril amlodipine bisoprolol omeprazole pantoprazole
gabapentin pregabalin naltrexone truvada prep viagra sildenafil tamoxifen methotrexate antibiotics amoxicillin penicillin tretinoin isotretinoin accutane
"""
# Words of a request that name nothing it is about.
_said_with = frozenset(
    """
    thing things stuff part bit info information detail details fact facts note notes story comment remark message
    name named called news topic subject matter issue situation business mention told said say tell talk about regarding
    whole entire old new recent current former own really actually just ever never still also anymore any more again even all
    user's user year years ago today yesterday last week month day time one two back whole lot much many people everything anything
    start starts begin begins happen happens
    know knew think thought want wanted plan planning planned going go happened happen
    """.split()
)
# Pay that somebody gets; "I pay 900 for my flat" is about something else.
_pay = re.compile(
    r"\b(?:my|your|his|her|their|our|the|[\w-]{1,30}'s) (?:\w{1,20} )?pay(?= (?:is|was|rise|raise|cut|slip|check|day|grade)\b|\W|$)"
    r"|\b(?:get|gets|getting|got|am|is|are|was|were|be|been|being) (?:\w{1,20} )?paid\b"
    r"|\b(?:pays?|paid|paying) (?:me|us)\b",
    re.IGNORECASE,
)
# Things named by several words, or told by a verb with a figure.
_phrases = tuple(
    (re.compile(form, re.IGNORECASE), name)
    for form, name in (
        (r"\b(?:date|day|year) of (?:my |his |her |their )?birth\b|\bbirth ?dates?\b|\bd\.?o\.?b\b", "birthday"),
        (r"\bhome address(?:es)?\b", "address"),
        (
            r"\b(?:lives?|living|resides?) (?:at|in|on) (?=(?:the )?(?:\w+ ){0,3}?\d|\d|[\w'’ ]{2,30}(?-i:\b(?:Street|Road|Lane|Avenue|Drive|Square|Court|Place|Way|Close)\b))",
            "lives address ",
        ),
        (r"\bhow much (?:money )?(?:I|we) (?:earn|make|am paid|get paid|get|bring home|take home)\b", "salary"),
        (
            r"\b(?:makes?|making|earns?|brings? home|takes? home)(?= (?:(?:about|around|roughly|only|just|over|under|almost|nearly) )?(?:[$€£]|[\d.,]+k\b|[\d.,]+ ?(?:euros?|dollars?|pounds?|francs?|eur|usd)\b|[\d.,]{2,} (?:an?|per|each|every) (?:month|year|week|hour|annum)\b))",
            "salary",
        ),
        (r"\bhow old (?:I am|we are)\b|\b(?:am|is|are|I['’]m|turned) (?=\d{1,3}(?: years old\b|[.,;]|$))", "age "),
        (rf"\bborn (?=(?:on|in) (?:the )?(?:\d|(?:{MONTH_NAMES})\b))", "born birthday"),
        (r"\bhow much (?:I|we) weigh\b", "weight"),
        (r"\bsex(?:ual)? orientation\b", "orientation"),
    )
)
_possessive = re.compile(r"['’]s\b")
_compound = re.compile(r"(?<=\w)[-_/](?=\w)")


@cache
def _canon() -> dict[str, frozenset[str]]:
    """Return, by stem, the names of the lines that it stands in."""
    lines: dict[str, set[str]] = {}
    for words in CLASSES:
        for word in words:
            for stem in lexical.stems(word):
                lines.setdefault(stem, set()).add(words[0])
    for line in _named.format(medicines=" ".join(_medicines.split())).strip().splitlines():
        general, _, kinds = line.partition(":")
        name = general.split()[0]
        for named, sign in ((general, "="), (kinds, ">")):
            for stem in {stem for word in named.split() for stem in lexical.stems(word)}:
                lines.setdefault(stem, set()).add(sign + name)
    return {stem: frozenset(names) for stem, names in lines.items()}


@cache
def _light() -> frozenset[str]:
    return frozenset(stem for word in (*LIGHT, *_said_with) for stem in lexical.stems(word))


def words_of(text: str) -> list[str]:
    """Return the stems of a text, with the parts of its compounds."""
    text = _pay.sub(" salary ", text)
    for form, name in _phrases:
        text = form.sub(f" {name} ", text)
    return lexical.stems(_possessive.sub("", _compound.sub(" ", text)))


def meaningful(topic: str) -> list[str]:
    """Return the stems that say what a topic is; all of them if there are no such stems."""
    return naming(topic) or list(dict.fromkeys(words_of(topic)))


def naming(topic: str) -> list[str]:
    """Return the stems that say what a topic is."""
    light = _light()
    return [stem for stem in dict.fromkeys(words_of(topic)) if stem not in light]


def is_attribute(topic: str) -> bool:
    """Tell whether each word of a topic names a thing that people also tell of themselves in other
    words: "salary", "home address"; not "troubles"."""
    canon, words = _canon(), naming(topic)
    return bool(words) and all(any(name[0] == "=" for name in canon.get(stem, ())) for stem in words)


def coverage(topic: Collection[str], said: Collection[str]) -> float:
    """Return the share of a topic's stems that a statement has, in these words or in others."""
    if not topic:
        return 0.0
    return sum(_has(stem, said) for stem in topic) / len(topic)


def _has(stem: str, said: Collection[str]) -> bool:
    if stem in said:
        return True
    canon = _canon()
    names = canon.get(stem, frozenset())
    return any(_is_one(names, canon.get(other, frozenset())) or _same_root(stem, other) for other in said)


def _is_one(some: frozenset[str], others: frozenset[str]) -> bool:
    """Tell whether two words stand in one line, and not both for kinds of it."""
    if any(name[0] != ">" for name in some & others):
        return True
    return any(f"={name[1:]}" in others for name in some if name[0] == ">") or any(
        f"={name[1:]}" in some for name in others if name[0] == ">"
    )


def _same_root(one: str, other: str) -> bool:
    """Tell whether stems have one root: "allergi" and "allerg", "adopt" and "adoption"; not "car",
    "card"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and long.startswith(short[: max(5, len(short) - 1)])


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
# Counts only if nothing in the text is about work.
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
    r"|prototype|mvp|beta|spec(?:s|ification)?|standards?|conventions?|linters?|formatt(?:ers?|ing)|type ?checking|indentation|tabs|naming|hotfix\w*|freeze|backups?|storage|search|index(?:es)?|latency|performance|scal\w+|webhooks?|emails?|newsletter"
    r"|warehouse|factory|shipment|inventory|fleet|patients?|clinic|students?|curriculum|lab|experiment\w*|compan(?:y|ies)|firm|department|investors?|kpis?|okrs?|sla|rfp|tender|compliant|licen[cs]es?"
    r"|postgres\w*|mysql|sqlite|mongo\w*|redis|kafka|rabbitmq|elastic\w*|terraform|ansible|jenkins|github|gitlab|jira|slack|figma|python|java|kotlin|typescript|javascript|rust|golang|react|vue|angular|svelte|django|rails|node|aws|azure|gcp)\b"
    r"|\b[A-Za-z]+(?:\.(?:js|py|io|net|ts)|SQL|DB|MQ|QL)\b|\b(?-i:[A-Z][a-z]+[A-Z])\w*",
    re.IGNORECASE,
)


def is_private_life(text: str) -> bool:
    return bool(_private.search(text) or (_homely.search(text) and not _work.search(text)))


_by_us = re.compile(
    r"\bwe (?:all |both )?(?:always|never|only) (?!(?:deploy|commit|merge|push|rebase|squash|lint|hard-?code|refactor|mock|hash|saniti[sz]e"
    r"|escape|encrypt|version|tag|pin|migrate|benchmark|validate|log)\b)",
    re.IGNORECASE,
)


def told_by_us(text: str) -> bool:
    """Tell whether a text says what "we" always or never do, in words that do not point to work."""
    return _by_us.search(text) is not None


def is_work(text: str) -> bool:
    """Tell whether a text has words of a team's work."""
    return _work.search(text) is not None
