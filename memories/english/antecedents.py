"""What "it" or "that" of an order means by the words before it: "About the exam: forget it.",
"I shouldn't have told you about Ben. Delete that." Pure."""

import re

from memories.english import read_clause

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
# What is written or kept somewhere else than in the memory.
_work = re.compile(
    r"\b(?:paragraphs?|sections?|sentences?|lines?|slides?|chapters?|columns?|rows?|tables?|cells?|files?|folders?|drafts?|documents?|essays?|letters?|e-?mails?|poems?"
    r"|functions?|class|methods?|tests?|commits?|branch(?:es)?|buttons?|footers?|headers?|logos?|titles?|pages?|cv|resume|bullets?|photos?|pictures?|videos?|apps?)\b",
    re.IGNORECASE,
)


def named_in(sentence: str) -> Span | None:
    """The words of a sentence that name what was told: it is about having told it, or names it and
    says no more of it than that it is private."""
    for number, form in enumerate(_named):
        match = form.search(sentence)
        if match is None or _pronoun.fullmatch(match["x"]):
            continue
        if not (number in OPEN and _predicate.search(match["x"])):
            return match.span("x")
    return None


def asks(sentence: str) -> bool:
    """Whether it wants something of the one it is said to."""
    return (
        sentence.rstrip().endswith("?")
        or _request.match(sentence) is not None
        or read_clause.is_request(sentence)
    )


def is_talk(sentence: str) -> bool:
    """Whether it is an "OK" or a "thanks", and tells nothing."""
    return _talk.match(sentence) is not None


def is_of_work(sentence: str) -> bool:
    """Whether what it tells of is a text, a picture or code."""
    return _work.search(sentence) is not None
