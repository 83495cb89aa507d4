"""Routes: the spaces that documents are in."""

import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.db.models import F, QuerySet
from django.shortcuts import get_object_or_404
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.documents import document_store
from memories.documents.search_documents import Tag
from memories.models import Document, Space
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read
from workspaces.api.paging import paged
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import AnyText, Free, Metadata, declared
from workspaces.scope import Scope

# Routes: the spaces that documents stand in.


class SpaceJson(JsonAnswer):
    id: uuid.UUID
    container_tag: str
    name: str
    metadata: Free
    created_at: Any


@declared
class SpaceChanges(TypedDict, total=False):
    name: Annotated[AnyText, Field(max_length=200)]
    metadata: Metadata


@declared
@dataclass(frozen=True, slots=True)
class NewSpace:
    container_tag: Tag
    name: Annotated[AnyText, Field(max_length=200)] = ""
    metadata: Metadata = field(default_factory=dict)


def spaces_for(scope: Scope) -> QuerySet[Space]:
    """Return the spaces that `scope` sees. A key limited to spaces sees these; one bound to an
    agent or limited to subjects sees only those in which it sees a document."""
    rows = Space.objects.filter(workspace_id=scope.workspace_id)
    if not scope.is_narrow:
        return rows
    if scope.container_tags is not None:
        rows = rows.filter(container_tag__in=scope.container_tags)
        if not scope.is_bound and scope.subject_ids is None:
            return rows
    seen = Document.objects.visible_to(scope)
    return rows.filter(shelves__document__in=seen.values("pk")).distinct()


class SpacesView(WorkspaceView):
    @operation("listSpaces", page=SpaceJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the spaces that documents are in, the newest first."""
        return paged(request, spaces_for(self.scope).annotate(tag=F("container_tag")), SpaceJson.of)

    @operation("createSpace", request=NewSpace, answer={201: SpaceJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Create a space before anything is in it; documents create theirs themselves."""
        new = read(NewSpace, request.data)
        row = document_store.make_space(self.scope, new.container_tag, new.name, new.metadata)
        return Response(SpaceJson.of(row), status=201)


class SpaceView(WorkspaceView):
    @operation("readSpace", answer=SpaceJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a space by its `id` (not its `containerTag`)."""
        return Response(SpaceJson.of(get_object_or_404(spaces_for(self.scope), pk=row)))

    @operation("changeSpace", request=SpaceChanges, answer=SpaceJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change the name or metadata of a space."""
        space = get_object_or_404(spaces_for(self.scope), pk=row)
        document_store.change_space(self.scope, space, {**read(SpaceChanges, request.data)})
        return Response(SpaceJson.of(space))
