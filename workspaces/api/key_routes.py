"""Routes for API keys. The secret is in the answer that issues a key, and nowhere else."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read
from workspaces.api.paging import paged
from workspaces.api.problems import conflict, invalid, refused
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.keys import KeyOptions, KeyOver, issue_key, revoke_key, rotate_key
from workspaces.models import ApiKey, Capability, User
from workspaces.models.key import CONTAINER_TAG
from workspaces.request_fields import ExternalId, Moment, OneOf, OwnId, Text, declared
from workspaces.scope import Scope, agent_to_write, subject_to_write


class KeyJson(JsonAnswer):
    id: uuid.UUID
    name: str
    prefix: str
    agent_id: str | None
    user_ids: list[str] | None
    container_tags: Annotated[list[str] | None, Meta(description="The spaces whose documents it sees; null: all.")]
    capabilities: list[str]
    expires_at: datetime | None
    per_minute: int | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        limits = [subject.external_id for subject in row.subjects.all()]
        return super().of(
            row,
            agent_id=row.agent.external_id if row.agent else None,
            user_ids=limits if row.limited_to_subjects else None,
            **given,
        )


class IssuedKeyJson(KeyJson):
    key: Annotated[
        str | None,
        Meta(description="What to present. Shown once: null where the request is answered again."),
    ]


@declared
@dataclass(frozen=True, slots=True)
class NewKey:
    name: Annotated[Text, Field(max_length=200)]
    agent_id: Annotated[
        ExternalId,
        Field(description="Without one: the workspace's own backend, which sees all."),
    ] = ""
    user_ids: Annotated[
        tuple[OwnId, ...] | None,
        Field(max_length=100, description="Sees and writes only what is about these."),
    ] = None
    container_tags: Annotated[
        tuple[Annotated[str, Field(pattern=CONTAINER_TAG)], ...] | None,
        Field(
            min_length=1,
            max_length=100,
            description="Of documents, and of what was read out of them, it sees those in these"
            " spaces alone, and it writes into them alone; null: all.",
        ),
    ] = None
    capabilities: Annotated[tuple[Annotated[str, OneOf(Capability)], ...], Field(min_length=1, max_length=4)] = ()
    expires_at: Moment | None = None
    per_minute: Annotated[
        int | None,
        Field(ge=1, le=10_000_000, strict=True, description="Requests a minute; null: no cap."),
    ] = None


@declared
@dataclass(frozen=True, slots=True)
class RotateKey:
    overlap_seconds: Annotated[
        int,
        Field(ge=0, le=2_592_000, strict=True, description="How long the old key is still good."),
    ] = 0


def of_workspace(scope: Scope) -> QuerySet[ApiKey]:
    rows = ApiKey.objects.filter(workspace_id=scope.workspace_id)
    return rows.select_related("agent").prefetch_related("subjects")


def options_of(scope: Scope, wish: NewKey) -> KeyOptions:
    """Return the options of the new key; a key can give no more than it has itself."""
    capabilities = tuple(dict.fromkeys(wish.capabilities or sorted(scope.capabilities)))
    if beyond := [name for name in capabilities if not scope.may(name)]:
        raise refused(f"You do not have: {', '.join(beyond)}.", "capabilities")
    if wish.expires_at is not None and wish.expires_at <= timezone.now():
        raise invalid("expiresAt", "Must be in the future.")
    users = wish.user_ids
    found = [subject_to_write(scope, user) for user in users or ()]
    return KeyOptions(
        name=wish.name,
        capabilities=capabilities,
        agent=agent_to_write(scope, wish.agent_id),
        subjects=None if users is None else tuple(subject for subject in found if subject),
        expires_at=wish.expires_at,
        per_minute=wish.per_minute,
        container_tags=wish.container_tags and tuple(dict.fromkeys(wish.container_tags)),
    )


class KeysView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("key",)

    @operation("listKeys", page=KeyJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the keys without their secrets, the newest first."""
        return paged(request, of_workspace(self.scope), KeyJson.of)

    @operation("issueKey", request=NewKey, answer={201: IssuedKeyJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Issue a key. Only this answer has the secret; the server keeps a digest of it."""
        options = options_of(self.scope, read(NewKey, request.data))
        user = request.user if isinstance(request.user, User) else None
        key, text = issue_key(self.scope.workspace_id, options, actor=self.scope.actor, user=user)
        return Response(IssuedKeyJson.of(key, key=text), status=201)


class KeyView(WorkspaceView):
    needs = ADMINISTERS

    @operation("readKey", answer=KeyJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read a key without its secret, and when it was last used."""
        return Response(KeyJson.of(get_object_or_404(of_workspace(self.scope), pk=row)))

    @operation("revokeKey", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Revoke a key: the next request with it gets 401. Its row stays for the audit log."""
        revoke_key(get_object_or_404(of_workspace(self.scope), pk=row), actor=self.scope.actor)
        return Response(status=204)


class RotateKeyView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("key",)

    @operation("rotateKey", request=RotateKey, answer={201: IssuedKeyJson})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Issue a new key with the same rights. The old key is refused at once, or after a
        while."""
        key = get_object_or_404(of_workspace(self.scope), pk=row)
        if beyond := [name for name in key.capabilities if not self.scope.may(name)]:
            raise refused(f"You do not have: {', '.join(beyond)}.")
        overlap = timedelta(seconds=read(RotateKey, request.data).overlap_seconds)
        try:
            made, text = rotate_key(key, actor=self.scope.actor, overlap=overlap)
        except KeyOver as error:
            raise conflict(str(error)) from None
        return Response(IssuedKeyJson.of(made, key=text), status=201)
