"""Route: how much each part of the score counts in a workspace."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.ranking import Weights
from memories.workspace_settings import change_weights, weights_of
from workspaces.api.fields import Camel, Number, read
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability


class WeightSerializer(Camel):
    value = serializers.FloatField()
    default = serializers.FloatField()
    least = serializers.FloatField()
    most = serializers.FloatField()
    about = serializers.CharField()


class WeightsSerializer(Camel):
    weights = serializers.DictField(child=WeightSerializer())


class ChangeSerializer(Camel):
    weights = serializers.DictField(
        child=Number(allow_null=True),
        allow_empty=False,
        help_text="By name; null gives a weight its default back.",
    )


def shape(weights: Weights) -> dict[str, Any]:
    values = weights.named()
    described = Weights.described().items()
    return {"weights": {name: {"value": values[name], **told} for name, told in described}}


class RankingView(WorkspaceView):
    needs = NEEDS | {"PATCH": Capability.ADMIN}

    @extend_schema(operation_id="readRanking", responses=WeightsSerializer)
    def get(self, request: Request, workspace: str) -> Response:
        """The weights of the hybrid ranking, with defaults and ranges."""
        return Response(shape(weights_of(self.scope)))

    @extend_schema(
        operation_id="changeRanking", request=ChangeSerializer, responses=WeightsSerializer
    )
    def patch(self, request: Request, workspace: str) -> Response:
        """Other weights for this workspace."""
        changes = read(ChangeSerializer, request.data)["weights"]
        return Response(shape(change_weights(self.scope, changes)))
