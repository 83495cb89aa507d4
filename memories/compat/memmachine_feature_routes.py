"""Routes of MemMachine's semantic memory: features by hand, and the sets that hold them."""

import uuid

from rest_framework.request import Request
from rest_framework.response import Response

from memories.compat.memmachine_requests import (
    FeatureUpdate,
    NamedFeature,
    NamedSet,
    NewSemanticFeature,
    ProjectNames,
    SemanticIds,
)
from memories.compat.memmachine_routes import MemMachineView
from memories.compat.memmachine_shapes import PROJECT, features_of, project_of, shown_features
from memories.errors import Invalid, NotFound, needed
from memories.features import features_by_hand, sets
from memories.models import Conversation, Feature, FeatureSet
from workspaces.api.json_requests import read
from workspaces.models import Capability, Subject


class FeatureMemMachineView(MemMachineView):
    def feature(self, asked: ProjectNames, feature_id: uuid.UUID | str) -> Feature:
        """Raises NotFound."""
        try:
            row_id = uuid.UUID(str(feature_id))
        except ValueError:
            raise NotFound("Feature") from None
        return needed(features_of(self.scope, asked.project).filter(pk=row_id).first(), "Feature")


class DeleteSemanticView(FeatureMemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.CURATE}

    def post(self, request: Request) -> Response:
        asked = read(SemanticIds, request.data)
        if not asked.ids:
            raise Invalid("semantic_id", "Name what is to be deleted.")
        for row in [self.feature(asked, one) for one in dict.fromkeys(asked.ids)]:
            features_by_hand.delete(self.scope, row.pk)
        return Response(status=204)


class AddFeatureView(MemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        asked = read(NewSemanticFeature, request.data)
        project_of(self.scope, asked)
        made = features_by_hand.create(
            self.scope,
            asked.set_id,
            features_by_hand.NewFeature(
                category=asked.category_name, tag=asked.tag, feature=asked.feature,
                value=asked.value, metadata=asked.feature_metadata | {PROJECT: asked.project},
                episode_ids=asked.citations,
            ),
        )  # fmt: skip
        return Response({"feature_id": str(made.pk)})


class ReadFeatureView(FeatureMemMachineView):
    def post(self, request: Request) -> Response:
        asked = read(NamedFeature, request.data)
        row = self.feature(asked, asked.feature_id)
        return Response(shown_features(self.scope, [row], citations=asked.load_citations)[0])


class UpdateFeatureView(FeatureMemMachineView):
    needs = {**MemMachineView.needs, "POST": Capability.CURATE}

    def post(self, request: Request) -> Response:
        asked = read(FeatureUpdate, request.data)
        row = self.feature(asked, asked.feature_id)
        said = {
            "category": asked.category_name, "tag": asked.tag, "feature": asked.feature,
            "value": asked.value,
        }  # fmt: skip
        changes: dict[str, object] = {name: value for name, value in said.items() if value}
        if asked.metadata is not None:
            changes["metadata"] = asked.metadata | {PROJECT: asked.project}
        features_by_hand.edit(self.scope, row.pk, changes)
        return Response(status=204)


class SetOfUserView(MemMachineView):
    """The set of a user's features; sets of other tags are not built."""

    needs = {**MemMachineView.needs, "POST": Capability.WRITE}

    def post(self, request: Request) -> Response:
        asked = read(NamedSet, request.data)
        project_of(self.scope, asked)
        user = asked.set_metadata.get("user_id")
        if asked.is_org_level or asked.metadata_tags != ("user_id",) or not isinstance(user, str):
            raise Invalid("metadata_tags", "This server has the sets of users: user_id alone.")
        row = sets.own_set_to_write(self.scope, FeatureSet.own_key(user))
        return Response({"set_id": str(row.pk)})


class SetsOfUsersView(MemMachineView):
    def post(self, request: Request) -> Response:
        """The sets of those of whom something was said in the project."""
        asked = read(NamedSet, request.data)
        project_of(self.scope, asked)
        threads = Conversation.objects.visible_to(self.scope)
        of = threads.filter(external_id__startswith=f"{asked.project}/").values("subject")
        rows = FeatureSet.objects.visible_to(self.scope).filter(
            subject__in=Subject.objects.filter(pk__in=of), key__startswith=FeatureSet.OWN
        )
        user = asked.set_metadata.get("user_id")
        rows = rows if user is None else rows.filter(subject__external_id=str(user))
        shown = [
            {"id": str(row.pk), "is_org_level": False, "tags": ["user_id"], "name": row.key}
            for row in rows.order_by("pk")
        ]
        return Response({"sets": shown})
