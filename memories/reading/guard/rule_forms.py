"""Building blocks of the guard's rules: a place that holds a secret or an order, and an expression
that is tried only where a quicker, wider one fits."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import re2

Kind = Literal["secret", "order"]
SECRET: Kind = "secret"
ORDER: Kind = "order"
KINDS = (SECRET, ORDER)
# Whose words a text is: a person's own, a person's in a text addressed to nobody, an assistant's,
# or ("other") a tool's or a document's.
Whose = Literal["own", "text", "assistant", "other"]
OWN: Whose = "own"
TEXT: Whose = "text"
ASSISTANT: Whose = "assistant"
OTHER: Whose = "other"
# What a finding may be, in words for people; a workspace allows them by these names.
LABELS: dict[str, str] = {
    "password": "a password",
    "code": "a PIN or an access code",
    "key": "a key or token",
    "card": "a card number",
    "account": "a bank account",
    "identity": "an identity number",
    "order": "an order to whoever reads it",
}


MEMORY = 32 << 20  # bytes that one compiled expression may take


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A finding: `text[start:end]` must not be shown; `label` is one of LABELS."""

    start: int
    end: int
    label: str

    @property
    def kind(self) -> Kind:
        return ORDER if self.label == "order" else SECRET


def reason_of(found: Iterable[Finding]) -> str:
    """Return why a text is held, in words for people; empty if nothing was found."""
    named = dict.fromkeys(LABELS[finding.label] for finding in found)
    return f"it holds {', '.join(named)}" if named else ""


_around = ("(?=", "(?!", "(?<=", "(?<!")
_bounded = re.compile(r"\{(\d+),\d+\}")
# Python reads these as Unicode, RE2 as ASCII.
_unicode = {r"\w": r"\pL\pN_", r"\d": r"\pN", r"\s": r"\s\pZ"}


class Form:
    """An expression to use like a compiled one of `re`, for texts of a few thousand characters."""

    def __init__(self, regex: str, *, exact_case: bool = False) -> None:
        self.regex = re.compile(regex, 0 if exact_case else re.IGNORECASE)
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = MEMORY
        self._wider: Any = re2.compile(wider(regex), options)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.regex.finditer(text) if self._wider.search(text) else iter(())


def wider(regex: str) -> str:
    """Return an expression of RE2 that fits wherever `regex` does: it has no look-around, and its
    repeats have no limit."""
    parts: list[str] = []
    position, in_class = 0, ""
    while position < len(regex):
        token = regex[position : position + (2 if regex[position] == "\\" else 1)]
        if not in_class and token == "(" and regex.startswith(_around, position):
            position = _end_of_group(regex, position)
            continue
        if in_class:
            closes = token == "]" and not in_class.endswith("[")
            # What a class leaves out it leaves out more narrowly here, and so takes in more.
            wide = "" if in_class.startswith("[^") else _unicode.get(token, "")
            in_class = "" if closes else in_class + token
            parts.append(wide or token)
        elif token == "[":
            is_negated = regex.startswith("[^", position)
            in_class = "[^" if is_negated else "["
            token = in_class
            parts.append(token)
        elif token in _unicode:
            parts.append(f"[{_unicode[token]}]")
        elif token != r"\b":
            parts.append(token)
        position += len(token)
    unbounded = _bounded.sub(lambda m: "*" if m[1] == "0" else "+", "".join(parts))
    return re.sub(r"\(\?P<\w+>", "(?:", unbounded)


def _end_of_group(regex: str, start: int) -> int:
    depth, position, in_class = 0, start, False
    while True:
        sign = regex[position]
        if sign == "\\":
            position += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if not depth:
                return position + 1
        position += 1
