"""The target of an erasure, what would go with it, and what legal holds keep from it."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from django.db.models import Exists, OuterRef, Q, QuerySet

from memories.errors import NotFound
from memories.models import (
    Blob,
    Citation,
    Connection,
    Conversation,
    ConversationSummary,
    Document,
    Entry,
    Episode,
    Erasure,
    Fact,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    Layer,
    Memory,
    MemoryScope,
    MemorySession,
    Miss,
    Passage,
    Rejection,
    Revision,
    Supersession,
    Vector,
    passages_of,
)
from memories.privacy.masks import WRITTEN, answers_with
from memories.profiles.features import follow_sources
from memories.quality.golden_questions import standing_on
from workspaces.models import AuditEntry, Subject
from workspaces.scope import Scope

Kind = Erasure.Kind


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """A subject, a conversation, an episode or a document of a workspace."""

    workspace_id: uuid.UUID
    kind: str
    id: uuid.UUID

    @property
    def connections(self) -> QuerySet[Connection]:
        """Sources whose documents are about it; only a subject has them."""
        return Connection.objects.filter(workspace_id=self.workspace_id, subject=self.id)

    @property
    def episodes(self) -> QuerySet[Episode]:
        rows = Episode.objects.filter(workspace_id=self.workspace_id)
        return rows.filter(self._is(subject="subject_id", conversation="conversation_id"))

    @property
    def memories(self) -> QuerySet[Memory]:
        """Memories that go whatever they stand on; others go with the last words they stand on."""
        rows = Memory.objects.filter(workspace_id=self.workspace_id)
        if self.kind == Kind.CONVERSATION:
            return rows.filter(conversation=self.id, scope=MemoryScope.THREAD)
        return rows.filter(subject=self.id) if self.kind == Kind.SUBJECT else rows.none()

    @property
    def facts(self) -> QuerySet[Fact]:
        """Facts read out of the episodes and documents; for a subject, all facts about it."""
        cited = Q(citations__episode__in=self.episodes.values("pk"))
        read = Revision.objects.filter(document__in=self.documents.values("pk"))
        # A session that read a document may have claimed what no words of it say.
        cited |= Q(citations__revision__in=read.values("pk"))
        cited |= Q(session__in=read.values("session"), citations=None)
        own = Q(subject=self.id) if self.kind == Kind.SUBJECT else Q()
        rows = Fact.objects.filter(workspace_id=self.workspace_id)
        return rows.filter(pk__in=rows.filter(cited | own if own else cited).values("pk"))

    @property
    def read_facts(self) -> QuerySet[Fact]:
        """Those of `facts` that were read out of documents."""
        read = Revision.objects.filter(document__in=self.documents.values("pk"))
        own = Q(citations__revision__in=read.values("pk"))
        own |= Q(session__in=read.values("session"), citations=None)
        rows = Fact.objects.filter(workspace_id=self.workspace_id)
        return rows.filter(pk__in=rows.filter(own).values("pk"))

    @property
    def passages(self) -> QuerySet[Passage]:
        """The passages of its documents."""
        rows = Passage.places.filter(workspace_id=self.workspace_id)
        return rows.filter(revision__document__in=self.documents.values("pk"))

    @property
    def sessions(self) -> QuerySet[MemorySession]:
        rows = MemorySession.objects.filter(workspace_id=self.workspace_id)
        read = Q(revision__document__in=self.documents.values("pk"))
        if self.kind == Kind.DOCUMENT:
            return rows.filter(read)
        if self.kind == Kind.EPISODE:
            return rows.filter(read | Q(episode_ids=[self.id]))
        own = self._is(subject="subject_id", conversation="conversation_id")
        return rows.filter(read | own)

    @property
    def conversations(self) -> QuerySet[Conversation]:
        rows = Conversation.objects.filter(workspace_id=self.workspace_id)
        if self.kind in (Kind.EPISODE, Kind.DOCUMENT):
            return rows.none()
        return rows.filter(self._is(subject="subject_id", conversation="pk"))

    @property
    def sets(self) -> QuerySet[FeatureSet]:
        rows = FeatureSet.objects.filter(workspace_id=self.workspace_id)
        if self.kind in (Kind.EPISODE, Kind.DOCUMENT):
            return rows.none()
        return rows.filter(self._is(subject="subject_id", conversation="conversation_id"))

    @property
    def documents(self) -> QuerySet[Document]:
        rows = Document.objects.filter(workspace_id=self.workspace_id)
        if self.kind == Kind.DOCUMENT:
            return rows.filter(pk=self.id)
        own = Q(subject=self.id) if self.kind == Kind.SUBJECT else Q()
        return rows.filter(own | Q(episode__in=self.episodes.values("pk")))

    @property
    def digests(self) -> list[str]:
        """The digests of the files that its documents came as."""
        documents = self.documents.values("pk")
        named = Q(documents__in=documents) | Q(revisions__document__in=documents)
        rows = Blob.objects.filter(named, workspace_id=self.workspace_id)
        return sorted(set(rows.values_list("digest", flat=True)))

    @property
    def features(self) -> QuerySet[Feature]:
        """Features of its own sets, and those that stand on its words."""
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
        if self.kind == Kind.DOCUMENT:
            return Q(pk=None)
        names = {Kind.SUBJECT: subject, Kind.CONVERSATION: conversation, Kind.EPISODE: "pk"}
        return Q(**{names[Kind(self.kind)]: self.id})


def target_of(scope: Scope, kind: str, row_id: uuid.UUID) -> ErasureTarget:
    """Return the target that `scope` sees under this id. Raises NotFound."""
    if kind == Kind.SUBJECT:
        rows = Subject.objects.filter(workspace_id=scope.workspace_id, pk=row_id)
        is_seen = rows.exists() and (scope.subject_ids is None or row_id in scope.subject_ids)
        is_seen = is_seen and scope.container_tags is None  # its documents go, of whatever space
    elif kind == Kind.CONVERSATION:
        is_seen = Conversation.objects.visible_to(scope).filter(pk=row_id).exists()
    elif kind == Kind.DOCUMENT:
        is_seen = Document.objects.visible_to(scope).filter(pk=row_id).exists()
    else:
        is_seen = Episode.objects.visible_to(scope).filter(pk=row_id).exists()
    if not is_seen:
        raise NotFound(kind.capitalize())
    return ErasureTarget(scope.workspace_id, kind, row_id)


def target_again(erasure: Erasure) -> ErasureTarget:
    return ErasureTarget(erasure.workspace_id, erasure.kind, erasure.target_id)


MemoryRows: TypeAlias = QuerySet[Memory]
RejectionRows: TypeAlias = QuerySet[Rejection]
AuditRows: TypeAlias = QuerySet[AuditEntry]


def plan(target: ErasureTarget) -> dict[str, int]:
    """Count the rows that go, by kind; `recomputed` rows stay, with the other words they stand
    on."""
    gone, kept = doomed(target)
    memories = with_edits(set(gone.values_list("pk", flat=True)))
    gone = Memory.objects.filter(pk__in=memories)
    facts = Fact.objects.filter(Q(pk__in=target.facts.values("pk")) | Q(memory__in=memories))
    episodes = list(target.episodes.values_list("pk", flat=True))
    rejections, misses = rejections_of(target, gone), Miss.objects.filter(episode__in=episodes)
    features, counts = _features(target, episodes)
    passages = passages_of_documents(target.documents)
    named = {
        *episodes,
        *memories,
        *features.named,
        target.id,
        *(pk for rows in (facts, rejections, misses) for pk in rows.values_list("pk", flat=True)),
        *_sessions(target),
    }
    texts = [
        *Episode.objects.filter(pk__in=episodes).values_list("content", flat=True),
        *gone.values_list("content", flat=True),
    ]
    questions = standing_on(target.workspace_id, [*episodes, *memories], texts)
    return {
        "episodes": len(episodes),
        "sessions": target.sessions.count(),
        "facts": facts.count(),
        "citations": Citation.objects.filter(fact__in=facts.values("pk")).count(),
        "memories": len(memories),
        "memories recomputed": kept.exclude(pk__in=memories).count(),
        "supersessions": Supersession.objects.filter(Q(old__in=memories) | Q(new__in=memories)).count(),
        "rejections": rejections.count(),
        "misses": misses.count(),
        "golden questions": questions.count(),
        **counts,
        "refusals": FeatureRefusal.objects.filter(episode_ids__overlap=episodes).count(),
        "feature sets": target.sets.count(),
        "summaries": ConversationSummary.objects.filter(
            conversation__in=target.episodes.values("conversation")
        ).count(),
        **_documents(target),
        **_of_the_index(episodes, memories, features.gone, passages),
        "kept answers": answers_with(target.workspace_id, named).count(),
        "audit values": audit_of(target, named).count(),
        **_ending(target),
    }


def _documents(target: ErasureTarget) -> dict[str, int]:
    counts = {
        "connections": target.connections.count(),
        "documents": target.documents.count(),
        "revisions": Revision.objects.filter(document__in=target.documents.values("pk")).count(),
        "files": len(target.digests),
    }
    return {name: number for name, number in counts.items() if number}


def passages_of_documents(documents: QuerySet[Document]) -> list[uuid.UUID]:
    revisions = Revision.objects.filter(document__in=documents.values("pk"))
    return passages_of(list(revisions.values_list("pk", flat=True)))


def _of_the_index(
    episodes: Collection[uuid.UUID],
    memories: Collection[uuid.UUID],
    features: Collection[uuid.UUID],
    passages: Collection[uuid.UUID],
) -> dict[str, int]:
    items = [
        (Layer.EPISODES, episodes),
        (Layer.MEMORIES, memories),
        (Layer.FEATURES, features),
        (Layer.CHUNKS, passages),
    ]
    return {
        "index entries": sum(_entries(*each).count() for each in items),
        "vectors": sum(vectors_of(*each).count() for each in items),
    }


@dataclass(frozen=True, slots=True)
class _Features:
    gone: set[uuid.UUID]
    named: set[uuid.UUID]  # with their changes, and those that stay but are touched


def _features(target: ErasureTarget, episodes: Sequence[uuid.UUID]) -> tuple[_Features, dict[str, int]]:
    """Those of its own sets go; of others what does not stand on other words."""
    own = set(target.own_features.values_list("pk", flat=True))
    left = [each for each in follow_sources.redactions(episodes) if each.feature.pk not in own]
    gone = own | {each.feature.pk for each in left if each.is_gone}
    kept = [each for each in left if not each.is_gone]
    changes = set(FeatureChange.objects.filter(feature__in=gone).values_list("pk", flat=True))
    fallen = {change.pk for each in kept for change in each.fallen}
    cited = FeatureCitation.objects.filter(feature__in=gone).count()
    counts = {
        "features": len(gone),
        "features recomputed": len(kept),
        "feature changes": len(changes | fallen),
        "feature citations": cited + sum(each.citations_gone for each in kept),
    }
    return _Features(gone, gone | changes | fallen | {each.feature.pk for each in kept}), counts


def _ending(target: ErasureTarget) -> dict[str, int]:
    """A conversation in which others spoke too stays."""
    if target.kind in (Kind.EPISODE, Kind.DOCUMENT):
        return {}
    others = Episode.objects.filter(conversation=OuterRef("pk"))
    others = others.exclude(pk__in=target.episodes.values("pk"))
    ended = {"conversations": target.conversations.exclude(Exists(others)).count()}
    return ended | ({"subjects": 1} if target.kind == Kind.SUBJECT else {})


def _sessions(target: ErasureTarget) -> set[uuid.UUID]:
    """Their own, and those that lose some of their words."""
    heard = target.episodes.filter(session__isnull=False).values_list("session", flat=True)
    conversations = target.conversations.values_list("pk", flat=True)
    return {*target.sessions.values_list("pk", flat=True), *heard, *conversations}


def with_edits(ids: set[uuid.UUID]) -> set[uuid.UUID]:
    """Memories, and what a person made of their words."""
    found = set(ids)
    while True:
        edits = Memory.objects.filter(replaces_through__old__in=found, replaces_through__rule="edit").exclude(
            pk__in=found
        )
        stands = Fact.objects.filter(memory__in=edits.values("pk")).exclude(rule="edit")
        more = set(edits.exclude(pk__in=stands.values("memory")).values_list("pk", flat=True))
        if not more:
            return found
        found |= more


def doomed(target: ErasureTarget) -> tuple[MemoryRows, MemoryRows]:
    """The memories that go, and those that stay on other words."""
    touched = Memory.objects.filter(workspace_id=target.workspace_id, facts__in=target.facts)
    others = Fact.objects.standing().filter(memory=OuterRef("pk"))
    others = others.exclude(pk__in=target.facts.values("pk"))
    named = Memory.objects.filter(pk__in=touched.values("pk")).annotate(stands=Exists(others))
    own = target.memories.values("pk")
    gone = Memory.objects.filter(Q(pk__in=named.filter(stands=False).values("pk")) | Q(pk__in=own))
    kept = named.filter(stands=True).exclude(pk__in=own)
    return gone, kept


def rejections_of(target: ErasureTarget, gone: MemoryRows) -> RejectionRows:
    rows = Rejection.objects.filter(workspace_id=target.workspace_id)
    own = Q(subject=target.id) if target.kind == Kind.SUBJECT else Q(pk=None)
    return rows.filter(own | Q(memory__in=gone.values("pk")))


def audit_of(target: ErasureTarget, named: set[uuid.UUID]) -> AuditRows:
    """Lines whose values are blanked; that somebody did something stays."""
    rows = AuditEntry.objects.filter(WRITTEN, workspace_id=target.workspace_id)
    own = Q(subject_id=target.id) if target.kind == Kind.SUBJECT else Q(pk=None)
    return rows.filter(own | Q(target_id__in=named))


def _entries(layer: int, ids: Collection[uuid.UUID]) -> QuerySet[Entry]:
    return Entry.objects.filter(layer=layer, item__in=ids)


def vectors_of(layer: int, ids: Collection[uuid.UUID]) -> QuerySet[Vector]:
    return Vector.objects.filter(entry_id__in=_entries(layer, ids).values("pk"))
