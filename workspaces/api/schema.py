"""What the OpenAPI schema says of every route: its problems, its keys, its workspace."""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from workspaces.api.problems import FieldError, Problem

ALWAYS = {
    "400": "Something in the request is not right; `errors` names it.",
    "401": "No key, or one that is unknown, revoked or expired.",
    "403": "The key or role does not allow this.",
    "404": "There is no such thing, or the asker may not know of it.",
    "429": "Too many requests; Retry-After tells when to come again.",
    "default": "Any other problem.",
}
WITH_BODY = {
    "409": "What it is about has changed, or says otherwise.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
}
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key and body answer the same again, for 24 hours.",
)


class FieldProblem(serializers.Serializer[Any]):
    field = serializers.CharField()
    message = serializers.CharField()
    code = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = FieldProblem(many=True)  # type: ignore[assignment]
    requestId = serializers.CharField()  # noqa: N815  as it is on the wire


class DoorSchema(AutoSchema):
    """Adds to each operation the problems it may answer."""

    def get_override_parameters(self) -> list[Any]:
        return [IDEMPOTENCY_KEY] if self.method == "POST" else []

    def get_tags(self) -> list[str]:
        parts = [part for part in self.path.split("/") if part and "{" not in part]
        return [parts[1] if len(parts) > 1 else "workspaces"]

    def _get_response_bodies(
        self, direction: Literal["request", "response"] = "response"
    ) -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        problems = ALWAYS | (WITH_BODY if self.method in ("POST", "PATCH", "DELETE") else {})
        component = self.resolve_serializer(ProblemSerializer, "response")
        for status, description in problems.items():
            bodies.setdefault(status, _problem(component, description))
        return bodies


def refuse_unknown_parameters(view: APIView, request: Request) -> None:
    """400 that names each parameter of the query string that the schema of this operation does not
    have: `?dryRun=true` where there is none would else do what the caller only asks about."""
    method = "get" if request.method == "HEAD" else (request.method or "").lower()
    handler = getattr(type(view), method, None)
    if not request.META.get("QUERY_STRING") or method not in view.http_method_names or not handler:
        return
    known = _query_parameters(handler)
    if unknown := [name for name in request.query_params if name not in known]:
        there_are = f"Known: {', '.join(known) or 'none'}."
        errors = [
            FieldError(name, f"There is no such parameter. {there_are}", "unknown_field")
            for name in unknown
        ]
        detail = f"Unknown: {', '.join(unknown)}. {there_are}"
        raise Problem(400, detail, code="unknown_field", errors=errors)


@cache
def _query_parameters(handler: Callable[..., Any]) -> tuple[str, ...]:
    """Names of what `extend_schema` says that a method of a view reads out of the query string."""
    declared = getattr(handler, "kwargs", {}).get("schema")
    if declared is None:
        return ()
    schema = declared()
    schema.view, schema.method = APIView(request=None, kwargs={}), handler.__name__.upper()
    names: list[str] = []
    for parameter in schema.get_override_parameters():
        if isinstance(parameter, OpenApiParameter):
            names += [parameter.name] if parameter.location == OpenApiParameter.QUERY else []
        else:
            names += parameter().fields
    return tuple(names)


def _problem(component: ResolvedComponent, description: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": component.ref}}
    return {"content": content, "description": description}


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "workspaces.auth.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "An API key."}


class MemberScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "workspaces.auth.MemberAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
