"""A clause as the patterns read it: contractions in full, a left-out subject put back.

Patterns then need one form of words for "I'm", "Im" and "I am", and for "Just moved to Rome" and
"I just moved to Rome".
"""

import re
from functools import lru_cache

from memories.english.verbs import ADVERB, FREE_PAST

# all in one expression: most clauses have none of them, and are then read once
_contractions = re.compile(
    r"\b(?:(?P<am>I'm|i'm|Im|im)\b|(?P<have>I've|i've|Ive|ive)\b|(?P<i>i)\b(?!\.)"
    r"|(?i:(?P<going>gonna|goin to)\b|(?P<want>wanna)\b|(?P<dont>dont)\b|(?P<cant>can not|cannot|cant)\b"
    r"|(?P<must>gotta|got to)(?= (?:go|do|get|be|make|finish|work|take|buy|keep|find|\w+ more)\b)))"
    r"|(?P<mark>[*_]{2,})"
)
_in_full = {
    "am": "I am",
    "have": "I have",
    "i": "I",
    "going": "going to",
    "want": "want to",
    "dont": "don't",
    "cant": "can't",
    "must": "have to",
    "mark": "",
}
# these need an apostrophe, which most clauses have not
_apostrophes = (
    (re.compile(r"\b[Ii]'ll\b"), "I will"),
    (
        re.compile(
            r"\b[Ii]'d (?=(?:just |also |already |never |always )?(?:been|gone|better|[a-z]+ed)\b)"
        ),
        "I had ",
    ),
    (re.compile(r"\b[Ii]'d\b"), "I would"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou)'re\b"), r"\1 are"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou)'ve\b"), r"\1 have"),
    (re.compile(r"\b([Ww]e|[Tt]hey|[Yy]ou|[Ii]t|[Ss]?[Hh]e|[Tt]hat)'ll\b"), r"\1 will"),
    (
        re.compile(
            r"\b([Ii]t|[Ss]?[Hh]e|[Tt]hat|[Tt]here)'s (?=(?:been|got|become|(?!(?:called|named|based|married|divorced|engaged|retired|worried|tired|excited|interested|scared|bored|obsessed|supposed|allowed|planned|scheduled|located|used)\b)\w+ed)\b)"
        ),
        r"\1 has ",
    ),
    (re.compile(r"\b([Ii]t|[Ss]?[Hh]e|[Tt]hat|[Tt]here|[Ww]hat)'s\b"), r"\1 is"),
    (
        re.compile(
            r"\b((?:my|our|his|her|their) \w+|mum|mom|mama|dad|papa|grandma|grandpa|granny)'s"
            r"(?= (?:moving|going|coming|working|living|visiting|getting|having|staying|leaving|starting|turning|looking|retiring"
            r"|studying|learning|trying|doing|expecting|travell?ing|flying|not|in|at|on|allergic|sick|pregnant|called)\b)",
            re.I,
        ),
        r"\1 is",
    ),
    (re.compile(r"\b(name|favou?rite|birthday|job|goal|dream)'s\b(?= \S)", re.I), r"\1 is"),
    (re.compile(r"(?<![\w'])'em\b", re.I), "them"),
)
_curly = str.maketrans("’‘`", "'''")
# What closes a clause, a word after the other; each must reach to the next.
_no_words = re.compile(
    r"(?<![\s,])(?:[\s,]++(?:you know|tho|though|lol|haha\w*|too|as well|to be honest|tbh|for sure|right now btw"
    r"|btw|hehe|xD|:\)|:D|<3|:-\)|;\)|[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]++)(?=[\s,]|\Z))++",
    re.IGNORECASE,
)
_told = re.compile(r"^((?:my|our) [\w' -]{2,40}): (?=\S)", re.IGNORECASE)
_asides = re.compile(
    r"\b(?:actually|honestly|totally|definitely|literally|basically|kinda|seriously),? ", re.I
)
_born = re.compile(
    r"(?:born (?:and raised|and bred|in|on)|raised in|brought up in) ", re.IGNORECASE
)
_off = re.compile(r"off to (?-i:[A-Z])", re.IGNORECASE)
_been = re.compile(rf"{ADVERB}(?:never )?(?:been|gotten|gone|done|seen|had to)\b", re.IGNORECASE)
_past = re.compile(
    rf"{ADVERB}{FREE_PAST}\b(?! (?:on|to|by|with) (?:the|this|that|your) \w+,)", re.IGNORECASE
)
_wishing = re.compile(
    rf"{ADVERB}(?:love|hate|need|want|hope|wish|miss|prefer|enjoy|can't|couldn't|don't(?= (?:really |even |usually |ever )?(?:like|love|want|need|know|think|have|eat|drink|drive|smoke|care|feel|mind"
    r"|believe|own|understand|remember|enjoy|see|live|work|watch|speak|play|own|recall|trust)\b)|didn't|won't|will"
    r"|would love|haven't|might|have to|used to)\b(?! (?:and|or) [\w-]+ (?:really |always )?(?:is|are|was|were|can|should|must|will|would|(?:exist|make|bring|matter|keep|help)s?)\b)(?! (?:you|your|be|quit|stop|hesitate|panic|give|forget|worry|let|ask|make|use|do|add|include|give|miss)\b)",
    re.IGNORECASE,
)
_asked_for = re.compile(r",? please[ .!]*$", re.IGNORECASE)
_feeling = re.compile(
    rf"{ADVERB}(?:not )?(?:excited|thrilled|happy|glad|proud|sad|tired|ready|allergic|afraid|scared|busy|grateful"
    r"|thankful|stoked|pumped|interested|keen|obsessed|sick|nervous|lucky|able|unable|based in)\b"
    r" (?:to|about|for|of|by|with|that|in|at|from)\b"
    rf"|{ADVERB}(?:not )?(?:(?:an? )?(?:big |huge |great )?fan of\b|(?:no longer |still )(?:vegan|vegetarian|single|married|pregnant|at)\b)",
    re.IGNORECASE,
)
_going = re.compile(
    rf"({ADVERB})(?!(?:accord|regard|includ|dur|consider|noth|someth|everyth|anyth|br|k|r|s|str|th|"
    r"morn|even|depend|follow|concern|assum|giv|speak|us|see|be|hav|br|pend|miss|exist|start|build|add)ing\b)\w{2,16}ing\b",
    re.IGNORECASE,
)
_finite = re.compile(
    r"\b(?:is|was|are|were|has|have|can|could|will|would|helps?|helped|makes?|made|gives?|gave|keeps?|kept"
    r"|brings?|brought|feels?|felt|takes?|took|means?|meant|seems?|lets|reminds?|inspires?|motivates?"
    r"|shows?|teaches|taught|brought|does|doesn't|isn't|wasn't|requires?|allows?|really|always)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)  # the gatekeeper and the patterns read the same clauses
def plain(clause: str) -> str:
    """`clause` with contractions in full and without asides that claim nothing."""
    clause = clause.translate(_curly)
    clause = _contractions.sub(lambda found: _in_full[found.lastgroup or ""], clause)
    for contraction, full in _apostrophes if "'" in clause else ():
        clause = contraction.sub(full, clause)
    # Looked for from the front, at the end: the other way each place would be tried anew.
    clause, start = clause.rstrip("\n"), None
    for closing in _no_words.finditer(clause):
        start = closing.start() if closing.end() == len(clause) else None
    without_closing = clause if start is None else clause[:start]
    return _told.sub(_linked, _asides.sub("", without_closing).strip())


def _linked(told: re.Match[str]) -> str:
    return f"{told[1]} {'are' if told[1].endswith('s') else 'is'} "


def with_subject(clause: str) -> str:
    """`clause` with the "I" that its speaker left out, if that is what is missing."""
    if _asked_for.search(clause):
        return clause
    if _born.match(clause):
        return "I was " + _lowered(clause)
    if _off.match(clause):
        return "I am " + _lowered(clause)
    if _been.match(clause):
        return "I have " + _lowered(clause)
    if _past.match(clause) or _wishing.match(clause):
        return "I " + _lowered(clause)
    if _feeling.match(clause):
        return "I am " + _lowered(clause)
    going = _going.match(clause)
    if going and not _finite.search(clause, going.end(), going.end() + 90):
        return "I am " + _lowered(clause)
    return clause


def _lowered(clause: str) -> str:
    return clause[0].lower() + clause[1:]
