"""The profile of a subject out of the rows: live memories of scope user, and features.

Plans whose day has passed, and those of which nobody spoke for long, stay known, and are no longer
given as what is to come.
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import BigIntegerField, Count, F, Func, Max, Min, Sum, TextField, Window
from django.db.models.functions import Cast, Concat, RowNumber
from django.utils import timezone

from memories.index import workspace_index
from memories.language.english.calendar import DateOrder
from memories.language.english.dates import event_date, last_day
from memories.models import (
    NOW,
    AsOf,
    Category,
    Citation,
    Episode,
    Feature,
    FeatureCitation,
    FeatureSet,
    Memory,
    MemoryScope,
    Touch,
    WorkspaceIndex,
    with_later_said,
)
from memories.models.touch import QUOTE
from workspaces.models import Subject
from workspaces.scope import NOBODY, Scope
from workspaces.time_zones import by_clock, offset_of

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
UNTOUCHED = timedelta(days=60)  # a plan of which nothing was said for so long is no plan any more

# A checksum of all rows and their times, not the newest time: where the clock was ahead for a
# while, rows written after that are never the newest.
_row = Concat(Cast("pk", TextField()), Cast("updated_at", TextField()))
CHECKSUM = Sum(Func(_row, function="hashtext", output_field=BigIntegerField()))
_touch = Concat(Cast("pk", TextField()), "relation", Cast("decided_at", TextField()), QUOTE, output_field=TextField())
TOUCHES = Sum(Func(_touch, function="hashtext", output_field=BigIntegerField()))


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """The subject of a profile, the instant, and how many memories of each group, and features of
    each category, it has at most: the newest."""

    subject_id: uuid.UUID
    at: AsOf = NOW
    limit: int = 100

    def day(self, index: WorkspaceIndex) -> date:
        """Return the day from which the profile looks ahead, by the clock of its subject."""
        own = Subject.objects.filter(pk=self.subject_id).values_list("time_zone", flat=True).first()
        at = self.at.valid_at or self.at.said_before or self.at.known_at or timezone.now()
        return by_clock(at, offset_of(at, own or "", index.time_zone)).date()


@dataclass(slots=True)
class ProfileFeature:
    """A feature as it was at the instant, and the words it stood on. `is_over`: it is a plan whose
    day has passed, or of which nothing was said for UNTOUCHED."""

    feature: Feature
    cited: list[FeatureCitation] = field(default_factory=list)
    is_over: bool = False

    @property
    def said_dates(self) -> "SaidDates":
        """The times at which it was said, or a person wrote it."""
        times = [one.episode.occurred_at for one in self.cited] or [self.feature.updated_at]
        return SaidDates(min(times), max(times), self.feature.about)


@dataclass(frozen=True, slots=True)
class SaidDates:
    """The times at which something was said first and last, and under which name; "" for none."""

    first: datetime
    last: datetime
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """Memories by group, the newest first; features, in the order of category, tag and name.

    `covered` are the memories that a feature says already, `over` the plans whose day has passed or
    of which nothing was said for UNTOUCHED. `said` tells of each memory when it was said. `names`
    are those of the subject; `day` is the profile's.
    """

    groups: dict[str, list[Any]]
    features: list[ProfileFeature]
    covered: frozenset[uuid.UUID] = frozenset()
    over: frozenset[uuid.UUID] = frozenset()
    said: Mapping[uuid.UUID, SaidDates] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    day: date = date.max


def profile(scope: Scope, options: ProfileOptions) -> Profile:
    """Return what `scope` may know of the subject; every group is there."""
    place = Window(RowNumber(), partition_by=[F("fact_type")], order_by=[F("id").desc()])
    rows = (
        Memory.objects.visible_to(scope)
        .believed(scope.workspace_id, options.at)
        .filter(subject_id=options.subject_id, scope=MemoryScope.USER)
        .with_names()
        .as_known(options.at)
        .annotate(place=place)
        .filter(place__lte=options.limit)
        .order_by("-id")
    )
    memories = with_later_said(rows, scope, options.at)
    groups: dict[str, list[Any]] = {name: [] for name in GROUPS.values()}
    for memory in memories:
        groups[GROUPS[memory.fact_type]].append(memory)
    index = workspace_index.index_for(scope)
    day, order = options.day(index), index.date_order
    features = _profile_features(scope, options, day, order)
    facts = {one.fact_id for each in features for one in each.cited} - {None}
    covered = Memory.objects.filter(facts__in=facts).values_list("pk", flat=True) if facts else ()
    said = _said(scope, options, [memory for group in groups.values() for memory in group])
    over = (
        memory.pk
        for memory in groups["events"]
        if memory.category == Category.PLAN and _is_past(memory, said[memory.pk], day, order)
    )
    names = Subject.objects.filter(pk=options.subject_id).values_list("name", "external_id").first()
    return Profile(groups, features, frozenset(covered), frozenset(over), said, names or (), day)


def _is_past(plan: Any, said: SaidDates, day: date, order: DateOrder) -> bool:
    if plan.event_date is not None:
        return last_day(plan.content, plan.event_date.date(), order) < day
    return said.last.date() < day - UNTOUCHED


def _said(scope: Scope, options: ProfileOptions, memories: Sequence[Any]) -> dict[uuid.UUID, SaidDates]:
    """Return when each memory was said, as far as the asker may see that; else when it was
    written."""
    cited = Citation.objects.filter(fact__memory__in=[memory.pk for memory in memories])
    cited = cited.filter(episode__in=Episode.objects.visible_to(scope))
    if options.at.known_at is not None:
        cited = cited.filter(fact__created_at__lte=options.at.known_at)
    told = cited.values_list("fact__memory").annotate(
        Min("episode__occurred_at"), Max("episode__occurred_at"), Max("episode__author")
    )
    times = {memory: SaidDates(*said) for memory, *said in told}
    return {memory.pk: times.get(memory.pk) or SaidDates(memory.created_at, memory.created_at) for memory in memories}


def cached(scope: Scope, options: ProfileOptions, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `make` answers, or what it answered before where nothing changed since.

    For the past, and for somebody unknown, it is always made anew: unknown people differ by the
    name that was asked for alone, which is no part of the options.
    """
    if not options.at.is_now or options.subject_id == NOBODY:
        return make()
    # Askers who see the same share an answer.
    sees = (
        scope.workspace_id,
        scope.agent_id,
        sorted(scope.team_agent_ids),
        scope.in_default_team,
        scope.subject_ids and sorted(scope.subject_ids),
        scope.container_tags,
        options.subject_id,
        options.limit,
        workspace_index.index_for(scope).date_order,
    )
    key = f"profile:{hashlib.sha256(repr(sees).encode()).hexdigest()}"
    stamp, entry = _stamp(scope, options), cache.get(key)
    if entry is not None and entry[0] == stamp:
        return dict(entry[1])
    answer = make()
    cache.set(key, (stamp, answer), KEPT)
    return answer


def _stamp(scope: Scope, options: ProfileOptions) -> str:
    """Return a stamp that changes with every memory or feature of the subject that begins, changes,
    ends or expires, with what is said of them later, and with the day, because plans come to pass."""
    subject_id = options.subject_id
    memories = Memory.objects.visible_to(scope).live()
    own = memories.filter(subject_id=subject_id, scope=MemoryScope.USER)
    features = Feature.objects.filter(subject_id=subject_id)
    sets = FeatureSet.objects.filter(subject_id=subject_id)
    parts = (
        options.day(workspace_index.index_for(scope)),
        own.aggregate(Count("pk"), rows=CHECKSUM),
        features.aggregate(Count("pk"), rows=CHECKSUM),
        sets.aggregate(Count("pk"), Sum("stamp")),
        Touch.objects.filter(memory__subject_id=subject_id).aggregate(Count("pk"), rows=TOUCHES),
        Subject.objects.filter(pk=subject_id).values_list("updated_at", "external_id").first(),
    )
    return repr(parts)


def _ends_of(feature: ProfileFeature, order: DateOrder) -> list[date]:
    """Return the days on which a plan is over. Its day is that of the fact that was read there; else
    its own words name it, as said that day; else it is over when nobody has touched it for long."""
    if feature.feature.category not in MOVING:
        return []
    ends, value = [], feature.feature.value
    for cited in feature.cited:
        if cited.fact and cited.fact.event_date:
            ends.append(last_day(cited.fact.statement, cited.fact.event_date.date(), order))
        elif first := event_date(value, cited.episode.said_at, order):
            ends.append(last_day(value, first.date(), order))
    return ends or ([feature.said_dates.last.date() + UNTOUCHED] if value else [])


def _profile_features(scope: Scope, options: ProfileOptions, day: date, order: DateOrder) -> list[ProfileFeature]:
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
    if options.at.said_before is not None:
        citations = citations.filter(episode__occurred_at__lte=options.at.said_before)
    for citation in citations.select_related("episode", "fact"):
        by_change[citation.change_id].cited.append(citation)
    for each in by_change.values():
        ends = _ends_of(each, order)
        each.is_over = bool(ends) and max(ends) < day

    def place(one: ProfileFeature) -> tuple[str, ...]:
        row = one.feature
        return row.category, row.tag, row.about, row.feature, str(row.pk)

    return sorted(by_change.values(), key=place)
