"""Feature sets: finding one, and what counts for it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from memories.errors import NotFound
from memories.models import FeatureSet
from memories.semantics import config as settings_of
from memories.semantics.config import WORKSPACE_SETTING, Config, Effective
from workspaces.models import Workspace
from workspaces.scope import Scope

OF_A_SUBJECT = "user:"


def key_of(external_id: str) -> str:
    """The key of the set that every subject has."""
    return f"{OF_A_SUBJECT}{external_id}"


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


def backlog(scope: Scope) -> Backlog:
    rows = FeatureSet.objects.visible_to(scope)
    waiting = rows.filter(waiting__gt=0)
    found = waiting.aggregate(sets=Count("pk"), episodes=Sum("waiting"), since=Min("waiting_since"))
    age = (timezone.now() - found["since"]).total_seconds() if found["since"] else 0.0
    return Backlog(found["sets"], found["episodes"] or 0, age, rows.exclude(error="").count())
