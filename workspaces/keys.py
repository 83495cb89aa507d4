"""API keys: issue and revoke them, find the asker behind a key, and note when each was last
used."""

import hashlib
import logging
import os
import secrets
import threading
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from memoryproject.postgres import crossings, prepared, visible
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
MOST_HOMES = 10_000
_homes: dict[str, uuid.UUID] = {}

FIND = """
select k.id, {proves}, k.workspace_id, w.slug,
       k.agent_id, k.capabilities, k.expires_at,
       k.revoked_at, k.last_used_at, k.per_minute, k.container_tags, k.limited_to_subjects,
       coalesce(a.team, ''),
       case when a.id is null then '{}' else array(
         select b.id from workspaces_agent b
         where b.workspace_id = k.workspace_id and b.team = a.team) end,
       case when k.limited_to_subjects then array(
         select s.subject_id from workspaces_apikey_subjects s where s.apikey_id = k.id)
       else '{}' end{columns}
from workspaces_apikey k
join workspaces_workspace w on w.id = k.workspace_id
left join workspaces_agent a on a.id = k.agent_id{joins}
where {which}
"""
OWN = 15  # columns
SHOWN = {
    "{proves}": "cross_proves('workspaces_apikey', k.id, %(digest)s)",
    "{which}": "k.prefix = %(prefix)s",
}
# Keys that proved themselves before: any number of them, in one statement.
AGAIN = {
    "{proves}": "true",
    "{which}": "k.id = any(%(ids)s::uuid[])",
    "{columns}": "",
    "{joins}": "",
}

SERVER_LABEL = "mps"


def _filled(parts: Mapping[str, str]) -> str:
    text = FIND
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


@dataclass(frozen=True, slots=True)
class Beside:
    """More to read in the statement that finds a key, which saves a round trip: columns of tables
    that are joined to the key's workspace, w."""

    columns: str
    joins: str
    statement: str = field(init=False)

    def __post_init__(self) -> None:
        columns = f",\n{self.columns}" if self.columns else ""
        text = _filled(SHOWN | {"{columns}": columns, "{joins}": f"\n{self.joins}"})
        object.__setattr__(self, "statement", text)


NOTHING = Beside("", "")
FIND_AGAIN = _filled(AGAIN)


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """The options of a new key; None for `subjects` or `container_tags` means all."""

    name: str
    capabilities: tuple[str, ...] = ()
    agent: Agent | None = None
    subjects: tuple[Subject, ...] | None = None
    expires_at: datetime | None = None
    per_minute: int | None = None
    container_tags: tuple[str, ...] | None = None


def digest_of(secret: str) -> bytes:
    """Return the SHA-256 of a secret. That is enough: 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest()


@transaction.atomic
def issue_key(
    workspace_id: uuid.UUID, options: KeyOptions, *, actor: str, user: User | None = None
) -> tuple[ApiKey, str]:
    """Make a key; the second value is the text that the caller presents, shown only here."""
    prefix, text = _new_text()
    key = ApiKey.objects.create(
        workspace_id=workspace_id,
        name=options.name,
        prefix=prefix,
        digest=digest_of(text),
        agent=options.agent,
        capabilities=list(options.capabilities) or all_capabilities(),
        limited_to_subjects=options.subjects is not None,
        expires_at=options.expires_at,
        per_minute=options.per_minute,
        container_tags=options.container_tags and list(options.container_tags),
        created_by=user,
    )
    key.subjects.set(options.subjects or ())
    AuditEntry.line(workspace_id, actor, "issue_key", key, after={"name": key.name}).save()
    return key, text


def _new_text() -> tuple[str, str]:
    prefix = secrets.token_hex(6)
    return prefix, f"{LABEL}_{prefix}_{secrets.token_urlsafe(32)}"


@transaction.atomic
def revoke_key(key: ApiKey, *, actor: str) -> None:
    """Revoke a key at once, with the invitations it made; a second time changes nothing."""
    now = timezone.now()
    if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
        key.revoked_at = now
        Invitation.objects.filter(workspace_id=key.workspace_id, invited_by=f"key:{key.pk}").revoke()
        AuditEntry.line(key.workspace_id, actor, "revoke_key", key).save()


@transaction.atomic
def rotate_key(key: ApiKey, *, actor: str, overlap: timedelta = timedelta()) -> tuple[ApiKey, str]:
    """Issue a new key with the same rights; the old one is refused at once, or after `overlap`.

    The second value is the new key's text, shown only here. Raises KeyOver where the old one is
    revoked or expired already.
    """
    row = ApiKey.objects.select_for_update().get(pk=key.pk)
    if not row.is_active:
        raise KeyOver("This key is revoked or expired: issue a new one.")
    subjects = tuple(row.subjects.all()) if row.limited_to_subjects else None
    options = KeyOptions(
        row.name,
        tuple(row.capabilities),
        row.agent,
        subjects,
        row.expires_at,
        row.per_minute,
        None if row.container_tags is None else tuple(row.container_tags),
    )
    issued = issue_key(row.workspace_id, options, actor=actor, user=row.created_by)
    if overlap:
        until = min(filter(None, (row.expires_at, timezone.now() + overlap)))
        ApiKey.objects.filter(pk=row.pk).update(expires_at=until)
        line = AuditEntry.line(row.workspace_id, actor, "expire_key", row)
        line.after = {"expiresAt": until.isoformat()}
        line.save()
    else:
        revoke_key(row, actor=actor)
    return issued


def renew_key(key: ApiKey, capabilities: Collection[str], until: datetime) -> str:
    """Give the key another text, which is returned, and a later end; the text before is refused from now on."""
    prefix, text = _new_text()
    ApiKey.objects.filter(pk=key.pk).update(
        prefix=prefix, digest=digest_of(text), capabilities=list(capabilities), expires_at=until
    )
    return text


class KeyOver(Exception):
    """The key is revoked or expired, and the request needs a key in use."""


def scope_for_key(text: str, beside: Beside = NOTHING) -> Scope | None:
    """The scope of the key that `text` proves, with what was read beside it; None where it proves
    nothing."""
    prefix = prefix_of(text)
    if not prefix:
        return None
    # A key never changes its workspace, so a process may cache it; whether the key is in use is
    # read each time.
    home = _homes.get(prefix)
    if home is None and (home := crossings.workspace_of_key(prefix)):
        if len(_homes) >= MOST_HOMES:
            _homes.clear()
        _homes[prefix] = home
    with visible.only(*([home] if home else [])):
        row = _row_of(prefix, digest_of(text), beside)
        # The time of comparing two digests tells nobody anything.
        return _scope_of(row) if row and row[1] else None


def _row_of(prefix: str, digest: bytes, beside: Beside) -> tuple[Any, ...] | None:
    # A prepared statement, because planning took longer than running.
    wrapper = prepared.live_wrapper()
    values = {"prefix": prefix, "digest": digest}
    return next(iter(prepared.ask(wrapper, beside.statement, values).rows(tuple)), None)


def scopes_of_keys(ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Scope]:
    """Return the present scopes, by key id, of keys that proved themselves before, without those
    that are revoked or expired. The caller has set which rows are visible."""
    if not ids:
        return {}
    asked = prepared.ask(prepared.live_wrapper(), FIND_AGAIN, {"ids": list(ids)})
    scopes = (_scope_of(row) for row in asked.rows(tuple))
    return {scope.key_id: scope for scope in scopes if scope and scope.key_id}


def prefix_of(text: str) -> str:
    """Return the part of a key that names it and proves nothing; empty where `text` is not written
    like a key."""
    label, _, rest = text.partition("_")
    prefix, _, secret = rest.partition("_")
    return prefix[:16] if label == LABEL and secret and prefix.isalnum() else ""


def _scope_of(row: tuple[Any, ...]) -> Scope | None:
    (key_id, _, workspace_id, slug, agent_id, capabilities, expires_at, revoked_at) = row[:8]
    last_used_at, per_minute, tags, limited, team, mates, subjects = row[8:OWN]
    now = timezone.now()
    if revoked_at is not None or (expires_at is not None and expires_at <= now):
        return None
    if last_used_at is None or abs(now - last_used_at) > LAST_USED_EVERY:
        note(ApiKey, key_id, now, workspace_id)
    return Scope(
        workspace_id,
        f"key:{key_id}",
        frozenset(capabilities),
        agent_id=agent_id,
        team_agent_ids=tuple(mates),
        in_default_team=agent_id is None or not team,
        subject_ids=tuple(subjects) if limited else None,
        container_tags=None if tags is None else tuple(tags),
        key_id=key_id,
        slug=slug,
        per_minute=per_minute,
        beside=row[OWN:],
    )


def narrowed(scope: Scope, key: ApiKey) -> Scope:
    """Return the same asker, limited to what a key sees, whether or not that is in use."""
    if key.limited_to_subjects:
        scope = replace(scope, subject_ids=tuple(each.pk for each in key.subjects.all()))
    if key.container_tags is not None:
        scope = replace(scope, container_tags=tuple(key.container_tags))
    return scope if key.agent is None else scope.as_agent(key.agent)


@dataclass(frozen=True, slots=True)
class ServerAsker:
    """A program with a server key. It is no Scope: no verb that reads or writes takes it."""

    key_id: uuid.UUID

    @property
    def actor(self) -> str:
        return f"server_key:{self.key_id}"


def issue_server_key(name: str, *, actor: str, expires_at: datetime | None = None) -> tuple[ServerKey, str]:
    """Make a key; the second value is the text that the caller presents, shown only here."""
    prefix = secrets.token_hex(6)
    text = f"{SERVER_LABEL}_{prefix}_{secrets.token_urlsafe(32)}"
    key = ServerKey.objects.create(
        name=name, prefix=prefix, digest=digest_of(text), issued_by=actor, expires_at=expires_at
    )
    return key, text


@transaction.atomic
def revoke_server_key(prefix: str) -> bool:
    """Revoke a key at once, with the invitations it made; False where no key in use has this
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
    """Tell whether `text` claims to be a server key; `asker_for_key` says whether it is."""
    return text.startswith(f"{SERVER_LABEL}_")


def asker_for_key(text: str) -> ServerAsker | None:
    """Return the asker that a server key proves; None where it is unknown, revoked or expired."""
    prefix = text.removeprefix(f"{SERVER_LABEL}_").partition("_")[0][:16]
    key = ServerKey.objects.filter(prefix=prefix).first() if prefix.isalnum() else None
    proves = key and crossings.proves("workspaces_serverkey", key.pk, digest_of(text))
    now = timezone.now()
    if key is None or not proves or key.revoked_at or (key.expires_at and key.expires_at <= now):
        return None
    if key.last_used_at is None or abs(now - key.last_used_at) > LAST_USED_EVERY:
        note(ServerKey, key.pk, now)
    return ServerAsker(key.pk)


Kind = type[ApiKey] | type[ServerKey]
_lock = threading.Lock()
_uses: dict[tuple[Kind, uuid.UUID], tuple[datetime, uuid.UUID | None]] = {}


def note(kind: Kind, key_id: uuid.UUID, at: datetime, workspace_id: uuid.UUID | None = None) -> None:
    with _lock:
        _uses[kind, key_id] = (at, workspace_id)


def write() -> None:
    """Write the uses noted since the last time; those that the database does not take are kept."""
    with _lock:
        taken = dict(_uses)
        _uses.clear()
    try:
        for (kind, key_id), (at, workspace_id) in taken.items():
            with visible.only(*([workspace_id] if workspace_id else [])):
                kind._default_manager.filter(pk=key_id).update(last_used_at=at)
    except DatabaseError:
        with _lock:
            _uses.update(taken | _uses)
        raise


def _forget() -> None:
    """Forget the uses after a fork: the parent noted them, and writes them."""
    global _lock
    _lock = threading.Lock()
    _uses.clear()


os.register_at_fork(after_in_child=_forget)
