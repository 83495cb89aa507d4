"""Stored words as a line among others: none of them can pass for a line, a mark or a tag of the
block that they stand in, however they are spelt."""

import re
import unicodedata
from functools import lru_cache
from typing import Any

LONGEST_NAME = 80  # characters
# Signs that nobody sees: of control and of format, and marks that stand on other signs.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Mn", "Me"})
BLANK = frozenset("\u115f\u1160\u2800")  # letters and signs without ink
# Signs that read as another one, and are not made so by compatibility.
BRACKETS = {**dict.fromkeys("⁅【〔〖〘〚⟦⟬❲⦋⦍⦏", "["), **dict.fromkeys("⁆】〕〗〙〛⟧⟭❳⦌⦎⦐", "]")}
READS_AS = str.maketrans({**BRACKETS, "‹": "<", "˂": "<", "›": ">", "˃": ">"})
# Letters of other scripts that read as those of our marks.
LETTERS = str.maketrans("аɑαесѕмԝѡωуүγуӏ", "aaaecsmwwwyyyyl")
_opens = re.compile("[\\[<［﹇＜﹤⁅【〔〖〘〚⟦⟬❲⦋⦍⦏‹˂]")

_tag = re.compile(r"<(?=[/!?|a-z]|\s+/?\s*[a-z][^<>]{0,80}>)")
_own_tag = re.compile(r"<(?=[^<>a-z]{0,8}(?:memories|context))")
# A bracket with the word of a wish; with numbers of lines ("m1", "e2 m3"); with a date.
_mark = re.compile(
    r"\[(?=([^\]]{0,40}(?<![a-z])a[li1|]ways(?![a-z])[^\[\]]{0,40}\]?"
    r"|[^\]a-z0-9]{0,20}[a-z]{1,2}\d{1,4}"
    r"(?:[^\[\]a-z0-9]+[a-z0-9]{1,20})*[^\[\]a-z0-9]*\]"
    r"|[^\]a-z0-9]{0,20}\d{4}-\d\d-\d\d))"
)
_number = re.compile(r"\[(?=([^\]a-z0-9]{0,20}\d{1,4}(?:[^\[\]a-z0-9]{1,4}\d{1,4}){0,20}[^\[\]a-z0-9]{0,20}\]))")
_structure = re.compile(r"[\[\]<>:#*`|]")


def one_line(text: str) -> str:
    """Return all of `text` in one line."""
    return _broken(" ".join(text.split()), _mark, tag=_tag)


def indented(text: str) -> str:
    """Return `text` in its own lines, all but the first of which begin with blanks."""
    return _broken("\n  ".join(text.splitlines()), _mark, tag=_tag)


def name(text: str) -> str:
    """Return a speaker's name without signs of structure, so that the colon after it ends it."""
    plain = "".join(" " if _structure.search(_read(sign)) else sign for sign in text)
    return " ".join(plain.split())[:LONGEST_NAME]


def data(value: Any) -> Any:
    """Return a value of JSON for a model to read: none of its texts and names holds a mark or the
    tag of a block."""
    if isinstance(value, str):
        return _broken(value, _mark, tag=_own_tag)
    if isinstance(value, list):
        return [data(each) for each in value]
    if isinstance(value, dict):
        return {data(key): data(each) for key, each in value.items()}
    return value


def source(text: str) -> str:
    """Return words of one of several numbered sources: nothing in them can pass for a number."""
    return _broken(text, _mark, _number, tag=_own_tag)


def _broken(text: str, *marks: re.Pattern[str], tag: re.Pattern[str]) -> str:
    """Return `text` with its marks in round brackets, and its tags opened with an entity.

    It is compared as it reads: without invisible signs, with wide and other forms as plain ones.
    """
    if not _opens.search(text):
        return text
    # The text as it reads, in lower case, and the place in `text` of each of its signs.
    parts = [_read(sign) for sign in text]
    read, places = "".join(parts), [at for at, part in enumerate(parts) for _ in part]
    signs: dict[int, str] = {places[found.start()]: "&lt;" for found in tag.finditer(read)}
    letters = read.translate(LETTERS)
    for mark in marks:
        for found in mark.finditer(letters):
            signs[places[found.start()]] = "("
            if letters[found.end(1) - 1] == "]":
                signs[places[found.end(1) - 1]] = ")"
    if not signs:
        return text
    return "".join(signs.get(at, sign) for at, sign in enumerate(text))


@lru_cache(maxsize=4_096)
def _read(sign: str) -> str:
    if sign.isspace():
        return " "
    plain = unicodedata.normalize("NFKD", sign).translate(READS_AS).lower()
    seen = (one for one in plain if unicodedata.category(one) not in UNSEEN and one not in BLANK)
    return "".join(seen)
