"""Errors of the API: always RFC 9457 `application/problem+json`, and never a stack trace."""

import logging
import re
import sys
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

import psycopg
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views import csrf, defaults
from django.views.decorators.csrf import csrf_exempt
from msgspec import UNSET, UnsetType
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from memoryproject.postgres.base import cause_of
from workspaces.api.json_answers import JsonAnswer, JsonRenderer
from workspaces.login.throttle import request_id_of
from workspaces.members import MembershipConflict
from workspaces.scope import NotAllowed

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
DATABASE_PAUSE = 5  # seconds
MOST_NAMED = 5  # fields in one sentence
_index = re.compile(r"\[\d+\]")
HTML_PATHS = ("/admin", "/accounts", "/static", "/docs", "/oauth/consent", "/oauth/apps")
SPOKEN = {"subject": "userId", "agent": "agentId"}


class FieldProblem(JsonAnswer):
    """A problem with one field; `field` is its path in the caller's own words. `also` lists the
    paths of other fields with the same problem."""

    field: str
    message: str
    code: str
    also: list[str] | UnsetType = UNSET

    @property
    def places(self) -> list[str]:
        return [self.field, *(self.also or ())]

    def __str__(self) -> str:
        more = len(self.places) - 1
        place = f"{self.field} and {more} more" if more else self.field
        return f"{place}: {self.message}" if place else self.message


def said_once(errors: Iterable[FieldProblem]) -> list[FieldProblem]:
    """Merge the same problem in the same field of several messages into one."""
    likewise: dict[tuple[str, str, str], list[FieldProblem]] = {}
    for error in errors:
        kind = _index.sub("[]", error.field), error.message, error.code
        likewise.setdefault(kind, []).append(error)
    for first, *others in likewise.values():
        if others:
            first.also = [error.field for error in others]
    return [first for first, *_ in likewise.values()]


class ProblemJson(JsonAnswer):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem]
    request_id: str


class Problem(APIException):
    """An answer that is an error. `wait` is in seconds, for Retry-After. `detail` says everything,
    for clients that are not shown `errors`."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str = "",
        errors: Sequence[FieldProblem] = (),
        wait: float | None = None,
    ) -> None:
        super().__init__(detail, code or None)
        self.status_code = status
        self.code = code or HTTPStatus(status).name.lower()
        self.errors = tuple(errors)
        self.wait = wait


def invalid(field: str, message: str, code: str = "invalid") -> Problem:
    """Return a 400 that names one field."""
    return Problem(400, f"{field}: {message}", code=code, errors=[FieldProblem(field, message, code)])


def not_found(what: str = "This") -> Problem:
    return Problem(404, f"{what} was not found.")


def refused(message: str, field: str = "") -> Problem:
    """Return a 403, with the field that names what the asker may not touch, where there is one."""
    errors = [FieldProblem(field, message, "forbidden")] if field else []
    return Problem(403, message, code="forbidden", errors=errors)


def conflict(message: str, *, field: str = "", code: str = "conflict") -> Problem:
    errors = [FieldProblem(field, message, code)] if field else []
    return Problem(409, message, code=code, errors=errors)


def too_large(largest: int) -> Problem:
    return Problem(413, f"The body is larger than {largest} bytes.", code="too_large")


def respond(error: Exception, context: dict[str, Any]) -> Response:
    """Answer `error`. An unforeseen one is logged and becomes a 500 that says no more."""
    problem = problem_of(error)
    request = context["request"]
    if problem is None:
        log.exception("request %s failed", request_id_of(request), exc_info=error)
        problem = Problem(500, "The server failed. The log has the cause under this requestId.")
    elif problem.status_code == 503:
        log.error("request %s: %s", request_id_of(request), error.__cause__ or error)
    return Response(
        body_of(problem, request),
        status=problem.status_code,
        headers=_headers(problem, error),
        content_type=CONTENT_TYPE,
    )


def problem_of(error: Exception) -> Problem | None:
    """Return the problem for an exception of DRF, Django or this package."""
    match error:
        case Problem():
            return error
        case APIException():
            code = str(getattr(error.detail, "code", error.default_code))
            wait = getattr(error, "wait", None)
            return Problem(error.status_code, str(error.detail), code=code, wait=wait)
        case NotAllowed():
            return refused(error.message, SPOKEN.get(error.field, error.field))
        case MembershipConflict():
            return conflict(error.message, field=error.field)
        case _:
            return _of_django(error)


def body_of(problem: Problem, request: HttpRequest) -> ProblemJson:
    """Make the body of a problem. `detail` does not repeat what `errors` say."""
    is_told = problem.status_code == HTTPStatus.BAD_REQUEST and problem.errors
    return ProblemJson(
        type="about:blank",
        title=HTTPStatus(problem.status_code).phrase,
        status=problem.status_code,
        detail=_places(problem.errors) if is_told else str(problem.detail),
        code=problem.code,
        errors=list(problem.errors),
        request_id=request_id_of(request),
    )


def _places(errors: Sequence[FieldProblem]) -> str:
    places = [place for error in errors for place in error.places if place]
    if len(places) < 2:
        return f"{places[0] if places else 'The request'} is not right: see errors."
    more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
    return f"Not right, see errors: {', '.join(places[:MOST_NAMED])}{more}."


def _headers(problem: Problem, error: Exception) -> dict[str, str]:
    headers = {}
    if problem.wait is not None:
        headers["Retry-After"] = str(max(1, round(problem.wait)))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    return headers


def _of_django(error: Exception) -> Problem | None:
    if (cause := cause_of(error)) is not None:
        code, detail = cause
        return Problem(503, detail, code=code, wait=DATABASE_PAUSE)
    match error:
        case Http404():
            return not_found()
        case PermissionDenied():
            return refused("This is not allowed.")
        case RequestDataTooBig():
            return Problem(413, "The body is too large.")
        case SuspiciousOperation():
            return Problem(400, "The request cannot be read.")
        case OperationalError() | InterfaceError() | psycopg.OperationalError() | psycopg.InterfaceError():
            return Problem(503, _of_database(error), code="database", wait=DATABASE_PAUSE)
        case _:
            return None


def _of_database(error: Exception) -> str:
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    match cause:
        case psycopg.errors.QueryCanceled() | psycopg.errors.ConnectionTimeout():
            return "The database did not answer in time."
        case psycopg.errors.LockNotAvailable():
            return "Another write holds what this one needs, for too long."
        case _:
            return "The database cannot be reached."


# ---- Django's own error pages, for requests that never reach a view --------------------------


def page(problem: Problem, request: HttpRequest) -> HttpResponse:
    body = JsonRenderer.encode(body_of(problem, request))
    headers = _headers(problem, problem)
    return HttpResponse(body, status=problem.status_code, headers=headers, content_type=CONTENT_TYPE)


def is_html(request: HttpRequest) -> bool:
    return request.path_info.startswith(HTML_PATHS)


@csrf_exempt
def unknown_route(request: HttpRequest, **_: Any) -> HttpResponse:
    return page(not_found("This route"), request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if is_html(request):
        return defaults.bad_request(request, exception)
    return page(problem_of(exception) or Problem(400, "The request cannot be read."), request)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if is_html(request):
        return defaults.permission_denied(request, exception)
    return page(refused("This is not allowed."), request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    if is_html(request):
        return csrf.csrf_failure(request, reason)
    return page(refused("The request does not come from a page of ours."), request)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if is_html(request):
        return defaults.page_not_found(request, exception)
    return unknown_route(request)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Answer an error that no view caught; Django calls this while it handles it."""
    error = sys.exc_info()[1]
    problem = problem_of(error) if isinstance(error, Exception) else None
    if problem is None or problem.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
        problem = Problem(500, "The server failed.")
    if not is_html(request):
        return page(problem, request)
    if problem.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
        return defaults.server_error(request)
    told = f"<!doctype html><title>{problem.status_code}</title><p>{problem.detail}</p>"
    return HttpResponse(told, status=problem.status_code, headers=_headers(problem, problem))
