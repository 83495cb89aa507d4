"""Kinds of standing wishes, and what is wanted of each: in which language, how long, with tables or
without. A person has one wish of a kind at a time, so that a newer one replaces the older. A wish
of no kind is identified by its words, and is wanted or not.

Read from statements ("User asks the assistant to always answer in French") as well as from a wish
as somebody wrote it by hand ("Always answer in French").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memories.language.english.statements.word_lists import ARTICLES
from memories.language.english.statements.wording import words

# Words of what a standing wish may be about: languages, lengths, manners, what an answer may have
# in it. Data only.

LANGUAGE = (
    r"(?:English|French|German|Spanish|Italian|Portuguese|Dutch|Flemish|Swedish|Danish|Norwegian|Finnish"
    r"|Icelandic|Polish|Czech|Slovak|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Serbian"
    r"|Croatian|Slovene|Slovenian|Estonian|Latvian|Lithuanian|Albanian|Catalan|Basque|Galician|Irish"
    r"|Welsh|Arabic|Hebrew|Persian|Farsi|Urdu|Hindi|Bengali|Punjabi|Tamil|Telugu|Marathi|Gujarati|Nepali"
    r"|Chinese|Mandarin|Cantonese|Japanese|Korean|Vietnamese|Thai|Indonesian|Malay|Tagalog|Filipino"
    r"|Swahili|Yoruba|Igbo|Hausa|Amharic|Somali|Zulu|Afrikaans|Esperanto|Latin)"
)
ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages?|output)"
SHORT = r"(?:short(?:er)?|brief(?:ly)?|concise(?:ly)?|terse(?:ly)?|succinct(?:ly)?|crisp|compact|to the point)"
LONG = r"(?:long(?:er)?|detailed|in[- ]depth|in (?:more |great )?detail|thorough(?:ly)?|elaborate|verbose|comprehensive|exhaustive|extensive)"
FORMAL = r"(?:formal(?:ly)?|professional(?:ly)?|businesslike)"
INFORMAL = r"(?:informal(?:ly)?|casual(?:ly)?|friendly|relaxed|colloquial|chatty|(?:like|as) (?:to )?(?:a|your|an old) (?:good |old |close )?(?:friend|mate|buddy))"
SPELLING = r"(?:(?:British|American|Canadian|Australian|UK|US|Oxford)(?: English)?(?: spellings?)?\b)"
# What an answer may have in it or not; the first of a row is what it is called.
THINGS = {
    "emoji": r"emojis?|emoticons?|smileys?",
    "table": r"tables?",
    "bullet": r"bullet(?:ed|s)?(?:[- ](?:points?|lists?))?|bullets",
    "heading": r"headings?|section titles?",
    "markdown": r"markdown",
    "source": r"sources?|citations?|references|footnotes?",
    "link": r"links?|urls?",
    "disclaimer": r"disclaimers?|caveats?",
    "question": r"(?:follow-?up|clarifying|counter)[- ]?questions?",
    "jargon": r"jargon|technical terms?|buzzwords?",
    "acronym": r"acronyms?|abbreviations?",
    "slang": r"slang|swear ?words?",
    "small-talk": r"small ?talk|pleasantries",
    "exclamation": r"exclamation (?:marks?|points?)",
    "metaphor": r"metaphors?|analog(?:y|ies)",
    "summary": r"summar(?:y|ies)|recaps?|tl;?dr",
    "diagram": r"diagrams?",
}
MATTER = (
    rf"(?:{'|'.join(THINGS.values())}|{SPELLING}|(?:metric|imperial|SI)(?: units| system)?"
    r"|celsius|fahrenheit|(?:24|12)[- ]?hour (?:clock|time|format))"
)
# Of these words one stands wherever there is something of MATTER.
MATTERS = tuple(
    """
    emoji emojis emoticon emoticons smiley smileys table tables bullet bullets bulleted heading headings
    section markdown source sources citation citations references footnote footnotes link links url urls
    disclaimer disclaimers caveat caveats question questions jargon term terms buzzword buzzwords
    acronym acronyms abbreviation abbreviations slang swear swearwords talk smalltalk pleasantries
    exclamation metaphor metaphors analogy analogies summary summaries recap recaps tldr tl diagram
    diagrams british american canadian australian uk us oxford metric imperial si celsius fahrenheit 24
    12 24hour 12hour
    """.split()
)
MEASURES = r"(?:prices?|costs?|amounts?|money|dates?|times?|temperatures?|distances?|measurements?|units|quantities|recipes?|weights)"
TALKS = r"(?:ask|request|mention|talk|speak|say|tell|write|send|share|paste|give|show|bring up|describe|discuss|inquire|type|upload|post|query|report|seek|submit|refer|need|want|start|use)"


NO = re.compile(
    r"\b(?:never|not|no|don['’]t|do not|stop|quit|without|avoid|skip|omit|leave out|drop|refrain|need not"
    r"|(?:does not|doesn['’]t|don['’]t) (?:need|have) to|no longer)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WishKind:
    """A kind of wish: `key` is what it is about, with the case in which it holds; `value` what is
    wanted."""

    who: str
    key: str
    value: str


_said = re.compile(
    r"(?P<who>[^,;:.!?]{1,60}?) (?:would )?(?:asks?|asked|tells?|wants?|likes?|expects?|prefers?|needs?)"
    r" (?:that )?(?:you|the assistant)\b(?P<act>.+)"
    r"|(?P<of>[^,;:.!?]{1,60}?) says the assistant (?P<may>may|can|need not) (?P<allowed>.+)"
    rf"|(?P<whose>[^,;:.!?]{{1,60}}?) (?:would )?(?:prefers?|wants?|likes?|needs?|rather have) (?P<wanted>(?:[\w-]+ ){{0,5}}?(?:{ANSWERS}|{MEASURES})\b.*|to be (?:called|addressed as) .+)"
    r"|(?P<order>(?:please |from now on,? |going forward,? )*(?:always|never|only|don['’]t|do not|stop|avoid|use|no|keep|be|answer|reply|respond|speak|talk|write|call|address|add|include|cite|give|show|end|start)\b.+)",
    re.IGNORECASE,
)
PERMISSION = re.compile(
    r"(?:[^,;:.!?]{1,60}? says the assistant (?:may|can|need not)"
    r"|(?:please )?(?:you )?(?:can|may|are allowed to|need not|do not have to|don['’]t have to)) .+",
    re.IGNORECASE,
)
_case = re.compile(
    r"\b(?:when(?:ever)?|if|unless|every time|each time|any ?time|before|after|except|for|at the) (?P<case>(?!(?:me|now)\b).+)",
    re.IGNORECASE,
)
_case_first = re.compile(
    r"\W*(?:when(?:ever)?|if|every time|each time|any ?time|in case) (?P<case>[^,]{3,160}), (?P<act>.+)",
    re.IGNORECASE,
)
_tells = r"(?:answer|repl(?:y|ies)|respon(?:d|ses?)|speak|talk|communicate|chat|wr(?:i|o)te (?:to|back|in)|explain|explanations?|address|messages?|use|stick to|switch to)"
_language = re.compile(rf"\b{_tells}\w*\b.*?\b(?P<value>{LANGUAGE})\b(?! (?:spelling|grammar))", re.IGNORECASE)
_code = re.compile(
    r"\b(?:code|snippets?|scripts?|examples?)\b.*?\b(?:in|using) (?P<value>(?-i:[A-Z])[\w+#.]*)",
    re.IGNORECASE,
)
_name = re.compile(
    r"\b(?:call(?:ed)?|address(?:ed)?|refer(?:red)? to)(?: me| user| him| her| them| [A-Z][\w-]+(?= (?:as |(?:Dr|Prof|Mr|Mrs|Ms)\b|[A-Z])))?(?: as)? (?P<value>(?-i:[A-Z])[\w'’.-]*(?: (?-i:[A-Z])[\w'’.-]*){0,3})",
    re.IGNORECASE,
)
_of_code = re.compile(r"\b(?:code|snippets?|scripts?)\b", re.IGNORECASE)
_called = re.compile(r"\b(?:call|address|refer)", re.IGNORECASE)
_short = re.compile(
    rf"\b{SHORT}\b|\b(?:under|below|at most|no more than|within|max(?:imum)?(?: of)?|up to|in) (?P<limit>\d+|one|two|three|four|five) (?:words?|sentences?|lines?|paragraphs?)\b",
    re.IGNORECASE,
)
_long = re.compile(rf"\b{LONG}\b", re.IGNORECASE)
_lasts = re.compile(
    rf"\b(?:{ANSWERS}|answer|respond|explain|keep (?:it|things)|be|write|speak|talk|summar\w+)\b",
    re.IGNORECASE,
)
_formal = re.compile(rf"\b{FORMAL}\b", re.IGNORECASE)
_informal = re.compile(rf"\b{INFORMAL}\b", re.IGNORECASE)
_spelling = re.compile(
    r"\b(?P<value>British|American|Canadian|Australian|UK|US|Oxford)\b (?=English|spelling)", re.IGNORECASE
)
_units = re.compile(r"\b(?P<value>metric|imperial|SI)\b", re.IGNORECASE)
_degrees = re.compile(r"\b(?P<value>celsius|fahrenheit|kelvin)\b", re.IGNORECASE)
_clock = re.compile(r"\b(?P<value>24|12)[- ]?hour\b", re.IGNORECASE)
_measure = re.compile(
    rf"\b(?P<what>{MEASURES})\b.{{0,20}}?\b(?:in|as|with) (?P<value>[\w /.-]{{2,40}})",
    re.IGNORECASE,
)
_things = {name: re.compile(rf"\b(?:{form})\b", re.IGNORECASE) for name, form in THINGS.items()}
_frequency = frozenset(
    """
    always never ever only please also now on again anymore longer more any use using add adding
    include including give giving put show showing write make sure remember answer reply response
    assistant user you your me my today future forward every all
    """.split()
)
# The sides of these words decide the meaning, not the words alone.
_against = re.compile(r"\b(?:rather than|instead of|over)\b|, not\b", re.IGNORECASE)
_word_for = {"uk": "british", "us": "american"}


def is_permission(statement: str) -> bool:
    """Tell whether a statement takes a wish back, and asks for nothing itself."""
    return PERMISSION.fullmatch(statement.strip()) is not None


@lru_cache(maxsize=8192)
def instruction_kinds(statement: str) -> tuple[WishKind, ...]:
    """Return the wishes of a statement to the assistant; none if it is about something else."""
    match = _said.fullmatch(statement.strip().rstrip(".!"))
    if match is None or _against.search(statement):
        return ()
    act = match["act"] or match["allowed"] or match["wanted"] or match["order"]
    who = match["who"] or match["of"] or match["whose"] or "user"
    case = ""
    if first := _case_first.match(act):
        case, act = first["case"], first["act"]
    elif found := _case.search(act):
        case, act = found["case"], act[: found.start()]
    if _of_code.search(case):
        case, act = "", f"code: {act}"
    is_wanted = not NO.search(act) and match["may"] != "need not"
    told = list(_told(act, is_wanted=is_wanted))
    if not told and not match["wanted"] and (key := _stems(act)):
        told = [(key, "yes" if is_wanted else "no")]
    where = f":{_stems(case)}" if case else ""
    return tuple(WishKind(_stems(who) or "user", f"{name}{where}", value) for name, value in told)


def _told(act: str, *, is_wanted: bool) -> Iterator[tuple[str, str]]:
    """Yield the kinds that `act` speaks of, each with its value."""
    named = _name.search(act)
    if named and _called.search(act):
        yield "name", _valued(named["value"], is_wanted=is_wanted)
        return
    # Only the first of these that is named: "British English" is not another language.
    for name, form in (("spelling", _spelling), ("language", _language), ("code", _code)):
        if found := form.search(act):
            yield name, _valued(found["value"], is_wanted=is_wanted)
            break
    for name, form in (("units", _units), ("degrees", _degrees), ("clock", _clock)):
        if found := form.search(act):
            yield name, _valued(found["value"], is_wanted=is_wanted)
    if measured := _measure.search(act):
        what = measured["what"].lower().rstrip("s")
        yield what, _valued(measured["value"], is_wanted=is_wanted)
    if _lasts.search(act):
        yield from _manner(act, is_wanted=is_wanted)
    for name, form in _things.items():
        if form.search(act):
            yield name, "yes" if is_wanted else "no"


def _valued(value: str, *, is_wanted: bool) -> str:
    value = "-".join(value.lower().split()).strip("-.")
    value = _word_for.get(value, value)
    return value if is_wanted else f"not-{value}"


def _manner(act: str, *, is_wanted: bool) -> Iterator[tuple[str, str]]:
    """Yield the length and formality wanted. To want no long answers is to want short ones."""
    short, is_long = _short.search(act), bool(_long.search(act))
    if bool(short) != is_long:
        limit = f" {short['limit']}" if short and short["limit"] else ""
        is_short = bool(short) == (is_wanted or bool(limit))
        yield "length", f"short{limit}" if is_short else "long"
    is_formal, is_informal = bool(_formal.search(act)), bool(_informal.search(act))
    if is_formal != is_informal:
        yield "formality", "formal" if is_formal == is_wanted else "informal"


def _stems(text: str) -> str:
    """Return the words that say what a text is about, whatever their order."""
    telling = {
        word.root
        for word in words(text)
        if not (word.is_function or word.text in ARTICLES or word.text in _frequency) and not NO.fullmatch(word.text)
    }
    return "-".join(sorted(telling))
