"""A change that is told in two clauses: what is over, and what is so instead.

"I no longer drive a Volvo, it's a Skoda now" says that one drives a Skoda; each clause takes from the
other what it leaves out. Pure: clauses with their words in, the words that they mean out.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

GONE = re.compile(
    r"\b(?:no longer|any ?more|any longer|used to|after all|instead of|took me off|done with|moved on from"
    r"|(?:gave|given|giving) up|went off|gone off|no more|ditched|left|quit|stopped|dropped|cancell?ed|sold|closed|retired|died|broke|switched"
    r"|replaced|moved out|went to another|is over|got rid of|ended"
    r"|let me go|are (?:over|history)|took my [a-z]+['’]s name)\b",
    re.IGNORECASE,
)
ARRIVED = re.compile(
    r"\b(?:now|these days|nowadays|instead|from now on|currently|at the moment|since then)\b",
    re.IGNORECASE,
)
_is_over = re.compile(r"\b(?:no longer|any ?more|any longer|after all)\b", re.IGNORECASE)
_now_first = re.compile(
    r"(?:now|nowadays|these days),? (?P<rest>(?:I|we|my|our)\b.+)", re.IGNORECASE
)
# "it's a Skoda now", after a comma or as a clause of its own
_instead = re.compile(
    r"(?P<it>it|they|that|he|she)(?:['’](?:s|re)| (?:is|are))(?: (?:just|only))? (?P<value>.+)",
    re.IGNORECASE,
)
_after_comma = re.compile(
    r"[,;] (?:but |and |so )?(?=(?:it|they|that)(?:['’](?:s|re)| (?:is|are)) )", re.IGNORECASE
)
_before_instead = re.compile(
    r"[,;] (?=(?:but |and )?[^,;]{2,40} (?:is|are)(?: now)?$)", re.IGNORECASE
)
_acts = re.compile(r"(?P<it>It|They|He|She) (?P<rest>[a-z]+s\b.+|now [a-z]+s\b.+)")
_over = r"(?: (?:any ?more|any longer|these days|now|after all|from now on))?"
# who or what, the verb, what is over
_is_not = re.compile(
    rf"(?P<who>[^,;]{{1,60}}?)(?: (?P<is>is|are|am|was)n['’]t| (?P<be>is|are|am|was) (?:not|no longer)"
    rf"|(?P<short>['’](?:s|m|re)) (?:not|no longer)) (?P<rest>[^,;]{{2,80}}?){_over}",
    re.IGNORECASE,
)
_does_not = re.compile(
    rf"(?P<who>[^,;]{{1,60}}?) (?:don['’]t|do not|(?P<third>doesn['’]t|does not)|no longer|used to) "
    rf"(?P<verb>[a-z]+)(?P<lead> (?:in|at|for|on|to|with|by|from|as|a|an|the|my|our))? (?P<rest>[^,;]{{2,80}}?){_over}",
    re.IGNORECASE,
)
# "I cancelled Spotify and moved to Deezer": two acts of one person
_two_acts = re.compile(
    r"(?P<who>I|we)(?P<first>(?:['’]ve|['’]d)? (?:(?:have|had|just|finally|recently|already|also) )*(?:quit|left|sold|cancell?ed"
    r"|closed|stopped|ended|dropped|ditched|gave|got rid of|returned|retired|resigned|moved|broke up|let|donated)"
    r"\b[^,;]{2,80}?),? and (?:(?:now|then|am|are|have|instead) )*(?P<second>(?:joined|moved|switched|bought|got"
    r"|started|signed|took|went|found|opened|enrolled|adopted|picked|rented|chose|hired|subscribed|ordered|work"
    r"|study|live|use|drive|train|play|drink|eat|go|rent|pay|read|run|ride|teach|take|own|write|shop|bank|see|visit|get|have|listen|watch|wear|order|call)\b"
    r"[^,;]{2,100})",
    re.IGNORECASE,
)
# "Ines went on leave and Oskar is my manager now", "I quit and now I work as a courier"
_name = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_glued = re.compile(
    r"(?P<first>(?!.*\b(?:said|says|told|heard|think|thinks|that)\b)[^,;]{6,100}?),? and (?P<second>now (?:I|we)\b [^,;]{4,100}"
    rf"|{_name} is (?:my|our) [a-z][a-z -]{{2,30}} now)"
)
_is_mine = re.compile(rf"(?P<value>{_name}) is (?P<thing>(?:my|our) [a-z][a-z -]{{2,30}}) now")
_home = re.compile(rf"(?:[Mm]y |[Oo]ur )?[Hh]ome is (?:now )?(?P<value>{_name})(?: now)?")
_hired = re.compile(
    rf"(?P<value>(?!(?:He|She|They|It|We|You|My) ){_name}) (?:took me on|hired me|gave me a job)"
)
_parted = re.compile(rf"(?P<value>{_name}) and I are (?:over|history|done|finished)")
_done_with = re.compile(
    r"I['’]m done with (?P<value>(?!(?:my|the|it|this|that|these|you|him|her|them|work|all|your|a|an)\b)"
    r"[a-z]+(?: [a-z]+)?)"
)
_named = re.compile(r"I['’]m (?P<first>[A-Z]\w+) (?P<value>[A-Z][\w-]+) now")
# "the one on Mill Lane", after "the gym on Oak Street"
_one = re.compile(
    r"\b(?P<article>the|a|an) (?P<what>(?:[a-z]+ )?)one(?P<place> (?:on|in|at|near|by|from|of)\b)"
)
_thing = re.compile(
    r"\b(?:the|my|our|a|an) (?P<noun>[a-z]{3,20}) (?:on|in|at|near|by|from|of|called)\b"
)
# "..., turquoise is"
_is_instead = re.compile(
    r"(?:but |and )?(?P<value>(?!(?:it|that|this|they|he|she|there|what)\b)[^,;]{2,40}?) (?:is|are)(?: now)?",
    re.IGNORECASE,
)
_that_does = re.compile(r" that (?:I|we|he|she|they|it) [a-z]+$", re.IGNORECASE)
Item = TypeVar("Item")


def may_change(text: str) -> bool:
    """Whether a text with such a clause is to be looked through for a change."""
    return bool(GONE.search(text) or _glued.fullmatch(text))


def changed(items: Sequence[tuple[Item, str]]) -> Iterator[tuple[Item, str | None]]:
    """The clauses of a text with their words, in their order; the words again of those that tell of a
    change, with what they leave to the one before, and None for the others."""
    before = ""
    whole = {text for _, text in items}
    items = tuple(_unglued(items))
    for place, (item, text) in enumerate(items):
        after = items[place + 1][1] if place + 1 < len(items) else ""
        around = f"{before} ; {text} ; {after}"
        is_told = bool(
            text not in whole
            or (ARRIVED.search(text) and GONE.search(around))
            or (GONE.search(text) and ARRIVED.search(around))
            or _is_over.search(text)
        )
        if turned := _turned_round(before, text):
            text, is_told = turned, True
        if (one := _one.search(text)) and (thing := _thing.search(before)):
            text = f"{text[: one.start('what')]}{one['what']}{thing['noun']}{text[one.start('place') :]}"
            is_told = True
        if acts := _two_acts.fullmatch(text):
            yield item, f"{acts['who']}{acts['first']}"
            yield item, f"{acts['who']} {acts['second']}"
            before = text
            continue
        cut = _after_comma.search(text) or _before_instead.search(text)
        first = text[: cut.start()] if cut else before
        said = _said_instead(first, text[cut.end() :] if cut else text, is_one=cut is not None)
        if cut and said:
            yield item, first
        if said or is_told or _goes_on(before, text):
            yield item, said or text
        else:
            yield item, None
        before = text


def _unglued(items: Sequence[tuple[Item, str]]) -> Iterator[tuple[Item, str]]:
    """With what "and now" or "and Oskar is my boss now" adds to a clause as a clause of its own; what
    others do before is left out."""
    for item, text in items:
        glued = _glued.fullmatch(text)
        if glued is None:
            yield item, text
            continue
        first = glued["first"]
        if GONE.search(first) or first.startswith(("I ", "We ", "My ", "Our ")):
            yield item, first
        yield item, glued["second"]


def _turned_round(before: str, text: str) -> str:
    """A value that stands where its attribute is looked for, the other way round: "home is Vigo now",
    "Goran is my manager now"; "" of all others."""
    if match := _now_first.fullmatch(text):
        return f"{match['rest']} now"
    if match := _is_mine.fullmatch(text):
        return f"{match['thing']} is {match['value']} now"
    if match := _home.fullmatch(text):
        return f"I live in {match['value']} now"
    if match := _hired.fullmatch(text):
        return f"I work at {match['value']} now"
    if match := _parted.fullmatch(text):
        return f"{match['value']} and I split up"
    if match := _done_with.fullmatch(text):
        return f"I gave up {match['value']}"
    if (match := _named.fullmatch(text)) and re.search(r"\b(?:sur)?name\b", before):
        return f"my surname is {match['value']} now"
    return ""


def _said_instead(first: str, second: str, *, is_one: bool) -> str:
    """What `second` says of what `first` denies, "" where it does not lean on it; `is_one`: they are
    one sentence."""
    match, acts = _instead.fullmatch(second), _acts.fullmatch(second)
    if denied := _is_not.fullmatch(first):
        is_ = denied["is"] or denied["be"] or denied["short"]
        join = "" if denied["short"] else " "
        if match:
            # "it's cold here" is not said of who is not in Rome any more.
            is_alike = match["value"].split()[0].lower() == denied["rest"].split()[0].lower()
            is_thing = is_one and denied["who"].lower() not in ("i", "we")
            return f"{denied['who']}{join}{is_} {match['value']}" if is_alike or is_thing else ""
        other = _is_instead.fullmatch(second)
        if other and is_one and denied["rest"].lower().startswith(("my ", "our ")):
            return f"{denied['rest']} {'are' if is_ == 'are' else 'is'} {other['value']}"
        if (
            other
            and is_one
            and re.match(r"(?:my|our) ", denied["who"], re.I)
            and other["value"][0].isupper()
        ):
            return f"{denied['who']} {is_} {other['value']}"
        return f"{denied['who']} {acts['rest']}" if acts else ""
    denied = _does_not.fullmatch(first)
    if denied is None:
        return ""
    if acts and denied["who"].lower() not in ("i", "we"):
        return f"{denied['who']} {acts['rest']}"
    if match is None or not _names_a_value(match["value"], denied["lead"] or ""):
        return ""
    verb = denied["verb"]
    if denied["third"] and not verb.endswith("s"):
        verb += "es" if verb.endswith(("sh", "ch", "x", "o")) else "s"
    lead = denied["lead"] or ""
    value = _that_does.sub("", match["value"])
    if (
        lead.strip() in ("a", "an", "the", "my", "our")
        or lead
        and value.lower().startswith(lead.strip() + " ")
    ):
        lead = ""
    return f"{denied['who']} {verb}{lead} {value}"


def _names_a_value(value: str, lead: str) -> bool:
    """ "it's Milan", "it's a Skoda now", "it's lactose that she avoids"; not "it's too far"."""
    is_named = bool(re.match(r"(?:(?:a|an|the|in|at|on|for|with|to) )?[A-Z\d]", value))
    is_led = bool(lead.strip()) and value.lower().startswith(f"{lead.strip()} ") and len(lead) > 3
    return is_named or is_led or bool(ARRIVED.search(value) or _that_does.search(value))


def _goes_on(before: str, text: str) -> bool:
    """ "I no longer get up at six" and "I get up at five": the same is done otherwise."""
    if denied := _is_not.fullmatch(before):
        is_ = denied["is"] or denied["be"] or denied["short"]
        verb = denied["rest"].split()[0]
        said = f"{denied['who']}{'' if denied['short'] else ' '}{is_} {verb} "
        return verb.endswith(("ing", "on", "in", "at", "with")) and text.lower().startswith(
            said.lower()
        )
    denied = _does_not.fullmatch(before)
    if denied is None:
        return False
    often = re.sub(
        r"^(I|we) (?:always|now|only|usually|mostly) ", r"\1 ", text, flags=re.IGNORECASE
    )
    return often.lower().startswith(f"{denied['who']} {denied['verb']} ".lower())
