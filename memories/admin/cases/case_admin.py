"""Cases, which wait for a person and are decided and undone as one."""

import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_lazy
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from memories import ingest
from memories.admin.cases.case_cards import CHOICES, CHOICES_IN_DOUBT, card_of, case_cards, with_statements
from memories.admin.inbox.decide_page import DecidePage, DecisionResult
from memories.admin.inbox.inbox_page import MORNING, REST, FormerReviewPage, InboxCountPage, InboxPage
from memories.admin.memory_rows import MemoryRowAdmin, as_typed
from memories.belief import cases
from memories.belief.cases.case_decision import decision_by
from memories.belief.cases.inbox import RISKS, failed
from memories.belief.cases.outcome import case_told, telling
from memories.documents import document_store
from memories.models import Case, Supersession
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import PickFilter, StateFilter
from workspaces.adminbase.target_names import names_of
from workspaces.auth import as_uuid
from workspaces.models import Capability, Membership, Role
from workspaces.scope import Scope


class ApproveCaseForm(forms.Form):
    content = forms.CharField(
        required=False,
        max_length=100_000,
        label=gettext_lazy("The newest memory"),
        help_text=gettext_lazy("Change the words to edit it on the way."),
        widget=UnfoldAdminTextareaWidget,
    )


class SnoozeForm(forms.Form):
    days = forms.TypedChoiceField(choices=REST, coerce=int, label=gettext_lazy("Until"), widget=UnfoldAdminSelectWidget)

    def until(self) -> datetime:
        """Return the morning of the chosen day."""
        day = timezone.localtime() + timedelta(days=self.cleaned_data["days"])
        return day.replace(hour=MORNING, minute=0, second=0, microsecond=0)


class AssignForm(forms.Form):
    """A choice among the members of the row's workspace who are not viewers."""

    assignee = forms.ChoiceField(required=False, label=gettext_lazy("To"), widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, workspace_id: uuid.UUID, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Membership.objects.filter(workspace_id=workspace_id).exclude(role=Role.VIEWER)
        self.people = {str(each.pk): str(each.user) for each in rows.select_related("user")}
        field = self.fields["assignee"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "Nobody"), *sorted(self.people.items(), key=lambda each: each[1])]

    @property
    def member(self) -> uuid.UUID | None:
        return as_uuid(self.cleaned_data["assignee"]) if self.cleaned_data["assignee"] else None

    @property
    def sentence(self) -> str:
        chosen = self.cleaned_data["assignee"]
        return f"Given to {self.people[chosen]}." if chosen else "It is nobody's now."


WAYS = {*CHOICES, *CHOICES_IN_DOUBT}
SNOOZE = Verb("snooze", gettext_lazy("Put off"), "snooze", form=SnoozeForm)
WAKE = Verb("wake", gettext_lazy("Wake up"), "alarm")
ASSIGN = Verb("assign", gettext_lazy("Give to"), "person_add", form=AssignForm)
# Verbs for failures; the last two undo "leave" and "snooze".
OF_FAILURES = (
    Verb("retry", gettext_lazy("Try again"), "refresh", "primary"),
    Verb("leave", gettext_lazy("Leave it"), "close"),
    Verb("take-up", gettext_lazy("Undo"), "undo"),
    WAKE,
)


class CaseActPage(DecidePage):
    """DecidePage for cases and for failures, which are named `session:<id>`; what waits is called
    pending, as decisions are."""

    path, name = "act/", "memories_case_act"
    more_verbs = OF_FAILURES

    def decide_failure(self, asked: str, kind: str, row_id: uuid.UUID | None) -> DecisionResult:
        """Retry a failure, leave it, put it off, or give it to somebody."""
        rows = self.access.limit(failed(kind), "workspace", self.verb.capability)
        row = rows.filter(pk=row_id).first() if row_id else None
        if row is None:
            return DecisionResult(asked, False, gettext("It is well by now, or gone."), "gone")
        scope = self.access.scope(row.workspace_id)
        try:
            return self.act_on_failure(asked, kind, row, scope)
        except (*self.model_admin.all_refusals,) as refusal:
            return DecisionResult(asked, False, refusal_text(refusal), "pending")

    def act_on_failure(self, asked: str, kind: str, row: Any, scope: Scope) -> DecisionResult:
        done, data = partial(DecisionResult, asked, True), self.request.POST
        match self.verb.name:
            case "retry" if kind == "session":
                ingest.retry(scope, row)
                return done(gettext("Due again: the worker takes it up at once."), "decided", "")
            case "retry" if kind == "document":
                document_store.retry(scope, row.pk)
                return done(gettext("Due again: the worker takes it up at once."), "decided", "")
            case "leave" | "reject":
                cases.leave_failure(scope, row.pk)
                return done(gettext("Left as it is, until it fails anew."), "decided", "take-up")
            case "take-up":
                cases.leave_failure(scope, row.pk, is_left=False)
                return done(gettext("Taken back: it waits again."), "pending")
            case "snooze":
                rest = checked(SnoozeForm(data)).until()
                cases.snooze_failure(scope, row.pk, rest)
                return done(rest_words(rest), "snoozed", "wake")
            case "wake":
                cases.snooze_failure(scope, row.pk, None)
                return done(gettext("It waits again."), "pending")
            case "assign":
                form = checked(AssignForm(data, workspace_id=row.workspace_id))
                cases.assign_failure(scope, row.pk, form.member)
                return done(form.sentence, "pending", "assign")
        return DecisionResult(asked, False, gettext("That is not for a failure."), "pending")

    def decide(self, asked: str) -> DecisionResult:
        kind, _, named = asked.partition(":")
        if kind in RISKS:
            return self.decide_failure(asked, kind, as_uuid(named))
        admin, request, verb = self.model_admin, self.request, self.verb
        row_id, rows = as_uuid(asked), admin.get_queryset(request)
        row = rows.filter(pk=row_id).first() if row_id else None
        if row is None or not admin.may(request, verb.capability, row):
            return DecisionResult(asked, False, gettext("There is no such case."), "gone")
        if not admin.offers(row, verb):
            return DecisionResult(asked, False, decided_words(row), state_words(row))
        try:
            sentence = admin.act(request, row, verb, request.POST)
        except admin.all_refusals as refusal:
            now = rows.get(pk=row.pk)
            sentence = decided_words(now) if now.state != row.state else refusal_text(refusal)
            return DecisionResult(str(row.pk), False, sentence, state_words(now))
        undo = {"snooze": "wake", "assign": "assign"}.get(verb.name, "undo")
        return DecisionResult(asked, True, sentence, state_words(rows.get(pk=row.pk)), undo)


Filled = TypeVar("Filled", bound=forms.Form)


def checked(form: Filled) -> Filled:
    """Return a form that is filled well; raises ValidationError for others."""
    if not form.is_valid():
        raise forms.ValidationError([" ".join(map(str, each)) for each in form.errors.values()])
    return form


def rest_words(until: datetime) -> str:
    return f"Put off until {until:%A, %-d %B}."


def state_words(case: Case) -> str:
    return {"decided": "decided", "snoozed": "snoozed"}.get(case.state, "pending")


def decided_words(case: Case) -> str:
    """Return a sentence on what somebody else did to it, and when, for a person who comes too
    late."""
    if not case.is_decided:
        return "It waits again."
    name = names_of([case.decided_by]).get(case.decided_by, case.decided_by)
    since = timesince(case.decided_at or timezone.now(), timezone.now(), depth=1)
    return f"{name} decided it {'just now' if since.startswith('0') else f'{since} ago'}."


class KindFilter(StateFilter):
    title = gettext_lazy("kind")
    parameter_name = "kind"
    states = {**dict(Case.Kind.choices), "intent": gettext_lazy("Request")}


@admin.register(Case)
class CaseAdmin(MemoryRowAdmin):
    pages = (InboxPage, FormerReviewPage, InboxCountPage, CaseActPage)
    list_display = ("text", "kind_label", "state_label", "risk_label", "assignee", "created_at")
    list_filter = (
        ("state", ChoicesDropdownFilter),
        KindFilter,
        ("subject", PickFilter),
    )
    search_fields = ("attribute",)
    search_help_text = gettext_lazy("An attribute, or an id")
    page_template = "admin/memories/case_page.html"
    verbs = (
        Verb(
            "approve",
            gettext_lazy("The newest is right"),
            "check",
            "primary",
            gettext_lazy("The newest memory replaces all others."),
            ApproveCaseForm,
            bulk=True,
        ),
        Verb("keep-both", gettext_lazy("All are true"), "call_split", bulk=True),
        Verb(
            "reject",
            gettext_lazy("What was known is right"),
            "close",
            "danger",
            gettext_lazy("What waits is forgotten and not learned again; the others stay."),
            bulk=True,
        ),
        Verb("decide", gettext_lazy("Decide as chosen"), "rule"),
        SNOOZE,
        WAKE,
        ASSIGN,
        Verb(
            "undo",
            gettext_lazy("Undo"),
            "undo",
            question=gettext_lazy("Everything is as it was, and waits again."),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return with_statements(super().get_queryset(request))

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        super().prepare(request, rows)
        for row, card in zip(rows, case_cards(rows), strict=True):
            vars(row)["card"] = card

    @display(description=gettext_lazy("question"))
    def text(self, case: Case) -> str:
        return card_of(case).question

    @display(description=gettext_lazy("kind"))
    def kind_label(self, case: Case) -> str:
        return str(KindFilter.states[case.kind])

    @display(
        description=gettext_lazy("state"),
        label={"open": "warning", "decided": "success", "snoozed": "info", "at work": "info"},
    )
    def state_label(self, case: Case) -> str:
        return "at work" if card_of(case).work else case.state

    @display(description=gettext_lazy("risk"))
    def risk_label(self, case: Case) -> str:
        return f"{case.risk_now:.2f}"

    def offers(self, row: Any, verb: Verb) -> bool:
        if verb.name == "undo":
            return row.is_decided and bool(row.steps)
        if verb.name == "wake":
            return row.state == Case.State.SNOOZED
        return not row.is_decided

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        if verb is ASSIGN:
            own = {"assignee": str(row.assignee_id or "")}
            return AssignForm(data, workspace_id=row.workspace_id, initial=own, auto_id=f"{prefix}-%s")
        if verb is SNOOZE:
            return SnoozeForm(data, auto_id=f"{prefix}-%s")
        newest = card_of(row).newest
        return verb.form(data, initial={"content": newest.content if newest else ""}, auto_id=f"{prefix}-%s")

    def buttons(self, request: HttpRequest, row: Any) -> list[Any]:
        """Return the buttons, labelled by their effect on this case. On a case's own page the
        choices stand beside the statements, in a form of their own."""
        named = {each.verb: each.label for each in card_of(row).buttons}
        deciding = {"approve", "keep-both", "reject"}
        found = []
        for button in super().buttons(request, row):
            verb = button.verb
            if verb.name in named:
                found.append(self.button(row, self.named_verb(row, verb, named[verb.name])))
            elif verb.name != "decide" and verb.name not in deciding:
                found.append(button)
        return found

    @staticmethod
    def named_verb(row: Any, verb: Verb, label: str) -> Verb:
        """Return the verb with this label; its form can change the newest memory's words, if there
        is one."""
        card, question = card_of(row), verb.question
        if card.orders:
            question = gettext("What the message asks for is done.")
        elif card.is_about_end:
            question = gettext("It is believed no more, and learned again when it is said again.")
        question = question if verb.name == "approve" or not card.orders else ""
        return replace(
            verb,
            label=label,
            form=verb.form if card.newest else None,
            question=question if verb.question else "",
        )

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        card = card_of(row)
        may_decide = not row.is_decided and self.may(request, Capability.CURATE, row)
        return {
            "title": card.question,
            "card": card,
            "told": case_told(row),
            "may_decide": may_decide,
        }

    def _decide(self, request: HttpRequest, row: Case, verb: str, content: str = "") -> str:
        """Carry out the decision and return its result in words."""
        card = card_of(row)
        chosen = {
            name.removeprefix("choice-"): str(way)
            for name, way in request.POST.items()
            if name.startswith("choice-") and way in WAYS
        }
        scope = self.scope(request, row)
        said = decision_by(
            verb,
            [each.item for each in card.statements],
            card.newest,
            {pk for order in card.orders for pk in order.memory_ids},
            content=content,
            chosen=chosen,
        )
        decided = cases.decide_case(scope, row.pk, said)
        if not card.orders:
            return case_told(decided) or gettext("Decided.")
        asked = gettext("Done as asked.") if verb != "reject" else gettext("Left as it is.")
        return f"{asked} {case_told(decided)}".rstrip()

    def do_approve(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        return self._decide(request, row, "approve", as_typed(values.get("content", "")))

    def do_keep_both(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        return self._decide(request, row, "keep-both")

    def do_reject(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        return self._decide(request, row, "reject")

    def do_decide(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        return self._decide(request, row, "decide")

    def do_snooze(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        rest = checked(SnoozeForm(request.POST)).until()
        cases.snooze_case(self.scope(request, row), row.pk, rest)
        return rest_words(rest)

    def do_wake(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        cases.snooze_case(self.scope(request, row), row.pk, None)
        return gettext("It waits again.")

    def do_assign(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        form = checked(AssignForm(request.POST, workspace_id=row.workspace_id))
        cases.assign_case(self.scope(request, row), row.pk, form.member)
        return form.sentence

    def do_undo(self, request: HttpRequest, row: Case, values: dict[str, Any]) -> str:
        ids = [item.memory_id for item in row.items.all() if item.memory_id]
        with telling(ids) as told:
            cases.undo_case(self.scope(request, row), row.pk)
        return f"{gettext('Taken back: it waits again.')} {told}".rstrip()

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(gettext("No such cases"), gettext("What a machine may not decide alone appears here."))


# Supersessions: replacements of one memory by another, and those that wait for a person.

State = Supersession.State
