"""Idempotent answers to requests that are sent again."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.db.models import F, JSONField, Q, QuerySet, Value
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.ingest_routes import answer
from memories.documents import hidden_words
from memories.models import Document, IdempotentAnswer, MemorySession
from memories.privacy import masks
from memories.queue import leases
from memoryproject.postgres import crossings
from memoryproject.server.front.wire import SESSION, WAIT
from workspaces.api.json_answers import JsonRenderer
from workspaces.api.problems import FieldProblem, Problem, conflict
from workspaces.api.views import WorkspaceView
from workspaces.scope import Scope

# `Idempotency-Key`: a POST that is sent again is answered again, and done once.

KEPT = timedelta(hours=24)
HEADER = "Idempotency-Key"
IDS = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def answer_once(
    view: WorkspaceView,
    key: str,
    act: Callable[..., Response],
    request: Request,
    /,  # a route may have a part of its own that is called `key`
    **kwargs: Any,
) -> Response:
    """Return the kept answer to `key`, or that of `act`, kept for 24 hours without the view's
    `secrets`.

    Only answers that did something are kept: an error frees the key. Where the process of the
    first request died, an ingest is answered as its session stands, and all else is done again.
    Raises 409 for another body, and while the first request still runs.
    """
    scope, secrets = view.scope, view.secrets
    claim = _claim_key(scope, key, _digest(request), is_waited_for=SESSION in request.META)
    if claim.status is not None:
        return Response(claim.body, status=claim.status)
    rows = IdempotentAnswer.objects.filter(pk=claim.pk, claims=claim.claims, status=None)
    session = MemorySession.objects.filter(answer=claim.pk).first() if claim.claims > 1 else None
    if session is not None:
        response = answer(scope, session)
        if session.is_final:
            _keep_answer(rows, response, secrets)
        else:
            _let_go(rows, claim.pk)
        return response
    view.kept_answer = (claim.pk, claim.claims)
    with leases.renewed(lambda: rows):
        try:
            response = act(request, **kwargs)
        except BaseException:
            _let_go(rows, claim.pk)
            raise
    if WAIT in request.META:  # the front waits, and asks again when the session is final
        rows.update(lease_until=timezone.now() + timedelta(seconds=request.META[WAIT][1]))
    else:
        _keep_answer(rows, response, secrets)
    return response


@transaction.atomic
def make_once(
    actor: str,
    key: str,
    make: Callable[[Request], Response],
    secrets: Sequence[str],
    request: Request,
) -> Response:
    """Do what `answer_once` does for a request that makes a workspace: the answer is kept in the
    new workspace, in the same transaction, and is removed with it."""
    asker = f"{actor} makes"  # no key that a member used inside of a workspace
    with connection.cursor() as cursor:  # the same key at once waits for the first
        cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{asker} {key}"])
    now = timezone.now()
    with crossings.everywhere():  # the workspace that was made is not the caller's
        known = IdempotentAnswer.objects.filter(asker=asker, key=key, expires_at__gt=now).first()
    digest = _digest(request)
    if known is not None:
        if bytes(known.request_digest) != digest:
            raise _key_reused()
        return Response(known.body, status=known.status)
    response = make(request)
    body = _body_to_keep(response, secrets)
    IdempotentAnswer.objects.create(
        workspace_id=body["id"],
        asker=asker,
        key=key,
        request_digest=digest,
        status=response.status_code,
        body=body,
        expires_at=now + KEPT,
    )
    return response


def _keep_answer(rows: QuerySet[IdempotentAnswer], response: Response, secrets: Sequence[str]) -> None:
    rows.update(
        status=response.status_code,
        body=Value(_body_to_keep(response, secrets), JSONField()),
        lease_until=None,
        expires_at=timezone.now() + KEPT,
    )


def _body_to_keep(response: Response, secrets: Sequence[str]) -> Any:
    """Return the body as it was rendered, for it may hold values that only the renderer can write;
    without secrets."""
    body = json.loads(JsonRenderer.encode(response.data))
    return body | dict.fromkeys(secrets) if secrets else body


def _let_go(rows: QuerySet[IdempotentAnswer], pk: uuid.UUID) -> None:
    """Free the key. Where the request has made a session, only end the lease: that goes on."""
    if MemorySession.objects.filter(answer=pk).exists():
        rows.update(lease_until=timezone.now())
    else:
        rows.delete()


def _claim_key(scope: Scope, key: str, digest: bytes, *, is_waited_for: bool) -> IdempotentAnswer:
    """Return the row of this key: a new one, that of a request whose process died, or the finished
    one of an equal request. Raises a Problem for another body, and while the first still runs.

    `is_waited_for`: the front asks again for the request that made the row, so it may take it.
    """
    now = timezone.now()
    new = IdempotentAnswer(
        workspace_id=scope.workspace_id,
        asker=scope.actor,
        key=key,
        request_digest=digest,
        expires_at=now + KEPT,
        lease_until=leases.end(),
    )
    same = IdempotentAnswer.objects.filter(workspace_id=scope.workspace_id, asker=scope.actor, key=key)
    same.filter(expires_at__lte=now).delete()
    IdempotentAnswer.objects.bulk_create([new], ignore_conflicts=True)
    found = same.first()
    if found is None:
        raise _in_progress()
    if found.pk == new.pk:
        return found
    if bytes(found.request_digest) != digest and not _is_hidden(scope, found):
        raise _key_reused()
    if found.status is not None:
        return found
    return _taken_over(found, Q() if is_waited_for else leases.free(timezone.now()))


def _is_hidden(scope: Scope, found: IdempotentAnswer) -> bool:
    """Tell whether a kept answer has words that the asker may not see, though they came with the
    asker's key: then the reply must not reveal whether another body differs from the first."""
    if scope.may_unmask or found.status is None:
        return False
    ids = [uuid.UUID(each) for each in IDS.findall(json.dumps(found.body))]
    documents = Document.objects.filter(pk__in=ids)
    return masks.of_any(ids) or not all(hidden_words.is_open(each) for each in documents)


@transaction.atomic
def _taken_over(found: IdempotentAnswer, free: Q) -> IdempotentAnswer:
    """Claim the row of a request that no longer runs. Raises a Problem where it still does."""
    rows = IdempotentAnswer.objects.filter(free, pk=found.pk, status=None)
    if not rows.update(claims=F("claims") + 1, lease_until=leases.end(), updated_at=timezone.now()):
        raise _in_progress()
    found.refresh_from_db()
    return found


def _key_reused() -> Problem:
    return conflict("This key was used for another request.", field=HEADER, code="key_reused")


def _in_progress() -> Problem:
    message = "The first request with this key still runs."
    errors = [FieldProblem(HEADER, message, "in_progress")]
    return Problem(409, message, code="in_progress", errors=errors, wait=1)


def _digest(request: Request) -> bytes:
    body = json.dumps(request.data, sort_keys=True, default=_digest_of_file)
    return hashlib.sha256(f"{request.path_info}\n{body}".encode()).digest()


def _digest_of_file(file: UploadedFile) -> str:
    digest = hashlib.sha256()
    for part in file.chunks():
        digest.update(part)
    file.seek(0)
    return digest.hexdigest()
