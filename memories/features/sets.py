"""Feature sets: found, made, configured and deleted; what counts for one, what waits in each, and
which are due."""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Least
from django.utils import timezone
from pydantic import Field

from memories import leases, outbox
from memories.errors import Conflict, Forbidden, Invalid, NotFound, needed, refuse
from memories.extraction.fallback import faults_of_model
from memories.features import config, set_embedding
from memories.features.apply import lock_set
from memories.features.config import (
    PRODUCT,
    TYPE,
    EffectiveSetting,
    OwnSetSettings,
    SetSettings,
    config_of,
    types_of,
)
from memories.index import entries, prepared_sql, workspace_index
from memories.leases import TakenOver
from memories.models import (
    Conversation,
    Episode,
    Feature,
    FeatureMark,
    FeatureSet,
    Layer,
    MemoryScope,
    MemorySession,
    SetDiscovery,
)
from memories.models.conversation_and_summaries import AHEAD
from memories.settings_objects import faults
from memoryproject.postgres import visible
from workspaces.models import AuditEntry, Subject, Workspace
from workspaces.request_fields import ExternalId, Free, Text, declared
from workspaces.scope import NotAllowed, Scope, subject_to_write

# What waits to be taken into a set, which sets are due, and who has one.
#
# Derived from the rows, so that ingest writes nothing for it: an episode waits in a set that it
# fits as long as there is no mark of it. It is ready when its session has come to an end, for then
# its facts are there. No two workers have the same set, and a failing one waits.

# Ids are made before the commit: so long after its own time an episode may still turn up.
LATE = timedelta(minutes=10)
READY = Q(session=None) | Q(session__state__in=MemorySession.FINAL)
# What was not ready is looked at again after this time.
AGAIN = timedelta(seconds=15)
PAUSE, LONGEST_PAUSE = timedelta(seconds=20), timedelta(hours=1)
COUNTED = ("waiting", "waiting_since", "due_at", "cursor")
MOST_POSTS = 200
# So long a task that was posted is believed to be on its way. It is lost with a worker that is
# killed, and one too many is answered at once.
POSTED = timedelta(minutes=2)
# The failure is counted before the work: what kills its worker waits longer each time.
CLAIM = f"""
update memories_featureset
set lease_until = %(until)s, claims = claims + 1, failures = failures + 1,
    updated_at = %(now)s
where id = %(id)s and due_at <= %(now)s and {leases.FREE}
returning claims
"""
HELD = (
    "update memories_featureset set updated_at = %(now)s where id = %(id)s and claims = %(claims)s"
)
# Per workspace: about whom something new was said, and the last id of it.
NEW = """
select w.id as workspace, news.last, news.subjects
from workspaces_workspace w left join memories_setdiscovery d on d.workspace_id = w.id
cross join lateral (
  select max(e.id::text)::uuid as last,
         array_agg(distinct e.subject_id) filter (where e.subject_id is not null) as subjects
  from memories_episode e where e.workspace_id = w.id
    and e.id > coalesce(d.seen, '00000000-0000-0000-0000-000000000000'::uuid)) news
where news.last is not null and (%(workspace)s::uuid is null or w.id = %(workspace)s::uuid)
"""


def fitting(feature_set: FeatureSet) -> QuerySet[Episode]:
    """Return the episodes that belong to a set."""
    if not feature_set.takes_in:
        return Episode.objects.none()
    narrowing: dict[str, object] = {"workspace_id": feature_set.workspace_id}
    if feature_set.conversation_id:
        narrowing["conversation_id"] = feature_set.conversation_id
    else:
        narrowing["scope"] = MemoryScope.USER
    if feature_set.subject_id:
        narrowing["subject_id"] = feature_set.subject_id
    if feature_set.role:
        narrowing["role"] = feature_set.role
    if feature_set.metadata:
        narrowing["metadata__contains"] = feature_set.metadata
    return Episode.objects.filter(**narrowing)


def waiting(feature_set: FeatureSet) -> QuerySet[Episode]:
    """Return the episodes of a set that have not been taken in."""
    marks = FeatureMark.objects.filter(set_id=feature_set.pk, episode_id=OuterRef("pk"))
    rows = fitting(feature_set).exclude(Exists(marks))
    return rows.filter(pk__gt=feature_set.cursor) if feature_set.cursor else rows


def ready(feature_set: FeatureSet) -> QuerySet[Episode]:
    return waiting(feature_set).filter(READY)


def count(feature_set: FeatureSet) -> None:
    """Note in the set, which comes with its workspace, what waits and when it is to be taken in,
    and move its cursor over what is done. The row stays as it is."""
    now = timezone.now()
    if feature_set.cursor and feature_set.cursor > id_at(now + AHEAD):
        feature_set.cursor = None  # by a clock that was wrong: what comes now would lie before it
    counted = waiting(feature_set).aggregate(number=Count("pk"), since=Min("created_at"))
    first = waiting(feature_set).order_by("pk").values_list("pk", flat=True).first()
    since = counted["since"]
    if since and since > now:  # what a wrong clock kept waits since it was first counted, at least
        since = min(feature_set.waiting_since or now, now)
    feature_set.waiting, feature_set.waiting_since = counted["number"], since
    if since is not None:
        config = config_of(feature_set.workspace.settings, feature_set.config)
        at_once = feature_set.waiting >= config.messages
        due = since if at_once else since + timedelta(seconds=config.seconds)
        # A failing set keeps to its pause.
        pause = feature_set.due_at or due
        feature_set.due_at = max(due, pause) if feature_set.failures else due
    elif not feature_set.failures:  # one that failed has all, but it is not yet merged
        feature_set.due_at = None
    # All that fits up to the cursor is taken in, and nothing will come before it any more.
    settled = id_at(now - LATE)
    reached = settled if first is None else min(settled, uuid.UUID(int=first.int - 1))
    feature_set.cursor = max(feature_set.cursor or reached, reached)


def recount(feature_set: FeatureSet) -> None:
    """Run `count`, and keep the result."""
    count(feature_set)
    counted = {name: getattr(feature_set, name) for name in COUNTED}
    FeatureSet.objects.filter(pk=feature_set.pk).update(**counted)


def id_at(moment: datetime) -> uuid.UUID:
    """Return the least id that an episode of that moment can have."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


@transaction.atomic
def unmark(
    workspace_id: uuid.UUID,
    episode_ids: Collection[uuid.UUID],
    *,
    sets: Collection[uuid.UUID] | None = None,
) -> None:
    """Let episodes be taken in again, into all sets or these: they were learned from anew."""
    marks = FeatureMark.objects.filter(workspace_id=workspace_id, episode_id__in=episode_ids)
    if sets is not None:
        marks = marks.filter(set__in=sets)
    touched = set(marks.values_list("set_id", flat=True))
    if not touched:
        return
    before = uuid.UUID(int=min(episode_ids).int - 1)
    marks.delete()
    now = timezone.now()
    rows = FeatureSet.objects.filter(pk__in=touched)
    rows.filter(cursor__isnull=False).update(cursor=Least(F("cursor"), before))
    rows.update(due_at=now, waiting=F("waiting") + 1, waiting_since=now)


def discover_sets(workspace_id: uuid.UUID | None = None) -> int:
    """Count what waits in the sets that new episodes fit, of all workspaces or one; return the
    number of sets looked at.

    The set of a subject is made when something is first said about it.
    """
    looked = 0
    for row in prepared_sql.rows(NEW, {"workspace": workspace_id}):
        with visible.only(row.workspace):
            _make_sets(row.workspace, row.subjects or [])
            for feature_set in _touched(row.workspace, row.subjects or []):
                recount(feature_set)
                looked += 1
            # Episodes whose ids were made a while ago may still be committed: those are looked
            # at again.
            seen = min(row.last, id_at(timezone.now() - LATE))
            SetDiscovery.objects.update_or_create(
                workspace_id=row.workspace, defaults={"seen": seen}
            )
    return looked


def count_now(workspace_id: uuid.UUID) -> dict[uuid.UUID, FeatureSet]:
    """Return the sets that new episodes fit, by id, as `discover_sets` would count them; nothing is
    written."""
    rows = [
        each
        for row in prepared_sql.rows(NEW, {"workspace": workspace_id})
        for each in _touched(row.workspace, row.subjects or [])
    ]
    for each in rows:
        count(each)
    return {each.pk: each for each in rows}


def _make_sets(workspace_id: uuid.UUID, subjects: Iterable[uuid.UUID]) -> None:
    """Make the sets that are missing, but for subjects whose set a person deleted and of whom
    nothing was said since."""
    known = FeatureSet.objects.filter(workspace_id=workspace_id, key__startswith=FeatureSet.OWN)
    since = Episode.objects.filter(
        subject=OuterRef("subject_id"), created_at__gt=OuterRef("created_at")
    )
    deleted = AuditEntry.objects.filter(
        workspace_id=workspace_id, action="delete_set", before__key__startswith=FeatureSet.OWN,
        subject_id__isnull=False,
    ).exclude(Exists(since))  # fmt: skip
    missing = Subject.objects.filter(pk__in=subjects).exclude(pk__in=known.values("subject"))
    FeatureSet.objects.bulk_create(
        [
            FeatureSet(
                workspace_id=workspace_id,
                key=FeatureSet.own_key(subject.external_id),
                subject=subject,
            )
            for subject in missing.exclude(pk__in=deleted.values_list("subject_id", flat=True))
        ],
        ignore_conflicts=True,
    )


def _touched(workspace_id: uuid.UUID, subjects: Iterable[uuid.UUID]) -> Iterable[FeatureSet]:
    """Return the sets of these subjects, and all that gather across subjects."""
    rows = FeatureSet.objects.filter(workspace_id=workspace_id).select_related("workspace")
    across = ~Q(role="") | ~Q(metadata={}) | Q(conversation__isnull=False)
    return rows.filter(Q(subject__in=subjects) | Q(subject=None) & across)


def due(now: datetime | None = None) -> QuerySet[FeatureSet]:
    """Return sets whose turn it is and that nobody has, the longest waiting first."""
    now = now or timezone.now()
    return FeatureSet.objects.filter(leases.free(now), due_at__lte=now).order_by("due_at")


def enqueue_due() -> int:
    """Wake workers for the sets that are due; return the number of tasks."""
    now = timezone.now()
    # A task of the future was posted by a clock that was wrong.
    quiet = Q(rung_at=None) | Q(rung_at__lt=now - POSTED) | Q(rung_at__gt=now)
    ids = list(due(now).filter(quiet).values_list("pk", flat=True)[:MOST_POSTS])
    for set_id in ids:
        FeatureSet.objects.filter(pk=set_id).update(rung_at=now)
        outbox.post("fold_set", set_id)
    return len(ids)


def release(set_id: uuid.UUID) -> None:
    """Make a set due now, whatever its pause: a person asked."""
    FeatureSet.objects.filter(pk=set_id).update(due_at=timezone.now(), failures=0)


def claim(set_id: uuid.UUID) -> FeatureSet | None:
    """Claim the set; return it with its workspace, where it is due and nobody else has it."""
    values = {"id": set_id, "until": leases.end(), "now": timezone.now()}
    if not prepared_sql.rows(CLAIM, values):
        return None
    return FeatureSet.objects.select_related("workspace", "subject").get(pk=set_id)


def held(claimed: FeatureSet) -> QuerySet[FeatureSet]:
    """Return the set, as long as this claim of it stands."""
    return _claimed(claimed).filter(lease_until__isnull=False)


def _claimed(claimed: FeatureSet) -> QuerySet[FeatureSet]:
    return FeatureSet.objects.filter(pk=claimed.pk, claims=claimed.claims)


def hold(claimed: FeatureSet) -> None:
    """Go on only if the claim still stands, in the transaction that writes. Raises TakenOver."""
    values = {"id": claimed.pk, "claims": claimed.claims, "now": timezone.now()}
    if prepared_sql.execute(HELD, values) != 1:
        raise TakenOver


@transaction.atomic
def finish(claimed: FeatureSet, *, took_in: bool) -> None:
    """Finish the work: what came meanwhile is counted, and nothing stands against the set. Where
    nothing was ready, which is no failure, it is looked at again soon if anything waits.

    In one transaction: dying in between would leave a set that waits and is never due.
    """
    times = {"folded_at": timezone.now()} if took_in else {}
    _claimed(claimed).update(lease_until=None, failures=0, error="", due_at=None, **times)
    recount(FeatureSet.objects.select_related("workspace").get(pk=claimed.pk))
    if not took_in:
        soon = timezone.now() + AGAIN
        FeatureSet.objects.filter(pk=claimed.pk, due_at__lt=soon).update(due_at=soon)


def fail(claimed: FeatureSet, message: str, *, retry_after: float = 0.0) -> None:
    """Leave the set to be tried again, later each time; the others go on."""
    pause = min(PAUSE * 2 ** min(claimed.failures, 10), LONGEST_PAUSE)
    pause = max(pause, timedelta(seconds=retry_after))
    _claimed(claimed).update(lease_until=None, error=message, due_at=timezone.now() + pause)


LONGEST_KEY = 200
OF_KEY = """
select * from memories_featureset where workspace_id = %(workspace_id)s and key = %(key)s
"""


@declared
@dataclass(frozen=True, slots=True)
class NewSet:
    """A new feature set. It takes in the episodes that fit all that is named here."""

    key: Annotated[Text, Field(max_length=LONGEST_KEY)]
    user_id: ExternalId = ""
    thread_id: ExternalId = ""
    role: Annotated[Text, Field(max_length=20)] = ""
    metadata: Free = field(default_factory=dict)
    config: Free = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Backlog:
    """The work that waits to be taken into the sets of a workspace."""

    sets: int
    episodes: int
    oldest_seconds: float
    failing: int


def find(scope: Scope, key: str) -> FeatureSet:
    """Find the set of that key or id; NotFound where `scope` does not see it."""
    rows = FeatureSet.objects.visible_to(scope).with_names().select_related("workspace")
    row = rows.filter(key=key).first()
    if row is None:
        try:
            row = rows.filter(pk=uuid.UUID(key)).first()
        except ValueError:
            row = None
    if row is None:
        raise NotFound("Set")
    return row


def find_feature(scope: Scope, feature_id: uuid.UUID) -> Feature:
    """Find a feature; NotFound where `scope` does not see it."""
    rows = Feature.objects.visible_to(scope).select_related("set__workspace")
    return needed(rows.filter(pk=feature_id).first(), "Feature")


def effective_of(feature_set: FeatureSet) -> dict[str, EffectiveSetting]:
    """Return each setting in effect for the set, with its source."""
    return config.effective(feature_set.workspace.settings, feature_set.config)


def inherited_of(feature_set: FeatureSet) -> dict[str, EffectiveSetting]:
    """Return each setting as it would be if the set gave nothing but its type."""
    own = {name: value for name, value in feature_set.config.items() if name == TYPE}
    return config.effective(feature_set.workspace.settings, own)


def backlog(scope: Scope, counted: Mapping[uuid.UUID, FeatureSet]) -> Backlog:
    """Sum up what waits, for one who sees the whole workspace; `counted` are sets that were counted
    just now."""
    rows = FeatureSet.objects.visible_to(scope)
    stored = rows.filter(waiting__gt=0).exclude(pk__in=counted)
    sums = stored.aggregate(sets=Count("pk"), episodes=Sum("waiting"), since=Min("waiting_since"))
    fresh = [each for each in counted.values() if each.waiting]
    begins = [at for at in (sums["since"], *(each.waiting_since for each in fresh)) if at]
    return Backlog(
        sets=sums["sets"] + len(fresh),
        episodes=(sums["episodes"] or 0) + sum(each.waiting for each in fresh),
        oldest_seconds=(timezone.now() - min(begins)).total_seconds() if begins else 0.0,
        failing=rows.exclude(error="").count(),
    )


def make_own_set(subject: Subject) -> None:
    """Make the set that every subject has, when something is first said about it."""
    place = {"workspace_id": subject.workspace_id, "key": FeatureSet.own_key(subject.external_id)}
    if prepared_sql.first(FeatureSet, OF_KEY, place) is None:
        FeatureSet.objects.bulk_create(
            [FeatureSet(**place, subject=subject)], ignore_conflicts=True
        )


def own_set(subject: Subject) -> FeatureSet:
    """Return the set that every subject has; make it where it is not there yet."""
    make_own_set(subject)
    key = FeatureSet.own_key(subject.external_id)
    return FeatureSet.objects.get(workspace_id=subject.workspace_id, key=key)


def own_set_to_write(scope: Scope, key: str) -> FeatureSet:
    """Return the set of that key or id; a subject's own set is made, as the subject is, where
    something is first said about it or its set. Raises NotFound, Forbidden."""
    user_id = key.removeprefix(FeatureSet.OWN)
    if user_id not in ("", key) and not scope.is_bound:
        _check_key(key)
        subject = _subject(scope, user_id)
        if subject is not None:
            own_set(subject)
    return find(scope, key)


def create(scope: Scope, new: NewSet) -> FeatureSet:
    """Make a set of the caller's own; what was said already is taken in like what comes.

    Raises Invalid, Conflict for a key that is taken, Forbidden for a subject that is not covered.
    """
    refuse(faults_of_changes(scope, new.config))
    if new.key.startswith(FeatureSet.OWN):
        # The set that every subject has, configured before anything was said about it.
        own = ("", new.key.removeprefix(FeatureSet.OWN))
        if new.thread_id or new.role or new.metadata or new.user_id not in own:
            reason = f"Keys that begin with {FeatureSet.OWN} are the subjects' own sets."
            raise Invalid("key", reason)
        row = own_set_to_write(scope, new.key)
        if row.config or row.features.exists():
            raise Conflict("There is a set with this key.", field="key")
        return configure(scope, row.key, new.config)
    _check_key(new.key)
    subject, conversation = _subject(scope, new.user_id), None
    if new.thread_id:
        threads = Conversation.objects.visible_to(scope).filter(external_id=new.thread_id)
        conversation = threads.first()
        if conversation is None:
            raise Invalid("threadId", "There is no such thread.")
    if new.role and new.role not in Episode.Kind.values:
        raise Invalid("role", f"One of {', '.join(Episode.Kind.values)}.")
    row = FeatureSet(
        workspace_id=scope.workspace_id, key=new.key, subject=subject, conversation=conversation,
        role=new.role, metadata=dict(new.metadata),
        config={name: value for name, value in new.config.items() if value is not None},
    )  # fmt: skip
    try:
        with transaction.atomic(durable=True):
            row.save(force_insert=True)
            _audit(scope, "create_set", row, after={"key": row.key})
    except IntegrityError:
        raise Conflict("There is a set with this key.", field="key") from None
    return _look_again(scope, row)


def _check_key(key: str) -> None:
    if not key.strip() or len(key) > LONGEST_KEY or "/" in key:
        raise Invalid("key", f"1 to {LONGEST_KEY} characters, without a slash.")


def _subject(scope: Scope, user_id: str) -> Subject | None:
    try:
        return subject_to_write(scope, user_id) if user_id or scope.subject_ids else None
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None


def faults_of_changes(scope: Scope, changes: Mapping[str, Any]) -> list[Invalid]:
    """Return all that `configure` would refuse."""
    known = {*PRODUCT, TYPE}
    raw = {name: value for name, value in changes.items() if value is not None or name not in known}
    found = faults_of_config(OwnSetSettings, raw, "config")
    if raw.get(TYPE) and not any(one.field == f"config.{TYPE}" for one in found):
        types = types_of(Workspace.objects.get(pk=scope.workspace_id).settings)
        if raw[TYPE] not in types:
            names = ", ".join(sorted(types)) or "none yet, see the setting featureSetTypes"
            found.append(Invalid(f"config.{TYPE}", f"There is no such type; there are: {names}."))
    return found


def faults_of_config(kind: type[SetSettings], raw: Mapping[str, Any], place: str) -> list[Invalid]:
    """Return all that is wrong with settings of sets that stand at `place` of what was sent."""
    found = faults(kind, raw, place)
    found += faults_of_model(raw.get("languageModel"), f"{place}.languageModel")
    if not any(one.field.startswith(f"{place}.embedder") for one in found):
        found += set_embedding.faults(raw.get("embedder"), f"{place}.embedder")
    return found


@transaction.atomic(durable=True)
def configure(scope: Scope, key: str, changes: Mapping[str, Any]) -> FeatureSet:
    """Change the set's own settings, its type included; null removes one, so that the setting of
    its type or of the workspace counts again."""
    feature_set = own_set_to_write(scope, key)
    values = {name: value for name, value in changes.items() if value is not None}
    refuse(faults_of_changes(scope, changes))
    row = FeatureSet.objects.select_for_update().get(pk=feature_set.pk)
    before = dict(row.config)
    kept = {name: value for name, value in before.items() if name not in changes}
    row.config = {**kept, **values}
    row.save(update_fields=["config", "updated_at"])
    _audit(scope, "configure_set", row, before=before, after=row.config)
    return _look_again(scope, row)


def _look_again(scope: Scope, row: FeatureSet) -> FeatureSet:
    """Recount what waits and look at the embedder again, as both depend on the settings; return the
    set with its names."""
    set_embedding.note(row)
    recount(find(scope, row.key))
    return find(scope, row.key)


@transaction.atomic(durable=True)
def delete(scope: Scope, key: str) -> None:
    """Delete the set with its features, their history and its marks, for good. The set of a subject
    comes back when something more is said, and then takes in all from the beginning."""
    space = workspace_index.index_of(scope.workspace_id)
    row = lock_set(space, find(scope, key))
    ids = list(Feature.objects.filter(set=row).values_list("pk", flat=True))
    entries.remove(space, Layer.FEATURES, ids)
    _audit(scope, "delete_set", row, before={"key": row.key, "features": len(ids)})
    row.delete()


def _audit(scope: Scope, action: str, row: FeatureSet, **details: object) -> None:
    scope.audit(action, row, subject_id=row.subject_id, **details)
