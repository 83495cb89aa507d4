"""The preview of an ingest: what would be read of a text, storing nothing."""

import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from memories import ingest
from memories.admin.memory_rows import CitedSpan, MarkedText, segments
from memories.admin.search.search_form import text
from memories.belief.resolve import Claim
from memories.errors import Forbidden, Invalid
from memories.ingest import IngestRequest, NewMessage, Preview
from memories.language.english import gatekeeper
from memories.meters.skip_counts import count_skips
from memories.reading.extraction import Message
from workspaces.adminbase.access import Access
from workspaces.adminbase.list_admin import AdminPage
from workspaces.models import Capability, Workspace

# Preview as a page: it shows what would be read from messages, and why.

MOST_MESSAGES = 200
LONGEST_PREVIEW = 50_000  # characters
_named = re.compile(r"^([^\W\d_][\w .'-]{0,40}):[ \t]+(?=\S)")
MACHINES = {"assistant": "assistant", "system": "system", "tool": "tool"}


class PreviewForm(forms.Form):
    """Messages to preview; only the person's own workspaces can be chosen."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )
    messages = forms.CharField(
        max_length=LONGEST_PREVIEW,
        help_text=_("A line that begins with a name and a colon begins a message."),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 12}),
    )
    extract = forms.ChoiceField(
        label=_("Read by"),
        choices=[("patterns", "Patterns"), ("auto", "Patterns, then the models")],
        widget=UnfoldAdminSelectWidget,
    )
    user = text("User id", "Whom it is about; needed for a thread.")
    thread = text("Thread id", "What this thread has said is read before.")

    def __init__(self, access: Access, data: Any = None) -> None:
        usual = access.usual_workspace()
        super().__init__(data, initial={"workspace": usual.slug if usual else ""})
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = access.workspaces().order_by("name")

    @property
    def asks_models(self) -> bool:
        return bool(self.cleaned_data["extract"] != "patterns")

    @property
    def request(self) -> IngestRequest:
        values = self.cleaned_data
        return IngestRequest(
            messages=tuple(messages_in(values["messages"])),
            user_id=values["user"],
            thread_id=values["thread"],
            extract=values["extract"],
        )


@dataclass(frozen=True, slots=True)
class PreviewedMessage:
    """A message with the statements that would be read from it; `reason` says why there are
    none."""

    message: Message
    segments: list[MarkedText]
    claims: list[tuple[int, Claim]]
    label: str
    reason: str


class PreviewPage(AdminPage):
    path, name, title = "preview/", "memories_preview", "Preview"
    template_name = "admin/memories/preview.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = PreviewForm(self.access, self.request.POST if self.is_sent else None)
        result = self.result_of(form) if form.is_valid() else {}
        return super().get_context_data(**kwargs, form=form, **result)

    def result_of(self, form: PreviewForm) -> dict[str, Any]:
        """Return what the form's messages come to; nothing, with an error in the form, where they
        may not be read."""
        workspace, asks_models = form.cleaned_data["workspace"], form.asks_models
        if asks_models and not self.access.may(Capability.WRITE, workspace.pk):
            form.add_error("extract", gettext("Your role does not let you ask the models."))
            return {}
        scope = self.access.scope(workspace.pk)
        try:
            preview = ingest.preview(scope, form.request)
        except (Forbidden, Invalid) as error:
            form.add_error(None, str(error))
            return {}
        messages = previewed_messages(preview)
        return {"shown": messages, "found": preview.found, "counted": count_skips(scope)}


def messages_in(text: str) -> list[NewMessage]:
    """Split a pasted text into messages; without any name it is one message of a user."""
    parts: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        named = _named.match(line)
        if named or not parts:
            parts.append((named[1].strip() if named else "", []))
        parts[-1][1].append(line[named.end() :] if named else line)
    messages = []
    for name, lines in parts[:MOST_MESSAGES]:
        role = MACHINES.get(name.lower(), "user")
        author = name if role == "user" and name.lower() != "user" else ""
        kind = "tool_result" if role == "tool" else ""
        messages.append(NewMessage("\n".join(lines).strip(), role, author, kind=kind))
    return messages


def previewed_messages(preview: Preview) -> list[PreviewedMessage]:
    skips = {skip.index: skip for skip in preview.found.skipped}
    claims = list(enumerate(preview.found.claims, 1))
    rows = []
    for message in preview.messages:
        own = [(number, each) for number, each in claims if each.quotes[0].text_id == message.id]
        spans = [
            CitedSpan(quote.start, quote.end, number)
            for number, claim in claims
            for quote in claim.quotes
            if quote.text_id == message.id
        ]
        skip = skips.get(message.index)
        if skip is None:
            label, reason = "read", "" if own else "no pattern finds a claim in it"
        else:
            label, reason = skip.label, gatekeeper.REASONS.get(skip.label, skip.reason)
        pieces = segments(message.text, spans)
        rows.append(PreviewedMessage(message, pieces, own, label, reason))
    return rows
