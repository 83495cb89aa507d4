"""The worker's tasks: each takes ids, calls a function, and sees only the workspace of that row.
Every task can run twice."""

import uuid
from collections.abc import Callable
from functools import partial

from memories import ingest
from memories.documents import document_queue, pipeline
from memories.index import hnsw_segments, repair
from memories.privacy.erase import run as run_erasure
from memories.privacy.erase import workspace_removal
from memories.profiles.features import consolidate, set_embedding
from memories.profiles.features.update import update_set
from memories.profiles.summaries.running_summary import summarize as make_summary
from memories.sources.connections import sync
from memories.worker import sweep as sweeping
from memories.worker import waiting_for_models
from memoryproject.postgres import crossings, visible


def run_session(session_id: str) -> None:
    """Run the session that the rows put first: the job only says that something is due."""
    ingest.run_next(ingest.TURN)


def fill_space(number: str) -> None:
    sweeping.fill_space(int(number))


def fold_set(set_id: str) -> None:
    row_id = uuid.UUID(set_id)
    with crossings.of_row("memories_featureset", row_id):
        update_set(row_id)


def summarize(summary_id: str) -> None:
    row_id = uuid.UUID(summary_id)
    with crossings.of_row("memories_conversationsummary", row_id):
        make_summary(row_id)


def embed_set(set_id: str) -> None:
    row_id = uuid.UUID(set_id)
    with crossings.of_row("memories_featureset", row_id):
        set_embedding.embed(row_id)


def consolidate_set(set_id: str) -> None:
    row_id = uuid.UUID(set_id)
    with crossings.of_row("memories_featureset", row_id):
        consolidate.consolidate_set(row_id)


def erase(erasure_id: str) -> None:
    row_id = uuid.UUID(erasure_id)
    with crossings.of_row("memories_erasure", row_id):
        run_erasure(row_id)


def repair_index(workspace_id: str) -> None:
    with visible.only(uuid.UUID(workspace_id)):
        repair.run(uuid.UUID(workspace_id))


def remove_workspace(removal_id: str) -> None:
    row_id = uuid.UUID(removal_id)
    with crossings.of_row("workspaces_workspaceremoval", row_id):
        workspace_removal.run(row_id)


def run_document(document_id: str) -> None:
    """Read the document that the rows put first, as with sessions."""
    pipeline.run_next(document_queue.TURN)


def run_sync(run_id: str) -> None:
    row_id = uuid.UUID(run_id)
    with crossings.of_row("memories_syncrun", row_id):
        sync.run(row_id)


@crossings.everywhere()
def seal() -> None:
    hnsw_segments.rebuild_indexes()


@crossings.everywhere()
def wake_waiting() -> None:
    waiting_for_models.wake()


def sweep() -> None:
    sweeping.sweep()


# All jobs that a worker runs, by their names in the queue.
JOBS: dict[str, Callable[..., None]] = {
    f"{__name__}.{job.__name__}": job
    for job in (
        consolidate_set,
        embed_set,
        erase,
        fill_space,
        fold_set,
        remove_workspace,
        repair_index,
        run_document,
        run_session,
        run_sync,
        seal,
        summarize,
        sweep,
        wake_waiting,
    )
}


class UnlistedJob(Exception):
    """The queue named an unknown job."""


def listed(name: object) -> Callable[..., None]:
    """Return the job of this name; for any other, one that raises UnlistedJob."""
    return JOBS.get(str(name)) or partial(_refuse, str(name))


def _refuse(name: str, *_: object) -> None:
    raise UnlistedJob(f"{name!r} is no job of this server's, and was not run")
