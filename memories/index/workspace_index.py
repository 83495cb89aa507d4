"""The workspace as the index knows it: its number, the embedding model it uses, and who speaks in
it."""

import json
import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import Any

from django.db.models import F

from memories.index import configured_embedder, prepared_sql
from memories.index.hnsw_segments import SEGMENTS
from memories.index.row_marks import RULES_VERSION
from memories.language.english.calendar import DATE_ORDERS
from memories.models import EmbeddingModel, Episode, Layer, WorkspaceIndex
from memories.ranking import Participant
from memoryproject.postgres.prepared import Asked
from workspaces.keys import Beside
from workspaces.scope import Scope

log = logging.getLogger(__name__)


COLUMNS = f"""s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,
       s.live_features, s.live_chunks, s.live_summaries, s.stamp, s.rules,
       w.settings -> 'extractors' as extractors,
       w.settings ->> 'conflictRule' as conflict_rule, w.settings -> 'ranking' as ranking,
       w.settings ->> 'llm' as llm,
       w.settings -> 'review' as review, w.settings -> 'guard' as guard,
       w.settings -> 'instructions' as instructions,
       w.settings ->> 'dateOrder' as date_order, w.settings -> 'patternsOff' as patterns_off,
       w.settings -> 'decisionsOff' as decisions_off, w.settings ->> 'timezone' as time_zone,
       exists (select 1 from memories_workspacepattern p
               where p.workspace_id = w.id and p.enabled) as has_patterns,
       (exists (select 1 from memories_workspaceslot o
                where o.workspace_id = w.id and o.enabled)
        or exists (select 1 from memories_workspacechange c
                   where c.workspace_id = w.id and c.enabled)) as has_own_words,
       {SEGMENTS},
       m.provider, m.name, m.dimensions, m.duplicate_threshold, m.search_floor, m.state,
       m.confidence::text as confidence"""
MODEL = "left join memories_embeddingmodel m on m.id = s.embedding_model_id"
INDEX_ROW = f"""
select {COLUMNS}
from memories_workspaceindex s join workspaces_workspace w on w.id = s.workspace_id
{MODEL} where s.workspace_id = %(workspace)s
"""
BESIDE_KEY = Beside(COLUMNS, f"left join memories_workspaceindex s on s.workspace_id = w.id\n{MODEL}")
OF_THE_ROW = (
    "number",
    "workspace_id",
    "embedding_model_id",
    "live_memories",
    "live_episodes",
    "live_features",
    "live_chunks",
    "live_summaries",
    "stamp",
    "rules",
)
OF_THE_MODEL = (
    "provider",
    "name",
    "dimensions",
    "duplicate_threshold",
    "search_floor",
    "state",
    "confidence",
)


# Not against keys: each new row of the workspace holds a share of it.
LOCK = """
select id from workspaces_workspace where id = %(workspace)s::uuid for no key update
"""
COUNT = """
update memories_workspaceindex
set live_memories = live_memories + %(live_memories)s::int8,
    live_episodes = live_episodes + %(live_episodes)s::int8,
    live_features = live_features + %(live_features)s::int8,
    live_chunks = live_chunks + %(live_chunks)s::int8,
    live_summaries = live_summaries + %(live_summaries)s::int8, stamp = stamp + 1
where number = %(number)s
returning embedding_model_id
"""
# Apart: a distributed table takes no volatile function in an UPDATE.
NEW_IDS = """
select array(select nextval('memories_entry_id_seq')
             from generate_series(1, %(ids)s::int)) as ids
"""
LEAVE_DUE = """
insert into memories_duevector (entry_id, workspace, attempts, next_attempt_at, error)
select id, %(workspace)s, 0, now(), '' from unnest(%(ids)s::int8[]) id
on conflict do nothing
"""
MODEL_NOW = "select embedding_model_id from memories_workspaceindex where number = %(number)s"
MOST_SPEAKERS = 50
COUNT_NEW = """
insert into memories_speaker (workspace, subject, author, assistant, episodes)
select %(workspace)s, %(subject)s::uuid, author, assistant, episodes
from unnest(%(authors)s::text[], %(assistants)s::bool[], %(episodes)s::int8[])
     as heard(author, assistant, episodes)
on conflict (workspace, subject, author, assistant)
do update set episodes = memories_speaker.episodes + excluded.episodes
"""
# Beside each author how many voices the talks have, a subject's for one: nobody else's count.
SPOKEN = """
with spoken as (
  select subject, author, assistant, episodes from memories_speaker
  where workspace = %(workspace)s {subject}),
talks as (
  select sum(episodes) as size, sum(episodes) ^ 2 / sum(episodes ^ 2) as voices
  from spoken where not assistant group by subject)
select author, assistant, sum(episodes)::int8 as episodes,
       (select sum(size * voices) / sum(size) from talks)::float8 as voices
from spoken group by author, assistant order by 3 desc, author limit %(most)s
"""
# A search about somebody also finds what is about nobody, but that is another conversation.
OF_THE_SUBJECT = """and subject is not distinct from (
    select %(subject)s::uuid where exists (
      select 1 from memories_speaker own
      where own.workspace = %(workspace)s and own.subject = %(subject)s::uuid))"""


def note_change(index: WorkspaceIndex) -> None:
    """Let the stamp of a workspace grow where something changed that its counts do not tell."""
    WorkspaceIndex.objects.filter(pk=index.pk).update(stamp=F("stamp") + 1)


def index_for(scope: Scope) -> WorkspaceIndex:
    """Return the asker's `index_of`, without another query where it was read beside their key."""
    if scope.beside and scope.beside[0] is not None:
        return _index_from(scope.beside)
    return index_of(scope.workspace_id)


def index_of(workspace_id: uuid.UUID) -> WorkspaceIndex:
    """Return the index row of a workspace with its embedding model, made when first asked for."""
    # On the path of every search: prepared, because Django's own would cost ten times as much.
    rows = prepared_sql.rows(INDEX_ROW, {"workspace": workspace_id})
    if rows:
        return _index_from(rows[0])
    # bulk_create with ignore_conflicts: two first requests at once make one row.
    row = WorkspaceIndex(
        workspace_id=workspace_id,
        embedding_model=configured_embedder.configured_model(),
        rules=RULES_VERSION,
    )
    WorkspaceIndex.objects.bulk_create([row], ignore_conflicts=True)
    return index_of(workspace_id)


def _index_from(row: Sequence[Any]) -> WorkspaceIndex:
    """Build the index row from a row of COLUMNS."""
    index = WorkspaceIndex(**dict(zip(OF_THE_ROW, row, strict=False)))
    (
        index.extractors,
        conflict_rule,
        index.ranking,
        llm,
        index.review,
        guard,
        index.instructions,
        order,
        off,
        decisions_off,
        time_zone,
        index.has_patterns,
        index.has_own_words,
        index.segments,
    ) = row[len(OF_THE_ROW) : -len(OF_THE_MODEL)]
    index.conflict_rule, index.llm = conflict_rule or "", llm or ""
    index.guard = guard or {}
    index.date_order, index.time_zone = order or DATE_ORDERS[0], time_zone or ""
    index.patterns_off = frozenset(off or ())
    index.decisions_off = frozenset(decisions_off or ())
    if index.embedding_model_id is not None:
        index.embedding_model = _model_of(index.embedding_model_id, *row[-len(OF_THE_MODEL) :])
    return index


@lru_cache(maxsize=64)
def _model_of(number: int, *values: Any) -> EmbeddingModel:
    """Return one instance for all that read the same: it is not to be changed."""
    told = dict(zip(OF_THE_MODEL, values, strict=True))
    told["confidence"] = json.loads(told["confidence"] or "null")
    return EmbeddingModel(id=number, **told)


def under_model(index: WorkspaceIndex, model: EmbeddingModel) -> WorkspaceIndex:
    """Return the workspace as it is under another model, without a segment; not to be saved."""
    other = copy(index)
    other.embedding_model, other.segments = model, ()
    return other


def under_settings(index: WorkspaceIndex, settings: Mapping[str, Any]) -> WorkspaceIndex:
    """Return the workspace as its searches would be under other settings; not to be saved."""
    other = copy(index)
    other.ranking = settings.get("ranking")
    other.date_order = settings.get("dateOrder") or DATE_ORDERS[0]
    return other


def lock(index: WorkspaceIndex, *then: Asked) -> list[list[Any]]:
    """Wait for other writers of the workspace, and hold them off until this transaction ends.
    Return the rows of the statements `then`, sent in the same round trip.

    It is a statement of its own: within the statement that looks for the nearest memories, the
    snapshot would be older than the lock, and two writers could both find nothing. It locks the
    workspace's row, not the index's: writers that only keep messages count there, and do not wait
    for those that resolve.
    """
    prepared_sql.require_transaction()
    return prepared_sql.rows_of_each([(LOCK, {"workspace": index.workspace_id}), *then])[1:]


def count(index: WorkspaceIndex, layer: int, change: int) -> None:
    """Note that `change` rows of `layer` became live (or, below 0, no longer are)."""
    prepared_sql.execute(COUNT, _changes(index, {layer: change}))


def count_new(index: WorkspaceIndex, live: Mapping[int, int], number: int) -> tuple[list[int], int | None]:
    """Note that so many rows become live, by layer. Return ids for `number` new entries, and the id
    of the embedding model that the workspace uses now: its row is this writer's."""
    asked = [(COUNT, _changes(index, live)), (NEW_IDS, {"ids": number})]
    counted, made = prepared_sql.rows_of_each(asked)
    return made[0].ids, counted[0].embedding_model_id


def _changes(index: WorkspaceIndex, live: Mapping[int, int]) -> dict[str, int]:
    """Return the values of COUNT."""
    values = {f"live_{each.label}": live.get(each, 0) for each in Layer}
    return {**values, "number": index.number}


def leave_due(index: WorkspaceIndex, entries: Sequence[int]) -> None:
    """Make entries due again whose vectors came too late: they are of the model before.

    Call it after the writer has taken the workspace's row or lock, so that a change of the model
    either waits for this transaction and sees its entries, or is seen here.
    """
    if not entries:
        return
    rows = prepared_sql.rows(MODEL_NOW, {"number": index.number})
    if rows and rows[0].embedding_model_id != index.embedding_model_id:
        prepared_sql.execute(LEAVE_DUE, {"ids": list(entries), "workspace": index.number})


def is_assistant(kind: str) -> bool:
    """Tell whether the assistant, or a tool for it, spoke."""
    return kind not in Episode.OF_PEOPLE


def counting_speakers(index: WorkspaceIndex, subject: uuid.UUID | None, episodes: Iterable[Episode]) -> Asked:
    """Return the statement that counts the authors of new episodes, for the caller to send."""
    counted = Counter((e.author, is_assistant(e.kind)) for e in episodes)
    # In one order for all writers, so that two of them never wait for each other's rows.
    rows = sorted(counted.items())
    values: dict[str, Any] = {
        "workspace": index.number,
        "subject": subject,
        "authors": [author for (author, _), _ in rows],
        "assistants": [assistant for (_, assistant), _ in rows],
        "episodes": [number for _, number in rows],
    }
    return COUNT_NEW, values


def participants(index: WorkspaceIndex, subject: uuid.UUID | None) -> tuple[list[Participant], float]:
    """Return the speakers in a subject's episodes (those about nobody where there are none; None:
    in all of the workspace), the most first, and how many voices a talk of theirs has, as
    `voices_of`."""
    if not index.live_episodes:
        return [], 0.0
    about = OF_THE_SUBJECT if subject else ""
    values = {"workspace": index.number, "subject": subject, "most": MOST_SPEAKERS}
    rows = prepared_sql.rows(SPOKEN.format(subject=about), values)
    voices = (rows[0].voices if rows else None) or 0.0
    return [Participant(row.author, row.assistant, row.episodes) for row in rows], voices
