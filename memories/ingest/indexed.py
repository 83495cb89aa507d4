"""Entries of new episodes: each lends a share of its words to its neighbours'."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memories import lexical
from memories.bounds import BESIDE
from memories.indexing import entries, speakers, statements
from memories.indexing.inserts import New
from memories.models import Episode, Layer, WorkspaceIndex

TAIL = """
select id, left(content, %(most)s) as content,
       (select max(position) + 1 from memories_episode
        where conversation_id = %(conversation)s) as positions
from memories_episode where conversation_id = %(conversation)s
order by occurred_at desc, position desc limit 2
"""


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a conversation: how many positions it has, and its last two episodes' ids and
    words, oldest first: one to borrow from, one to lend. Of a long one, more than it can lend."""

    positions: int
    last: tuple[tuple[uuid.UUID, str], ...]


def tail_of(conversation_id: uuid.UUID | None) -> Tail:
    if conversation_id is None:
        return Tail(0, ())
    found = statements.rows(TAIL, {"conversation": conversation_id, "most": BESIDE + 1})
    last = tuple((row.id, row.content) for row in reversed(found))
    return Tail(found[0].positions if found else 0, last)


def index(
    space: WorkspaceIndex,
    made: list[Episode],
    tail: Tail,
    vectors: Sequence[entries.Vectors | None] | None,
    *,
    beside: Sequence[New],
) -> None:
    """Entries of new episodes, which follow the `tail` of their conversation; and what is written
    `beside` them."""
    before = tail.last if made else ()
    texts = [*(text for _, text in before), *(episode.content for episode in made)]
    stems = [lexical.lent(text) for text in texts]
    items = []
    for at, episode in enumerate(made, start=len(before)):
        is_long = len(texts[at]) > BESIDE
        counts = lexical.document(texts[at]) if is_long else _document(stems, at)
        items.append(entries.episode_item(episode, counts))
    entries.write(space, items, vectors, beside=beside)
    if made:
        speakers.heard(space, made[0].subject_id, made)
    if before and len(before[-1][1]) <= BESIDE:
        at = len(before) - 1
        entries.reweigh(space, Layer.EPISODES, before[-1][0], _document(stems, at))


def _document(stems: Sequence[Sequence[str]], at: int) -> dict[str, float]:
    previous = stems[at - 1] if at else ()
    following = stems[at + 1] if at + 1 < len(stems) else ()
    return lexical.index_stems(stems[at], previous, following)
