"""Entries of new episodes: each lends a share of its words to its neighbours'."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, compress

from memories.bounds import AT_ONCE, BESIDE
from memories.english import lexical
from memories.index import due, entries, speakers, statements
from memories.index.inserts import New
from memories.index.workspace_index import embedder_of
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


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the index needs of new messages and takes time to make. None for vectors that are due,
    and for keys that hang on a message's neighbours; those of a text that is too long to be
    waited for are `entries.UNMADE`, and due as well."""

    vectors: Sequence[entries.Vectors | None] | None
    keys: Sequence[entries.Keys | None]

    def of(self, chosen: Sequence[int]) -> "Prepared":
        vectors = None if self.vectors is None else [self.vectors[at] for at in chosen]
        return Prepared(vectors, [self.keys[at] for at in chosen])


def prepare(space: WorkspaceIndex, texts: Sequence[str]) -> Prepared:
    """Before the transaction: others wait for its locks."""
    ends = accumulate(len(text) for text in texts)
    now = [end <= AT_ONCE for end in ends]
    keys = [_keys(space, text, is_now) for text, is_now in zip(texts, now, strict=True)]
    if embedder_of(space).is_remote:
        return Prepared(None, keys)
    made = iter(due.embed(space, [entries.texts_of(text) for text in compress(texts, now)]))
    return Prepared([next(made) if is_now else None for is_now in now], keys)


def _keys(space: WorkspaceIndex, text: str, is_now: bool) -> entries.Keys | None:
    if len(text) <= BESIDE:
        return None
    return entries.keys_of_episode(space.number, text) if is_now else entries.UNMADE


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
    prepared: Prepared,
    *,
    beside: Sequence[New],
) -> None:
    """Entries of new episodes, which follow the `tail` of their conversation; and what is written
    `beside` them."""
    before = tail.last if made else ()
    texts = [*(text for _, text in before), *(episode.content for episode in made)]
    stems = [lexical.lent(text) for text in texts]
    items = []
    for at, (episode, keys) in enumerate(zip(made, prepared.keys, strict=True), len(before)):
        counts = {} if keys else _document(stems, at)
        items.append(replace(entries.episode_item(episode, counts), keys=keys))
    entries.write(space, items, prepared.vectors, beside=beside)
    if made:
        speakers.count_new(space, made[0].subject_id, made)
    if before and len(before[-1][1]) <= BESIDE:
        at = len(before) - 1
        entries.reweigh(space, Layer.EPISODES, before[-1][0], _document(stems, at))


def _document(stems: Sequence[Sequence[str]], at: int) -> dict[str, float]:
    previous = stems[at - 1] if at else ()
    following = stems[at + 1] if at + 1 < len(stems) else ()
    return lexical.index_stems(stems[at], previous, following)
