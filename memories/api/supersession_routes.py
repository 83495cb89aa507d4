"""Routes: supersessions, and decisions on them."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import SupersessionJson
from memories.belief import review
from memories.models import Supersession
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import AnyText, Maybe, NullIs, OneOf, Text, declared
from workspaces.scope import Scope

# Routes: cases, which are what waits for a person, and supersessions, the recorded decisions; a
# person's word on both.

SUPERSESSION_NARROWING = {"state": "state", "user_id": "new__subject__external_id"}


@declared
@dataclass(frozen=True, slots=True)
class SupersessionQuery(PageQuery):
    state: Maybe[Annotated[str, OneOf(Supersession.State)]] = None
    user_id: Maybe[Text] = None


@declared
@dataclass(frozen=True, slots=True)
class ApproveBody:
    content: Annotated[Text, Field(description="Say it in these words instead."), NullIs("")] = ""


@declared
@dataclass(frozen=True, slots=True)
class RejectBody:
    note: Annotated[AnyText, Field(max_length=2000), NullIs("")] = ""


def visible_supersessions(scope: Scope) -> QuerySet[Supersession]:
    return Supersession.objects.visible_to(scope).with_memories(scope)


def supersession_response(scope: Scope, row: uuid.UUID) -> Response:
    return Response(SupersessionJson.of(get_object_or_404(visible_supersessions(scope), pk=row)))


class SupersessionsView(WorkspaceView):
    @operation("listSupersessions", query=SupersessionQuery, page=SupersessionJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List decisions, the newest first; those with `state=pending` wait for a person."""
        wanted = narrowing(read_query(SupersessionQuery, request), SUPERSESSION_NARROWING)
        return paged(request, visible_supersessions(self.scope).filter(**wanted), SupersessionJson.of)


class SupersessionView(WorkspaceView):
    @operation("readSupersession", answer=SupersessionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a decision with both memories."""
        return supersession_response(self.scope, row)


class ApproveView(WorkspaceView):
    needs = CURATES

    @operation("approveSupersession", request=ApproveBody, answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Let the new memory replace the old one."""
        content = read(ApproveBody, request.data).content
        return supersession_response(self.scope, review.approve(self.scope, row, content).pk)


class RejectView(WorkspaceView):
    needs = CURATES

    @operation("rejectSupersession", request=RejectBody, answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep the old memory; the new one is forgotten."""
        note = read(RejectBody, request.data).note
        return supersession_response(self.scope, review.reject(self.scope, row, note).pk)


class KeepBothView(WorkspaceView):
    needs = CURATES

    @operation("keepBothMemories", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep both memories."""
        return supersession_response(self.scope, review.keep_both(self.scope, row).pk)


class UndoView(WorkspaceView):
    needs = CURATES

    @operation("undoSupersession", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Undo an applied supersession: the old memory is the head again."""
        return supersession_response(self.scope, review.undo(self.scope, row).pk)


class ReopenView(WorkspaceView):
    needs = CURATES

    @operation("reopenSupersession", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Reopen what a person decided: it waits again, with both memories as they were before."""
        return supersession_response(self.scope, review.reopen(self.scope, row).pk)


class RedoView(WorkspaceView):
    needs = CURATES

    @operation("redoSupersession", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Apply a supersession again that was undone."""
        return supersession_response(self.scope, review.redo(self.scope, row).pk)
