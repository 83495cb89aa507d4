"""Routes: webhooks, and their deliveries."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Self

from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.events import webhooks
from memories.events.webhook_signatures import secret_of
from memories.events.webhooks import NewWebhook
from memories.models import ChangeEvent, Webhook, WebhookDelivery
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, paged
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.request_fields import Flag, Maybe, OneOf, Text, declared

# Routes: webhooks, and what was sent to them.

Url = Annotated[Text, Field(max_length=500)]
Name = Annotated[str, Field(max_length=100)]
Events = Annotated[
    tuple[Annotated[str, OneOf(ChangeEvent.Kind)], ...],
    Field(min_length=1, max_length=len(ChangeEvent.Kind), description="What it is told of."),
]


class WebhookJson(JsonAnswer):
    id: uuid.UUID
    url: str
    name: str
    events: list[str]
    is_active: bool
    previous_until: Annotated[datetime | None, Meta(description="Until then the secret before this one signs as well.")]
    created_by: str
    created_at: datetime
    updated_at: datetime


class WebhookSecretJson(WebhookJson):
    secret: Annotated[str, Meta(description="Shown only here; signs what is sent.")] = ""

    @classmethod
    def with_secret(cls, hook: Webhook) -> Self:
        return cls.of(hook, secret=secret_of(hook))


class DeliveryJson(JsonAnswer):
    id: Annotated[uuid.UUID, Meta(description="The header webhook-id of what is sent.")]
    webhook_id: uuid.UUID
    kind: str
    item: Annotated[uuid.UUID | None, Meta(description="The row that changed.")]
    item_state: str
    happened_at: datetime
    state: WebhookDelivery.State
    attempts: int
    next_attempt_at: datetime | None
    status: Annotated[int | None, Meta(description="What the address answered last.")]
    error: str
    delivered_at: datetime | None
    created_at: datetime


@declared
@dataclass(frozen=True, slots=True)
class WebhookBody:
    url: Url
    events: Events
    name: Name = ""


@declared
class WebhookChanges(TypedDict, total=False):
    url: Url
    events: Events
    name: Name
    is_active: Flag


@declared
@dataclass(frozen=True, slots=True)
class RotateWebhook:
    overlap_seconds: Annotated[
        int,
        Field(ge=0, le=2_592_000, strict=True, description="How long the old one signs as well."),
    ] = 86_400


@declared
@dataclass(frozen=True, slots=True)
class DeliveryQuery(PageQuery):
    webhook_id: Maybe[uuid.UUID] = None
    state: Maybe[Annotated[str, OneOf(WebhookDelivery.State)]] = None


class WebhooksView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("secret",)

    @operation("listWebhooks", page=WebhookJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the webhooks that events are sent to, without their secrets."""
        return paged(request, Webhook.objects.visible_to(self.scope), WebhookJson.of)

    @operation("createWebhook", request=WebhookBody, answer={201: WebhookSecretJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Send changes to this address: ids and states, signed as standardwebhooks.com has it. A
        delivery that is not answered with 2xx is sent again after growing waits, for two days."""
        body = read(WebhookBody, request.data)
        hook = webhooks.create(self.scope, NewWebhook(body.url, body.events, body.name))
        return Response(WebhookSecretJson.with_secret(hook), status=201)


class WebhookView(WorkspaceView):
    needs = ADMINISTERS

    @operation("readWebhook", answer=WebhookJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a webhook, without its secret."""
        return Response(WebhookJson.of(webhooks.webhook_of(self.scope, row)))

    @operation("changeWebhook", request=WebhookChanges, answer=WebhookJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change address, name or events, or switch it off and on."""
        changes = read(WebhookChanges, request.data)
        return Response(WebhookJson.of(webhooks.change(self.scope, row, dict(changes))))

    @operation("removeWebhook", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Remove a webhook: nothing is sent there any more."""
        webhooks.remove(self.scope, row)
        return Response(status=204)


class RotateWebhookView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("secret",)

    @operation("rotateWebhook", request=RotateWebhook, answer=WebhookSecretJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Make a new secret; for a while the old one signs as well."""
        overlap = timedelta(seconds=read(RotateWebhook, request.data).overlap_seconds)
        return Response(WebhookSecretJson.with_secret(webhooks.rotate(self.scope, row, overlap)))


class PingWebhookView(WorkspaceView):
    needs = ADMINISTERS

    @operation("pingWebhook", answer={202: DeliveryJson})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Send an empty test event; the delivery shows what came of it."""
        return Response(DeliveryJson.of(webhooks.ping(self.scope, row)), status=202)


class DeliveriesView(WorkspaceView):
    needs = ADMINISTERS

    @operation("listDeliveries", query=DeliveryQuery, page=DeliveryJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the deliveries that were sent, wait, or were given up; kept for 30 days."""
        query = read_query(DeliveryQuery, request)
        rows = WebhookDelivery.objects.visible_to(self.scope)
        if query.webhook_id is not None:
            rows = rows.filter(webhook=query.webhook_id)
        if query.state is not None:
            rows = rows.filter(state=query.state)
        return paged(request, rows, DeliveryJson.of)


class RedeliverView(WorkspaceView):
    needs = ADMINISTERS

    @operation("redeliver", answer={202: DeliveryJson})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Send a delivery again, with the same id; 409 while it is being sent."""
        return Response(DeliveryJson.of(webhooks.redeliver(self.scope, row)), status=202)
