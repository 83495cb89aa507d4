"""The errors of memories/errors.py as problems of HTTP, for every door that speaks it."""

from typing import Any

from rest_framework.response import Response

from memories.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NoRoom,
    NotFound,
    ProviderError,
    WorkspaceFull,
)
from workspaces.api.problems import (
    FieldProblem,
    Problem,
    conflict,
    invalid,
    not_found,
    refused,
    respond,
    said_once,
)

PROVIDER_PAUSE = 30.0  # seconds
ROOM_PAUSE = 60.0
PROVIDER_FAILED = (
    "A model's provider failed, and the server's log has the cause under this requestId. Try again"
    " later; a search does without it by another ranking: hybrid or keyword."
)


def as_problem(error: Exception) -> Exception:
    """Return the Problem for one of our own errors; any other error as it is."""
    match error:
        case Invalid():
            # 400 with all known faults.
            if not error.others:
                return invalid(error.field, error.message, error.code)
            errors = said_once(FieldProblem(one.field, one.message, one.code) for one in error.all)
            return Problem(400, " ".join(map(str, errors)), code=error.code, errors=errors)
        case WorkspaceFull():  # no wait helps: somebody has to make room
            return Problem(507, error.message, code="workspace_full")
        case NoRoom():
            return Problem(507, error.message, code=error.code, wait=ROOM_PAUSE)
        case Conflict(field="If-Match"):
            return Problem(412, error.message, code=error.code)
        case Conflict():
            return conflict(error.message, field=error.field, code=error.code)
        case NotFound():
            return not_found(error.what)
        case Forbidden():
            return refused(error.message, error.field)
        case ProviderError():
            # Where the provider is and what it said is for the log: the cause is written there.
            wait = error.retry_after or PROVIDER_PAUSE
            problem = Problem(503, PROVIDER_FAILED, code="provider", wait=wait)
            problem.__cause__ = error
            return problem
        case _:
            return error


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's hook: every exception of a view becomes application/problem+json."""
    return respond(as_problem(error), context)
