"""Ingest: keep what was said, then learn from it.

`receive` writes episodes and a session in one short transaction, before anything can fail.
`run` claims a session, extracts, embeds and resolves; it can run twice, and from the rows alone.
`ingest` is both, where the request itself can do the work.
"""

from memories.ingest.extract_preview import Preview, preview
from memories.ingest.ingest_request import IngestRequest, NewMessage
from memories.ingest.process import TURN, ingest, run, run_next
from memories.ingest.second_opinions import ask_models, doubtful_workspaces
from memories.ingest.session_queue import (
    MAX_ATTEMPTS,
    MAX_FAILURES,
    due_sessions,
    give_back_abandoned,
    retry,
    settled_among,
)
from memories.ingest.store import append, receive

__all__ = [
    "MAX_ATTEMPTS",
    "MAX_FAILURES",
    "TURN",
    "IngestRequest",
    "NewMessage",
    "Preview",
    "append",
    "ask_models",
    "doubtful_workspaces",
    "due_sessions",
    "give_back_abandoned",
    "ingest",
    "preview",
    "receive",
    "retry",
    "settled_among",
    "run",
    "run_next",
]
