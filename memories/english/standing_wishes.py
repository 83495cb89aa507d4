"""What somebody asks of a reader once and for all: "Always answer in French"; and what somebody
prefers.

Which words are a wish the patterns of `patterns.instructions` say, for messages as for what is
learned of them.
"""

import re
from collections.abc import Iterator, Sequence

from memories.english import clauses, read_clause, unspoken, worth
from memories.english.clauses import Clause
from memories.english.patterns import library
from memories.english.patterns.instructions import WITH_A_TASK
from memories.english.patterns.pattern import Pattern

HEAD = 2_000  # characters; a wish that comes later is not what the message is about
PREFERS = " prefer"  # stands in every text that `preference` finds something in
_prefers = re.compile(
    r"\b(?:I(?:['’]d| would| do)?(?: (?:really|strongly|much|generally|usually|always|tend to|also))?"
    r" prefer|my preference (?:is|would be))\b",
    re.IGNORECASE,
)
# No message without one of these asks for anything that holds.
_signs = re.compile(
    r"\b(?:always|never|ever|only|when(?:ever)?|if|each|every|all|remember|sure|future|now(?: on)?|forward|today|henceforth|default"
    r"|please|kindly|stop|no|don['’]?t|do not|avoid|without|skip|keep|be|use|add|cite|include|call me|to me|prefer|want|like|need|answer|reply"
    r"|respond|speak|write|should|must)\b",
    re.IGNORECASE,
)
# Who tells of himself asks for no piece of work.
_of_oneself = re.compile(
    r"(?:I|my|we|our)\b(?! (?:need|want|would like|am (?:looking|trying|writing|working)|have to)\b)",
    re.IGNORECASE,
)


def preference(text: str) -> tuple[int, int] | None:
    """Where the sentence stands in `text` that says what its author prefers; None: none does."""
    match = _prefers.search(text[:HEAD])
    if match is None:
        return None
    spans = clauses.sentences(text[:HEAD])
    return next(((start, end) for start, end in spans if start <= match.start() < end), None)


def standing_wishes(text: str) -> list[tuple[int, int]]:
    """Where the sentences stand in `text` that say so."""
    head = text[:HEAD]
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
        if start <= clause.start < end and not unspoken.is_quoted(text, start)
    )
    return list(dict.fromkeys(places))


def has_task(read: Sequence[tuple[Clause, str]], wishes: Sequence[Clause]) -> bool:
    """Whether a message asks for a piece of work beside its `wishes`: then how it is to be done may
    be meant of that alone. `read` holds its clauses with their words."""
    return any(_beside(read, {clause.start for clause in wishes}))


def _beside(read: Sequence[tuple[Clause, str]], wishes: set[int]) -> Iterator[bool]:
    for clause, words in read:
        if clause.start not in wishes and not read_clause.is_courtesy(words):
            yield clause.is_question or not _of_oneself.match(words)


def _wish_in(clause: Clause, words: str) -> Pattern | None:
    """The pattern of what is asked in a clause, where that is worth keeping."""
    pattern = library.first_wish(words, is_question=clause.is_question)
    if pattern is None:
        return None
    telling = worth.Telling(
        words, pattern.name, pattern.category, pattern.confidence, to_machine=True
    )
    return None if worth.doubt(telling) else pattern
