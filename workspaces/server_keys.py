"""Keys of the server, for programs that make and remove workspaces."""

import hmac
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from workspaces.keys import LAST_USED_EVERY, digest_of
from workspaces.models import Invitation, ServerKey

LABEL = "mps"


@dataclass(frozen=True, slots=True)
class ServerAsker:
    """A program that shows a server key. It is no Scope: no verb that reads or writes takes it."""

    key_id: uuid.UUID

    @property
    def actor(self) -> str:
        return f"server_key:{self.key_id}"


def issue_server_key(
    name: str, *, actor: str, expires_at: datetime | None = None
) -> tuple[ServerKey, str]:
    """Make a key; the second value is the text that the caller presents, shown only here."""
    prefix = secrets.token_hex(6)
    text = f"{LABEL}_{prefix}_{secrets.token_urlsafe(32)}"
    key = ServerKey.objects.create(
        name=name, prefix=prefix, digest=digest_of(text), issued_by=actor, expires_at=expires_at
    )
    return key, text


@transaction.atomic
def revoke_server_key(prefix: str) -> bool:
    """Revoke at once, with the invitations it made; False where no key that is in use has this
    prefix."""
    in_use = ServerKey.objects.select_for_update().filter(prefix=prefix, revoked_at=None)
    key = in_use.first()
    if key is None:
        return False
    key.revoked_at = timezone.now()
    key.save(update_fields=["revoked_at", "updated_at"])
    Invitation.objects.filter(invited_by=ServerAsker(key.pk).actor).revoke()
    return True


def is_server_key(text: str) -> bool:
    """Whether `text` claims to be one; `asker_for_key` says whether it is."""
    return text.startswith(f"{LABEL}_")


def asker_for_key(text: str) -> ServerAsker | None:
    """Who shows it; None where it is unknown, revoked or expired."""
    prefix = text.removeprefix(f"{LABEL}_").partition("_")[0][:16]
    key = ServerKey.objects.filter(prefix=prefix).first() if prefix.isalnum() else None
    proves = hmac.compare_digest(bytes(key.digest) if key else bytes(32), digest_of(text))
    now = timezone.now()
    if key is None or not proves or key.revoked_at or (key.expires_at and key.expires_at <= now):
        return None
    if key.last_used_at is None or abs(now - key.last_used_at) > LAST_USED_EVERY:
        ServerKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return ServerAsker(key.pk)
