"""Routes: legal holds."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.models import LegalHold
from memories.privacy import legal_holds
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, paged
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.request_fields import Maybe, OwnId, Text, declared
from workspaces.scope import subject_to_write


class HoldJson(JsonAnswer):
    id: uuid.UUID
    user_id: Annotated[str, column("subject.external_id")]
    reason: str
    placed_by: str
    created_at: datetime
    lifted_by: str | None
    lifted_at: Annotated[datetime | None, Meta(description="Null while it is in force.")]


@declared
@dataclass(frozen=True, slots=True)
class HoldQuery(PageQuery):
    user_id: Maybe[Text] = None
    in_force: Maybe[bool] = None


@declared
@dataclass(frozen=True, slots=True)
class NewHold:
    user_id: OwnId
    reason: Annotated[Text, Field(max_length=500)]


class HoldsView(WorkspaceView):
    needs = ADMINISTERS

    @operation("listHolds", query=HoldQuery, page=HoldJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the legal holds, those in force and those that were lifted."""
        query = read_query(HoldQuery, request)
        rows = LegalHold.objects.visible_to(self.scope).select_related("subject")
        if query.user_id is not None:
            rows = rows.filter(subject__external_id=query.user_id)
        if query.in_force is not None:
            rows = rows.filter(lifted_at__isnull=query.in_force)
        return paged(request, rows, HoldJson.of)

    @operation("placeHold", request=NewHold, answer={201: HoldJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Stop all erasing and pruning of data about this user; requests to erase it are 409."""
        new = read(NewHold, request.data)
        subject = subject_to_write(self.scope, new.user_id)
        assert subject is not None  # somebody is named
        made = legal_holds.place(self.scope, subject, new.reason)
        return Response(HoldJson.of(made), status=201)


class LiftHoldView(WorkspaceView):
    needs = ADMINISTERS

    @operation("liftHold", answer=HoldJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Lift the hold: the user may be erased again. 409 where it was lifted already."""
        return Response(HoldJson.of(legal_holds.lift(self.scope, row)))
