"""Routes: profiles."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import CitationJson, MemoryJson
from memories.models import AsOf
from memories.profiles.profile import Profile, ProfileOptions, cached, profile
from memories.profiles.profile_lines import dynamic_lines, markdown, static_lines
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import Subject
from workspaces.request_fields import Maybe, Moment, OneOf, OwnId, PastMoment, declared
from workspaces.scope import Scope, subject_to_read

# Route: the profile of a subject, as JSON or as Markdown for a prompt.

MARKDOWN = "text/markdown"


@declared
@dataclass(frozen=True, slots=True)
class ProfileQuery:
    user_id: OwnId
    limit: Annotated[int, Field(ge=1, le=100, description="Per group, and per category of features.")] = 100
    valid_at: Maybe[Moment] = None
    known_at: Maybe[Moment] = None
    said_before: Maybe[
        Annotated[PastMoment, Field(description="Only what had been said by then counts, whenever it came in.")]
    ] = None
    format: Maybe[
        Annotated[
            str,
            OneOf(("json", "markdown")),
            Field(description="markdown: a text for a prompt; also by Accept: text/markdown."),
        ]
    ] = None


class ProfileFeatureJson(JsonAnswer):
    id: UUID
    feature: str
    value: str
    about: str | None
    is_over: bool
    citations: list[CitationJson]


class ProfileJson(JsonAnswer):
    """Live memories of scope user by fact type, and features by category and tag."""

    user_id: str
    facts: list[MemoryJson]
    preferences: list[MemoryJson]
    events: list[MemoryJson]
    profile: list[MemoryJson]
    system: list[MemoryJson]
    uncategorized: list[MemoryJson]
    features: Annotated[
        dict[str, dict[str, list[ProfileFeatureJson]]],
        Meta(description="{category: {tag: [{id, feature, value, about, isOver, citations}]}}"),
    ]
    static: Annotated[list[str], Meta(description="What lasts.")]
    dynamic: Annotated[list[str], Meta(description="Plans ahead and the newest events.")]


class ProfileView(WorkspaceView):
    @operation(
        "readProfile",
        query=ProfileQuery,
        answer={
            (200, "application/json"): ProfileJson,
            (200, MARKDOWN): OpenApiResponse(str, "The same as text."),
        },
    )
    def get(self, request: Request, workspace: str) -> HttpResponse:
        """Return the profile of a subject: its memories, and its features by category and tag."""
        asked = read_query(ProfileQuery, request)
        at = AsOf(asked.valid_at, asked.known_at, asked.said_before)
        options = ProfileOptions(subject_to_read(self.scope, asked.user_id), at, asked.limit)
        answer = cached(self.scope, options, lambda: profile_answer(self.scope, options, asked.user_id))
        if wants_markdown(request, asked):
            return HttpResponse(answer["text"], content_type=f"{MARKDOWN}; charset=utf-8")
        return Response({name: value for name, value in answer.items() if name != "text"})


def wants_markdown(request: Request, asked: ProfileQuery) -> bool:
    if asked.format:
        return asked.format == "markdown"
    return bool(request.META.get("HTTP_ACCEPT", "").startswith(MARKDOWN))


def profile_answer(scope: Scope, options: ProfileOptions, user_id: str) -> dict[str, Any]:
    """Return the answer as plain values, which a cache can keep, and the same as text."""
    found = profile(scope, options)
    name = Subject.objects.filter(pk=options.subject_id).values_list("name", flat=True).first()
    groups = {group: [MemoryJson.of(row, options.at) for row in rows] for group, rows in found.groups.items()}
    answer = ProfileJson(
        user_id=user_id,
        features=features(found),
        static=static_lines(found),
        dynamic=dynamic_lines(found),
        **groups,
    )
    return {**msgspec.to_builtins(answer), "text": markdown(name or user_id, found)}


def features(found: Profile) -> dict[str, dict[str, list[ProfileFeatureJson]]]:
    shown: dict[str, dict[str, list[ProfileFeatureJson]]] = {}
    for known in found.features:
        tags = shown.setdefault(known.feature.category, {})
        feature = ProfileFeatureJson.of(
            known.feature,
            is_over=known.is_over,
            citations=[CitationJson.of_model(each) for each in known.cited],
        )
        tags.setdefault(known.feature.tag, []).append(feature)
    return shown
