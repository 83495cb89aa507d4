"""Expressions that people write, compiled by RE2, which none of them can hang.

RE2 takes time linear in the text for every expression.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

LONGEST_REGEX = 2_000
MEMORY = 4 << 20  # bytes that one compiled expression may take


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a person's input, and the field that has it."""

    field: str
    message: str


@lru_cache(maxsize=512)
def compiled(regex: str) -> Any:
    """Compile, ignoring case. Raises ValueError, in words for people, where RE2 refuses it."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        said = error.args[0] if error.args else "not understood"
        raise ValueError(said.decode() if isinstance(said, bytes) else str(said)) from error


def regex_faults(regex: str) -> list[Fault]:
    """List the reasons why an expression cannot be used; [] if it can."""
    try:
        expression = compiled(regex)
    except ValueError as error:
        return [Fault("regex", f"RE2 does not take it: {error}")]
    if expression.search("") is not None:
        return [Fault("regex", "It fits everything: it must ask for at least one character.")]
    return []
