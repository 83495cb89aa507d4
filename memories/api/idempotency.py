"""`Idempotency-Key`: a POST that is sent again is answered again, and done once."""

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from memories.models import IdempotentAnswer
from workspaces.api.problems import FieldError, Problem, conflict
from workspaces.api.views import AnswerRenderer
from workspaces.scope import Scope

KEPT = timedelta(hours=24)
# Longer than any request runs: after that, its process has died and the key is free again.
RUNNING = timedelta(minutes=5)
HEADER = "Idempotency-Key"


def answer_once(
    scope: Scope,
    key: str,
    act: Callable[..., Response],
    secrets: Sequence[str],
    request: Request,
    /,  # a route's own parameter may be called `key`, too
    **kwargs: Any,
) -> Response:
    """The kept answer to `key`, or that of `act`, kept for 24 hours without its `secrets`.

    Only answers that did something are kept: an error frees the key.
    Raises 409 for another body, and while the first request still runs.
    """
    claim = _claim(scope, key, _digest(request))
    if claim.status is not None:
        return Response(claim.body, status=claim.status)
    rows = IdempotentAnswer.objects.filter(pk=claim.pk)
    try:
        response = act(request, **kwargs)
    except BaseException:
        rows.delete()
        raise
    hidden = dict.fromkeys(secrets)
    rows.update(
        status=response.status_code,
        body=json.loads(AnswerRenderer.encode(response.data | hidden)),
        expires_at=timezone.now() + KEPT,
    )
    return response


def _claim(scope: Scope, key: str, digest: bytes) -> IdempotentAnswer:
    """Our own new row, or a finished one of the same request."""
    new = IdempotentAnswer(
        workspace_id=scope.workspace_id,
        asker=scope.actor,
        key=key,
        request_digest=digest,
        expires_at=timezone.now() + RUNNING,
    )
    same = IdempotentAnswer.objects.filter(
        workspace_id=scope.workspace_id, asker=scope.actor, key=key
    )
    same.filter(expires_at__lte=timezone.now()).delete()
    IdempotentAnswer.objects.bulk_create([new], ignore_conflicts=True)
    found = same.first()
    if found is None or (found.pk != new.pk and found.status is None and _is_same(found, digest)):
        raise _in_progress()
    if not _is_same(found, digest):
        raise conflict("This key was used for another request.", field=HEADER, code="key_reused")
    return found


def _is_same(found: IdempotentAnswer, digest: bytes) -> bool:
    return bytes(found.request_digest) == digest


def _in_progress() -> Problem:
    message = "The first request with this key still runs."
    errors = [FieldError(HEADER, message, "in_progress")]
    return Problem(409, message, code="in_progress", errors=errors, wait=1)


def _digest(request: Request) -> bytes:
    body = json.dumps(request.data, sort_keys=True)
    return hashlib.sha256(f"{request.path}\n{body}".encode()).digest()
