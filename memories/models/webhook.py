"""Addresses that are notified of changes, and what has been sent to them."""

import secrets
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models.change_event import ChangeEvent
from workspaces.models import Row, Workspace
from workspaces.scope import Scope


def new_nonce() -> str:
    return secrets.token_hex(32)


class OfAdministrators(models.QuerySet["models.Model"]):
    """Rows for those who administer their workspace, and for no narrower key."""

    def visible_to(self, scope: Scope) -> Self:
        rows = self.filter(workspace_id=scope.workspace_id)
        return rows.none() if scope.is_narrow else rows


class Webhook(Row):
    """An address that is notified of `events`. The signing secret is made of the nonce and the
    server's SECRET_KEY: the database alone is not enough to sign. The previous secret is good until
    `previous_until`."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    url = models.CharField(max_length=500)
    events = ArrayField(models.CharField(max_length=20, choices=ChangeEvent.Kind))
    name = models.CharField(max_length=100, blank=True)
    is_active = models.BooleanField(default=True)
    nonce = models.CharField(max_length=64, default=new_nonce, editable=False)
    previous_nonce = models.CharField(max_length=64, blank=True, editable=False)
    previous_until = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=200)

    objects = OfAdministrators.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name or self.url


class WebhookDelivery(Row):
    """One event for one hook; a trigger writes it with the event (the migration webhooks). Its row
    is the queue: due at `next_attempt_at`, claimed until `lease_until`."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        GIVEN_UP = "given_up"

    PING = "ping"

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries", db_index=False)
    kind = models.CharField(max_length=20)
    item = models.UUIDField(null=True)
    item_state = models.CharField(max_length=12, blank=True)
    happened_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    claims = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    lease_until = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="What the address answered.")
    error = models.CharField(max_length=300, blank=True)
    delivered_at = models.DateTimeField(null=True)

    objects = OfAdministrators.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(fields=["next_attempt_at"], name="delivery_due", condition=Q(state="waiting")),
            models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
            models.Index(fields=["workspace", "-id"], name="delivery_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"
