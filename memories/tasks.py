"""What the worker does: ids in, a verb called. Every task can run twice."""

import uuid

from memories import ingest
from memories import sweep as sweeping
from memories.erase import run as run_erasure
from memories.erase import workspace_removal
from memories.features import consolidate, set_embedding
from memories.features.update import update_set
from memories.index import repair, segments
from memories.summaries.summarize import summarize as make_summary


def run_session(session_id: str) -> None:
    """The bell says that something is due; whose turn it is, the rows say."""
    ingest.run_next(ingest.TURN)


def fill_space(number: str) -> None:
    sweeping.fill_space(int(number))


def fold_set(set_id: str) -> None:
    update_set(uuid.UUID(set_id))


def summarize(summary_id: str) -> None:
    make_summary(uuid.UUID(summary_id))


def embed_set(set_id: str) -> None:
    set_embedding.embed(uuid.UUID(set_id))


def consolidate_set(set_id: str) -> None:
    consolidate.consolidate_set(uuid.UUID(set_id))


def erase(erasure_id: str) -> None:
    run_erasure(uuid.UUID(erasure_id))


def repair_index(workspace_id: str) -> None:
    repair.run(uuid.UUID(workspace_id))


def remove_workspace(removal_id: str) -> None:
    workspace_removal.run(uuid.UUID(removal_id))


def seal() -> None:
    segments.build_and_drop()


def sweep() -> None:
    sweeping.sweep()
