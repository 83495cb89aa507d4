"""Words that are not their message's own: what this server had told, what others say in it, what is said in play."""

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from memories.belief import touches
from memories.index import people_by_name
from memories.language import bounds
from memories.language.english import clauses, frames, lexical, pasted_text
from memories.language.english.speaker_labels import SIGN
from memories.models import Episode, Memory, WorkspaceIndex
from memories.reading.extraction import Message, Span, with_voices, without_play
from workspaces.scope import Scope

# What this server had told is not learned a second time: assistants repeat what they were served,
# and prompts carry it. Sentences of theirs that say what a memory says, and blocks that mark served
# memories in anybody's message, are not read again. A person who says the same again is heard.

SHORTEST = 3  # characters
MOST_PIECES = 2_000  # of one message; no answer of an assistant has as many sentences


def mark_own_output(
    messages: Sequence[Message], asker: Callable[[], Scope], own: Collection[uuid.UUID] = ()
) -> list[Message]:
    """Return the messages, each with the places in it that were served before.

    `asker` is whoever sent them: only what they may see can have been served to them. It is
    called, and the database asked, only where a message is not a person's. `own` are memories
    that were made of these very messages: they were not served when these were sent.
    """
    pieces = [() if m.kind in Episode.OF_PEOPLE else tuple(_pieces(bounds.start_of(m.text))) for m in messages]
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
        spans = (*pasted_text.served_blocks(message.text), *served)
        marked.append(replace(message, served=spans) if spans else message)
    return marked


def _pieces(text: str) -> Iterator[tuple[Span, bytes]]:
    """Yield the sentences and lines of `text`, and the whole of it, each with its fingerprint."""
    lines, start = [], 0
    for line in text.splitlines(keepends=True):
        body = line.lstrip(" \t-*•>")
        lines.append((start + len(line) - len(body), start + len(line.rstrip())))
        start += len(line)
    spans = dict.fromkeys([*clauses.sentences(text), *lines, (0, len(text))])
    for start, end in list(spans)[:MOST_PIECES]:
        if end - start >= SHORTEST:
            yield (start, end), lexical.fingerprint(text[start:end])


def mark_others(
    space: WorkspaceIndex, messages: Sequence[Message], before: Sequence[Message]
) -> tuple[list[Message], bool]:
    """Return the messages, each with the places of others' words and of what is said in a role-play, and whether that
    goes on behind them."""
    marked, in_play = list(messages), any(message.is_played for message in before[-1:])
    if any(SIGN.search(message.text) for message in marked):
        marked = with_voices(marked, before, partial(people_by_name.known_names, space))
    if in_play or any(frames.OPENS.search(bounds.start_of(message.text)) for message in marked):
        return without_play(marked, in_play=in_play)
    return marked, False


def spare_judge(messages: Sequence[Message]) -> None:
    """Leave to the rules the messages in which others speak or a part is played: the judge reads sentence by sentence,
    and does not know whose it is. In the transaction that writes what was read of them."""
    if aside := [message.id for message in messages if message.voices or message.is_played]:
        touches.take_back([(one, (0, bounds.READ_CHARACTERS)) for one in aside], "")
        Episode.objects.filter(pk__in=aside).update(judge_attempts=None)
