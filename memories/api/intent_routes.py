"""Routes: what people said to the memory, and the undoing of it."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from memories import intents
from memories.api.shapes import IntentJson
from memories.models import Intent
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Maybe, OneOf, Text, declared

DECIDES = NEEDS | {"POST": Capability.CURATE}
NARROWING = {"state": "state", "user_id": "subject__external_id"}
STATES = [state for state in Intent.State.values if state != Intent.State.HEARD]


@declared
@dataclass(frozen=True, slots=True)
class IntentQuery(PageQuery):
    state: Maybe[Annotated[str, OneOf(STATES)]] = None
    user_id: Maybe[Text] = None


class IntentsView(WorkspaceView):
    @operation("listIntents", query=IntentQuery, page=IntentJson)
    def get(self, request: Request, workspace: str) -> Response:
        """What people said to the memory, and what was done about it."""
        wanted = narrowing(read_query(IntentQuery, request), NARROWING)
        rows = Intent.objects.visible_to(self.scope).exclude(state=Intent.State.HEARD)
        rows = rows.filter(**wanted).select_related("episode").with_names()
        return paged(request, rows, IntentJson.of)


class UndoIntentView(WorkspaceView):
    needs = DECIDES

    @operation("undoIntent", answer=IntentJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Take back what was done: memories are believed again, words are shown again; 409 where
        nothing was done, or a newer version stands."""
        intents.undo(self.scope, row)
        rows = Intent.objects.visible_to(self.scope).select_related("episode").with_names()
        return Response(IntentJson.of(rows.get(pk=row)))
