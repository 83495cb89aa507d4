"""Standing wishes, which somebody asks of a reader once and for all: "Always answer in French"; and
what somebody prefers.

The patterns of `patterns.instructions` say which words are a wish, for messages as for what is
learned from them.
"""

import re
from collections.abc import Sequence

from memories.language.english import claim_worth, clauses, lexical, pasted_text, read_clause
from memories.language.english.clauses import Clause
from memories.language.english.patterns import library
from memories.language.english.patterns.instructions import WITH_A_TASK
from memories.language.english.patterns.pattern import Pattern

# Characters; what comes later is not what the message is about. Wishes are looked for in every
# message that is indexed, preferences in few.
WISH_HEAD, HEAD = 400, 2_000
PREFERS = " prefer"  # stands in every text that `preference` finds something in
_prefers = re.compile(
    r"\b(?:I(?:['’]d| would| do)?(?: (?:really|strongly|much|generally|usually|always|tend to|also))?"
    r" prefer|my preference (?:is|would be))\b",
    re.IGNORECASE,
)
_joined = re.compile(r"(?:\band|\bbut|;) $", re.IGNORECASE)
# A clause with a lasting request begins with one of these; most others are ruled out by that alone.
_begins = (
    r"(?:(?:please|kindly|just|also|then|and|but|so|in general|as a rule|by default|you|should|must|need to|have to|are to),?\s+)*"
    r"(?:always|never|only|do(?:n['’]?t| not)|make sure|be|remember|stop|quit|no|zero|without|fewer|less|avoid|skip|omit|leave out|drop"
    r"|us(?:e|ing)|add|includ|cit|giv|show|provid|put|writ|ask|nam|mention|offer|end|start|begin|finish|spell|answer|repl|respond"
    r"|speak|talk|explain|call|address|format|summari|list|quote|send|keep|make|stick|when|if|every|each|any ?time|(?:can|could|would|will) you"
    r"|from|as of|going|in (?:the )?future|for (?:the future|all)|hence|here|I (?:would|do|prefer|like|want|need|expect|asked)|I['’]d|my name)"
)
_beginning = re.compile(_begins, re.IGNORECASE)
_signs = re.compile(
    rf"(?:^|[.!?:;,\n()\"“*•–—-]\s*|\bcall me\b|\b(?:and|but|so|ok|okay|hello|hi|hey|thanks|well)\s+){_begins}",
    re.IGNORECASE,
)
# People who tell of themselves ask for no piece of work.
_of_oneself = re.compile(
    r"(?:I|my|we|our)\b(?! (?:need|want|would like|am (?:looking|trying|writing|working)|have to)\b)",
    re.IGNORECASE,
)
# What a wish is for: "when I ask about food", "for recipes, ...", "questions about travel".
_condition = re.compile(
    r"\b(?:when(?:ever)?|if|(?:each|every|any) ?time|as soon as)\s+(?P<when>[^.,;:!?\n]{3,200})"
    r"|^\W*(?:[^,.:;!?]{1,40}, )?(?:for|in|on|about|regarding|with)\s+(?P<topic>[^.,;:!?\n]{3,80}),"
    r"|\b(?:questions?|requests?)\s+(?:about|on|regarding|concerning)\s+(?P<about>[^.,;:!?\n]{3,80})",
    re.IGNORECASE,
)
# Words of a condition that hold for any question: "when you answer", "if you are not sure".
_of_any_question = frozenset(
    lexical.stems(
        "ask asking question questions request requests talk tell say speak mention want need write answer"
        " answers reply respond response explain discuss help give use possible necessary needed appropriate"
        " applicable unsure sure know like something anything time always future general default you your message"
        " conversation chat start begin end finish"
    )
)


def condition(wish: str) -> str:
    """Return the words for what has to be spoken of for a wish to hold; "" where it always does."""
    match = _condition.search(wish[:HEAD])
    words = next(filter(None, match.groups()), "") if match else ""
    return " ".join(word for word in words.split() if set(lexical.stems(word)) - _of_any_question)


def preference(text: str) -> tuple[int, int] | None:
    """Return the place of the first sentence in `text` that says what its author prefers, without
    another statement before it; or None."""
    match = _prefers.search(text[:HEAD])
    if match is None:
        return None
    spans = clauses.sentences(text[:HEAD])
    begun = match.start() if _joined.search(text, 0, match.start()) else 0
    return next(((max(start, begun), end) for start, end in spans if start <= match.start() < end), None)


def standing_wishes(text: str) -> list[tuple[int, int]]:
    """Return the places of the sentences in `text` that state standing wishes."""
    head = text[:WISH_HEAD]
    if not _signs.search(head):
        return []
    read = [(clause, read_clause.plain(clause.text)) for clause in clauses.of_text(head)]
    told = [(clause, pattern) for clause, words in read if (pattern := _wish_in(clause, words))]
    if not told:
        return []
    sentences = list(clauses.sentences(head))
    is_task = has_task(read, [clause for clause, _ in told])
    places = (
        (start, end)
        for clause, pattern in told
        if not (is_task and pattern.name in WITH_A_TASK)
        for start, end in sentences
        if start <= clause.start < end and not pasted_text.is_quoted(text, start)
    )
    return list(dict.fromkeys(places))


def has_task(read: Sequence[tuple[Clause, str]], wishes: Sequence[Clause]) -> bool:
    """Tell whether a message asks for a piece of work beside its `wishes`: then they may be meant
    for that work alone. `read` holds its clauses with their words."""
    starts = {clause.start for clause in wishes}
    return any(
        clause.is_question or not _of_oneself.match(words)
        for clause, words in read
        if clause.start not in starts and not read_clause.is_courtesy(words)
    )


def _wish_in(clause: Clause, words: str) -> Pattern | None:
    """Return the pattern of the request in a clause, if that is worth keeping."""
    if not _beginning.match(words) and "call me" not in words:
        return None
    pattern = library.first_wish(words, is_question=clause.is_question)
    if pattern is None:
        return None
    telling = claim_worth.Telling(words, pattern.name, pattern.category, pattern.confidence, to_machine=True)
    return None if claim_worth.doubt(telling) else pattern
