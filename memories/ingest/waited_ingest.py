"""Ingests that wait inside an HTTP request for the worker, whichever API they came through: the
front waits if there is one. And how long requests may wait for the worker at all."""

import time
import uuid
from collections.abc import MutableMapping
from typing import Any

from memories import ingest
from memories.errors import erased
from memories.ingest import IngestRequest
from memories.models import MemorySession
from memories.queue import outbox
from memoryproject.server.front.wire import FRONT, SESSION, WAIT
from workspaces.scope import Scope

# Seconds: the most that a caller may ask for, and the default wait for an ingest, an erasure or the
# removal of a workspace; then the worker goes on alone.
LONGEST_WAIT, USUAL_WAIT = 60.0, 10.0
FIRST_LOOK, SLOWEST_LOOK = 0.02, 0.25  # seconds


def session_waited_for(scope: Scope, environ: MutableMapping[str, Any]) -> MemorySession | None:
    """The session of a request that the front sends again after waiting; None for any other. Raises
    Conflict where it was erased meanwhile."""
    named = environ.get(SESSION)
    return _row_of(scope.workspace_id, named) if named else None


def wait_for_ingest(
    scope: Scope, environ: MutableMapping[str, Any], request: IngestRequest, seconds: float
) -> MemorySession:
    """The session as it is after so many seconds, or earlier where it is final.

    The front waits beside its processes, and then sends the same request again: `environ` tells it
    so. Without a front, this polls.
    """
    deadline = time.monotonic() + seconds
    session = ingest.ingest(scope, request, seconds)
    if session.mode != MemorySession.Mode.SYNC or session.is_final:
        return session
    if not session.claims:
        outbox.post("run_session", session.pk)
    left = deadline - time.monotonic()
    if FRONT in environ:
        if left > 0:
            environ[WAIT] = [str(session.pk), left]
        return session
    # Until it is final, or is retried later because a model failed, or the time is over.
    pause = FIRST_LOOK
    while not (session.is_final or session.is_postponed) and time.monotonic() < deadline:
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, SLOWEST_LOOK)
        session = _row_of(session.workspace_id, session.pk)
    return session


def _row_of(workspace_id: uuid.UUID, session_id: uuid.UUID | str) -> MemorySession:
    session = MemorySession.objects.filter(workspace_id=workspace_id, pk=session_id).first()
    if session is None:
        raise erased()
    return session
