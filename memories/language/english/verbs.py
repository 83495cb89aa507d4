"""English verbs: their forms, irregular ones in one table, and the words that stand beside them."""

import re
from functools import lru_cache

# base, past, participle
_irregular_text = """
    be was been / be were been / have had had / do did done / go went gone / get got got
    get got gotten / make made made / take took taken / see saw seen / meet met met / come came come
    buy bought bought / find found found / feel felt felt / give gave given / tell told told
    leave left left / lose lost lost / win won won / run ran run / write wrote written
    rewrite rewrote rewritten / eat ate eaten / drink drank drunk / drive drove driven / fly flew flown
    teach taught taught / think thought thought / bring brought brought / catch caught caught
    build built built / send sent sent / spend spent spent / sleep slept slept / swim swam swum
    sing sang sung / sit sat sat / stand stood stood / speak spoke spoken / break broke broken
    choose chose chosen / fall fell fallen / grow grew grown / know knew known / keep kept kept
    lead led led / pay paid paid / ride rode ridden / sell sold sold / say said said
    begin began begun / become became become / hear heard heard / hold held held / hang hung hung
    understand understood understood / throw threw thrown / wear wore worn / wake woke woken
    bite bit bitten / forget forgot forgotten / fight fought fought / rise rose risen
    shake shook shaken / stick stuck stuck / strike struck struck / draw drew drawn / deal dealt dealt
    mean meant meant / feed fed fed / hide hid hidden / steal stole stolen / lend lent lent
    bend bent bent / dream dreamt dreamt / learn learnt learnt / burn burnt burnt / seek sought sought
    wind wound wound / swear swore sworn / dig dug dug / light lit lit / overcome overcame overcome
    withdraw withdrew withdrawn / undertake undertook undertaken / flee fled fled / shoot shot shot
    lie lay lain / lay laid laid / ring rang rung / show showed shown / bear bore born
"""
IRREGULAR = tuple(tuple(row.split()) for row in re.split(r"/|\n", _irregular_text) if row.strip())
# "break": broke, broken; "broke": break, broken
OTHER_FORMS = {
    form: tuple(dict.fromkeys(other for other in forms if other != form))
    for forms in reversed(IRREGULAR)
    for form in forms
}
_bases = frozenset(base for base, _, _ in IRREGULAR)
_rather_regular = frozenset(("showed", "bore"))
# "lay" is a present, too
IRREGULAR_PAST = tuple(dict.fromkeys(past for _, past, _ in IRREGULAR if past not in _bases | _rather_regular))
# one form for present and past; taken as past of who tells it, since it mostly happened once
SAME_FORM = tuple("read put set let cut hit hurt quit beat cost bet split".split())
# forms that are nothing else; "run" and "sold" are also the present and the past
PARTICIPLES = frozenset(participle for _, past, participle in IRREGULAR if participle not in (past, *_bases))
_present_text = """
    need feed speed breed embed proceed succeed exceed bleed shed wed heed seed weed bed red indeed
    hundred
"""
NOT_PAST = frozenset(_present_text.split())  # they end as the past does
_ed_present = "|".join(sorted(NOT_PAST))
PAST = rf"(?:{'|'.join(IRREGULAR_PAST + SAME_FORM)}|(?!(?:{_ed_present})\b)[a-z]{{2,20}}ed)"

# a sentence that begins with one of these has lost its subject; "put", "set" or "read" would
# rather be asking for something
FREE_PAST = rf"(?:{'|'.join(IRREGULAR_PAST)}|(?!(?:{_ed_present}|based|related|compared|given|attached|understood|red|advanced|detailed|updated|unified|automated)\b)[a-z]{{2,20}}ed)"

# what tells of its speaker though nothing follows: "I knit", "we moved"
_brief_text = """
    smoke vape drink drive snore meditate knit sew crochet garden bake cook paint draw sculpt sing
    dance surf ski sail swim climb hike run jog cycle row box fence skate fish hunt fast pray
    journal blog stream game commute freelance volunteer tutor teach babysit stutter stammer limp
    sleepwalk retired quit resigned divorced separated graduated moved relocated emigrated converted
    relapsed eloped enlisted
"""
BRIEF = "|".join(_brief_text.split())

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
_ly_verbs = frozenset("apply reply supply comply multiply imply rely rally tally bully family".split())

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
PAST_OF = {base: past for base, past, _ in reversed(IRREGULAR)} | {s: s for s in SAME_FORM}
_doubling = frozenset("submit travel refer prefer".split())
_short = re.compile(r"[^aeiou]*[aeiou][bdgmnpt]")  # one syllable: stop, stopped
_past = re.compile(rf"{PAST}$")
_irregular = frozenset((*IRREGULAR_PAST, "put", "quit", "lay"))
_participles = frozenset(participle for *_, participle in IRREGULAR) - {"had", "got"} | set(
    "set put cut read hurt woke".split()
)


def is_adverb(word: str) -> bool:
    small = word.lower()
    return small in _adverbs or (len(small) > 5 and small.endswith("ly") and small not in _ly_verbs)


@lru_cache(maxsize=50_000)
def is_past(word: str) -> bool:
    """Tell whether a word is always a past form; "read" and "put" are not."""
    if word in _irregular:
        return True
    return len(word) > 3 and word.endswith("ed") and word not in NOT_PAST


def may_be_past(word: str) -> bool:
    """Tell whether a word can be past in "I read it", "I put it there": when people say what they
    did."""
    return bool(_past.match(word.lower()))


def is_participle(word: str) -> bool:
    """Tell whether a word is a participle: "given", "sold", "painted"."""
    if word in _participles:
        return True
    return word.endswith("ed") and len(word) > 3 and word not in NOT_PAST


def third_person(verb: str) -> str:
    """Return the form of `verb`, as said after "I", that stands after a name."""
    low = verb.lower()
    if low in _irregular_third:
        return _irregular_third[low]
    if low in MODALS or may_be_past(low) or low.endswith("ing") or low in PARTICIPLES:
        return verb
    return with_s(verb)


def with_s(verb: str) -> str:
    """Return `verb` with the ending of the third person: wishes, tries, goes, likes."""
    low = verb.lower()
    if low.endswith(("ss", "x", "ch", "sh", "o", "zz")):
        return verb + "es"
    if low.endswith("s"):
        return verb
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def without_s(verb: str) -> str:
    """Undo what `with_s` and `third_person` do: use, try, go, have, are."""
    low = verb.lower()
    if low in _plural or low == "doesn't":
        return _plural.get(low, "don't")
    if not low.endswith("s") or low.endswith("ss") or low in MODALS or may_be_past(low):
        return verb
    if low.endswith("ies"):
        return verb[:-3] + "y"
    is_long = low.endswith(("sses", "xes", "ches", "shes", "oes", "zzes"))
    return verb[:-2] if is_long else verb[:-1]


def past(verb: str) -> str:
    """Return the past of `verb`, as said after "did"."""
    if verb in PAST_OF:
        return PAST_OF[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    is_doubled = verb in _doubling or _short.fullmatch(verb)
    return verb + (verb[-1] if is_doubled else "") + "ed"


def plural(verb: str) -> str:
    """Return the form of `verb`, as said after "I", that stands after "they"."""
    return _plural.get(verb.lower(), verb)
