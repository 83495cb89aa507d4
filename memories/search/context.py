"""An answer to a question, packed into a token budget as a block of text that goes into a prompt as
it stands: the person's standing wishes, and the messages that answer, with what is believed of
them. The block's tag is one that the gatekeeper passes over: what was served is not learned
again."""

import json
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from memories.index import prepared_sql
from memories.language.english import gatekeeper, lexical
from memories.models import Memory, WorkspaceIndex
from memories.providers.count_tokens import tokens_of
from memories.ranking import asks_in_time, asks_of_past
from memories.reading.guard.masked_text import is_masked
from memories.search import LAYERS, Hit, SearchAnswer, SearchRequest, collapse, context_floor
from memories.search.context_floor import ALL, Nearest, PersonAsked
from memories.search.context_lines import AS_ASKED, ELLIPSIS, KEPT, ContextEntry, head, lines, said_of, size, tail
from memories.search.context_rows import OF_PERSON, READ_WISHES, layer_rows, standing_entries
from memories.search.hits import hits_of, rows_of
from memories.search.request import Scored
from memories.search.search_question import SearchQuestion
from memories.search.search_run import answer_to
from workspaces.scope import Scope

SHORT = 200  # tokens

_word = re.compile(r"\w")

PACKED = ("memories", "episodes", "chunks")  # layers, if nobody says others
LEAST, USUAL, MOST = 50, 1_000, 32_000  # tokens
STANDING_SHARE = 4  # wishes have a quarter of the budget, and what answers leaves over
SHORTEST = 12  # tokens of a line: there are no more than so many lines
LONGEST_TAIL = dict.fromkeys(LAYERS, 999)
# What a message may be and tell nothing of its own; see gatekeeper.
EMPTY_TALK = {"question", "courtesy", "assent", "praise", "short", "boilerplate", "empty", "served"}


@dataclass(frozen=True, slots=True)
class Context:
    """A context for a question: `text` holds `tokens` tokens by `tokens_of`, never more than were
    asked for.

    Its lines are marked m1... e1... f1... c1... and s1...: places in the memories, episodes,
    features, chunks and summaries of `hits`, which are in the order of the text. `truncated`:
    something was cut or left out for the budget; `more` says how many of each layer were found
    and left out. Where it is empty, `reason` says why, and `nearest` what came nearest.
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
    reason: str = ""
    nearest: Nearest | None = None

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


@dataclass(frozen=True, slots=True)
class Floor:
    """The confidence that is needed, which the caller may have named, and what is usual."""

    needed: float
    usual: float
    is_named: bool = False


def context(
    scope: Scope,
    request: SearchRequest,
    tokens: int = USUAL,
    *,
    order: str = AS_ASKED,
    floor: float | None = None,
    index: WorkspaceIndex | None = None,
) -> Context:
    """Return what answers best and fits into `tokens`, in the `order` asked for. Where the
    confidence is below `floor`, by default that of `context_floor`, the context is empty and gives
    a `reason`. Raises as `search` does; `index` is as there.

    Repeats are told once. A message is left out where all memories of it were forgotten, and loses
    the sentences of those that were. A memory is told with the message it stands on, where the
    asker may see that, or with the passage, where that answers, too; where these hold its words, it
    is only named beside them.
    """
    started = time.perf_counter()
    if order == AS_ASKED:
        order = "oldest" if asks_in_time(request.query) else "newest"
    wanted = replace(request, include=request.include | {"citations"})
    question = SearchQuestion.of(scope, wanted, index)
    answer = answer_to(question)
    usual = context_floor.floor_of(question.index, wanted, answer)
    least = Floor(usual, usual) if floor is None else Floor(floor, usual, is_named=True)
    entries, nearest, confidence = _told(question, answer, least, tokens)
    standing = standing_entries(question, with_preferences=bool(entries)) if request.at.is_now else []
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
    reason = ""
    if not chosen:
        nearest = _nearest_of(entries, confidence) or nearest
        reason = context_floor.reason_of(
            nearest,
            least.needed,
            tokens if entries else None,
        )
    text = "".join([frame[0], *lines(chosen), tail(more, is_short=is_short)]) if chosen else ""
    return Context(
        text,
        tokens_of(text),
        [hit for entry in chosen for hit in entry.hits],
        truncated,
        (time.perf_counter() - started) * 1e3,
        confidence,
        dict(more),
        answer.reranked,
        answer.notes,
        reason,
        None if chosen else nearest,
    )


def _told(
    question: SearchQuestion, answer: SearchAnswer, floor: Floor, tokens: int
) -> tuple[list[ContextEntry], Nearest | None, float]:
    """Choose the entries that are told, or the nearest where none is; and return the confidence."""
    scope, request = question.scope, question.request
    person = PersonAsked.of(question.index, request)
    if person and person.wants_all and not (floor.is_named and floor.needed):
        known = _believed_of_person(question) or [hit for hit in answer.hits if context_floor.is_theirs(request, hit)]
        if entries := _entries(scope, request, known):
            return entries, None, ALL
    entries = _entries(scope, request, answer.hits)
    if not context_floor.is_answered(request, answer, person, floor.needed, is_named=floor.is_named):
        return [], _nearest_of(entries, answer.confidence), answer.confidence
    if floor.needed == 0 or asks_in_time(request.query):
        return entries, None, answer.confidence
    told = context_floor.kept(
        request,
        person,
        entries,
        tokens,
        is_sure=answer.confidence >= floor.usual,
    )
    if not asks_of_past(request.query):
        rows = {hit.row.id for entry in told for hit in entry.hits}
        told = [entry for entry in told if not entry.replaced_by & rows]
    return told, None if told else _nearest_of(entries, answer.confidence), answer.confidence


def _nearest_of(entries: Sequence[ContextEntry], confidence: float) -> Nearest | None:
    """Return the beginning of the best line, where none is told; None where there is none."""
    if not entries:
        return None
    said, longest = f"{entries[0].title}{entries[0].said}", context_floor.LONGEST_NEAREST
    start = said if len(said) <= longest else said[:longest].rstrip() + ELLIPSIS
    return Nearest(start, round(confidence, 3))


def all_asked(scope: Scope, request: SearchRequest) -> list[Hit]:
    """Return the newest of what is believed of the person, where the question asks for all of
    it."""
    question = SearchQuestion.of(scope, request)
    person = PersonAsked.of(question.index, request)
    return _believed_of_person(question) if person and person.wants_all else []


def _believed_of_person(question: SearchQuestion) -> list[Hit]:
    """Return the newest memories that are believed of the person, at most READ_WISHES."""
    believed = layer_rows(question, "memories")
    if believed is None:
        return []
    items = [row.item for row in prepared_sql.rows(*believed.asked(OF_PERSON))]
    found = [Scored("memories", -place, item, ALL, {}) for place, item in enumerate(items)]
    hits = hits_of(question.scope, replace(question.request, limit=READ_WISHES), found)
    return [replace(hit, similarity=ALL) for hit in hits]


def _entries(scope: Scope, request: SearchRequest, hits: Sequence[Hit]) -> list[ContextEntry]:
    """Return messages with the memories that stand on them, and hits that stand on no message the
    asker may see, best first; of two that tell the same, the better one."""
    found = [one for hit in hits for one in (hit, *hit.echoes)]
    rows = {one.row.id: one for one in found if one.episode}
    passages = {one.row.chunk_id: one for one in reversed(found) if one.chunk}
    place = {id(one): _message_of(one) or _passage_of(one, passages) for one in found}
    rows |= {one.row.id: one for one in found if one.chunk}
    cited = list(dict.fromkeys(m for m in place.values() if m is not None and m not in rows))
    for row in rows_of(scope, "episodes", cited, request.at) if cited else ():
        rows[row.id] = Hit("episodes", 0.0, {}, row)
    beliefs: dict[uuid.UUID, list[Hit]] = {}
    for one in found:
        message = place[id(one)]
        if one.memory and message and message in rows:
            beliefs.setdefault(message, []).append(one)
    heads = collapse.heads_of(list(rows)) if request.at.is_now else []
    later, done = _replaced(scope, heads), _forgotten(rows, heads)
    stems, texts, entries = set(lexical.stems(request.query)), set(), []
    for one in found:
        message = place[id(one)]
        leading = rows.get(message or one.row.id, one)
        if leading.row.id in done:
            continue
        done.add(leading.row.id)
        if (leading.chunk or is_masked(leading.row.content)) and not _word.search(leading.row.content):
            continue  # all of it was taken out
        own = beliefs.get(leading.row.id, []) if leading.row.id in rows else []
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
        entries.append(replace(entry, score=one.score))
    return entries


def _forgotten(rows: dict[uuid.UUID, Hit], heads: Sequence[collapse.Head]) -> set[uuid.UUID]:
    """Return the messages that tell of nothing but what was forgotten. From others, and from
    passages of documents, remove the forgotten words; the rest stays in its place."""
    untold = set()
    for episode, places in collapse.forgotten_in(heads).items():
        if places is None:
            untold.add(episode)
            continue
        rows[episode] = _without(rows[episode], places)
    passages = [hit for hit in rows.values() if hit.chunk]
    revisions = {hit.row.revision_id for hit in passages}
    written = collapse.forgotten_written(revisions) if revisions else {}
    for hit in passages:
        begun, gone = hit.row.start, written.get(hit.row.revision_id, [])
        rows[hit.row.id] = _without(hit, [(a - begun, b - begun) for a, b in gone])
    return untold


def _without(hit: Hit, places: Iterable[tuple[int, int]]) -> Hit:
    """Return a hit without these words; the others stay in their places."""
    content = hit.row.content
    for start, end in places:
        first, last = max(start, 0), min(end, len(content))
        if first < last:
            content = content[:first] + " " * (last - first) + content[last:]
    return replace(hit, row=hit.row._replace(content=content))


def _read_as_empty(text: str, role: str, kind: str) -> bool:
    """Tell whether a text says nothing to a reader, as JSON that programs exchange."""
    if role != "user" and text.lstrip()[:1] in ("{", "[") and is_json(text):
        return True
    return gatekeeper.verdict(text, role, kind).label in EMPTY_TALK


_is_empty = lru_cache(maxsize=KEPT)(_read_as_empty)


def is_json(text: str) -> bool:
    """Tell whether a text is JSON and nothing else."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _message_of(hit: Hit) -> uuid.UUID | None:
    """Return the episode that tells it: itself, or the newest that a memory cites and the asker
    sees. A memory of another person is told alone."""
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
    """Return the passage, of those that were found, that a memory of a document cites."""
    for cited in (hit.citations or ()) if hit.memory else ():
        if cited.chunk_id in passages:
            return uuid.UUID(str(passages[cited.chunk_id].row.id))
    return None


def _replaced(
    scope: Scope, heads_of_episodes: Sequence[collapse.Head]
) -> dict[uuid.UUID, list[tuple[Memory, datetime]]]:
    """Map each episode whose memories were replaced since to what is believed instead, as far as
    the asker may see it, and since when."""
    heads = collapse.replaced_by(heads_of_episodes)
    ids = {head for of_one in heads.values() for head in of_one}
    if not ids:
        return {}
    seen = {memory.pk: memory for memory in Memory.objects.visible_to(scope).filter(pk__in=ids)}
    return {
        episode: [(seen[one], seen[one].valid_from or seen[one].created_at) for one in of_one if one in seen]
        for episode, of_one in heads.items()
    }


@dataclass(slots=True)
class Room:
    """The room for lines: `tokens` in all, `share` of them for wishes, with numbers of lines as
    long as `highest`."""

    tokens: int
    share: int
    highest: int

    def filled(
        self, standing: Sequence[ContextEntry], entries: Sequence[ContextEntry]
    ) -> tuple[list[ContextEntry], list[ContextEntry], bool]:
        """Return the wishes and the answers that fit, and whether anything did not. Wishes get
        their share, the newest of them in any case, and what the answers leave over."""
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
    """Pack as many entries as fit, best first; one that does not fit is left out for smaller ones.

    Where nothing else fits, the best is cut, unless only a few words of it would be left.
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
