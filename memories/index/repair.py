"""Making the marks of rows anew that other rules made, batch after batch; see index.rules.

Meanwhile a statement about somebody must meet what is known of them although its keys are others:
those rows come first (`repair_subject`).
"""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from memories.errors import ProviderError
from memories.index import rebuild, reembedding, statements, truth
from memories.index.rebuild import Rebuilt, alone
from memories.index.rules import RULES_VERSION
from memories.models import Layer, WorkspaceIndex

FIRST = uuid.UUID(int=0)
STALE = """
from {table} t left join memories_entry e on e.layer = %(layer)s and e.item = t.id
where t.workspace_id = %(owner)s and e.rules is distinct from %(rules)s::int2 {only}"""
PAGE = f"select t.id {STALE} and t.id > %(after)s order by t.id limit %(most)s"
COUNT = f"select count(*) as number {STALE}"
# A feature that ended has no entry: it comes back with a new one.
ONLY = {Layer.FEATURES: "and t.ended_at is null"}
# What a statement about them may meet; held, forgotten and replaced ones come in their turn.
OF_SUBJECT = PAGE.format(
    table="memories_memory",
    only="and t.is_head and t.{subject}",
)
ABOUT_SOMEBODY = OF_SUBJECT.format(subject="subject_id = %(subject)s::uuid")
ABOUT_NOBODY = OF_SUBJECT.format(subject="subject_id is null")
DROP_VECTORS = """
delete from memories_vector where entry_id = any(%(ids)s::int8[])
  and embedding_model_id = %(model)s::int2
"""
LEAVE_DUE = """
insert into memories_duevector (entry_id, attempts, next_attempt_at, error)
select id, 0, now(), %(error)s from memories_entry where id = any(%(ids)s::int8[])
on conflict (entry_id) do nothing
"""
NOT_YET = "update memories_entry set rules = 0 where id = any(%(ids)s::int8[])"


def count_stale(index: WorkspaceIndex) -> int:
    """How many rows have marks of another version."""
    number = 0
    for layer, table in truth.TABLE.items():
        text = COUNT.format(table=table, only=ONLY.get(layer, ""))
        number += statements.rows(text, _values(index, layer))[0].number
    return number


def stale(index: WorkspaceIndex, layer: Layer, after: uuid.UUID | None) -> list[uuid.UUID]:
    """The next rows of a layer with marks of another version, in the order they came."""
    text = PAGE.format(table=truth.TABLE[layer], only=ONLY.get(layer, ""))
    return _page(text, _values(index, layer), after)


def repair(index: WorkspaceIndex, layer: Layer, ids: Sequence[uuid.UUID]) -> None:
    """Make the marks of these rows anew in one transaction, and the vectors that are not those of
    their texts; where the embedder fails, they are due."""
    done = Rebuilt()
    with alone(index):
        rebuild.rebuild_batch(index, layer, ids, done)
    try:
        reembedding.make(index, done.incomplete)
    except ProviderError as error:
        with alone(index):
            values: dict[str, Any] = {"ids": done.incomplete, "model": index.embedding_model_id}
            statements.execute(DROP_VECTORS, values)
            statements.execute(LEAVE_DUE, {"ids": done.incomplete, "error": error.message})


def repair_subject(index: WorkspaceIndex, subject: uuid.UUID | None) -> None:
    """Repair what a statement about a subject (None: about nobody) may meet, in steps that others
    come in between."""
    for ids in _of_subject(index, subject):
        repair(index, Layer.MEMORIES, ids)


def repair_locked(index: WorkspaceIndex, subject: uuid.UUID | None) -> None:
    """The same within the caller's transaction, which holds the workspace's lock: what
    `repair_subject` has left, and all where nobody called it."""
    for ids in _of_subject(index, subject):
        done = Rebuilt()
        rebuild.rebuild_batch(index, Layer.MEMORIES, ids, done)
        # No embedder is asked here: these come again.
        statements.execute(NOT_YET, {"ids": done.incomplete})


def _of_subject(index: WorkspaceIndex, subject: uuid.UUID | None) -> Iterator[list[uuid.UUID]]:
    """Live memories about a subject with marks of another version."""
    if index.rules == RULES_VERSION:
        return
    values = _values(index, Layer.MEMORIES) | {"subject": subject}
    text = ABOUT_SOMEBODY if subject else ABOUT_NOBODY
    ids = _page(text, values, None)
    while ids:
        yield ids
        ids = _page(text, values, ids[-1])


def _page(text: str, values: dict[str, Any], after: uuid.UUID | None) -> list[uuid.UUID]:
    asked = {**values, "after": after or FIRST, "most": truth.BATCH}
    return [row.id for row in statements.rows(text, asked)]


def _values(index: WorkspaceIndex, layer: Layer) -> dict[str, Any]:
    return {"owner": index.workspace_id, "layer": int(layer), "rules": RULES_VERSION}
