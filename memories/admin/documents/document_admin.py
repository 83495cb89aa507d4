"""Documents: the state of each file, what was read from it, and where it failed; files dropped on a
page."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from memories.admin.memory_rows import CitedSpan, MaskedTextAdmin, ingest_hint, one_line, segments
from memories.admin.search.search_form import text
from memories.documents import document_store, hidden_words
from memories.models import Chunk, Citation, Document, DocumentPart, Visibility
from workspaces.adminbase.list_admin import AdminPage, Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.auth import as_uuid
from workspaces.models import Capability, Workspace


class UploadForm(forms.Form):
    """The settings of an upload; they apply to all files dropped while they are set."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )
    kind = forms.ChoiceField(
        label=_("What they are"),
        choices=[("documents", _("Documents")), ("chats", _("Chats, assistants, agents"))],
        widget=UnfoldAdminSelectWidget,
    )
    tags = text("Spaces", "Tags of the spaces that the files stand in, with commas between them.")
    user = text("User id", "Whom they are about; empty where nobody in particular.")
    visibility = forms.ChoiceField(
        choices=[("", "By default"), *Visibility.choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )


class UploadPage(AdminPage):
    path, name, title = "upload/", "memories_upload", "Hand in files"
    template_name = "admin/memories/upload.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = UploadForm()
        choice = form.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = self.access.workspaces(Capability.WRITE).order_by("name")
        return super().get_context_data(
            **kwargs,
            form=form,
            may_send=choice.queryset.exists(),
            most_bytes=settings.MAX_UPLOAD_BYTES,
            most_megabytes=settings.MAX_UPLOAD_BYTES // 2**20,
            page_of_document=reverse("admin:memories_document_change", args=["0"]),
        )


MOST_PIECES, MOST_SHOWN = 100, 20_000  # chunks and parts; characters of the text
MOST_MARKS, BEFORE = 500, 400  # places cited by facts; characters before the one asked for


class DocumentStateFilter(StateFilter):
    states = {"failed": _("Failed"), "working": _("Waiting or being read"), "done": _("Read")}

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        if state == "working":
            return rows.exclude(state__in=Document.FINAL)
        return rows.filter(state=state)


@admin.register(Document)
class DocumentAdmin(MaskedTextAdmin):
    unmask_page = "memories_unmask_document"
    searched = "title"
    list_display = ("named", "state_label", "type", "person", "why", "attempts", "created")
    list_select_related = ("workspace", "subject")
    list_filter = (DocumentStateFilter, ("subject", PickFilter), DayFilter)
    search_fields = ("title",)
    search_help_text = _("Words of the title, or an id")
    page_template = "admin/memories/document.html"
    pages = (UploadPage,)
    verbs = (
        Verb("retry", _("Retry"), "refresh", "primary", bulk=True),
        Verb("reprocess", _("Read anew"), "autorenew"),
    )

    @display(description=_("document"))
    def named(self, document: Document) -> str:
        return one_line(str(document), 80)

    @display(
        description=_("state"),
        label={
            "done": "success",
            "failed": "danger",
            "queued": "warning",
            "extracting": "info",
            "chunking": "info",
            "indexing": "info",
            "embedding": "info",
        },
    )
    def state_label(self, document: Document) -> str:
        return document.state

    @display(description=_("why"))
    def why(self, document: Document) -> str:
        told = document.reason if document.error_code else ""
        return format_html('<span title="{}">{}</span>', told[:500], one_line(told, 60))

    @display(description=_("handed in"))
    def created(self, document: Document) -> Any:
        return document.created_at

    def offers(self, row: Any, verb: Verb) -> bool:
        return (row.state == "failed") == (verb.name == "retry") and row.is_final

    def do_retry(self, request: HttpRequest, row: Document, values: dict[str, Any]) -> str:
        document_store.retry(self.scope(request, row), row.pk)
        return gettext("Due again: the worker takes it up at once.")

    def do_reprocess(self, request: HttpRequest, row: Document, values: dict[str, Any]) -> str:
        document_store.reprocess(self.scope(request, row), row.pk)
        return gettext("The worker reads and cuts it anew.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        asked = as_uuid(request.GET.get("fact", ""))
        of_document = Citation.objects.filter(revision__document=row).select_related("revision")
        shown = of_document.filter(fact=asked).first() if asked else None
        revision = shown.revision if shown else row.revision
        chunks = Chunk.cut.filter(revision=revision).order_by("ordinal")
        parts = DocumentPart.objects.filter(revision=revision)
        cited = of_document.filter(revision=revision).select_related("fact__memory")
        marks = list(cited.order_by("start", "pk")[:MOST_MARKS])
        begun = max(0, shown.start - BEFORE) if shown else 0
        text = revision.text[begun : begun + MOST_SHOWN] if revision else ""
        spans = [CitedSpan(each.start - begun, each.end - begun, each.fact) for each in marks]
        return {
            "title": str(row),
            "revision": revision,
            "asked": asked,
            "segments": segments(text, spans),
            "facts": list({each.fact_id: each.fact for each in marks}.values()),
            "session": revision.session if revision else None,
            "begun": begun,
            "is_cut": revision is not None and len(revision.text) > len(text),
            "chunks": list(chunks[:MOST_PIECES]) if revision else [],
            "chunk_count": chunks.count() if revision else 0,
            "parts": list(parts[:MOST_PIECES]) if revision else [],
            "revisions": row.revisions.defer("text"),
            "spaces": row.container_tags,
            "may_unmask": self.may(request, Capability.CURATE, row) and hidden_words.can_be_unmasked(row),
        }

    def unmasked(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        words = hidden_words.reveal(self.scope(request, row), row)
        return self.page(request, row) | {
            "segments": segments(words[:MOST_SHOWN], []),
            "begun": 0,
            "is_cut": len(words) > MOST_SHOWN,
            "may_unmask": False,
        }

    def empty(self, request: HttpRequest) -> Empty:
        hint = "Drop files under Hand in files, or send them to /documents. Beside them:"
        return ingest_hint(request, gettext("No documents yet"), hint)
