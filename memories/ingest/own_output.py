"""Served text that comes back: what this server had told is not learned a second time.

Assistants repeat what they were served, and prompts carry it. Sentences of theirs that say what
a memory says, and blocks that mark served memories in anybody's message, are not read again. A
person who says the same again is heard.
"""

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from memories import bounds
from memories.english import clauses, lexical, unspoken
from memories.extraction import Message, Span
from memories.models import Episode, Memory
from workspaces.scope import Scope

HUMAN = (Episode.Kind.USER, Episode.Kind.TEXT, Episode.Kind.ACTIVITY)
SHORTEST = 3  # characters
MOST_PIECES = 2_000  # of one message; no answer of an assistant has as many sentences


def mark_own_output(
    messages: Sequence[Message], asker: Callable[[], Scope], own: Collection[uuid.UUID] = ()
) -> list[Message]:
    """The messages, each with the places in it that were served before.

    `asker` is whoever sent them: only what they may see can have been served to them. It is
    called, and the database asked, only where a message is not a person's. `own` are memories
    that were made of these very messages: they were not served when these were sent.
    """
    pieces = [() if m.kind in HUMAN else tuple(_pieces(bounds.start_of(m.text))) for m in messages]
    marks = {mark for each in pieces for _, mark in each}
    known: set[bytes] = set()
    if any(pieces):
        live = Memory.objects.visible_to(asker()).exclude(pk__in=own)
        # Heads, not only what is live: what has expired may have been served before it did.
        live = live.filter(is_head=True)
        rows = live.filter(fingerprint__in=marks).values_list("fingerprint", flat=True)
        known = {bytes(each) for each in rows}
    marked = []
    for message, pairs in zip(messages, pieces, strict=True):
        served = [span for span, mark in pairs if mark in known]
        spans = (*unspoken.served_blocks(message.text), *served)
        marked.append(replace(message, served=spans) if spans else message)
    return marked


def _pieces(text: str) -> Iterator[tuple[Span, bytes]]:
    """Sentences and lines of `text`, and the whole of it, with what they say as a fingerprint."""
    spans = dict.fromkeys([*clauses.sentences(text), *_lines(text), (0, len(text))])
    for start, end in list(spans)[:MOST_PIECES]:
        if end - start >= SHORTEST:
            yield (start, end), lexical.fingerprint(text[start:end])


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.splitlines(keepends=True):
        body = line.lstrip(" \t-*•>")
        yield start + len(line) - len(body), start + len(line.rstrip())
        start += len(line)
