"""English words by what they do in a statement, and words that deny, end, replace or exclude
others. Data only."""

from dataclasses import dataclass
from pathlib import Path

ARTICLES = frozenset("a an the some this that these those his her their its own just".split())
BE = frozenset("be is are was were am been being 'm 're".split())
HAVE = frozenset("have has had having".split())
DO = frozenset("do does did".split())
MODAL = frozenset("would could might may should must shall".split())
FUNCTION = frozenset(
    """
    be have do not no to in on at of for from with by as and or but if than over about into onto
    through during per via who which where when while because since until so then there it he she
    they him them himself herself themselves what how whom whose will can would could might may
    should must shall 's under between among against within along across around near toward towards
    'insteadof insteadof infavorof nolonger anymore usedto outof very s also up out off down back
    each every any all both either neither , : ; ( )
    """.split()
)
PREPOSITIONS = frozenset(
    """
    to in on at of for from with by as and or but because since who which where when while , ; (
    during about into per via after before using so that if through than over near every each
    within against around until despite including like also plus
    """.split()
)
# These say how surely, how often or how lately something is so; what is said stays the same.
ADVERBS = frozenset(
    """
    really very quite still already also always actually definitely absolutely truly usually
    generally currently recently lately presently officially finally personally basically simply
    even too so much well totally completely fully mostly mainly pretty extremely particularly
    especially successfully both kindly please now nowadays newly apparently probably again
    together only approximately roughly nearly almost
    """.split()
)
NOW = frozenset("now nowadays currently again newly recently finally instead anymore today".split())
CHANGED_NOW = frozenset("now nowadays again newly instead".split())
PLAN = frozenset(
    """
    want plan hope consider wish dream intend think might may could would should if maybe perhaps
    considering hoping thinking wants try need apply offer
    """.split()
)
PAST_TIMES = frozenset("formerly previously originally usedto once childhood".split())
# Only a date tells whether these are past.
SAME_IN_PAST = frozenset("read put set cut hit let hurt".split())
# Verbs that may follow a noun that is the subject; a name is always followed by its verb.
VERBS = frozenset(
    """
    live work use prefer like love hate cost run start leave close open take need hold support
    store track drive study want own keep play speak enjoy know weigh report contain require
    affect happen return depart arrive begin end expire serve handle provide include employ allow
    belong hate sleep eat drink go come mean last depend consist meet deploy move switch change
    finish rise fall drop grow increase decrease say show make get give see think find help stay
    become remain reach fail pass reside host offer deal focus write read call commute travel
    bike smoke wake exercise volunteer teach learn plan hope listen watch collect manage
    lead share replace upgrade migrate convert adopt lower raise cancel postpone stop quit
    reschedule extend reduce cut rename assign schedule book buy sell rent pay charge ship
    release publish merge approve reject review test build render cache log talk feel look
    relax fascinate excite inspire deliver
    accept ache adore agree aim amuse annoy answer appear appreciate argue arrange ask attend
    avoid bake bathe battle believe bless boil borrow bounce bring broadcast burn calculate camp
    carry catch celebrate chew clean combine communicate complain compose compete connect
    consult consume contribute convince cook crave crochet curate cycle dance decorate describe
    despise detest develop dig direct disagree dislike distrust donate doubt draw dread earn
    edit embroider encourage fetch fix foster greet harvest heat hike hire hop hunt improve
    invest invite jog join juggle knit lack lift locate lose maintain marry meditate memorize
    mentor miss notice observe occupy oppose organize organise owe perform photograph pick pour
    practise pray prepare produce promote protect pull push receive recite recommend recycle
    refuse regret rehearse relate rely remember remind repair represent resemble restore ride
    save scare scrub seem send sew shout sing sit skate ski skip snore solve spend spread stare
    steal stretch struggle suffer suggest surf suspect swear swim tend terrify thank throw
    translate treasure tutor understand update warn worship wrestle
    """.split()
)
# Heads of noun phrases that say what somebody or something has one of.
SINGLE = frozenset(
    """
    email phone address birthday age budget price deadline manager boss ceo cto lead leader owner
    editor browser framework language database timezone location capital height weight salary rent
    title nickname job major hometown car laptop bank doctor dentist landlord insurance gym school
    office branch limit timeout port region status priority severity size husband boyfriend partner
    name bedtime password username goal-weight dose frequency rate version coverage temperature
    interval threshold quota capacity headquarters host hosting provider supplier vendor maintainer
    computer tablet camera watch diagnosis employer position role rank score balance pin room seat
    motto nationality religion citizenship airline hotel destination venue theme password-manager
    license currency handle website url homepage domain iban theme font shell terminal stack
    """.split()
)
# Heads of which there may be several: one more is no change.
MANY = frozenset(
    """
    hobby friend goal dream sister brother child son daughter dog cat pet colleague interest skill
    book photo picture idea plan concern reason part advice memory experience project problem issue
    feature tip thing habit client customer cousin uncle aunt grandchild song strength weakness
    value challenge task trip event visit race game match session lesson question sibling parent
    teammate neighbor roommate student
    """.split()
)
ROLES = frozenset(
    """
    lead leader owner manager ceo cto cfo coo head chair chairman president director maintainer
    captain coach principal editor secretary treasurer coordinator mayor mentor host moderator
    supervisor boss administrator admin champion sponsor organizer
    """.split()
)
# An event or thing "is on" a day; these verbs say no more than that.
WHEN_VERBS = frozenset(
    "be start schedule plan postpone move change happen set book shift push reschedule delay".split()
)
# With a time of day each of them is an attribute of its own.
CLOCK_VERBS = frozenset("open close leave arrive end wake sleep finish expire board".split())
# "rose to", "was moved to", "changed to": as "is", and the value is new
CHANGE_TO = frozenset(
    """
    change move switch rise rose fall fell drop increase raise decrease reduce cut lower grow climb
    reach reschedule postpone shift extend shorten upgrade update bump push delay jump decline
    shrink slip transfer turn convert migrate set adjust revise double correct downgrade
    """.split()
)
# These carry little of the meaning: a paraphrase may lack them.
LIGHT = frozenset(
    """
    have get make do go take be use person people thing time kind type sort way lot work
    activity language time place lesson called product most biggest spot tool system service app application software project one
    something someone really very quite also too even time account name call keep different various
    certain own general overall city town whole entire number amount total level
    play hold give wear issue session provider platform want try plan hope prefer team university inc ltd corporation company restaurant cafe group
    """.split()
)
# Roles that one person holds: "Ann's new lodger is Kim" replaces another.
SINGLE_ROLES = """
    husband wife boyfriend girlfriend fiance fiancee fiancé fiancée boss manager supervisor landlord
    landlady lodger roommate doctor dentist optician hairdresser therapist
""".split()
# A word that says "not" about another. "hates olives" and "does not like olives" deny alike.
NEGATIVES = {
    "hate": "love",
    "dislike": "love",
    "detest": "love",
    "loathe": "love",
    "despise": "love",
    "dread": "love",
    "distrust": "trust",
    "unable": "can",
    "unemployed": "employ",
    "jobless": "employ",
    "unpaid": "paid",
    "inactive": "active",
    "disabled": "enabled",
    "closed": "open",
    "resolved": "open",
    "offline": "online",
    "unhappy": "happy",
    "unmarried": "married",
    "incomplete": "complete",
    "lack": "have",
    "lacks": "have",
    "lacking": "have",
    "forbid": "allow",
    "forbidden": "allow",
    "forbids": "allow",
    "ban": "allow",
    "banned": "allow",
    "disallow": "allow",
    "bad": "good",
    "poor": "good",
    "failing": "passing",
    "fail": "passes",
    "fails": "passes",
    "failed": "passes",
    "broken": "working",
    "unavailable": "available",
    "impossible": "possible",
    "unsafe": "safe",
    "insecure": "secure",
    "optional": "required",
    "unnecessary": "required",
    "disagree": "agree",
    "disagrees": "agree",
    "ill": "healthy",
    "sick": "healthy",
    "absent": "here",
    "unsure": "sure",
    "uncertain": "sure",
    "unfinished": "complete",
    "unfamiliar": "familiar",
    "uninterested": "interested",
    "private": "public",
    "inaccessible": "accessible",
    "out-of-stock": "available",
    "invisible": "visible",
    "unlocked": "locked",
    "unsubscribed": "subscribed",
    "unread": "read",
    "unverified": "verified",
    "unsupported": "supported",
}
# Two statements that differ in such a word speak of two things, never of one.
ORDER = frozenset(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth last previous next former
    1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th before after outbound return inbound left right
    morning afternoon evening night noon upper lower ground front rear north south east west
    northern southern eastern western early late spring summer autumn fall winter minimum maximum
    min max p50 p90 p95 p99 staging production dev internal external incoming outgoing import
    export upload download input output frontend backend boy girl boys girls men women male female
    junior senior older younger elder big small indoor outdoor private personal public
    weekday weekend breakfast lunch dinner client server read write open close opens closes start
    end buy sell bought sold lend borrow lent borrowed win lose won lost
    teach learn arrive depart minute hour day week month year mum dad mother father son daughter
    brother sister husband wife uncle aunt nephew niece grandmother grandfather responsibilities
    skills online offline inside outside above below without top bottom
    """.split()
)
# Values of which a subject has one: the group's name, and its members by value.
GROUPS: dict[str, dict[str, str]] = {
    "relationship": {
        "single": "single",
        "divorced": "divorced",
        "divorce": "divorced",
        "widowed": "widowed",
        "separated": "separated",
        "unmarried": "single",
        "married": "married",
        "marry": "married",
        "wed": "married",
        "wife": "married",
        "husband": "married",
        "engaged": "engaged",
        "fiancee": "engaged",
        "fiance": "engaged",
        "dating": "dating",
        "boyfriend": "dating",
        "girlfriend": "dating",
        "relationship": "dating",
    },
    "diet": {
        "vegetarian": "vegetarian",
        "vegan": "vegan",
        "pescatarian": "pescatarian",
        "omnivore": "omnivore",
        "carnivore": "omnivore",
        "keto": "keto",
        "paleo": "paleo",
    },
    "status": {
        "open": "open",
        "closed": "closed",
        "ongoing": "ongoing",
        "complete": "finished",
        "completed": "finished",
        "finished": "finished",
        "done": "finished",
        "paused": "paused",
        "blocked": "blocked",
        "cancelled": "cancelled",
        "canceled": "cancelled",
        "merged": "finished",
        "resolved": "closed",
        "fixed": "fixed",
        "broken": "broken",
        "failing": "failing",
        "red": "failing",
        "green": "passing",
        "passing": "passing",
        "online": "online",
        "offline": "offline",
        "active": "active",
        "inactive": "inactive",
        "expired": "expired",
        "pending": "pending",
        "approved": "approved",
        "rejected": "rejected",
        "shipped": "shipped",
        "delivered": "delivered",
        "draft": "draft",
        "published": "published",
        "released": "released",
        "live": "released",
        "enabled": "on",
        "disabled": "off",
        "on": "on",
        "off": "off",
        "unpaid": "unpaid",
        "paid": "paid",
        "unresolved": "open",
        "stalled": "paused",
        "started": "ongoing",
        "planned": "planned",
        "deprecated": "deprecated",
        "archived": "archived",
        "delayed": "delayed",
        "beta": "beta",
        "alpha": "alpha",
        "preview": "preview",
        "repaired": "fixed",
        "sold": "sold",
        "available": "available",
        "unavailable": "unavailable",
    },
    "color": {
        word: word
        for word in "red blue green yellow black white brown blond blonde grey gray pink purple "
        "orange teal silver gold beige turquoise navy auburn".split()
    },
}
# What can be preferred only one way: members of one group exclude one another.
RIVALS = (
    "dark light",
    "tabs spaces",
    "window aisle",
    "short brief concise terse detailed thorough verbose lengthy long",
    "remote office onsite hybrid",
    "tea coffee",
    "vim neovim emacs vscode",
    "metric imperial",
    "formal informal casual",
    "morning evening",
    "text call calls texting",
    "email phone",
    "cash card",
    "android ios",
    "mac windows linux",
    "celsius fahrenheit",
    "sync async asynchronous synchronous",
    "rebase merge squash",
    "single double",
    "english german french spanish italian portuguese dutch japanese chinese",
    "paper digital",
    "train plane",
    "hotel hostel airbnb",
    "smoking nonsmoking",
    "ebooks paperbacks",
    "functional object-oriented",
    "monorepo polyrepo",
    "rest graphql grpc",
)
# What is said of these is not said of the person they belong to.
KIN = frozenset(
    "mother father mum mom dad parent parents sister brother sibling siblings wife husband spouse "
    "partner boyfriend girlfriend fiance son daughter child children kid baby twin cousin uncle aunt "
    "nephew niece grandmother grandfather grandma grandpa grandson granddaughter friend neighbor "
    "neighbour colleague coworker boss manager roommate flatmate teacher coach doctor landlord dog "
    "cat pet horse rabbit bird parrot hamster client customer ex stepson stepdaughter mother-in-law "
    "family team company".split()
)
PROFESSIONS = frozenset(
    """
    accountant actor architect assistant attorney baker barber barista bartender biologist builder
    butcher carpenter cashier chef chemist cleaner clerk coach consultant cook counselor dentist
    designer developer director doctor driver economist editor electrician engineer farmer
    firefighter florist gardener hairdresser analyst intern janitor journalist judge lawyer
    lecturer librarian manager mechanic midwife miner nanny nurse officer optician paramedic
    pharmacist physicist physiotherapist pilot plumber policeman professor programmer psychologist
    receptionist researcher salesman scientist secretary soldier student surgeon tailor teacher
    technician tester therapist translator trucker tutor veterinarian vet waiter waitress welder
    freelancer contractor ceo cto cfo founder principal banker plumber instructor administrator
    specialist coordinator supervisor apprentice trainee postdoc scholar
    """.split()
)
# Names of what is ended that the old statement need not have used
EVENTS = frozenset(
    "trip plan appointment booking order subscription membership ticket reservation meeting event "
    "project car work working lesson visit".split()
)
# One kind of these may be liked beside another
KINDS = frozenset("food music color movie book sport game language drink animal kind".split())
# With "now" or "instead", and all alike but one word, these too have one value at a time
NOW_SINGLE = frozenset("want use have need go take make do write attend".split())
# "B insteadof A": the old value follows
OLD_AFTER = ("insteadof", "from")
# Verbs of which many objects may hold at once: "now" adds one, it does not replace
MANY_VALUED = frozenset(
    """
    love want know speak learn have use own collect need enjoy play interest support visit buy
    meet think believe say plan hope make do go take write build volunteer help attend read find
    see adopt can allergy prefer like ask
    """.split()
)
# What two people do with each other: "Ann and Bo met", "Ann met Bo"
MUTUAL = frozenset("husband date meet friend fiance separated divorce engage live share compete argue".split())
# What people do with a thing again and again: to give the thing up is to stop doing so.
HABITS = frozenset("drink eat smoke play take use practice do attend watch vape chew study learn train".split())


def _lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


# `synonyms.txt` has one class per line, named by its first word. Words are compared by their stems,
# so that one form of a regular word stands for all; irregular forms are listed.
CLASSES = tuple(tuple(line.split()) for line in _lines("synonyms.txt"))
# `phrases.txt` gives one word for several. The left side is matched after contractions are spelled
# out and hyphens are spaces; empty on the right: it says nothing.
PHRASES = {phrase: instead.strip() for phrase, _, instead in (line.partition(" =") for line in _lines("phrases.txt"))}


# Words that deny, end, replace or exclude one another.


@dataclass(frozen=True, slots=True)
class Ending:
    """Words that end statements: `verbs` end what `ended` words say of the same object ("*":
    whatever is said of it).

    Examples are pairs (before, after) that end, counter-examples pairs that do not.
    """

    verbs: str
    ended: str
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...] = ()


ENDINGS = (
    Ending(
        "quit leave resign retire",
        "work job employ be intern manager own lead member belong serve coach teach study "
        "play sing train live attend responsible volunteer captain dance",
        examples=(("Ada works at Equinor", "Ada resigned from Equinor"),),
        counter_examples=(("Ada works at Equinor", "Ada left home at nine"),),
    ),
    Ending(
        "sell donate scrap",
        "own have drive car buy possess ride use keep rent bring wear",
        examples=(("Ada drives a Fiat", "Ada sold her Fiat"),),
        counter_examples=(("Ada drives a Fiat", "Ada sold her piano"),),
    ),
    Ending(
        "cancel",
        "*",
        examples=(("Ada is planning a trip to Malta", "Ada cancelled her trip to Malta"),),
        counter_examples=(("Ada went to Malta", "Ada cancelled her trip to Crete"),),
    ),
)
