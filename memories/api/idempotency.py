"""`Idempotency-Key`: a POST that is sent again is answered again, and done once."""

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.db.models import JSONField, Q, QuerySet, Value
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from memories import leases
from memories.api.ingest_routes import answer
from memories.models import IdempotentAnswer, MemorySession
from memoryproject import crossings
from memoryproject.front.wire import SESSION, WAIT
from workspaces.api.json_answers import JsonRenderer
from workspaces.api.problems import FieldProblem, Problem, conflict
from workspaces.scope import Scope

KEPT = timedelta(hours=24)
HEADER = "Idempotency-Key"


def answer_once(
    scope: Scope,
    key: str,
    act: Callable[..., Response],
    secrets: Sequence[str],
    request: Request,
    /,  # a route may have a part of its own that is called `key`
    **kwargs: Any,
) -> Response:
    """The kept answer to `key`, or that of `act`, kept for 24 hours without its `secrets`.

    Only answers that did something are kept: an error frees the key. Where the process of the
    first request died, an ingest is answered as its session stands, and all else is done again.
    Raises 409 for another body, and while the first request still runs.
    """
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
    vars(request)["answer"] = (claim.pk, claim.claims)  # for what is done once by its rows
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
    """As `answer_once`, where what is made is the workspace: the answer is kept in the one that was
    made, in the same transaction, and goes with it."""
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


def _keep_answer(
    rows: QuerySet[IdempotentAnswer], response: Response, secrets: Sequence[str]
) -> None:
    rows.update(
        status=response.status_code,
        body=Value(_body_to_keep(response, secrets), JSONField()),
        lease_until=None,
        expires_at=timezone.now() + KEPT,
    )


def _body_to_keep(response: Response, secrets: Sequence[str]) -> Any:
    """The body as it was rendered, for it may hold what only the renderer can write; without
    secrets."""
    body = json.loads(JsonRenderer.encode(response.data))
    return body | dict.fromkeys(secrets) if secrets else body


def _let_go(rows: QuerySet[IdempotentAnswer], pk: uuid.UUID) -> None:
    """Free the key, unless what was kept is learned from by others."""
    if MemorySession.objects.filter(answer=pk).exists():
        rows.update(lease_until=timezone.now())
    else:
        rows.delete()


def _claim_key(scope: Scope, key: str, digest: bytes, *, is_waited_for: bool) -> IdempotentAnswer:
    """Our own new row, that of a request whose process died, or a finished one of the same.

    `is_waited_for`: by whoever made the row, so it is its own.
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
    same = IdempotentAnswer.objects.filter(
        workspace_id=scope.workspace_id, asker=scope.actor, key=key
    )
    same.filter(expires_at__lte=now).delete()
    IdempotentAnswer.objects.bulk_create([new], ignore_conflicts=True)
    found = same.first()
    if found is None:
        raise _in_progress()
    if found.pk == new.pk:
        return found
    if bytes(found.request_digest) != digest:
        raise _key_reused()
    if found.status is not None:
        return found
    return _taken_over(found, Q() if is_waited_for else leases.free(timezone.now()))


@transaction.atomic
def _taken_over(found: IdempotentAnswer, free: Q) -> IdempotentAnswer:
    """The row of a request that runs no more, claimed anew."""
    rows = IdempotentAnswer.objects.filter(pk=found.pk, status=None).select_for_update()
    row = rows.filter(free).first()
    if row is None:
        raise _in_progress()
    row.claims, row.lease_until = row.claims + 1, leases.end()
    row.save(update_fields=["claims", "lease_until", "updated_at"])
    return row


def _key_reused() -> Problem:
    return conflict("This key was used for another request.", field=HEADER, code="key_reused")


def _in_progress() -> Problem:
    message = "The first request with this key still runs."
    errors = [FieldProblem(HEADER, message, "in_progress")]
    return Problem(409, message, code="in_progress", errors=errors, wait=1)


def _digest(request: Request) -> bytes:
    body = json.dumps(request.data, sort_keys=True, default=_digest_of_file)
    return hashlib.sha256(f"{request.path}\n{body}".encode()).digest()


def _digest_of_file(file: UploadedFile) -> str:
    digest = hashlib.sha256()
    for part in file.chunks():
        digest.update(part)
    file.seek(0)
    return digest.hexdigest()
