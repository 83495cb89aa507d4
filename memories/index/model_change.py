"""A writer that began under one embedding model and ends under another."""

from collections.abc import Sequence

from memories.index import statements
from memories.models import WorkspaceIndex

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
