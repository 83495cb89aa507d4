"""An answer takes the frame of its question: "Where do you live?" "Lisbon" says "I live in Lisbon".

The outcome is a clause in the answerer's first person, which patterns read like any other.
"""

import re

from memories.patterns import reading

LONGEST = 10  # words of an answer that may lean on its question
_first_sentence = re.compile(r"[^.!?\n]+[.!\n]")
_yes = re.compile(
    r"(?:yes|yeah|yep|yup|sure|absolutely|definitely|of course|certainly|indeed|I (?:do|am|have|did|will|was))"
    r"(?:[,.!\s]+(?:I (?:do|am|have|did|will|was)|of course|sure|absolutely|definitely|indeed|thanks|thank you))*[.!\s]*",
    re.IGNORECASE,
)
_no = re.compile(
    r"(?:no|nope|nah|not (?:really|yet|at all|any ?more)|never|I (?:don't|am not|have not|haven't|didn't|won't))"
    r"(?:[,.!\s]+(?:I (?:don't|am not|have not|haven't|didn't|won't)|not (?:really|yet|at all|any ?more)|never|sorry|thanks|thank you))*[.!\s]*",
    re.IGNORECASE,
)
_lead = re.compile(r"^(?:(?:and|so|but|well|oh|hey|by the way|also|then|now)[, ]+)+", re.IGNORECASE)
_idle = (
    r"(?!(?:want|need|mind|know|see|think|remember|agree|understand|mean|feel like|have (?:time|a (?:minute|moment|second)"
    r"|any (?:questions?|tips|advice|ideas?|suggestions?|recommendations?|preferences?|thoughts?))|ready|sure|ok|okay|there|free|kidding|serious"
    r"|all ?right|done|interested|going to tell|able to)\b)"
)
# what is asked, how "yes" says it, and how "no" does
_asked_whether = (
    (rf"do you (?:still |also |really |ever )?{_idle}(.+)", "I {}", "I don't {}"),
    (rf"are you (?:still |also |really )?{_idle}(.+)", "I am {}", "I am not {}"),
    (
        r"have you (?:ever |already )?(?!(?:seen (?:it|that|this)|heard|thought)\b)(.+)",
        "I have {}",
        "I have never {}",
    ),
    (r"did you (?!(?:know|see|hear|say|mean|try)\b)(.+)", "I did {}", "I didn't {}"),
)
_thing = r"((?:[\w'-]+ ){0,4}[\w'-]+)"
# what is asked, and the frame for what is answered
_asked_for = (
    (rf"(?:what|who|which|when) (?:is|are|was|were) your {_thing}", "my {0} is {answer}"),
    (r"where are you from(?: originally)?", "I am from {answer}"),
    (r"how old are you", "I am {answer} years old"),
    (r"what do you do(?: for (?:a living|work))?", "I work as {answer}"),
    (r"how many ([\w' -]{3,40}?) (?:do you have|have you got)", "I have {answer} {0}"),
    (
        r"(?:what|which)(?: (?:kind|type|sort)s? of)?(?: [\w'-]+){0,3} do you (?:usually |mostly )?"
        r"(like|love|prefer|play|drink|eat|use|read|drive|study|collect|speak|grow|own|teach|watch)(?: (?:most|best|to [a-z]+))?",
        "I {0} {answer}",
    ),
    (
        r"where do you (?!(?:think|see|want|get)\b)([\w' -]{2,40}?)(?: now| these days)?",
        "I {0} {in_answer}",
    ),
    (r"how long have you (.{3,60})", "I have {0} for {answer}"),
    (r"when do you ((?!(?:want|need|think)\b).{3,60})", "I {0} {answer}"),
)
_whether = tuple((re.compile(asked, re.I), yes, no) for asked, yes, no in _asked_whether)
_for = tuple((re.compile(asked, re.I), frame) for asked, frame in _asked_for)
_no_fragment = re.compile(
    r"(?:I|we|my|our|it|its|that|this|these|those|they|you|your|he|she|there|not|no|nope|yes|yeah|yep|maybe|none|nothing"
    r"|nobody|depends|idk|sure|ok|okay|thanks?|thank|hi|hey|well|what|why|how|who|when|where|let|please|can|could|would"
    r"|sorry|great|good|wow|tell|show|give|haven't|don't|just|so|because)\b",
    re.IGNORECASE,
)
_verb = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|does|did|I|you|we|it|they)\b", re.I
)
_preposition = re.compile(
    r"(?:in|at|on|near|by|from|with|outside|around|close to|behind|next to|for|since|about|over)\b",
    re.IGNORECASE,
)
_article = re.compile(r"(?:an?|the|my|our)\b", re.IGNORECASE)
_any = re.compile(r"\b(?:any|ever|yet) ", re.IGNORECASE)
_number = re.compile(
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|several|many|a few)\b", re.I
)
_owners = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself"}
_second = re.compile(r"\b(?:you|yours?|yourself)\b", re.IGNORECASE)


def says(question: str, answer: str) -> bool:
    """Whether a short `answer` claims something by what `question` had asked."""
    first = _first_sentence.match(answer)
    words = reading.plain(answer)
    opening = reading.plain(first[0]) if first else words
    return bool(assented(question, words) or completed(question, opening))


def assented(question: str, answer: str) -> str:
    """What a mere yes or no to `question` says; empty where it says nothing by itself."""
    asked, said = _body(question), answer.strip()
    is_yes = bool(_yes.fullmatch(said))
    if not asked or " or " in asked or not (is_yes or _no.fullmatch(said)):
        return ""
    for pattern, yes, no in _whether:
        match = pattern.fullmatch(asked)
        if match:
            said = _turned(match[1])
            return yes.format(_any.sub("", said)) if is_yes else no.format(said)
    return ""


def completed(question: str, words: str) -> str:
    """What a fragment says in answer to `question`; empty where it is none, or does not fit."""
    asked, answer = _body(question), words.rstrip(" .!")
    if not asked or len(answer.split()) > LONGEST or _no_fragment.match(answer):
        return ""
    if _verb.search(answer):
        return ""
    for pattern, frame in _for:
        match = pattern.fullmatch(asked)
        if match:
            return _framed(frame, _turned(match[1]) if match.groups() else "", answer)
    return ""


def _body(question: str) -> str:
    """`question` without its opening words and its mark; empty where it is a long one."""
    body = _lead.sub("", question.strip()).rstrip(" ?!")
    return body if len(body.split()) <= 14 else ""


def _turned(words: str) -> str:
    """The asker's words in the answerer's mouth."""
    return _second.sub(lambda said: _owners[said[0].lower()], words.strip())


def _framed(frame: str, thing: str, answer: str) -> str:
    is_common = any(kind.match(answer) for kind in (_preposition, _article, _number))
    said = answer[0].lower() + answer[1:] if is_common else answer
    place = said if _preposition.match(said) else f"in {said}"
    if frame.startswith("I work as") and not _article.match(said):
        said = f"{'an' if said[0].lower() in 'aeiou' else 'a'} {said[0].lower()}{said[1:]}"
    if frame.endswith("years old"):
        said = re.sub(r" years?(?: old)?$", "", said)
    if " for {" in frame:
        said = re.sub(r"^(?:for|about|over) ", "", said)
    if "{answer} {0}" in frame and len(said.split()) > 1:
        return f"I have {said}"
    return frame.format(thing, answer=said, in_answer=place)
