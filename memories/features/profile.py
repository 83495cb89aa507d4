"""The profile of a subject out of the rows: live memories of scope user, and features.

Plans whose day has passed stay known, and are no longer given as what is to come.
"""

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.core.cache import cache
from django.db.models import Count, F, Max, Sum, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from memories.english.calendar_dates import DateOrder
from memories.english.dates import event_date, last_day
from memories.index import workspace_index
from memories.models import (
    NOW,
    AsOf,
    Category,
    Episode,
    Feature,
    FeatureCitation,
    FeatureSet,
    Memory,
    MemoryScope,
)
from workspaces.models import Subject
from workspaces.scope import NOBODY, Scope

GROUPS = {
    "fact": "facts",
    "preference": "preferences",
    "event": "events",
    "profile": "profile",
    "system": "system",
    "": "uncategorized",
}
# Categories whose features are about what is to come.
MOVING = frozenset({"plans"})
KEPT = 3600  # seconds


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """Of whom, at which instant, and how many memories of each group, and features of each category,
    at most: the newest."""

    subject_id: uuid.UUID
    at: AsOf = NOW
    limit: int = 100

    @property
    def day(self) -> date:
        """The day from which the profile looks ahead."""
        return (self.at.valid_at or self.at.known_at or timezone.now()).date()


@dataclass(slots=True)
class ProfileFeature:
    """A feature as it was at the instant, and the words it stood on. `is_over`: it is a plan whose
    day has passed."""

    feature: Feature
    cited: list[FeatureCitation] = field(default_factory=list)
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Memories by group, the newest first; features, in the order of category, tag and name.

    `covered` are the memories that a feature says already, `over` the plans whose day has passed.
    """

    groups: dict[str, list[Any]]
    features: list[ProfileFeature]
    covered: frozenset[uuid.UUID] = frozenset()
    over: frozenset[uuid.UUID] = frozenset()


def profile(scope: Scope, options: ProfileOptions) -> Profile:
    """What `scope` may know of the subject; every group is there."""
    place = Window(RowNumber(), partition_by=[F("fact_type")], order_by=[F("id").desc()])
    memories = (
        Memory.objects.visible_to(scope)
        .believed(scope.workspace_id, options.at)
        .filter(subject_id=options.subject_id, scope=MemoryScope.USER)
        .with_names()
        .as_known(options.at.known_at)
        .annotate(place=place)
        .filter(place__lte=options.limit)
        .order_by("-id")
    )
    groups: dict[str, list[Any]] = {name: [] for name in GROUPS.values()}
    for memory in memories:
        groups[GROUPS[memory.fact_type]].append(memory)
    day, order = options.day, workspace_index.index_for(scope).date_order
    features = _features(scope, options, order)
    facts = {one.fact_id for each in features for one in each.cited} - {None}
    covered = Memory.objects.filter(facts__in=facts).values_list("pk", flat=True) if facts else ()
    over = (
        memory.pk
        for memory in groups["events"]
        if memory.category == Category.PLAN
        and memory.event_date is not None
        and last_day(memory.content, memory.event_date.date(), order) < day
    )
    return Profile(groups, features, frozenset(covered), frozenset(over))


def cached(
    scope: Scope, options: ProfileOptions, make: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """What `make` answers, or what it answered before where nothing changed since.

    Of the past it is always made anew, and of somebody unknown: what tells them apart is the name
    that was asked, which is no part of the options.
    """
    if not options.at.is_now or options.subject_id == NOBODY:
        return make()
    # Whoever sees the same asks for the same.
    sees = (
        scope.workspace_id, scope.agent_id, sorted(scope.team_agent_ids), scope.in_default_team,
        scope.subject_ids and sorted(scope.subject_ids), options.subject_id, options.limit,
        workspace_index.index_for(scope).date_order,
    )  # fmt: skip
    key = f"profile:{hashlib.sha256(repr(sees).encode()).hexdigest()}"
    stamp, entry = _stamp(scope, options), cache.get(key)
    if entry is not None and entry[0] == stamp:
        return dict(entry[1])
    answer = make()
    cache.set(key, (stamp, answer), KEPT)
    return answer


def _stamp(scope: Scope, options: ProfileOptions) -> str:
    """Changes with every memory or feature of the subject that begins, changes, ends or expires,
    and with the day, because plans come to pass."""
    subject_id = options.subject_id
    memories = Memory.objects.visible_to(scope).live()
    own = memories.filter(subject_id=subject_id, scope=MemoryScope.USER)
    features = Feature.objects.filter(subject_id=subject_id)
    sets = FeatureSet.objects.filter(subject_id=subject_id)
    parts = (
        options.day,
        own.aggregate(Count("pk"), Max("updated_at")),
        features.aggregate(Count("pk"), Max("updated_at")),
        sets.aggregate(Count("pk"), Sum("stamp")),
        Subject.objects.filter(pk=subject_id).values_list("updated_at", "external_id").first(),
    )
    return repr(parts)


def _features(scope: Scope, options: ProfileOptions, order: DateOrder) -> list[ProfileFeature]:
    rows = Feature.objects.visible_to(scope)
    rows = rows.filter(subject_id=options.subject_id, conversation=None)
    if options.at.is_now:
        rows = rows.live()
    found = rows.as_of(options.at, newest=options.limit)
    by_change = {change.pk: ProfileFeature(row) for row, change in found}
    visible = Episode.objects.visible_to(scope)
    citations = FeatureCitation.objects.filter(change__in=list(by_change), episode__in=visible)
    if options.at.known_at is not None:
        citations = citations.filter(created_at__lte=options.at.known_at)
    for citation in citations.select_related("episode", "fact"):
        by_change[citation.change_id].cited.append(citation)
    for each in by_change.values():
        each.is_over = _is_over(each, options.day, order)

    def place(one: ProfileFeature) -> tuple[str, ...]:
        row = one.feature
        return row.category, row.tag, row.about, row.feature, str(row.pk)

    return sorted(by_change.values(), key=place)


def _is_over(one: ProfileFeature, on: date, order: DateOrder) -> bool:
    """Whether a plan's last day lies before `on`; one without a date never ends by itself. Its day
    is that of the fact that was read there; else its own words name it, as said that day."""
    if one.feature.category not in MOVING:
        return False
    ends = []
    for citation in one.cited:
        if citation.fact and citation.fact.event_date:
            ends.append(last_day(citation.fact.statement, citation.fact.event_date.date(), order))
        elif first := event_date(one.feature.value, citation.episode.occurred_at, order):
            ends.append(last_day(one.feature.value, first.date(), order))
    return bool(ends) and max(ends) < on
