"""Upper bounds for the number of tokens that a model makes of a text.

Counted in the 32,000 pieces of the embedded embedder's vocabulary, which makes more of a text than
newer and larger ones do. Without its wheel, a bound is computed, from the costs that 700 blocks of
a prompt (talk, statements, code, JSON, German and French) have in these pieces. On average that is
a tenth too high; names and languages that were not among them cost more.
"""

import re
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from memories.language.english.lexical import STOP_WORDS
from memories.providers import local_embedder

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

# Letters by case (two words in "TwoWords"), a digit with the space before it, signs or spaces in a
# row.
_piece = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|[ \t]?\d|[!-/:-@\[-`{-~]+|[^\w\s]|\n")
# Hundredths of a token, so that sums over the parts of a text are exact.
_TOKEN = 105
_BEYOND_ASCII = ((0x80, 50), (0x250, 95), (0x800, 110), (0x10000, 190))
_RAREST = 400  # an emoji is spelled in bytes
# A longer text is counted in parts: a megabyte at once would take 100 MB.
_AT_ONCE = 8_000
_LONGEST = 32  # characters of a piece
# Counted as text after a line end, which takes two pieces: a word that begins a line may take more
# of them than one after a space. The other is for a first piece that is the space alone.
_BEFORE = 1
# No piece of the vocabulary contains a line end, or a space after another sign: what begins with
# spaces has the same number of tokens in any text. The numbers of short words are cached.
_word = re.compile(r"\n|[ ▁]+[^ ▁\n]*|[^ ▁\n]+")
_special = re.compile("<(?:unk|/?s)>")  # to the tokenizer signs of their own, with no space behind
_KEPT = 2**14


def tokens_of(text: str) -> int:
    """Return an upper bound; for a text in lines, no more than the sum over its lines."""
    if _vocabulary() is None:
        return bound_of(text)
    return sum(_tokens_of_part(text[at : at + _AT_ONCE]) for at in range(0, len(text), _AT_ONCE))


def start_of(text: str, most: int) -> str:
    """Return the beginning of `text` that fits into `most` tokens."""
    known = _vocabulary()
    if known is None:
        return bounded_start_of(text, most)
    ends: list[int] = []
    for at in range(0, min(len(text), most * _LONGEST), _AT_ONCE):
        ends += [at + end for _, end in _encoded(known, text[at : at + _AT_ONCE]).offsets]
        if len(ends) >= most:
            break
    starts = (text[:end] for end in reversed(ends[:most]))
    return next((start for start in starts if tokens_of(start) <= most), "")


@cache
def _vocabulary() -> "Tokenizer | None":
    return local_embedder.vocabulary()


def _tokens_of_part(text: str) -> int:
    if _special.search(text):
        return _BEFORE + _tokens_behind_line(text)
    words = _word.findall(text)
    short = [word for word in words if len(word) <= _LONGEST]
    rest = [word for word in words if len(word) > _LONGEST] if len(short) < len(words) else []
    return _BEFORE + sum(map(_tokens_of_word, short)) + sum(map(_tokens_behind_line, rest))


def _tokens_behind_line(text: str) -> int:
    known = _vocabulary()
    return len(_encoded(known, f"\n{text}").ids) - 2 * _BEFORE if known else bound_of(text)


_tokens_of_word = lru_cache(maxsize=_KEPT)(_tokens_behind_line)


def _encoded(known: "Tokenizer", text: str) -> "Encoding":
    return known.encode(text, add_special_tokens=False)


def bound_of(text: str) -> int:
    """`tokens_of` without a vocabulary."""
    return -(-sum(_cost(piece.group()) for piece in _piece.finditer(text)) // 100)


def bounded_start_of(text: str, most: int) -> str:
    """`start_of` without a vocabulary."""
    pieces = list(_piece.finditer(text))
    costs = accumulate(_cost(piece.group()) for piece in pieces)
    held = [piece.end() for piece, cost in zip(pieces, costs, strict=True) if cost <= 100 * most]
    return text[: held[-1]] if held else ""


def _cost(piece: str) -> int:
    if not piece.isascii():
        costs = (next((cost for end, cost in _BEYOND_ASCII if ord(letter) < end), _RAREST) for letter in piece)
        return 50 + sum(costs)
    if piece[0].isalpha():
        # Common words are one token; names and capitalized words are several.
        size = len(piece)
        if size == 1 or piece.lower() in STOP_WORDS:
            return _TOKEN
        if piece[0].islower():
            return _TOKEN + 13 * max(0, size - 3)
        return 58 * size if piece.isupper() else 75 + 22 * size
    if piece[-1].isdigit() or piece == "\n":
        return _TOKEN * len(piece)
    is_rule = len(set(piece)) == 1  # "-----" is one token, ");" is two signs
    return _TOKEN * (1 + len(piece) // 6 if is_rule else (len(piece) + 1) // 2)
