"""Apps and what people let them do. A code or refresh token names its grant and turn under the server's signature:
nothing secret is stored, and one that comes a second time ends the grant."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memoryproject.postgres import visible
from workspaces.keys import KeyOptions, issue_key, renew_key, revoke_key
from workspaces.models import Membership, OAuthClient, OAuthGrant, Subject, User
from workspaces.permissions import ROLE_CAPABILITIES

CODE, REFRESH = "code", "refresh"
SALT = "workspaces.oauth"
CODE_LIVES = timedelta(minutes=5)
ACCESS_LIVES = timedelta(hours=1)
REFRESH_LIVES = timedelta(days=90)  # since it was last used
UNUSED_LIVES = timedelta(days=1)
MOST_UNUSED = 1_000
MOST_BY_NETWORK = 20  # in a day


class TooManyApps(Exception):
    """More apps registered of late than people let in."""


class NoGrant(Exception):
    """The code or token is unknown, used up, expired or revoked, or the person may no longer do this."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's consent: where, about whom and what an app may do, and what it asked with."""

    membership: Membership
    subject: Subject | None
    capabilities: tuple[str, ...]
    code_challenge: str
    redirect_uri: str
    is_redirect_named: bool
    resource: str


@dataclass(frozen=True, slots=True)
class GrantedTokens:
    """An access token with its lifetime in seconds, and the refresh token that is changed for the next."""

    access: str
    seconds: int
    refresh: str
    capabilities: tuple[str, ...]


def register(client: OAuthClient) -> None:
    """Save an app that registers. Raises TooManyApps."""
    unused = OAuthClient.objects.filter(used_at=None, created_at__gt=timezone.now() - UNUSED_LIVES)
    alike = unused.filter(registered_by=client.registered_by)
    if alike.count() >= MOST_BY_NETWORK or unused.count() >= MOST_UNUSED:
        raise TooManyApps
    client.save(force_insert=True)


@transaction.atomic
def consent(client: OAuthClient, wanted: Consent) -> str:
    """Note the consent; return the code that the app changes for tokens."""
    member = wanted.membership
    OAuthClient.objects.filter(pk=client.pk).update(used_at=timezone.now())
    grant = OAuthGrant.objects.create(
        workspace_id=member.workspace_id,
        client=client,
        user_id=member.user_id,
        subject=wanted.subject,
        capabilities=allowed(member, wanted.capabilities),
        code_challenge=wanted.code_challenge,
        redirect_uri=wanted.redirect_uri,
        is_redirect_named=wanted.is_redirect_named,
        resource=wanted.resource,
        expires_at=timezone.now() + CODE_LIVES,
    )
    return _token(CODE, grant)


def allowed(member: Membership, capabilities: Iterable[str]) -> list[str]:
    """Return those of the capabilities that the member has."""
    return sorted(ROLE_CAPABILITIES[member.role].intersection(capabilities))


def grant_of(kind: str, text: str, client_id: uuid.UUID) -> OAuthGrant | None:
    """Return the grant that a code or refresh token of this app stands for, None where there is none. One that was
    used before ends its grant: it was stolen, or whoever used it first had stolen it."""
    named = _named(kind, text)
    if named is None:
        return None
    workspace_id, grant_id, turn = named
    with visible.only(workspace_id):
        grant = _in_use().filter(pk=grant_id, client=client_id).first()
        if grant is None:
            return None
        if grant.turn != turn:
            end(grant)
            return None
        return grant


def exchange(grant: OAuthGrant) -> GrantedTokens:
    """Give out the grant's next tokens; those before are refused from now on. Raises NoGrant, also where somebody
    else was quicker."""
    with visible.only(grant.workspace_id), transaction.atomic():
        row = _in_use().select_for_update(of=("self",)).filter(pk=grant.pk, turn=grant.turn).first()
        member = row and Membership.objects.filter(workspace=row.workspace_id, user=row.user_id).first()
        capabilities = allowed(member, row.capabilities) if row and member else []
        if row is None or not capabilities:
            raise NoGrant
        actor, until = f"user:{row.user_id}", timezone.now() + ACCESS_LIVES
        if row.key is None:
            options = KeyOptions(
                row.client.name,
                tuple(capabilities),
                subjects=(row.subject,) if row.subject else None,
                expires_at=until,
            )
            row.key, access = issue_key(row.workspace_id, options, actor=actor, user=row.user)
        elif row.key.revoked_at is None:
            access = renew_key(row.key, capabilities, until)
        else:
            raise NoGrant
        row.turn += 1
        row.expires_at = timezone.now() + REFRESH_LIVES
        row.save(update_fields=["key", "turn", "expires_at", "updated_at"])
        return GrantedTokens(access, int(ACCESS_LIVES.total_seconds()), _token(REFRESH, row), tuple(capabilities))


def of_user(user: User) -> list[OAuthGrant]:
    """Return the apps that a person has connected, the newest first, in the workspaces that are visible."""
    rows = _in_use().filter(user=user, key__isnull=False, key__revoked_at=None)
    return list(rows.select_related("workspace", "subject"))


def end(grant: OAuthGrant) -> None:
    """Disconnect an app at once; a second time changes nothing."""
    with visible.only(grant.workspace_id), transaction.atomic():
        now = timezone.now()
        if OAuthGrant.objects.filter(pk=grant.pk, revoked_at=None).update(revoked_at=now) and grant.key:
            revoke_key(grant.key, actor=f"user:{grant.user_id}")


def end_those_of(membership: Membership) -> None:
    """Disconnect the apps of somebody whose role ended or changed: they may do what the person may."""
    for grant in _in_use().filter(workspace=membership.workspace_id, user=membership.user_id):
        end(grant)


def _in_use() -> QuerySet[OAuthGrant]:
    rows = OAuthGrant.objects.filter(revoked_at=None, expires_at__gt=timezone.now(), user__is_active=True)
    return rows.select_related("client", "user", "key", "subject")


def _token(kind: str, grant: OAuthGrant) -> str:
    about = f"{grant.workspace_id.hex}.{grant.pk.hex}.{grant.turn}"
    return signing.Signer(salt=f"{SALT}.{kind}").sign(about)


def _named(kind: str, text: str) -> tuple[uuid.UUID, uuid.UUID, int] | None:
    try:
        workspace, grant, turn = signing.Signer(salt=f"{SALT}.{kind}").unsign(text).split(".")
    except signing.BadSignature:
        return None
    return uuid.UUID(workspace), uuid.UUID(grant), int(turn)
