"""How many tokens a model makes of a text: a bound that is seldom passed and wastes little.

No vocabulary is asked: models differ, and most are not here. The costs are those that 700 blocks
of a prompt call for (talk, statements, code, JSON, German and French) under a vocabulary of 32,000
pieces, which makes more of a text than newer and larger ones do. Of none of them is the count too
low, and on average it is a tenth too high.
"""

import re
from itertools import accumulate

from memories.lexical import STOP_WORDS

# Letters by the case (two words in "TwoWords"), a digit with the space before it, signs or spaces
# in a row.
_piece = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|[ \t]?\d|[!-/:-@\[-`{-~]+|[^\w\s]|\n")
# Hundredths of a token, so that sums over the parts of a text are exact.
_TOKEN = 105
_BEYOND_ASCII = ((0x80, 50), (0x250, 95), (0x800, 110), (0x10000, 190))
_RAREST = 400  # an emoji is spelled in bytes


def tokens_of(text: str) -> int:
    """So many tokens at most; of a text in lines, no more than the sum over its lines."""
    return -(-sum(_cost(piece.group()) for piece in _piece.finditer(text)) // 100)


def start_of(text: str, most: int) -> str:
    """As much of the beginning of `text` as `most` tokens hold."""
    pieces = list(_piece.finditer(text))
    costs = accumulate(_cost(piece.group()) for piece in pieces)
    held = [piece.end() for piece, cost in zip(pieces, costs, strict=True) if cost <= 100 * most]
    return text[: held[-1]] if held else ""


def _cost(piece: str) -> int:
    if not piece.isascii():
        return 50 + sum(map(_letter, piece))
    if piece[0].isalpha():
        return _word(piece)
    if piece[-1].isdigit() or piece == "\n":
        return _TOKEN * len(piece)
    is_rule = len(set(piece)) == 1  # "-----" is one token, ");" is two signs
    return _TOKEN * (1 + len(piece) // 6 if is_rule else (len(piece) + 1) // 2)


def _word(word: str) -> int:
    """Common words are one token; names, and what is written large, are several."""
    size = len(word)
    if size == 1 or word.lower() in STOP_WORDS:
        return _TOKEN
    if word[0].islower():
        return _TOKEN + 13 * max(0, size - 3)
    return 58 * size if word.isupper() else 75 + 22 * size


def _letter(letter: str) -> int:
    return next((cost for end, cost in _BEYOND_ASCII if ord(letter) < end), _RAREST)
