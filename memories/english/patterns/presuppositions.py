"""What a question takes for granted: "Since I'm pregnant, which cheeses are safe?" tells of its asker."""

import re
from collections.abc import Iterator

from memories.english.patterns.pattern_parts import KIN, PEOPLE, PETS

_self = r"(?:I|we)(?:['’]m|['’]re|['’]ve| (?:am|are|have|has|don['’]t|can['’]t|do not|cannot|live|work|own|study|moved|use|never|no longer|hate|love))\b"
_given = re.compile(
    rf"(?:^|[,;] )(?:but |so |and )?(?:given that|given|since|because|considering(?: that)?|seeing that|seeing as|now that)"
    rf" (?P<told>{_self}[^,?]{{2,120}})(?=[,?])",
    re.IGNORECASE,
)
_known = re.compile(
    r"\b(?:did(?:n['’]t)? I (?:not )?(?:tell you|mention|say)|(?:do|did)(?:n['’]t)? you (?:know|remember)|you (?:do )?(?:know|remember)"
    r"|(?:do|should|can|could|would) I (?:tell|explain to) (?:my [\w-]+|him|her|them|people|everyone|(?-i:[A-Z])[\w-]+)"
    rf"|remember) (?:that )?(?P<told>{_self}[^,?]{{2,120}}?)(?:, (?:right|no|yes|don['’]t you))?\?",
    re.IGNORECASE,
)
_somebody = rf"(?P<whose>my|our) (?P<who>(?:[\w-]+ ){{0,2}}?(?:{KIN}|{PEOPLE}|{PETS}))"
_who = re.compile(
    rf"\b{_somebody},? (?:who|that)(?:['’]s| (?P<is>is|has|can['’]t|doesn['’]t|lives|works|loves|hates)) (?P<told>[^,?]{{3,80}}?)\?",
    re.IGNORECASE,
)
_called = re.compile(rf"\b{_somebody},? (?P<name>(?-i:[A-Z][a-z]+)) (?=[a-z])", re.IGNORECASE)
_signs = ("my ", "our ", " i", "i'", "i’", "we")


def presupposed(question: str) -> Iterator[str]:
    """The statements that `question` takes to be so, in its asker's words."""
    small = question.lower()
    if not any(sign in small for sign in _signs):
        return
    for form in (_given, _known):
        yield from (found["told"] for found in form.finditer(question))
    for found in _who.finditer(question):
        yield f"{found['whose']} {found['who']} {found['is'] or 'is'} {found['told']}"
    for found in _called.finditer(question):
        yield f"{found['whose']} {found['who']} is called {found['name']}"
