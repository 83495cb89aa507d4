"""English words by what they do in a statement. Data only."""

from pathlib import Path


def _lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


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
# They say how sure, how often or how lately something is said; what is said stays the same.
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
# Of these only a date tells whether they are past.
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

# `synonyms.txt` has one class per line, named by its first word. Words are compared by their stems,
# so that one form of a regular word stands for all; irregular forms are listed.
CLASSES = tuple(tuple(line.split()) for line in _lines("synonyms.txt"))
# `phrases.txt` has several words for one. The left side is matched after contractions are spelled out
# and hyphens are spaces; empty on the right: it says nothing.
PHRASES = {
    phrase: instead.strip()
    for phrase, _, instead in (line.partition(" =") for line in _lines("phrases.txt"))
}

# They carry little of the meaning: a paraphrase may lack them.
LIGHT = frozenset(
    """
    have get make do go take be use person people thing time kind type sort way lot work
    activity language time place lesson called product most biggest spot tool system service app application software project one
    something someone really very quite also too even time account name call keep different various
    certain own general overall city town whole entire number amount total level
    play hold give wear issue session provider platform want try plan hope prefer team university inc ltd corporation company restaurant cafe group
    """.split()
)
# Whom one has singly: "Ann's new lodger is Kim" takes the place of another.
SINGLE_ROLES = """
    husband wife boyfriend girlfriend fiance fiancee fiancé fiancée boss manager supervisor landlord
    landlady lodger roommate doctor dentist optician hairdresser therapist
""".split()
