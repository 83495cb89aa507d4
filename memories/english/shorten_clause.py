"""A statement without what people say around it ("As I said, ...", "Reminder: ...", "..., you
know"), and ways to put it that leave out what points at things said elsewhere. Pure."""

import re
from collections.abc import Iterator
from itertools import islice

from memories.english import clauses, person, read_clause
from memories.english.verbs import PAST

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
_clause_end = re.compile(
    r"\s*(?:;|,?\s+(?:and|but|so|because|while|whereas|although|yet)|,)\s+", re.IGNORECASE
)

LONGEST = 120  # characters of what leads in
_boundary = re.compile(r"\s*[,:;–—]\s+|\s+-+\s+|\.{3}\s*|\s+that\s+")
# The beginning turns what follows into something else.
_turning = re.compile(
    r"\b(?:not|never|no longer|nobody|wrong|false|falsely|untrue|doubts?|den(?:y|ies|ied)|if|unless|wish\w*|hop(?:e|es|ed|ing)|suppos\w+|imagin\w+|pretend\w*"
    r"|jok(?:e|es|ed|ing)|kidding|until|anymore|instead|lie[sd]?|myth|rumou?rs?|thought|assum\w+|believed|claim\w*|while|when|whenever|where|he|she|his|her|sister|brother|father|mother|dad|mum|mom|wife|husband|friend|boss)\b|n't\b",
    re.IGNORECASE,
)
_THEIRS = (
    ("they are", "I am"), ("they're", "I'm"), ("they have", "I have"), ("they were", "I was"),
    ("they", "I"), ("their", "my"), ("theirs", "mine"), ("themselves", "myself"), ("them", "me"),
)  # fmt: skip


def without_lead_in(text: str) -> str:
    """What is left may begin with a small letter."""
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
    """The sentences of `text` and what they come to, each without what leads in to it; what is said
    in the first person as somebody else would say it of `name`. At most MOST."""
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
    """What follows a beginning that neither denies nor doubts it and names nobody else: "Memo to
    you: ...", "User wants to add that they ...". Of the latter, as he himself would say it."""
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
    r",? (?:and|but|so|which|because|since|as|while|though|although|where)\b|[,;] |\s[-–—]+ |[-–—] "
)
_no_noun = (
    r"(?!(?:and|of|one|ones|in|on|at|for|with|to|from|by|after|when|last|because|since|so|but|or|is|was|are|were|has|have|had|will|can|too|again|as"
    r"|yesterday|today|week\w*|month\w*|year|morning|evening|afternoon|night|time|times|weekend|way|kind|sort|point|moment|moments"
    r"|summer|winter|spring|fall|autumn|pics?|photos?|pictures?|I|we|he|she|they|it|you|my|our|the|much|many|two|three|who|whose|willing|interested)\b)"
)
# What is pointed at by its name, and not by that alone, is one of its kind: "this new series".
_shown = re.compile(
    rf"(?P<before>\w )(?P<word>this|these|those|(?<=(?:ith| of| on| in| to| at| by|for|rom|out) )that) {_no_noun}(?=(?P<following>[a-z])[\w-]+ [\w-]+)",
    re.IGNORECASE,
)
# "This plaque I keep on my desk": what is told of it says which one it is.
_shown_first = re.compile(
    rf"^(?P<before>)(?P<word>this|these) {_no_noun}(?=(?P<following>[a-z])[\w-]+(?: [\w-]+)? (?:that |which )?(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_pointing_aside = re.compile(
    r"(?:,? (?:about|at|in|on|to|with|for|from|after|during|throughout|by|into|around|through) (?:all )?(?:this|that|these|those|it|them|there)(?: (?!(?:and|but|or|when|while|because|since|so|after|before)\b)[\w-]+){0,2}|,? like (?:that|this))"
    r"(?=$|,| (?:when|while|because|since|after|before|last|yesterday|today|every|but|so)\b)",
    re.IGNORECASE,
)
MOST_PARTS = 6  # of a clause that are tried for themselves


_trailing = re.compile(
    r"(?<! went)(?<! go)(?<! been)(?<! get)(?<! got)(?<! live)(?<! lived) (?:there|here|too|as well|again|though)$",
    re.IGNORECASE,
)


def shortened(words: str) -> Iterator[str]:
    """Ways to put a clause that leave out what cannot be kept, the longest first: with an article for
    a thing that was shown, without what was joined to it, or that alone."""
    shown = _shown.sub(_with_article, _shown_first.sub(_with_article, words))
    if shown != words:
        yield shown
    if (left := _pointing_aside.sub("", shown)) != shown:
        yield left
    if _trailing.search(shown):
        yield _trailing.sub("", shown)
    joints = list(_joint.finditer(shown))[-MOST_PARTS:]
    for joint in reversed(joints):
        if joint[0].strip() == "and" and not _own_clause.match(shown, joint.end()):
            continue  # "a safe and loving home" is one thing
        if len(shown[: joint.start()].split()) >= 4:
            yield shown[: joint.start()].rstrip(" ,;-")
    for joint in joints:
        rest = shown[joint.end() :].lstrip(" ,;")
        if OWN.match(rest) and len(rest.split()) >= 4:
            yield rest


_own_clause = re.compile(
    rf"\s*(?:I|we|he|she|it|they|you|my|our|his|her|their|the|an?|this|that|then|also|just|so|really|is|are"
    rf"|was|were|have|has|had|will|can|am|{PAST})\b",
    re.IGNORECASE,
)
OWN = re.compile(r"(?:then )?(?:I|we|my|our)\b", re.IGNORECASE)


def _with_article(match: re.Match[str]) -> str:
    article = "some" if match["word"].lower() in ("these", "those") else "a"
    if article == "a" and match["following"].lower() in "aeiou":
        article = "an"
    return f"{match['before']}{article} "
