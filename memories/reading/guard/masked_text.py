"""Masked words: each of their characters becomes a full block, so that every place in the text
stays where it was."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

BLOCK = "█"
Span: TypeAlias = tuple[int, int]
LONGEST_NAME = 200  # characters of a title that a text gave
_runs = re.compile(f"{BLOCK}+")
ESCAPES = (("~", "~0"), ("/", "~1"))  # of a JSON pointer


def masked(text: str, spans: Iterable[Span]) -> str:
    """`text` with blocks in place of the spans, which may overlap; its length stays."""
    signs = list(text)
    for start, end in spans:
        signs[start:end] = BLOCK * (min(end, len(signs)) - start)
    return "".join(signs)


def unmasked(text: str, taken: Sequence[tuple[int, str]]) -> str:
    """The text as it was before the words at these places were masked, in this order."""
    signs = list(text)
    for start, words in reversed(taken):
        signs[start : start + len(words)] = words
    return "".join(signs)


def without_masked(text: str, other: str) -> str:
    """`text` with blocks wherever `other` has them; unchanged where their lengths differ."""
    if len(text) != len(other):
        return text
    return masked(text, [run.span() for run in _runs.finditer(other)])


def is_all_masked(text: str) -> bool:
    return not text.strip(f"{BLOCK} \n")


def is_masked(text: str) -> bool:
    return BLOCK in text


def without_words(value: Any, words: Iterable[str]) -> Any:
    """A JSON value whose texts have blocks wherever one of `words` stands."""
    if isinstance(value, str):
        for each in words:
            value = value.replace(each, BLOCK * len(each))
        return value
    if isinstance(value, list):
        return [without_words(each, words) for each in value]
    if isinstance(value, dict):
        return {key: without_words(each, words) for key, each in value.items()}
    return value


def with_words(name: str, words: Sequence[str]) -> str:
    """A short text in which each run of blocks becomes the first of `words` with its length."""
    lengths = {len(each): each for each in reversed(words)}
    return _runs.sub(lambda run: lengths.get(len(run[0]), run[0]), name)


def in_names(words: Iterable[str]) -> list[str]:
    """Return the forms that words take in titles and headings: on one line, and shortened."""
    found: dict[str, None] = {}
    for each in words:
        line = " ".join(each.split())
        found |= dict.fromkeys((each, line, line[:LONGEST_NAME]))
    return sorted(found, key=len, reverse=True)


def places_of(value: Any, words: Sequence[str], pointer: str = "") -> Iterator[tuple[str, Span]]:
    """Find `words` in the texts of a JSON value: JSON pointer, start and end there."""
    if isinstance(value, str):
        for each in words:
            start = value.find(each)
            while start >= 0:
                yield pointer, (start, start + len(each))
                start = value.find(each, start + len(each))
    elif isinstance(value, list | dict):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            yield from places_of(each, words, f"{pointer}/{escaped(str(key))}")


def escaped(name: str) -> str:
    """A key as a JSON pointer writes it."""
    for sign, escape in ESCAPES:
        name = name.replace(sign, escape)
    return name


def text_at(value: Any, pointer: str) -> str:
    """The text at a JSON pointer; "" is the value itself. Raises LookupError."""
    text = value
    for name in _names(pointer):
        text = text[int(name)] if isinstance(text, list) else text[name]
    if not isinstance(text, str):
        raise LookupError(pointer)
    return text


def with_text_at(value: Any, pointer: str, text: str) -> Any:
    """A JSON value with `text` at the pointer instead of the old text; `value` stays unchanged."""
    if not pointer:
        return text
    name, *rest = _names(pointer)
    below = "".join(f"/{each}" for each in pointer.split("/")[2:]) if rest else ""
    if isinstance(value, list):
        at = int(name)
        return [*value[:at], with_text_at(value[at], below, text), *value[at + 1 :]]
    return {**value, name: with_text_at(value[name], below, text)}


def _names(pointer: str) -> list[str]:
    names = pointer.split("/")[1:]
    for sign, escape in reversed(ESCAPES):
        names = [name.replace(escape, sign) for name in names]
    return names
