"""Tables of Markdown, and words of the code in it."""

import re
from collections.abc import Iterable, Sequence

CODE = re.compile(r"(`[^`]*`)")


def plain(text: str) -> str:
    """One line in which no `<word>` is taken for a tag, but in code."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def cell(text: str) -> str:
    """Words as they stand in one cell of a table."""
    return plain(text).replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
