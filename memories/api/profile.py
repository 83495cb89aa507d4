"""Route: the profile of a subject."""

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api import shapes
from memories.api.answers import MemorySerializer
from memories.models import AsOf
from memories.profile import profile
from workspaces.api.fields import Camel, Free, read_query
from workspaces.api.views import WorkspaceView
from workspaces.models import Subject
from workspaces.naming import NOBODY
from workspaces.scope import Scope


class ProfileQuery(Camel):
    user_id = serializers.CharField(max_length=255, trim_whitespace=False)
    limit = serializers.IntegerField(
        min_value=1, max_value=100, default=100, help_text="Per group."
    )
    valid_at = serializers.DateTimeField(required=False)
    known_at = serializers.DateTimeField(required=False)


class ProfileSerializer(Camel):
    """Live memories of scope user, by fact type."""

    user_id = serializers.CharField()
    facts = MemorySerializer(many=True)
    preferences = MemorySerializer(many=True)
    events = MemorySerializer(many=True)
    profile = MemorySerializer(many=True)
    system = MemorySerializer(many=True)
    uncategorized = MemorySerializer(many=True)
    features = Free()


def subject_of(scope: Scope, external_id: str) -> uuid.UUID:
    """The subject of that name; an id that nothing has, where there is none."""
    known = Subject.objects.filter(workspace_id=scope.workspace_id, external_id=external_id)
    return known.values_list("pk", flat=True).first() or NOBODY


class ProfileView(WorkspaceView):
    @extend_schema(
        operation_id="readProfile", parameters=[ProfileQuery], responses=ProfileSerializer
    )
    def get(self, request: Request, workspace: str) -> Response:
        """What is known of a subject."""
        wish = read_query(ProfileQuery, request)
        at = AsOf(wish.get("valid_at"), wish.get("known_at"))
        subject_id = subject_of(self.scope, wish["user_id"])
        groups = profile(self.scope, subject_id, at=at, limit=wish["limit"])
        answer: dict[str, Any] = {"userId": wish["user_id"]}
        answer |= {name: [shapes.memory(row) for row in rows] for name, rows in groups.items()}
        return Response(answer | {"features": {}})
