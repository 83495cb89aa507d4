"""Routes: supersessions, the recorded decisions, and a person's word on them."""

import uuid

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import curation
from memories.api.shapes import SupersessionJson
from memories.models import Supersession
from workspaces.api.fields import Camel, Text, read, read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.scope import Scope

DECIDES = NEEDS | {"POST": Capability.CURATE}
NARROWING = {"state": "state", "user_id": "new__subject__external_id"}


class SupersessionQuery(PageQuery):
    state = serializers.ChoiceField(Supersession.State.choices, required=False)
    user_id = serializers.CharField(required=False, trim_whitespace=False)


class ApproveBody(Camel):
    content = Text(required=False, allow_null=True, help_text="Say it in these words instead.")


class RejectBody(Camel):
    note = Text(required=False, allow_null=True, allow_blank=True, max_length=2000)


def visible(scope: Scope) -> QuerySet[Supersession]:
    return Supersession.objects.visible_to(scope).with_memories()


def answered(scope: Scope, row: uuid.UUID) -> Response:
    return Response(SupersessionJson.of(get_object_or_404(visible(scope), pk=row)))


class SupersessionsView(WorkspaceView):
    @extend_schema(
        operation_id="listSupersessions",
        parameters=[SupersessionQuery],
        responses=page_of(SupersessionJson, "SupersessionPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Decisions, the newest first; `state=pending` is what waits for a person."""
        wish = read_query(SupersessionQuery, request)
        narrowing = {path: wish[name] for name, path in NARROWING.items() if name in wish}
        return paged(request, visible(self.scope).filter(**narrowing), SupersessionJson.of)


class SupersessionView(WorkspaceView):
    @extend_schema(operation_id="readSupersession", responses=SupersessionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return answered(self.scope, row)


class ApproveView(WorkspaceView):
    needs = DECIDES

    @extend_schema(
        operation_id="approveSupersession",
        request=ApproveBody,
        responses=SupersessionJson,
    )
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Let the new memory replace the old one."""
        content = read(ApproveBody, request.data).get("content") or ""
        return answered(self.scope, curation.approve(self.scope, row, content).pk)


class RejectView(WorkspaceView):
    needs = DECIDES

    @extend_schema(
        operation_id="rejectSupersession",
        request=RejectBody,
        responses=SupersessionJson,
    )
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep the old memory; the new one is forgotten."""
        note = read(RejectBody, request.data).get("note") or ""
        return answered(self.scope, curation.reject(self.scope, row, note).pk)


class KeepBothView(WorkspaceView):
    needs = DECIDES

    @extend_schema(operation_id="keepBothMemories", request=None, responses=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Both memories live on."""
        return answered(self.scope, curation.keep_both(self.scope, row).pk)


class UndoView(WorkspaceView):
    needs = DECIDES

    @extend_schema(operation_id="undoSupersession", request=None, responses=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Take an applied supersession back: the old memory is the head again."""
        return answered(self.scope, curation.undo(self.scope, row).pk)


class ReopenView(WorkspaceView):
    needs = DECIDES

    @extend_schema(operation_id="reopenSupersession", request=None, responses=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Let what a person decided wait again: both memories are as they were before."""
        return answered(self.scope, curation.reopen(self.scope, row).pk)


class RedoView(WorkspaceView):
    needs = DECIDES

    @extend_schema(operation_id="redoSupersession", request=None, responses=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Let a supersession that was undone stand again."""
        return answered(self.scope, curation.redo(self.scope, row).pk)
