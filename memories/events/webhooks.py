"""Webhooks of a workspace: created, changed, removed, given a new secret, tried."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict, Invalid, needed
from memories.events.deliver_webhooks import QUEUE, State
from memories.models import Webhook, WebhookDelivery
from memories.models.webhook import new_nonce
from memories.providers import web_fetch
from memories.providers.allowed_addresses import is_refused
from workspaces.models import AuditEntry
from workspaces.scope import Scope

# Webhooks: create, change, rotate, delete; and resend deliveries that were given up.

MOST = 20  # of a workspace


@dataclass(frozen=True, slots=True)
class NewWebhook:
    url: str
    events: tuple[str, ...]
    name: str = ""


@transaction.atomic(durable=True)
def create(scope: Scope, new: NewWebhook) -> Webhook:
    """Create one. Raises Invalid for an address that may not be called, Conflict for too many."""
    _check(new.url)
    if Webhook.objects.filter(workspace_id=scope.workspace_id).count() >= MOST:
        raise Conflict(f"A workspace has at most {MOST} webhooks.", field="url")
    hook = Webhook(
        workspace_id=scope.workspace_id,
        url=new.url,
        name=new.name,
        created_by=scope.actor,
        events=sorted(set(new.events)),
    )
    hook.save(force_insert=True)
    scope.audit("create_webhook", hook, after={"url": new.url, "events": hook.events})
    return hook


def _check(url: str) -> None:
    """Check an address without resolving its name; the rest is checked when it is called."""
    parts = urlsplit(url if web_fetch.is_address(url) else "")
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    if not is_web or "@" in parts.netloc:
        raise Invalid("url", "This is no http address without a name and a password in it.")
    if is_refused(url, settings.WEBHOOK_ALLOWED_HOSTS):
        raise Invalid(
            "url",
            "A public https address, or one that the operator allows (WEBHOOK_ALLOWED_HOSTS).",
        )


def webhook_of(scope: Scope, webhook_id: uuid.UUID) -> Webhook:
    """Return a webhook. Raises NotFound."""
    return needed(Webhook.objects.visible_to(scope).filter(pk=webhook_id).first(), "Webhook")


@transaction.atomic(durable=True)
def change(scope: Scope, webhook_id: uuid.UUID, changes: Mapping[str, Any]) -> Webhook:
    """Change url, name, events or is_active; fields not named stay. Deliveries of a webhook that is
    switched off wait until it is switched on, for KEPT at most."""
    hook = webhook_of(scope, webhook_id)
    if "url" in changes:
        _check(changes["url"])
    if "events" in changes:
        changes = {**changes, "events": sorted(set(changes["events"]))}
    if changes:
        rows = Webhook.objects.filter(pk=hook.pk)
        rows.update(**changes, updated_at=timezone.now())
        scope.audit("change_webhook", hook, after=changes)
    return webhook_of(scope, webhook_id)


@transaction.atomic(durable=True)
def remove(scope: Scope, webhook_id: uuid.UUID) -> None:
    """Delete a webhook with its deliveries."""
    hook = webhook_of(scope, webhook_id)
    scope.audit("remove_webhook", hook, after={"url": hook.url})
    hook.delete()


@transaction.atomic(durable=True)
def rotate(scope: Scope, webhook_id: uuid.UUID, overlap: timedelta) -> Webhook:
    """Replace the secret. The old one signs as well for the time of `overlap`."""
    hook = webhook_of(scope, webhook_id)
    now = timezone.now()
    Webhook.objects.filter(pk=hook.pk).update(
        nonce=new_nonce(),
        previous_nonce=hook.nonce if overlap else "",
        updated_at=now,
        previous_until=now + overlap if overlap else None,
    )
    scope.audit("rotate_webhook", hook, after={})
    return webhook_of(scope, webhook_id)


@transaction.atomic(durable=True)
def ping(scope: Scope, webhook_id: uuid.UUID) -> WebhookDelivery:
    """Send a test event without content, to see whether the address answers."""
    hook = webhook_of(scope, webhook_id)
    return WebhookDelivery.objects.create(workspace_id=scope.workspace_id, webhook=hook, kind=WebhookDelivery.PING)


@transaction.atomic(durable=True)
def redeliver(scope: Scope, delivery_id: uuid.UUID) -> WebhookDelivery:
    """Send a delivery again, now, with the same id; one that waits is tried at once. Conflict while
    it is being sent."""
    rows = WebhookDelivery.objects.visible_to(scope).select_for_update()
    delivery = needed(rows.filter(pk=delivery_id).first(), "Delivery")
    if delivery.lease_until and delivery.lease_until > timezone.now():
        raise Conflict("It is being sent.", field="state")
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        **QUEUE.fresh(), state=State.WAITING, error="", status=None, delivered_at=None
    )
    line = AuditEntry.line(scope.workspace_id, scope.actor, "redeliver_webhook", delivery)
    line.save()
    return WebhookDelivery.objects.get(pk=delivery.pk)
