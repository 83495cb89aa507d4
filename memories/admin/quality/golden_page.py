"""Golden questions as a page: the questions, their state and, run by run, what became better and
worse."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext

from memories.admin.search.search_page import SearchPageForm
from memories.errors import Invalid, NotFound
from memories.models import Episode, GoldenQuestion, GoldenRun, Memory, change_of, is_lost
from memories.quality import golden_questions, golden_runs
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.auth import as_uuid
from workspaces.models import Capability
from workspaces.scope import Scope

SHOWN = 300
NEWEST_RUNS = 20
OUTCOMES = {
    GoldenRun.Outcome.FINE: "no worse",
    GoldenRun.Outcome.WORSE: "worse",
    GoldenRun.Outcome.REFUSED: "not changed: it would be worse",
    GoldenRun.Outcome.ANYWAY: "changed, though worse",
}
CAUSES = {
    GoldenRun.Cause.HAND: "asked by hand",
    GoldenRun.Cause.SCHEDULE: "by the clock",
    GoldenRun.Cause.SETTINGS: "other settings",
    GoldenRun.Cause.MODEL: "another embedding model",
    GoldenRun.Cause.JUDGE: "a judge that learned",
}


class GoldenPage(OneWorkspacePage):
    """A page of questions for all who read the workspace; its curators add, remove and run them."""

    path, name, title = "golden/", "memories_golden", "Golden questions"
    template_name = "admin/memories/golden.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope = self.access.scope(workspace.pk)
        may_curate = self.access.may(Capability.CURATE, workspace.pk)
        if self.is_sent:
            if not may_curate:
                raise PermissionDenied
            try:
                self.act(request, scope)
            except (Invalid, NotFound) as error:
                messages.error(request, str(error))
            return self.back(workspace)
        questions = list(GoldenQuestion.objects.visible_to(scope).with_names()[:SHOWN])
        expected = expected_of(scope, questions)
        runs = list(GoldenRun.objects.visible_to(scope)[:NEWEST_RUNS])
        named = as_uuid(request.GET.get("run", ""))
        run = runs[0] if runs else None
        if named:
            run = get_object_or_404(GoldenRun.objects.visible_to(scope), pk=named)
        return self.render_to_response(
            self.get_context_data(
                **self.about(workspace),
                questions=[(each, expected.get(each.pk, ("", ""))) for each in questions],
                runs=[(each, CAUSES[GoldenRun.Cause(each.cause)], _told(each)) for each in runs],
                run=run,
                told=run and _told(run),
                lines=_lines(run, questions) if run else [],
                may_curate=may_curate,
            )
        )

    def act(self, request: HttpRequest, scope: Scope) -> None:
        """Carry out a form: add a question, remove one, or run them all. Raises Invalid,
        NotFound."""
        sent = request.POST
        if "remove" in sent:
            golden_questions.remove(scope, as_uuid(sent["remove"]) or uuid.UUID(int=0))
            messages.success(request, gettext("Removed."))
        elif "item" in sent:
            form = SearchPageForm(self.access, sent.dict())
            if not form.is_valid() or not form.cleaned_data["query"].strip():
                raise Invalid("query", "The search is not right.")
            row = as_uuid(sent["item"]) or uuid.UUID(int=0)
            golden_questions.add(scope, golden_questions.of_search(form.request, sent.get("found_in", ""), row))
            messages.success(request, gettext("A golden question: from now on this has to be found."))
        else:
            made = golden_runs.run(scope)
            messages.success(
                request,
                gettext("Asked: %(better)s better, %(worse)s worse.") % {"better": made.better, "worse": made.worse},
            )


def expected_of(scope: Scope, questions: list[GoldenQuestion]) -> dict[uuid.UUID, tuple[str, str]]:
    """Return words and page of the first expected answer to each question, as far as the asker sees
    it."""
    found: dict[uuid.UUID, tuple[str, str]] = {}
    models: tuple[Any, ...] = (Memory, Episode)
    ids = [[q.memory_ids[:1] for q in questions], [q.episode_ids[:1] for q in questions]]
    for model, own in zip(models, ids, strict=True):
        rows = model.objects.visible_to(scope).in_bulk([pk for each in own for pk in each])
        page = f"admin:memories_{model._meta.model_name}_change"
        for question, each in zip(questions, own, strict=True):
            if each and each[0] in rows and question.pk not in found:
                words = rows[each[0]].content
                found[question.pk] = words, reverse(page, args=[each[0]])
    return found


def _told(run: GoldenRun) -> str:
    return OUTCOMES[GoldenRun.Outcome(run.outcome)]


def _lines(run: GoldenRun, known: list[GoldenQuestion]) -> list[dict[str, Any]]:
    """Return the results of a run: worse first, then better, then unchanged. Results of questions
    that were removed have no query."""
    queries = {str(row.pk): row.query for row in known}
    lines = [
        each
        | {
            "query": queries.get(each["question"], ""),
            "change": change_of(each),
            "is_lost": is_lost(each),
        }
        for each in run.results
    ]
    return sorted(lines, key=lambda line: ("worse", "better", "same").index(line["change"]))
