"""Stored words as a line among others: none of them can pass for a line, a mark or a tag of the
block that they stand in."""

import re

LONGEST_NAME = 80  # characters
_tag = re.compile(r"<(?=[/!?|a-z]|\s+/?\s*[a-z][^<>]{0,80}>)", re.IGNORECASE)
_mark = re.compile(
    r"\[(?=\s*[a-z]{1,2}\d{1,4}(?:\s+[a-z]\w{0,8})*\s*\]|\d{4}-\d\d-\d\d)", re.IGNORECASE
)
_structure = re.compile(r"[\[\]<>:#*`|]+")


def one_line(text: str) -> str:
    """All of `text` in one line."""
    return _mark.sub("[ ", without_tags(" ".join(text.split())))


def indented(text: str) -> str:
    """`text` in its own lines, all but the first of which begin with blanks."""
    return _mark.sub("[ ", without_tags("\n  ".join(text.splitlines())))


def name(text: str) -> str:
    """A speaker's name, which ends where a colon follows it."""
    return " ".join(_structure.sub(" ", text).split())[:LONGEST_NAME]


def without_tags(text: str) -> str:
    return _tag.sub("&lt;", text)
