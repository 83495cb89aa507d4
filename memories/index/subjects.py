"""Changes of subject in the index: entries, vectors and speakers that go to another one."""

import uuid
from collections.abc import Sequence

import numpy as np

from memories.index import prepared_sql, rebuild
from memories.models import Layer, WorkspaceIndex

MOVE = (
    """
update memories_entry set subject = %(subject)s::uuid
where workspace = %(workspace)s and layer = %(layer)s and item = any(%(items)s::uuid[])
""",
    """
update memories_vector v set subject = %(subject)s::uuid
from memories_entry e
where e.workspace = %(workspace)s and e.layer = %(layer)s and e.item = any(%(items)s::uuid[])
  and v.entry_id = e.id
""",
)
RECOUNT = (
    """
delete from memories_speaker
where workspace = %(workspace)s and subject = any(%(subjects)s::uuid[])
""",
    f"{rebuild.RECOUNT_SPEAKERS} where subject = any(%(subjects)s::uuid[])",
)
VECTORS = """
select e.item, v.embedding from memories_entry e
join memories_vector v on v.entry_id = e.id and v.part = 0
where e.layer = %(layer)s and e.item = any(%(items)s::uuid[]) and e.workspace = %(workspace)s
  and v.embedding_model_id = %(model)s::int2
order by e.id
"""


def move(index: WorkspaceIndex, layer: Layer, ids: Sequence[uuid.UUID], subject: uuid.UUID) -> None:
    """Move what is found of these rows to `subject`, in the caller's transaction, under the
    workspace's lock."""
    values = {
        "workspace": index.number,
        "layer": int(layer),
        "items": list(ids),
        "subject": subject,
    }
    for statement in MOVE:
        prepared_sql.execute(statement, values)


def recount_speakers(index: WorkspaceIndex, *of: uuid.UUID) -> None:
    """Count anew who speaks in the episodes of these subjects, in the caller's transaction."""
    values = rebuild.speaker_values(index) | {"subjects": list(of)}
    for statement in RECOUNT:
        prepared_sql.execute(statement, values)


def alike(
    index: WorkspaceIndex, memories: Sequence[uuid.UUID], *, most: int = 10
) -> list[tuple[uuid.UUID, uuid.UUID, float]]:
    """Return pairs of these memories that the model takes for the same statement, older one first,
    the most alike first; [] where the workspace has no model. All are compared with all."""
    model = index.embedding_model
    if model is None:
        return []
    values = {
        "workspace": index.number,
        "layer": int(Layer.MEMORIES),
        "items": list(memories),
        "model": model.pk,
    }
    rows = prepared_sql.rows(VECTORS, values)
    if len(rows) < 2:
        return []
    vectors = np.stack([row.embedding.to_numpy() for row in rows]).astype(np.float32)
    cosines = np.triu(vectors @ vectors.T, k=1)
    first, second = np.nonzero(cosines >= model.duplicate_threshold)
    best = np.argsort(-cosines[first, second], kind="stable")[:most]
    return [(rows[first[i]].item, rows[second[i]].item, float(cosines[first[i], second[i]])) for i in best]
