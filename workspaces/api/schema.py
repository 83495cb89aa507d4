"""Parts of the OpenAPI schema that all routes share: their problems, keys and workspace; and the
schemas of the declared classes of answers and requests."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, Literal, TypeVar, cast

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, list_hash
from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import inspect
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from workspaces.api.json_answers import JsonAnswer, fields_of
from workspaces.api.json_requests import adapter_of
from workspaces.api.paging import PageQuery, page_of
from workspaces.api.problems import ProblemJson

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
Act = TypeVar("Act", bound=Callable[..., Any])
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key and body answer the same again, for 24 hours.",
)

_component: Callable[..., ResolvedComponent] = ResolvedComponent  # the class has no types
PLAIN: dict[type[inspect.Type], dict[str, Any]] = {
    inspect.StrType: {"type": "string"},
    inspect.IntType: {"type": "integer"},
    inspect.FloatType: {"type": "number", "format": "double"},
    inspect.BoolType: {"type": "boolean"},
    inspect.UUIDType: {"type": "string", "format": "uuid"},
    inspect.DateType: {"type": "string", "format": "date"},
    inspect.DateTimeType: {"type": "string", "format": "date-time"},
    inspect.AnyType: {},
}


def operation(
    name: str,
    *,
    query: type[Any] | None = None,
    headers: Sequence[OpenApiParameter] = (),
    request: Any = None,
    answer: Any = None,
    page: type[JsonAnswer] | None = None,
) -> Callable[[Act], Act]:
    """Declare what the schema says of a view's method: the classes of its query string, of its body
    and of its answer (by status, where there are several), or of what a page lists."""
    if page is not None:
        query, answer = query or PageQuery, page_of(page)
    parameters = [*headers, *([cast(Any, query)] if query else [])]
    described = extend_schema(operation_id=name, parameters=parameters, request=request, responses=answer)

    def declare(act: Act) -> Act:
        vars(act)["query"] = query
        return described(act)

    return declare


class DoorSchema(AutoSchema):
    """Adds to each operation the problems it may answer."""

    def get_override_parameters(self) -> list[Any]:
        return [IDEMPOTENCY_KEY] if self.method == "POST" else []

    def get_tags(self) -> list[str]:
        parts = [part for part in self.path.split("/") if part and "{" not in part]
        return [parts[1] if len(parts) > 1 else "workspaces"]

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        problems = ALWAYS | (WITH_BODY if self.method in ("POST", "PATCH", "DELETE") else {})
        component = self.resolve_serializer(cast(Any, ProblemJson), "response")
        for status, description in problems.items():
            content = {"application/problem+json": {"schema": component.ref}}
            bodies.setdefault(status, {"content": content, "description": description})
        return bodies


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


class AnswerExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schema of a declared answer."""

    target_class = "workspaces.api.json_answers.JsonAnswer"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Literal["request", "response"]) -> str:
        return str(self.target.__name__).removesuffix("Json")

    def map_serializer(self, auto_schema: AutoSchema, direction: Literal["request", "response"]) -> dict[str, Any]:
        fields = fields_of(self.target)
        component = partial(auto_schema.resolve_serializer, direction=direction)
        schema: dict[str, Any] = {"type": "object"}
        if own := vars(self.target).get("__doc__"):
            schema["description"] = own
        schema["properties"] = {field.encode_name: _of_type(field.type, component) for field in fields}
        schema["required"] = [field.encode_name for field in fields if field.required]
        return schema


class RequestSchema(GenerateJsonSchema):
    """Pydantic's schema, in the style of the rest of the file."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> dict[str, Any]:
        return nullable(self.generate_inner(schema["schema"]))

    def enum_schema(self, schema: core_schema.EnumSchema) -> dict[str, Any]:
        return of_choices(schema["cls"])

    def float_schema(self, schema: core_schema.FloatSchema) -> dict[str, Any]:
        return super().float_schema(schema) | {"format": "double"}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        """Leave out a default that is empty: it means that nothing is given."""
        made = super().default_schema(schema)
        if made.get("default") in ("", None, [], {}):
            made.pop("default", None)
        return made


class RequestExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schema of a declared request."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return hasattr(target, "__pydantic_config__")

    def get_name(self, auto_schema: AutoSchema, direction: Literal["request", "response"]) -> str:
        return str(self.target.__name__).removesuffix("Request").removesuffix("Body")

    def map_serializer(self, auto_schema: AutoSchema, direction: Literal["request", "response"]) -> dict[str, Any]:
        reference = "#/components/schemas/{model}Request"
        schema = adapter_of(self.target).json_schema(ref_template=reference, schema_generator=RequestSchema)
        for name, inner in schema.pop("$defs", {}).items():
            part = _component(f"{name}Request", ResolvedComponent.SCHEMA, inner, name)
            auto_schema.registry.register_on_missing(part)
        return schema


def _of_type(kind: inspect.Type, component: Callable[[Any], ResolvedComponent]) -> dict[str, Any]:
    match kind:
        case inspect.Metadata():
            return _of_type(kind.type, component) | (kind.extra_json_schema or {})
        case inspect.UnionType():  # with null; the field says whether it may be missing
            [one] = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
            return nullable(_of_type(one, component))
        case inspect.LiteralType():
            return {"type": "string", "enum": list(kind.values)}
        case inspect.StructType():
            return dict(component(kind.cls).ref)
        case inspect.CustomType():
            return of_choices(kind.cls)
        case inspect.ListType():
            return {"type": "array", "items": _of_type(kind.item_type, component)}
        case inspect.DictType():
            return {"type": "object", "additionalProperties": _of_type(kind.value_type, component)}
        case _:
            return dict(PLAIN[type(kind)])


def of_choices(choices: type[Enum]) -> dict[str, Any]:
    """Return the schema of a set of choices, with an id by which a hook of drf-spectacular
    recognizes and names it."""
    values = [(one.value, getattr(one, "label", one.value)) for one in choices]
    names = [value for value, _ in values]
    return {"type": "string", "enum": names, "x-spec-enum-id": list_hash(values)}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"oneOf": [schema, {"type": "null"}]}
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    schema = schema | {"type": [schema["type"], "null"]}
    return schema | {"enum": [*schema["enum"], None]} if "enum" in schema else schema
