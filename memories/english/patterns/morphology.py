"""English verbs as far as the change from first to third person needs them."""

import re

_irregular_past = """
    was were went had did got made took saw met came bought found felt gave told left lost won ran
    wrote ate drank drove flew taught thought brought caught built sent spent slept swam sang sat
    stood spoke broke chose fell grew knew kept led paid rode sold said shot began became heard
    held hung understood threw wore woke bit forgot fought rose shook stuck sought struck wound
    swore drew dealt dug meant fed hid lit stole bent dreamt learnt burnt overcame withdrew undertook lent fled
"""
IRREGULAR_PAST = tuple(_irregular_past.split())
# one form for present and past; taken as past, since what is told once mostly happened
SAME_FORM = (
    "read",
    "put",
    "set",
    "let",
    "cut",
    "hit",
    "hurt",
    "quit",
    "beat",
    "cost",
    "bet",
    "split",
)
_participles = """
    gotten been gone done seen taken given written eaten driven flown drunk swum sung spoken broken
    chosen fallen grown known ridden begun become shown worn forgotten sworn drawn stolen hidden
"""
PARTICIPLES = tuple(_participles.split())
_ed_present = "need|feed|speed|breed|embed|proceed|succeed|exceed|bleed|shed|wed|heed|seed|weed"
PAST = rf"(?:{'|'.join(IRREGULAR_PAST + SAME_FORM)}|(?!(?:{_ed_present})\b)[a-z]{{2,20}}ed)"

# a sentence that begins with one of these has lost its subject; "put", "set" or "read" would
# rather be asking for something
FREE_PAST = rf"(?:{'|'.join(IRREGULAR_PAST)}|(?!(?:{_ed_present}|based|related|compared|given|attached|understood|red|advanced|detailed|updated|unified|automated)\b)[a-z]{{2,20}}ed)"

_modal_text = """
    will would can could should must might may shall had was did won't can't cannot couldn't
    wouldn't shouldn't didn't wasn't hadn't mustn't mightn't never
"""
MODALS = frozenset(_modal_text.split())
_adverb_text = """
    really just also always usually often recently finally actually still totally even already
    definitely absolutely currently now kinda sometimes mostly especially originally once only
    truly probably so both all ever lately mainly officially personally accidentally almost barely
    hardly scarcely
    basically generally rarely seldom occasionally frequently regularly constantly typically never
    simply seriously honestly quickly slowly eventually initially previously primarily
    deeply strongly highly greatly certainly clearly obviously literally particularly fully
    completely then again either soon
"""
ADVERBS = tuple(_adverb_text.split())
ADVERB = rf"(?:(?:{'|'.join(ADVERBS)}|no longer)\s+){{0,3}}"
_adverbs = frozenset((*ADVERBS, "no", "longer"))
_ly_verbs = frozenset(
    "apply reply supply comply multiply imply rely rally tally bully family".split()
)

_irregular_third = {
    "have": "has",
    "do": "does",
    "am": "is",
    "are": "is",
    "be": "is",
    "were": "was",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "weren't": "wasn't",
    "ain't": "isn't",
    "gotta": "has to",
    "wanna": "wants to",
    "gonna": "is going to",
}
_plural = {"am": "are", "is": "are", "was": "were", "has": "have"}
_irregular_text = """
    go went do did get got make made take took see saw meet met come came buy bought find found
    feel felt give gave tell told leave left lose lost win won run ran write wrote eat ate drink
    drank drive drove fly flew teach taught think thought bring brought catch caught build built
    send sent spend spent sleep slept swim swam sing sang sit sat stand stood speak spoke break
    broke choose chose fall fell grow grew know knew keep kept lead led pay paid ride rode sell sold
    say said begin began become became hear heard hold held wear wore wake woke forget forgot fight
    fought have had
"""
_irregular_of = dict(zip(_irregular_text.split()[::2], _irregular_text.split()[1::2], strict=True))
_doubling = frozenset("stop plan drop chat shop jog swap submit travel refer prefer".split())
_past = re.compile(rf"{PAST}$")


def is_adverb(word: str) -> bool:
    small = word.lower()
    return small in _adverbs or (len(small) > 5 and small.endswith("ly") and small not in _ly_verbs)


def is_past(word: str) -> bool:
    return bool(_past.match(word.lower()))


def third_person(verb: str) -> str:
    """The form of `verb`, as said after "I", that stands after a name."""
    low = verb.lower()
    if low in _irregular_third:
        return _irregular_third[low]
    if low in MODALS or is_past(low) or low.endswith("ing") or low in PARTICIPLES:
        return verb
    return with_s(verb)


def with_s(verb: str) -> str:
    """`verb` with the ending of the third person: wishes, tries, goes, likes."""
    low = verb.lower()
    if low.endswith(("ss", "x", "ch", "sh", "o", "zz")):
        return verb + "es"
    if low.endswith("s"):
        return verb
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def past(verb: str) -> str:
    """The past of `verb`, as said after "did"."""
    if verb in _irregular_of or verb in SAME_FORM:
        return _irregular_of.get(verb, verb)
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in _doubling else "") + "ed"


def plural(verb: str) -> str:
    """The form of `verb`, as said after "I", that stands after "they"."""
    return _plural.get(verb.lower(), verb)
