"""Nouns and verbs by what they say of an attribute. Data only."""

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
