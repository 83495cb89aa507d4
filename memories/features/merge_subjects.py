"""What was taken in about one subject becomes another's, and goes back; in the caller's
transaction.

The own set of the merged subject stays, with all its history and the marks of what it took in: its
features only end, in one batch, so that they can come back word for word.
"""

import uuid
from collections.abc import Collection, Iterable

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.features import apply, due_sets, follow_memory
from memories.features.apply import ChangeOrigin, Vectors
from memories.features.commands import DELETE, Command
from memories.features.features_by_hand import undo_changes, vectors_before
from memories.features.sets import own_set
from memories.index import subjects, workspace_index
from memories.models import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureMark,
    FeatureSet,
    Layer,
    Memory,
    SubjectMerge,
)
from workspaces.models import Subject
from workspaces.scope import Scope

SETS, BY_HAND = "feature set", "feature by hand"  # the kinds of merged rows
RULE = "merge"
Ids: TypeAlias = Collection[uuid.UUID]


def merge(scope: Scope, made: SubjectMerge) -> dict[str, list[uuid.UUID]]:
    """Ids of the sets and of the features by hand that went over; the rest is taken in anew from
    the episodes, which went before."""
    own, into = own_set(made.source), own_set(made.target)
    others = _sets_of(made.source).exclude(pk=own.pk)
    moved = list(others.values_list("pk", flat=True))
    # All that machines read out ends; of what a person wrote, what the other set says as well.
    living = Feature.objects.live()
    known = living.filter(set=into, agent=OuterRef("agent"), fingerprint=OuterRef("fingerprint"))
    nobodys = living.filter(set=into, agent=None, fingerprint=OuterRef("fingerprint"))
    is_known = Exists(known) | Q(agent=None) & Exists(nobodys)
    ending = living.filter(~Q(method=Feature.Method.MANUAL) | is_known, set=own)
    _end(scope, own, ending, f"{made.source} was merged into {made.target}", made.batch)
    # What a person wrote, and what a person ended: that holds wherever it is.
    ended = FeatureChange.objects.filter(
        set=own, is_current=True, after__isnull=True, rule=apply.BY_HAND
    )
    by_hand = Q(method=Feature.Method.MANUAL) | Q(pk__in=ended.values("feature"))
    written = list(Feature.objects.filter(by_hand, set=own).values_list("pk", flat=True))
    _give_sets(scope, moved, made.target)
    _give_features(scope, written, into)
    _begin_again([own.pk, into.pk, *moved])
    return {SETS: moved, BY_HAND: written}


def vectors_for_separation(made: SubjectMerge) -> Vectors:
    """What the features that ended with the merge will need to be found again."""
    return vectors_before(workspace_index.index_of(made.workspace_id), _ended_with(made))


def separate(scope: Scope, made: SubjectMerge, vectors: Vectors) -> int:
    """Give back what went over, as it is now; how many features. The episodes went before."""
    source, target = made.source, made.target
    own, into = own_set(source), own_set(target)
    sets = _sets_of(target).filter(pk__in=made.ids(SETS)).values_list("pk", flat=True)
    back = list(sets)
    _give_sets(scope, back, source)
    living = Feature.objects.live().filter(set=own)
    # Somebody told it to the source since.
    again = Q(ended_at=None, fingerprint__in=living.values("fingerprint"))
    by_hand = Feature.objects.filter(pk__in=made.ids(BY_HAND), set=into).exclude(again)
    _give_features(scope, list(by_hand.values_list("pk", flat=True)), own)
    ended = []
    for change in _ended_with(made):
        fingerprint = Feature.fingerprint_of(change.before or {})
        same = Feature.objects.live().filter(set=change.set_id, agent=change.feature.agent_id)
        if not same.filter(fingerprint=fingerprint).exists():
            ended.append(change)
    if ended:
        space = workspace_index.index_of(own.workspace_id)
        undo_changes(scope, apply.lock_set(space, own), ended, vectors)
    for feature_set in FeatureSet.objects.filter(pk__in=[into.pk, *back]):
        _drop_foreign(scope, feature_set)
    _begin_again([own.pk, into.pk, *back])
    return Feature.objects.live().filter(subject=source).count()


def split(scope: Scope, made: SubjectMerge) -> None:
    """What the source's own set took in of what went over ends, and is taken in anew by both."""
    own, into = own_set(made.source), own_set(made.target)
    _drop_foreign(scope, own, made.batch)
    _begin_again([own.pk, into.pk])


def follow(scope: Scope, memory_ids: Ids, subject: Subject) -> None:
    """What stands on these memories goes to the subject; called before they do."""
    for memory in Memory.objects.live().filter(pk__in=memory_ids):
        follow_memory.move(scope, memory, subject)


def _sets_of(subject: Subject) -> QuerySet[FeatureSet]:
    return FeatureSet.objects.filter(workspace_id=subject.workspace_id, subject=subject)


def _ended_with(made: SubjectMerge) -> list[FeatureChange]:
    """The changes of the merge that nothing followed."""
    rows = FeatureChange.objects.filter(batch=made.batch, is_current=True, undone_at=None)
    return list(rows.select_related("feature").order_by("-pk"))


def _end(
    scope: Scope, feature_set: FeatureSet, ending: QuerySet[Feature], reason: str, batch: uuid.UUID
) -> None:
    by_agent: dict[uuid.UUID | None, list[uuid.UUID]] = {}
    for agent, feature in ending.values_list("agent_id", "pk"):
        by_agent.setdefault(agent, []).append(feature)
    space = workspace_index.index_of(scope.workspace_id)
    for agent_id, ids in by_agent.items():
        origin = ChangeOrigin(feature_set, scope.actor, Feature.Method.RULE, RULE, agent_id, batch)
        commands = [Command(DELETE, target=each, reason=reason) for each in ids]
        apply.apply_commands(space, origin, commands, {})


def _give_sets(scope: Scope, ids: Ids, subject: Subject) -> None:
    FeatureSet.objects.filter(pk__in=ids).update(subject=subject)
    _now_about(scope, Feature.objects.filter(set__in=ids), subject)


def _give_features(scope: Scope, ids: Ids, into: FeatureSet) -> None:
    if into.subject is None:
        return  # its own set has always one
    FeatureChange.objects.filter(feature__in=ids).update(set=into)
    rows = Feature.objects.filter(pk__in=ids)
    rows.update(set=into)
    _now_about(scope, rows, into.subject)


def _now_about(scope: Scope, rows: QuerySet[Feature], subject: Subject) -> None:
    rows.update(subject=subject, updated_at=timezone.now())
    living = list(rows.filter(ended_at=None).values_list("pk", flat=True))
    subjects.move(workspace_index.index_of(scope.workspace_id), Layer.FEATURES, living, subject.pk)


def _drop_foreign(scope: Scope, feature_set: FeatureSet, batch: uuid.UUID | None = None) -> None:
    """What a set took in of episodes that it does not fit any more ends; a person's words stay."""
    fits = due_sets.fitting(feature_set).filter(pk=OuterRef("episode_id"))
    foreign = FeatureMark.objects.filter(~Exists(fits), set=feature_set)
    gone = list(foreign.values_list("episode_id", flat=True))
    cited = FeatureCitation.objects.filter(episode__in=gone, change__is_current=True)
    ending = Feature.objects.live().filter(set=feature_set, pk__in=cited.values("feature"))
    ending = ending.exclude(method=Feature.Method.MANUAL)
    rest = FeatureCitation.objects.filter(feature__in=ending).exclude(episode__in=gone)
    again = list(rest.values_list("episode_id", flat=True).distinct())
    _end(scope, feature_set, ending, "the subjects are two", batch or uuid.uuid4())
    foreign.delete()
    if again:
        due_sets.unmark(feature_set.workspace_id, again)


def _begin_again(ids: Iterable[uuid.UUID]) -> None:
    """Whoever is taking into one of them begins again; all that waits is looked for anew."""
    now = timezone.now()
    FeatureSet.objects.filter(pk__in=list(ids)).update(
        cursor=None, due_at=now, waiting_since=now, lease_until=None, claims=F("claims") + 1,
        embedding_due_at=now,
    )  # fmt: skip
