"""Checks that every route of the API makes first: who asks, of which workspace, and may they?"""

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.module_loading import import_string
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from memoryproject.postgres import visible
from workspaces.api.json_answers import JsonRenderer
from workspaces.api.json_requests import (
    StrictJSONParser,
    refuse_null_in_address,
    refuse_unknown_parameters,
    refuse_unmeasured_body,
)
from workspaces.api.problems import invalid, not_found, refused
from workspaces.api.schema import DoorSchema
from workspaces.auth import as_uuid
from workspaces.keys import NOTHING, ServerAsker
from workspaces.models import Capability, User
from workspaces.scope import OF_OTHERS, Scope, covers

NEEDS = {
    "GET": Capability.READ,
    "POST": Capability.WRITE,
    "PATCH": Capability.CURATE,
    "DELETE": Capability.CURATE,
}
CURATES = NEEDS | {"POST": Capability.CURATE}  # a person's word
ADMINISTERS = dict.fromkeys(NEEDS, Capability.ADMIN)
LONGEST_KEY = 255
USER = "userId"


class AnswersJSON(BaseContentNegotiation):
    """Content negotiation that always answers JSON, whatever the client accepts."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        content_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((p for p in parsers if p.media_type == content_type), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class IsKnown(BasePermission):
    """Requires a valid key or a member's session; 401 otherwise."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, Scope | ServerAsker) or bool(request.user)


class AskerView(APIView):
    """A route for every known asker."""

    http_method_names = ["get", "head", "post", "patch", "delete"]
    parser_classes = (StrictJSONParser,)
    renderer_classes = (JsonRenderer,)
    content_negotiation_class = AnswersJSON
    permission_classes = (IsKnown,)
    metadata_class = None
    schema = DoorSchema()
    beside = NOTHING  # more to read in the statement that finds the key

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        refuse_null_in_address(request)
        refuse_unmeasured_body(request)
        refuse_unknown_parameters(self, request)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Break the reference cycle of view and request after the answer: all that a request makes
        would wait for the garbage collector, which takes longer than the routing."""
        with visible.only():  # no rows, until the asker is known
            response = super().dispatch(request, *args, **kwargs)
        self.request.parser_context = {}
        return response


class WorkspaceView(AskerView):
    """A route of one workspace. `needs` names the capability for each method; `kept_answer` is the
    row of the request's Idempotency-Key and the number of its claim."""

    needs: ClassVar[Mapping[str, str]] = NEEDS
    secrets: ClassVar[tuple[str, ...]] = ()  # fields of an answer that are never kept
    scope: Scope
    post: Callable[..., HttpResponse]
    kept_answer: tuple[uuid.UUID, int] | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.scope = asked_scope(request, kwargs["workspace"])
        method = "GET" if request.method == "HEAD" else request.method or ""
        if hasattr(self, method.lower()):
            capability = self.needs.get(method, Capability.ADMIN)
            if not self.scope.may(capability):
                raise refused(f"This needs the capability {capability}.")
            # A narrow key that could issue keys would not be narrow.
            if capability == Capability.ADMIN and self.scope.is_narrow:
                raise refused("A key of an agent, or with limits, does not administer.")
        if self.scope.subject_ids is not None and self.needs.get(method) == Capability.READ:
            refuse_others(self.scope, request)
        key = idempotency_key(request) if method == "POST" and hasattr(self, "post") else None
        if key is not None:  # wrap the method that dispatch calls, so that it runs once per key
            self.post = partial(import_string(settings.API_IDEMPOTENCY), self, key, self.post)


def refuse_others(scope: Scope, request: Request) -> None:
    """Raise a Problem where a key that is limited to subjects asks about somebody else: an empty
    answer would say that nothing is known of them."""
    body = request.data if request.method == "POST" else None
    named = request.query_params.get(USER) or (isinstance(body, dict) and body.get(USER))
    if isinstance(named, str) and named and not covers(scope, named):
        raise refused(OF_OTHERS, USER)


def idempotency_key(request: Request) -> str | None:
    key: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None:
        return None
    if not key.isascii() or not key.isprintable() or not 0 < len(key) <= LONGEST_KEY:
        message = f"Must be 1 to {LONGEST_KEY} printable ASCII characters."
        raise invalid("Idempotency-Key", message)
    return key


def administrator_of(request: Request) -> str:
    """Return the actor where an administrator of the server asks: a superuser in a session, or a
    server key. Empty for everybody else."""
    if isinstance(request.auth, ServerAsker):
        return request.auth.actor
    user = request.user
    return f"user:{user.pk}" if isinstance(user, User) and user.is_superuser else ""


def asked_scope(request: Request, workspace: str) -> Scope:
    """Return the asker's scope, where the workspace in the path is theirs; 404 otherwise."""
    scope = request.auth
    if not isinstance(scope, Scope):
        raise not_found("This workspace")
    if workspace != scope.slug and as_uuid(workspace) != scope.workspace_id:
        raise not_found("This workspace")
    return scope
