"""Python runs this at the start of a process whose lines are counted (see `measured` in
tests/live_server.py): coverage.py does not look while an expression is compiled. There are over a
thousand, each made by thousands of calls of the standard library, none of which counts: with them
a server's start took twice its time."""

import re
import sys
from re import _compiler
from typing import Any

compiled = _compiler.compile


def unseen(pattern: Any, flags: int = 0) -> "re.Pattern[Any]":
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return compiled(pattern, flags)
    finally:
        sys.settrace(tracer)


_compiler.compile = unseen
