"""Routes: subjects, whom or what memories are about."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import Subject
from workspaces.request_fields import Free, Maybe, Trimmed, declared
from workspaces.scope import Scope


@declared
@dataclass(frozen=True, slots=True)
class SubjectQuery(PageQuery):
    external_id: Maybe[Trimmed] = None


class SubjectJson(JsonAnswer):
    id: uuid.UUID
    external_id: str
    name: str
    metadata: Free
    created_at: datetime


def visible(scope: Scope) -> QuerySet[Subject]:
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    return rows if scope.subject_ids is None else rows.filter(pk__in=scope.subject_ids)


class SubjectsView(WorkspaceView):
    @operation("listSubjects", query=SubjectQuery, page=SubjectJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Whom memories are about, the newest first; by your own id."""
        wanted = narrowing(read_query(SubjectQuery, request), {"external_id": "external_id"})
        return paged(request, visible(self.scope).filter(**wanted), SubjectJson.of)


class SubjectView(WorkspaceView):
    @operation("readSubject", answer=SubjectJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """A subject, by our id."""
        return Response(SubjectJson.of(get_object_or_404(visible(self.scope), pk=row)))
