"""What answers a question, packed into a token budget as a block of text that goes into a prompt as
it stands: the person's standing wishes, and the messages that answer, with what is believed of
them.

The block's tag is one that the gatekeeper passes over: what was served is not learned again.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memories.english import gatekeeper, lexical
from memories.english.standing_wishes import PREFERS, preference, standing_wish
from memories.index import statements, workspace_index
from memories.models import Layer, Memory, name_joins
from memories.ranking import Mark, asks_in_time
from memories.search import (
    LAYERS,
    Hit,
    SearchRequest,
    after_ranking,
    conditions,
    layer_query,
    search,
)
from memories.search.context_text import (
    AS_ASKED,
    SHORT,
    ContextEntry,
    head,
    lines,
    said_of,
    size,
    tail,
    wish_of,
)
from memories.search.hits import rows_of
from memories.tokens import tokens_of
from workspaces.scope import Scope

FLOOR = 0.16  # of the confidence: below it stands what has nothing to do with the question
LEAST, USUAL, MOST = 50, 1_000, 32_000  # tokens
STANDING_SHARE, STANDING_MOST, STANDING_READ = 4, 8, 40  # a quarter of the budget, so many wishes
PREFERRED_MOST = 2
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
    floor: float = FLOOR,
) -> Context:
    """What answers best and fits into `tokens`, in the `order` asked for; nothing where the
    confidence is below `floor`. Raises as `search` does.

    What says the same twice is told once. A memory is told with the message it stands on, where
    the asker may see that; one whose words that message holds is named beside it, and no more.
    """
    started = time.perf_counter()
    if order == AS_ASKED:
        order = "oldest" if asks_in_time(request.query) else "newest"
    wanted = replace(request, include=request.include | {"citations"})
    answer = search(scope, wanted)
    entries = _entries(scope, request, answer.hits) if answer.confidence >= floor else []
    standing = (
        _standing(scope, request, with_preferences=bool(entries)) if request.at.is_now else []
    )
    is_short = tokens < SHORT
    frame = head(order, is_short=is_short), tail(LONGEST_TAIL, is_short=is_short)
    budget = tokens - sum(map(tokens_of, frame))
    highest = max(9, tokens // SHORTEST)
    wishes, _ = _packed(standing, min(budget, tokens // STANDING_SHARE), highest, may_cut=False)
    wished = {entry.hit.row.id for entry in wishes}
    rest = [entry for entry in entries if entry.hit.row.id not in wished]
    budget -= sum(size(entry, highest) for entry in wishes)
    packed, truncated = _packed(rest, budget, highest, may_cut=not wishes)
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
    place = {id(one): _message_of(one) for one in found}
    rows = {one.row.id: one for one in found if one.episode}
    cited = list(dict.fromkeys(m for m in place.values() if m is not None and m not in rows))
    for row in rows_of(scope, "episodes", cited, request.at) if cited else ():
        rows[row.id] = Hit("episodes", 0.0, {}, row)
    beliefs: dict[uuid.UUID, list[Hit]] = {}
    for one in found:
        message = place[id(one)]
        if one.memory and message and message in rows:
            beliefs.setdefault(message, []).append(one)
    later = _replaced(scope, list(rows)) if request.at.is_now else {}
    stems, texts, entries, done = set(lexical.stems(request.query)), set(), [], set()
    for one in found:
        message = place[id(one)]
        leading = rows.get(message, one) if message else one
        if leading.row.id in done:
            continue
        done.add(leading.row.id)
        own = beliefs.get(leading.row.id, []) if leading.episode else []
        text = lexical.fingerprint(leading.row.content)
        if leading.episode and not own:
            said = leading.row
            verdict = gatekeeper.verdict(said.content, said.role, said.kind)
            if verdict.label in EMPTY_TALK:
                continue
        if text in texts:
            continue
        texts.add(text)
        entries.append(said_of(leading, own, later.get(leading.row.id, ()), stems))
    return entries


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


def _replaced(
    scope: Scope, episodes: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[tuple[Memory, datetime]]]:
    """Of episodes on which something stood that was replaced since: what is believed instead, as
    far as the asker may see it, and since when."""
    heads = after_ranking.replaced_by(episodes)
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


STANDING = """
select x.item {entries} and x.marks & {rule} = {rule} and x.role = 'user'
order by x.id desc limit {most}
"""
PREFERRED = """
select x.item {entries} and x.trigrams @> %(trigrams)s::int8[] and x.role = 'user'
order by x.id desc limit {most}
"""
# The offset keeps it a condition of the few rows that are found.
FITTING = """
  and exists (select 1 from memories_episode row {joins}
              where row.id = x.item and {condition} offset 0)"""


def _standing(
    scope: Scope, request: SearchRequest, *, with_preferences: bool
) -> list[ContextEntry]:
    """What the person asked for once and for all, in own words, the newest first; then what they
    prefer of that which the query speaks of, the nearest first. What the filter leaves out is left
    out here, too; kinds of memories narrow no wish."""
    index = workspace_index.index_for(scope)
    said = layer_query.in_layer(
        replace(request, fact_types=(), categories=()),
        layer_query.asked_of(scope, request),
        "episodes",
    )
    if said is None or said.subject is None:
        return []
    shape = conditions.shape_of(index, replace(said, wanted=conditions.EVERYTHING), by_vector=False)
    values = conditions.parameters(index, said)
    fitting = FITTING.format(joins=name_joins("row"), condition=said.wanted.condition)
    fitting = fitting if said.wanted.condition else ""
    wishes, preferences = [], []
    entries = shape.entries() + fitting
    text = STANDING.format(entries=entries, rule=int(Mark.RULE), most=STANDING_READ)
    for row in _rows(scope, text, values):
        if place := standing_wish(row.content):
            wishes.append(wish_of(Hit("episodes", 0.0, {}, row), place))
    if with_preferences:
        entries = shape.entries(by_key=True) + fitting
        text = PREFERRED.format(entries=entries, most=STANDING_READ)
        trigrams = lexical.ilike_keys(index.number, Layer.EPISODES, PREFERS)
        preferences = _rows(scope, text, values | {"trigrams": trigrams})
    told = {wish.hit.row.id for wish in wishes}
    matched = _matching(request.query, [row for row in preferences if row.id not in told])
    return [*wishes[:STANDING_MOST], *matched[:PREFERRED_MOST]]


def _rows(scope: Scope, text: str, values: dict[str, Any]) -> list[Any]:
    """The episodes of a statement's items, in its order."""
    ids = [row.item for row in statements.rows(text, values)]
    rows = {row.id: row for row in rows_of(scope, "episodes", ids)} if ids else {}
    return [rows[item] for item in ids if item in rows]


def _matching(query: str, rows: Sequence[Any]) -> list[ContextEntry]:
    """Those whose author says what he prefers, and in words of the query: the rarer among them the
    better."""
    places = {row.id: place for row in rows if (place := preference(row.content))}
    asked = set(lexical.stems(query))
    held = {
        row.id: asked & set(lexical.stems(row.content[slice(*places[row.id])]))
        for row in rows
        if row.id in places
    }
    often = Counter(stem for stems in held.values() for stem in stems)
    worth = {item: sum(1 / often[stem] for stem in stems) for item, stems in held.items() if stems}
    best = sorted((row for row in rows if row.id in worth), key=lambda row: -worth[row.id])
    return [wish_of(Hit("episodes", 0.0, {}, row), places[row.id]) for row in best]


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
        cost = size(entry, highest, is_dated=entry.day not in days)
        if cost > tokens:
            truncated = True
            cut = entry.cut_to(tokens, highest) if may_cut and not packed else None
            if cut is None:
                continue
            entry, cost = cut, size(cut, highest)
        packed.append(entry)
        days.add(entry.day)
        tokens -= cost
    return packed, truncated
