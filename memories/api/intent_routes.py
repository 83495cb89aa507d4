"""Routes: orders of people to the memory, which can be undone."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import IntentJson
from memories.models import Intent
from memories.reading import intents
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import Maybe, OneOf, Text, declared

INTENT_NARROWING = {"state": "state", "user_id": "subject__external_id"}
STATES = [state for state in Intent.State.values if state != Intent.State.HEARD]


@declared
@dataclass(frozen=True, slots=True)
class IntentQuery(PageQuery):
    state: Maybe[Annotated[str, OneOf(STATES)]] = None
    user_id: Maybe[Text] = None


class IntentsView(WorkspaceView):
    @operation("listIntents", query=IntentQuery, page=IntentJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List people's orders to the memory, and what was done about each."""
        wanted = narrowing(read_query(IntentQuery, request), INTENT_NARROWING)
        rows = Intent.objects.visible_to(self.scope).exclude(state=Intent.State.HEARD)
        rows = rows.filter(**wanted).select_related("episode").with_names()
        return paged(request, rows, IntentJson.of)


class UndoIntentView(WorkspaceView):
    needs = CURATES

    @operation("undoIntent", answer=IntentJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Undo an order: memories are believed again, words are shown again; 409 where
        nothing was done, or there is a newer version."""
        intents.undo(self.scope, row)
        rows = Intent.objects.visible_to(self.scope).select_related("episode").with_names()
        return Response(IntentJson.of(rows.get(pk=row)))
