"""The settings of a workspace: what is wrong with them, and how its weights and its policy change."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from memories import languages
from memories.english.statements import policy
from memories.english.statements.policy import Policy
from memories.errors import Invalid
from memories.extraction import configured_models
from memories.features import config as feature_sets
from memories.features import set_embedding
from memories.models import Category
from memories.ranking import Weights, weights
from memories.resolve import RULES
from workspaces.models import AuditEntry, Workspace
from workspaces.scope import Scope

CATEGORIES = frozenset(Category.values)
KNOWN = ("conflict_rule", "extractors", "featureSets", "languages", "llm", "ranking", "review")


def faults_of(settings: dict[str, Any]) -> list[str]:
    """In words for people; [] where all is well."""
    unknown = sorted(settings.keys() - set(KNOWN))
    found = [f"{name}: no such setting; there are {', '.join(KNOWN)}." for name in unknown]
    found += configured_models.faults_of(settings)
    if settings.get("conflict_rule", RULES[0]) not in RULES:
        found.append(f"conflict_rule: one of {', '.join(RULES)}.")
    found += feature_sets.faults_of(settings) or _faults_of_embedder(settings)
    for name, fault in weights.faults_of(settings.get("ranking", {})).items():
        found.append(f"ranking{name and '.'}{name}: {fault}")
    if settings.get("llm", configured_models.WHEN[0]) not in configured_models.WHEN:
        found.append(f"llm: one of {', '.join(configured_models.WHEN)}.")
    for name, fault in policy.faults_of(settings.get("review", {}), CATEGORIES).items():
        found.append(f"review{name and '.'}{name}: {fault}")
    for fault in languages.faults_of(settings.get("languages", [languages.ENGLISH])):
        found.append(f"languages: {fault}.")
    return found


def _faults_of_embedder(settings: dict[str, Any]) -> list[str]:
    name = feature_sets.WORKSPACE_SETTING
    try:
        set_embedding.check(settings.get(name, {}).get("embedder"), f"{name}.embedder")
    except Invalid as error:
        return [str(error)]
    return []


def weights_of(scope: Scope) -> Weights:
    """The weights that the workspace's searches are ranked with."""
    row = Workspace.objects.only("settings").get(pk=scope.workspace_id)
    return Weights.of(row.settings.get("ranking"))


@transaction.atomic(durable=True)
def change_weights(scope: Scope, changes: Mapping[str, float | None]) -> Weights:
    """Give parts of the score other weights; None gives one its default back. Raises Invalid."""
    said = {name: value for name, value in changes.items() if value is not None}
    unsaid = dict.fromkeys(changes.keys() - said.keys(), 0.0)
    for name, fault in weights.faults_of(said | unsaid).items():
        raise Invalid(f"weights.{name}", fault)
    row = Workspace.objects.select_for_update().get(pk=scope.workspace_id)
    before = row.settings.get("ranking") or {}
    after = {name: value for name, value in (before | said).items() if name not in unsaid}
    row.settings = {**row.settings, "ranking": after}
    row.save(update_fields=["settings", "updated_at"])
    AuditEntry.line(
        scope.workspace_id, scope.actor, "change_weights", row, before=before, after=after
    ).save()
    return Weights.of(after)


@transaction.atomic(durable=True)
def change_policy(scope: Scope, changes: Mapping[str, Any]) -> Policy:
    """Hold other replacements back from now on. Raises Invalid."""
    for name, fault in policy.faults_of(changes, CATEGORIES).items():
        raise Invalid(f"review.{name}", fault)
    row = Workspace.objects.select_for_update().get(pk=scope.workspace_id)
    before, after = row.settings.get("review") or {}, dict(changes)
    row.settings = {**row.settings, "review": after}
    row.save(update_fields=["settings", "updated_at"])
    AuditEntry.line(
        scope.workspace_id, scope.actor, "change_policy", row, before=before, after=after
    ).save()
    return Policy.of(after)


@transaction.atomic(durable=True)
def change_workspace(
    scope: Scope, name: str | None = None, changes: Mapping[str, Any] | None = None
) -> Workspace:
    """Call it otherwise, give it other settings; None gives a setting its default back. Raises
    Invalid."""
    row = Workspace.objects.select_for_update(no_key=True).get(pk=scope.workspace_id)
    before = {"name": row.name, "settings": row.settings}
    said = {**row.settings, **(changes or {})}
    row.settings = {each: value for each, value in said.items() if value is not None}
    row.name = name or row.name
    for fault in faults_of(row.settings):
        path, _, message = fault.partition(": ")
        raise Invalid(f"settings.{path}", message)
    after = {"name": row.name, "settings": row.settings}
    if after != before:
        row.save(update_fields=["name", "settings", "updated_at"])
        AuditEntry.line(
            scope.workspace_id, scope.actor, "change_workspace", row, before=before, after=after
        ).save()
    return row
