"""Supersessions: what replaced what, and what waits for a person to decide."""

from typing import Any

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories import review
from memories.admin.decision_cards import decision_cards, undoing
from memories.admin.inbox_page import DecidedPage, DecidePage
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, text_column
from memories.admin.workspace_settings_admin import PolicyPage
from memories.models import Rejection, Supersession
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.actors import name_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry

State = Supersession.State

# Rules by which a memory took another's place without contradicting it.
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
    note = forms.CharField(
        required=False, max_length=500, label=_("Why"), widget=UnfoldAdminTextInputWidget
    )


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


class SupersessionAdmin(MemoryRowAdmin):
    pages = (DecidePage, DecidedPage, PolicyPage)
    list_display = ("was", "becomes", "rule", "score", "state_label", "by", "decided_at")
    actor_field = "decided_by"
    list_select_related = ("workspace", "old", "new")
    list_filter = (DecisionFilter, DayFilter)
    search_fields = ("rule",)
    search_help_text = _("An id of the decision or of a memory, or a rule")
    page_template = "admin/memories/supersession.html"
    verbs = (
        Verb(
            "approve", _("Approve"), "check", "primary",
            _("The new memory replaces the old one."), ApproveForm, bulk=True,
        ),
        Verb("keep-both", _("Keep both"), "call_split", bulk=True),
        Verb(
            "reject", _("Reject"), "close", "danger",
            _("The old memory stays, the new one is not learned again."), RejectForm, bulk=True,
        ),
        Verb(
            "undo", _("Undo"), "undo",
            question=_("Both memories are as they were before it was decided."),
        ),
        Verb("redo", _("Apply again"), "redo"),
    )  # fmt: skip

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
        review.approve(self.scope(request, row), row.pk, as_typed(values["content"]))
        return gettext("Approved: the new memory is live.")

    def do_reject(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        review.reject(self.scope(request, row), row.pk, values["note"].strip())
        return gettext("Rejected: the old memory stays.")

    def do_keep_both(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        review.keep_both(self.scope(request, row), row.pk)
        return gettext("Both are live.")

    def do_undo(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        if row.waited:
            review.reopen(self.scope(request, row), row.pk)
            return gettext("Taken back: it waits again.")
        review.undo(self.scope(request, row), row.pk)
        return gettext("Undone: the old memory is live again.")

    def do_redo(self, request: HttpRequest, row: Supersession, values: dict[str, Any]) -> str:
        review.redo(self.scope(request, row), row.pk)
        return gettext("Applied again: the new memory is live.")

    def empty(self, request: HttpRequest) -> Empty:
        if request.GET.get("state", "pending") == "pending":
            return Empty(
                gettext("Nothing waits for you"),
                gettext(
                    "Replacements that a person must approve appear here."
                    " Applied ones are under the filter."
                ),
            )
        return Empty(gettext("No such decisions"))


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
            "allow", _("Allow again"), "undo", "primary",
            _("When somebody says it again, it is learned again."), bulk=True,
        ),
    )  # fmt: skip

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
            before={"content": row.content, "reason": row.reason},
        ).save()
        row.delete()
        return gettext("It may be learned again.")

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("Nothing was rejected yet"),
            gettext("Forget a memory as wrong, and what it says is not learned again."),
        )
