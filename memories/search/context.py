"""What answers a question, packed into a token budget as a block of text that goes into a prompt as
it stands: the person's standing wishes, and the messages that answer, with what is believed of
them.

The block's tag is one that the gatekeeper passes over: what was served is not learned again.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from memories.english import gatekeeper, lexical
from memories.models import Memory, WorkspaceIndex
from memories.ranking import asks_in_time
from memories.search import (
    LAYERS,
    Hit,
    SearchRequest,
    after_ranking,
    search,
)
from memories.search.confidence import FLOOR, FLOOR_OF_FEW, is_noise
from memories.search.context_lines import (
    AS_ASKED,
    KEPT,
    SHORT,
    ContextEntry,
    head,
    lines,
    said_of,
    size,
    tail,
)
from memories.search.hits import rows_of
from memories.search.standing import standing_entries
from memories.tokens import tokens_of
from workspaces.scope import Scope

FIRST = 3  # lines that are told however little there is to say for them
PACKED = ("memories", "episodes", "chunks")  # layers, if nobody says others
LEAST, USUAL, MOST = 50, 1_000, 32_000  # tokens
STANDING_SHARE = 4  # wishes have a quarter of the budget, and what answers leaves over
PRIVATE = "private"  # why something was forgotten
SHORTEST = 12  # tokens of a line: there are no more than so many lines
LONGEST_TAIL = dict.fromkeys(LAYERS, 999)
# What a message may be and tell nothing of its own; see gatekeeper.
EMPTY_TALK = {"question", "courtesy", "assent", "boilerplate", "empty", "served"}


@dataclass(frozen=True, slots=True)
class Context:
    """`text` holds `tokens` tokens by `tokens_of`, never more than were asked for.

    Its lines are marked m1... e1... f1... c1... and s1...: places in the memories, episodes,
    features, chunks and summaries of `hits`, which are in the order of the text. `truncated`:
    something was cut or left out for the budget; `more` says how many of each layer were found
    and are not told.
    """

    text: str
    tokens: int
    hits: list[Hit]
    truncated: bool
    took_ms: float
    confidence: float = 0.0
    more: dict[str, int] = field(default_factory=dict)
    reranked: bool = False
    notes: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> list[uuid.UUID]:
        return [hit.memory.id for hit in self.hits if hit.memory]

    @property
    def episode_ids(self) -> list[uuid.UUID]:
        return [hit.episode.id for hit in self.hits if hit.episode]

    @property
    def feature_ids(self) -> list[uuid.UUID]:
        return [hit.feature.id for hit in self.hits if hit.feature]

    @property
    def chunk_ids(self) -> list[uuid.UUID]:
        return [hit.chunk.chunk_id for hit in self.hits if hit.chunk]

    @property
    def summary_ids(self) -> list[uuid.UUID]:
        return [hit.summary.id for hit in self.hits if hit.summary]


def context(
    scope: Scope,
    request: SearchRequest,
    tokens: int = USUAL,
    *,
    order: str = AS_ASKED,
    floor: float | None = None,
    index: WorkspaceIndex | None = None,
) -> Context:
    """What answers best and fits into `tokens`, in the `order` asked for; nothing where the
    confidence is below `floor`, by default one that goes by whether all there is was found. Raises
    as `search` does; `index` is as there.

    What says the same twice is told once; a message of which all that was believed was forgotten
    is marked, and left out where that is private. A memory is told with the message it stands on,
    where the asker may see that, or the passage, where that answers, too; one whose words these
    hold is named beside them, and no more.
    """
    started = time.perf_counter()
    if order == AS_ASKED:
        order = "oldest" if asks_in_time(request.query) else "newest"
    wanted = replace(request, include=request.include | {"citations"})
    answer = search(scope, wanted, index)
    if floor is None:
        is_all = not (request.threshold or request.min_similarity)
        floor = FLOOR_OF_FEW if is_all and len(answer.hits) < request.limit else FLOOR
    entries = _entries(scope, request, answer.hits) if answer.confidence >= floor else []
    if floor and not asks_in_time(request.query):
        rest = [one for one in entries[FIRST:] if not is_noise(request.query, one.hit)]
        entries = [*entries[:FIRST], *rest]
    standing = (
        standing_entries(scope, request, with_preferences=bool(entries))
        if request.at.is_now
        else []
    )
    is_short = tokens < SHORT
    frame = head(order, is_short=is_short), tail(LONGEST_TAIL, is_short=is_short)
    highest = max(9, tokens // SHORTEST)
    room = Room(tokens - sum(map(tokens_of, frame)), tokens // STANDING_SHARE, highest)
    wishes, packed, truncated = room.filled(standing, entries)
    wished = {entry.hit.row.id for entry in wishes}
    rest = [entry for entry in entries if entry.hit.row.id not in wished]
    more = Counter(hit.layer for entry in rest for hit in entry.hits)
    more -= Counter(hit.layer for entry in packed for hit in entry.hits)
    if order != "relevance":
        packed.sort(key=lambda entry: entry.key, reverse=order == "newest")
    chosen = [*wishes, *packed]
    text = "".join([frame[0], *lines(chosen), tail(more, is_short=is_short)]) if chosen else ""
    return Context(
        text,
        tokens_of(text),
        [hit for entry in chosen for hit in entry.hits],
        truncated,
        (time.perf_counter() - started) * 1e3,
        answer.confidence,
        dict(more),
        answer.reranked,
        answer.notes,
    )


def _entries(scope: Scope, request: SearchRequest, hits: Sequence[Hit]) -> list[ContextEntry]:
    """Messages with the beliefs that stand on them, and what stands on none that the asker may
    see, best first; of what tells the same, the better one."""
    found = [one for hit in hits for one in (hit, *hit.echoes)]
    rows = {one.row.id: one for one in found if one.episode}
    passages = {one.row.chunk_id: one for one in reversed(found) if one.chunk}
    place = {id(one): _message_of(one) or _passage_of(one, passages) for one in found}
    rows |= {one.row.id: one for one in passages.values()}
    cited = list(dict.fromkeys(m for m in place.values() if m is not None and m not in rows))
    for row in rows_of(scope, "episodes", cited, request.at) if cited else ():
        rows[row.id] = Hit("episodes", 0.0, {}, row)
    beliefs: dict[uuid.UUID, list[Hit]] = {}
    for one in found:
        message = place[id(one)]
        if one.memory and message and message in rows:
            beliefs.setdefault(message, []).append(one)
    heads = after_ranking.heads_of(list(rows)) if request.at.is_now else []
    later, forgotten = _replaced(scope, heads), after_ranking.forgotten_of(heads)
    stems, texts, entries, done = set(lexical.stems(request.query)), set(), [], set()
    for one in found:
        message = place[id(one)]
        leading = rows.get(message, one) if message else one
        if leading.row.id in done:
            continue
        done.add(leading.row.id)
        own = beliefs.get(leading.row.id, []) if leading.row.id in rows else []
        ended = forgotten.get(leading.row.id) if leading.episode else None
        if ended and ended.reason == PRIVATE:
            continue
        text = lexical.fingerprint(leading.row.content)
        if leading.episode and not own:
            said = leading.row
            is_short = len(said.content) <= gatekeeper.LONGEST
            if (_is_empty if is_short else _read_as_empty)(said.content, said.role, said.kind):
                continue
        if text in texts:
            continue
        texts.add(text)
        entry = said_of(leading, own, later.get(leading.row.id, ()), stems)
        entries.append(replace(entry, notes=(*entry.notes, ended.note)) if ended else entry)
    return entries


def _read_as_empty(text: str, role: str, kind: str) -> bool:
    return gatekeeper.verdict(text, role, kind).label in EMPTY_TALK


_is_empty = lru_cache(maxsize=KEPT)(_read_as_empty)


def _message_of(hit: Hit) -> uuid.UUID | None:
    """The episode that tells it: itself, or the newest that a memory cites and the asker sees. Of
    another person's the memory alone is told."""
    if hit.episode:
        return uuid.UUID(str(hit.row.id))
    if not hit.memory:
        return None
    cited_here = hit.citations or ()
    said = [cited for cited in cited_here if cited.episode_id and not cited.is_others]
    if not said:
        return None
    newest = max(said, key=lambda cited: cited.occurred_at)
    return uuid.UUID(str(newest.episode_id))


def _passage_of(hit: Hit, passages: Mapping[uuid.UUID, Hit]) -> uuid.UUID | None:
    """Of those that were found, the one that a memory of a document cites."""
    for cited in (hit.citations or ()) if hit.memory else ():
        if cited.chunk_id in passages:
            return uuid.UUID(str(passages[cited.chunk_id].row.id))
    return None


def _replaced(
    scope: Scope, heads_of_episodes: Sequence[after_ranking.Head]
) -> dict[uuid.UUID, list[tuple[Memory, datetime]]]:
    """Of episodes on which something stood that was replaced since: what is believed instead, as
    far as the asker may see it, and since when."""
    heads = after_ranking.replaced_by(heads_of_episodes)
    ids = {head for of_one in heads.values() for head in of_one}
    if not ids:
        return {}
    seen = {memory.pk: memory for memory in Memory.objects.visible_to(scope).filter(pk__in=ids)}
    return {
        episode: [
            (seen[one], seen[one].valid_from or seen[one].created_at)
            for one in of_one
            if one in seen
        ]
        for episode, of_one in heads.items()
    }


@dataclass(slots=True)
class Room:
    """So many tokens for all lines, and of these `share` for wishes, with numbers as long as
    `highest`."""

    tokens: int
    share: int
    highest: int

    def filled(
        self, standing: Sequence[ContextEntry], entries: Sequence[ContextEntry]
    ) -> tuple[list[ContextEntry], list[ContextEntry], bool]:
        """The wishes and the answers that fit, and whether anything did not. Wishes have their
        share, the newest of them in any case, and what the answers leave over."""
        wishes, _ = _packed(standing, min(self.tokens, self.share), self.highest, may_cut=False)
        wishes = wishes or _packed(standing, self.tokens, self.highest, may_cut=False)[0][:1]
        told = {entry.hit.row.id for entry in wishes}
        rest = [entry for entry in entries if entry.hit.row.id not in told]
        left = self.tokens - sum(size(entry, self.highest) for entry in wishes)
        packed, truncated = _packed(rest, left, self.highest, may_cut=not wishes)
        told |= {hit.row.id for entry in packed for hit in entry.hits}
        others = [entry for entry in standing if entry.hit.row.id not in told]
        if not others:
            return wishes, packed, truncated
        left -= sum(size(entry, self.highest) for entry in packed)
        more, is_short = _packed(others, left, self.highest, may_cut=False)
        return [*wishes, *more], packed, truncated or is_short


def _packed(
    entries: Iterable[ContextEntry], tokens: int, highest: int, *, may_cut: bool
) -> tuple[list[ContextEntry], bool]:
    """As many as fit, best first; one that does not fit is left out for smaller ones.

    Where nothing else fits, the best is cut, unless no more than a few words of it were told.
    """
    packed: list[ContextEntry] = []
    days: set[str] = set()
    truncated = False
    for entry in entries:
        day = entry.day
        cost = size(entry, highest, is_dated=day not in days)
        if cost > tokens:
            truncated = True
            cut = entry.cut_to(tokens, highest) if may_cut and not packed else None
            if cut is None:
                continue
            entry, cost = cut, size(cut, highest)
        packed.append(entry)
        days.add(day)
        tokens -= cost
    return packed, truncated
