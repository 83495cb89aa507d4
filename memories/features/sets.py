"""Feature sets: finding one, and what counts for it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from memories.errors import NotFound
from memories.features import config as settings_of
from memories.features.config import WORKSPACE_SETTING, Config, Effective
from memories.index import statements
from memories.models import FeatureSet
from workspaces.models import Subject, Workspace
from workspaces.scope import Scope

OF_A_SUBJECT = "user:"
OF_KEY = """
select * from memories_featureset where workspace_id = %(workspace_id)s and key = %(key)s
"""


def key_of(external_id: str) -> str:
    """The key of the set that every subject has."""
    return f"{OF_A_SUBJECT}{external_id}"


def make_for(subject: Subject) -> None:
    """The set that every subject has: made when something is first said about it."""
    place = {"workspace_id": subject.workspace_id, "key": key_of(subject.external_id)}
    if statements.first(FeatureSet, OF_KEY, place) is None:
        FeatureSet.objects.bulk_create(
            [FeatureSet(**place, subject=subject)], ignore_conflicts=True
        )


def find(scope: Scope, key: str) -> FeatureSet:
    """The set of that key or id; NotFound where `scope` does not see it."""
    rows = FeatureSet.objects.visible_to(scope).with_names().select_related("workspace")
    found = rows.filter(key=key).first() or _by_id(rows, key)
    if found is None:
        raise NotFound("Set")
    return found


def _by_id(rows: QuerySet[FeatureSet], text: str) -> FeatureSet | None:
    try:
        return rows.filter(pk=uuid.UUID(text)).first()
    except ValueError:
        return None


def config_of(found: FeatureSet) -> Config:
    """What counts for the set now."""
    return settings_of.config_of(_of_workspace(found), found.config)


def effective_of(found: FeatureSet) -> dict[str, Effective]:
    """Each setting that counts for the set, and who said so."""
    return settings_of.effective(_of_workspace(found), found.config)


def inherited_of(found: FeatureSet) -> dict[str, Effective]:
    """Each setting as it would count, did the set say nothing."""
    return settings_of.effective(_of_workspace(found), {})


def _of_workspace(found: FeatureSet) -> Mapping[str, Any]:
    said = found.workspace.settings.get(WORKSPACE_SETTING, {})
    return said if isinstance(said, Mapping) else {}


def workspace_settings(workspace_id: uuid.UUID) -> Mapping[str, Any]:
    """What the workspace says for all of its sets."""
    rows = Workspace.objects.filter(pk=workspace_id)
    said = rows.values_list(f"settings__{WORKSPACE_SETTING}", flat=True).first()
    return said if isinstance(said, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits to be taken into the sets of a workspace."""

    sets: int
    episodes: int
    oldest_seconds: float
    failing: int


def backlog(scope: Scope, counted: Mapping[uuid.UUID, FeatureSet]) -> Backlog:
    """For one who sees the whole workspace; `counted` are sets that were counted just now."""
    rows = FeatureSet.objects.visible_to(scope)
    stored = rows.filter(waiting__gt=0).exclude(pk__in=counted)
    found = stored.aggregate(sets=Count("pk"), episodes=Sum("waiting"), since=Min("waiting_since"))
    fresh = [each for each in counted.values() if each.waiting]
    begins = [at for at in (found["since"], *(each.waiting_since for each in fresh)) if at]
    return Backlog(
        sets=found["sets"] + len(fresh),
        episodes=(found["episodes"] or 0) + sum(each.waiting for each in fresh),
        oldest_seconds=(timezone.now() - min(begins)).total_seconds() if begins else 0.0,
        failing=rows.exclude(error="").count(),
    )
