"""Routes for the asker's workspaces, and for subjects: the people or things memories are about."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from workspaces import members, new_workspace
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import conflict, invalid, refused
from workspaces.api.schema import operation
from workspaces.api.views import AskerView, WorkspaceView, administrator_of
from workspaces.keys import ServerAsker
from workspaces.models import Subject, User, Workspace
from workspaces.request_fields import Email, Free, Maybe, NullIs, Text, TimeZone, Trimmed, declared
from workspaces.scope import Scope


class AskerJson(JsonAnswer):
    role: Annotated[str, Meta(description="A member's role; empty for a key.")]
    capabilities: list[str]
    agent_bound: bool
    subject_limited: bool
    container_tags: Annotated[list[str] | None, Meta(description="The spaces whose documents it sees; null: all.")]


class WorkspaceJson(JsonAnswer):
    id: UUID
    slug: str
    name: str
    settings: Free
    created_at: datetime


class OwnWorkspaceJson(WorkspaceJson):
    asker: AskerJson


class NewWorkspaceJson(WorkspaceJson):
    key: Annotated[
        str | None,
        Meta(description="The first key: sees all of the workspace. Shown once."),
    ]
    invite_url: Annotated[str | None, Meta(description="With `ownerEmail`: the link to hand over. Shown once.")]


@declared
@dataclass(frozen=True, slots=True)
class NewWorkspaceBody:
    slug: Annotated[Text, Field(max_length=63)]
    name: Annotated[Text, Field(max_length=200)]
    owner_email: Annotated[Email, Field(max_length=150, description="Is invited as its owner."), NullIs("")] = ""


class WorkspacesView(AskerView):
    secrets = ("key", "inviteUrl")

    @operation("listWorkspaces", page=WorkspaceJson)
    def get(self, request: Request) -> Response:
        """List your workspaces: with a key the one that it belongs to, as a member all of yours."""
        if isinstance(request.auth, ServerAsker):
            raise refused("A server key makes and removes workspaces, and does nothing else.")
        if isinstance(request.auth, Scope):
            rows = Workspace.objects.filter(pk=request.auth.workspace_id)
        else:
            rows = Workspace.objects.filter(memberships__user=cast(User, request.user))
        return paged(request, rows, WorkspaceJson.of)

    @operation("createWorkspace", request=NewWorkspaceBody, answer={201: NewWorkspaceJson})
    def post(self, request: Request) -> Response:
        """Create a workspace, as an administrator of the server. A superuser becomes its owner."""
        actor = administrator_of(request)
        if not actor:
            raise refused("Administrators of the server make workspaces.")
        return self.create(actor, request)

    def create(self, actor: str, request: Request) -> Response:
        body = read(NewWorkspaceBody, request.data)
        if fault := new_workspace.fault_of_slug(body.slug):
            raise invalid("slug", fault)
        new = new_workspace.NewWorkspace(
            body.slug,
            body.name,
            owner=request.user if isinstance(request.user, User) else None,
            owner_email=body.owner_email,
            with_key=True,
        )
        try:
            made = new_workspace.create_workspace(new, actor=actor)
        except new_workspace.SlugTaken:
            raise conflict("Another workspace has this slug.", field="slug") from None
        link = members.link_of(request, made.invitation, made.token) if made.invitation else None
        answer = NewWorkspaceJson.of(made.workspace, key=made.key, invite_url=link)
        return Response(answer, status=201)


class OneWorkspaceView(WorkspaceView):
    @operation("readWorkspace", answer=OwnWorkspaceJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Read the workspace, and what you may do in it."""
        row = Workspace.objects.get(pk=self.scope.workspace_id)
        tags = self.scope.container_tags
        asker = AskerJson(
            role=self.scope.role,
            capabilities=sorted(self.scope.capabilities),
            agent_bound=self.scope.is_bound,
            subject_limited=self.scope.subject_ids is not None,
            container_tags=None if tags is None else list(tags),
        )
        return Response(OwnWorkspaceJson.of(row, asker=asker))


# Routes for subjects: the people or things memories are about.


@declared
@dataclass(frozen=True, slots=True)
class SubjectQuery(PageQuery):
    external_id: Maybe[Trimmed] = None


class SubjectJson(JsonAnswer):
    id: uuid.UUID
    external_id: str
    name: str
    metadata: Free
    timezone: Annotated[str, Meta(description="Empty: the workspace's."), column("time_zone")]
    created_at: datetime


@declared
class SubjectChanges(TypedDict, total=False):
    timezone: Annotated[TimeZone, NullIs("")]


def visible(scope: Scope) -> QuerySet[Subject]:
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    return rows if scope.subject_ids is None else rows.filter(pk__in=scope.subject_ids)


class SubjectsView(WorkspaceView):
    @operation("listSubjects", query=SubjectQuery, page=SubjectJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the people or things that memories are about, the newest first. You can filter by
        your own id."""
        wanted = narrowing(read_query(SubjectQuery, request), {"external_id": "external_id"})
        return paged(request, visible(self.scope).filter(**wanted), SubjectJson.of)


class SubjectView(WorkspaceView):
    @operation("readSubject", answer=SubjectJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read a person or thing that memories are about, by its `id`."""
        return Response(SubjectJson.of(get_object_or_404(visible(self.scope), pk=row)))

    @operation("changeSubject", request=SubjectChanges, answer=SubjectJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Say in which time zone a person lives: from their day counts what they tell from now on."""
        if self.scope.is_bound:
            raise refused("An agent's key does not say where people live.")
        person, changes = get_object_or_404(visible(self.scope), pk=row), read(SubjectChanges, request.data)
        person.time_zone = changes.get("timezone", person.time_zone)
        person.save(update_fields=["time_zone", "updated_at"])
        self.scope.audit("change", person, subject_id=person.pk, after=changes)
        return Response(SubjectJson.of(person))
