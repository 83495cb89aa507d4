"""An expression that is tried only where a quicker, wider one fits.

The expressions here have many branches and look around themselves: Python takes long for them and
RE2 takes them not. Without what they look around for, RE2 tells in one pass that there is nothing.
"""

import re
from collections.abc import Iterator
from typing import Any

import re2

MEMORY = 32 << 20  # bytes that one compiled expression may take
_around = ("(?=", "(?!", "(?<=", "(?<!")
_bounded = re.compile(r"\{(\d+),\d+\}")
# Python reads these as Unicode, RE2 as ASCII.
_unicode = {r"\w": r"\pL\pN_", r"\d": r"\pN", r"\s": r"\s\pZ"}


class Form:
    """As a compiled expression of `re`, for texts of a few thousand characters."""

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
    """An expression of RE2 that fits wherever `regex` does: it looks around itself nowhere, and
    repeats without end."""
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
