"""A secret that makes two messages: what the one asks for or announces, the other tells."""

import re
from collections.abc import Iterator

from memories.guard import credentials, identity_numbers
from memories.guard.form import Finding

LONGEST_ASK, LONGEST_ANSWER = 300, 120  # characters
_sentence_end = re.compile(r"[.!?\n]\s+")
# Asks for the thing itself; not when it was changed, or whether there is one.
_asks = re.compile(
    r"^(?!(?:when|where|why|who|how|did|do|does|have|has|is|are|was|were|should)\b)[^\n]*\?$"
    r"|^[^\n]*\b(?:enter|tell|give|send|share|provide|type|need|want|say|what(?:'s| is))\b[^\n]*$"
    r"|(?::|=|\b(?:is|are|was)|'s)$",
    re.IGNORECASE,
)
# After its name: of what it is. "password manager" and "PIN pad" are other things.
_of_what = re.compile(
    r"(?:\s+(?:for|of|to|at|on|in|with|that|which|protects?|opens?|unlocks?|please|again|now|there|here"
    r"|you|do|did|is|was|are|should|shall|will|and|or|number)\b[^\n]*|\s*[?:=.,!]*\s*)$|\s*(?:is|are|was)$",
    re.IGNORECASE,
)
_lock_code = re.compile(
    r"\bcode\b(?=[^\n]*\b(?:shed|door|gate|garage|safe|alarm|lock|locker|building|house|flat|cabin|lift"
    r"|elevator|keypad|lock ?box|barrier|storage|suitcase|phone)\b)",
    re.IGNORECASE,
)
_lead_in = re.compile(
    r"(?:(?:sure|ok(?:ay)?|yes|well|of course|here(?: you go| it is)?|it'?s|it is|that'?s|that is"
    r"|that would be|i (?:chose|use|took|picked|set|have)|use|take|try|mine is|still|just|currently"
    r"|the (?:code|password|pin|word|number) is)[,:!.]*\s+)*",
    re.IGNORECASE,
)
_words_of_talk = frozenset(
    """
    thanks thank thx hello hey sorry maybe perhaps later nope nah yeah yep sure wait why good great fine cool never
    nevermind done okay what pardon forgot unknown anything whatever dunno please stop cancel skip next help exactly
    right correct hmm nein nicht danke
    """.split()
)
_word = re.compile(r"[^\W\d_]+[.!]?")


def may_answer(text: str) -> bool:
    """Whether it is so short that it may be what somebody asked for."""
    return 0 < len(text.strip()) <= LONGEST_ANSWER


def find(before: str, text: str) -> Iterator[Finding]:
    """What `text` tells of what the message `before` it asks for or announces."""
    said = before.rstrip()[-LONGEST_ASK:]
    ask = _sentence_end.split(said)[-1].strip()
    if not may_answer(text) or not _asks.search(ask):
        return
    start = _lead_in.match(text.lstrip())
    at = len(text) - len(text.lstrip()) + (start.end() if start else 0)
    for name in _named_in(ask):
        joined = f"{name}{text[at:]}"
        found = [
            *credentials.find(joined), *credentials.find_named(joined),
            *identity_numbers.find(joined),
        ]  # fmt: skip
        for each in found:
            begun, end = each.start - len(name) + at, each.end - len(name) + at
            word = text[begun:end]
            is_alone = text[at:].strip(" .!\n") == word
            if begun < at or (_word.fullmatch(word) and not is_alone):
                continue
            if word.lower() not in _words_of_talk:
                yield Finding(begun, end, each.label)


def _named_in(ask: str) -> Iterator[str]:
    """How the answer is read: behind the name of what is asked for."""
    for name in credentials.names(ask):
        if _of_what.match(ask, name.end()):
            if name.lastgroup == "code":
                yield "cvv is " if name[0].lower().startswith(("cv", "csc")) else "backup code is "
            else:
                yield "passphrase is " if name[0].lower().endswith("phrase") else "password is "
                yield "login "
    if _lock_code.search(ask):
        yield "door code is "
    for name in identity_numbers.names(ask):
        if _of_what.match(ask, name.end()):
            yield f"{name[0]}: "
    for name in credentials.key_names(ask):
        if _of_what.match(ask, name.start("rest")):
            yield f"{name[0][: name.start('rest') - name.start()]} "
