"""A workspace's thresholds of the judge as a page, tried on the messages of the last week."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from memories.errors import Conflict, Invalid
from memories.ingest import rehearse_judge
from memories.ingest.judge_outcomes import (
    FORGOTTEN,
    KEPT,
    KINDS,
    QUESTIONED,
    REPLACED,
    JudgeOutcome,
    JudgeScore,
    outcomes,
)
from memories.judge.judge import SHIPPED, Thresholds, shipped, thresholds_in
from memories.meters.stored_metrics import counts_by_label
from memories.models import Episode, JudgeRehearsal, LongJob, Memory
from memories.settings import workspace_settings
from memories.settings.workspace_settings import settings_of
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.models import Capability, Workspace
from workspaces.scope import Scope

EXAMPLES = 20
LONGEST = 300  # characters of a belief
COUNTED = timedelta(days=90)
LABELS = {
    QUESTIONED: gettext_lazy("beliefs questioned"),
    REPLACED: gettext_lazy("beliefs replaced"),
    KEPT: gettext_lazy("sentences kept as they were said"),
    FORGOTTEN: gettext_lazy("memories forgotten as fiction"),
}
FIELDS = {
    "act": (gettext_lazy("Replace from"), gettext_lazy("What a message plainly ends is replaced.")),
    "ask": (gettext_lazy("Question from"), gettext_lazy("A belief that a message speaks about is questioned.")),
    "far": (
        gettext_lazy("Question others from"),
        gettext_lazy(
            "The same for one of twenty beliefs that share no word with the message; for fewer, less is enough."
        ),
    ),
    "keep": (gettext_lazy("Keep from"), gettext_lazy("A sentence in which no rule read anything is kept.")),
    "drop": (gettext_lazy("Fiction from"), gettext_lazy("What a rule read in such a sentence is forgotten.")),
}


class ThresholdsForm(forms.Form):
    """Thresholds of a workspace; an empty field is the model's own."""

    def __init__(self, workspace: Workspace, model: Thresholds, data: Any = None) -> None:
        super().__init__(data, initial=settings_of(workspace).judge.model_dump())
        for name, (label, hint) in FIELDS.items():
            attributes = {"inputmode": "decimal", "placeholder": f"{getattr(model, name):g}"}
            self.fields[name] = forms.FloatField(
                label=label,
                help_text=hint,
                required=False,
                min_value=0,
                max_value=1,
                widget=UnfoldAdminTextInputWidget(attrs=attributes),
            )

    @property
    def chosen(self) -> dict[str, float]:
        return {name: value for name, value in self.cleaned_data.items() if value is not None}


@dataclass(frozen=True, slots=True)
class OutcomeExample:
    """Something that is done `now` and `then`, as kinds or "", to a `belief` by words of a message."""

    now: str
    then: str
    score: JudgeScore
    episode: Episode
    quote: str
    belief: str

    @property
    def is_changed(self) -> bool:
        return self.now != self.then


class JudgeThresholdsPage(OneWorkspacePage):
    """Thresholds, which all readers of a workspace may try, its curators on the last week, and its admins save."""

    path, name, title = "judge-thresholds/", "memories_judge_thresholds", "How sure the judge is"
    template_name = "admin/memories/judge_thresholds.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope = self.access.scope(workspace.pk)
        if not shipped.is_there:
            return self.render_to_response(self.get_context_data(**self.about(workspace)))
        may_save = self.access.may(Capability.ADMIN, workspace.pk)
        may_look = self.access.may(Capability.CURATE, workspace.pk)
        if "look" in request.POST:
            if not may_look:
                raise PermissionDenied
            rehearse_judge.request(scope)
            return self.back(workspace)
        model = thresholds_in(SHIPPED)
        form = ThresholdsForm(workspace, model, request.POST if self.is_sent else None)
        if "save" in request.POST:
            if not may_save:
                raise PermissionDenied
            if form.is_valid() and self.is_saved(workspace, scope, form):
                messages.success(request, gettext("Saved: it holds from the next message on."))
                return self.back(workspace)
        now = settings_of(workspace).judge.over(model)
        then = model._replace(**form.chosen) if form.is_bound and form.is_valid() else now
        context = self.get_context_data(
            **self.about(workspace),
            has_judge=True,
            form=form,
            may_look=may_look,
            may_save=may_save,
            **rehearsed(scope, now, then),
            opinions=second_opinions(workspace),
        )
        return self.render_to_response(context)

    def is_saved(self, workspace: Workspace, scope: Scope, form: ThresholdsForm) -> bool:
        own = workspace.settings.get("judge") or {}
        others = {name: value for name, value in own.items() if name not in FIELDS}
        try:
            workspace_settings.change_workspace(scope, changes={"judge": others | form.chosen})
        except (Invalid, Conflict) as error:
            form.add_error(None, str(error))
        return form.is_valid()


def rehearsed(scope: Scope, now: Thresholds, then: Thresholds) -> dict[str, Any]:
    """Return what both thresholds make of the last week that the judge has looked through, and whether it looks
    again."""
    rows = JudgeRehearsal.objects.visible_to(scope)
    newest = rows.filter(state=JudgeRehearsal.State.DONE).first()
    last = rows.exclude(state=JudgeRehearsal.State.DONE).defer("scores").first()
    job = LongJob.objects.running().filter(item=last.pk).first() if last else None
    shown: dict[str, Any] = {"newest": newest, "last": last, "job": job, "is_tried": then != now}
    if newest is not None:
        scores = [JudgeScore(**row) for row in newest.scores]
        before, after = outcomes(scores, now), outcomes(scores, then)
        counts = [(LABELS[kind], _number(before, kind), _number(after, kind)) for kind in KINDS]
        shown |= {"counts": counts, "examples": examples_of(scope, before, after)}
    return shown


Outcomes = Mapping[tuple[str, int], JudgeOutcome]


def _number(found: Outcomes, kind: str) -> int:
    return sum(one.kind == kind for one in found.values())


def _kind(found: Outcomes, about: tuple[str, int]) -> str:
    return found[about].kind if about in found else ""


def examples_of(scope: Scope, before: Outcomes, after: Outcomes) -> list[OutcomeExample]:
    """Return what is done, as far as the asker sees it: what is done differently first, then what is likeliest."""
    done = {**before, **after}
    kinds = {about: (_kind(before, about), _kind(after, about)) for about in done}
    scores = {about: one.score for about, one in done.items()}
    order = sorted(done, key=lambda about: (kinds[about][0] == kinds[about][1], -scores[about].probability))
    chosen = [scores[about] for about in order[: 2 * EXAMPLES]]
    ids = {uuid.UUID(pk) for one in chosen for pk in (one.episode, one.earlier) if pk}
    episodes = Episode.objects.visible_to(scope).in_bulk(ids)
    memories = Memory.objects.visible_to(scope).in_bulk({uuid.UUID(one.memory) for one in chosen if one.memory})
    examples = []
    for about, score in zip(order, chosen, strict=False):
        said = episodes.get(uuid.UUID(score.episode))
        memory = memories.get(uuid.UUID(score.memory)) if score.memory else None
        earlier = episodes.get(uuid.UUID(score.earlier)) if score.earlier else None
        if said is None or (score.memory and memory is None) or (score.earlier and earlier is None):
            continue
        belief = memory.content if memory else ""
        if earlier:
            belief = f"“{earlier.content[score.earlier_start : score.earlier_end]}”"
        now, then = kinds[about]
        examples.append(OutcomeExample(now, then, score, said, said.content[score.start : score.end], belief[:LONGEST]))
    return examples[:EXAMPLES]


def second_opinions(workspace: Workspace) -> dict[str, int]:
    """Return how often a language model was asked what the judge was not sure of, by outcome, and `asked` in all."""
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    counts = counts_by_label("judge_second_opinions", "outcome", [workspace.pk], tomorrow - COUNTED, tomorrow)
    return {**counts, "asked": sum(counts.values())}
