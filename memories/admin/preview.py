"""Preview as a page: messages go in, and what would be read out of them, and why, is shown."""

import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from memories import ingest
from memories.admin.asking import text
from memories.admin.highlighting import Segment, Span, segments
from memories.english import gatekeeper
from memories.errors import Forbidden, Invalid
from memories.extraction import Message
from memories.ingest import IngestRequest, NewMessage, Preview
from memories.resolve import Claim
from memories.skip_counts import verdicts
from workspaces.adminbase.access import Access, access_of
from workspaces.models import Capability, Workspace

MOST_MESSAGES = 200
LONGEST = 50_000  # characters
_named = re.compile(r"^([^\W\d_][\w .'-]{0,40}):[ \t]+(?=\S)")
MACHINES = {"assistant": "assistant", "system": "system", "tool": "tool"}


class PreviewForm(forms.Form):
    """Only the person's own workspaces can be chosen."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )
    messages = forms.CharField(
        max_length=LONGEST,
        help_text="A line that begins with a name and a colon begins a message.",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 12}),
    )
    extract = forms.ChoiceField(
        label="Read by",
        choices=[("patterns", "Patterns"), ("auto", "Patterns, then the models")],
        widget=UnfoldAdminSelectWidget,
    )
    user = text("User id", "Whom it is about; needed for a thread.")
    thread = text("Thread id", "What this thread has said is read before.")

    def __init__(self, access: Access, data: Any = None) -> None:
        super().__init__(data)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = access.workspaces().order_by("name")

    @property
    def request(self) -> IngestRequest:
        values = self.cleaned_data
        return IngestRequest(
            messages=tuple(said_in(values["messages"])),
            user_id=values["user"],
            thread_id=values["thread"],
            extract=values["extract"],
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """A message with what would be read out of it; `reason` tells why nothing is."""

    message: Message
    segments: list[Segment]
    claims: list[tuple[int, Claim]]
    label: str
    reason: str


class PreviewPage:
    """Mixin of an admin: adds the page `preview/` to its addresses."""

    admin_site: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.preview_view)
        own = path("preview/", view, name="memories_preview")
        return [own, *super().get_urls()]  # type: ignore[misc]

    def preview_view(self, request: HttpRequest) -> HttpResponse:
        access = access_of(request)
        form = PreviewForm(access, request.POST if request.method == "POST" else None)
        context = {
            **self.admin_site.each_context(request),
            "title": "Preview",
            "form": form,
            **_answered(access, form),
        }
        return TemplateResponse(request, "admin/memories/preview.html", context)


def _answered(access: Access, form: PreviewForm) -> dict[str, Any]:
    if not form.is_valid():
        return {}
    workspace = form.cleaned_data["workspace"]
    if form.cleaned_data["extract"] != "patterns" and not access.may(
        Capability.WRITE, workspace.pk
    ):
        form.add_error("extract", "Your role does not let you ask the models.")
        return {}
    scope = access.scope(workspace.pk)
    try:
        shown = ingest.preview(scope, form.request)
    except (Forbidden, Invalid) as error:
        form.add_error(None, str(error))
        return {}
    return {
        "shown": shown_of(shown),
        "found": shown.found,
        "counted": verdicts(scope),
    }


def said_in(text: str) -> list[NewMessage]:
    """The messages of a pasted text; without any name it is one message of a user."""
    told: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        named = _named.match(line)
        if named or not told:
            told.append((named[1].strip() if named else "", []))
        told[-1][1].append(line[named.end() :] if named else line)
    return [_message(name, "\n".join(lines).strip()) for name, lines in told[:MOST_MESSAGES]]


def _message(name: str, content: str) -> NewMessage:
    role = MACHINES.get(name.lower(), "user")
    kind = "tool_result" if role == "tool" else ""
    is_named = role == "user" and name.lower() != "user"
    return NewMessage(content, role, name if is_named else "", kind=kind)


def shown_of(preview: Preview) -> list[Shown]:
    reasons = {skip.index: skip for skip in preview.found.skipped}
    numbered = list(enumerate(preview.found.claims, 1))
    return [_shown(message, numbered, reasons.get(message.index)) for message in preview.messages]


def _shown(message: Message, claims: list[tuple[int, Claim]], skip: Any) -> Shown:
    own = [(number, claim) for number, claim in claims if claim.quotes[0].episode_id == message.id]
    spans = [
        Span(quote.start, quote.end, number)
        for number, claim in claims
        for quote in claim.quotes
        if quote.episode_id == message.id
    ]
    if skip is None:
        reason = "" if own else "no pattern finds a claim in it"
        return Shown(message, segments(message.text, spans), own, "read", reason)
    meaning = gatekeeper.REASONS.get(skip.label, skip.reason)
    return Shown(message, segments(message.text, spans), own, skip.label, meaning)
