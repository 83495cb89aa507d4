"""Vectors for all entries of a workspace: those that are missing, or all under another model.

While vectors of another model are being made, search goes on with those that are there; what is
made stays, so that the next run goes on from it.
"""

from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import F

from memories.index import due_vectors, entries, prepared_sql
from memories.index.rebuild import alone
from memories.index.workspace_index import lock
from memories.models import EmbeddingModel, Entry, Layer, WorkspaceIndex

BATCH = 256
CATCH_UPS = 10  # passes over what came in meanwhile; the rest is due after the change
WITHOUT_VECTOR = """
  not exists (select 1 from memories_vector v
              where v.entry_id = e.id and v.embedding_model_id = %(model)s::int2)"""
MISSING = f"""
select e.id from memories_entry e
where e.workspace = %(workspace)s and e.layer = %(layer)s and e.id > %(after)s and {WITHOUT_VECTOR}
order by e.id limit %(most)s
"""
COUNT_MISSING = f"""
select count(*) as missing from memories_entry e
where e.workspace = %(workspace)s and {WITHOUT_VECTOR}
"""
FORGET_VECTORS = """
delete from memories_vector where entry_id = any(%(ids)s::int8[])
  and embedding_model_id = %(model)s::int2
"""
NO_LONGER_DUE = """
delete from memories_duevector d using memories_entry e
where e.id = d.entry_id and e.workspace = %(workspace)s and d.entry_id = any(%(ids)s::int8[])
  and exists (select 1 from memories_workspaceindex w where w.number = e.workspace
              and w.embedding_model_id = %(model)s::int2)
"""
ONLY_MISSING_ARE_DUE = (
    f"""
delete from memories_duevector d using memories_entry e
where e.id = d.entry_id and e.workspace = %(workspace)s
  and (%(model)s::int2 is null and e.length > 0 or not ({WITHOUT_VECTOR}))
""",
    f"""
insert into memories_duevector (entry_id, workspace, attempts, next_attempt_at, error)
select e.id, e.workspace, 0, now(), '' from memories_entry e
where e.workspace = %(workspace)s and %(model)s::int2 is not null and {WITHOUT_VECTOR}
on conflict (entry_id) do update set attempts = 0, next_attempt_at = now(), error = ''
""",
)
DROP_OTHERS = """
with page as (select e.id, e.item from memories_entry e
              where e.workspace = %(workspace)s and e.layer = %(layer)s and e.id > %(after)s
              order by e.id limit %(most)s),
     gone as (delete from memories_vector v using page where v.entry_id = page.id
              and v.embedding_model_id is distinct from %(model)s::int2
              and not exists (select 1 from memories_feature f
                              join memories_featureset s on s.id = f.set_id
                              where f.id = page.item
                                and s.embedding_model_id = v.embedding_model_id) returning 1)
select max(id) as last, (select count(*) from gone) as gone from page
"""


def under(index: WorkspaceIndex, model: EmbeddingModel | None) -> WorkspaceIndex:
    """Return the workspace as it would be under `model`; not to be saved."""
    return WorkspaceIndex(
        number=index.number,
        workspace_id=index.workspace_id,
        embedding_model=model,
    )


def missing(index: WorkspaceIndex) -> int:
    """Count the entries without a vector under the workspace's model; 0 where it has no model."""
    if index.embedding_model_id is None:
        return 0
    values = {"workspace": index.number, "model": index.embedding_model_id}
    found: int = prepared_sql.rows(COUNT_MISSING, values)[0].missing
    return found


def fill(index: WorkspaceIndex, advance: Callable[[int], object]) -> int:
    """Make the vectors that are missing, in bounded batches; return the number of entries done.

    Entries without any word that the model knows are counted every time. Raises ProviderError; what
    is done stays.
    """
    done = 0
    for layer in Layer if index.embedding_model_id is not None else ():
        values = _values(index, layer, 0)
        while ids := [row.id for row in prepared_sql.rows(MISSING, values)]:
            done += make(index, ids)
            advance(len(ids))
            values["after"] = ids[-1]
    return done


def make(index: WorkspaceIndex, ids: Sequence[int]) -> int:
    """Make the vectors of these entries anew, also where they have some. Raises ProviderError."""
    done = 0
    due_vectors.make_keys(index, ids)
    for batch in due_vectors.batches(ids):
        found = due_vectors.items_of(Entry.objects.filter(pk__in=batch))
        vectors = due_vectors.embed(index, [item.texts for _, item in found])
        own = {entry: mine for (entry, _), mine in zip(found, vectors, strict=True)}
        done += _store(index, own)
    return done


def change(
    index: WorkspaceIndex,
    target: EmbeddingModel | None,
    advance: Callable[[int], object],
    check: Callable[[], object] | None = None,
) -> None:
    """Build all vectors under `target`, then let the workspace use it, unless `check`, which is
    called in between, raises. Raises ProviderError."""
    future = under(index, target)
    for _ in range(CATCH_UPS):
        if target is None or fill(future, advance) < BATCH:
            break
    if check is not None and target is not None:
        check()
    before = index.embedding_model_id
    with alone(index):
        rows = WorkspaceIndex.objects.filter(pk=index.pk)
        rows.update(embedding_model=target, stamp=F("stamp") + 1)
        for statement in ONLY_MISSING_ARE_DUE:
            prepared_sql.execute(statement, {"workspace": index.number, "model": future.embedding_model_id})
    index.embedding_model = target
    note_use(before, target)


def drop_others(index: WorkspaceIndex) -> int:
    """Delete the vectors of all models but the workspace's own and those that its feature sets use;
    return the number of vectors."""
    gone = 0
    for layer in Layer:
        after: int | None = 0
        while after is not None:
            values = _values(index, layer, after) | {"most": 4 * BATCH}
            row = prepared_sql.rows(DROP_OTHERS, values)[0]
            gone, after = gone + row.gone, row.last
    return gone


def _values(index: WorkspaceIndex, layer: Layer, after: int) -> dict[str, int | None]:
    return {
        "workspace": index.number,
        "model": index.embedding_model_id,
        "layer": int(layer),
        "after": after,
        "most": BATCH,
    }


@transaction.atomic
def _store(index: WorkspaceIndex, vectors: dict[int, entries.Vectors]) -> int:
    """Write vectors by entry, with the scope that the entries have by now."""
    lock(index)
    found = due_vectors.items_of(Entry.objects.filter(pk__in=vectors).select_for_update(no_key=True))
    values = {
        "ids": [entry for entry, _ in found],
        "model": index.embedding_model_id,
        "workspace": index.number,
    }
    prepared_sql.execute(FORGET_VECTORS, values)
    entries.write_vectors(index, [(entry, item, vectors[entry]) for entry, item in found])
    prepared_sql.execute(NO_LONGER_DUE, values)
    return len(found)


def note_use(before: int | None, target: EmbeddingModel | None) -> None:
    """A model that no workspace and no set speaks any more is retired."""
    if before is not None:
        unused = EmbeddingModel.objects.filter(pk=before, workspaceindex=None, sets=None)
        unused.update(state=EmbeddingModel.State.RETIRED)
    if target is not None:
        EmbeddingModel.objects.filter(pk=target.pk).update(state=EmbeddingModel.State.ACTIVE)
