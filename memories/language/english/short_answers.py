"""Answers, completed by their questions: "Where do you live?" "Lisbon" says "I live in Lisbon".

The outcome is a clause in the answerer's first person, which patterns read like any other.
"""

import re

from memories.language.english import read_clause, verbs
from memories.language.english.numbers import words_from

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
    (r"have you (?:ever |already )?(?!(?:seen (?:it|that|this)|heard|thought)\b)(.+)", "I have {}", "I have never {}"),
    (r"did you (?!(?:know|see|hear|say|mean|try)\b)(.+)", "I did {}", "I didn't {}"),
)
_often = r"(?:rarely|seldom|sometimes|often|usually|occasionally|always|almost never|hardly ever|almost always|regularly|frequently)"
# what somebody is, in one word, whatever was asked
_state = re.compile(
    r"(?:currently |already |still |now )?(?:diabetic|asthmatic|epileptic|an(?:a)?emic|coeliac|celiac|vegan|vegetarian|pescatarian"
    r"|(?:lactose|gluten|histamine)[- ]intolerant|allergic to .+|married|single|divorced|separated|widowed|engaged|retired|unemployed"
    r"|self-employed|pregnant|deaf|blind|colou?r[- ]?blind|dyslexic|autistic|bipolar|left-handed|right-handed|ambidextrous|bilingual"
    r"|muslim|christian|catholic|jewish|hindu|buddhist|atheist|agnostic)\b(?:(?:,| and| but) .+)?",
    re.IGNORECASE,
)
_times = re.compile(
    r"(?:only |just |about |mostly |maybe )*(?:(?:on|in|at|during|every|once|twice|each|before|after|with|when)\b|(?:a few|several|three|four|five) times\b"
    r"|daily$|weekly$|monthly$|weekends$)",
    re.IGNORECASE,
)
_about_self = re.compile(r"\b(?:you|your)\b|^any\b", re.IGNORECASE)
_thing = r"((?:[\w'-]+ ){0,4}[\w'-]+)"
_its = r"((?:the|our) (?:[\w'-]+ ){0,4}[\w'-]+)"
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
    (r"where do you (?!(?:think|see|want|get)\b)([\w' -]{2,40}?)(?: now| these days)?", "I {0} {in_answer}"),
    (r"how do you (like|take|prefer|drink|eat|spend|want) (your [\w' -]{2,40})", "I {0} {1} {small}"),
    (r"how long have you (.{3,60})", "I have {0} for {answer}"),
    (r"when do you ((?!(?:want|need|think)\b).{3,60})", "I {0} {answer}"),
    (rf"when (?:is|are|was|were) {_its}", "{0} is {answer}"),
    (rf"where (?:is|are|was|were) {_its}", "{0} is {in_answer}"),
    (rf"(?:what|who) (?:is|are) {_its}", "{0} is {answer}"),
    (rf"how much (?:does|do) {_its} cost", "{0} costs {answer}"),
    (rf"how much (?:is|are) {_its}", "{0} costs {answer}"),
    (
        r"who (owns|leads|runs|maintains|manages|handles|is (?:responsible for|in charge of|working on)) ([\w' -]{3,60})",
        "{answer} {0} {1}",
    ),
    (r"how old (?:is|are) your ([\w' -]{2,40}?)(?:, ?[a-z]+)?(?: now| these days)?", "my {0} is {answer} years old"),
    (
        r"(?:do you have |have you got )?any ((?:(?:known|food|other|chronic|current) )?(?:allergies|intolerances|medications?|medicines"
        r"|(?:health|medical) (?:conditions|issues|problems)|dietary (?:restrictions|requirements|needs)|hobbies|pets|siblings|kids"
        r"|children|brothers|sisters|phobias|certifications|degrees))(?: (?:i|we) should (?:know|be aware)(?: about| of)?)?",
        "my {0} include {answer}",
    ),
)
# what is asked of the past: the verb comes back in its past form
_asked_then = (
    (r"where did you (\w+)((?: (?!think|want)[\w'-]+){0,4})", "I {past}{rest} {in_answer}"),
    (r"(?:when|why|how) did you (\w+)((?: [\w'-]+){0,6})", "I {past}{rest} {answer}"),
    (
        r"(?:what|which|who)(?: [\w'-]+){0,2}? did you (?!do\b|think\b|say\b|mean\b)(\w+)((?: (?:in|at|for|with|on|from|to|there|last|yesterday|today)\b.{0,40})?)",
        "I {past} {answer}{rest}",
    ),
)
_whether = tuple((re.compile(asked, re.I), yes, no) for asked, yes, no in _asked_whether)
_then = tuple((re.compile(asked, re.I), frame) for asked, frame in _asked_then)
_hanging = frozenset(("in", "at", "for", "with", "on", "from", "to"))  # what a question ends with
_habit = re.compile(rf"do you (?:still |also |really |ever |often )?{_idle}(.+)", re.IGNORECASE)
_aside = re.compile(
    r",? (?:actually|though|i think|i believe|i guess|thanks?|please|right now|hands down|without a doubt|no doubt"
    r"|no question|by far|any day|easily|for sure|definitely|of course)$",
    re.IGNORECASE,
)
_unmoved = re.compile(r"^(?:still|mostly|mainly|currently|probably) (?=\w)", re.IGNORECASE)
# "Yes, since college", "Yeah, two", and what may be asked as if it were known: "You play bass, right?"
_yes_and = re.compile(
    r"(?:yes|yeah|yep|yup|indeed|right|exactly|correct|sure)[,.!]? (?:I (?:do|am|have|did|was)[,.]? )?(?P<rest>(?:since|for|in|on|at|every|with|until|last|this"
    rf"|twice|once|from|back in|about|almost|only|just|\d+|{words_from(1, 7)}|a few|several)\b.*)",
    re.IGNORECASE,
)
_stated = re.compile(
    r"you (?P<said>.+?)(?:,? (?:right|correct|huh|no|yes|don't you|aren't you|didn't you|haven't you))?", re.IGNORECASE
)
_count = re.compile(rf"(?:only |just )?(?:\d+|{words_from(1, 7)}|a few|several)(?: of them)?$", re.I)
_for = tuple((re.compile(asked, re.I), frame) for asked, frame in _asked_for)
_no_fragment = re.compile(
    r"(?:I|we|my|our|it|its|that|this|these|those|they|you|your|he|she|there|not|no|nope|yes|yeah|yep|maybe|none|nothing"
    r"|nobody|depends|idk|sure|ok|okay|thanks?|thank|hi|hey|well|what|why|how|who|when|where|let|please|can|could|would"
    r"|sorry|great|good|wow|so|very|really|pretty|kinda|exciting|amazing|awesome|crazy|busy|for asking|tell|show|give|haven't|don't|just|so|because|took|helped|taught|gave|kept|reminded|turned|meant|happened)\b",
    re.IGNORECASE,
)
_verb = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|does|did|I|you|we|it|they)\b", re.I)
_preposition = re.compile(
    r"(?:in|at|on|near|by|from|with|outside|around|close to|behind|next to|for|since|about|over)\b", re.IGNORECASE
)
_article = re.compile(r"(?:an?|the|my|our)\b", re.IGNORECASE)
_any = re.compile(r"\b(?:any|ever|yet) ", re.IGNORECASE)
_number = re.compile(rf"(?:{words_from(1, 10)}|several|many|a few)\b", re.I)
_owners = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself"}
_second = re.compile(r"\b(?:you|yours?|yourself)\b", re.IGNORECASE)


def says(question: str, answer: str) -> bool:
    """Tell whether a short `answer` makes a claim, completed by the `question` before it."""
    first = _first_sentence.match(answer)
    words = read_clause.plain(answer)
    opening = read_clause.plain(first[0]) if first else words
    return bool(assented(question, words) or affirmed(question, opening) or completed(question, opening))


def assented(question: str, answer: str) -> str:
    """Return what a mere yes or no to `question` says; empty if it says nothing by itself."""
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


def affirmed(question: str, answer: str) -> str:
    """Return what a yes with a few words more says: "Are you vegan?" "Yes, since May": "I am vegan
    since May"."""
    asked, said = _body(question), _yes_and.fullmatch(answer.strip(" .!"))
    if said is None or not asked or " or " in asked or len(answer.split()) > LONGEST:
        return ""
    rest = said["rest"][0].lower() + said["rest"][1:]
    for pattern, yes, _ in _whether:
        match = pattern.fullmatch(asked)
        if match and not yes.startswith("I did"):
            told = yes.format(_any.sub("", _turned(match[1])))
            counted = _count.fullmatch(rest) and told.startswith("I have ")
            return f"I have {rest} {told[7:]}" if counted else f"{told} {rest}"
    stated = _stated.fullmatch(asked)
    if stated is None:
        return ""
    told = re.sub(r"^are\b", "am", _turned(stated["said"]))
    return f"I {told} {rest}"


def completed(question: str, words: str) -> str:
    """Return what a fragment says in answer to `question`; empty if it is not a fragment, or does
    not fit."""
    asked, answer = _body(question), _aside.sub("", words.rstrip(" .!"))
    answer = _unmoved.sub("", answer)
    if not asked or not answer or len(answer.split()) > LONGEST or _no_fragment.match(answer):
        return ""
    # Whether it tells something by itself, its subject left out: "Took some time".
    told = read_clause.with_subject(answer)
    if _verb.search(answer) or (told.startswith("I ") and not told.startswith("I am ")):
        return ""
    if _state.fullmatch(answer) and _about_self.search(asked):
        return f"I am {answer[0].lower()}{answer[1:]}"
    return _how_often(asked, answer) or _in_past(asked, answer) or _in_frame(asked, answer)


# "Do you guys go to the coast often?" "We don't go often": where to stands in the question
_asks_act = re.compile(
    rf"(?:(?:how often|when|why|how many times) )?(?:do|did|are|have|will) you(?: (?:guys|all|two|both|still|usually|ever|often|already|also))* {_idle}(?P<act>[a-z]+) (?P<rest>(?:to|on|in|at|for|with|from|into|about)\b .+)",
    re.IGNORECASE,
)
_act = re.compile(
    r"(?P<who>(?:I|we) (?:(?:am|are|have|haven't|will|don't|didn't|not|still|also|usually|rarely|never|only|really|just|always|often|both) )*)(?P<act>[a-z]+)"
    rf"(?P<end>(?:,? (?:(?:too )?often|yet|again|{_times.pattern}).*)?)",
    re.IGNORECASE,
)
_no_rest = re.compile(
    r"(?: (?:yet|already|often|a lot|much|these days|lately|together|too))+$|,? or .*$", re.IGNORECASE
)


def taken_up(question: str, words: str) -> str:
    """Return what a full answer says when the question's verb completes it: "Have you decided on a
    colour yet?" "We haven't decided yet" says on what. Empty if it repeats no verb, or says
    everything by itself."""
    asked, answer = _asks_act.fullmatch(_body(question)), _act.fullmatch(words.rstrip(" .!"))
    if asked is None or answer is None or asked["act"].lower() != answer["act"].lower():
        return ""
    rest = _turned(_no_rest.sub("", asked["rest"]))
    return f"{answer['who']}{answer['act']} {rest}{answer['end']}"


def _how_often(asked: str, answer: str) -> str:
    """Read "Do you drink?" "Rarely" as "I rarely drink"."""
    match = _habit.fullmatch(asked)
    if match is None:
        return ""
    said = answer[0].lower() + answer[1:]
    if re.fullmatch(_often, said):
        return f"I {said} {_any.sub('', _turned(match[1]))}"
    return f"I {_any.sub('', _turned(match[1]))} {said}" if _times.match(said) else ""


def _in_past(asked: str, answer: str) -> str:
    for pattern, frame in _then:
        match = pattern.fullmatch(asked)
        if match:
            past, rest = verbs.past(match[1].lower()), _second.sub(_owner, match[2])
            said = _as_said(answer)
            if rest.strip() in _hanging:
                past, rest = f"{past}{rest}", ""
            return frame.format(
                past=past, rest=rest, answer=said, in_answer=_place(said), small=said[0].lower() + said[1:]
            )
    return ""


def _in_frame(asked: str, answer: str) -> str:
    for pattern, frame in _for:
        match = pattern.fullmatch(asked)
        if match:
            things = [_turned(group) for group in match.groups()]
            said = _as_said(answer)
            if frame.startswith("my {0} include") and (_number.match(said) or _article.match(said)):
                return f"I have {said}"
            things = [*things, ""]
            if frame.startswith("I work as") and not _article.match(said):
                said = f"{'an' if said[0].lower() in 'aeiou' else 'a'} {said[0].lower()}{said[1:]}"
            if frame.endswith("years old"):
                said = re.sub(r" years?(?: old)?$", "", said)
            if " for {" in frame:
                said = re.sub(r"^(?:for|about|over) ", "", said)
            if frame.startswith("I have {answer} {0}") and len(said.split()) > 1:
                return f"I have {said}"
            small = said[0].lower() + said[1:]
            return frame.format(*things, answer=said, small=small, in_answer=_place(said))
    return ""


def _body(question: str) -> str:
    """Return `question` without its opening words and its mark; empty if it is long."""
    body = _lead.sub("", question.strip()).rstrip(" ?!")
    return body if len(body.split()) <= 14 else ""


def _turned(words: str) -> str:
    """Return the asker's words as the answerer would say them."""
    return _second.sub(_owner, words.strip())


def _owner(said: re.Match[str]) -> str:
    return _owners[said[0].lower()]


def _as_said(answer: str) -> str:
    """Return `answer` without the capital of a sentence's beginning."""
    is_common = any(kind.match(answer) for kind in (_preposition, _article, _number))
    return answer[0].lower() + answer[1:] if is_common else answer


def _place(said: str) -> str:
    return said if _preposition.match(said) else f"in {said}"
