"""Orders that people give to the memory itself: forget, correct, retract, never mention again,
remember; and what "it" or "that" in an order means by the words before it.

Data and patterns of English; `memories.reading.intents` acts on them. An order opens its sentence, after
words of politeness, or follows a pause inside it. Reported speech, quoted words, and requests for
anything but the memory are not orders.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memories.language.english import clauses, pasted_text, read_clause, self_repair
from memories.language.english import intent_forms as forms
from memories.language.english.corrections import has_value
from memories.language.english.exact_values import exact_values, places_of, withdrawn_value

# What "it" or "that" of an order means by the words before it: "About the exam: forget it.",
# "I shouldn't have told you about Ben. Delete that." Pure.

Span = tuple[int, int]
_LEAD = r"^\W*(?:(?:oh|hey|hm+|well|so|and|but|also|please|ok(?:ay)?|sorry|actually|listen|look|by the way|btw)\W+)*"
_THING = r"(?:thing|stuff|story|business|bit|part|matter|issue|topic|subject|conversation|news|message|remark|comment)"
_ABOUT = r"(?:about|regarding|concerning|of|on|with)"
_X = r"(?P<x>[^,;:.!?–—]{2,80}?)"
_END = r"(?=\s*(?:[,;:.!?–—]|\s-\s|$)|\s(?:is|was|are|were|should|must)\b)"
_PRIVATE = (
    r"(?:(?:much |far |way )?too (?:personal|private|intimate|sensitive|embarrassing)|private|personal|confidential|sensitive|embarrassing|an? secret"
    r"|between (?:me|us|you and me|the two of us)|(?:never |not )(?:really |actually )?(?:meant |intended )?for (?:you|your|anybody|anyone)"
    r"|none of your (?:business|concern)|nobody['’]s business|(?:above|over) your pay grade|off the record|(?:not |n['’]t )(?:mine|yours) to)"
)
_named = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\bI\b.{{0,30}}\b(?:told|tell|telling|gave) you(?: anything| a word| too much| so much| all)? (?:about|of|regarding|that) {_X}{_END}",
        rf"\bI\b.{{0,30}}\b(?:said|say|saying|mention(?:ed|ing)?|shared|talked|spoke|wrote|brought up)(?: anything| nothing| something| a word| too much| to you| with you| earlier| before| yesterday| today| just now| once| already)*(?: about| of| regarding)? (?!(?:that|it|this|so|anything|nothing|to)\b){_X}{_END}",
        rf"\b(?:you|anyone|anybody|nobody|no one|people|others|they)\b(?: \w+)? (?:know(?:s|ing)?|knew|heard?|learn(?:ed|t)?|have heard)(?: anything| a word)? (?:about|of) {_X}(?:,? (?:right|don['’]t you|too))?{_END}",
        rf"{_LEAD}(?:about|regarding|concerning|as for|re|as to|when it comes to|with regard to|on the (?:subject|topic|matter) of) {_X}\W*$",
        rf"{_LEAD}(?:that|the|this|my)(?: whole| silly| little| last)? {_THING} {_ABOUT} {_X}\W*$",
        rf"\b(?P<x>(?:the|my|our|that) [^,;:.!?–—]{{2,60}}?) (?:that |which )?I (?:just |once |already |have |recently )*(?:mentioned|told you about|talked about|brought up|spoke (?:of|about)|told you){_END}",
        rf"{_LEAD}{_X} (?:is|was|are|were|(?:should|must|has to|have to|ought to|needs to)(?: really)? (?:stay|remain|be|be kept)|stays?|remains?)(?: really| very| quite| all| strictly| meant to be)? ?{_PRIVATE}",
        rf"\byou (?:(?:should|need)(?:n['’]t| not)(?: need to)? have|had no (?:right|reason|business) to|were(?:n['’]t| not) (?:supposed|meant|asked) to)"
        rf" (?:saved?|stored?|kept|keep|remember(?:ed)?|noted?|recorded?|memori[sz]ed?|written? down|write down)(?: the fact)?(?: that)? (?!(?:that|it|this)\b){_X}{_END}",
        rf"{_LEAD}(?P<x>(?:my|our|the|that|this) (?:[\w'’-]+ ){{0,3}}?[\w'’-]+?)(?: {_THING})?\W*$",
    )
)
_pronoun = re.compile(
    r"(?:it|that|this|those|these|them|he|she|they|what|which|who|the|my|our)(?: (?:one|all|thing|last))*|I|we|you|there|everything|all|(?:that|this|these|those) [\w'’-]+",
    re.IGNORECASE,
)
OPEN = (3, 4, 8)  # those of the forms above that would take a whole statement, too
_predicate = re.compile(
    r"\b(?:I|we|you|he|she|they|it|is|are|was|were|am|has|have|had|does|do|did|will|would|can|could|should|must)\b|\w+n['’]t\b|\w['’](?:m|re|ve|ll|d)\b",
    re.IGNORECASE,
)
_request = re.compile(
    r"(?:(?:can|could|would|will) you |please |now |then |and |ok(?:ay)?,? |next |also )*(?:write|give|create|generate|make|list|suggest|describe"
    r"|explain|compare|translate|summari[sz]e|rewrite|rephrase|show|tell me|draft|compose|design|outline|calculate|compute|convert"
    r"|continue|shorten|recommend|find|look up|search|book|order|play|remind me|set (?:a|an|the)|open|send|print|plan|check)\b",
    re.IGNORECASE,
)
_talk = re.compile(
    r"(?:(?:ok(?:ay)?|thanks?|thank you|thx|great|cool|yes|yeah|yep|sure|got it|all ?right|right|I see|hm+|lol|ha(?:ha)*|nice|good|fine|perfect|wow|so much|very much|a lot|then|and|oh|well|it is|that['’]s|is it)\W*)+$",
    re.IGNORECASE,
)
# What is written or kept somewhere other than in the memory.
_work = re.compile(
    r"\b(?:paragraphs?|sections?|sentences?|lines?|slides?|chapters?|columns?|rows?|tables?|cells?|files?|folders?|drafts?|documents?|essays?|letters?|e-?mails?|poems?"
    r"|functions?|class|methods?|tests?|commits?|branch(?:es)?|buttons?|footers?|headers?|logos?|titles?|pages?|cv|resume|bullets?|photos?|pictures?|videos?|apps?)\b",
    re.IGNORECASE,
)


LONGEST = 400  # characters of a sentence that is an order
MOST_WORDS = 6  # of a value that is corrected and not named
BEFORE = 2  # sentences before an order that may name what it means


def named_in(sentence: str) -> Span | None:
    """Return the place of the words that name what was told, in a sentence that is about having
    told it, or says no more of it than that it is private."""
    for number, form in enumerate(_named):
        match = form.search(sentence)
        if match is None or _pronoun.fullmatch(match["x"]):
            continue
        if not (number in OPEN and _predicate.search(match["x"])):
            return match.span("x")
    return None


def asks(sentence: str) -> bool:
    """Tell whether the sentence wants something of the one it is said to."""
    return sentence.rstrip().endswith("?") or _request.match(sentence) is not None or read_clause.is_request(sentence)


def is_talk(sentence: str) -> bool:
    """Tell whether the sentence is an "OK" or a "thanks", without content."""
    return _talk.match(sentence) is not None


def is_of_work(sentence: str) -> bool:
    """Tell whether the sentence is about a text, a picture or code."""
    return _work.search(sentence) is not None


FORGET, CORRECT, RETRACT, NEVER, REMEMBER = "forget", "correct", "retract", "never", "remember"


@dataclass(frozen=True, slots=True)
class SpokenIntent:
    """An order to the memory: its sentence or clause at [start, end).

    `topic` is the place of the words for what is meant; None means what was said last or, if it
    `is_everything`, all. `old` and `new` are a correction's values (`new` alone, if it `is_clause`,
    is the corrected statement), `clause` is what to remember, or what is said anew behind a
    retraction. `is_weak`: it may as well be about what the other one just said; `is_clause`: it
    makes a whole statement, which is worth reading; `is_own`: it is about its giver, and nobody
    close to them. `values` is what it names exactly, to be found by the letter (if it `is_weak`,
    nowhere else).
    """

    kind: str
    start: int
    end: int
    topic: Span | None = None
    is_everything: bool = False
    old: str = ""
    new: str = ""
    clause: Span | None = None
    is_weak: bool = False
    is_clause: bool = False
    values: tuple[str, ...] = ()
    is_own: bool = False


def is_regret(sentence: str) -> bool:
    """Tell whether the sentence is about having said something, and says nothing itself."""
    return forms.REGRETTED.search(sentence) is not None


def deletes(order: str) -> bool:
    """Tell whether the order's verb is also used of files and words."""
    return forms.DELETES.match(order) is not None


def is_open(statement: str) -> bool:
    """Tell whether the statement begins with a word for somebody or something it does not name."""
    return forms.OF_SOMEBODY.match(statement) is not None


def may_hold_intents(text: str) -> bool:
    """Tell whether the text is worth searching; cheap, and a no is always right."""
    return forms.SIGNS.search(text.lower()) is not None


def find_intents(text: str) -> list[SpokenIntent]:
    """Return the orders in `text` to the memory, in their order; none from what it quotes."""
    found: list[SpokenIntent] = []
    if not may_hold_intents(text) or forms.MAIL.search(text):
        return found
    text = self_repair.mended(text)
    before: list[Span] = []
    for start, end in clauses.sentences(text):
        if end - start > LONGEST or pasted_text.is_quoted(text, start):
            before = []
            continue
        orders = [_with_named(text, before, one) for one in _of_sentence(text, start, end)]
        if all(one.kind == RETRACT for one in orders) and (wrong := self_repair.told_wrong(text, start, end)):
            old, new, topic = wrong
            orders = [SpokenIntent(CORRECT, start, max(end, new[1]), topic, old=old, new=text[slice(*new)])]
        found += orders
        before = [] if orders else [*before, (start, end)][-BEFORE:]
    return found


def _with_named(text: str, before: list[Span], one: SpokenIntent) -> SpokenIntent:
    """Add to an order about "that" what a sentence before it names: "I shouldn't have told you
    about Ben. Delete that."; then both sentences are the order."""
    is_bare = one.kind in (FORGET, NEVER) and one.topic is None and not one.is_everything
    for start, end in reversed(before) if is_bare else ():
        if named := named_in(text[start:end]):
            return replace(one, start=start, topic=(start + named[0], start + named[1]))
    return one


def _of_sentence(text: str, start: int, end: int) -> Iterator[SpokenIntent]:
    """Yield the first order in a sentence: at its head, or behind a pause in it."""
    whole = text[start:end]
    if forms.SAID_BEHIND.search(whole):
        return
    weak: SpokenIntent | None = None
    for at, is_named in _heads(text, start, end):
        is_bare_order = is_named and forms.FORGET_IT.match(whole, at)
        if one := SpokenIntent(FORGET, 0, end - start - at) if is_bare_order else _read(whole[at:]):
            if one.kind == NEVER and forms.ELSEWHERE.search(whole[:1].lower() + whole[1:at]):
                continue
            if one.is_weak:
                weak = weak or _moved(one, start + at)
                continue
            is_bare = one.topic is None and not one.is_everything
            if at and is_bare and one.kind in (FORGET, NEVER, RETRACT):
                # "What I said about the account is private, please forget it."
                one = replace(one, topic=_before(whole, at))
            if is_named and not (is_bare and one.topic and one.kind in (FORGET, NEVER)):
                continue
            yield _moved(one, start + at)
            return
    if weak:
        yield weak


def _before(sentence: str, at: int) -> Span | None:
    """Return the span, relative to `at`, of what a sentence names before an order about "it"; None
    if it names nothing."""
    if named := named_in(sentence[:at].rstrip(" ,;:–—-(")):
        return named[0] - at, named[1] - at
    before = sentence[:at].rstrip(" ,;:–—-(")
    before = re.sub(r"(?:^|\s)(?:so|and|but|then)$", "", before, flags=re.I)
    if (reason := forms.REASON.search(before)) and reason.start() > 1:
        before = before[: reason.start()]
    before = forms.PRIVATE.sub("", before)
    lead = forms.TOPIC.match(before)
    start = lead.end() if lead else 0
    if not forms.MEANT.search(before, start) or forms.REGRET.match(before):
        return None
    return start - at, len(before) - at


def _heads(text: str, start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield the places where an order may begin, and whether it is an order only about what is
    named before it."""
    sentence = text[start:end]
    yield 0, False
    for pause in forms.PAUSE.finditer(sentence):
        at = pause.end()
        before = sentence[: pause.start()]
        if forms.REPORTING.search(before):
            return
        is_named = pause.group()[0] == ":" and not forms.ANNOUNCED.search(before)
        if is_named and not named_in(before):
            return
        if at >= len(sentence) or pasted_text.is_quoted(text, start + at):
            continue
        # "It is easy to get lost and forget that" asks nothing of anybody.
        head = forms.ASKING_HEAD if pause.group()[0].isspace() else forms.STRONG_HEAD
        if head.match(sentence, at):
            yield at, is_named
        elif forms.THROWN_AWAY.match(sentence, at) and named_in(before):
            yield at, True


def _moved(one: SpokenIntent, by: int) -> SpokenIntent:
    def moved(span: Span | None) -> Span | None:
        return None if span is None else (span[0] + by, span[1] + by)

    return replace(one, start=one.start + by, end=one.end + by, topic=moved(one.topic), clause=moved(one.clause))


def _read(sentence: str) -> SpokenIntent | None:
    if forms.IDIOM.search(sentence):
        return None
    return (
        _read_remember(sentence)
        or _read_never(sentence)
        or _read_retract(sentence)
        or _read_forget(sentence)
        or _read_withdrawn(sentence)
        or _read_correct(sentence)
    )


def _read_forget(sentence: str) -> SpokenIntent | None:
    for number, head in enumerate(forms.FORGET_HEADS):
        if (match := head.match(sentence)) is None:
            continue
        start, end = match.span("rest")
        if number == 0 and forms.LETS.match(sentence) and not forms.OF_WHAT_WAS_TOLD.match(sentence, start):
            return None
        if number < 2 and forms.REPORTED.match(sentence):
            return None  # "Deleted files are gone" asks nothing
        is_bare = number in (1, 2, 3)  # verbs that are used of files and words, too
        one = _with_topic(FORGET, sentence, start, end, is_bare=is_bare)
        return _with_values(one, sentence) if one else None
    return None


def _read_never(sentence: str) -> SpokenIntent | None:
    for head in forms.NEVER_HEADS:
        if match := head.match(sentence):
            start, end = match.span("rest")
            if forms.ELSEWHERE.search(sentence[:1].lower() + sentence[1:]):
                return None
            return _with_topic(NEVER, sentence, start, end)
    return None


def _with_topic(kind: str, sentence: str, start: int, end: int, *, is_bare: bool = False) -> SpokenIntent | None:
    """Return an order about what stands behind the verb, without words that name nothing; None if
    it may be about work."""
    about_memory = re.search(rf"\b(?:from|in|out of|off|to) {forms.MEMORY}\b", sentence[start:], re.I)
    rest = sentence[start:end]
    if about_memory and re.match(r"\s*[,;:.!?–—]", sentence[start + about_memory.end() :]):
        # what follows is a reason
        rest = sentence[start : min(end, start + about_memory.start())]
    rest = _without_tail(rest)
    if (reason := forms.REASON.search(rest)) and reason.start() > 1:
        rest = rest[: reason.start()]
    rest = _without_tail(rest).rstrip(" ,;:.!?–—-")
    if not rest:
        return None
    if kind == FORGET and forms.DISMISSIVE.search(sentence, start) and not about_memory:
        return None
    if forms.EVERYTHING.fullmatch(rest):
        is_all = not is_bare or about_memory is not None or " " in rest
        return SpokenIntent(kind, 0, len(sentence), is_everything=True) if is_all else None
    if forms.RECENT.fullmatch(rest):
        return SpokenIntent(kind, 0, len(sentence))
    if match := forms.PRONOUN_FIRST.match(rest):
        is_idiom = match["it"].casefold() == "it" and "please" not in sentence.casefold()
        return None if is_idiom else SpokenIntent(kind, 0, len(sentence))
    sayer = forms.OF_SAYER.fullmatch(rest)
    if sayer:
        at, rest = start + sayer.start("x"), sayer["x"]
        return SpokenIntent(kind, 0, len(sentence), (at, at + len(rest)))
    lead = forms.TOPIC.match(rest)
    is_code = about_memory and forms.OF_MACHINES.fullmatch(about_memory[0]) and forms.CODE.match(rest)
    is_marked = lead is not None or (about_memory is not None and not is_code)
    if not is_marked and _is_work(rest, sentence, is_bare=is_bare):
        return None
    span = (start + (lead.end() if lead else 0), start + len(rest))
    return SpokenIntent(kind, 0, len(sentence), span) if span[0] < span[1] else None


def _with_values(one: SpokenIntent, sentence: str) -> SpokenIntent:
    """Add to an order to forget what it names exactly; then nothing else of it is its topic, for
    the rest may say what shall be kept."""
    if one.topic is None:
        return one
    named = sentence[one.topic[0] :]
    if about_memory := re.search(rf"\b(?:from|in|out of|off|to) {forms.MEMORY}\b", named, re.I):
        announced = forms.ANNOUNCING.match(named, about_memory.end())
        behind = named[announced.end() :] if announced else ""
        named = f"{named[: about_memory.start()]} {behind}"
    values = [each for each in exact_values(named) if not forms.GONE.fullmatch(each)]
    topic = next(iter(places_of(values[0], sentence)), one.topic) if values else one.topic
    return replace(one, topic=topic, values=tuple(values))


def _read_withdrawn(sentence: str) -> SpokenIntent | None:
    """Read "The old code bh-12 is retired and should not be recalled.": only about an exact
    value."""
    value = "" if sentence.rstrip().endswith("?") else withdrawn_value(sentence)
    if not value or forms.ELSEWHERE.search(sentence[:1].lower() + sentence[1:]):
        return None
    topic = places_of(value, sentence)[0]
    return SpokenIntent(FORGET, 0, len(sentence), topic, values=(value,), is_weak=True)


def _is_work(rest: str, sentence: str, *, is_bare: bool) -> bool:
    """Tell whether an order may be about a file, a dish or a text to be changed instead."""
    if forms.ELSEWHERE.search(rest):
        return True
    if not is_bare:
        return forms.WORK_OBJECT.match(rest) is not None
    if not forms.DELETES.match(sentence):
        is_own = re.match(r"(?:my|our)\b", rest, re.I) is not None
        is_near = re.match(r"(?:that|this|the|any)\b", rest, re.I) is not None
        return not (is_own or is_near and not forms.WORK_OBJECT.match(rest))
    is_named = re.match(r"(?:my|our)\b", rest, re.I) or forms.NOTED.search(rest)
    return not is_named or forms.WORK_OBJECT.match(rest) is not None


def _without_tail(rest: str) -> str:
    tail = forms.TAIL.search(rest)
    return rest[: tail.start()] if tail else rest


def _read_retract(sentence: str) -> SpokenIntent | None:
    for head, is_weak in forms.RETRACT_HEADS:
        if (match := head.match(sentence)) is None or sentence.rstrip().endswith("?"):
            continue
        topic = next((match.span(name) for name in ("x", "x2") if match.groupdict().get(name)), None)
        rest = sentence[match.end() :]
        end = len(sentence)
        if topic is None and (denied := forms.DENIED.match(rest)):
            topic = (match.end() + denied.start("x"), match.end() + denied.end("x"))
        elif len(rest.strip(" ,;:.!?–—-")) > 12:
            end = match.end()  # what follows is said anew
        if topic and forms.EVERYTHING.fullmatch(sentence[slice(*topic)]):
            topic = None
        anew = forms.ANEW.match(rest) if topic is None else None
        if anew and (one := _read_correct(anew["x"])) and one.old and not one.is_clause:
            return replace(one, end=len(sentence))
        clause = (match.end() + anew.start("x"), match.end() + anew.end("x")) if anew else None
        is_own = match.groupdict().get("self") is not None
        return SpokenIntent(RETRACT, 0, end, topic, clause=clause, is_weak=is_weak, is_own=is_own)
    return None


def _read_correct(sentence: str) -> SpokenIntent | None:
    if sentence.rstrip().endswith("?"):
        return None
    is_statement = forms.OWN_SUBJECT.match(sentence) is not None
    return (
        (_read_whole_correction(sentence) if is_statement else None)
        or _read_values(sentence)
        or _read_whole_correction(sentence)
        or _read_anew(sentence)
    )


def _read_values(sentence: str) -> SpokenIntent | None:
    """Read "No, the 14th.", "Tuesday, not Monday."."""
    for head, must_be_typed in forms.CORRECT_HEADS:
        if (match := head.match(sentence)) is None:
            continue
        values = match.groupdict()
        new = _trimmed(values["new"] or values.get("new2") or "")
        old = _trimmed(values.get("old") or "")
        old = "" if forms.ONLY_OOPS.fullmatch(old) else old
        if must_be_typed and not forms.TYPED_VALUE.match(new) or forms.HAS_CLAUSE.search(new):
            continue
        if forms.OF_CHANGE.search(new):
            continue  # "it's margarine now" corrects nobody
        if old and forms.HAS_CLAUSE.search(old) or forms.ONLY_OOPS.fullmatch(new):
            continue
        if not values.get("x") and max(len(new.split()), len(old.split())) > MOST_WORDS:
            continue
        topic = match.span("x") if values.get("x") else None
        return SpokenIntent(CORRECT, 0, len(sentence), topic, old=old, new=new)
    return None


def _read_anew(sentence: str) -> SpokenIntent | None:
    """Read "Hang on, my dentist is Dr. Maas.": a whole statement said once more."""
    for form in forms.SAID_ANEW:
        if (match := form.match(sentence)) and has_value(match["x"]):
            is_bare_no = forms.BARE_NO.fullmatch(sentence[: match.start("x")])
            if is_bare_no and forms.CHANGED.match(match["x"]) and not forms.DATED.search(match["x"]):
                return None  # "No, I went over to Vim" tells what came of it
            span = match.span("x")
            return SpokenIntent(CORRECT, 0, len(sentence), span, new=match["x"], is_clause=True)
    return None


def _read_whole_correction(sentence: str) -> SpokenIntent | None:
    """Read "My sister lives in Turin, not Trieste.": a statement, too."""
    if match := forms.WHOLE_CORRECTION.match(sentence):
        old = _trimmed(match["old"])
        new = " ".join(_trimmed(match["x"]).split()[-len(old.split()) :])
        if forms.TYPED_VALUE.match(old) and forms.TYPED_VALUE.match(new):
            span = match.span("x")
            return SpokenIntent(CORRECT, 0, len(sentence), span, old=old, new=new, is_clause=True)
    return None


def _trimmed(value: str) -> str:
    return value.strip(" .,;:!?\"'“”")


def _read_remember(sentence: str) -> SpokenIntent | None:
    match = forms.REMEMBER_HEAD.match(sentence)
    if match is None or sentence.rstrip().endswith("?"):
        return None
    start, end = match.span("x") if match["x"] else match.span("x2")
    said_to_be_one = sentence[:start].rstrip().endswith((":", "that", "That"))
    is_said_to_be_one = said_to_be_one or match["x"] is None
    if not forms.STATEMENT.match(sentence, start) or not (
        is_said_to_be_one or forms.OF_OWN_LIFE.match(sentence, start)
    ):
        return None
    if forms.OF_LISTENER.match(sentence, start):
        return None
    tail = forms.TAIL.search(sentence, start)
    end = min(end, tail.start()) if tail else end
    return SpokenIntent(REMEMBER, 0, len(sentence), clause=(start, end))
