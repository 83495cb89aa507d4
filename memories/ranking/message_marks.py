"""Marks of a message's form, as a small integer that is kept beside it in the index."""

import re
from enum import IntFlag

from memories.language.english.calendar import MONTH_NAMES, SEASON, WEEKDAY_STEMS
from memories.language.english.numbers import words_from
from memories.language.english.standing_wishes import PREFERS, preference, standing_wishes

_months = MONTH_NAMES.replace("|may|", "|jan|feb|aug|sept?|oct|nov|dec|")  # "may" is a verb, too
_spans = rf"weekend|week|month|year|{SEASON}|night|morning|evening"
_amount = rf"an?|{words_from(1, 10)}|few|several|couple(?: of)?|\d+"
# These two are looked for in lower case: without regard to case it takes twice as long.
_time = re.compile(
    rf"""\b(?:yesterday|today|tonight|tomorrow|recently|just|since\ \w+|\d+\ years|(?:19|20)\d\d
    |(?:last|this|next)\ (?:{_spans}|{WEEKDAY_STEMS})\w*
    |(?:{_amount})\ (?:day|week|month|year|weekend)s?\ ago
    |for\ (?:\w+\ )?(?:years|months|weeks)
    |the\ (?:week|weekend|day)\ (?:before|of|after)
    |(?:in|on|since|until|by|of)\ may|may\ \d|(?:{_months})\b)""",
    re.VERBOSE,
)
_number = re.compile(
    rf"\b(?:\d+|{words_from(1, 10)}|dozen|couple|first|second|third"
    r"|fourth|once|twice)\b"
)
_place = re.compile(r"\b(?:in|at|to|from|near) (?:the )?[A-Z][a-z]+")


class Mark(IntFlag):
    """Forms of a message that matter to a ranking."""

    QUESTION = 1  # ends in a question
    TIME = 2  # says when
    RULE = 4  # a standing instruction
    NUMBER = 8  # says how many
    PLACE = 16  # says where
    PREFERENCE = 32  # says what its author prefers


# Standing instructions and preferences hold for later messages, too.
WISHES = Mark.RULE | Mark.PREFERENCE


def marks(text: str) -> int:
    """The marks of a message, to be stored when it is indexed (a `Mark` as a plain integer)."""
    found = Mark(0)
    if text.rstrip().endswith(("?", "？")):
        found |= Mark.QUESTION
    low = text.lower()
    if _time.search(low):
        found |= Mark.TIME
    if standing_wishes(text):
        found |= Mark.RULE
    if _number.search(low):
        found |= Mark.NUMBER
    if _place.search(text):
        found |= Mark.PLACE
    if PREFERS in low and preference(text):
        found |= Mark.PREFERENCE
    return int(found)
