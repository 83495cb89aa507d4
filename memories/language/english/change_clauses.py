"""Changes told in two clauses: what is over, and what has taken its place.

"I no longer drive a Volvo, it's a Skoda now" says that one drives a Skoda; each clause takes from
the other what it leaves out. Pure: clauses with their words in, the words that they mean out.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from memories.language.english import instead
from memories.language.english.instead import NAME

GONE = re.compile(
    r"\b(?:no longer|any ?more|any longer|used to|after all|instead of|took me off|done with|moved on from"
    r"|(?:gave|given|giving) up|went off|gone off|no more|ditched|left|quit|stopped|dropped|cancell?ed|sold|closed|retired|died|broke|switched"
    r"|replaced|moved out|went to another|is over|got rid of|ended|parted ways|packed up|cut out|lost weight"
    r"|binned|(?:got|became) too|rebooked|traded|swapped|fell through|stepped (?:down|back)|handed in|upped sticks|lapsed?|(?:moved|put|switched|transferred|discharged|fired|sacked|hired|promoted|evicted|expelled|dismissed|released) me|stolen|not for me|[a-z]+n['’]t for me|gave [^,;.!?]{2,30} up"
    r"|I['’]m (?:over|through with|tired of|sick of|fed up with|bored with)|had enough of"
    r"|let me go|(?:is|are) (?:over|history|toast|kaput)|gave up the ghost|bit the dust|conked out|packed it in"
    r"|took my [a-z]+['’]s name)\b",
    re.IGNORECASE,
)
ARRIVED = re.compile(
    r"\b(?:now|these days|nowadays|instead|from now on|currently|at the moment|since then)\b",
    re.IGNORECASE,
)
_is_over = re.compile(r"\b(?:no longer|any ?more|any longer|after all)\b", re.IGNORECASE)
_now_first = re.compile(r"(?:now|nowadays|these days),? (?P<rest>(?:I|we|my|our)\b.+)", re.IGNORECASE)
# "it's a Skoda now", after a comma or as a clause of its own
_instead = re.compile(
    r"(?P<it>it|they|that|he|she)(?:['’](?:s|re)| (?:is|are))(?: (?:just|only))? (?P<value>.+)",
    re.IGNORECASE,
)
_after_comma = re.compile(r"[,;] (?:but |and |so )?(?=(?:it|they|that)(?:['’](?:s|re)| (?:is|are)) )", re.IGNORECASE)
_before_instead = re.compile(r"[,;] (?=(?:but |and )?[^,;]{2,40} (?:is|are)(?: now)?$)", re.IGNORECASE)
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
_glued = re.compile(
    r"(?P<first>(?!.*\b(?:said|says|told|heard|think|thinks|that)\b)[^,;]{6,100}?),? and (?P<second>now (?:I|we)\b [^,;]{4,100}"
    rf"|{NAME} is (?:home|(?:my|our) [a-z][a-z -]{{2,30}}) now)"
)
# "isn't on Mondays any more but on Thursdays"
_but = re.compile(
    r"(?P<who>[^,;]{1,50}?) (?:(?P<is>is|are|am)(?:n['’]t| not| no longer)|(?:don['’]t|do not|no longer) (?P<verb>[a-z]+))"
    r" [^,;]{2,50}?(?: any ?more| any longer)?,? but (?:now )?(?P<value>(?:on|at|in|with|for|by|to|an?|the|my)\b [^,;]{2,50})"
)
_stopped_with = re.compile(
    r"(?P<who>I|[Ww]e)(?:['’]ve| have)? (?:just |finally |already |now )*(?:stopped (?:with|drinking|eating|using|taking|buying|wearing|playing|watching|reading)|gave up|given up|quit|dropped|cut out|went off|gone off|moved on from)"
    r" (?:the |my |our )?(?P<old>[a-z][a-z-]*(?: [a-z-]+){0,2})"
)
_named = re.compile(r"I['’]m (?P<first>[A-Z]\w+) (?P<value>[A-Z][\w-]+) now")
_not_for_me = re.compile(
    r"(?P<value>(?!(?:it|that|this|they|he|she|there|what|which)\b)[\w'’-]+(?: [\w'’-]+){0,2}) (?:(?:was|is|were|are)n['’]t|(?:was|is|were|are) not)"
    r" (?:really |quite )?for me(?: after all| in the end| any ?more)?",
    re.IGNORECASE,
)
# What others do to one: "they took me off nights and put me on days"
_put_on = re.compile(
    r"(?P<first>[Tt]hey(?:['’]ve)?|(?:[Mm]y|[Tt]he) [a-z]+) (?:[a-z]+ )?(?:(?:took|pulled|moved) me off (?P<old>[^,;]{2,40}?),? and )?"
    r"(?:they )?(?:have |has |['’]ve )?(?:just |now )?(?:put|moved|switched|transferred|assigned|(?:got|have) (?=me on )) ?me (?:(?P<lead>on)(?:to)? (?!(?:hold|mute|speaker|ice|edge|the (?:spot|phone|line|bus|train|plane))\b)|(?P<to>to) (?=(?:the|an?|another|days?|nights?|(?-i:[A-Z]))\b))(?P<value>[^,;]{2,60}?)(?: now| instead)?"
)
_sick_of = re.compile(
    r"I(?:['’]m (?:so |completely |quite )?(?:over|through with|tired of|sick of|fed up with|bored with)|['’]ve had (?:quite )?enough of)"
    r" (?P<value>(?!(?:my|the|it|this|that|these|you|him|her|them|work|all|your|a|an|being|how)\b)[a-z]+(?: [a-z]+)?)"
)
_no_more_of = re.compile(r"[Nn]o more (?P<value>[^,;]{2,40}?)")
_too = re.compile(rf"(?P<value>{NAME}) (?:got|became) (?:just |simply )?too [a-z]+(?: for me| for my taste)?")
_does_instead = re.compile(
    r"\bprefer|\b(?:I|we) (?:[a-z]+ )?(?:like|love|use|order|buy|shop|go to|keep|write|listen|watch|play|drive|drink|eat|wear|live|work|train|bank|take|read|cycle)\b[^,;]*"
    r"\b(?:now|these days|nowadays|instead)\b|\bis my favou?rite\b|\bmy favou?rite\b",
    re.IGNORECASE,
)
_dropped = re.compile(
    r"(?P<who>I|[Ww]e)(?:['’]ve| have)? (?:just |finally |already |now )*(?:ditched|dropped|binned|stopped using|quit using|got rid of|moved (?:away )?from"
    r"|no longer use)\b [^,;]{2,60}"
)
_rescheduled = re.compile(
    r"(?:(?P<whose>my|our|the) )?(?P<thing>(?!(?:I|we|he|she|they|you|it|that|this|everything)\b)[a-z][a-z-]*(?: [a-z-]+){0,2}?)(?:['’]s)? (?:has |have |was |were |got |been |just )*"
    r"(?:moved|changed|rescheduled|postponed|pushed back|brought forward|shifted|rebooked)",
    re.IGNORECASE,
)
# "the one on Mill Lane", after "the gym on Oak Street"
_one = re.compile(r"\b(?P<article>the|a|an) (?P<what>(?:[a-z]+ )?)one(?P<place> (?:on|in|at|near|by|from|of)\b)")
_thing = re.compile(r"\b(?:the|my|our|a|an) (?P<noun>[a-z]{3,20}) (?:on|in|at|near|by|from|of|called)\b")
# "..., turquoise is"
_is_instead = re.compile(
    r"(?:but |and )?(?P<value>(?!(?:it|that|this|they|he|she|there|what)\b)[^,;]{2,40}?) (?:is|are)(?: now)?",
    re.IGNORECASE,
)
_lasting = re.compile(
    r"(?:I|we) (?:only |mostly |always |usually )?(?:live|work|sit|play|drive|take|drink|eat|train|study|go|sing|teach|write|wear|share|rent|cycle|commute|sleep|shop|bank|pay|weigh"
    r"|earn|own|speak|learn|swim|volunteer|coach|report|order|watch|listen|cook|prefer|vote|attend|ride|row|dance|get up|wake up|park|stay)\b(?=[^,;?]*(?:(?-i: [A-Z])|\d))",
    re.IGNORECASE,
)
# "..., I go running in the evening"
_of_oneself = re.compile(r"(?:I|we) (?!(?:am|feel|was|were|think|hope|guess|miss)\b)[a-z]+ ", re.IGNORECASE)
_that_does = re.compile(r" that (?:I|we|he|she|they|it) [a-z]+$", re.IGNORECASE)
# "I got a job in Falun and quit the one in Gävle"
_the_one = re.compile(
    r"\b(?:an?|my|the) (?:new |better |other )?(?P<noun>job|flat|house|apartment|room|position|post|cottage|office|car|allotment) (?:in|at|with|on|near) [^,;]{2,30} and (?:I )?(?:quit|left|sold|gave up|closed|moved out of|let go of) (?P<one>the (?:old )?one)\b"
)
_there = re.compile(r"\bthere\b(?= (?:now|these days|nowadays)$)")
_bought_in = re.compile(
    rf"\b(?:bought|found|rented|got|built|took|moved|have)\b.{{0,120}} (?:in|to) (?P<value>{NAME})(?: (?:in|last|this) [a-z ]+)?$"
)
_he = re.compile(r"[Ss]?[Hh]e\b(?!['’])")
_he_left = re.compile(
    rf"(?P<who>{NAME})(?:['’]s| has)? (?:just |recently |now )*(?:left|quit|moved|sold|gave up|given up|retired|graduated|divorced|lost|stopped)\b"
)
# Signs of the events among what is told otherwise, and of a move
_occasion = re.compile(
    r"\bfirst day\b|\b(?:made|named|appointed) me\b|\b(?:nicked|stolen?|off with)\b|\b(?:lapse|expire|run out)\b|\b[Ll]et\b|\bhome is\b|\b[Tt]urns out\b|\b(?:gave|given) (?:my|our)\b|\b(?:lapsed|expired|ran out|ended)\b|^We (?:think|guess|believe)\b|\bthe one (?:in|at)\b"
    r"|\b(?:upped sticks|packed|sold up|settled down|put down roots|home in|gave up|left|emigrated|relocated)\b"
)
# "They're in Bath these days", of who moved out of somewhere
_went = re.compile(
    r"\b(?:moved|left|upped sticks|packed (?:up|(?:my|his|her|their|our) [a-z]+)|sold up|emigrated|relocated)\b"
)
_are_in = re.compile(
    rf"(?P<who>I|[Ww]e|[Tt]hey|[Ss]?[Hh]e)(?:['’](?:m|re|s)| am| are| is)(?: back| over| out)? in (?P<place>{NAME} (?:now|these days|nowadays))"
)
Item = TypeVar("Item")


def may_change(text: str) -> bool:
    """Tell whether a clause is a reason to search its whole text for a change."""
    return bool(_may_lean(text) or instead.may_be(text) or _occasion.search(text))


def _may_lean(text: str) -> bool:
    """Tell whether a clause is of a kind beside which other clauses may leave out words."""
    return bool(GONE.search(text) or _does_now(text) or _glued.fullmatch(text) or _rescheduled.fullmatch(text))


def changed(items: Sequence[tuple[Item, str]]) -> Iterator[tuple[Item, str | None]]:
    """Yield the clauses of a text in their order, each with words that tell of a change, completed
    by what the clause before says; with None for a clause without a change."""
    before, is_over = "", False
    whole = {text for _, text in items}
    may_lean = any(map(_may_lean, whole))
    items = tuple(_unglued(items))
    for place, (item, text) in enumerate(items):
        after = items[place + 1][1] if place + 1 < len(items) else ""
        told: Sequence[str | None] = ()
        if not _two_acts.fullmatch(text):
            told = _over_then_instead(before, text, after)
        was_over, is_over = is_over, bool(told)
        if not told:
            is_change = text not in whole or (was_over and ARRIVED.search(text) is not None)
            text, is_told = _turned(before, text, after)
            is_told |= is_change
            told = list(_said(before if may_lean else "", text, is_told=is_told)) or [None]
        yield from ((item, words) for words in told)
        before = text


def _turned(before: str, text: str, after: str) -> tuple[str, bool]:
    """Return a clause, reworded so that its meaning can be looked for, and whether it tells of a
    change."""
    text, is_pointed = _pointed(before, text)
    if (there := _are_in.fullmatch(text)) and _went.search(before):
        verb = "lives" if there["who"].lower() in ("he", "she") else "live"
        text = f"{there['who']} {verb} in {there['place']}"
    is_told = is_pointed or _tells(before, text, after)
    if (but := _but.fullmatch(text)) and _is_over.search(text) and not _put_on.fullmatch(text):
        text, is_told = f"{but['who']} {but['is'] or but['verb']} {but['value']}", True
    elif turned := _turned_round(before, text, after):
        text, is_told = turned, True
    if (one := _one.search(text)) and (thing := _thing.search(before)):
        text = f"{text[: one.start('what')]}{one['what']}{thing['noun']}{text[one.start('place') :]}"
        is_told = True
    return text, is_told


def _tells(before: str, text: str, after: str) -> bool:
    """Tell whether a clause is about a change, by its words and those around it."""
    around = f"{before} ; {text} ; {after}"
    return bool(
        (ARRIVED.search(text) and GONE.search(around))
        or (GONE.search(text) and ARRIVED.search(around))
        or _is_over.search(text)
        or _does_now(text)
        or (_is_over.search(before) and _of_oneself.match(text))
    )


def _said(before: str, text: str, *, is_told: bool) -> Iterator[str]:
    """Yield the clauses that one amounts to; none if it tells of no change."""
    if put := _put_on.fullmatch(text):
        if put["old"]:
            yield f"I am off {put['old']}"
        yield f"I {'moved to' if put['to'] else 'am on'} {put['value']} now"
        return
    if acts := _two_acts.fullmatch(text):
        ended = f"{acts['who']}{acts['first']}"
        yield instead.given_up(ended, is_instead=True) or ended
        yield f"{acts['who']} {acts['second']}"
        return
    cut = _after_comma.search(text) or _before_instead.search(text)
    first = text[: cut.start()] if cut else before
    second = text[cut.end() :] if cut else text
    said = _in_its_place(first, second)
    said = said or _said_instead(first, second, is_one=cut is not None)
    if cut and said:
        yield first
    if said or is_told or _goes_on(before, text):
        yield said or text


def _pointed(before: str, text: str) -> tuple[str, bool]:
    """Replace "there", "she" and "the one" by what they mean, if the clause before, or the clause's
    own beginning, tells what is over; also return whether any was replaced."""
    if one := _the_one.search(text):
        return f"{text[: one.start('one')]}the {one['noun']}{text[one.end('one') :]}", True
    if not ARRIVED.search(text):
        return text, False
    if (there := _there.search(text)) and (place := _bought_in.search(before)):
        return f"{text[: there.start()]}in {place['value']}{text[there.end() :]}", True
    if (who := _he.match(text)) and (gone := _he_left.match(before)):
        return f"{gone['who']}{text[who.end() :]}", True
    return text, False


def _over_then_instead(before: str, text: str, after: str) -> Sequence[str]:
    """Return what a clause says is over, and what it, or the next one, says has taken its place."""
    first, second = instead.parts(text)
    if first:
        came = instead.came(first, second)
        if came and not came.startswith(("my ", "our ")):
            return [came]
        over = instead.given_up(first, is_instead=bool(came) or instead.does_now(second))
        return [words for words in (over, came or second) if words]
    if came := instead.came(before, text):
        return [came]
    is_told = bool(instead.does_now(after) or _does_instead.search(after))
    over = instead.given_up(text, is_instead=is_told and not instead.came(text, after))
    return [over] if over else []


def _does_now(text: str) -> bool:
    """Tell whether a clause says "now" of something lasting, "I sit next to Yun now": so it has
    changed."""
    return text.endswith((" now", " these days", " nowadays")) and bool(_lasting.match(text))


def _unglued(items: Sequence[tuple[Item, str]]) -> Iterator[tuple[Item, str]]:
    """Split off what "and now" or "and Oskar is my boss now" adds, as a clause of its own; what
    others do before it is left out."""
    for item, text in items:
        glued = _glued.fullmatch(text)
        if glued is None:
            yield item, text
            continue
        first = glued["first"]
        if GONE.search(first) or first.startswith(("I ", "We ", "My ", "Our ")):
            yield item, first
        yield item, glued["second"]


def _turned_round(before: str, text: str, after: str) -> str:
    """Return a clause with its value moved to the usual place: "home is Vigo now", "Goran is my
    manager now"; for what is over, words that say so; "" for all others."""
    if (now := _now_first.fullmatch(text)) and GONE.search(f"{before} ; {text} ; {after}"):
        return f"{now['rest']} now"
    if match := _not_for_me.fullmatch(text):
        value = match["value"]
        return f"I gave up {value if value[1:2].isupper() else value[0].lower() + value[1:]}"
    if (match := _named.fullmatch(text)) and re.search(r"\b(?:sur)?name\b", before):
        return f"my surname is {match['value']} now"
    if not _does_instead.search(after):
        return ""
    if match := _no_more_of.fullmatch(text):
        return f"I gave up {match['value']}"
    if match := _sick_of.fullmatch(text):
        return f"I don't like {match['value']} any more"
    return f"I gave up {match['value']}" if (match := _too.fullmatch(text)) else ""


def _said_instead(first: str, second: str, *, is_one: bool) -> str:
    """Return what `second` says in place of what `first` denies, "" if it does not depend on it;
    `is_one`: they are one sentence."""
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
        if other and is_one and re.match(r"(?:my|our) ", denied["who"], re.I) and other["value"][0].isupper():
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
    if lead.strip() in ("a", "an", "the", "my", "our") or lead and value.lower().startswith(lead.strip() + " "):
        lead = ""
    return f"{denied['who']} {verb}{lead} {value}"


def _in_its_place(first: str, second: str) -> str:
    """Return the change in "it's Zulip now" after "we ditched Slack", "it's on Fridays" after "yoga
    has moved"."""
    match = _instead.fullmatch(second)
    if match is None:
        return ""
    value = match["value"]
    old = _stopped_with.fullmatch(first)
    new = value.removesuffix(" now")
    is_other = old and new != value and new[0].islower() and instead.takes_place(new, old["old"])
    if old and is_other and match["it"].lower() == "it":
        return f"{old['who']} go for {new} instead of {old['old']} now"
    if (dropped := _dropped.fullmatch(first)) and ARRIVED.search(value) and value[0].isupper():
        return f"{dropped['who']} use {value}"
    moved = _rescheduled.fullmatch(first) if match["it"].lower() == "it" else None
    is_placed = moved and re.match(r"(?:now )?(?:on|at|in|from) ", value)
    return f"my {moved['thing'].lower()} is {value}" if moved and is_placed else ""


def _names_a_value(value: str, lead: str) -> bool:
    """Tell whether a value is named: "it's Milan", "it's a Skoda now", "it's lactose that she
    avoids"; not "it's too far"."""
    is_named = bool(re.match(r"(?:(?:a|an|the|in|at|on|for|with|to) )?[A-Z\d]", value))
    is_led = bool(lead.strip()) and value.lower().startswith(f"{lead.strip()} ") and len(lead) > 3
    return is_named or is_led or bool(ARRIVED.search(value) or _that_does.search(value))


def _goes_on(before: str, text: str) -> bool:
    """Tell whether the same is done otherwise: "I no longer get up at six" and "I get up at
    five"."""
    if denied := _is_not.fullmatch(before):
        is_ = denied["is"] or denied["be"] or denied["short"]
        verb = denied["rest"].split()[0]
        said = f"{denied['who']}{'' if denied['short'] else ' '}{is_} {verb} "
        return verb.endswith(("ing", "on", "in", "at", "with")) and text.lower().startswith(said.lower())
    denied = _does_not.fullmatch(before)
    if denied is None:
        return False
    often = re.sub(r"^(I|we) (?:always|now|only|usually|mostly) ", r"\1 ", text, flags=re.IGNORECASE)
    return often.lower().startswith(f"{denied['who']} {denied['verb']} ".lower())
