"""Deliveries of webhooks: what is due is sent, and tried again until the address answers."""

import json
import logging
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from memories import metrics
from memories.errors import ProviderError
from memories.events.shown_events import as_data
from memories.events.webhook_signatures import secrets_of, signed
from memories.models import ChangeEvent, Webhook, WebhookDelivery
from memories.providers import web_fetch
from memories.queue import leases
from memories.queue.due_rows import Queue
from memoryproject.postgres import crossings, visible
from workspaces.expired import delete_some

# Sending what is due to an address: one delivery after the other, each retried after longer and
# longer waits, and at last given up where everybody can see it.
#
# No transaction is open while the other side is called. A delivery may be sent twice if its process
# died before it recorded the outcome: the id is the same.

State = WebhookDelivery.State
# Waits before the second attempt, the third, and so on; after the last it is given up.
WAITS = tuple(timedelta(seconds=each) for each in (10, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400))
QUEUE = Queue(WebhookDelivery, WAITS[0], states=(State.WAITING,), time="next_attempt_at")
GONE = 410  # an address that answers so wants no more
KEPT = timedelta(days=30)
TURN = 20.0  # seconds for one address, then others have their turn
MOST_DUE = 100
# One delivery at a time goes to an address: one that hangs holds up no other. The first address of
# each workspace comes before the second of any.
DUE = """
select webhook_id, workspace_id from (
  select d.webhook_id, d.workspace_id, min(d.next_attempt_at) as since, row_number()
         over (partition by d.workspace_id order by min(d.next_attempt_at)) as place
  from memories_webhookdelivery d
  join memories_webhook h on h.id = d.webhook_id and h.is_active
  where d.state = 'waiting' and d.next_attempt_at <= %(now)s
  and d.webhook_id <> all (%(without)s::uuid[])
  group by d.webhook_id, d.workspace_id
) hooks order by place, since limit %(most)s
"""


def due(without: Collection[uuid.UUID] = ()) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Webhooks with something to send, except `without`, each with its workspace; workspaces take
    turns, in each the longest waiting first."""
    with crossings.everywhere(), connection.cursor() as cursor:
        cursor.execute(DUE, {"now": timezone.now(), "most": MOST_DUE, "without": list(without)})
        return [(hook, workspace) for hook, workspace in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Told:
    """The outcome of a turn: the number of tries, and whether each was accepted."""

    tries: int
    is_heard: bool = True


def deliver_due(webhook_id: uuid.UUID, workspace_id: uuid.UUID) -> Told:
    """Send what is due to one address for a turn, which ends when the address does not accept. No
    tries where another process is sending."""
    until, tries = time.monotonic() + TURN, 0
    allowed = tuple(settings.WEBHOOK_ALLOWED_HOSTS)
    with visible.only(workspace_id):
        while time.monotonic() < until and (delivery := _claim(webhook_id)):
            now = timezone.now()
            body = json.dumps(message_of(delivery), separators=(",", ":")).encode()
            secrets = secrets_of(delivery.webhook, now)
            headers = signed(secrets, str(delivery.pk), int(now.timestamp()), body)
            status, error = None, ""
            try:
                with QUEUE.renewed(delivery):
                    status = web_fetch.post(delivery.webhook.url, headers, body, allowed)
            except ProviderError as failure:
                error = str(failure)[:300]
            tries += 1
            if _write(delivery, status, error) != State.DELIVERED:
                return Told(tries, is_heard=False)
    return Told(tries)


@transaction.atomic(durable=True)
def _claim(webhook_id: uuid.UUID) -> WebhookDelivery | None:
    hooks = Webhook.objects.select_for_update(skip_locked=True)
    hook = hooks.filter(pk=webhook_id, is_active=True).first()
    own = WebhookDelivery.objects.filter(webhook=hook, state=State.WAITING)
    if hook is None or own.exclude(leases.free(timezone.now())).exists():
        return None
    first = QUEUE.rows().filter(webhook=hook).order_by("next_attempt_at", "id").first()
    delivery = QUEUE.claim(first.pk) if first else None
    if delivery is not None:
        delivery.webhook = hook
    return delivery


def _write(delivery: WebhookDelivery, status: int | None, error: str) -> State:
    """Record the outcome of an attempt and return its state; nothing is recorded where another
    process has the row by now."""
    state, now, due_at = State.WAITING, timezone.now(), None
    values: dict[str, Any] = {"status": status, "error": error}
    if status is not None and 200 <= status < 300:
        state, values["delivered_at"] = State.DELIVERED, now
    elif status == GONE or delivery.attempts > len(WAITS):
        state = State.GIVEN_UP
    else:
        due_at = now + WAITS[delivery.attempts - 1]
    QUEUE.leave(delivery, due_at, state=state, **values)
    metrics.count("webhook_deliveries", outcome="failed" if due_at else state)
    return state


def message_of(delivery: WebhookDelivery) -> dict[str, Any]:
    """The payload for an address: ids and states, no content of messages."""
    about = {"type": delivery.kind, "at": delivery.happened_at.isoformat()}
    if delivery.item is not None:
        event = ChangeEvent(
            kind=delivery.kind,
            item=delivery.item,
            state=delivery.item_state,
            created_at=delivery.happened_at,
        )
        about = as_data(event)
    return {**about, "id": str(delivery.pk), "workspaceId": str(delivery.workspace_id)}


def prune() -> int:
    """Delete old deliveries, even those that still wait because their webhook is switched off or
    has failed for as long; the number of rows."""
    return delete_some(WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT))


# The sender: a task of an event loop that looks for due deliveries, and threads that each wait for
# their own address alone.

log = logging.getLogger(__name__)
