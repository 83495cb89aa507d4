"""Authentication over HTTP: an API key, or a member in a browser session. `request.auth` is the
Scope, or a ServerAsker, who asks of no workspace."""

import uuid
from collections.abc import Collection
from dataclasses import replace
from typing import cast

from django.db.models import Q
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from memoryproject.postgres import crossings, visible
from memoryproject.server.front.presented import presented_key
from memoryproject.server.front.wire import CAP, TENANT
from workspaces.keys import (
    NOTHING,
    ServerAsker,
    asker_for_key,
    is_server_key,
    scope_for_key,
    scopes_of_keys,
)
from workspaces.login.browser_sessions import is_session_of, row_key, sessions_in_use
from workspaces.models import Membership, User
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import NOBODY, Scope

UNKNOWN_KEY = "This key is unknown, revoked or expired."


class KeyAuthentication(BaseAuthentication):
    """Authentication by `Authorization: Bearer <key>`, `Authorization: Token <key>` or `X-API-Key:
    <key>`."""

    def authenticate(self, request: Request) -> tuple[None, Scope | ServerAsker] | None:
        text = presented_key(request.META)
        if text is None:
            return None
        asker: Scope | ServerAsker | None
        if is_server_key(text):
            asker = asker_for_key(text)
        else:
            asker = scope_for_key(text, getattr((request.parser_context or {}).get("view"), "beside", NOTHING))
        if asker is None:
            raise AuthenticationFailed(UNKNOWN_KEY)
        if isinstance(asker, Scope):
            visible.narrow(asker.workspace_id)
        else:  # it makes and removes any workspace, and no view shows it their rows
            visible.narrow_to(visible.EVERYTHING)
        tenant = asker.workspace_id if isinstance(asker, Scope) else asker.actor
        request.META[TENANT] = str(tenant)
        if isinstance(asker, Scope) and asker.per_minute:
            request.META[CAP] = asker.per_minute
        return None, asker

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class MemberAuthentication(SessionAuthentication):
    """Authentication by a Django session, with CSRF enforced; the scope is that of the membership.

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
        if scope is not None:
            scope = replace(scope, session=row_key(request.session.session_key or ""))
            # The same tenant as its keys' requests: a workspace does not take turns with itself.
            request.META[TENANT] = str(scope.workspace_id)
            visible.narrow(scope.workspace_id)
        return user, scope


def scope_for_member(user: User, workspace: str) -> Scope | None:
    """The scope of `user` in the workspace of this id or slug; None where they are no member."""
    named = Q(workspace__slug=workspace)
    if (workspace_id := as_uuid(workspace)) is not None:
        named |= Q(workspace_id=workspace_id)
    found = Membership.objects.select_related("workspace").filter(named, user=user)
    # An id takes precedence over a slug that looks like one.
    ranked = sorted(found, key=lambda membership: membership.workspace_id != workspace_id)
    if not ranked:
        return None
    return _scope_of_member(ranked[0])


def _scope_of_member(membership: Membership) -> Scope:
    return Scope(
        membership.workspace_id,
        f"user:{membership.user_id}",
        ROLE_CAPABILITIES[membership.role],
        user_id=membership.user_id,
        role=membership.role,
        slug=membership.workspace.slug,
    )


def scopes_again(scopes: Collection[Scope]) -> dict[Scope, Scope]:
    """Return the scopes that the same keys and members have now. Scopes lost by revocation, expiry,
    or the end of a membership or a browser session are left out. The number of statements does not
    grow with the scopes. For long-lived connections, which go on after authentication."""
    with visible.only(*{scope.workspace_id for scope in scopes}):
        keys = scopes_of_keys({scope.key_id for scope in scopes if scope.key_id is not None})
        members = _members_again([scope for scope in scopes if scope.key_id is None])
    return members | {scope: keys[scope.key_id] for scope in scopes if scope.key_id and scope.key_id in keys}


def scope_again(scope: Scope) -> Scope | None:
    """Return the scope as `scopes_again` does; None where it is lost."""
    return scopes_again([scope]).get(scope)


def _members_again(scopes: Collection[Scope]) -> dict[Scope, Scope]:
    if not scopes:
        return {}
    rows = Membership.objects.select_related("workspace", "user").filter(
        user__in={scope.user_id for scope in scopes},
        workspace__in={scope.workspace_id for scope in scopes},
        user__is_active=True,
        user__must_change_password=False,
    )
    members = {(row.user_id, row.workspace_id): row for row in rows}
    sessions = sessions_in_use({scope.session for scope in scopes})
    found = {}
    for scope in scopes:
        member = members.get((scope.user_id or NOBODY, scope.workspace_id))
        opened = sessions.get(scope.session, {})
        if member is not None and is_session_of(opened, member.user):
            found[scope] = replace(_scope_of_member(member), session=scope.session)
    return found


def as_uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
