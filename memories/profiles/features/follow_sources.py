"""Features follow what they stand on: words that are erased, a memory that is forgotten or put
right, a subject that becomes another.

`redactions` reads, `redact` writes in the caller's transaction, which holds the workspace's lock.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeAlias

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.index import entries, subjects, workspace_index
from memories.language.english import lexical
from memories.models import (
    Episode,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureMark,
    FeatureRefusal,
    FeatureSet,
    Layer,
    Memory,
    MergedRows,
    SubjectMerge,
    WorkspaceIndex,
)
from memories.profiles.features import apply, facts_to_features, set_queue
from memories.profiles.features.apply import ChangeOrigin, Vectors
from memories.profiles.features.commands import ADD, DELETE, UPDATE, Command, plan
from memories.profiles.features.config import config_of
from memories.profiles.features.gather_episodes import models_of
from memories.profiles.features.propose_commands import statements_by_memory
from memories.profiles.features.set_queue import unmark
from memories.profiles.features.sets import own_set
from memories.profiles.features.undo_features import copy_citations, drop_begun, undo_changes, vectors_before
from workspaces.models import Subject
from workspaces.scope import Scope

Action = FeatureChange.Action
Ids: TypeAlias = Collection[uuid.UUID]


# Memories, and the versions that a person corrected to them: a correction has no words of its own.
LINE = """
with recursive line (id) as (
  select unnest(%(memories)s::uuid[])
  union
  select s.old_id from line join memories_supersession s on s.new_id = line.id
  where s.rule = 'edit' and s.state = 'applied')
"""
# Those of which every citation lies in words that facts of the memories were read from.
STANDING_ON = f"""{LINE},
words as (
  select c.episode_id, c.start, c."end" from memories_citation c
  join memories_fact f on f.id = c.fact_id where f.memory_id in (select id from line)),
own as (
  select fc.feature_id, exists (
      select 1 from words w where w.episode_id = fc.episode_id
        and w.start < fc."end" and fc.start < w."end") as inside
  from memories_featurecitation fc
  join memories_featurechange ch on ch.id = fc.change_id and ch.is_current
  where fc.feature_id in (select fc.feature_id from memories_featurecitation fc
                          join words w on w.episode_id = fc.episode_id))
select f.id from memories_feature f
where f.ended_at is null and f.method <> 'manual'
  and f.id in (select feature_id from own group by feature_id having bool_and(inside))
"""
EPISODES = f"""{LINE}
select distinct c.episode_id as id from memories_citation c join memories_fact f on f.id = c.fact_id
where f.memory_id in (select id from line) and c.episode_id is not null
"""
RULE = "merge"
AT_ONCE = 100  # features, or episodes with what stands on them, of one step


@dataclass(slots=True)
class Redaction:
    """The changes of a feature, oldest first: those that stand without the erased words, with what
    they were before as it is then, and those that fall; `lost` are citations of the former."""

    feature: Feature
    standing: list[FeatureChange] = field(default_factory=list)
    fallen: list[FeatureChange] = field(default_factory=list)
    lost: int = 0

    @classmethod
    def of(cls, changes: Sequence[FeatureChange], erased: Ids, parted: Ids) -> "Redaction":
        """Split the changes of one feature into those that stand and those that fall; `parted` are
        the merges that are taken back."""
        left = cls(changes[0].feature)
        for change in changes:
            before = left.standing[-1].after if left.standing else None
            is_broken = bool(left.fallen) and (not left.standing or left.fallen[-1].pk > left.standing[-1].pk)
            # The outcome of a merge is what one of its parts said; other changes may end or restore
            # what is no longer there.
            says_nothing = bool(change.action == Action.MERGE and change.after) or (
                change.after == before and (change.after is None or change.action == Action.UNDO)
            )
            if _falls(change, erased, parted) or (is_broken and says_nothing):
                left.fallen.append(change)
                continue
            if is_broken:
                change.before = before
                change.action = change.action if before else Action.ADD
            left.lost += sum(each.episode_id in erased for each in change.citations.all())
            left.standing.append(change)
        return left

    @property
    def citations_gone(self) -> int:
        """The number of citations of erased words, and of those of what falls."""
        return self.lost + sum(len(change.citations.all()) for change in self.fallen)

    @property
    def is_gone(self) -> bool:
        """Tell whether nothing is left that it could say; what a person took back does not
        return."""
        says = any(change.after for change in self.standing)
        return not says or self.standing[-1].undone_at is not None


def remove_standing_on(
    space: WorkspaceIndex, spans: Mapping[uuid.UUID, Collection[tuple[int, int]]]
) -> list[uuid.UUID]:
    """Remove the features, with their history, that stand on any of these spans of episodes; all
    that they stood on is taken in again."""
    cited = FeatureCitation.objects.filter(episode__in=spans)
    gone = {
        row.feature_id
        for row in cited
        if any(row.start < end and start < row.end for start, end in spans[row.episode_id])
    }
    features = Feature.objects.filter(pk__in=gone).select_related("set")
    others = FeatureCitation.objects.filter(feature__in=gone).values_list("episode_id", flat=True)
    again = {each for each in others if each}
    FeatureRefusal.objects.filter(episode_ids__overlap=list(spans)).delete()
    for touched in {feature.set_id: feature.set for feature in features}.values():
        apply.mark_changed(touched)
    entries.remove(space, Layer.FEATURES, gone)
    features.delete()
    if again:
        unmark(space.workspace_id, again)
    return list(gone)


def redactions(episodes: QuerySet[Episode] | Ids) -> list[Redaction]:
    """Work out what would be left of all features that these words touch. A merge whose outcome
    falls is taken back: what had become part of it comes again."""
    cited = FeatureCitation.objects.filter(episode__in=episodes)
    erased = set(cited.values_list("episode_id", flat=True))
    touched = set(cited.values_list("feature_id", flat=True))
    parted: set[uuid.UUID] = set()
    while True:
        rows = FeatureChange.objects.filter(feature__in=touched).order_by("feature_id", "pk")
        whole = rows.select_related("feature").prefetch_related("citations")
        result = [
            Redaction.of(list(own), erased, parted) for _, own in groupby(whole, key=lambda change: change.feature_id)
        ]
        fallen = {c.batch for one in result for c in one.fallen if c.action == Action.MERGE}
        if fallen <= parted:
            return result
        parted |= fallen
        parts = FeatureChange.objects.filter(batch__in=parted, action=Action.MERGE, after__isnull=True)
        touched |= set(parts.values_list("feature_id", flat=True))


def _falls(change: FeatureChange, erased: Ids, parted: Ids) -> bool:
    if change.action == Action.MERGE and change.after is None:
        return change.batch in parted
    cited = list(change.citations.all())
    lost = [each for each in cited if each.episode_id in erased]
    kept = [each for each in cited if each.episode_id not in erased]
    if not lost or not kept:
        return bool(lost)
    if change.after is None:
        return False
    # The value holds words that only what is erased said; how it begins ("likes") is nobody's word.
    words = set(lexical.stems(change.after["value"].split(maxsplit=1)[-1]))
    return bool(words & (_stems(lost) - _stems(kept)))


def _stems(cited: Iterable[FeatureCitation]) -> set[str]:
    return {stem for each in cited for stem in lexical.stems(each.quote)}


def redact(space: WorkspaceIndex, left: Redaction, erased: Ids) -> Counter[str]:
    """Let a feature say what is left of it, under its own id; return the numbers of rows that went,
    by kind."""
    last = left.standing[-1]
    again = {each.episode_id for change in left.fallen for each in change.citations.all()}
    FeatureCitation.objects.filter(feature=left.feature, episode__in=erased).delete()
    FeatureChange.objects.filter(pk__in=[change.pk for change in left.fallen]).delete()
    FeatureChange.objects.filter(feature=left.feature).update(is_current=False)
    for change in left.standing:
        change.is_current = change.pk == last.pk
        change.save(update_fields=["before", "action", "is_current"])
    # Why something was done may quote what was erased; a merge tells it of all its parts.
    merges = [change.batch for change in left.standing if change.action == Action.MERGE]
    parts = Q(batch__in=merges, action=Action.MERGE)
    FeatureChange.objects.filter(Q(feature=left.feature) | parts).update(reason="")
    if left.fallen:
        # As the last change left it; where another feature says that by now, it becomes its part.
        feature = left.feature
        feature.set_to(last.after or last.before or {})
        feature.ended_at = None if last.after else feature.ended_at
        if last.after and (other := apply.same_as(feature)):
            rows = FeatureCitation.objects.filter(change=last)
            apply.add_support(other, apply.cited_of(rows, last.occurred_at))
            entries.remove(space, Layer.FEATURES, [feature.pk])
            feature.delete()
        else:
            feature.save()
            apply.reindex(space, [feature.pk], [] if feature.ended_at else [feature], {})
    unmark(space.workspace_id, again - set(erased))
    apply.mark_changed(left.feature.set)
    return Counter(
        {
            "features recomputed": 1,
            "feature changes": len(left.fallen),
            "feature citations": left.citations_gone,
        }
    )


# Features that stand on one memory follow what a person does to it: they end when it is forgotten,
# change when it is put right, and move with it to another subject.
#
# All in the caller's transaction, which holds the workspace's lock.


def withdraw(scope: Scope, memories: Sequence[Memory]) -> int:
    """End the features that stand on nothing but these memories' words; return their number."""
    features = _standing_on(memories)
    for feature in features:
        command = Command(DELETE, target=feature.pk, reason="the memory it stood on was forgotten")
        _change(scope, feature, command, "forgotten")
    return len(features)


def correct(scope: Scope, old: Memory, new: Memory) -> None:
    """Let features that stood on the old words say the new ones, by the same quotes; what rules did
    not read out of them before, they may now."""
    episodes = episodes_of(old)
    statement = statements_by_memory(scope.workspace_id, episodes).get(new.pk)
    if statement is None:
        return
    for feature in _standing_on([old]):
        known = apply.known_features([feature])[0]
        command = facts_to_features.corrected(replace(statement, confidence=1.0), known)
        cited = apply.cited_now(feature)
        at = None if command.action == DELETE else known.occurred_at  # it was never so
        command = replace(command, cited=cited, occurred_at=at)
        _change(scope, feature, command, "correction")
    # Not into sets that took them in by a model: that would read the old words again.
    marks = FeatureMark.objects.filter(episode__in=episodes)
    rows = FeatureSet.objects.filter(pk__in=marks.values("set")).select_related("workspace")
    by_rules = [row.pk for row in rows if models_of(row) is None]
    set_queue.unmark(scope.workspace_id, episodes, sets=by_rules)


def move(scope: Scope, memory: Memory, target: Subject) -> None:
    """Move what stands on the memory to the own set of the subject that it is about from now on;
    where it was not taken in yet, add it by rules. Call this before the memory itself moves."""
    into = own_set(target)
    features = [each for each in _standing_on([memory]) if each.subject_id not in (None, target.pk)]
    for feature in features:
        cited = apply.cited_now(feature)
        copy = Command(
            ADD,
            feature.category,
            feature.tag,
            feature.feature,
            feature.value,
            target.name if feature.about else "",
            feature.slot,
            cited=cited,
            occurred_at=max(each.occurred_at for each in cited),
        )
        _add(scope, into, [copy], feature.agent_id)
        command = Command(DELETE, target=feature.pk, reason=f"it is about {target}")
        _change(scope, feature, command, "moved")
    episodes = episodes_of(memory)
    statement = statements_by_memory(scope.workspace_id, episodes).get(memory.pk)
    if not features and statement is not None and memory.subject_id != target.pk:
        agent = Episode.objects.filter(pk__in=episodes).values_list("agent_id", flat=True)[0]
        known = apply.known_features(apply.live_features(into, agent).values())
        statement = replace(statement, speaker=target.name or facts_to_features.NAMELESS)
        _add(scope, into, facts_to_features.commands([statement], known), agent)


def _standing_on(memories: Sequence[Memory]) -> list[Feature]:
    """Return the live features that machines read out of these memories' words alone."""
    given = {"memories": [memory.pk for memory in memories]}
    ids = [row.pk for row in Feature.objects.raw(STANDING_ON, given)]
    return list(Feature.objects.filter(pk__in=ids).select_related("set__workspace"))


def episodes_of(memory: Memory) -> list[uuid.UUID]:
    """Return the episodes that a memory's facts were read from, or those of what it corrects."""
    return [row.pk for row in Episode.objects.raw(EPISODES, {"memories": [memory.pk]})]


def _change(scope: Scope, feature: Feature, command: Command, rule: str) -> None:
    """Apply one command to one feature, whoever made it."""
    space = workspace_index.index_of(scope.workspace_id)
    feature_set = apply.lock_set(space, feature.set)
    origin = ChangeOrigin(feature_set, scope.actor, feature.method, rule, feature.agent_id)
    apply.apply_commands(space, origin, [command], {})


def _add(scope: Scope, into: FeatureSet, commands: list[Command], agent_id: uuid.UUID | None) -> None:
    """Add features, as far as the set's categories and what is newer in it allow."""
    space = workspace_index.index_of(scope.workspace_id)
    feature_set = apply.lock_set(space, into)
    origin = ChangeOrigin(feature_set, scope.actor, Feature.Method.RULE, "moved", agent_id)
    known = apply.known_features(apply.live_features(feature_set, agent_id).values())
    by_slot = {(each.about, each.slot): each for each in known if each.slot}
    newer = [
        replace(each, action=UPDATE, target=by_slot[each.about, each.slot].id)
        if (each.about, each.slot) in by_slot
        else each
        for each in commands
    ]
    config = config_of(into.workspace.settings, into.config)
    planned = plan(newer, config.categories, known)
    apply.apply_commands(space, origin, planned.commands, {})


# What was taken in about one subject becomes another's, and goes back; in the caller's
# transaction.
#
# The own set of the merged subject stays, with all its history and the marks of what it took in:
# its features only end, in one batch, so that they can come back word for word.

SETS, BY_HAND = "feature set", "feature by hand"  # the kinds of merged rows


def merge(scope: Scope, made: SubjectMerge) -> dict[str, list[uuid.UUID]]:
    """Merge the sets of two subjects; return the ids of the sets and of the features by hand that
    went over. The rest is taken in anew from the episodes, which went before."""
    own, into = own_set(made.source), own_set(made.target)
    others = _sets_of(made.source).exclude(pk=own.pk)
    moved = list(others.values_list("pk", flat=True))
    ending = _ending(own, into)
    _end(scope, own, ending, f"{made.source} was merged into {made.target}", made.batch)
    written = list(_by_hand(own).values_list("pk", flat=True))
    _give_sets(scope, moved, made.target)
    _give_features(scope, written, into)
    _begin_again([own.pk, into.pk, *moved])
    return {SETS: moved, BY_HAND: written}


def step_of_merge(scope: Scope, made: SubjectMerge) -> bool:
    """Do a part of what `merge` does, for `AT_ONCE` features, in the caller's transaction; return
    whether there was something to do."""
    own, into = own_set(made.source), own_set(made.target)
    ending = _ending(own, into).order_by("pk")[:AT_ONCE]
    if ids := list(ending.values_list("pk", flat=True)):
        gone = Feature.objects.filter(pk__in=ids)
        _end(scope, own, gone, f"{made.source} was merged into {made.target}", made.batch)
        return True
    rows = Feature.objects.filter(set__in=_sets_of(made.source).exclude(pk=own.pk))
    if _give_some(scope, rows.filter(subject=made.source), made.target):
        return True
    written = list(_by_hand(own).order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    _give_features(scope, written, into)
    note_moved(made, {BY_HAND: written})
    return bool(written)


def step_of_separation(scope: Scope, made: SubjectMerge, vectors: Vectors) -> bool:
    """Do a part of what `separate` does, likewise."""
    own, into = own_set(made.source), own_set(made.target)
    back = FeatureSet.objects.filter(pk__in=made.ids(SETS))
    going = back.filter(subject=made.target)
    rows = Feature.objects.filter(set__in=going, subject=made.target)
    if _give_some(scope, rows, made.source) or going.update(subject=made.source):
        return True
    by_hand = list(_told_by_hand(made, own, into).values_list("pk", flat=True)[:AT_ONCE])
    if by_hand:
        _give_features(scope, by_hand, own)
        return True
    if ended := _to_undo(made, AT_ONCE):
        space = workspace_index.index_of(own.workspace_id)
        own, whole, left = apply.lock_set(space, own), list[FeatureChange](), AT_ONCE
        for change in ended:
            left -= copy_citations(scope, change, left)
            if left <= 0:  # it may stand on more
                break
            whole.append(change)
        if whole:
            undo_changes(scope, own, whole, vectors)
        return True
    return any(_drop_some(scope, each, made.pk) for each in (into, *back.filter(subject=made.source)))


def step_of_split(scope: Scope, made: SubjectMerge) -> bool:
    """Do a part of what `split` does, likewise."""
    return _drop_some(scope, own_set(made.source), made.batch)


def note_moved(made: SubjectMerge, moved: Mapping[str, Sequence[uuid.UUID]]) -> None:
    """Write down rows of each kind that went over, beside those that are written down."""
    for kind, ids in moved.items():
        known = MergedRows.objects.filter(merge=made, kind=kind)
        every = list(dict.fromkeys([*made.ids(kind), *ids]))
        if ids and not known.update(ids=every):
            MergedRows.objects.create(workspace_id=made.workspace_id, merge=made, kind=kind, ids=every)


def vectors_for_separation(made: SubjectMerge) -> Vectors:
    """Make the vectors by which the features that ended with the merge will be found again."""
    return vectors_before(workspace_index.index_of(made.workspace_id), _ended_with(made))


def separate(scope: Scope, made: SubjectMerge, vectors: Vectors) -> int:
    """Give back what went over, as it is now; return how many features. The episodes went
    before."""
    source, target = made.source, made.target
    own, into = own_set(source), own_set(target)
    both = FeatureSet.objects.filter(subject__in=(source, target), pk__in=made.ids(SETS))
    back = list(both.values_list("pk", flat=True))
    _give_sets(scope, back, source)
    by_hand = _told_by_hand(made, own, into)
    _give_features(scope, list(by_hand.values_list("pk", flat=True)), own)
    if ended := _to_undo(made):
        space = workspace_index.index_of(own.workspace_id)
        undo_changes(scope, apply.lock_set(space, own), ended, vectors)
    drop_begun(_ended_with(made))
    for feature_set in FeatureSet.objects.filter(pk__in=[into.pk, *back]):
        while _drop_some(scope, feature_set, made.pk):
            pass
    _begin_again([own.pk, into.pk, *back])
    return Feature.objects.live().filter(subject=source).count()


def _ending(own: FeatureSet, into: FeatureSet) -> QuerySet[Feature]:
    """All that machines read out; of what a person wrote, what the other set says as well."""
    living = Feature.objects.live()
    known = living.filter(set=into, agent=OuterRef("agent"), fingerprint=OuterRef("fingerprint"))
    nobodys = living.filter(set=into, agent=None, fingerprint=OuterRef("fingerprint"))
    is_known = Exists(known) | Q(agent=None) & Exists(nobodys)
    return living.filter(~Q(method=Feature.Method.MANUAL) | is_known, set=own)


def _by_hand(own: FeatureSet) -> QuerySet[Feature]:
    """Edits and ends by a person, which hold wherever it is."""
    ended = FeatureChange.objects.filter(set=own, is_current=True, after__isnull=True, rule=apply.BY_HAND)
    by_hand = Q(method=Feature.Method.MANUAL) | Q(pk__in=ended.values("feature"))
    return Feature.objects.filter(by_hand, set=own)


def _told_by_hand(made: SubjectMerge, own: FeatureSet, into: FeatureSet) -> QuerySet[Feature]:
    """Features that a person wrote of the source, but for what somebody told it since."""
    living = Feature.objects.live().filter(set=own)
    again = Q(ended_at=None, fingerprint__in=living.values("fingerprint"))
    return Feature.objects.filter(pk__in=made.ids(BY_HAND), set=into).exclude(again)


def _to_undo(made: SubjectMerge, most: int | None = None) -> list[FeatureChange]:
    """The changes of the merge that nothing followed, of what no other feature says by now."""
    found: list[FeatureChange] = []
    for change in _ended_with(made):
        if len(found) == most:
            break
        fingerprint = Feature.fingerprint_of(change.before or {})
        same = Feature.objects.live().filter(set=change.set_id, agent=change.feature.agent_id)
        if not same.filter(fingerprint=fingerprint).exists():
            found.append(change)
    return found


def split(scope: Scope, made: SubjectMerge) -> None:
    """End what the source's own set took in of what went over; both sets take it in anew."""
    own, into = own_set(made.source), own_set(made.target)
    while _drop_some(scope, own, made.batch):
        pass
    _begin_again([own.pk, into.pk])


def follow(scope: Scope, memory_ids: Ids, subject: Subject) -> None:
    """Move what stands on these memories to the subject; call this before they move."""
    for memory in Memory.objects.live().filter(pk__in=memory_ids):
        move(scope, memory, subject)


def _sets_of(subject: Subject) -> QuerySet[FeatureSet]:
    return FeatureSet.objects.filter(workspace_id=subject.workspace_id, subject=subject)


def _ended_with(made: SubjectMerge) -> list[FeatureChange]:
    """Return the changes of the merge that nothing followed."""
    rows = FeatureChange.objects.filter(batch=made.batch, is_current=True, undone_at=None)
    return list(rows.select_related("feature").order_by("-pk"))


def _end(scope: Scope, feature_set: FeatureSet, ending: QuerySet[Feature], reason: str, batch: uuid.UUID) -> None:
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


def _give_some(scope: Scope, rows: QuerySet[Feature], subject: Subject) -> bool:
    """Let some of these features be about the subject; return whether there were any."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    if ids:
        _now_about(scope, Feature.objects.filter(pk__in=ids), subject)
    return bool(ids)


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


def _drop_some(scope: Scope, feature_set: FeatureSet, batch: uuid.UUID) -> bool:
    """End some of what a set took in of episodes that it does not fit any more; a person's words
    stay. Return whether there was something to do. Other episodes that it stood on are taken in
    anew, before the marks go by which all this is found."""
    some = list(_foreign(feature_set).values_list("episode_id", flat=True)[:AT_ONCE])
    cited = FeatureCitation.objects.filter(feature__set=feature_set, episode__in=some)
    standing = cited.filter(change__is_current=True).values("feature")
    ending = Feature.objects.live().filter(set=feature_set, pk__in=standing).exclude(method=Feature.Method.MANUAL)
    if ids := list(ending.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        _end(scope, feature_set, Feature.objects.filter(pk__in=ids), "the subjects are two", batch)
        return True
    ended = FeatureChange.objects.filter(feature__in=cited.values("feature"), batch=batch, is_current=True)
    since = ended.filter(feature=OuterRef("feature"), created_at__gt=OuterRef(OuterRef("folded_at")))
    stood = FeatureCitation.objects.filter(Exists(since), episode=OuterRef("episode_id"))
    marks = FeatureMark.objects.filter(Exists(_fitting(feature_set)), Exists(stood), set=feature_set)
    if again := list(marks.values_list("episode_id", flat=True)[:AT_ONCE]):
        set_queue.unmark(feature_set.workspace_id, again, sets=[feature_set.pk])
        return True
    FeatureMark.objects.filter(set=feature_set, episode__in=some).delete()
    return bool(some)


def _foreign(feature_set: FeatureSet) -> QuerySet[FeatureMark]:
    return FeatureMark.objects.filter(~Exists(_fitting(feature_set)), set=feature_set)


def _fitting(feature_set: FeatureSet) -> QuerySet[Episode]:
    """The episode of a mark, where the set fits it."""
    return set_queue.fitting(feature_set).filter(pk=OuterRef("episode_id"))


def _begin_again(ids: Iterable[uuid.UUID]) -> None:
    """Let whoever is taking into one of these sets begin again, and look anew for all that
    waits."""
    now = timezone.now()
    FeatureSet.objects.filter(pk__in=list(ids)).update(
        cursor=None,
        due_at=now,
        waiting_since=now,
        lease_until=None,
        claims=F("claims") + 1,
        embedding_due_at=now,
    )
