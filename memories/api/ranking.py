"""Route: how much each part of the score counts in a workspace."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.ranking import Weights
from memories.workspace_settings import change_weights, weights_of
from workspaces.api.fields import Camel, Number, read
from workspaces.api.json_answers import Json
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability


class WeightJson(Json):
    value: float
    default: float
    least: float
    most: float
    about: str


class WeightsJson(Json):
    weights: dict[str, WeightJson]


class ChangeSerializer(Camel):
    weights = serializers.DictField(
        child=Number(allow_null=True),
        allow_empty=False,
        help_text="By name; null gives a weight its default back.",
    )


def answered(weights: Weights) -> Response:
    values, described = weights.named(), Weights.described()
    return Response(
        WeightsJson({name: WeightJson(values[name], **described[name]) for name in described})
    )


class RankingView(WorkspaceView):
    needs = NEEDS | {"PATCH": Capability.ADMIN}

    @extend_schema(operation_id="readRanking", responses=WeightsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """The weights of the hybrid ranking, with defaults and ranges."""
        return answered(weights_of(self.scope))

    @extend_schema(operation_id="changeRanking", request=ChangeSerializer, responses=WeightsJson)
    def patch(self, request: Request, workspace: str) -> Response:
        """Other weights for this workspace."""
        changes = read(ChangeSerializer, request.data)["weights"]
        return answered(change_weights(self.scope, changes))
