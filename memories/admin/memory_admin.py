"""Memories: what is believed, with the whole chain in view."""

from typing import Any

from django import forms
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories import cases, review
from memories.admin.golden_page import GoldenPage
from memories.admin.jump_page import JumpPage
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, ingest_hint, one_line
from memories.admin.memory_timeline import chain_as_of, timeline
from memories.admin.policy_page import VisibilityPage
from memories.admin.search_page import SearchPage, WhyNotPage
from memories.models import (
    DueVector,
    Layer,
    Memory,
    MemoryState,
    Supersession,
    expired_memories,
    versions_of,
)
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.models import Capability

REASONS = {
    "wrong": "It is wrong: never learn it again",
    "outdated": "It is outdated",
    "private": "It is private",
    "": "Another reason",
}
PIN = mark_safe(
    '<span class="desk-pin material-symbols-outlined" title="pinned" role="img"'
    ' aria-label="pinned">keep</span>'
)


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
        label="In your words",
        help_text="Kept beside the reason, unless it is wrong.",
        widget=UnfoldAdminTextInputWidget,
    )


class CorrectForm(forms.Form):
    content = forms.CharField(max_length=100_000, widget=UnfoldAdminTextareaWidget)


def said_twice(rows: Any) -> Any:
    """Of live memories those whose text another one about the same subject has, too."""
    # The first look reads an index alone and leaves few rows for the second, which knows the clock.
    texts = (
        rows.order_by()
        .filter(is_head=True)
        .values("workspace", "fingerprint")
        .annotate(same=Count("pk"))
    )
    others = rows.model.objects.live().filter(
        workspace=OuterRef("workspace"), fingerprint=OuterRef("fingerprint")
    )
    others = others.exclude(pk=OuterRef("pk"))
    alike = Q(Exists(others.filter(subject=OuterRef("subject"))))
    of_nobody = Q(Exists(others.filter(subject=None)), subject=None)
    return rows.live().filter(
        alike | of_nobody, fingerprint__in=texts.filter(same__gt=1).values("fingerprint")
    )


class LifeFilter(StateFilter):
    """What we believe now, and what we do not (any more, or yet)."""

    first = MemoryState.LIVE.value
    states = {
        **dict(MemoryState.choices),
        "twice": "Live, and the same text twice",
        "unembedded": "Without a vector yet",
    }

    def narrow(self, rows: Any, state: str) -> QuerySet[Any]:
        if state == "twice":
            return said_twice(rows)
        if state == "unembedded":
            due = DueVector.objects.filter(entry__layer=Layer.MEMORIES)
            return rows.filter(pk__in=due.values("entry__item"))
        if state == MemoryState.LIVE:
            return rows.live()
        # What was superseded and then forgotten is both.
        wanted = {
            MemoryState.SUPERSEDED: Q(superseded_by__isnull=False),
            MemoryState.FORGOTTEN: Q(forgotten_at__isnull=False),
            MemoryState.HELD: Q(held_at__isnull=False, forgotten_at=None),
            MemoryState.EXPIRED: expired_memories() & Q(is_head=True),
        }
        return rows.filter(wanted[MemoryState(state)])


class MemoryAdmin(MemoryRowAdmin):
    pages = (SearchPage, VisibilityPage, WhyNotPage, GoldenPage, JumpPage)
    searched = "content"
    layer = Layer.MEMORIES
    list_display = (
        "text", "subject", "category", "fact_type", "version", "sources", "state", "learned",
    )  # fmt: skip
    list_select_related = ("workspace", "subject")
    list_filter = (
        LifeFilter,
        ("subject", PickFilter),
        DayFilter,
        ("category", ChoicesDropdownFilter),
        ("fact_type", ChoicesDropdownFilter),
        ("visibility", ChoicesDropdownFilter),
        ("scope", ChoicesDropdownFilter),
        ("source", ChoicesDropdownFilter),
        ("pinned", BooleanRadioFilter),
    )
    search_fields = ("content",)
    search_help_text = "Words that the memory contains, or its id"
    page_template = "admin/memories/memory.html"
    verbs = (
        Verb(
            "correct", "Correct", "edit", "primary",
            "A new version replaces this one; both stay in the chain.", CorrectForm,
        ),
        Verb("pin", "Pin", "keep", question=""),
        Verb("unpin", "Unpin", "keep_off"),
        Verb("case", "Make a case", "rule"),
        Verb("restore", "Restore", "restore_from_trash", "primary"),
        Verb(
            "forget", "Forget", "delete", "danger",
            "No search finds it any more. It can be restored.", ForgetForm,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        return rows.select_related("workspace", "subject", "agent", "conversation")

    def is_indexed(self, request: HttpRequest) -> bool:
        # The trigrams hold live memories only.
        return request.GET.get("state", "live") == "live"

    @display(description="memory")
    def text(self, memory: Memory) -> str:
        pin = PIN if memory.pinned else ""
        return format_html('<span class="desk-told">{}{}</span>', pin, one_line(memory.content))

    @display(description="sources")
    def sources(self, memory: Memory) -> int:
        return memory.source_count

    @display(
        description="state",
        label={"live": "success", "forgotten": "danger", "held": "warning", "expired": "warning"},
    )
    def state(self, memory: Memory) -> str:
        return memory.state

    @display(description="learned")
    def learned(self, memory: Memory) -> Any:
        return memory.created_at

    def offers(self, row: Any, verb: Verb) -> bool:
        is_head = row.is_live
        return {
            "correct": is_head,
            "pin": is_head and not row.pinned,
            "unpin": is_head and row.pinned,
            "case": is_head,
            "forget": row.forgotten_at is None and row.superseded_by_id is None,
            "restore": row.superseded_by_id is None and row.state in ("forgotten", "expired"),
        }[verb.name]

    def landing(self, row: Any, verb: Verb) -> Any:
        """A correction leads to what is believed now, by whomever it was written."""
        if verb.name != "correct" or row.superseded_by_id is None:
            return row
        newer = Memory.objects.filter(pk__in=versions_of(row.pk), superseded_by=None)
        return newer.select_related("workspace", "subject").first() or row

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        return verb.form(data, initial={"content": row.content}, auto_id=f"{prefix}-%s")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        story = timeline(self.scope(request, row), row)
        decided = (v.decision for v in reversed(story.versions) if v.decision is not None)
        undo: list[Any] = []  # the button that takes the last replacement back
        if last := next(decided, None):
            undo = self.admin_site.get_model_admin(Supersession).buttons(request, last)
        return {
            "state": row.state,
            "story": story,
            "look": chain_as_of(
                request.GET,
                [version.memory for version in story.versions],
                [version.lives for version in story.versions],
            ),
            "head": next((v.memory for v in story.versions if v.state == "live"), None),
            "waiting": [d for d in story.others if d.state == Supersession.State.PENDING],
            "undo": undo,
            "back": self.page_of(row),
            "may_curate": self.may(request, Capability.CURATE, row),
        }

    def do_correct(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        changes = {"content": as_typed(values["content"])}
        review.edit(self.scope(request, row), row.pk, changes, expected_version=row.version)
        return "Corrected: the new version is live."

    def do_pin(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.edit(self.scope(request, row), row.pk, {"pinned": True})
        return "Pinned: no machine replaces it without a person."

    def do_unpin(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.edit(self.scope(request, row), row.pk, {"pinned": False})
        return "Unpinned."

    def do_case(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        cases.ask_case(self.scope(request, row), row.pk)
        return "It waits in the Inbox for somebody to decide."

    def do_restore(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        review.restore(self.scope(request, row), row.pk)
        return "Restored: it is believed again."

    def do_forget(self, request: HttpRequest, row: Memory, values: dict[str, Any]) -> str:
        reason, note = values["reason"], values["note"].strip()
        if note and reason != review.WRONG:  # that one is a word for machines, too
            reason = f"{reason}: {note}" if reason else note
        review.forget(self.scope(request, row), row.pk, reason)
        again = " It will not be learned again." if reason == review.WRONG else ""
        return f"Forgotten.{again}"

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(request, "No memories yet")
