"""Expressions that people write: compiled by RE2, which none of them can hang.

RE2 takes time linear in the text whatever the expression.
"""

from functools import lru_cache
from typing import Any

import re2

LONGEST_REGEX = 2_000
MEMORY = 4 << 20  # bytes that one compiled expression may take


@lru_cache(maxsize=512)
def compiled(regex: str) -> Any:
    """Whatever the case. Raises ValueError, in words for people, where RE2 does not take it."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        said = error.args[0] if error.args else "not understood"
        raise ValueError(said.decode() if isinstance(said, bytes) else str(said)) from error
