"""Cases, which wait for a person and are decided and undone as one; and supersessions, in which one
memory replaced another."""

import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories import cases, ingest, review
from memories.admin.case_and_decision_cards import (
    CHOICES,
    CHOICES_IN_DOUBT,
    card_of,
    case_cards,
    decision_cards,
    undoing,
    with_statements,
)
from memories.admin.decided_page import DecidedPage, TakeBackPage
from memories.admin.inbox_page import (
    MORNING,
    REST,
    DecidePage,
    DecisionResult,
    FormerReviewPage,
    InboxCountPage,
    InboxPage,
)
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, text_column
from memories.admin.workspace_settings_admin import PolicyPage
from memories.cases.case_decision import decision_by
from memories.cases.inbox import RISKS, failed
from memories.cases.outcome import case_told, telling, telling_pair
from memories.documents import document_store
from memories.models import Case, Rejection, Supersession
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.acts_and_actors import name_of, names_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry, Capability, Membership, Role
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
    days = forms.TypedChoiceField(
        choices=REST, coerce=int, label=gettext_lazy("Until"), widget=UnfoldAdminSelectWidget
    )

    def until(self) -> datetime:
        """Return the morning of the chosen day."""
        day = timezone.localtime() + timedelta(days=self.cleaned_data["days"])
        return day.replace(hour=MORNING, minute=0, second=0, microsecond=0)


class AssignForm(forms.Form):
    """A choice among the members of the row's workspace who are not viewers."""

    assignee = forms.ChoiceField(
        required=False, label=gettext_lazy("To"), widget=UnfoldAdminSelectWidget
    )

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
        label={"open": "warning", "decided": "success", "snoozed": "info"},
    )
    def state_label(self, case: Case) -> str:
        return case.state

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
            return AssignForm(
                data, workspace_id=row.workspace_id, initial=own, auto_id=f"{prefix}-%s"
            )
        if verb is SNOOZE:
            return SnoozeForm(data, auto_id=f"{prefix}-%s")
        newest = card_of(row).newest
        return verb.form(
            data, initial={"content": newest.content if newest else ""}, auto_id=f"{prefix}-%s"
        )

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
            verb, label=label, form=verb.form if card.newest else None,
            question=question if verb.question else "",
        )  # fmt: skip

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
        return Empty(
            gettext("No such cases"), gettext("What a machine may not decide alone appears here.")
        )


# Supersessions: replacements of one memory by another, and those that wait for a person.

State = Supersession.State

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
    pages = (DecidePage, DecidedPage, TakeBackPage, PolicyPage)
    list_display = ("was", "becomes", "rule", "score", "state_label", "by", "decided_at")
    actor_field = "decided_by"
    list_select_related = ("workspace", "old", "new")
    list_filter = (DecisionFilter, DayFilter)
    search_fields = ("rule",)
    search_help_text = _("An id of the decision or of a memory, or a rule")
    page_template = "admin/memories/supersession.html"
    verbs = (
        Verb(
            "approve", _("The newer is right"), "check", "primary",
            _("The new memory replaces the old one."), ApproveForm, bulk=True,
        ),
        Verb("keep-both", _("Both are true"), "call_split", bulk=True),
        Verb(
            "reject", _("The older is right"), "close", "danger",
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
