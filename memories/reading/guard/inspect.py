"""All findings in one text, less what a workspace allows: also a secret that spans two messages,
where one asks for or announces what the other tells."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from memories.reading.guard import credentials, identity_numbers, orders
from memories.reading.guard.rule_forms import OTHER, OWN, Finding, Whose

MASK = "[masked]"
PIECE = 2_000  # characters that are looked at together
_digit = re.compile(r"\d")
_line_end = re.compile(r"[.!?]?\s")


def findings(text: str, whose: Whose = OWN, allowed: Collection[str] = (), *, before: str = "") -> list[Finding]:
    """Return the places in `text`, in their order, none inside another. In the words of an
    assistant, a tool or a document, less is needed for an order than in a person's own. `allowed`
    labels are passed over. `before` is the message that `text` may answer or end."""
    found = [*credentials.find_blocks(text), *find_answer(before, text)]
    for start, piece in _pieces(text):
        of_piece = [
            *credentials.find_keys(piece),
            *credentials.find_named(piece),
            *(identity_numbers.find(piece) if _digit.search(piece) else ()),
            *credentials.find(piece),
            *orders.find(piece, whose),
        ]
        found += [Finding(f.start + start, f.end + start, f.label) for f in of_piece]
    # Overlapping findings count as one, named after the first of them.
    merged: list[Finding] = []
    not_allowed = (finding for finding in found if finding.label not in allowed)
    for finding in sorted(not_allowed, key=lambda each: (each.start, -each.end)):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Finding(last.start, max(last.end, finding.end), last.label)
        else:
            merged.append(finding)
    return merged


def words_in(value: Any, whose: Whose = OTHER, allowed: Collection[str] = ()) -> list[str]:
    """Return the words of a JSON value to be masked: findings in any of its texts, and secrets that
    are known by the name they stand under."""
    if not value:
        return []
    found = []
    if not isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False, default=str)
        named = findings(written, whose, [*allowed, "order"])
        found += [written[each.start : each.end] for each in named]
    for text in _texts_in(value):
        found += [text[each.start : each.end] for each in findings(text, whose, allowed)]
    return found


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each)


def masked(text: str, places: Iterable[Finding]) -> str:
    """Return `text` with a mark in place of each finding; `places` as `findings` gives them."""
    parts, position = [], 0
    for place in places:
        parts += [text[position : place.start], MASK]
        position = place.end
    return "".join([*parts, text[position:]])


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield `text` in stretches of about PIECE characters, cut between lines if there are any."""
    start = 0
    while len(text) - start > PIECE:
        end = text.rfind("\n", start + PIECE // 2, start + PIECE) + 1
        if not end:
            cut = _line_end.search(text, start + PIECE - 200, start + 5 * PIECE)
            end = cut.end() if cut else min(len(text), start + 5 * PIECE)
        yield start, text[start:end]
        start = end
    yield start, text[start:]


LONGEST_ASK, LONGEST_ANSWER = 300, 120  # characters
_sentence_end = re.compile(r"[.!?\n]\s+")
# Asks for the thing itself; not when it was changed, or whether there is one.
_asks = re.compile(
    r"^(?!(?:when|where|why|who|how|did|do|does|have|has|is|are|was|were|should)\b)[^\n]*\?$"
    r"|^[^\n]*\b(?:enter|tell|give|send|share|provide|type|need|want|say|what(?:'s| is))\b[^\n]*$"
    r"|(?::|=|\b(?:is|are|was)|'s)$",
    re.IGNORECASE,
)
# After its name: what it is for. "password manager" and "PIN pad" are other things.
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
    """Tell whether a text is short enough to be what somebody asked for."""
    return 0 < len(text.strip()) <= LONGEST_ANSWER


def find_answer(before: str, text: str) -> Iterator[Finding]:
    """Yield the secrets in `text` that the message `before` it asks for or announces."""
    said = before.rstrip()[-LONGEST_ASK:]
    ask = _sentence_end.split(said)[-1].strip()
    if not may_answer(text) or not _asks.search(ask):
        return
    start = _lead_in.match(text.lstrip())
    at = len(text) - len(text.lstrip()) + (start.end() if start else 0)
    for name in _named_in(ask):
        joined = f"{name}{text[at:]}"
        found = [
            *credentials.find(joined),
            *credentials.find_named(joined),
            *identity_numbers.find(joined),
        ]
        for each in found:
            begun, end = each.start - len(name) + at, each.end - len(name) + at
            word = text[begun:end]
            is_alone = text[at:].strip(" .!\n") == word
            if begun < at or (_word.fullmatch(word) and not is_alone):
                continue
            if word.lower() not in _words_of_talk:
                yield Finding(begun, end, each.label)


def _named_in(ask: str) -> Iterator[str]:
    """Yield the words to read an answer behind: the names of what is asked for."""
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
