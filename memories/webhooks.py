"""Webhooks: addresses of a workspace that receive signed events, retried until they answer."""

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone

from memories import leases, metrics
from memories.errors import Conflict, Invalid, ProviderError, needed
from memories.events import as_data
from memories.models import ChangeEvent, Webhook, WebhookDelivery
from memories.models.webhook import new_nonce
from memories.providers import web_fetch
from memories.providers.allowed_addresses import is_refused
from memoryproject import crossings
from memoryproject.postgres import visible
from memoryproject.postgres.connection import ServerSilent
from workspaces.expired import delete_some
from workspaces.models import AuditEntry
from workspaces.scope import Scope

# Sending what is due to an address: one delivery after the other, each retried after longer and
# longer waits, and at last given up where everybody can see it.
#
# No transaction is open while the other side is called. A delivery may be sent twice if its process
# died before it recorded the outcome: the id is the same.

State = WebhookDelivery.State
# Waits before the second attempt, the third, and so on; after the last it is given up.
WAITS = tuple(
    timedelta(seconds=each) for each in (10, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400)
)
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
                status = web_fetch.post(delivery.webhook.url, headers, body, allowed)
            except ProviderError as failure:
                error = str(failure)[:300]
            tries += 1
            if _write(delivery, status, error) != State.DELIVERED:
                return Told(tries, is_heard=False)
    return Told(tries)


@transaction.atomic(durable=True)
def _claim(webhook_id: uuid.UUID) -> WebhookDelivery | None:
    hook = Webhook.objects.select_for_update(skip_locked=True).filter(pk=webhook_id).first()
    if hook is None or not hook.is_active:
        return None
    now = timezone.now()
    own = WebhookDelivery.objects.filter(webhook=hook, state=State.WAITING)
    if own.filter(lease_until__gt=now, lease_until__lte=now + leases.FAR).exists():
        return None
    delivery = own.filter(next_attempt_at__lte=now).order_by("next_attempt_at", "id").first()
    if delivery is None:
        return None
    delivery.attempts += 1
    delivery.claims += 1
    delivery.lease_until = now + timedelta(seconds=2 * web_fetch.LONGEST) + leases.LEASE
    delivery.save(update_fields=["attempts", "claims", "lease_until", "updated_at"])
    delivery.webhook = hook
    return delivery


def _write(delivery: WebhookDelivery, status: int | None, error: str) -> State:
    """Record the outcome of an attempt and return its state; nothing is recorded where another
    process has the row by now."""
    now = timezone.now()
    values: dict[str, Any] = {"status": status, "error": error, "lease_until": None}
    if status is not None and 200 <= status < 300:
        values |= {"state": State.DELIVERED, "delivered_at": now, "next_attempt_at": None}
    elif status == GONE or delivery.attempts > len(WAITS):
        values |= {"state": State.GIVEN_UP, "next_attempt_at": None}
    else:
        values |= {"next_attempt_at": now + WAITS[delivery.attempts - 1]}
    rows = WebhookDelivery.objects.filter(pk=delivery.pk, claims=delivery.claims)
    rows.update(**values, updated_at=now)
    metrics.count("webhook_deliveries", outcome=values.get("state", "failed"))
    return State(values.get("state", State.WAITING))


def message_of(delivery: WebhookDelivery) -> dict[str, Any]:
    """The payload for an address: ids and states, no content of messages."""
    about = {"type": delivery.kind, "at": delivery.happened_at.isoformat()}
    if delivery.item is not None:
        event = ChangeEvent(
            kind=delivery.kind, item=delivery.item, state=delivery.item_state,
            created_at=delivery.happened_at,
        )  # fmt: skip
        about = as_data(event)
    return {**about, "id": str(delivery.pk), "workspaceId": str(delivery.workspace_id)}


def prune() -> int:
    """Delete old deliveries, even those that still wait because their webhook is switched off or
    has failed for as long; the number of rows."""
    return delete_some(WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT))


# The sender: a task of an event loop that looks for due deliveries, and threads that each wait for
# their own address alone.

log = logging.getLogger(__name__)

MOST_AT_ONCE = 8  # addresses
MOST_OF_WORKSPACE = 2  # at most; a workspace whose addresses hang must not delay the others
# And of all workspaces whose addresses did not answer the last time: however many hang, the other
# places are for those that do.
MOST_UNHEARD = 4
REST = 10.0  # seconds of rest for an address that did not answer, with all that waits for it
MOST_REMEMBERED = 10_000
LOOKED_EVERY = 1.0  # seconds
AFTER_AN_ERROR = 5.0

Run = Callable[..., Awaitable[Any]]


class WebhookSender:
    """Sends webhooks. `run` calls a blocking function in one of MOST_AT_ONCE + 1 threads."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.busy: dict[uuid.UUID, uuid.UUID] = {}  # hooks, with their workspaces
        self.unheard: set[uuid.UUID] = set()  # workspaces
        self.resting: dict[uuid.UUID, float] = {}  # hooks, until when

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            try:
                now = time.monotonic()
                self.resting = {hook: end for hook, end in self.resting.items() if end > now}
                self.begin(await self._run(due, {*self.resting, *self.busy}))
                await asyncio.sleep(LOOKED_EVERY)
            except (DatabaseError, InterfaceError, ServerSilent) as error:
                log.warning("webhooks could not be looked at: %s", error)  # what is due stays so
                await asyncio.sleep(AFTER_AN_ERROR)

    def begin(self, due: list[tuple[uuid.UUID, uuid.UUID]]) -> None:
        """Take up webhooks as far as there is room."""
        of_workspace = Counter(self.busy.values())
        for hook, workspace in due:
            if len(self.busy) >= MOST_AT_ONCE:
                return
            unheard = sum(of_workspace[each] for each in self.unheard & of_workspace.keys())
            if workspace in self.unheard and unheard >= MOST_UNHEARD:
                continue
            if hook not in self.busy and of_workspace[workspace] < MOST_OF_WORKSPACE:
                of_workspace[workspace] += 1
                self.busy[hook] = workspace
                asyncio.ensure_future(self._deliver(hook, workspace))

    async def _deliver(self, hook: uuid.UUID, workspace: uuid.UUID) -> None:
        is_heard = False
        try:
            is_heard = (await self._run(deliver_due, hook, workspace)).is_heard
        except Exception:  # it is due again when its lease has run out
            log.exception("workspace %s: webhook %s was not told", workspace, hook)
        finally:
            del self.busy[hook]
            if is_heard:
                self.unheard.discard(workspace)
            elif len(self.unheard) < MOST_REMEMBERED:
                self.unheard.add(workspace)
            if not is_heard and len(self.resting) < MOST_REMEMBERED:
                self.resting[hook] = time.monotonic() + REST


# How a message proves where it comes from: as in https://www.standardwebhooks.com.
# `webhook-signature` holds a signature by each valid secret, the newest first: receivers may take
# their time after a change of the secret.

LABEL = "whsec_"


def secret_of(webhook: Webhook, nonce: str = "") -> str:
    """The secret as the receiver gets it. Derived each time; the database holds no secret."""
    of = f"webhook {webhook.pk} {nonce or webhook.nonce}".encode()
    made = hmac.new(settings.SECRET_KEY.encode(), of, hashlib.sha256).digest()
    return LABEL + base64.b64encode(made).decode()


def secrets_of(webhook: Webhook, now: datetime) -> list[str]:
    """The valid secrets, the newest first."""
    good = [secret_of(webhook)]
    if webhook.previous_nonce and webhook.previous_until and webhook.previous_until > now:
        good.append(secret_of(webhook, webhook.previous_nonce))
    return good


def signed(secrets: list[str], name: str, moment: int, body: bytes) -> dict[str, str]:
    """The headers of a message: its id, its time (Unix time), and its signature."""
    text = f"{name}.{moment}.".encode() + body
    marks = []
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix(LABEL))
        digest = hmac.new(key, text, hashlib.sha256).digest()
        marks.append(f"v1,{base64.b64encode(digest).decode()}")
    return {
        "webhook-id": name,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(marks),
    }


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
        workspace_id=scope.workspace_id, url=new.url, name=new.name, created_by=scope.actor,
        events=sorted(set(new.events)),
    )  # fmt: skip
    hook.save(force_insert=True)
    scope.audit("create_webhook", hook, after={"url": new.url, "events": hook.events})
    return hook


def _check(url: str) -> None:
    """Check an address without resolving its name; the rest is checked when it is called."""
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
        nonce=new_nonce(), previous_nonce=hook.nonce if overlap else "", updated_at=now,
        previous_until=now + overlap if overlap else None,
    )  # fmt: skip
    scope.audit("rotate_webhook", hook, after={})
    return webhook_of(scope, webhook_id)


@transaction.atomic(durable=True)
def ping(scope: Scope, webhook_id: uuid.UUID) -> WebhookDelivery:
    """Send a test event without content, to see whether the address answers."""
    hook = webhook_of(scope, webhook_id)
    return WebhookDelivery.objects.create(
        workspace_id=scope.workspace_id, webhook=hook, kind=WebhookDelivery.PING
    )


@transaction.atomic(durable=True)
def redeliver(scope: Scope, delivery_id: uuid.UUID) -> WebhookDelivery:
    """Send a delivery again, now, with the same id; one that waits is tried at once. Conflict while
    it is being sent."""
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
