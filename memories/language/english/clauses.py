"""Cutting a text into clauses that each say one thing, with their places in the text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memories.language.english import pasted_text
from memories.language.english.patterns.pattern import KIN, NAME, PEOPLE, PETS
from memories.language.english.verbs import PAST

LONGEST = 500  # characters; what goes on longer without a full stop is no sentence
# most characters fail at the first look and are not tried any further
_sentence_end = re.compile(
    r"(?=[\s\"'”’)\]*_—–;-])"
    r"(?:(?<=[.!?…])[\"'”’)\]*_]*\s+(?!\\?[)\]]|[=+*/^<>≤≥]\s)|\n\s*|(?<=\s)[-–—]+\s+|—|(?<=\w);\s+)"
)
_heads = re.compile(r"((I|we|my|our)\b[^:\n]{2,80}):[*_\s]*", re.IGNORECASE)
# "Things I need for the trip:" says of each item "I need {} for the trip"
_relative = re.compile(
    r"(?:(?:all |some |the |other |few |main )*(?:things|stuff|items|what|everything|[\w'-]+s)(?: that| which)?) "
    r"(?P<who>I|we) (?P<verb>(?:(?:don't|can't|still|also|really|always|never|often|usually) )*[\w']+"
    r"(?: to (?:do|buy|get|pack|see|visit|bring|learn|try|eat|read|watch|finish|fix|make))?)"
    r"(?P<rest> (?:for|on|in|at|with|from|about|before|by|during|this|next|every|today|tomorrow|to) [^:\n]{2,60})?:[*_\s]*",
    re.IGNORECASE,
)
_lists = {
    "to do": "I have to {}",
    "to-do": "I have to {}",
    "todo": "I have to {}",
    "to do list": "I have to {}",
    "todos": "I have to {}",
    "tasks": "I have to {}",
    "errands": "I have to {}",
    "shopping list": "I need to buy {}",
    "shopping": "I need to buy {}",
    "groceries": "I need to buy {}",
    "packing list": "I need to pack {}",
    "bucket list": "I want to do this: {}",
    "allergies": "my allergies include {}",
    "hobbies": "my hobbies include {}",
    "goals": "my goals include {}",
    "about me": "my {}",
    "my profile": "my {}",
    "profile": "my {}",
    "likes": "I like {}",
    "dislikes": "I don't like {}",
}
# "My goals for 2027:" has no verb
_title = re.compile(
    r"(?:my|our) (?:[\w'-]+ ?){1,3}(?: ?(?:for|in|of|on|this|next) [\w' -]{2,30})?:[*_\s]*", re.IGNORECASE
)
_of_title = re.compile(r" (?:for|in|of|on|at|with|this|next) ", re.IGNORECASE)
_article = re.compile(r"(?:A|An|The|Some|One|Two|Three|My|Our|To) ")
_has_verb = re.compile(r"\b(?:is|are|was|were|include|includes|will be)$", re.IGNORECASE)
_whole = re.compile(r"(?:I|we|my|our|it|this|that)\b", re.IGNORECASE)
_abbreviated = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|Mr|Mrs|Ms|Dr|St|Prof|approx|No|v)\.$|(?:^|\n)[ \t]*\d{1,3}\.$"
    # "Ursula K. Le Guin", but not "That is plan B. We agreed"
    r"|\b(?!(?:plan|option|vitamin|type|grade|team|group|class|part) )(?-i:[A-Z][a-z]+ [A-HJ-Z])\.$"
    r"|\b(?-i:Mt|Ft|Sgt|Capt|Lt|Rev|Fr|Col)\.$",
    re.IGNORECASE,
)
# "at J. P. Morgan", "by M. Chen", but not "I got a B. Maths is next"
_initial = re.compile(
    r"(?:(?-i:\b[A-Z]\. ?)+|\b(?:at|for|by|with|from|is|was|called|named|like|and|of|read|met) )(?-i:[A-HJ-Z])\.$",
    re.IGNORECASE,
)
_of_initials = re.compile(rf"[ \t]+(?:[A-HJ-Z]\. ?)*{NAME}")
# "I'm vegan, could you suggest a dinner?" says the first whatever is asked after it
_asks = r"(?:(?:can|could|would|will|do) you|please|(?:what|which|how|where) (?:do|does|would|should|can|could|is|are|\w+ (?:do|would|should|can|could)))\b"
# ", so avoid red in the chart please" asks, too
_so_asks = (
    r"(?:(?:avoid|skip|suggest|recommend|leave out|go easy|bear (?:it|that|this) in mind|keep (?:it|that|this|in mind)|make (?:it|sure)"
    r"|(?:don['’]t|do not|never) (?:suggest|use|recommend|include|give|add|put|forget|tell|mention|ask|make|send|write|show|offer))\b"
    r"|(?:no|use|give|keep|make|show|nothing) [^.!?;]{1,80} please\b)"
)
# "My visa came on Monday, can I still change it"
_asks_of_self = r"(?:can|could|should|shall|may|do|does|is|are|am|will|would) (?:I|we|it|there|this|that) (?:still|also|already|now|really|just|even|better|best|possible|need|have|\w+ (?:it|them|the|a|an|my|our|to|for|with))\b"
_asking = re.compile(rf"{_asks}|{_so_asks}|{_asks_of_self}", re.IGNORECASE)
_joint = re.compile(
    r",?\s+(?:and|but|plus|(?:even\s+)?though|although|'cause|cuz)\s+"
    r"(?=(?:I|we|my|our)(?:['’]\w+)?\s)|,\s+(?:so\s+(?:now\s+)?)?(?=(?:I|we)(?:['’]\w+)?\s)"
    r"|,\s+(?:so\s+(?:now\s+)?)?(?=(?:my|our)\s(?:new\s)?[\w-]+(?:\s[\w-]+)?\s(?:is|are|lives?)\b)"
    r"|:\s+(?=(?:I|we)(?:['’]\w+)?\s)"
    rf"|,\s+(?:(?:so|and|but|then)\s+)?(?={_asks})|,\s+(?:(?:and|but)\s+)?(?={_asks_of_self})|,?\s+so\s+(?={_so_asks})",
    re.IGNORECASE,
)
_leading = re.compile(
    r"(?:when|if|after|before|since|while|as|once|although|though|even|last|this|next|yesterday|today"
    r"|tomorrow|on|in|at|for|with|during|over|every|because|unless|whenever|to|by|until|ever|growing"
    r"|back|one|two|three|a few|a couple|earlier|recently|sometimes|usually|lately|now)\b",
    re.IGNORECASE,
)
# "my BA and my MA at UCL": what follows has no verb
_owned = re.compile(r"(?:my|our) [\w-]+(?: (?:at|in|from|for|on|with|to|by) [^,.;!?]{2,60})?[.!]*", re.IGNORECASE)
# "the rent and my son's piano lessons": nor has this
_owned_by = re.compile(
    r"(?:my|our) [\w-]+['’]s (?:(?!\w+(?:ing|ed)\b)[\w-]+ ){0,3}?(?!\w+(?:ing|ed|ss)\b)[\w-]{3,}s[.!]*", re.IGNORECASE
)
# "My cousins cheering for me and my own stubbornness keep me going": nor what stands before it
_participial = re.compile(r"(?:my|our) [\w'’-]+(?: [\w'’-]+)? \w{2,}ing\b", re.IGNORECASE)
_finite = re.compile(
    rf"\b(?:am|is|are|was|were|has|have|had|do|does|did|can|could|will|would|should|must|might|{PAST}|\w+n['’]t)\b|['’](?:s|re|ve|m)\b",
    re.IGNORECASE,
)
# What begins anew before a comma goes on behind it: "..., but if it rains, we"
_begun = re.compile(
    r"(?:[,;]|\b(?:but|and|so)) (?:if|when|whenever|once|unless|although|as soon as|every time)\b[^,;]*$"
    r"|\b(?:because|since|so|but|and|that|though|while) \w+ly$|\b(?:remember|reminds me of) when (?:I|we)\b[^,;]*$",
    re.IGNORECASE,
)
# Of two things that happened then both belong to the time: "my best day was when ... and I ..."
_when = re.compile(r"\b(?:is|was) when (?:I|we)\b[^,;]*$", re.IGNORECASE)
# A heading in bold letters before what its writer tells
_bold_head = re.compile(
    r"\*\*(?!(?:[^*\n]*\b)?(?:I|my|our|we)\b)[^*\n:]{2,60}(?::\*\*|\*\*:)[ \t]*(?=(?:I|we|my|our)\b)", re.IGNORECASE
)
# "Last year my brother Leo and I ..."
_time_before = (
    r"(?:(?:[Ll]ast|[Tt]his|[Nn]ext|[Ee]very|[Ii]n|[Oo]n|[Aa]t|[Ss]ince|[Yy]esterday|[Tt]oday|[Tt]omorrow|[Rr]ecently|[Nn]ow)"
    r"(?: (?!(?:I|we|my|our|me|us)\b)[\w-]+){0,3},? (?=[Mm]y))?"
)
_companion = re.compile(
    rf"{_time_before}(?:[Mm]y|[Oo]ur) [\w-]+(?: friend)?(?: (?!(?:{PAST})$)[\w-]+)?|[Mm]e|[A-Z][\w-]+|[Bb]oth \w+"
)
_bullet = re.compile(r"\s*(?:[-*•‣]|\d{1,3}[.)]|>|#{1,6})\s+")
_opening_words = (
    r"(?:just )?so you know(?! (?:how|what|why|that)\b)|as (?:I|we) (?:just |already )?(?:said|told you|mentioned)(?: before| earlier)?|like I said|on (?:another|a different|a side|a lighter|a similar) note"
    r"|in other news|in real life|irl|(?:jokes?|kidding|joking) aside|out of character|fun fact|for the record|as you know|in case you (?:didn't know|forgot|wonder)|hey|hi|hello|wow|whoa|woah|yeah|yea|yep|yup|yes|nope|nah|well|so(?! (?:many|much|far|few|long)\b)|oh"
    r"|ooh|ah|aww*|and|but|also|plus|actually|honestly|btw|by the way|totally|thanks(?: so much| a lot| a bunch)?"
    r"|thank you(?: so much)?|sure thing|guess what|you know(?: what)?|anyways?|haha\w*|lol|sorry|ok(?:ay)?"
    r"|hmm+|definitely|absolutely|of course|congrats|congratulations|unfortunately|luckily|fortunately"
    r"|thankfully|(?:just a |a )?(?:quick |small |friendly )?(?:heads[- ]up|note|reminder|fyi|psa|status|correction|edit|nit|nitpick|minor|blocking|blocker|suggestion|issue|optional|remember|important|warning|update)(?=\s*[:–])|(?!please\b)(?:[\w'-]+ ){0,4}(?:note|reminder|recap|update|check|checkpoint|announcement|memo|comment|confirmation|notice|news)(?: again| only)?(?: for (?:[\w'-]+ ){0,4}[\w'-]+)?(?=\s*:\s)|same here|me too|as for me|for me|to be honest|tbh|i mean|speaking of which|for sure|no way"
    r"|me(?=\s*:)|man|dude|basically|obviously|agreed|fyi|in fact|however|therefore|meanwhile|overall|personally"
    r"|good (?:morning|evening|afternoon)|of late|my (?:guy|friend|dear|bro|love)(?=,)|my (?:brother|sister|people|man|boss|chief)(?=, (?!who|whose|which|and|now|aged|also|her|his)(?-i:[a-z]))"
    # these open a sentence only before a pause: "No, I ..." but "No need to ..."
    r"|(?:no|sure|cool|great|nice|awesome|exactly|right|then|clearly|true|update|perfect|good|alright)(?=\s*[,.!:…–])"
)
_opening = re.compile(
    rf"(?:(?:{_opening_words})(?!['’-]?\w)(?:,? [A-Z][a-z]{{1,14}}(?=[,!.?]))?[\s,!.:…–-]+)+"
    r"|(?-i:[A-Z][a-z]{1,14}), (?=(?:I|my|we|it|that|this|the|you|your|thanks)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: `text` is without opening interjections; [start, end) is its place, ends trimmed.

    The `text` of a list's item includes the words that head the list.
    """

    text: str
    start: int
    end: int
    is_question: bool
    is_answer: bool = False
    is_item: bool = False


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences in `text`; fenced code is not a sentence."""
    text = pasted_text.spoken(text)
    start = 0
    for match in _sentence_end.finditer(text):
        before = text[max(start, match.start() - 24) : match.start()]
        if _abbreviated.search(before):
            continue
        if _initial.search(before) and _of_initials.match(text, match.start()):
            continue
        yield from _span(text, start, match.start())
        start = match.end()
    yield from _span(text, start, len(text))


def _span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bullet = _bullet.match(text, start, end)
    start = bullet.end() if bullet else start
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end and end - start <= LONGEST:
        yield start, end


def of_text(text: str) -> Sequence[Clause]:
    """Return the clauses of all sentences of `text`, in order."""
    return _of_message(text) if len(text) <= pasted_text.MESSAGE else tuple(_of_text(text))


@lru_cache(maxsize=16)  # gatekeeper and patterns read the same messages
def _of_message(text: str) -> Sequence[Clause]:
    return tuple(_of_text(text))


def _of_text(text: str) -> Iterator[Clause]:
    heading = ""
    for start, end in sentences(text):
        sentence = text[start:end]
        if heading and _is_item(text, start, sentence):
            item = sentence.rstrip(".!,;:…")
            is_small = heading == "my {}" or _article.match(item)
            item = item[0].lower() + item[1:] if is_small else item
            yield Clause(heading.format(item), start, end, False, is_item=True)
            continue
        heading = _heading(sentence)
        if heading and (not _heads.match(sentence) or _title.fullmatch(sentence)):
            continue  # "Shopping list:" says nothing by itself
        is_question = sentence.rstrip("\"'”’)*_").endswith("?")
        if is_question:
            yield from (Clause(told, start, end, False) for told in presupposed(sentence))
        elif parted := instead_of(sentence):
            yield from (Clause(told, start, end, False, is_item=True) for told in parted)
            continue
        position = 0
        for joint in _joint.finditer(sentence):
            if _belongs(sentence[position : joint.start()], joint.group(), sentence[joint.end() :]):
                continue
            is_told = bool(_asking.match(sentence, joint.end()))
            if is_told and not _whole.match(_opening.sub("", sentence[position:], count=1)):
                continue
            is_asked = is_question and not is_told
            yield from _clause(text, start + position, start + joint.start(), is_asked)
            position = joint.end()
        yield from _clause(text, start + position, end, is_question)


def _heading(sentence: str) -> str:
    """Return the claim that each item of the list below `sentence` makes: "My hobbies are {}"."""
    is_head = sentence.rstrip("*_ \t\r").endswith(":")
    match = _heads.fullmatch(_opening.sub("", sentence, count=1)) if is_head else None
    if not is_head:
        return ""
    if match is None:
        words = sentence.strip("*_# \t\r")
        if whose := _relative.fullmatch(words):
            return f"{whose['who']} {whose['verb']} {{}}{whose['rest'] or ''}"
        return _lists.get(words.rstrip(":*_ ").lower().removeprefix("my "), "")
    words = match[1].strip().replace("{", "").replace("}", "")
    if match[2].lower() not in ("my", "our") or _has_verb.search(words):
        return f"{words} {{}}"
    return f"{words} {'include' if _of_title.split(words)[0].endswith('s') else 'is'} {{}}"


def _is_item(text: str, start: int, sentence: str) -> bool:
    near = max(0, start - LONGEST)
    line = text[max(near, text.rfind("\n", near, start) + 1) : start]
    return bool(_bullet.fullmatch(line)) and not _whole.match(sentence)


def _belongs(before: str, joint: str, after: str) -> bool:
    """Tell whether the words before a joint are not a clause: "Last week, I" or "My wife and I"."""
    opening = _opening.match(before)
    before = before[opening.end() :] if opening else before
    if joint.strip() == ",":
        return bool(_leading.match(before) or _begun.search(before))
    if _owned.fullmatch(after) or _owned_by.fullmatch(after):
        return True
    if joint.strip() != "and":
        return False
    is_part = is_noun_alone(before) or _when.search(before)
    return bool(is_part or _companion.fullmatch(before))


def is_noun_alone(words: str) -> bool:
    """Tell whether `words` name an actor but have no finite verb: "my team winning"."""
    return bool(_participial.match(words)) and not _finite.search(words)


def _clause(text: str, start: int, end: int, is_question: bool) -> Iterator[Clause]:
    head = _bold_head.match(text, start, end)
    begin = head.end() if head else start
    opening = _opening.match(text, begin, end)
    body = text[opening.end() if opening else begin : end].strip(' \t\r\n"“”*_,')
    body = body.rstrip(".!,;:…")
    if body:
        body = _with_quotes(body, text[start:end])
        yield Clause(body, start, end, is_question, is_item=head is not None)


def _with_quotes(body: str, sentence: str) -> str:
    """Return `body` with the quotation mark that was cut off although its partner stands inside."""
    for opening, closing in ('""', "“”"):
        if body.count(opening) + (opening != closing) * body.count(closing) == 1:
            if f"{opening}{body}" in sentence:
                return f"{opening}{body}"
            if f"{body}{closing}" in sentence:
                return f"{body}{closing}"
    return body


_self = r"(?:I|we)(?:['’]m|['’]re|['’]ve| (?:am|are|have|has|don['’]t|can['’]t|do not|cannot|live|work|own|study|moved|use|never|no longer|hate|love))\b"
_given = re.compile(
    rf"(?:^|[,;] )(?:but |so |and )?(?:given that|given|since|because|considering(?: that)?|seeing that|seeing as|now that)"
    rf" (?P<told>{_self}[^,?]{{2,120}})(?=[,?])",
    re.IGNORECASE,
)
_known = re.compile(
    r"\b(?:did(?:n['’]t)? I (?:not )?(?:tell you|mention|say)|(?:do|did)(?:n['’]t)? you (?:know|remember)|you (?:do )?(?:know|remember)"
    r"|(?:do|should|can|could|would) I (?:tell|explain to) (?:my [\w-]+|him|her|them|people|everyone|(?-i:[A-Z])[\w-]+)"
    rf"|remember) (?:that )?(?P<told>{_self}[^,?]{{2,120}}?)(?:, (?:right|no|yes|don['’]t you))?\?",
    re.IGNORECASE,
)
_somebody = rf"(?P<whose>my|our) (?P<who>(?:[\w-]+ ){{0,2}}?(?:{KIN}|{PEOPLE}|{PETS}))"
_who = re.compile(
    rf"\b{_somebody},? (?:who|that)(?:['’]s| (?P<is>is|has|can['’]t|doesn['’]t|lives|works|loves|hates)) (?P<told>[^,?]{{3,80}}?)\?",
    re.IGNORECASE,
)
_called = re.compile(rf"\b{_somebody},? (?P<name>(?-i:[A-Z][a-z]+)) (?=[a-z])", re.IGNORECASE)
_signs = ("my ", "our ", " i", "i'", "i’", "we")
# What is denied and what holds in its place: each is a statement of its own.
_denier = r"(?P<w>I|we) (?P<n>do(?:n['’]t| not)|no longer|never) "
_doers = r"(?!(?:I|we|he|she|it|they|you|there|that|this|not|also|if|when|because|only)\b)"
_old = r"(?!.*\b(?:any\w*|nothing|only|just|all|every\w*|much|sure|know|think|mean|want to)\b)"
_small_number = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|an?|\d+)"
_doing = (
    r"(?:use|like|love|prefer|hate|enjoy|drink|eat|play|drive|ride|take|work|live|have|own|want|need|speak|read|watch|listen|run|walk|cycle|swim"
    r"|buy|study|write|sing|smoke|wear|keep|go|do|get|make|cook|bake|grow|plan|try|will|can|am|are|still|always|usually|mostly|bike|train|teach|learn"
    r"|(?!(?:in|at|on|for|with|to|from|by|of|as)\b)[a-z]+(?= (?:my|our|the|an?|his|her|it|them|everything|there|at|in|on|to)\b))\b"
)
_between = r",? but (?:rather |instead |now |only )?"
_denials = tuple(
    (re.compile(form, re.IGNORECASE), statements)
    for form, statements in (
        (
            rf"(?P<w>I|we) (?:(?:do(?:n['’]t| not)|no longer|never) (?P<v>[a-z]+)|(?P<u>have|own|keep) not) {_small_number} (?P<noun>[a-z][\w'’ -]*?)[,;:]? (?:but |it['’]s )?(?:(?:I|we) (?:\w+ )?)?(?:rather |actually )?"
            rf"(?P<new>{_small_number})(?:,? and (?P<more>{_small_number} [a-z][^,;]*))?",
            ("{w} {v}{u} {new} {noun}", "{w} {v}{u} {more}"),
        ),
        (
            rf"{_denier}(?P<old>{_old}[a-z]+ [^,;]+?),? (?:and|but)(?: now| rather)* (?P<new>{_doers}[a-z]+(?: [^,;]+?)?) instead",
            ("{w} {n} {old}", "{w} {new}"),
        ),
        (
            rf"{_denier}(?P<old>{_old}[a-z]+(?: [^,;]+?)?){_between}(?P<new>{_doing}[^,;]*)",
            ("{w} {n} {old}", "{w} {new}"),
        ),
        (
            rf"{_denier}(?P<old>{_old}(?P<v>[a-z]+) [^,;]+?)[,;:] (?:but |and )?(?P<new>(?:I|we) (?:now )?(?P=v) [^,;]+)",
            ("{w} {n} {old}", "{new}"),
        ),
        (rf"{_denier}(?P<old>{_old}[a-z]+){_between}(?P<new>{_doers}[a-z]+)", ("{w} {n} {old}", "{w} {new}")),
        (
            rf"{_denier}(?P<v>{_old}[a-z]+) (?P<p>in|at|on|for|with|to|from|by|of) (?P<old>[^,;]+?){_between}(?P<new>(?P=p) [^,;]+)",
            ("{w} {n} {v} {p} {old}", "{w} {v} {new}"),
        ),
        (
            rf"{_denier}(?P<v>{_old}[a-z]+(?: (?:in|at|on|for|with|to|from|by|of))?) (?P<old>[^,;]+?){_between}(?P<new>{_doers}[^,;]+)",
            ("{w} {n} {v} {old}", "{w} {v} {new}"),
        ),
        (
            rf"(?P<w>I|we)(?:['’]m|['’]re| am| are) not (?P<old>{_old}[^,;]+?){_between}(?P<new>{_doers}[^,;]+)",
            ("{w} am not {old}", "{w} am {new}"),
        ),
        (r"neither (?P<x>my [\w'’ -]{2,30}?) nor (?P<w>I|we) (?P<old>[a-z]+ [^,;]+)", ("{w} don't {old}",)),
        (r"neither (?P<w>I|we) nor (?P<x>my [\w'’-]+) (?P<old>[a-z]+ [^,;]+)", ("{w} don't {old}",)),
        (r"(?P<w>I|we) neither (?P<old>[a-z]+[^,;]*?),? nor (?P<new>[^,;]+)", ("{w} don't {old}", "{w} don't {new}")),
        (r"(?P<w>I) am neither (?P<old>[^,;]+?),? nor (?P<new>[^,;]+)", ("{w} am not {old}", "{w} am not {new}")),
        (
            r"(?P<w>I|we) (?P<v>[a-z]+) neither (?P<old>[^,;]+?),? nor (?P<new>[^,;]+)",
            ("{w} don't {v} {old}", "{w} don't {v} {new}"),
        ),
        (
            r"(?P<w>I)(?: have|['’]ve)? (?:(?:tried (?:and|but) )?failed to|never managed to|did(?:n['’]t| not) manage to|could(?:n['’]t| not)|was(?:n['’]t| not) able to|was unable to) (?:quit|stop|give up) (?P<new>[a-z]+ing\b[^,;]*)",
            ("{w} am still {new}",),
        ),
    )
)
_denying = re.compile(r"\b(?:not|n['’]t|no longer|never|neither|failed|unable)\b|n['’]t\b", re.IGNORECASE)
_plurals = {
    "child": "children",
    "kid": "kids",
    "wife": "wives",
    "mouse": "mice",
    "man": "men",
    "woman": "women",
    "person": "people",
}


def presupposed(question: str) -> Iterator[str]:
    """Yield the statements that `question` takes for granted, in its asker's words."""
    small = question.lower()
    if not any(sign in small for sign in _signs):
        return
    for form in (_given, _known):
        yield from (found["told"] for found in form.finditer(question))
    for found in _who.finditer(question):
        yield f"{found['whose']} {found['who']} {found['is'] or 'is'} {found['told']}"
    for found in _called.finditer(question):
        yield f"{found['whose']} {found['who']} is called {found['name']}"


def instead_of(sentence: str) -> list[str]:
    """Return the statements of a sentence that denies one thing and tells another, or denies two."""
    if not _denying.search(sentence):
        return []
    opening = _opening.match(sentence)
    said = sentence[opening.end() if opening else 0 :].rstrip(" .!")
    for form, statements in _denials:
        if match := form.fullmatch(said):
            words = {name: value or "" for name, value in match.groupdict().items()}
            noun = words.get("noun", "")
            if noun and words["new"].lower() not in ("a", "an", "one", "1") and not noun.endswith("s"):
                words["noun"] = _plurals.get(noun, f"{noun}s")
            told = [each.format_map(words).strip() for each in statements]
            return [each for each in told if len(each.split()) > 1 + ("noun" in words)]
    return []
