"""The settings of a workspace, declared once, and how weights, policy and all of them change."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from django.db import transaction
from pydantic import AfterValidator, Field

from memories.belief.resolve import RULES
from memories.belief.resolve.protected_memories import Policy
from memories.errors import Conflict, Invalid, refuse
from memories.judge.judge import Thresholds
from memories.language import bounds
from memories.language.english.calendar import DATE_ORDERS
from memories.language.english.patterns.library import PATTERNS
from memories.language.english.statements import rule_names
from memories.models import Category, FeatureSet, GoldenRun
from memories.profiles.features import sets
from memories.profiles.features.config import (
    LONGEST_NAME,
    TYPE,
    TYPES_SETTING,
    WORKSPACE_SETTING,
    SetSettings,
    types_of,
)
from memories.quality import golden_gate, golden_runs
from memories.ranking import Weights
from memories.reading.extraction.fallback_chain import WHEN, Models
from memories.reading.extraction.trust import DEFAULT_TRUST, TRUST
from memories.reading.extraction.workspace_instructions import InstructionSettings
from memories.reading.guard import LABELS
from memories.settings_objects import SettingsObject, between, checked, faults, wrong
from workspaces.models import Audience, Workspace
from workspaces.request_fields import OneOf, TimeZone
from workspaces.scope import Scope

MOST_NAMES = 200  # in a list
MOST_TYPES = 100
SHOWN = 5  # sets that are named where their type would go
PATTERN_NAMES = frozenset(pattern.name for pattern in PATTERNS)
EARLIER_SPELLINGS = {"conflict_rule": "conflictRule"}  # callers still send them

Share = Annotated[float, between(0, 1)]


def _rising(pair: tuple[float, float]) -> tuple[float, float]:
    if pair[0] > pair[1]:
        raise wrong("Two numbers, the smaller first: from, up to.")
    return pair


class ReviewSettings(SettingsObject):
    """The conditions that hold a replacement back for a person."""

    similarity: Annotated[tuple[Share, Share], AfterValidator(_rising)] = (0.0, 0.0)
    confidence: Share = 0.0
    categories: Annotated[list[Category], Field(max_length=MOST_NAMES)] = []
    agents: Annotated[list[str], Field(max_length=MOST_NAMES)] = []


class GuardSettings(SettingsObject):
    """The trust of a workspace: `allowed` are kinds of secrets and orders that are neither masked
    nor held. By source: claims that only its words support are believed, held for a person, or left
    unread. `audience`: whom agents without a team speak for, unless something more specific says.
    """

    allowed: Annotated[list[Annotated[str, OneOf(tuple(LABELS))]], Field(max_length=20)] = []
    user: Annotated[str, OneOf(TRUST)] = DEFAULT_TRUST["user"]
    assistant: Annotated[str, OneOf(TRUST)] = DEFAULT_TRUST["assistant"]
    tool: Annotated[str, OneOf(TRUST)] = DEFAULT_TRUST["tool"]
    document: Annotated[str, OneOf(TRUST)] = DEFAULT_TRUST["document"]
    agents: Annotated[str, OneOf(TRUST)] = DEFAULT_TRUST["agents"]
    audience: Annotated[str, OneOf(("", *Audience.values))] = ""


class JudgeSettings(SettingsObject):
    """Thresholds of the judge, as probabilities; null: the model's own. From `act` on, what a message says replaces
    what it plainly ends; from `ask` on, a belief that a message speaks about is questioned; from `far` on, one of
    twenty that share no word with it; from `keep` on, a sentence is kept; from `drop` on, what a rule read in fiction
    is forgotten. `learn`: whether it learns from what people decide here; one in a hundred of the changes that it does
    not hear is put before them, too."""

    enabled: bool = True
    learn: bool = True
    act: Share | None = None
    ask: Share | None = None
    far: Share | None = None
    keep: Share | None = None
    drop: Share | None = None

    def over(self, model: Thresholds) -> Thresholds:
        """Return the thresholds of a model, with those that the workspace chose in their places."""
        own = {name: getattr(self, name) for name in Thresholds._fields}
        return model._replace(**{name: value for name, value in own.items() if value is not None})


Days = Annotated[int, Field(ge=0, le=36_500, strict=True)]


class RetentionSettings(SettingsObject):
    """The number of days after which `prune` removes messages that nothing stands on, and misses,
    and empties lines of the audit log; 0: never."""

    episodes: Days = 0
    misses: Days = 0
    audit: Days = 0


Money = Annotated[float, between(0, 10**9)] | None


class BudgetSettings(SettingsObject):
    """Spending limits for models, in the operator's currency and in UTC; null: no limit. Once one
    is reached, no model is called: patterns and words alone go on."""

    per_day: Money = None
    per_month: Money = None
    tokens_per_day: Annotated[int, between(0, 10**12)] | None = None


def _fitting(own: "ChunkSettings") -> "ChunkSettings":
    if own.overlap * 2 > own.size or own.minimum > own.size:
        raise wrong("The overlap is at most half of the size, the minimum at most the size.")
    return own


class ChunkSettings(SettingsObject):
    """Sizes of document chunks, in tokens; existing chunks stay until a document is read anew."""

    size: Annotated[int, between(50, 4000)] = bounds.CHUNK
    overlap: Annotated[int, between(0, 2000)] = bounds.CHUNK_SHARED
    minimum: Annotated[int, between(0, 2000)] = bounds.CHUNK_LEAST


class WorkspaceSettings(SettingsObject):
    """All settings of a workspace. Missing ones have their defaults; null resets one."""

    budget: Annotated[BudgetSettings, Field(description="What may be spent on models.")] = BudgetSettings()
    chunks: Annotated[ChunkSettings, AfterValidator(_fitting), Field(description="How documents are cut.")] = (
        ChunkSettings()
    )
    conflict_rule: Annotated[str, OneOf(RULES)] = RULES[0]
    date_order: Annotated[
        str,
        OneOf(DATE_ORDERS),
        Field(
            description="Of day and month in numbers: 3/4/2026 is 4 March or, day first, 3 April;"
            " auto: month first with slashes, else day first. What can only be read one way, is."
        ),
    ] = DATE_ORDERS[0]
    decisions_off: Annotated[
        list[Annotated[str, OneOf(rule_names.NAMES)]],
        Field(
            description="Attributes of one value at a time, and words and events that end"
            " something, which replace nothing here, by their names."
        ),
    ] = []
    extractors: Annotated[
        Models,
        Field(description="The models that read, in the order in which they are asked. Empty: the server's own."),
    ] = []
    feature_sets: SetSettings = SetSettings()
    feature_set_types: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)], SetSettings],
        Field(
            max_length=MOST_TYPES,
            description="What the feature sets of a type share, by the type's name; a set names its own in its config.",
        ),
    ] = {}
    golden_questions: Annotated[
        golden_gate.GoldenSettings,
        Field(description="What a change meets under which golden questions would do worse."),
    ] = golden_gate.GoldenSettings()
    guard: Annotated[
        GuardSettings,
        Field(description="Which secrets and orders pass, and whose words are trusted."),
    ] = GuardSettings()
    instructions: Annotated[
        InstructionSettings,
        Field(description="What is written down of messages above all, and what is left out, in words."),
    ] = InstructionSettings()
    judge: Annotated[
        JudgeSettings,
        Field(description="Whether the judge is asked, and how sure it must be. Messages wait while it is off."),
    ] = JudgeSettings()
    llm: Annotated[
        str,
        OneOf(WHEN),
        Field(description="Which messages a model reads: those that no pattern covered, or all."),
    ] = WHEN[0]
    patterns_off: Annotated[
        list[Annotated[str, OneOf(sorted(PATTERN_NAMES))]],
        Field(description="Patterns of the library that find nothing here, by their names."),
    ] = []
    ranking: Annotated[Weights, Field(description="Weights of the hybrid ranking.")] = Weights()
    retention: Annotated[RetentionSettings, Field(description="What `prune` removes, in days; nothing by itself.")] = (
        RetentionSettings()
    )
    review: ReviewSettings = ReviewSettings()
    timezone: Annotated[
        TimeZone,
        Field(
            description='An IANA name, like Europe/Madrid: from its days count "yesterday" and other dates in what'
            " is told in UTC by people who have no time zone of their own."
        ),
    ] = ""


def faults_of(settings: Mapping[str, Any], place: str = "") -> list[Invalid]:
    """All faults in settings as they are stored and sent; [] if there are none."""
    before = f"{place}." if place else ""
    of_sets = {f"{before}{TYPES_SETTING}.{name}": own for name, own in types_of(settings).items()} | {
        f"{before}{WORKSPACE_SETTING}": settings.get(WORKSPACE_SETTING, {})
    }
    found = faults(WorkspaceSettings, settings, place)
    for at, own in of_sets.items():
        if not any(one.field.startswith(at) for one in found):
            found += sets.faults_of_config(SetSettings, own, at)
    return found


def settings_of(workspace: Workspace | Scope) -> WorkspaceSettings:
    """All settings. One that has become faulty (an address that the operator no longer allows) has
    its default here, and its error appears where it is used."""
    if isinstance(workspace, Scope):
        workspace = Workspace.objects.only("settings").get(pk=workspace.workspace_id)
    wrong = {re.split(r"[.[]", one.field)[0] for one in faults(WorkspaceSettings, workspace.settings)}
    kept = {name: own for name, own in workspace.settings.items() if name not in wrong}
    settings: WorkspaceSettings = checked(WorkspaceSettings, kept)
    return settings


def change_weights(scope: Scope, changes: Mapping[str, float | None], *, anyway: bool = False) -> Weights:
    """Change weights of the score; None resets one. Raises Invalid, and Conflict where golden
    questions would do worse (`golden.check`)."""
    given = {name: value for name, value in changes.items() if value is not None}
    taken_back = dict.fromkeys(changes.keys() - given.keys(), 0.0)
    refuse(faults(Weights, given | taken_back, "weights"))
    known = Workspace.objects.get(pk=scope.workspace_id).settings
    proposed = known | {"ranking": _changed_weights(known.get("ranking") or {}, changes)}
    golden_gate.check(scope, known, golden_gate.ProposedChange(proposed), anyway=anyway)
    return _write_weights(scope, changes)


def _changed_weights(before: Mapping[str, float], changes: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in {**before, **changes}.items() if value is not None}


@transaction.atomic(durable=True)
def _write_weights(scope: Scope, changes: Mapping[str, float | None]) -> Weights:
    row = Workspace.objects.select_for_update().get(pk=scope.workspace_id)
    before = row.settings.get("ranking") or {}
    after = _changed_weights(before, changes)
    row.settings = {**row.settings, "ranking": after}
    row.save(update_fields=["settings", "updated_at"])
    scope.audit("change_weights", row, before=before, after=after)
    return Weights.of(after)


@transaction.atomic(durable=True)
def change_policy(scope: Scope, changes: Mapping[str, Any]) -> Policy:
    """Change which replacements are held back from now on. Raises Invalid."""
    refuse(faults(ReviewSettings, changes, "review"))
    row = Workspace.objects.select_for_update().get(pk=scope.workspace_id)
    before, after = row.settings.get("review") or {}, dict(changes)
    row.settings = {**row.settings, "review": after}
    row.save(update_fields=["settings", "updated_at"])
    scope.audit("change_policy", row, before=before, after=after)
    return Policy.of(after)


def switch_pattern(scope: Scope, name: str, *, is_off: bool, anyway: bool = False) -> list[str]:
    """Switch a pattern of the library off or on; those that are off. Raises Invalid, and Conflict
    where golden questions would do worse without its findings."""
    refuse(faults(WorkspaceSettings, {"patternsOff": [name]}, "settings"))
    if is_off:
        known = Workspace.objects.get(pk=scope.workspace_id).settings
        proposed = known | {"patternsOff": [*known.get("patternsOff", ()), name]}
        golden_gate.check(scope, known, golden_gate.ProposedChange(proposed), anyway=anyway)
    return _write_switch(scope, "patternsOff", name, is_off=is_off)


def switch_decision(scope: Scope, name: str, *, is_off: bool) -> list[str]:
    """Switch a rule of replacement off or on; those that are off. Earlier replacements stay. Raises
    Invalid."""
    refuse(faults(WorkspaceSettings, {"decisionsOff": [name]}, "settings"))
    return _write_switch(scope, "decisionsOff", name, is_off=is_off)


@transaction.atomic(durable=True)
def _write_switch(scope: Scope, setting: str, name: str, *, is_off: bool) -> list[str]:
    row = Workspace.objects.select_for_update(no_key=True).get(pk=scope.workspace_id)
    before = sorted(row.settings.get(setting) or [])
    after = sorted({*before, name}) if is_off else [each for each in before if each != name]
    row.settings = {**row.settings, setting: after}
    row.save(update_fields=["settings", "updated_at"])
    action = "switch_pattern" if setting == "patternsOff" else "switch_decision"
    scope.audit(action, row, reason=name, before=before, after=after)
    return after


def change_workspace(
    scope: Scope,
    name: str | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    anyway: bool = False,
) -> Workspace:
    """Rename a workspace or change its settings; None resets one. Raises Invalid, and Conflict
    where golden questions would do worse (`golden.check`), or where feature sets are of a type that
    would go."""
    known = Workspace.objects.get(pk=scope.workspace_id).settings
    proposed = _changed_settings(known, changes or {})
    refuse(faults_of(proposed, "settings"))
    golden_gate.check(scope, known, golden_gate.ProposedChange(proposed), anyway=anyway)
    return _write_workspace(scope, name, changes or {})


def try_settings(scope: Scope, changes: Mapping[str, Any]) -> GoldenRun:
    """Try the golden questions under other settings and keep the run; nothing is changed. Raises
    Invalid."""
    known = Workspace.objects.get(pk=scope.workspace_id).settings
    proposed = _changed_settings(known, changes)
    refuse(faults_of(proposed, "settings"))
    trial = golden_gate.try_proposal(scope, known, golden_gate.ProposedChange(proposed))
    return golden_runs.keep(scope, trial.cause, trial.compared, changed=trial.changed)


def _changed_settings(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    given = {EARLIER_SPELLINGS.get(name, name): value for name, value in changes.items()}
    return {each: value for each, value in {**before, **given}.items() if value is not None}


def share_type(scope: Scope, key: str, name: str) -> FeatureSet:
    """Make this set's own settings those of all sets of type `name`, replacing the shared ones; the
    set becomes one of them. Raises NotFound, Invalid, and Conflict as `change_workspace` does."""
    found = sets.find(scope, key)
    types = types_of(Workspace.objects.get(pk=scope.workspace_id).settings)
    shared = {each: value for each, value in found.config.items() if each != TYPE}
    change_workspace(scope, changes={TYPES_SETTING: {**types, name: shared}})
    return sets.configure(scope, found.key, dict.fromkeys(shared) | {TYPE: name})


@transaction.atomic(durable=True)
def _write_workspace(scope: Scope, name: str | None, changes: Mapping[str, Any]) -> Workspace:
    row = Workspace.objects.select_for_update(no_key=True).get(pk=scope.workspace_id)
    before = {"name": row.name, "settings": row.settings}
    row.settings = _changed_settings(row.settings, changes)
    row.name = name or row.name
    refuse(faults_of(row.settings, "settings"))
    gone = types_of(before["settings"]).keys() - types_of(row.settings).keys()
    sets_of = FeatureSet.objects.filter(workspace_id=scope.workspace_id, config__type__in=gone)
    named = list(sets_of.order_by("pk").values_list("key", "config__type")[:SHOWN]) if gone else []
    if named:
        told = ", ".join(f"{key} ({kind})" for key, kind in named)
        raise Conflict(
            f"Feature sets are of a type that would go: {told}. Give them another one first.",
            "in_use",
            f"settings.{TYPES_SETTING}",
        )
    after = {"name": row.name, "settings": row.settings}
    if after != before:
        row.save(update_fields=["name", "settings", "updated_at"])
        scope.audit("change_workspace", row, before=before, after=after)
    return row
