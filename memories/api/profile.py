"""Route: the profile of a subject, as JSON or as Markdown for a prompt."""

import uuid
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api import feature_shapes, shapes
from memories.api.answers import MemorySerializer
from memories.features.profile import (
    Profile,
    ProfileFeature,
    ProfileOptions,
    cached,
    profile,
)
from memories.features.profile_text import dynamic_lines, markdown, static_lines
from memories.models import AsOf
from workspaces.api.fields import Camel, Free, read_query
from workspaces.api.views import WorkspaceView
from workspaces.external_ids import NOBODY
from workspaces.models import Subject
from workspaces.scope import Scope

MARKDOWN = "text/markdown"


class ProfileQuery(Camel):
    user_id = serializers.CharField(max_length=255, trim_whitespace=False)
    limit = serializers.IntegerField(
        min_value=1, max_value=100, default=100, help_text="Per group."
    )
    valid_at = serializers.DateTimeField(required=False)
    known_at = serializers.DateTimeField(required=False)
    format = serializers.ChoiceField(
        ("json", "markdown"),
        required=False,
        help_text="markdown: a text for a prompt; also by Accept: text/markdown.",
    )


class ProfileSerializer(Camel):
    """Live memories of scope user by fact type, and features by category and tag."""

    user_id = serializers.CharField()
    facts = MemorySerializer(many=True)
    preferences = MemorySerializer(many=True)
    events = MemorySerializer(many=True)
    profile = MemorySerializer(many=True)
    system = MemorySerializer(many=True)
    uncategorized = MemorySerializer(many=True)
    features = Free(help_text="{category: {tag: [{id, feature, value, about, isOver, citations}]}}")
    static = serializers.ListField(child=serializers.CharField(), help_text="What lasts.")
    dynamic = serializers.ListField(
        child=serializers.CharField(), help_text="Plans ahead and the newest events."
    )


def subject_of(scope: Scope, external_id: str) -> uuid.UUID:
    """The subject of that name; an id that nothing has, where the asker may know of none."""
    known = Subject.objects.filter(workspace_id=scope.workspace_id, external_id=external_id)
    if scope.subject_ids is not None:
        known = known.filter(pk__in=scope.subject_ids)
    return known.values_list("pk", flat=True).first() or NOBODY


class ProfileView(WorkspaceView):
    @extend_schema(
        operation_id="readProfile",
        parameters=[ProfileQuery],
        responses={
            (200, "application/json"): ProfileSerializer,
            (200, MARKDOWN): OpenApiResponse(str, "The same as text."),
        },
    )
    def get(self, request: Request, workspace: str) -> HttpResponse:
        """What is known of a subject."""
        asked = read_query(ProfileQuery, request)
        at = AsOf(asked.get("valid_at"), asked.get("known_at"))
        options = ProfileOptions(subject_of(self.scope, asked["user_id"]), at, asked["limit"])
        answer = cached(
            self.scope, options, lambda: answered(self.scope, options, asked["user_id"])
        )
        if wants_markdown(request, asked):
            return HttpResponse(answer["text"], content_type=f"{MARKDOWN}; charset=utf-8")
        return Response({name: value for name, value in answer.items() if name != "text"})


def wants_markdown(request: Request, asked: dict[str, Any]) -> bool:
    if "format" in asked:
        return bool(asked["format"] == "markdown")
    return request.META.get("HTTP_ACCEPT", "").startswith(MARKDOWN)


def answered(scope: Scope, options: ProfileOptions, user_id: str) -> dict[str, Any]:
    """The answer, and the same as text."""
    found = profile(scope, options)
    name = Subject.objects.filter(pk=options.subject_id).values_list("name", flat=True).first()
    answer: dict[str, Any] = {"userId": user_id}
    answer |= {
        group: [shapes.memory(row, options.at.known_at) for row in rows]
        for group, rows in found.groups.items()
    }
    return answer | {
        "features": features(found),
        "static": static_lines(found),
        "dynamic": dynamic_lines(found),
        "text": markdown(name or user_id, found),
    }


def features(found: Profile) -> dict[str, dict[str, list[dict[str, Any]]]]:
    told: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for known in found.features:
        tags = told.setdefault(known.feature.category, {})
        tags.setdefault(known.feature.tag, []).append(feature(known))
    return told


def feature(known: ProfileFeature) -> dict[str, Any]:
    return {
        "id": str(known.feature.pk),
        "feature": known.feature.feature,
        "value": known.feature.value,
        "about": known.feature.about or None,
        "isOver": known.is_over,
        "citations": [feature_shapes.citation(each) for each in known.cited],
    }
