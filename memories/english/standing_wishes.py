"""What somebody asks of a reader once and for all: "Always answer in French"; and what somebody
prefers."""

import re

from memories.english import clauses
from memories.english.verbs import is_past

HEAD = 2_000  # characters; a wish that comes later is not what the message is about
_no_subject = r"(?!(?:I|we|he|she|it|they|you|my|our|his|her|the|a|an|this|that|there)\b)"
_lead = r"(?:(?:please|also|and|so|but|from now on|in (?:the )?future|going forward),?\s+)*"
_always = (
    r"(?:always|never|do not ever|don['’]t ever|remember to|be sure to"
    r"|make sure (?:to |that you |you )?(?:always |never )?)"
)
# Told of oneself, "always" is a habit ("Always loved it") and "whenever" too ("..., I think of it").
_wish = re.compile(
    rf"{_lead}(?:{_always}\s+{_no_subject}(?P<verb>[a-z]+)"
    rf"|(?:whenever|when|if|every time)\s[^,.?!\n]{{3,160}},\s*(?:please\s+)?{_always}\s+{_no_subject}(?P<act>[a-z]+)"
    rf"|whenever\s[^,.?!\n]{{3,160}},\s*(?:please\s+)?{_no_subject}(?P<does>[a-z]+)"
    rf"|(?:from now on|in future|going forward),?\s+(?:please\s+)?{_no_subject}(?P<then>[a-z]+))\b",
    re.IGNORECASE,
)
_no_verbs = frozenset(
    "mind ever been had in on at to for with and or but not so as here there up full happy glad good"
    " great nice fun ready welcome really sure".split()
)


PREFERS = " prefer"  # stands in every text that `preference` finds something in
_prefers = re.compile(
    r"\b(?:I(?:['’]d| would| do)?(?: (?:really|strongly|much|generally|usually|always|tend to|also))?"
    r" prefer|my preference (?:is|would be))\b",
    re.IGNORECASE,
)


def preference(text: str) -> tuple[int, int] | None:
    """Where the sentence stands in `text` that says what its author prefers; None: none does."""
    match = _prefers.search(text[:HEAD])
    if match is None:
        return None
    spans = clauses.sentences(text[:HEAD])
    return next(((start, end) for start, end in spans if start <= match.start() < end), None)


def standing_wish(text: str) -> tuple[int, int] | None:
    """Where the sentence stands in `text` that says so; None: none does."""
    for start, end in clauses.sentences(text[:HEAD]):
        match = _wish.match(text, start, end)
        if match is None or text[end - 1] in "?!":  # "Never give up!"
            continue
        verb = next(word for word in match.groups() if word).lower()
        if verb not in _no_verbs and not verb.endswith("ing") and not is_past(verb):
            return start, end
    return None
