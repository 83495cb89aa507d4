"""The profile of a subject out of the rows: live memories of scope user, and features."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from memories.features.plan_dates import is_over, is_over_memory, today
from memories.models import (
    NOW,
    AsOf,
    Episode,
    Feature,
    FeatureCitation,
    Memory,
    MemoryScope,
)
from workspaces.scope import Scope

GROUPS = {
    "fact": "facts",
    "preference": "preferences",
    "event": "events",
    "profile": "profile",
    "system": "system",
    "": "uncategorized",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """Of whom, at which instant, and how many memories of each group at most."""

    subject_id: uuid.UUID
    at: AsOf = NOW
    limit: int = 100


@dataclass(slots=True)
class Known:
    """A feature as it was at the instant, and the words it stood on. `is_over`: it is a plan whose
    day has passed."""

    feature: Feature
    cited: list[FeatureCitation] = field(default_factory=list)
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Memories by group, the newest first; features, in the order of category, tag and name.

    `told` are the memories that a feature says already, `over` the plans whose day has passed.
    """

    groups: dict[str, list[Any]]
    features: list[Known]
    told: frozenset[uuid.UUID] = frozenset()
    over: frozenset[uuid.UUID] = frozenset()


def profile(scope: Scope, wish: Wish) -> Profile:
    """What `scope` may know of the subject; every group is there."""
    features = _features(scope, wish)
    facts = {each.fact_id for known in features for each in known.cited}
    told = Memory.objects.filter(facts__in=facts - {None}).values_list("pk", flat=True)
    groups, day = _groups(scope, wish), today(wish.at)
    over = frozenset(each.pk for each in groups["events"] if is_over_memory(each, day))
    return Profile(groups, features, frozenset(told) if facts else frozenset(), over)


def _groups(scope: Scope, wish: Wish) -> dict[str, list[Any]]:
    place = Window(RowNumber(), partition_by=[F("fact_type")], order_by=[F("id").desc()])
    rows = (
        Memory.objects.visible_to(scope)
        .believed(scope.workspace_id, wish.at)
        .filter(subject_id=wish.subject_id, scope=MemoryScope.USER)
        .with_names()
        .as_known(wish.at.known_at)
        .annotate(place=place)
        .filter(place__lte=wish.limit)
        .order_by("-id")
    )
    groups: dict[str, list[Any]] = {name: [] for name in GROUPS.values()}
    for memory in rows:
        groups[GROUPS[memory.fact_type]].append(memory)
    return groups


def _features(scope: Scope, wish: Wish) -> list[Known]:
    rows = Feature.objects.visible_to(scope)
    own = rows.filter(subject_id=wish.subject_id, conversation=None)
    if wish.at.is_now:
        own = own.live()
    found = own.as_of(wish.at)
    known = {change.pk: Known(feature) for feature, change in found}
    for row in _citations(scope, list(known), wish.at):
        known[row.change_id].cited.append(row)
    for each in known.values():
        each.is_over = is_over(each.feature, each.cited, today(wish.at))
    return sorted(known.values(), key=_place)


def _place(known: Known) -> tuple[str, ...]:
    feature = known.feature
    return feature.category, feature.tag, feature.about, feature.feature, str(feature.pk)


def _citations(scope: Scope, changes: Sequence[uuid.UUID], at: AsOf) -> Sequence[FeatureCitation]:
    heard = Episode.objects.visible_to(scope)
    rows = FeatureCitation.objects.filter(change__in=changes, episode__in=heard)
    if at.known_at is not None:
        rows = rows.filter(created_at__lte=at.known_at)
    return list(rows.select_related("episode", "fact"))
