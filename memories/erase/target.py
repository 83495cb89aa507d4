"""What is to be erased, and which rows belong to it."""

import uuid
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from memories.errors import NotFound
from memories.models import (
    Conversation,
    Episode,
    Erasure,
    Fact,
    Feature,
    FeatureCitation,
    FeatureSet,
    Memory,
    MemoryScope,
    MemorySession,
)
from workspaces.models import Subject
from workspaces.scope import Scope

Kind = Erasure.Kind


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """A subject, a conversation or an episode of a workspace."""

    workspace_id: uuid.UUID
    kind: str
    id: uuid.UUID

    @property
    def episodes(self) -> QuerySet[Episode]:
        rows = Episode.objects.filter(workspace_id=self.workspace_id)
        return rows.filter(self._is(subject="subject_id", conversation="conversation_id"))

    @property
    def memories(self) -> QuerySet[Memory]:
        """Those that go whatever they stand on; others go with the last word they stand on."""
        rows = Memory.objects.filter(workspace_id=self.workspace_id)
        if self.kind == Kind.CONVERSATION:
            return rows.filter(conversation=self.id, scope=MemoryScope.THREAD)
        return rows.filter(subject=self.id) if self.kind == Kind.SUBJECT else rows.none()

    @property
    def facts(self) -> QuerySet[Fact]:
        """What was read out of the episodes, and of a subject all that was claimed."""
        cited = Q(citations__episode__in=self.episodes.values("pk"))
        own = Q(subject=self.id) if self.kind == Kind.SUBJECT else Q()
        rows = Fact.objects.filter(workspace_id=self.workspace_id)
        return rows.filter(pk__in=rows.filter(cited | own if own else cited).values("pk"))

    @property
    def sessions(self) -> QuerySet[MemorySession]:
        rows = MemorySession.objects.filter(workspace_id=self.workspace_id)
        if self.kind == Kind.EPISODE:
            return rows.filter(episode_ids=[self.id])
        return rows.filter(self._is(subject="subject_id", conversation="conversation_id"))

    @property
    def conversations(self) -> QuerySet[Conversation]:
        rows = Conversation.objects.filter(workspace_id=self.workspace_id)
        if self.kind == Kind.EPISODE:
            return rows.none()
        return rows.filter(self._is(subject="subject_id", conversation="pk"))

    @property
    def sets(self) -> QuerySet[FeatureSet]:
        rows = FeatureSet.objects.filter(workspace_id=self.workspace_id)
        if self.kind == Kind.EPISODE:
            return rows.none()
        return rows.filter(self._is(subject="subject_id", conversation="conversation_id"))

    @property
    def features(self) -> QuerySet[Feature]:
        """Those of its own sets, and those that stand on its words."""
        cited = FeatureCitation.objects.filter(episode__in=self.episodes.values("pk"))
        either = Q(pk__in=self.own_features.values("pk")) | Q(pk__in=cited.values("feature"))
        return Feature.objects.filter(either, workspace_id=self.workspace_id)

    @property
    def own_features(self) -> QuerySet[Feature]:
        """Those that go whatever they stand on."""
        rows = Feature.objects.filter(workspace_id=self.workspace_id)
        own = Q(set__in=self.sets.values("pk"))
        if self.kind == Kind.SUBJECT:
            own |= Q(subject=self.id)
        return rows.filter(own)

    def _is(self, *, subject: str, conversation: str) -> Q:
        names = {Kind.SUBJECT: subject, Kind.CONVERSATION: conversation, Kind.EPISODE: "pk"}
        return Q(**{names[Kind(self.kind)]: self.id})


def target_of(scope: Scope, kind: str, row_id: uuid.UUID) -> ErasureTarget:
    """What `scope` sees under this id. Raises NotFound."""
    if kind == Kind.SUBJECT:
        rows = Subject.objects.filter(workspace_id=scope.workspace_id, pk=row_id)
        is_seen = rows.exists() and (scope.subject_ids is None or row_id in scope.subject_ids)
    elif kind == Kind.CONVERSATION:
        is_seen = Conversation.objects.visible_to(scope).filter(pk=row_id).exists()
    else:
        is_seen = Episode.objects.visible_to(scope).filter(pk=row_id).exists()
    if not is_seen:
        raise NotFound(kind.capitalize())
    return ErasureTarget(scope.workspace_id, kind, row_id)


def target_again(erasure: Erasure) -> ErasureTarget:
    return ErasureTarget(erasure.workspace_id, erasure.kind, erasure.target_id)
