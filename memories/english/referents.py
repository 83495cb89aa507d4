"""Words that point at what stands elsewhere: "this genre", "he", "there", "the same one".

Clauses come here in the first person, as `read_clause` leaves them: in them "they" is never the
speaker, as it is in what is kept.
"""

import re

from memories.english.calendar import MONTHS, WEEKDAYS
from memories.english.patterns.pattern import KIN, PEOPLE, PETS

_word = re.compile(r"[\w'’-]+|[^\w\s]")
_time = {*MONTHS, *WEEKDAYS} | frozenset(
    """
    morning afternoon evening night day week weekend month year quarter season spring summer fall autumn
    winter time decade century days weeks months years past coming christmas easter
    """.split()
)
_relative = frozenset("who whose with in of that affected interested without willing".split())
_prepositions = frozenset(
    """
    about of like in on at for with to from than by into onto over under through during after before
    without because and but or so as
    """.split()
)
# what "that" opens rather than points at stands behind one of these
_thought = frozenset(
    """
    know knew think thought believe believed hope hoped said say says told learned learnt realize
    realized realise realised found feel felt decided agreed so now sure glad sad afraid given
    heard noticed remember remembered forgot mean means meant proud certain happy worried
    important ensure proves proved shows showed
    """.split()
)
_person = re.compile(
    rf"\b(?:{KIN}|{PEOPLE}|{PETS}|man|woman|boy|girl|guy|person|people|someone|somebody|everyone|everybody|nobody|child|children|men"
    r"|women|girls|boys|teens?|teenagers?|animals?|others|those|players?|members?|neighbou?rs?|users?|guests?|patients?|(?:my|our|the|his|her|their) (?:youngest|oldest|eldest|middle one|little one|[a-z]+-year-old))\b",
    re.IGNORECASE,
)
_own_thing = re.compile(
    rf"\b(?:an?|the|my|our|your|his|her|their|some|every|each|no|two|three|four|\d+|[\w-]+'s) (?!(?:{KIN}|{PEOPLE})\b)(?:[\w'-]+ ){{0,3}}?[\w'-]{{3,}}",
    re.IGNORECASE,
)
_several = re.compile(
    r"\b(?!(?:this|is|was|has|does|us|its|as|always|perhaps|yes|his|hers)\b)[a-z]{2,}(?<!s)s\b|\bchildren|\bpeople|\bfamily|\bteam|\b(?:an?|the|my|our|another|that) (?:[\w'-]+ ){0,2}?(?:company|firm|agency|school|university|studio|club"
    r"|shelter|organi[sz]ation|charity|shop|store|restaurant|clinic|band|choir|group|couple|startup|bank|brand|crew|staff|department|committee|union)\b",
    re.IGNORECASE,
)
_dummy = re.compile(
    r"^it (?:is|was|has been|had been|will be) (?:always )?(?:a|an|my|our) (?:\w+ )?(?:dream|goal|plan|privilege|honou?r|tradition|ambition|wish) (?:of (?:mine|ours) )?(?:for (?:me|us) )?to \w+"
    r"|^it (?:is|was|has been|will be) (?:(?:almost|nearly|about|already|over|more than) )?(?:\w+ (?:days?|weeks?|months?|years?)\b"
    r"|(?:my|our) (?!(?:fave|favou?rite|first|last|own|way|turn|thing|pleasure|passion|dream|goal|style|kind|baby|pride|escape)\b)\w+|(?:very |really |so )?important to (?:me|us)\b)",
    re.IGNORECASE,
)
_idle = re.compile(
    r"\b(?:made? it to|ma[dk]e it (?:to|through|into)|took it easy|take it easy|it (?:is|was) important)\b",
    re.I,
)
_pointing = re.compile(
    r"\b(?:(?:the|that|this|which|a new|another|a different|same|only|first|last|right|other|best|favou?rite) ones?(?! (?:of (?!them|these|those|it\b)|in|at|who|that|where|day)\b)|the same(?: thing| way| place)?(?=$| (?:when|as (?:you|that|this|it)|too|here|there)\b)"
    r"|(?:something|anything|things|stuff|places?|somewhere|someone|ones?) (?:like|such as|similar to|as) (?:that|this|it)"
    r"|one of (?:them|these|those)|the (?:other|latter|former|rest|above|following|previous)(?=$| (?:one|two|is|are|was|were)\b)"
    r"|(?:in|from|of|see|on|took|take|taken|love|like|attached|shared|posted) (?:the|a|my|your|that|another|some) (?:\w+ ){0,2}?(?:pics?|photos?|pictures?|images?|screenshots?|snaps?|selfies?)\b"
    r"|\b(?:made|make|makes|making) it (?:happen|work)$|\b(?:I|we) (?:felt|feel|love|loved|mean|meant|got|knew|did) it$|\bsome(?= to\b)|\b(?:fan|member|piece) of (?:it|that|this)$|\b(?:something|anything) similar\b|\b(?:reason|idea|story|inspiration|point) (?:behind|of|for) (?:it|that|this)$|\bthat the hard way\b"
    r"|here is|here's|here are|as follows|so too|likewise)",
    re.IGNORECASE,
)


_name = re.compile(
    r"(?!(?:I|My|Our|We|The|An?|In|On|At|When|After|Before|Since|This|That|These|Those|It|They|He|She|If|So|And|But|Last|Next|One|Some|There|Here|As|For|With|To|Just)\b)"
    r"(?:^[A-Z][\w-]+ |(?<!^)\b[A-Z][a-z]+)"
)
_place = re.compile(r"\b(?:in|to|at|from|near|of) (?:the |my |our |an? )?[\w-]{3,}")
# What may have been named before a word that stands for it
_antecedents = {
    "thing": (_own_thing, _name),
    "person": (_person, _name),
    "several": (_several, _person),
    "place": (_place,),
}
_standing_for = {
    **dict.fromkeys("it its itself".split(), "thing"),
    **dict.fromkeys("he she him her his hers he's she's himself herself".split(), "person"),
    **dict.fromkeys("they them their theirs they're themselves".split(), "several"),
    "there": "place",
    "here": "place",
}


def open_referent(clause: str) -> str:
    """The first words of `clause` whose meaning stands elsewhere; empty where all is said."""
    if pointing := _pointing.search(clause):
        return pointing[0]
    tokens = [
        (token[0].lower().replace("’", "'"), token.start()) for token in _word.finditer(clause)
    ]
    words = [word for word, _ in tokens] + ["", ""]
    is_idle = bool(_dummy.match(clause) or _idle.search(clause))
    named: dict[str, int] = {}
    for place, (word, start) in enumerate(tokens):
        kind = _standing_for.get(word, "")
        if not kind:
            if _is_open(words, place):
                return word
            continue
        if kind not in named:
            ends = [match.end() for form in _antecedents[kind] if (match := form.search(clause))]
            named[kind] = min(ends, default=len(clause) + 1)
        is_said = named[kind] <= start or (kind == "thing" and is_idle)
        if not is_said and not _is_filler(words, place):
            return word
    return ""


def _is_open(words: list[str], place: int) -> bool:
    following, after = words[place + 1], words[place + 2]
    match words[place]:
        case "this":
            return following not in _time and after not in _time
        case "these" | "those":
            return following not in _time and following not in _relative
        case "that":
            return following not in _time and _is_pointing_that(words, place)
        case "such":
            return following in ("", ".", ",", "things")
    return False


def _is_filler(words: list[str], place: int) -> bool:
    """ "There is", "over there", "here in Rome"."""
    following, previous = words[place + 1], words[place - 1] if place else ""
    if words[place] == "there":
        is_subject = following in ("is", "are", "was", "were", "has", "have", "will", "'s")
        # "I have been there" may be said of any trouble, "I haven't been there yet" of a place.
        is_of_place = following in _visited or (place > 1 and words[place - 2].endswith("n't"))
        return (
            is_subject
            or previous in ("out", "over", "be")
            or (previous == "been" and not is_of_place)
        )
    return words[place] == "here" and following in ("in", "at")


def _is_pointing_that(words: list[str], place: int) -> bool:
    """ "That" that stands for something; not "the flat that I rent" or "I know that it leaks"."""
    following, previous = words[place + 1], words[place - 1] if place else ""
    if not place:
        return True
    if previous == "," and following in ("is", "was", "has", "will", "must"):
        return True
    if previous in _thought:
        return following in ("", ".", ",", "is", "was")
    if following in _ending:
        return True
    return previous in _prepositions or previous in (
        "have",
        "had",
        "do",
        "did",
        "got",
        "read",
        "love",
    )


_visited = frozenset("yet before since once twice many several a last only on in".split())
_ending = frozenset(
    ("", ".", ",", "and", "but", "or", "too", "anymore", "well", "yet", "again", "much")
)
