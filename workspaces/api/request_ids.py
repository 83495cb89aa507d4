"""An id for every request, in the answer's `X-Request-Id` and in all that is logged meanwhile."""

import re
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from memoryproject import log_lines
from workspaces.api import refusals

ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,64}\Z")


class RequestIdMiddleware:
    """Keeps the caller's `X-Request-Id` where it is short and plain, else makes one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.META["REQUEST_ID"] = given if ACCEPTED.match(given) else uuid.uuid4().hex
        token = log_lines.request_id.set(request.META["REQUEST_ID"])
        try:
            response = self.get_response(request)
            refusals.note(request, response)
        finally:
            log_lines.request_id.reset(token)
        response.headers["X-Request-Id"] = request.META["REQUEST_ID"]
        return response


def request_id_of(request: HttpRequest) -> str:
    return str(request.META.get("REQUEST_ID", ""))
