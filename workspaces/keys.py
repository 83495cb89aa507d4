"""API keys: issue, revoke, and find who is asking from what a caller presents."""

import hashlib
import hmac
import logging
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.db import DatabaseError, transaction
from django.utils import timezone

from memoryproject.postgres import prepared
from memoryproject.postgres.causes import cause_of
from workspaces.models import (
    Agent,
    ApiKey,
    AuditEntry,
    Invitation,
    ServerKey,
    Subject,
    User,
    all_capabilities,
)
from workspaces.scope import Scope

log = logging.getLogger(__name__)

LABEL = "mp"
LAST_USED_EVERY = timedelta(minutes=1)

FIND = """
select k.id, k.digest, k.workspace_id, w.slug, k.agent_id, k.capabilities, k.expires_at,
       k.revoked_at, k.last_used_at, k.limited_to_subjects, coalesce(a.team, ''),
       case when a.id is null then '{}' else array(
         select b.id from workspaces_agent b
         where b.workspace_id = k.workspace_id and b.team = a.team) end,
       case when k.limited_to_subjects then array(
         select s.subject_id from workspaces_apikey_subjects s where s.apikey_id = k.id)
       else '{}' end{columns}
from workspaces_apikey k
join workspaces_workspace w on w.id = k.workspace_id
left join workspaces_agent a on a.id = k.agent_id{joins}
where k.prefix = %(prefix)s
"""
OWN = 13  # columns

SERVER_LABEL = "mps"


@dataclass(frozen=True, slots=True)
class Beside:
    """What else the statement reads that finds a key, so that it is no round trip of its own:
    columns of tables that are joined to the key's workspace, w."""

    columns: str
    joins: str
    statement: str = field(init=False)

    def __post_init__(self) -> None:
        columns = f",\n{self.columns}" if self.columns else ""
        text = FIND.replace("{columns}", columns).replace("{joins}", f"\n{self.joins}")
        object.__setattr__(self, "statement", text)


NOTHING = Beside("", "")


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """What a new key may do; empty `subjects` with `limited` None means all subjects."""

    name: str
    capabilities: tuple[str, ...] = ()
    agent: Agent | None = None
    subjects: tuple[Subject, ...] | None = None
    expires_at: datetime | None = None


def digest_of(secret: str) -> bytes:
    """SHA-256 is enough: the secret has 256 random bits, there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()


@transaction.atomic
def issue_key(
    workspace_id: uuid.UUID, options: KeyOptions, *, actor: str, user: User | None = None
) -> tuple[ApiKey, str]:
    """Make a key; the second value is the text that the caller presents, shown only here."""
    prefix = secrets.token_hex(6)
    text = f"{LABEL}_{prefix}_{secrets.token_urlsafe(32)}"
    key = ApiKey.objects.create(
        workspace_id=workspace_id,
        name=options.name,
        prefix=prefix,
        digest=digest_of(text),
        agent=options.agent,
        capabilities=list(options.capabilities) or all_capabilities(),
        limited_to_subjects=options.subjects is not None,
        expires_at=options.expires_at,
        created_by=user,
    )
    key.subjects.set(options.subjects or ())
    AuditEntry.line(workspace_id, actor, "issue_key", key, after={"name": key.name}).save()
    return key, text


@transaction.atomic
def revoke_key(key: ApiKey, *, actor: str) -> None:
    """Revoke at once, with the invitations it made; revoking again changes nothing."""
    now = timezone.now()
    if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
        key.revoked_at = now
        Invitation.objects.filter(
            workspace_id=key.workspace_id, invited_by=f"key:{key.pk}"
        ).revoke()
        AuditEntry.line(key.workspace_id, actor, "revoke_key", key).save()


def scope_for_key(text: str, beside: Beside = NOTHING) -> Scope | None:
    """The scope of the key that `text` proves, with what was read beside it; None where it proves
    nothing."""
    prefix = prefix_of(text)
    if not prefix:
        return None
    # By a prepared statement: planning it took longer than running it.
    wrapper, values = prepared.live_wrapper(), {"prefix": prefix}
    if prepared.is_open_to(wrapper):
        row = next(iter(prepared.ask(wrapper, beside.statement, values).rows(tuple)), None)
    else:
        with wrapper.wrap_database_errors, psycopg.Cursor(wrapper.connection) as cursor:
            cursor.execute(beside.statement, values, prepare=True, binary=True)
            row = cursor.fetchone()
    # An unknown prefix costs the same comparison as a known one.
    proves = hmac.compare_digest(bytes(row[1]) if row else bytes(32), digest_of(text))
    return _scope_of(row) if row and proves else None


def prefix_of(text: str) -> str:
    """What names a key and proves nothing; empty where `text` is not written like one."""
    label, _, rest = text.partition("_")
    prefix, _, secret = rest.partition("_")
    return prefix[:16] if label == LABEL and secret and prefix.isalnum() else ""


def _scope_of(row: tuple[Any, ...]) -> Scope | None:
    (key_id, _, workspace_id, slug, agent_id, capabilities, expires_at, revoked_at) = row[:8]
    last_used_at, limited, team, mates, subjects = row[8:OWN]
    now = timezone.now()
    if revoked_at is not None or (expires_at is not None and expires_at <= now):
        return None
    if last_used_at is None or abs(now - last_used_at) > LAST_USED_EVERY:
        # A database that takes no changes is no reason to refuse who only reads.
        try:
            ApiKey.objects.filter(pk=key_id).update(last_used_at=now)
        except DatabaseError as error:
            if cause_of(error) is None:
                raise
            log.warning("The last use of a key is not noted: %s", error)
    return Scope(
        workspace_id,
        f"key:{key_id}",
        frozenset(capabilities),
        agent_id=agent_id,
        team_agent_ids=tuple(mates),
        in_default_team=agent_id is None or not team,
        subject_ids=tuple(subjects) if limited else None,
        key_id=key_id,
        slug=slug,
        beside=row[OWN:],
    )


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
    text = f"{SERVER_LABEL}_{prefix}_{secrets.token_urlsafe(32)}"
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
    return text.startswith(f"{SERVER_LABEL}_")


def asker_for_key(text: str) -> ServerAsker | None:
    """Who shows it; None where it is unknown, revoked or expired."""
    prefix = text.removeprefix(f"{SERVER_LABEL}_").partition("_")[0][:16]
    key = ServerKey.objects.filter(prefix=prefix).first() if prefix.isalnum() else None
    proves = hmac.compare_digest(bytes(key.digest) if key else bytes(32), digest_of(text))
    now = timezone.now()
    if key is None or not proves or key.revoked_at or (key.expires_at and key.expires_at <= now):
        return None
    if key.last_used_at is None or abs(now - key.last_used_at) > LAST_USED_EVERY:
        ServerKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return ServerAsker(key.pk)
