"""Who asks over HTTP: an API key, or a member in a browser session. `request.auth` is the Scope, or
a ServerAsker, who asks of no workspace."""

import uuid
from collections.abc import Mapping
from typing import cast

from django.db.models import Q
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from memoryproject import crossings
from memoryproject.front.wire import CAP, TENANT
from memoryproject.postgres import visible
from workspaces.keys import (
    NOTHING,
    ServerAsker,
    asker_for_key,
    is_server_key,
    scope_for_key,
    scope_of_key,
)
from workspaces.models import Membership, User
from workspaces.scope import NOBODY, ROLE_CAPABILITIES, Scope

SCHEMES = ("bearer", "token")
UNKNOWN_KEY = "This key is unknown, revoked or expired."


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`, `Authorization: Token <key>` or `X-API-Key: <key>`."""

    def authenticate(self, request: Request) -> tuple[None, Scope | ServerAsker] | None:
        text = presented_key(request.META)
        if text is None:
            return None
        asker: Scope | ServerAsker | None
        if is_server_key(text):
            asker = asker_for_key(text)
        else:
            asker = scope_for_key(
                text, getattr((request.parser_context or {}).get("view"), "beside", NOTHING)
            )
        if asker is None:
            raise AuthenticationFailed(UNKNOWN_KEY)
        if isinstance(asker, Scope):
            visible.narrow(asker.workspace_id)
        else:  # it makes and removes any, and no view shows it a row of one
            visible.narrow_to(visible.EVERYTHING)
        tenant = asker.workspace_id if isinstance(asker, Scope) else asker.actor
        request.META[TENANT] = str(tenant)
        if isinstance(asker, Scope) and asker.per_minute:
            request.META[CAP] = asker.per_minute
        return None, asker

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class MemberAuthentication(SessionAuthentication):
    """A Django session, with CSRF enforced; the scope is that of the membership.

    Where the path names no workspace, or one that the user is not in, `request.auth` is None.
    """

    def authenticate(self, request: Request) -> tuple[User, Scope | None] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        user = cast(User, found[0])
        request.META[TENANT] = f"user:{user.pk}"
        if user.must_change_password:
            raise PermissionDenied("Change the first password in the admin before anything else.")
        crossings.narrow_to_user(user.pk)
        named = (request.parser_context or {}).get("kwargs", {}).get("workspace")
        scope = scope_for_member(user, named) if named else None
        if scope is not None:  # as its keys' requests: nobody waits for himself
            request.META[TENANT] = str(scope.workspace_id)
            visible.narrow(scope.workspace_id)
        return user, scope


def presented_key(headers: Mapping[str, str]) -> str | None:
    """The key that a request's META shows, or None; other schemes of Authorization show none."""
    scheme, _, rest = headers.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() in SCHEMES:
        return rest.strip()
    return headers.get("HTTP_X_API_KEY")


def scope_for_member(user: User, workspace: str) -> Scope | None:
    """The scope of `user` in the workspace of this id or slug; None where they are no member."""
    named = Q(workspace__slug=workspace)
    if (workspace_id := as_uuid(workspace)) is not None:
        named |= Q(workspace_id=workspace_id)
    found = Membership.objects.select_related("workspace").filter(named, user=user)
    # An id goes before a slug that is written like one.
    ranked = sorted(found, key=lambda membership: membership.workspace_id != workspace_id)
    if not ranked:
        return None
    membership = ranked[0]
    return Scope(
        membership.workspace_id,
        f"user:{membership.user_id}",
        ROLE_CAPABILITIES[membership.role],
        user_id=membership.user_id,
        role=membership.role,
        slug=membership.workspace.slug,
    )


def scope_again(scope: Scope) -> Scope | None:
    """What the same key or member has now; None where they have lost it. For who goes on for a
    while after they were asked who they are."""
    if scope.key_id is not None:
        return scope_of_key(scope.workspace_id, scope.key_id)
    with visible.only(scope.workspace_id):
        user = User.objects.filter(is_active=True).filter(pk=scope.user_id or NOBODY).first()
        return scope_for_member(user, str(scope.workspace_id)) if user else None


def as_uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
