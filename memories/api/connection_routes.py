"""Routes: sources of documents, and the runs that sync and test them."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.models import Connection, Document, SyncRun, Visibility
from memories.sources.connections import connection_store
from memories.sources.connections.connection_store import Given, Minutes, Name, NewConnection, Tags
from memories.sources.connectors import CONNECTORS
from workspaces.api.json_answers import AgentId, JsonAnswer, UserId, one_of
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Free, Maybe, OneOf, declared

# An admin adds a source and gives its secrets; a curator may sync it.
MAKES = {**NEEDS, "GET": Capability.CURATE, "POST": Capability.ADMIN}
CHANGES = {**MAKES, "PATCH": Capability.ADMIN, "DELETE": Capability.ADMIN}
ASKS = {**NEEDS, "GET": Capability.CURATE, "POST": Capability.CURATE}
DOCUMENTS = ("keep", "erase")


class ConnectionJson(JsonAnswer):
    """A connection; its credentials are never returned."""

    id: uuid.UUID
    provider: Annotated[str, one_of(CONNECTORS)]
    name: str
    options: Free
    has_credentials: bool
    user_id: UserId
    agent_id: AgentId
    visibility: Visibility
    container_tags: list[str]
    extract: Document.Extract
    minutes: int
    next_sync_at: datetime | None
    paused_until: Annotated[
        datetime | None,
        Meta(
            description="Until when it waits: its source wants to be left alone, or the workspace"
            " has no room for its files (`error`, without an `errorCode`)."
        ),
    ]
    last_synced_at: datetime | None
    error_code: str | None
    error: str | None
    created_at: datetime


class SyncRunJson(JsonAnswer):
    id: uuid.UUID
    connection_id: uuid.UUID
    kind: Annotated[str, one_of(SyncRun.Kind)]
    state: Annotated[str, one_of(SyncRun.State)]
    counts: Annotated[dict[str, int], Meta(description="added, changed, unchanged, deleted, checked ...")]
    answer: Annotated[str | None, Meta(description="Of a test: what the source has.")]
    error_code: str | None
    error: str | None
    attempts: int
    next_attempt_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    requested_by: str
    created_at: datetime


@declared
class ConnectionChanges(TypedDict, total=False):
    name: Name
    options: Given
    credentials: Given
    container_tags: Tags
    visibility: Annotated[str, OneOf(Visibility)]
    extract: Annotated[str, OneOf(Document.Extract)]
    minutes: Minutes


@declared
@dataclass(frozen=True, slots=True)
class ConnectionQuery(PageQuery):
    provider: Maybe[Annotated[str, OneOf(CONNECTORS)]] = None


@declared
@dataclass(frozen=True, slots=True)
class ConnectionRemoval:
    documents: Annotated[
        str,
        OneOf(DOCUMENTS),
        Field(description="erase: what came by it is erased first, by the worker (202)."),
    ] = "keep"


@declared
@dataclass(frozen=True, slots=True)
class SyncBody:
    full: Annotated[bool, Field(description="List all that the source has and compare, whatever is known.")] = False
    confirm_deletions: Annotated[
        bool, Field(description="What the source has lost may be erased, however much that is.")
    ] = False
    include_erased: Annotated[
        bool, Field(description="What was erased of it comes again: all is listed; for admins.")
    ] = False


class ConnectionsView(WorkspaceView):
    needs = MAKES

    @operation("listConnections", query=ConnectionQuery, page=ConnectionJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the sources of documents. They may bring documents about anybody, so this is not for
        keys of an agent, or keys limited to subjects or spaces."""
        rows = Connection.objects.visible_to(self.scope).with_names()
        query = read_query(ConnectionQuery, request)
        rows = rows.filter(**narrowing(query, {"provider": "provider"}))
        return paged(request, rows, ConnectionJson.of)

    @operation("createConnection", request=NewConnection, answer={201: ConnectionJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Add a source; the worker syncs it at once, and then every so many minutes."""
        made = connection_store.create(self.scope, read(NewConnection, request.data))
        row = connection_store.connection_of(self.scope, made.pk)
        return Response(ConnectionJson.of(row), status=201)


class ConnectionView(WorkspaceView):
    needs = CHANGES

    @operation("readConnection", answer=ConnectionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a connection with its last run, without its credentials."""
        return Response(ConnectionJson.of(connection_store.connection_of(self.scope, row)))

    @operation("changeConnection", request=ConnectionChanges, answer=ConnectionJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change the fields that are sent; the others stay. `credentials` are replaced as a whole.
        Documents already read stay as they are."""
        changed = connection_store.change(self.scope, row, read(ConnectionChanges, request.data))
        return Response(ConnectionJson.of(changed))

    @operation("removeConnection", query=ConnectionRemoval, answer={202: SyncRunJson, 204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Stop reading this source; its documents stay, unless `documents=erase` is sent."""
        is_erased = read_query(ConnectionRemoval, request).documents == "erase"
        run = connection_store.remove(self.scope, row, erase_documents=is_erased)
        return Response(status=204) if run is None else Response(SyncRunJson.of(run), status=202)


class SyncConnectionView(WorkspaceView):
    needs = ASKS

    @operation("syncConnection", request=SyncBody, answer={201: SyncRunJson})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Sync the source now, in the worker. Answers the run that is already under way, where
        there is one."""
        body = read(SyncBody, request.data)
        kind = SyncRun.Kind.FULL if body.full else SyncRun.Kind.SYNC
        run = connection_store.request_run(
            self.scope,
            row,
            kind,
            is_confirmed=body.confirm_deletions,
            with_erased=body.include_erased,
        )
        return Response(SyncRunJson.of(run), status=201)


class TryConnectionView(WorkspaceView):
    needs = ASKS

    @operation("testConnection", answer={201: SyncRunJson})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Test the source once, in the worker, and change nothing; the run has the outcome."""
        run = connection_store.request_run(self.scope, row, SyncRun.Kind.TEST)
        return Response(SyncRunJson.of(run), status=201)


class SyncRunsView(WorkspaceView):
    needs = ASKS

    @operation("listSyncRuns", query=PageQuery, page=SyncRunJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List the syncs and tests of this connection, the newest first; the last 100 are kept."""
        connection = get_object_or_404(Connection.objects.visible_to(self.scope), pk=row)
        return paged(request, SyncRun.objects.filter(connection=connection), SyncRunJson.of)
