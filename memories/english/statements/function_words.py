"""English function words and verb forms, as far as comparing statements needs them. Data only."""

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
