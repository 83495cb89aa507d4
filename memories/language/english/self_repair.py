"""Slips that a speaker mends in the same breath: "on Tuesday, no wait, Wednesday" tells of Wednesday.

Pure. A slip is mended where a value of one kind stands before words that take it back, and another
of that kind behind them; the text keeps its length, so that places in it stay what they were.
"""

import re
from collections.abc import Iterator

from memories.language.english.calendar import MONTH, WEEKDAY
from memories.language.english.corrections import COLOUR
from memories.language.english.numbers import ORDINALS, TENS, words_from

BEFORE, BEHIND = 90, 70  # characters around the words that take something back
LONGEST = 1_500  # characters of a message
NEAR = 24  # between a value and a word that may as well mean something else

_number = rf"(?:{words_from(1, 20)}|{'|'.join(TENS)}|hundred|thousand|half)(?:[- ](?:{words_from(1, 9)}|hundred|thousand|and|a))*"
_small = rf"(?:{words_from(1, 12)}|\d{{1,2}})"
# Kinds of values, the narrowest first. A time may take the place of a bare number: "at two", "half three".
_kinds = {
    "day": rf"(?:(?:{WEEKDAY}s?,? )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?)",
    "time": rf"\d{{1,2}}[:.]\d\d(?: ?[ap]m)?|\d{{1,2}} ?[ap]m|(?:half|quarter)(?: (?:past|to))? {_small}|{_small} o['’]clock|noon|midnight",
    "nth": r"\d{1,2}(?:st|nd|rd|th)",
    "weekday": rf"{WEEKDAY}s?(?: the \d{{1,2}}(?:st|nd|rd|th)?)?",
    "month": MONTH,
    "money": r"[$€£]\d[\d,.]*[km]?",
    "code": r"v?\d+(?:[./:]\d+)+|v\d+|[A-Z]+-?\d+\w*",
    "ordinal": "|".join(ORDINALS),
    "colour": COLOUR,
    "side": r"left|right|north|south|east|west",
    "number": rf"(?:\d[\d,.]*\d|\d)(?: and a (?:half|quarter))?|{_number}",
    "name": r"(?-i:(?!(?:I|I['’]m|It|It['’]s|The|That|This|She|He|They|We|My|Our|Her|His|No|Not|Oh|And|But|So|Sorry|Wait|Stop|Edit)\b)[A-Z](?:['’][A-Z])?[\w-]*[a-z](?: [A-Z][\w-]+)*)",
}
_value = re.compile(
    "|".join(rf"(?P<{kind}>(?<![\w$€£])(?:{form})(?!\w))" for kind, form in _kinds.items()), re.IGNORECASE
)
# Words that only take back what was just said: in the middle of a sentence, and behind a pause
_sure = (
    r"(?:no[\s,]+)?I(?:['’]?m| am)(?: a)? (?:liar|lying)|(?:no[\s,]+)?(?:I )?tell a lie|what am I (?:even )?(?:like|saying|on|talking)(?: about)?"
    r"|(?:scratch|strike|scrap) that|no[\s,]+(?:no|wait|sorry|hang on)|(?:wait|sorry|oh|ah|um|uh|er|hmm*|hang on|hold on)[\s,]+no"
    r"|(?:hang|hold) on(?=,? (?:no|it['’]?s)\b)|oh whoops|(?:I )?beg (?:your )?pardon"
)
_paused = (
    r"I mea?nt?(?: to say)?(?! (?:by|that|what|how|it|who|when|if|you)\b)|I wanted to say|liar|pardon(?: me)?|excuse me|forgive me|apologies|my (?:mistake|bad)|(?:small )?correction|edit|typo"
    r"|I take that back|I correct myself|I misspoke|I(?:['’]ve)? (?:miscounted|mixed (?:that|it|them) up|transposed \w+ \w+)|brain ?fart"
    r"|fat fingers|or rather|hang on|hold on|oops|whoops|not (?:that|[\w-]+)(?=[.!])|no it (?:isn['’]t|is not)"
)
_maybe = (
    r"no(?: (?:love|pet|dear|mate|honey))?|nope|nah|oh(?: (?:listen to me|dear))?|dear me|(?:good )?lord|wait(?: wait)?|sorry(?: pet| love)?"
    r"|er+m?|uh|eh|ach|stop|well|make (?:it|that)|let me see[^,;.!?]{0,20}"
)
_taken_back = re.compile(
    rf"(?:[,.;:!…–—-]\s*|(?<![\w'’]))(?P<sure>{_sure})(?![\w'’])|(?:[,.;:!…–—-]\s*|\A)(?P<paused>{_paused})(?![\w'’])"
    rf"|(?:[,.;:!…–—]\s*|\s-\s+)(?P<maybe>{_maybe})(?=[\s,.;:!…–—])|(?<=[.!?,… ] )\*(?P<star>)(?=\w)(?!\w[^\s*]*\*)"
    r"|(?P<well>(?<=\w) (?:well|no))(?= \w)",
    re.IGNORECASE,
)
_leads = re.compile(
    r"[\s,.;:!…*–—>-]*(?:(?:it(?:['’]?s| is| was)|that(?:['’]?s| is)|the|an?|in|on|at|to|from|by|via|for|with|is|port|version|every|what,?)\s+)*",
    re.IGNORECASE,
)
_ends = re.compile(
    r"\s*(?:[,;!)–—]|\.(?!\d)|$|\n)|\s+(?:actually|rather|even|then|lol|sorry|instead|I mean)\b", re.IGNORECASE
)
# "funeral's wednesday. tuesday the 12th, forgive me"
_behind_it = re.compile(rf"(?:[,;.!–—-]|\.\.\.)\s+(?:no,? )?(?:(?:the|in|on|at) )*(?={_value.pattern})", re.IGNORECASE)
_mark_after = re.compile(rf"(?:[\s,.;!–—-]+(?:{_sure}|{_paused})|,? (?:rather|even))(?=[\s,.;:!…–—]|\Z)", re.IGNORECASE)
_goes_on = re.compile(r" (?:with|if|since|when|from|now|counting|in|at|on|as|to)\b", re.IGNORECASE)
# What has no kind: "in the attic, tell a lie, in the cellar"; "the guitar, I mean ukulele"
_plain = re.compile(
    r"[\s,.;:!–—-]*(?:it(?:['’]?s| is) )?(?P<new>(?:(?P<lead>in|on|at|to|from|with|by|for|via|the|an?|my|our|his|her)(?: (?:the|an?|my|our|his|her))? )?(?!(?:I|it|he|she|we|they|you|that|this|to|not|no|what|wait|sorry|well|so|because|if|like|just)\b)[a-z][\w'’-]*(?: (?!(?:is|was|and|but|has|I)\b)[a-z][\w'’-]*)?)"
    r"(?=\s*(?:[,;.!)–—]|$|\n|lol\b))",
    re.IGNORECASE,
)
_last_word = re.compile(r"[a-z][\w'’-]*(?=[\s,.;:!…–—-]*\Z)", re.IGNORECASE)
_STOPS = " ,.;:!…–—-*("
_unit = re.compile(r" ?[^\W\d_]+\b|%")


# Cheap to look for: without one of these nothing is taken back.
MAY_SLIP = re.compile(
    r"\b(?:no|nope|nah|wait|sorry|lie|liar|lying|mean|meant|saying|what am|say|pardon|excuse|forgive|apologies|mistake|bad|correct\w*|edit|typo|take"
    r"|misspoke|miscounted|mixed|transposed|brain ?fart|fingers|rather|even|that|hang|hold|oops|whoops|er+m?|uh|eh|ach|stop|well|make|let me|oh|lord|dear|not)\b|\*",
    re.IGNORECASE,
)


def mended(text: str) -> str:
    """Return `text`, of the same length, with each value that is taken back replaced by the one
    that is told in its place. Who slips writes short messages: longer ones stay as they are."""
    if len(text) > LONGEST or "```" in text or not MAY_SLIP.search(text):
        return text
    position = 0
    while slip := next(_slips(text, position), None):
        start, end, told = slip
        text = f"{text[:start]}{told.ljust(end - start)}{text[end:]}"
        position = start + len(told)
    return text


def _slips(text: str, position: int) -> Iterator[tuple[int, int, str]]:
    """Yield slips in `text`: the place from the old value to the end of the new, and what it comes to."""
    for mark in _taken_back.finditer(text, position):
        begin = max(position, mark.start() - BEFORE, text.rfind("\n", 0, mark.start()) + 1)
        before, behind = text[begin : mark.start()], text[mark.end() : mark.end() + BEHIND].partition("\n")[0]
        is_sure = bool(mark["sure"] or mark["paused"])
        lead = _leads.match(behind)
        told = dict(_values(before))  # the last of each kind
        for kind, new in _values(behind):
            is_next = lead is not None and lead.end() == new.start()
            if not is_next and (kind == "name" or not is_sure):
                break
            old = told.get(kind) or (told.get("number") if kind == "time" else None)
            if old is None or old[0].casefold() == new[0].casefold() or behind[new.end() :].lstrip().startswith("?"):
                continue
            between = before[old.end() :].rstrip(_STOPS)
            end = new.end() + len(_unit_again(between, behind[new.end() :]))
            is_end = end > new.end() or _ends.match(behind, end) is not None
            is_end = is_end or (kind in ("number", "time") and _goes_on.match(behind, end) is not None)
            is_counted = kind != "name" or not mark["well"]
            if is_counted and (is_end or (is_sure and kind != "name")) and (is_sure or len(between) <= NEAR):
                yield begin + old.start(), mark.end() + end, new[0] + between
                return
        plain = _plain.match(behind) if is_sure else None
        if plain and (start := _replaced(before, plain)) is not None:
            yield begin + start, mark.end() + plain.end(), plain["new"]
            return
    for pause in _behind_it.finditer(text, position):
        first = next(_values(text[pause.end() : pause.end() + BEHIND]), None)
        if first is None or first[1].start():
            continue
        kind, new = first
        begin = max(position, pause.start() - BEFORE, text.rfind("\n", 0, pause.start()) + 1)
        before = text[begin : pause.start()]
        was, stop = dict(_values(before)).get(kind), _mark_after.match(text, pause.end() + new.end())
        if was and stop and was[0].casefold() != new[0].casefold():
            yield begin + was.start(), stop.end(), new[0] + before[was.end() :]
            return


_opening = re.compile(r"(?:^|[.!?:*#>\n…]\W*)\Z")


def _values(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the values in `text` with their kinds; a capital that opens a sentence makes no name,
    unless the sentence is no more than that."""
    for match in _value.finditer(text):
        kind = match.lastgroup or ""
        is_opening = kind == "name" and _opening.search(text[max(0, match.start() - 8) : match.start()])
        if not is_opening or _ends.match(text, match.end()):
            yield kind, match


def _unit_again(between: str, behind: str) -> str:
    """Return the words at the start of `behind` that stand behind the old value, too: "4 kilos, no,
    6 kilos"."""
    unit = _unit.match(between)
    return unit[0] if unit and behind.casefold().startswith(unit[0].casefold()) else ""


def _replaced(before: str, plain: re.Match[str]) -> int | None:
    """Return where in `before` the words begin that those of `plain` replace: at the same small
    word, or with the last word."""
    if lead := plain["lead"]:
        at = before.lower().rfind(f" {lead.lower()} ")
        return at + 1 if at >= 0 and len(before) - at <= 2 * NEAR else None
    last = _last_word.search(before)
    return last.start() if last else None


# What was told earlier and is wrong: "I misspoke about the tuner, his card says ...".
_misspoke = re.compile(
    r"\bI (?:think I )?(?:misspoke|mistyped|misquoted|misremembered|got (?:it|that|this) wrong|gave you the wrong)\b|\bI(?:['’]ve| have)? (?:told you (?:it |that )?wrong|(?:said|wrote|typed|put) (?:it |that )?wrong)\b"
    r"|\bbrain ?fart\b|\bwhat I (?:said|told you|typed|wrote|put)\b[^.!?;]{0,60}? (?:was|is) (?:wrong|off(?: by (?:one|\w+))?|a mistake|a typo|not right)\b",
    re.IGNORECASE,
)
_about = re.compile(
    r"\s(?:[a-z]+ ){0,3}?(?:about|on|with|for) (?P<topic>(?:(?:the|my|our) )?[\w-]+(?: [\w-]+)?)(?=[\s,;.!?])",
    re.IGNORECASE,
)
_introduced = re.compile(
    r"(?:\b(?:it|that|they|he|she)(?:['’]?s|['’]re| is| are)|\b(?:says?|said|stands?|reads?|ought to be|should (?:be|have been|read|say)|means?|so)|[\w]['’]s(?= (?-i:[A-Z\d])))"
    r" (?:actually |really |the |in fact |at |on )*(?P<new>(?!(?:that|we|I|you|he|she|they|it|not|what|fix)\b)[\w$€£+:.,/%'’-]+(?<![.,])(?: (?!(?:so|and|but|not|right|as|since|because|feet|I|we|from)\b)[\w%'’+-]+){0,3}?)"
    r"(?=[,;:!?]|\.(?!\d)|\s*$| (?:so|and (?!a half)|but|not|right|as|since|because|feet|I|we|from)\b)",
    re.IGNORECASE,
)
_reported = re.compile(
    r"\b(?:I(?:['’]ve| have)?|you(?:['’]ve| have)?|u|did (?=I )I)(?: (?:just|earlier|only))? (?:say|said|wrote|(?<=I )put|typed|told you|told u|called \w+|have me down as|had me down as|have \w+ as)\b",
    re.IGNORECASE,
)
_it_is = re.compile(
    r"\b(?:it|that)(?:['’]?s| is| ought to be| should (?:be|have been))\b|\bI meant\b|\bbut\b|\bthe \w+['’]s\b",
    re.IGNORECASE,
)


def told_wrong(text: str, start: int, end: int) -> tuple[str, tuple[int, int], tuple[int, int] | None] | None:
    """Return the old value ("" where it is not named), the place of the new one, and that of what it
    is about, where a sentence at [start, end) says that something was told wrong; the value may
    stand in the next sentence."""
    if misspoke := _misspoke.search(text, start, end):
        topic = _about.match(text, misspoke.end(), end)
        behind = topic.end() if topic else misspoke.end()
        for found in _introduced.finditer(text, behind, min(len(text), end + BEFORE)):
            return "", found.span("new"), topic.span("topic") if topic else None
        for _, value in _values(text[behind:end]):
            place = (behind + value.start(), behind + value.end())
            return "", place, topic.span("topic") if topic else None
    if reported := _reported.search(text, start, end):
        rest = text[reported.end() : min(len(text), end + BEFORE)]
        for kind, old in _values(rest[:BEHIND]):
            said = _it_is.search(rest, old.end())
            if said is None:
                continue
            for other, new in _values(rest[said.start() : said.end() + NEAR]):
                if other == kind and new[0].casefold() != old[0].casefold():
                    at = reported.end() + said.start() + new.start()
                    return old[0], (at, at + len(new[0])), None
    return None
