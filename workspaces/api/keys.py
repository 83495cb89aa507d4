"""Routes: API keys. The secret is in the answer that issues a key, and nowhere else."""

import uuid
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.fields import Camel, Choice, ExternalId, Moment, Text, moment, read
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.problems import invalid, refused
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.external_ids import agent_to_write, subject_to_write
from workspaces.keys import KeyOptions, issue_key, revoke_key
from workspaces.models import ApiKey, Capability, User
from workspaces.scope import Scope


class KeySerializer(Camel):
    id = serializers.UUIDField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    agent_id = serializers.CharField(allow_null=True)
    user_ids = serializers.ListField(child=serializers.CharField(), allow_null=True)
    capabilities = serializers.ListField(child=serializers.CharField())
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class IssuedKeySerializer(KeySerializer):
    key = serializers.CharField(
        allow_null=True,
        help_text="What to present. Shown once: null where the request is answered again.",
    )


class NewKey(Camel):
    name = Text(max_length=200)
    agent_id = ExternalId(help_text="Without one: the workspace's own backend, which sees all.")
    user_ids = serializers.ListField(
        child=Text(max_length=255),
        required=False,
        allow_null=True,
        max_length=100,
        help_text="Sees and writes only what is about these.",
    )
    capabilities = serializers.ListField(
        child=Choice(choices=Capability.choices), required=False, min_length=1, max_length=4
    )
    expires_at = Moment(required=False, allow_null=True)


def shape(key: ApiKey) -> dict[str, Any]:
    limits = [subject.external_id for subject in key.subjects.all()]
    return {
        "id": str(key.pk),
        "name": key.name,
        "prefix": key.prefix,
        "agentId": key.agent.external_id if key.agent else None,
        "userIds": limits if key.limited_to_subjects else None,
        "capabilities": key.capabilities,
        "expiresAt": moment(key.expires_at),
        "revokedAt": moment(key.revoked_at),
        "lastUsedAt": moment(key.last_used_at),
        "createdAt": moment(key.created_at),
    }


def of_workspace(scope: Scope) -> QuerySet[ApiKey]:
    rows = ApiKey.objects.filter(workspace_id=scope.workspace_id)
    return rows.select_related("agent").prefetch_related("subjects")


def options_of(scope: Scope, wish: dict[str, Any]) -> KeyOptions:
    """The new key's options; a key can give no more than it has itself."""
    capabilities = tuple(dict.fromkeys(wish.get("capabilities", sorted(scope.capabilities))))
    if beyond := [name for name in capabilities if not scope.may(name)]:
        raise refused(f"You do not have: {', '.join(beyond)}.", "capabilities")
    _check_time(wish.get("expires_at"))
    users = wish.get("user_ids")
    found = [subject_to_write(scope, user) for user in users or ()]
    return KeyOptions(
        name=wish["name"],
        capabilities=capabilities,
        agent=agent_to_write(scope, wish.get("agent_id") or ""),
        subjects=None if users is None else tuple(subject for subject in found if subject),
        expires_at=wish.get("expires_at"),
    )


def _check_time(expires_at: datetime | None) -> None:
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("expiresAt", "Must be in the future.")


class KeysView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("key",)

    @extend_schema(
        operation_id="listKeys",
        parameters=[PageQuery],
        responses=page_of(KeySerializer, "KeyPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        return paged(request, of_workspace(self.scope), shape)

    @extend_schema(operation_id="issueKey", request=NewKey, responses={201: IssuedKeySerializer})
    def post(self, request: Request, workspace: str) -> Response:
        """Issue a key; the answer holds the secret, which is kept only as a digest."""
        options = options_of(self.scope, read(NewKey, request.data))
        user = request.user if isinstance(request.user, User) else None
        key, text = issue_key(self.scope.workspace_id, options, actor=self.scope.actor, user=user)
        return Response(shape(key) | {"key": text}, status=201)


class KeyView(WorkspaceView):
    needs = ADMINISTERS

    @extend_schema(operation_id="readKey", responses=KeySerializer)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(shape(get_object_or_404(of_workspace(self.scope), pk=row)))

    @extend_schema(operation_id="revokeKey", responses={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Revoke: the next request with it is 401. The row stays, for the audit."""
        revoke_key(get_object_or_404(of_workspace(self.scope), pk=row), actor=self.scope.actor)
        return Response(status=204)
