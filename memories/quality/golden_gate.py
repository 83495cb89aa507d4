"""The gate before a change of what searches depend on: golden questions are asked under the
proposal first, and `check` refuses or asks where answers would be lost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from memories.errors import Conflict
from memories.index import workspace_index
from memories.models import EmbeddingModel, GoldenQuestion, GoldenRun
from memories.quality.answer_places import Comparison, Lookup, answer_places, memories_of_rules
from memories.quality.golden_runs import keep, questions_of
from memories.settings_objects import SettingsObject
from workspaces.request_fields import OneOf
from workspaces.scope import Scope, worker_scope

# The gate before a change of what searches depend on: how golden questions would do under it.

ASK, REFUSE, OFF = GATES = ("ask", "refuse", "off")
WORSE = "worse_answers"
RULE_OFF = "patternsOff."


class GoldenSettings(SettingsObject):
    """The gate for a change under which golden questions would do worse: `ask` lets through whoever
    confirms it, `refuse` nobody; `off` asks no questions."""

    gate: Annotated[str, OneOf(GATES)] = ASK


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A proposed change: the settings as a whole, an embedding model whose vectors exist already,
    or rules whose findings would be missing."""

    settings: Mapping[str, Any] | None = None
    model: EmbeddingModel | None = None
    without_rules: frozenset[str] = field(default=frozenset())


# Settings that searches depend on; others change what is learned from now on.
ASKED_BY = ("ranking", "dateOrder")


def changed_names(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The search settings that differ; a weight is listed by its own name."""
    names = [name for name in ASKED_BY if (before.get(name) or None) != (after.get(name) or None)]
    if "ranking" in names:
        old, new = before.get("ranking") or {}, after.get("ranking") or {}
        weights = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        names = [*(f"ranking.{name}" for name in weights), *names[1:]]
    off = set(after.get("patternsOff") or ()) - set(before.get("patternsOff") or ())
    return [*names, *(f"{RULE_OFF}{name}" for name in sorted(off))]


@dataclass(frozen=True, slots=True)
class ChangeTrial:
    """The effect of a proposal: `changed` names the search settings that would be different."""

    changed: list[str]
    compared: Comparison
    cause: str


def try_proposal(scope: Scope, before: Mapping[str, Any], proposal: ProposedChange) -> ChangeTrial:
    """Ask all questions as things are and as they would be. `before` are the current settings. Call
    it outside of transactions: models may be asked."""
    after = before if proposal.settings is None else proposal.settings
    rules = {name.partition(".")[2] for name in _changed(before, proposal) if name.startswith(RULE_OFF)}
    rows = questions_of(scope.workspace_id)
    index = workspace_index.index_of(scope.workspace_id)
    other = workspace_index.under_settings(index, after)
    if proposal.model:
        other = workspace_index.under_model(other, proposal.model)
    asker = worker_scope(scope.workspace_id)
    missing = memories_of_rules(scope.workspace_id, rules | proposal.without_rules)
    compared = Comparison(
        answer_places(asker, rows, Lookup(index)),
        answer_places(asker, rows, Lookup(other, missing)),
    )
    cause = GoldenRun.Cause.MODEL if proposal.model else GoldenRun.Cause.SETTINGS
    return ChangeTrial(_changed(before, proposal), compared, cause)


def _changed(before: Mapping[str, Any], proposal: ProposedChange) -> list[str]:
    names = changed_names(before, before if proposal.settings is None else proposal.settings)
    model = [f"embedding model: {proposal.model}"] if proposal.model else []
    return [*names, *sorted(proposal.without_rules), *model]


def check(
    scope: Scope, before: Mapping[str, Any], proposal: ProposedChange, *, anyway: bool = False
) -> GoldenRun | None:
    """Try the proposal and keep the comparison; None if nothing that searches depend on would
    change, there are no questions, or the gate is off.

    Raises Conflict with code `worse_answers` where answers would get worse and nobody said
    `anyway`, or the workspace refuses.
    """
    gate = (before.get("goldenQuestions") or {}).get("gate", ASK)
    if gate == OFF or not _changed(before, proposal):
        return None
    if not GoldenQuestion.objects.filter(workspace_id=scope.workspace_id).exists():
        return None
    trial = try_proposal(scope, before, proposal)
    is_refused = trial.compared.is_worse and (gate == REFUSE or not anyway)
    outcome = GoldenRun.Outcome.REFUSED if is_refused else ""
    if trial.compared.is_worse and not is_refused:
        outcome = GoldenRun.Outcome.ANYWAY
    made = keep(scope, trial.cause, trial.compared, outcome=outcome, changed=trial.changed)
    if is_refused:
        way = (
            "The setting goldenQuestions.gate refuses that."
            if gate == REFUSE
            else "Say `anyway` to change it all the same."
        )
        raise Conflict(
            f"{made.worse} of {len(made.results)} golden questions would be answered worse,"
            f" {made.better} better: run {made.pk} tells which. {way}",
            WORSE,
        )
    return made
