"""Route: how much each part of the score counts in a workspace."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.ranking import Weights
from memories.workspace_settings import change_weights, weights_of
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Number, declared


class WeightJson(JsonAnswer):
    value: float
    default: float
    least: float
    most: float
    about: str


class WeightsJson(JsonAnswer):
    weights: dict[str, WeightJson]


@declared
@dataclass(frozen=True, slots=True)
class WeightChanges:
    weights: Annotated[
        dict[str, Number | None],
        Field(min_length=1, description="By name; null gives a weight its default back."),
    ]


def weights_response(weights: Weights) -> Response:
    values, described = weights.named(), Weights.described()
    return Response(
        WeightsJson({name: WeightJson(values[name], **described[name]) for name in described})
    )


class RankingView(WorkspaceView):
    needs = NEEDS | {"PATCH": Capability.ADMIN}

    @operation("readRanking", answer=WeightsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """The weights of the hybrid ranking, with defaults and ranges."""
        return weights_response(weights_of(self.scope))

    @operation("changeRanking", request=WeightChanges, answer=WeightsJson)
    def patch(self, request: Request, workspace: str) -> Response:
        """Other weights for this workspace."""
        changes = read(WeightChanges, request.data).weights
        return weights_response(change_weights(self.scope, changes))
