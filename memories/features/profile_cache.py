"""Profiles are kept until something changes that they tell of: the stamp says whether it did."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max, Sum

from memories.features.plan_dates import today
from memories.features.profile import Wish
from memories.models import Feature, FeatureSet, Memory, MemoryScope
from workspaces.external_ids import NOBODY
from workspaces.models import Subject
from workspaces.scope import Scope

KEPT = 3600  # seconds


def kept(scope: Scope, wish: Wish, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `make` answers, or what it answered before where nothing changed since.

    Of the past it is always made anew, and of somebody unknown: what tells them apart is the name
    that was asked, which is no part of the wish.
    """
    if not wish.at.is_now or wish.subject_id == NOBODY:
        return make()
    key, stamp = _key(scope, wish), _stamp(scope, wish)
    found = cache.get(key)
    if found is not None and found[0] == stamp:
        return dict(found[1])
    answer = make()
    cache.set(key, (stamp, answer), KEPT)
    return answer


def _key(scope: Scope, wish: Wish) -> str:
    """Whoever sees the same asks for the same."""
    sees = (
        scope.workspace_id, scope.agent_id, sorted(scope.team_agent_ids), scope.in_default_team,
        scope.subject_ids and sorted(scope.subject_ids), wish.subject_id, wish.limit,
    )  # fmt: skip
    return f"profile:{hashlib.sha256(repr(sees).encode()).hexdigest()}"


def _stamp(scope: Scope, wish: Wish) -> str:
    """Changes with every memory or feature of the subject that begins, changes, ends or expires,
    and with the day, because plans come to pass."""
    memories = Memory.objects.visible_to(scope).live()
    own = memories.filter(subject_id=wish.subject_id, scope=MemoryScope.USER)
    features = Feature.objects.filter(subject_id=wish.subject_id)
    sets = FeatureSet.objects.filter(subject_id=wish.subject_id)
    told = (
        today(wish.at),
        own.aggregate(Count("pk"), Max("updated_at")),
        features.aggregate(Count("pk"), Max("updated_at")),
        sets.aggregate(Count("pk"), Sum("stamp")),
        Subject.objects.filter(pk=wish.subject_id).values_list("updated_at", "external_id").first(),
    )
    return repr(told)
