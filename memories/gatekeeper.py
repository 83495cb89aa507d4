"""Which messages are worth reading at all: talk without content is passed over, with a reason."""

import re
from dataclasses import dataclass

_sentence_end = re.compile(r"(?<=[.!?…])\s+|\n+")
_courtesy = re.compile(
    r"(?:hey|hi|hello|yo|good (?:morning|evening|afternoon|night)|bye|goodbye|see (?:you|ya)|take care"
    r"|talk (?:to you )?(?:soon|later)|thanks?|thank you|thx|no problem|np|you'?re welcome"
    r"|my pleasure|anytime|welcome|cheers)\b",
    re.IGNORECASE,
)
_assent = re.compile(
    r"(?:ok(?:ay)?|k|sure|yes|yeah|yep|yup|no|nope|nah|cool|nice|great|awesome|perfect|right|exactly"
    r"|agreed|got it|sounds good|haha\w*|lol|wow|true|done|will do|go ahead)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to pass a message over; `reason` for people, `label` to count by."""

    skip: bool
    reason: str = ""
    label: str = ""


_heard = Verdict(False)


def verdict(text: str, role: str, kind: str) -> Verdict:
    """Whether `text` can hold a claim. What is in doubt is read."""
    if not text.strip():
        return Verdict(True, "nothing is said", "empty")
    labels = {_label(sentence.strip()) for sentence in _sentence_end.split(text[:2000])}
    labels.discard("")
    if not labels or "content" in labels or len(text) > 2000:
        return _heard
    label = sorted(labels)[0]
    return Verdict(True, f"only {label}", label)


def _label(sentence: str) -> str:
    words = len(sentence.split())
    if not words:
        return ""
    if _courtesy.match(sentence) and words <= 6:
        return "courtesy"
    if _assent.match(sentence) and words <= 4:
        return "assent"
    return "content"
