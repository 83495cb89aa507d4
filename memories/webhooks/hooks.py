"""Webhooks made, changed, given another secret and removed; and what was given up, sent again."""

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
from memories.models import Webhook, WebhookDelivery
from memories.models.webhook import new_nonce
from memories.providers.allowed_addresses import is_refused
from workspaces.models import AuditEntry
from workspaces.scope import Scope

MOST = 20  # of a workspace
State = WebhookDelivery.State


@dataclass(frozen=True, slots=True)
class NewWebhook:
    url: str
    events: tuple[str, ...]
    name: str = ""


@transaction.atomic(durable=True)
def create(scope: Scope, new: NewWebhook) -> Webhook:
    """Raises Invalid for an address that may not be called, Conflict where there are too many."""
    _check(new.url)
    if Webhook.objects.filter(workspace_id=scope.workspace_id).count() >= MOST:
        raise Conflict(f"A workspace has at most {MOST} webhooks.", field="url")
    hook = Webhook(
        workspace_id=scope.workspace_id, url=new.url, name=new.name, created_by=scope.actor,
        events=sorted(set(new.events)),
    )  # fmt: skip
    hook.save(force_insert=True)
    scope.audit("create_webhook", hook, after={"url": new.url, "events": hook.events})
    return hook


def _check(url: str) -> None:
    """What can be told of an address without looking its name up; the rest is told when it is
    called."""
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_web = False
    if not is_web or "@" in parts.netloc:
        raise Invalid("url", "This is no http address without a name and a password in it.")
    if is_refused(url, settings.WEBHOOK_ALLOWED_HOSTS):
        raise Invalid(
            "url",
            "A public https address, or one that the operator allows (WEBHOOK_ALLOWED_HOSTS).",
        )


def webhook_of(scope: Scope, webhook_id: uuid.UUID) -> Webhook:
    """Raises NotFound."""
    return needed(Webhook.objects.visible_to(scope).filter(pk=webhook_id).first(), "Webhook")


@transaction.atomic(durable=True)
def change(scope: Scope, webhook_id: uuid.UUID, changes: Mapping[str, Any]) -> Webhook:
    """Another url, name, events or is_active; what is not named stays. What waits for one that is
    switched off waits until it is switched on."""
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
    """With all that was to be sent to it."""
    hook = webhook_of(scope, webhook_id)
    scope.audit("remove_webhook", hook, after={"url": hook.url})
    hook.delete()


@transaction.atomic(durable=True)
def rotate(scope: Scope, webhook_id: uuid.UUID, overlap: timedelta) -> Webhook:
    """Another secret. The old one signs as well for the time of `overlap`."""
    hook = webhook_of(scope, webhook_id)
    now = timezone.now()
    Webhook.objects.filter(pk=hook.pk).update(
        nonce=new_nonce(), previous_nonce=hook.nonce if overlap else "", updated_at=now,
        previous_until=now + overlap if overlap else None,
    )  # fmt: skip
    scope.audit("rotate_webhook", hook, after={})
    return webhook_of(scope, webhook_id)


@transaction.atomic(durable=True)
def ping(scope: Scope, webhook_id: uuid.UUID) -> WebhookDelivery:
    """Send it something that says nothing, to see whether it is heard."""
    hook = webhook_of(scope, webhook_id)
    return WebhookDelivery.objects.create(
        workspace_id=scope.workspace_id, webhook=hook, kind=WebhookDelivery.PING
    )


@transaction.atomic(durable=True)
def redeliver(scope: Scope, delivery_id: uuid.UUID) -> WebhookDelivery:
    """Send it again, now, with the same id; what waits is tried at once. Conflict while it is being
    sent."""
    rows = WebhookDelivery.objects.visible_to(scope).select_for_update()
    delivery = needed(rows.filter(pk=delivery_id).first(), "Delivery")
    now = timezone.now()
    if delivery.lease_until and delivery.lease_until > now:
        raise Conflict("It is being sent.", field="state")
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=State.WAITING, attempts=0, next_attempt_at=now, lease_until=None, error="",
        status=None, delivered_at=None, updated_at=now,
    )  # fmt: skip
    line = AuditEntry.line(scope.workspace_id, scope.actor, "redeliver_webhook", delivery)
    line.save()
    return WebhookDelivery.objects.get(pk=delivery.pk)
