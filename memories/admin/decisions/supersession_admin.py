"""Decisions in which one memory replaced another."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories.admin.cases.case_admin import State
from memories.admin.cases.case_cards import decision_cards, undoing
from memories.admin.decisions.decided_page import DecidedPage, TakeBackPage
from memories.admin.inbox.decide_page import DecidePage
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, text_column
from memories.admin.settings.instructions_page import InstructionsPage
from memories.admin.settings.judge_thresholds_page import JudgeThresholdsPage
from memories.admin.settings.policy_page import PolicyPage
from memories.belief import review
from memories.belief.cases.outcome import telling_pair
from memories.models import Rejection, Supersession
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.adminbase.target_names import name_of
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry

# Rules by which a memory replaced another one without contradicting it.
NO_CONTRADICTION = ("edit", "richer")


class ApproveForm(forms.Form):
    content = forms.CharField(
        required=False,
        max_length=100_000,
        label=_("The new memory"),
        help_text=_("Change the words to edit it on the way."),
        widget=UnfoldAdminTextareaWidget,
    )


class RejectForm(forms.Form):
    note = forms.CharField(required=False, max_length=500, label=_("Why"), widget=UnfoldAdminTextInputWidget)


class DecisionFilter(StateFilter):
    first = "pending"
    states = {
        "pending": _("Pending"),
        "applied": _("Applied"),
        "settled": _("Settled: what contradicted"),
        "rejected": _("Rejected"),
        "undone": _("Undone"),
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        if state == "settled":
            return rows.filter(state="applied").exclude(rule__in=NO_CONTRADICTION)
        return super().narrow(rows, state)


@admin.register(Supersession)
class SupersessionAdmin(MemoryRowAdmin):
    pages = (DecidePage, DecidedPage, TakeBackPage, PolicyPage, InstructionsPage, JudgeThresholdsPage)
    list_display = ("was", "becomes", "rule", "score", "state_label", "by", "decided_at")
    actor_field = "decided_by"
    list_select_related = ("workspace", "old", "new")
    list_filter = (DecisionFilter, DayFilter)
    search_fields = ("rule",)
    search_help_text = _("An id of the decision or of a memory, or a rule")
    page_template = "admin/memories/supersession.html"
    verbs = (
        Verb(
            "approve",
            _("The newer is right"),
            "check",
            "primary",
            _("The new memory replaces the old one."),
            ApproveForm,
            bulk=True,
        ),
        Verb("keep-both", _("Both are true"), "call_split", bulk=True),
        Verb(
            "reject",
            _("The older is right"),
            "close",
            "danger",
            _("The old memory stays, the new one is not learned again."),
            RejectForm,
            bulk=True,
        ),
        Verb(
            "undo",
            _("Undo"),
            "undo",
            question=_("Both memories are as they were before it was decided."),
        ),
        Verb("redo", _("Apply again"), "redo"),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace", "old", "new")

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        row_id = as_uuid(search_term.strip())
        if row_id is None:
            return queryset.filter(rule__istartswith=search_term.strip()), False
        memories = queryset.filter(old_id=row_id) | queryset.filter(new_id=row_id)
        return memories | queryset.filter(pk=row_id), False

    @display(description=_("was"))
    def was(self, decision: Supersession) -> str:
        return text_column(decision.old.content, 110)

    @display(description=_("becomes"))
    def becomes(self, decision: Supersession) -> str:
        return text_column(decision.new.content, 110)

    @display(description=_("similarity"))
    def score(self, decision: Supersession) -> str:
        return "" if decision.similarity is None else f"{decision.similarity:.2f}"

    @display(
        description=_("state"),
        label={
            "pending": "warning",
            "applied": "success",
            "rejected": "danger",
            "kept both": "info",
        },
    )
    def state_label(self, decision: Supersession) -> str:
        return decision.outcome

    def offers(self, row: Any, verb: Verb) -> bool:
        if verb.name in ("undo", "redo"):
            return undoing(row) == verb.name
        return row.state == State.PENDING

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        return verb.form(data, initial={"content": row.new.content}, auto_id=f"{prefix}-%s")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        [case] = decision_cards([row])
        return {"title": gettext("%(rule)s decision") % {"rule": row.rule}, "case": case}

    def do_approve(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        with telling_pair(row) as told:
            review.approve(self.scope(request, row), row.pk, as_typed(values["content"]))
        return str(told)

    def do_reject(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        with telling_pair(row) as told:
            review.reject(self.scope(request, row), row.pk, values["note"].strip())
        return str(told)

    def do_keep_both(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        with telling_pair(row) as told:
            review.keep_both(self.scope(request, row), row.pk)
        return str(told)

    def do_undo(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        with telling_pair(row) as told:
            if row.waited:
                review.reopen(self.scope(request, row), row.pk)
            else:
                review.undo(self.scope(request, row), row.pk)
        done = gettext("Taken back: it waits again.") if row.waited else gettext("Undone.")
        return f"{done} {told}".rstrip()

    def do_redo(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        with telling_pair(row) as told:
            review.redo(self.scope(request, row), row.pk)
        return f"{gettext('Applied again.')} {told}".rstrip()

    def empty(self, request: HttpRequest) -> Empty:
        if request.GET.get("state", "pending") == "pending":
            return Empty(
                gettext("Nothing waits for you"),
                gettext("Replacements that a person must approve appear here. Applied ones are under the filter."),
            )
        return Empty(gettext("No such decisions"))


@admin.register(Rejection)
class RejectionAdmin(MemoryRowAdmin):
    searched = "content"
    list_display = ("text", "person", "reason", "by", "created_at")
    actor_field = "rejected_by"
    list_select_related = ("workspace", "subject")
    list_filter = (("subject", PickFilter),)
    search_fields = ("content",)
    search_help_text = _("Words of the claim (newest 20,000)")
    page_template = "admin/memories/rejection.html"
    verbs = (
        Verb(
            "allow",
            _("Allow again"),
            "undo",
            "primary",
            _("When somebody says it again, it is learned again."),
            bulk=True,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace", "subject")

    @display(description=_("never learned again"))
    def text(self, rejection: Rejection) -> str:
        return text_column(rejection.content)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {"by": name_of(row.rejected_by)}

    @transaction.atomic
    def do_allow(self, request: HttpRequest, row: Rejection, values: dict[str, Any]) -> str:
        AuditEntry.line(
            row.workspace_id,
            actor_of(request.user),
            "allow_again",
            row,
            subject_id=row.subject_id,
            before={"content": row.content, "reason": row.reason}
            | ({"agent": str(row.agent_id)} if row.agent_id else {}),
        ).save()
        row.delete()
        return gettext("It may be learned again.")

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("Nothing was rejected yet"),
            gettext("Forget a memory as wrong, and what it says is not learned again."),
        )
