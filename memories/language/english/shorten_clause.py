"""Statements without what people say around them ("As I said, ...", "Reminder: ...", "..., you
know"), and shorter wordings without what points at things said elsewhere. Pure."""

import re
from collections.abc import Iterator
from itertools import islice

from memories.language.english import clauses, person, read_clause
from memories.language.english.verbs import PAST

MOST = 24  # parts of one text
_before = re.compile(
    r"(?:and|but|so|well|ok(?:ay)?|hey|hi|hello|look|listen|right|yes|yeah|yep|no|oh|also|again|anyway|actually|honestly|truly|really|plus"
    r"|by the way|btw|fyi|psa|tl;?dr|ps|p\.s\.|nb|n\.b\.|memo|important|warning|for (?:your|the) (?:information|record|reference)"
    r"|(?:just )?(?:so (?:that )?you know|to be clear|to be sure|to repeat|to remind you|to say it again|to clarify|to recap|to confirm|saying|checking)"
    r"|(?:just )?(?:a |an |my |one more |another )?(?:quick |friendly |gentle |small |little |short )*(?:reminder|note|update|heads[- ]up|fact|correction|clarification|recap|refresher)(?: again| here| to (?:all|self|you))?"
    r"|(?:as|like) (?:I|we)(?:'ve| have|'d| had)?(?: \w+)? (?:said|told you|tell you|mentioned|noted|explained|wrote|stated|say|mention|pointed out)(?: (?:before|earlier|already|above|yesterday|previously|last (?:time|week)|many times|to you))*"
    r"|(?:as|like) (?:mentioned|stated|noted|discussed|said|explained|written|you know|always|ever|usual)(?: (?:before|earlier|above|already|previously))?"
    r"|I(?:'ve| have|'d| had)?(?: \w+)? (?:said|told you|mentioned|repeat|stress|insist|remind you|confirm|swear|think I (?:said|mentioned))(?: (?:it|this|before|already|again|earlier))*"
    r"|I (?:want|would like|'d like|have|need|wanted|should|must|can only|just want|just wanted)(?: to)? (?:say|stress|repeat|add|remind you|mention|note|point out|make clear|confirm|emphasi[sz]e)(?: again)?"
    r"|(?:let me|allow me to) (?:repeat|remind you|say|stress|add|tell you)(?: again| once more)?"
    r"|(?:please )?(?:do )?(?:remember|note|don't forget|do not forget|keep in mind|bear in mind|be aware|know|recall|understand)"
    r"|once (?:more|again)|(?:it|this|that)(?:'s| is| was)(?: still| also)? (?:true|a fact|the case|worth (?:noting|repeating|saying))|the (?:truth|fact|thing|point) is"
    r"|you(?: should| must| already| do)? (?:know|remember|recall)|in case (?:you forgot|you missed it|it matters|it helps|anyone asks)|in (?:fact|short|other words|any case)"
    r"|(?:I|we) (?:still )?(?:maintain|hold)|it (?:still )?holds|for the (?:\w+ )time|to whom it may concern|everyone|all|team|guys)"
    r"(?:\s+that)?(?:\s*[,:;.!?–—-]+\s*|\s+(?=(?:I|we|my|our)\b|(?-i:[A-Z]))|\s+(?<=that ))",
    re.IGNORECASE,
)
_after = re.compile(
    r"(?:\s*[,;–—-]\s*|\s+)(?:as (?:I|we)(?:'ve| have)?(?: \w+)? (?:said|told you|mentioned|noted|wrote)(?: (?:before|earlier|already|above))*|as (?:mentioned|stated|noted|said|discussed)(?: (?:before|above|earlier))?"
    r"|by the way|btw|fyi|you know|remember|(?:just )?so you know|for the record|okay|ok|again|once (?:more|again)|still|for your information|in case you forgot|don't forget(?: (?:that|it))?|please (?:note|remember))\s*[.!?]*$",
    re.IGNORECASE,
)
_clause_end = re.compile(r"\s*(?:;|,?\s+(?:and|but|so|because|while|whereas|although|yet)|,)\s+", re.IGNORECASE)

LONGEST = 120  # characters of what leads in
_boundary = re.compile(r"\s*[,:;–—]\s+|\s+-+\s+|\.{3}\s*|\s+that\s+")
# The beginning turns what follows into something else.
_turning = re.compile(
    r"\b(?:not|never|no longer|nobody|wrong|false|falsely|untrue|doubts?|den(?:y|ies|ied)|if|unless|wish\w*|hop(?:e|es|ed|ing)|suppos\w+|imagin\w+|pretend\w*"
    r"|jok(?:e|es|ed|ing)|kidding|until|anymore|instead|lie[sd]?|myth|rumou?rs?|thought|assum\w+|believed|claim\w*|while|when|whenever|where|he|she|his|her|sister|brother|father|mother|dad|mum|mom|wife|husband|friend|boss)\b|n't\b",
    re.IGNORECASE,
)
_THEIRS = (
    ("they are", "I am"),
    ("they're", "I'm"),
    ("they have", "I have"),
    ("they were", "I was"),
    ("they", "I"),
    ("their", "my"),
    ("theirs", "mine"),
    ("themselves", "myself"),
    ("them", "me"),
)


MOST_PARTS = 6  # of a clause that are tried for themselves
OWN = re.compile(r"(?:then )?(?:I|we|my|our)\b", re.IGNORECASE)


def without_lead_in(text: str) -> str:
    """Return `text` without the phrases around it; the rest may begin in lower case."""
    text = text.strip()
    for _ in range(MOST):
        shorter = _after.sub("", text)
        if (match := _before.match(shorter)) and match.end() < len(shorter):
            shorter = shorter[match.end() :]
        if shorter == text:
            break
        text = shorter
    return text


def parts_of(text: str, name: str) -> Iterator[str]:
    """Yield the sentences of `text` and their parts, each without its lead-in, those in the first
    person also as somebody else would say them of `name`. At most MOST."""
    parts: dict[str, None] = {}
    for start, end in [(0, len(text)), *clauses.sentences(text)][:MOST]:
        sentence = without_lead_in(text[start:end])
        for part in (
            sentence,
            *_clause_end.split(sentence),
            *_after_lead_ins(text[start:end], name),
        ):
            plain = without_lead_in(part)
            parts.setdefault(plain.strip())
            if person.mentions_speaker(plain):
                plain = person.third_person(read_clause.plain(plain), name)
            parts.setdefault(plain.strip())
    yield from list(filter(None, parts))[:MOST]


def _after_lead_ins(sentence: str, name: str) -> Iterator[str]:
    """Yield what follows a beginning that neither denies nor doubts it and names nobody else: "Memo
    to you: ...", "User wants to add that they ...". The latter is put as the user would say it."""
    for joint in islice(_boundary.finditer(sentence, 0, LONGEST), MOST):
        before, after = sentence[: joint.start()], sentence[joint.end() :]
        words = re.sub(rf"\b{re.escape(name)}\b(?:'s)?", "I", before).split()
        if _turning.search(before) or any(w[:1].isupper() and w != "I" for w in words[1:]):
            continue
        if name in before:
            for other, own in _THEIRS:
                after = re.sub(rf"\b{other}\b", own, after)
        yield after


_joint = re.compile(
    r",? (?:(?:even|especially|particularly|mainly|mostly|just|only|partly) )?(?:and|but|which|because|since|while|though|although|where)\b"
    r"|(?:, so|,? (?:so|as)(?= (?:that )?(?:I|we|my|our|he|she|it|they|you|the|this|that|there|no)\b)|,? so(?= \w+ing\b))\b|[,;] |\s[-–—]+ |[-–—] "
)
# What cannot end a clause: "came even", "as keen as", "it makes travel so"
_dangling = re.compile(
    r"\b(?:even|especially|particularly|mainly|mostly|so|as|too|because|when|if|while|than|as [\w-]+|because \w+ly)$",
    re.IGNORECASE,
)
# Behind "this" they are no name of a thing: "this makes", "this might", "get this done"
_verbs = (
    r"(?:seemed|looked|felt|sounded|meant|worked|happened|helped|may|might|could|would|should|must|did|does|do|done|made|being|having|going|coming|really|also|just|always|never|still|not|right|over|up|off|out"
    r"|(?:(?<=this )|(?<=that ))(?!(?:series|species|news|lens|sports|arts)\b)(?-i:[a-z])+(?<![suia])s|[a-z]+ed (?:me|us|my|our|to|that|it))\b"
)
# What "this" before them points at is known from before, and is not one of its kind
_known = (
    r"(?:next|last|first|second|third|final|past|coming|recent|latest|whole|entire|very|particular|specific|other|same|parts?|things?|stuff|information|info|approach(?:es)?|steps?|process|stages?|phases?"
    r"|situations?|issues?|problems?|questions?|answers?|tasks?|sections?|ideas?|methods?|changes?|details?|decisions?|results?|requirements?|scenarios?|cases?|kinds?|types?|sorts?|ways?)\b"
)
_no_noun = (
    r"(?!(?:and|of|one|ones|in|on|at|for|with|to|from|by|after|when|last|because|since|so|but|or|is|was|are|were|has|have|had|will|can|too|again|as"
    r"|yesterday|today|week\w*|month\w*|year|morning|evening|afternoon|night|time|times|weekend|way|kind|sort|point|moment|moments"
    r"|summer|winter|spring|fall|autumn|pics?|photos?|pictures?|I|we|he|she|they|it|you|my|our|the|much|many|two|three|who|whose|willing|interested)\b)"
    rf"(?!{_verbs}|{_known})"
)
# What is pointed at by its name, and not by that alone, is one of its kind: "this new series".
_shown = re.compile(
    rf"(?P<before>\w )(?P<word>this|(?<!\bof )(?:these|those)|(?<=(?:ith| of| on| in| to| at| by|for|rom|out) )that) {_no_noun}(?=(?P<following>[a-z])[\w-]+ [\w-]+)",
    re.IGNORECASE,
)
# "This plaque I keep on my desk": what is told of it says which one it is.
_shown_first = re.compile(
    rf"^(?P<before>)(?P<word>this|these) {_no_noun}(?=(?P<following>[a-z])[\w-]+(?: [\w-]+)? (?:that |which )?(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
# "We got a second cat, this is Momo"
_names_it = re.compile(
    r",? (?:and )?(?:this is|(?:it|he|she) is (?:called|named)|(?:his|her|its) name is|meet) (?P<name>[\"“]?(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+){0,3}[\"”]?)$",
    re.IGNORECASE,
)
# "those KYC questions" are known by their name
_by_name = re.compile(
    r"(?<=\w )(?:this|these|those|(?<=(?:ith| of| on| in| to| at| by|for|rom) )that) (?=(?:[a-z][\w-]* ){0,2}(?-i:[A-Z])(?!\w*day\b)[\w-]+)",
    re.IGNORECASE,
)
_pointing_aside = re.compile(
    r"(?:,? (?:about|at|in|on|to|with|for|from|after|during|throughout|by|into|around|through) (?:all )?(?:this|that|these|those|it|them|there)(?: (?!(?:and|but|or|when|while|because|since|so|after|before)\b)[\w-]+){0,2}|,? like (?:that|this))"
    r"(?=$|,| (?:when|while|because|since|after|before|last|yesterday|today|every|but|so)\b)",
    re.IGNORECASE,
)
# It says of what a clause holds: "never in this shop", "only for those rooms"
_limited = re.compile(r"\b(?:never|not|no|only|nothing|nobody|none|hardly|barely)\b|n't\b", re.IGNORECASE)
# What a verb cannot do without: "I love escaping to that", "to move on this"
_wanted = re.compile(
    r"(?:(?<!\bgo )(?<!\bwent )(?<!going )\b\w+ing|\bto \w+|\b(?:is|are|was|were|am|be|been)),? (?:about|at|in|on|to|for|into) $"
    r"|\b(?:done|finished|happy|busy|stuck|familiar|pleased|fine),? with $",
    re.IGNORECASE,
)


_trailing = re.compile(
    r"(?<! went)(?<! go)(?<! been)(?<! get)(?<! got)(?<! live)(?<! lived) (?:there|here|too|as well|again|though)$",
    re.IGNORECASE,
)


def shortened(words: str, *, to_machine: bool = False) -> Iterator[str]:
    """Yield wordings of a clause without what cannot be kept, the longest first: with an article
    for a thing that was shown, without what was joined to it, or only that. People who work with a
    machine show it nothing: "this" is what they work on."""
    shown = _as_shown(words, to_machine=to_machine)
    if (named := _names_it.sub(r", \g<name>", words)) != words:
        yield named
    if shown != words:
        yield shown
    if (left := _without_pointing(shown)) != shown:
        yield left
    if _trailing.search(shown):
        yield _trailing.sub("", shown)
    joints = list(_joint.finditer(shown))[-MOST_PARTS:]
    for joint in reversed(joints):
        if joint[0].strip() == "and" and not _own_clause.match(shown, joint.end()):
            continue  # "a safe and loving home" is one thing
        left = shown[: joint.start()].rstrip(" ,;-")
        is_cut = _dangling.search(left) or clauses.is_noun_alone(left)
        if len(left.split()) >= 4 and not is_cut:
            yield left
    for joint in joints:
        rest = shown[joint.end() :].lstrip(" ,;")
        if OWN.match(rest) and len(rest.split()) >= 4:
            yield rest


def _as_shown(words: str, *, to_machine: bool) -> str:
    shown = _shown_first.sub(_with_article, words)
    if to_machine and not _called.search(words):
        return _by_name.sub("the ", shown)
    return _shown.sub(_with_article, shown)


def _without_pointing(words: str) -> str:
    """Return `words` without what they point at, if they say the same without it."""
    aside = _pointing_aside.search(words)
    if aside is None or _limited.search(words):
        return words
    before = words[: aside.start()]
    preposition = aside[0].split(maxsplit=1)[0].strip(",")
    return words if _wanted.search(f"{before} {preposition} ") else _pointing_aside.sub("", words)


_called = re.compile(
    r"\b(?:called|named|titled|had this)\b|, (?:the )?[\"“'](?-i:[A-Z])",
    re.IGNORECASE,
)
_own_clause = re.compile(
    rf"\s*(?:I|we|he|she|it|they|you|my|our|his|her|their|the|an?|this|that|then|also|just|so|really|is|are"
    rf"|was|were|have|has|had|will|can|am|{PAST})\b",
    re.IGNORECASE,
)


def _with_article(match: re.Match[str]) -> str:
    article = "some" if match["word"].lower() in ("these", "those") else "a"
    if article == "a" and match["following"].lower() in "aeiou":
        article = "an"
    return f"{match['before']}{article} "
