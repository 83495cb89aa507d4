"""Cases: what waits for a person, decided as one and taken back as one."""

from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextareaWidget

from memories import cases
from memories.admin.case_cards import CHOICES, CaseCard, case_cards, decision_by, with_statements
from memories.admin.memory_rows import MemoryRowAdmin, as_typed
from memories.admin.review_page import DecidePage, DecisionResult, PendingCountPage, ReviewPage
from memories.english.plain_words import attribute_words
from memories.models import Case
from workspaces.adminbase.actors import names_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import PickFilter
from workspaces.auth import as_uuid
from workspaces.models import Capability


class ApproveCaseForm(forms.Form):
    content = forms.CharField(
        required=False,
        max_length=100_000,
        label="The newest memory",
        help_text="Change the words to edit it on the way.",
        widget=UnfoldAdminTextareaWidget,
    )


# What the same buttons are called where somebody asked something of the memory.
ORDER_VERBS = {
    "approve": Verb("approve", "Do it", "check", "primary", "What the message asks for is done."),
    "reject": Verb("reject", "Leave it", "close", "danger"),
}


class CaseActPage(DecidePage):
    """The same of cases; one that waits is called pending, as a decision is."""

    path, name = "act/", "memories_case_act"

    def decide(self, asked: str) -> DecisionResult:
        admin, request, verb = self.model_admin, self.request, self.verb
        row_id, rows = as_uuid(asked), admin.get_queryset(request)
        row = rows.filter(pk=row_id).first() if row_id else None
        if row is None or not admin.may(request, verb.capability, row):
            return DecisionResult(asked, False, "There is no such case.", "gone")
        if not admin.offers(row, verb):
            return DecisionResult(asked, False, decided_words(row), state_words(row))
        try:
            sentence = admin.act(request, row, verb, request.POST)
        except admin.all_refusals as refusal:
            now = rows.get(pk=row.pk)
            sentence = decided_words(now) if now.state != row.state else refusal_text(refusal)
            return DecisionResult(str(row.pk), False, sentence, state_words(now))
        return DecisionResult(asked, True, sentence, state_words(rows.get(pk=row.pk)))


def state_words(case: Case) -> str:
    return "decided" if case.is_decided else "pending"


def decided_words(case: Case) -> str:
    """What somebody else did to it, and when, for whoever comes too late."""
    if not case.is_decided:
        return "It waits again."
    name = names_of([case.decided_by]).get(case.decided_by, case.decided_by)
    since = timesince(case.decided_at or timezone.now(), timezone.now(), depth=1)
    return f"{name} decided it {'just now' if since.startswith('0') else f'{since} ago'}."


class CaseAdmin(MemoryRowAdmin):
    pages = (ReviewPage, PendingCountPage, CaseActPage)
    list_display = ("text", "kind_label", "state_label", "risk_label", "assignee", "created_at")
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
        ("subject", PickFilter),
    )
    search_fields = ("attribute",)
    search_help_text = "An attribute, or an id"
    page_template = "admin/memories/case_page.html"
    verbs = (
        Verb(
            "approve", "Approve", "check", "primary",
            "The newest memory replaces all others.", ApproveCaseForm, bulk=True,
        ),
        Verb("keep-both", "Keep all", "call_split", bulk=True),
        Verb(
            "reject", "Reject", "close", "danger",
            "What waits is forgotten and not learned again; the others stay.", bulk=True,
        ),
        Verb("decide", "Decide as chosen", "rule"),
        Verb("undo", "Undo", "undo", question="Everything is as it was, and waits again."),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        return with_statements(super().get_queryset(request))

    @display(description="about")
    def text(self, case: Case) -> str:
        return f"{case.subject or 'nobody'}: {attribute_words(case.attribute)}"

    @display(description="kind")
    def kind_label(self, case: Case) -> str:
        return case.get_kind_display()

    @display(
        description="state", label={"open": "warning", "decided": "success", "snoozed": "info"}
    )
    def state_label(self, case: Case) -> str:
        return case.state

    @display(description="risk")
    def risk_label(self, case: Case) -> str:
        return f"{case.risk_now:.2f}"

    def offers(self, row: Any, verb: Verb) -> bool:
        if verb.name == "undo":
            return row.is_decided and bool(row.steps)
        return not row.is_decided

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        newest = case_cards([row])[0].newest
        return verb.form(
            data, initial={"content": newest.content if newest else ""}, auto_id=f"{prefix}-%s"
        )

    def buttons(self, request: HttpRequest, row: Any) -> list[Any]:
        """On a page of its own the choices stand beside the statements, in their own form."""
        own = ORDER_VERBS if case_cards([row])[0].orders else {}
        return [
            self.button(row, own.get(button.verb.name, button.verb))
            for button in super().buttons(request, row)
            if button.verb.name != "decide" and not (own and button.verb.name == "keep-both")
        ]

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        [card] = case_cards([row])
        may_decide = not row.is_decided and self.may(request, Capability.CURATE, row)
        return {"title": f"{card.about}: a case", "card": card, "may_decide": may_decide}

    def _decide(self, request: HttpRequest, row: Case, verb: str, content: str = "") -> CaseCard:
        [card] = case_cards([row])
        chosen = {
            name.removeprefix("choice-"): str(way)
            for name, way in request.POST.items()
            if name.startswith("choice-") and way in CHOICES
        }
        scope = self.scope(request, row)
        cases.decide_case(scope, row.pk, decision_by(card, verb, content, chosen))
        return card

    def do_approve(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        card = self._decide(request, row, "approve", as_typed(values["content"]))
        return "Done as asked." if card.orders else "Approved: the newest is believed."

    def do_keep_both(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        self._decide(request, row, "keep-both")
        return "All are believed."

    def do_reject(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        card = self._decide(request, row, "reject")
        return "Left as it is." if card.orders else "Rejected: what was believed stays."

    def do_decide(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        self._decide(request, row, "decide")
        return "Decided as chosen."

    def do_undo(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        cases.undo_case(self.scope(request, row), row.pk)
        return "Taken back: it waits again."

    def empty(self, request: HttpRequest) -> Empty:
        return Empty("No such cases", "What a machine may not decide alone appears here.")
