"""Routes: subjects, whom or what memories are about."""

import uuid
from datetime import datetime

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.fields import read_query
from workspaces.api.json_answers import Free, Json
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import WorkspaceView
from workspaces.models import Subject
from workspaces.scope import Scope


class SubjectQuery(PageQuery):
    external_id = serializers.CharField(required=False)


class SubjectJson(Json):
    id: uuid.UUID
    external_id: str
    name: str
    metadata: Free
    created_at: datetime


def visible(scope: Scope) -> QuerySet[Subject]:
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    return rows if scope.subject_ids is None else rows.filter(pk__in=scope.subject_ids)


class SubjectsView(WorkspaceView):
    @extend_schema(
        operation_id="listSubjects",
        parameters=[SubjectQuery],
        responses=page_of(SubjectJson, "SubjectPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        wish, rows = read_query(SubjectQuery, request), visible(self.scope)
        if "external_id" in wish:
            rows = rows.filter(external_id=wish["external_id"])
        return paged(request, rows, SubjectJson.of)


class SubjectView(WorkspaceView):
    @extend_schema(operation_id="readSubject", responses=SubjectJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(SubjectJson.of(get_object_or_404(visible(self.scope), pk=row)))
