"""Verbs that end, undo or replace what was so before. Data only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """`verbs` end what `ended` words say of the same object ("*": whatever is said of it).

    Examples are pairs (before, after) that end, counter-examples pairs that do not.
    """

    verbs: str
    ended: str
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...] = ()
    needs_object: bool = True


ENDINGS = (
    Ending(
        "graduate",
        "study student attend university degree major enroll",
        examples=(("Ada is a student at Bergen", "Ada graduated from Bergen"),),
        counter_examples=(("Ada lives in Bergen", "Ada graduated from Bergen"),),
    ),
    Ending(
        "sell trade donate lose scrap discard return",
        "own have drive car buy possess ride use keep rent bring wear",
        examples=(("Ada drives a Fiat", "Ada sold her Fiat"),),
        counter_examples=(("Ada drives a Fiat", "Ada sold her piano"),),
    ),
    Ending(
        "separated divorce leave dump",
        "date boyfriend husband marry fiance together partner couple",
        examples=(("Ada is dating Jens", "Ada broke up with Jens"),),
        counter_examples=(("Ada is dating Jens", "Ada had dinner with Jens"),),
    ),
    Ending(
        "quit leave resign retire jobless dismiss exit",
        "work job employ be intern manager own lead member belong serve coach teach study",
        examples=(("Ada works at Equinor", "Ada resigned from Equinor"),),
        counter_examples=(("Ada works at Equinor", "Ada left home at nine"),),
    ),
    Ending(
        "cancel abandon scrap withdraw",
        "*",
        examples=(("Ada is planning a trip to Malta", "Ada cancelled her trip to Malta"),),
        counter_examples=(("Ada went to Malta", "Ada cancelled her trip to Crete"),),
    ),
    Ending(
        "finish complete abandon conclude wrap submit deliver defend hand",
        "work read write build learn ongoing watch take plan start prepare do begin train",
        examples=(("Ada is writing a thesis", "Ada finished her thesis"),),
        counter_examples=(("Ada likes her thesis", "Ada finished her thesis"),),
    ),
    Ending(
        "die kill",
        "have own dog cat pet live ill care adopt keep raise",
        examples=(("Ada has a parrot called Bo", "Ada's parrot Bo died"),),
    ),
    Ending(
        "pass fail",
        "learn prepare take train revise practice practise",
        examples=(("Ada is studying for the bar exam", "Ada passed the bar exam"),),
    ),
    Ending(
        "find",
        "search need want lose miss",
        examples=(("Ada is looking for a flat", "Ada found a flat"),),
        counter_examples=(("Ada rents out a flat", "Ada found a flat"),),
    ),
    Ending(
        "overcome conquer recover heal beat cure",
        "afraid have struggle suffer ill injure break deal battle allergy",
        examples=(("Ada is afraid of heights", "Ada overcame her fear of heights"),),
    ),
    Ending(
        "fix solve resolve close",
        "open bug have be error fail problem suffer crash",
        examples=(("The parser has a memory leak", "The memory leak of the parser was fixed"),),
    ),
    Ending(
        "remove shave drop dropped disable uninstall deprecate ditch",
        "use have contain run enable depend support include rely install be need",
        examples=(("The app uses Lodash", "The app dropped Lodash"),),
        counter_examples=(("The app uses Lodash", "The app dropped Moment"),),
    ),
    Ending(
        "return recover emerge",
        "*",
        examples=(("Ada is on parental leave", "Ada returned from parental leave"),),
        counter_examples=(("Ada likes Malta", "Ada returned from Crete"),),
    ),
    Ending(
        "birth",
        "pregnant expect",
        examples=(("Ada is pregnant", "Ada gave birth to a girl"),),
        needs_object=False,
    ),
    Ending(
        "replace swap",
        "*",
        examples=(("The team uses Jira", "The team replaced Jira with Linear"),),
        counter_examples=(("The team uses Jira", "The team replaced the old printer"),),
    ),
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
    see adopt can allergy
    """.split()
)
