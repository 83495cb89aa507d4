"""Whether a statement tells something by itself: a profile is read without the talk around it."""

import re
from collections.abc import Sequence

from memories.english.lexical import stems
from memories.english.patterns.pattern import KIN, PEOPLE, PETS

# What a statement without its own subject begins with: pronouns, and verbs that lost theirs.
_without_subject = re.compile(
    r"(?:it|they|this|that|these|those|there|he|she|one|might|may|could|would|will|check|take|make"
    r"|makes|gives?|helps?|look|keep|seeing|having|being|maybe|guess|thanks?|which|whatever)\b",
    re.IGNORECASE,
)
# "it", and "this" where no noun follows.
_pointing = re.compile(
    r"\b(?:it|them|themselves)\b"
    r"|\b(?:this|that|these|those)\b(?=\s*(?:[,.;:!?]|$)|\s+(?:so|and|but|or|because|to|for|with|in"
    r"|on|at|as|is|was|are|were|work|works|happen|happens|sometime|one|ones|too|now|again)\b)",
    re.IGNORECASE,
)
_words = """
    able alway anyth anyon around awesom back big bit bring chanc come cool day decid determin do
    done dream els end enjoy especi even ever everi everyth excit fan feel find first focus forward
    fun get give glad go goal good great grind happen happi hard hope hous huge idea ill im import
    interest journey keep kind know last later let like littl ll long look lot love make mani matter
    mean might moment move much need never new next nice noth often one ongo part peopl plan pleas
    posit push put quit readi real realli reason rememb savor say see seem share show soon start
    stay still stop strong stuff success sure take tell thing think time togeth tomorrow tri true
    truli upbeat use ve vibe want way will without wonder word work worth would
"""
_empty = frozenset(_words.split()) - {"hous"}
ENOUGH_POINTING, ENOUGH = 3, 1  # words of weight where something is pointed at; else
_aside = re.compile(
    r"[,;] (?:so|thanks|thank you|which (?:is|was)|but|though|and it|it|that|this|these|those|they"
    r"|the|because|since|you know)\b.*",
    re.IGNORECASE,
)
_places = re.compile(
    r"\b(?:in|to|at|near|from|on|outside|around|of)\s+(?:(?:the|a|an|my|their|his|her)\s+)?"
    r"(?:\w+\s+){0,2}[A-Z]\w|\b(?:apartment|flat|house|city|town|village|countryside|suburbs?"
    r"|abroad|farm|cottage|cabin|dorms?|downtown|parents|roommates?|alone|island|coast|mountains)\b"
)
_dwelling = re.compile(
    r"\b(?:liv(?:e[sd]?|ing)|mov(?:e[sd]?|ing)|resid(?:e[sd]?|ing)|relocat(?:e[sd]?|ing)|based|from"
    r"|stay(?:s|ed|ing)?) (?:\w+ )?(?:in|to|at|near|from|outside|with)"
    r" (?!the moment|a mood|hope|fear)",
    re.IGNORECASE,
)
_lost = re.compile(r"\b(?:lost|sold|gave away|given away|threw|returned)\b", re.IGNORECASE)
_somebody = re.compile(rf"\b(?:{KIN}|{PEOPLE}|{PETS})\b", re.IGNORECASE)
# between a person and what he is: "is", "has now been a strict"
_is = (
    r"(?:(?:\w+ly|now|also|still|just|never|not|no longer|always) )*"
    r"(?:is|are|was|were|became|went|turned|remains|stays|eats|follows|keeps to|identifies as"
    r"|ha(?:s|ve) (?:(?:\w+ly|just|now|since) )*(?:been|gone|become)"
    r"|(?:ha(?:s|ve) (?:(?:\w+ly|just|now|since) )*)?(?:got|gets|gotten)(?= (?:\w+ly )?\w+ed\b))"
    r"(?: (?:an?|the|on an?|\w+ly|now|also|still|not|no longer|always|back to|strict|lifelong"
    r"|committed|proud|happy))*"
)
_no_more = (
    r"(?=[^\w -]|$| (?:diets?|foods?|meals|lifestyle|since|for|now|and|but|because|again|at|in|on"
    r"|by|as|with|to|though|too|person|man|woman|mother|father|from|these|when|whenever|while|if"
    r"|unless|except|who|until|after|before|last|this|an?|the|his|her|their|my|somebody|someone"
    r"|(?-i:[A-Z])\w*)\b)"
)
_negative = re.compile(r"\b(?:not|no|never|nobody|nothing|without)\b|n['’]t\b", re.IGNORECASE)
_no_things = re.compile(
    r"(?:also |just |really |has |have |got |had |been )*"
    r"(?:(?:a|an|the|some|any|no|few|more|lot|lots"
    r"|of|great|good|little|much|many|new|really|tough|rough|hard|possible|temp) )*(?:jobs?|ideas?"
    r"|feelings?|times?|chances?|leads?|advice|plans?|questions?|problems?|offers?|interviews?"
    r"|setbacks?|blast|hang|sense|faith|luck|opportunit(?:y|ies)|experiences?|days?|weeks?"
    r"|tips?|support|feedback|news|hopes?|trouble|issues?|meetings?|appointments?)\b",
    re.IGNORECASE,
)


def is_clear(statement: str) -> bool:
    """As `stands_alone`, of a statement that names whom it is about, or nobody."""
    return not _without_subject.match(statement) and _has_weight(statement, "", ENOUGH + 1)


def stands_alone(statement: str, value: str, speaker: str) -> bool:
    """It says of whom it speaks, and more than "it" and "will make it happen"."""
    opening = statement.strip().lower()
    if not opening.startswith(speaker.lower()) and _without_subject.match(opening):
        return False
    return _has_weight(value, speaker, ENOUGH)


def _has_weight(text: str, speaker: str, enough: int) -> bool:
    weight = set(stems(text)) - _empty - set(stems(speaker))
    return len(weight) >= (ENOUGH_POINTING if _pointing.search(text) else enough)


def to_the_point(value: str) -> str:
    """Without what follows as an aside: ", so that was great"."""
    short = _aside.sub("", value).strip()
    return short if len(stems(short)) > 1 else value


def is_home(statement: str, value: str) -> bool:
    """Where somebody lives: "living the dream" and "staying calm" are no place."""
    return bool(_dwelling.search(statement) or _places.search(f"in {value}"))


def is_thing(value: str) -> bool:
    """Something that can be had: no chance, no job, and nothing that was lost."""
    return not _lost.search(value) and not _no_things.match(value)


def is_somebody(value: str) -> bool:
    """Whether it tells of a person or a pet: "Chess is their escape" does not."""
    return bool(_somebody.search(value))


def is_state_of(speaker: str, statement: str, value: str) -> bool:
    """Whether it says that `speaker` is so: who sells vegan soap is not vegan."""
    word = re.escape(value)
    if not re.search(rf"\b{word}\b", statement, re.IGNORECASE):
        return True  # told in other words: "is seeing somebody"
    who = rf"\b{re.escape(speaker)}(?:['’]s diet| and (?:[\w'’-]+ ){{0,2}}[\w'’-]+)?"
    said = rf"{who} (?:{_is} )?{word}\b{_no_more}"  # "married Kim"
    return re.search(said, statement, re.IGNORECASE) is not None


def without_repeats(told: Sequence[str]) -> list[int]:
    """The places of those of `told` whose words stand in no other one of them."""
    words = [frozenset(stems(each)) for each in told]
    is_no = [bool(_negative.search(each)) for each in told]
    return [
        place
        for place, own in enumerate(words)
        if not any(
            is_no[place] == is_no[at] and (own < other or (own == other and at < place))
            for at, other in enumerate(words)
        )
    ]
