"""Paragraphs of a page that is given in lines: what runs on is joined, and words that were broken at
the end of a line are whole again."""

import re
from collections.abc import Iterable

LEAST_WIDTH = 35  # characters of a line of prose; what is narrower is a list or a form
LONGEST_WORD = 40
FULL, HALF = 0.75, 0.5  # of the usual width: a line as long runs on; one shorter ends its paragraph
_BREAK = re.compile("\ufffe[ \t]*\r?\n?")  # by which pdfium marks a word that goes on in the next line
_LINE = re.compile(r"\r\n?|\n")
_HYPHENATED = re.compile(r"[^\W\d_]{2,30}-[^\W\d_]{2,30}")
_BROKEN = re.compile(r"([^\W\d_]{2,30})[-\u2010\u00ad]$")
_RANGE = re.compile(r"\d[-\u2013]$")
_FIRST_WORD = re.compile(r"[^\W\d_]{2,30}")
_NEW = re.compile(r"(?:[-*\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])[ \t]")
_ENDS = (".", "!", "?", ":", ";", "\u3002")
_CLOSING = "\"')]\u201d\u2019\u00bb"


def hyphenated_in(texts: Iterable[str | None]) -> frozenset[str]:
    """Return the words with a hyphen that stand in the midst of lines: these keep it."""
    words: set[str] = set()
    for text in texts:
        words.update(word.lower() for word in _HYPHENATED.findall(text or ""))
    return frozenset(words)


def in_paragraphs(text: str, hyphenated: frozenset[str] = frozenset()) -> str:
    """Return the text with the lines of each paragraph joined. Tables, lists, verses and headings,
    whose lines are short, stay as they are."""
    lines = [line.rstrip() for line in _LINE.split(_BREAK.sub("\u00ad\n", text))]
    widths = sorted(len(line) for line in lines if line)
    usual = widths[len(widths) * 4 // 5] if widths else 0
    said: list[list[str]] = []  # the pieces of each line that is written
    last = ""  # line as it stood
    for line in lines:
        if said and last and line and _runs_on(last, line, usual):
            said[-1][-1], between = _joint(last.lstrip() if len(said[-1]) > 1 else last, line.lstrip(), hyphenated)
            said[-1] += [between, line.lstrip()]
        else:
            said.append([line])
        last = line
    return "\n".join("".join(pieces) for pieces in said).replace("\u00ad\n", "").removesuffix("\u00ad")


def _runs_on(line: str, following: str, usual: int) -> bool:
    start = following.lstrip()
    if _BROKEN.search(line[-LONGEST_WORD:]):
        return start[:1].isalpha() and (line[-1] == "\u00ad" or len(line) >= usual * HALF)
    if _RANGE.search(line[-3:]) and start[:1].isdigit():
        return True
    if usual < LEAST_WIDTH or _NEW.match(start) or _is_row(line) or _is_row(following):
        return False
    is_ended = line.rstrip(_CLOSING).endswith(_ENDS)
    if start[:1].islower() and not is_ended:
        return len(line) >= usual * HALF
    return len(line) >= usual * (FULL if not is_ended else 0.9) and line[-1:] not in "|"


def _is_row(line: str) -> bool:
    """Tell whether a line is of a table: most of its words are numbers, or there are wide gaps."""
    line, words = line.strip(), line.split()
    numbers = sum(not any(letter.isalpha() for letter in word) for word in words)
    return numbers * 2 > len(words) or "\t" in line or "   " in line or " | " in line


def _joint(before: str, after: str, hyphenated: frozenset[str]) -> tuple[str, str]:
    """Return the line before as it is written, and what stands between it and the one after."""
    if _RANGE.search(before[-3:]):
        return before, ""
    broken, word = _BROKEN.search(before[-LONGEST_WORD:]), _FIRST_WORD.match(after)
    if broken is None or word is None:
        return before, " "
    keeps = word[0][0].isupper() or f"{broken[1]}-{word[0]}".lower() in hyphenated
    return before[:-1], "-" if keeps else ""
