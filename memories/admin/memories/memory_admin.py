"""Memories: their present text and state, with the whole chain of versions in view."""

from datetime import UTC, date, datetime, time
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, F, Max, QuerySet, Sum
from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from memories.admin.jump_page import JumpPage
from memories.admin.memories.memory_list import MemoryList, day_value
from memories.admin.memories.memory_timeline import chain_as_of, timeline
from memories.admin.memory_rows import as_typed, ingest_hint
from memories.admin.quality.golden_page import GoldenPage
from memories.admin.search.search_page import SearchPage
from memories.admin.search.why_not_page import WhyNotPage
from memories.admin.settings.visibility_page import VisibilityPage
from memories.belief import cases, review
from memories.language.bounds import LONGEST_ID
from memories.meters import search_counts
from memories.models import (
    Category,
    Memory,
    MemoryUse,
    SearchUse,
    Supersession,
    Visibility,
    versions_of,
)
from memories.models.memory import memories_seen_by
from memories.reading.guard.masked_text import is_masked
from workspaces.adminbase.list_admin import Empty
from workspaces.adminbase.row_admin import Button, Verb, back_to
from workspaces.adminbase.target_names import names_of
from workspaces.keys import narrowed
from workspaces.models import ApiKey, Capability
from workspaces.scope import Scope
from workspaces.time_zones import day_of

REASONS = {
    "wrong": "It is wrong: never learn it again",
    "outdated": "It is outdated",
    "private": "It is private",
    "": "Another reason",
}
OF_LISTS = ("category", "visibility", "end-date")


# By visibility, and whether an agent wrote it.
SEEN_BY = {
    ("private", True): gettext_lazy("only the agent that wrote it"),
    ("private", False): gettext_lazy("no agent, only keys of the whole workspace"),
    ("team", True): gettext_lazy("the agents of its agent's team"),
    ("team", False): gettext_lazy("the agents without a team"),
    ("global", True): gettext_lazy("every agent of the workspace"),
    ("global", False): gettext_lazy("every agent of the workspace"),
}
MOST_READERS = 20


def as_day(at: datetime | None) -> date | None:
    return day_of(at) if at else None


def day_begins(day: date | None) -> datetime | None:
    """Return a day without a time, as it is stored: its midnight in UTC."""
    return datetime.combine(day, time(), UTC) if day else None


def day_input() -> Any:
    return UnfoldAdminTextInputWidget(attrs={"type": "date"})


def readers(row: Memory) -> list[ApiKey]:
    """Return the keys that can read a memory now, the last used first."""
    live = ApiKey.objects.filter(workspace=row.workspace_id, revoked_at=None)
    live = live.exclude(expires_at__lte=timezone.now())
    live = live.filter(capabilities__contains=[Capability.READ]).select_related("agent")
    keys = list(
        live.prefetch_related("subjects").order_by(F("last_used_at").desc(nulls_last=True), "-pk")[:MOST_READERS]
    )
    whole = Scope(row.workspace_id, "", frozenset({Capability.READ}))
    asked: dict[str, Any] = {}
    for place, key in enumerate(keys):
        seen = memories_seen_by(narrowed(whole, key))
        asked[f"key_{place}"] = Count("pk", filter=seen)
    sees = Memory.objects.filter(pk=row.pk).aggregate(**asked) if asked else {}
    return [key for place, key in enumerate(keys) if sees[f"key_{place}"]]


def _by_asker(rows: QuerySet[Any], counted: str) -> list[dict[str, Any]]:
    """Return how `often` and when `last` for each asker, with a `name`, the latest first."""
    sums = rows.values("actor").annotate(last=Max("day"), often=Sum(counted))
    found = list(sums.order_by("-last", "-often", "actor")[:MOST_READERS])
    names = names_of(each["actor"] for each in found)
    return [each | {"name": names.get(each["actor"], each["actor"])} for each in found]


def asked_lately(row: Memory) -> list[dict[str, Any]]:
    """Return who has searched for what is known of the memory's person since it was learned, and
    how often, the latest first: as far back as searches are counted."""
    rows = SearchUse.objects.filter(workspace=row.workspace_id, subject=row.subject_id)
    return _by_asker(rows.filter(day__gte=row.created_at.astimezone(UTC).date()), "searches")


def served_to(row: Memory) -> list[dict[str, Any]]:
    """Return whose searches had this version among their hits, and how often, the latest first."""
    return _by_asker(MemoryUse.objects.filter(workspace=row.workspace_id, memory=row), "times")


class ForgetForm(forms.Form):
    reason = forms.ChoiceField(
        choices=list(REASONS.items()),
        required=False,
        initial="outdated",
        widget=UnfoldAdminSelectWidget,
    )
    note = forms.CharField(
        required=False,
        max_length=500,
        label=gettext_lazy("In your words"),
        help_text=gettext_lazy("Kept beside the reason, unless it is wrong."),
        widget=UnfoldAdminTextInputWidget,
    )
    messages = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Also the messages it stands on"),
        help_text=gettext_lazy(
            "If it is wrong or private: its words are taken out of them, of documents, and of what"
            " an assistant repeated. Not ticked, they can still be found as messages."
        ),
        widget=UnfoldBooleanWidget,
    )


class CorrectForm(forms.Form):
    """A correction. A field that is not sent stays as it is."""

    content = forms.CharField(max_length=100_000, widget=UnfoldAdminTextareaWidget)
    category = forms.ChoiceField(choices=Category.choices, required=False, widget=UnfoldAdminSelectWidget)
    visibility = forms.ChoiceField(
        choices=Visibility.choices,
        required=False,
        label=gettext_lazy("Seen by"),
        widget=UnfoldAdminSelectWidget,
    )
    valid_from = forms.DateField(required=False, label=gettext_lazy("True from"), widget=day_input())
    valid_until = forms.DateField(required=False, label=gettext_lazy("True until"), widget=day_input())
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        begin, end = values.get("valid_from"), values.get("valid_until")
        if begin and end and end < begin:
            raise forms.ValidationError({"valid_until": gettext("It must not end before it begins.")})
        return values


class NewCategoryForm(forms.Form):
    category = forms.ChoiceField(choices=Category.choices, widget=UnfoldAdminSelectWidget)


class NewVisibilityForm(forms.Form):
    visibility = forms.ChoiceField(
        choices=Visibility.choices,
        label=gettext_lazy("Seen by"),
        help_text=gettext_lazy(
            "private: its own agent and person; team: agents of the team; global: everybody in the workspace."
        ),
        widget=UnfoldAdminSelectWidget,
    )


class EndDateForm(forms.Form):
    valid_until = forms.DateField(
        required=False,
        label=gettext_lazy("True until"),
        help_text=gettext_lazy("The first day on which it is true no more. Empty: it is true without an end."),
        widget=day_input(),
    )


class MoveForm(forms.Form):
    user = forms.CharField(
        max_length=LONGEST_ID,
        label=gettext_lazy("To the person"),
        help_text=gettext_lazy("The userId of whom it is about. Its versions and facts go with it."),
        widget=UnfoldAdminTextInputWidget,
    )


@admin.register(Memory)
class MemoryAdmin(MemoryList):
    pages = (SearchPage, VisibilityPage, WhyNotPage, GoldenPage, JumpPage)
    page_template = "admin/memories/memory.html"
    verbs = (
        Verb(
            "correct",
            gettext_lazy("Correct"),
            "edit",
            "primary",
            gettext_lazy("New words make a new version; both stay in the chain."),
            CorrectForm,
        ),
        Verb("pin", gettext_lazy("Pin"), "keep", question="", bulk=True),
        Verb("unpin", gettext_lazy("Unpin"), "keep_off", bulk=True),
        Verb(
            "category",
            gettext_lazy("Change category"),
            form=NewCategoryForm,
            bulk=True,
            bulk_form=NewCategoryForm,
        ),
        Verb(
            "visibility",
            gettext_lazy("Change who sees it"),
            form=NewVisibilityForm,
            bulk=True,
            bulk_form=NewVisibilityForm,
        ),
        Verb(
            "end-date",
            gettext_lazy("Set the end date"),
            form=EndDateForm,
            bulk=True,
            bulk_form=EndDateForm,
        ),
        Verb(
            "move",
            gettext_lazy("Move to person"),
            "person_edit",
            form=MoveForm,
            bulk=True,
            bulk_form=MoveForm,
            question=gettext_lazy("Its versions and facts are about somebody else from now on."),
        ),
        Verb("case", gettext_lazy("Make a case"), "rule"),
        Verb("restore", gettext_lazy("Restore"), "restore_from_trash", "primary", bulk=True),
        Verb(
            "forget",
            gettext_lazy("Forget"),
            "delete",
            "danger",
            gettext_lazy(
                "It goes from what is believed, from profiles and from what agents are told. Wrong"
                " or private: its words go from everything that is shown, here too. Outdated or"
                " another reason: its message stays, and can still be found by a search. That it"
                " was forgotten stays in the audit. All of it can be restored."
            ),
            ForgetForm,
            bulk=True,
            bulk_form=ForgetForm,
        ),
    )

    def offers(self, row: Any, verb: Verb) -> bool:
        is_head = row.is_live
        return {
            "correct": is_head,
            "pin": is_head and not row.pinned,
            "unpin": is_head and row.pinned,
            "case": is_head,
            "category": is_head,
            "visibility": is_head,
            "end-date": is_head,
            "move": is_head,
            "forget": row.state not in ("forgotten", "superseded"),
            "restore": row.may_return or row.state == "expired",
        }[verb.name]

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        """Leave out the verbs of the list: the page's form to correct a memory has them all."""
        buttons = super().buttons(request, row)
        return [each for each in buttons if each.verb.name not in OF_LISTS]

    def landing(self, row: Any, verb: Verb) -> Any:
        """Lead a correction to the newest version, whoever wrote it."""
        if verb.name != "correct" or row.superseded_by_id is None:
            return row
        newer = Memory.objects.filter(pk__in=versions_of(row.pk), superseded_by=None)
        return newer.select_related("workspace", "subject").first() or row

    def sent_again(self, row: Any, data: QueryDict) -> QueryDict:
        """Return the form with the current version, which the person has seen by then."""
        again = data.copy()
        if "version" in again:
            again["version"] = str(row.version)
        return again

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        initial = {
            "content": row.content,
            "category": row.category,
            "visibility": row.visibility,
            "valid_from": day_value(row.valid_from),
            "valid_until": day_value(row.valid_until),
            "version": row.version,
        }
        return verb.form(data, initial=initial, auto_id=f"{prefix}-%s")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        story = timeline(self.scope(request, row), row)
        decided = (v.decision for v in reversed(story.versions) if v.decision is not None)
        undo: list[Any] = []  # the button that undoes the last replacement
        undone = self.page_of(row)  # the page that follows: of the memory that is believed again
        if last := next(decided, None):
            undo = self.admin_site.get_model_admin(Supersession).buttons(request, last)
            undone = self.page_of(last.old)
        return {
            "state": row.state,
            "is_masked": is_masked(row.content),
            "story": story,
            "look": chain_as_of(
                request.GET,
                [version.memory for version in story.versions],
                [version.lives for version in story.versions],
            ),
            "head": next((v.memory for v in story.versions if v.state == "live"), None),
            "waiting": [d for d in story.others if d.state == Supersession.State.PENDING],
            "undo": undo,
            "undone": undone,
            "back": self.page_of(row),
            "may_curate": self.may(request, Capability.CURATE, row),
            "seen_by": SEEN_BY[row.visibility, row.agent_id is not None],
            "asked": asked_lately(row) if self.may(request, Capability.CURATE, row) else None,
            "served": served_to(row) if self.may(request, Capability.CURATE, row) else None,
            "kept_days": search_counts.KEPT.days,
            "readers": readers(row) if self.may(request, Capability.ADMIN, row) else None,
        }

    def do_correct(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        content = as_typed(values["content"])
        changes = {name: values[name] for name in ("category", "visibility") if values[name]}
        for name in ("valid_from", "valid_until"):
            if name in request.POST and values[name] != as_day(getattr(row, name)):
                changes[name] = day_begins(values[name])
        version = row.version if values["version"] is None else values["version"]
        changes |= {"content": content}
        made = review.edit(self.scope(request, row), row.pk, changes, expected_version=version)
        if content == row.content:
            return gettext("Changed.")
        return self.with_way_back(request, made, gettext("Corrected: the new version is live."))

    def with_way_back(self, request: HttpRequest, row: Memory, words: str) -> str:
        """Add a link to undo, where the form was sent from another page than the memory's own."""
        if back_to(request) in ("", self.page_of(row)):
            return words
        return format_html(
            '{} <a class="desk-link" href="{}">{}</a>',
            words,
            self.page_of(row),
            gettext("Look at it, or take it back"),
        )

    def do_category(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.edit(self.scope(request, row), row.pk, {"category": values["category"]})
        return gettext("Changed.")

    def do_visibility(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.edit(self.scope(request, row), row.pk, {"visibility": values["visibility"]})
        return gettext("Changed.")

    def do_end_date(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        end = day_begins(values["valid_until"])
        if end and row.valid_from and end < row.valid_from:
            raise forms.ValidationError(gettext("“%(row)s” would end before it begins.") % {"row": row})
        review.edit(self.scope(request, row), row.pk, {"valid_until": end})
        return gettext("Changed.")

    def do_move(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.move(self.scope(request, row), [row.pk], values["user"])
        return gettext("It is about %(user)s now.") % {"user": values["user"]}

    def do_pin(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.edit(self.scope(request, row), row.pk, {"pinned": True})
        return gettext("Pinned: no machine replaces it without a person.")

    def do_unpin(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.edit(self.scope(request, row), row.pk, {"pinned": False})
        return gettext("Unpinned.")

    def do_case(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        cases.ask_case(self.scope(request, row), row.pk)
        return gettext("It waits in the Inbox for somebody to decide.")

    def do_restore(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.restore(self.scope(request, row), row.pk)
        return gettext("Restored: it is believed again.")

    def do_forget(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        reason, note = values["reason"], values["note"].strip()
        if note and reason != review.WRONG:  # WRONG is a word for machines, too
            reason = f"{reason}: {note}" if reason else note
        kept = "" if values["messages"] else review.KEEP
        review.forget(self.scope(request, row), row.pk, reason, kept)
        if reason == review.WRONG:
            return self.with_way_back(request, row, gettext("Forgotten. It will not be learned again."))
        if reason.startswith(review.PRIVATE):
            told = gettext("Forgotten. If it is said again, you are asked.")
            return self.with_way_back(request, row, told)
        return self.with_way_back(request, row, gettext("Forgotten."))

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(request, gettext("No memories yet"))
