"""Cuts of a long text: passages that say one thing, and pieces that fit into one model request."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memories.providers.prompts import ExtractionRequest, PromptMessage

PASSAGE = 420
MOST_PASSAGES = 32_000  # of one text; a part's number is a smallint
PIECE = 24_000  # characters of messages in one request to a model
OVERLAP = 2  # messages that a piece has in common with the one before
PART = PIECE * 3 // 4  # of a message that is longer than a piece; what is carried fits beside it
SHARED = 1_000  # characters that a part has in common with the one before
_ENDS = re.compile(r"(?<=[.!?:])\s+|\n+")
# Where a text is cut, the best place first: between paragraphs, lines, sentences, words
_BOUNDS = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"(?<=[.!?])\s+|(?<=[。！？])", r"\s+")))


def passages(text: str, size: int = PASSAGE) -> list[str]:
    """Passages of about `size` characters, cut at sentences and lines; [] for a short text.

    A text up to 1.4 times `size` is its own passage: the embedding of the whole serves.
    """
    if len(text) <= size * 1.4:
        return []
    # Two neighbours together are longer than `size`: so there cannot be more.
    size = max(size, 2 * len(text) // MOST_PASSAGES)
    found, current = [], ""
    for sentence in _ENDS.split(text):
        # A sentence without an end (a log, base64) is cut hard, so that no passage is endless.
        for start in range(0, len(sentence), size * 3):
            piece = sentence[start : start + size * 3].strip()
            if piece and current and len(current) + len(piece) > size:
                found.append(current)
                current = ""
            current = f"{current} {piece}".strip()
    return [*found, current] if current else found


# ---- what a model reads in one request


def pieces(request: ExtractionRequest) -> Iterator[ExtractionRequest]:
    """Cut a long request between messages; a piece begins with the last messages of the one before.
    Only a message longer than a piece is cut itself."""
    current: list[PromptMessage] = []
    fresh = 0
    # Each message as it is; one longer than a piece is split into parts with words in common.
    parts = (
        replace(whole, text=whole.text[start:end], start=start) if len(whole.text) > PIECE else whole
        for whole in request.messages
        for start, end in spans(whole.text, PART if len(whole.text) > PIECE else PIECE, SHARED)
    )
    for message in parts:
        if fresh and _size(current) + len(message.text) > PIECE:
            yield replace(request, messages=tuple(current))
            # The last messages, as many as leave the next piece most of its room.
            tails = (current[-number:] for number in range(OVERLAP, 0, -1))
            current = next((tail for tail in tails if _size(tail) <= PIECE // 4), [])
            fresh = 0
        current.append(message)
        fresh += 1
    if fresh:
        yield replace(request, messages=tuple(current))


def _size(messages: Sequence[PromptMessage]) -> int:
    return sum(len(message.text) for message in messages)


def spans(text: str, size: int, shared: int) -> Iterator[tuple[int, int]]:
    """The spans of parts of at most `size` characters, which cover `text` and end between
    paragraphs, else lines, sentences or words; each begins up to `shared` characters before the end
    of the one before, `shared` being less than half of `size`."""
    start = 0
    while len(text) - start > size:
        low, high = start + size // 2, start + size
        lasts = ([m.end() for m in form.finditer(text, low, high)] for form in _BOUNDS)
        end = next((ends[-1] for ends in lasts if ends), high)
        yield start, end
        firsts = (form.search(text, end - shared, end - 1) for form in _BOUNDS[1:])
        start = next((m.end() for m in firsts if m and m.end() < end), end - shared)
    yield start, len(text)
