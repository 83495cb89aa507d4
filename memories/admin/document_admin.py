"""Documents: the state of each file, what was read from it, and where it failed; files dropped on a
page; the spaces of documents, and the connections they come from."""

from typing import Any

from django import forms
from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from memories.admin.memory_rows import (
    CitedSpan,
    MaskedTextAdmin,
    MemoryRowAdmin,
    ingest_hint,
    one_line,
    segments,
)
from memories.admin.search_page import text
from memories.connections import connection_store
from memories.connections.connection_store import NewConnection
from memories.connectors import CONNECTORS
from memories.documents import document_store, hidden_words
from memories.models import (
    Chunk,
    Citation,
    Connection,
    Document,
    DocumentPart,
    Space,
    SyncRun,
    Visibility,
)
from memories.models.source_connection import MOST_MINUTES, USUAL_MINUTES
from memories.settings_objects import SettingsObject
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import AdminPage, Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import (
    DayFilter,
    PickFilter,
    StateFilter,
    WorkspaceChoiceForm,
)
from workspaces.auth import as_uuid
from workspaces.models import Capability, Workspace
from workspaces.models.key import CONTAINER_TAG


class UploadForm(forms.Form):
    """The settings of an upload; they apply to all files dropped while they are set."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
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
        label={"done": "success", "failed": "danger", "queued": "warning", "extracting": "info",
               "chunking": "info", "indexing": "info", "embedding": "info"},
    )  # fmt: skip
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
            "may_unmask": self.may(request, Capability.CURATE, row)
            and hidden_words.can_be_unmasked(row),
        }

    def unmasked(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        words = hidden_words.reveal(self.scope(request, row), row)
        return self.page(request, row) | {
            "segments": segments(words[:MOST_SHOWN], []), "begun": 0,
            "is_cut": len(words) > MOST_SHOWN, "may_unmask": False,
        }  # fmt: skip

    def empty(self, request: HttpRequest) -> Empty:
        hint = "Drop files under Hand in files, or send them to /documents. Beside them:"
        return ingest_hint(request, gettext("No documents yet"), hint)


# Spaces: shelves of documents, with their names and contents.

NEWEST = 50  # documents on a space's page


class NameForm(forms.Form):
    name = forms.CharField(required=False, max_length=200, widget=UnfoldAdminTextInputWidget)


class SpaceAdmin(MemoryRowAdmin):
    write_capability = Capability.WRITE
    can_add = True
    add_label = _("Make a space")
    list_display = ("named", "tag", "count", "made")
    list_select_related = ("workspace",)
    search_fields = ("container_tag", "name")
    search_help_text = _("Words of the name, or a tag")
    page_template = "admin/memories/space.html"
    verbs = (Verb("rename", _("Rename"), "edit", form=NameForm, capability=Capability.WRITE),)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(document_count=Count("shelves"))

    @display(description=_("space"))
    def named(self, space: Space) -> str:
        return one_line(str(space), 80)

    @display(description=_("tag"))
    def tag(self, space: Space) -> str:
        return space.container_tag

    @display(description=_("documents"))
    def count(self, space: Any) -> int:
        return space.document_count

    @display(description=_("made"))
    def made(self, space: Space) -> Any:
        return space.created_at

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        form = super().form_for(verb, row, data, prefix=prefix)
        if form is not None:
            form.fields["name"].initial = row.name
        return form

    def do_rename(self, request: HttpRequest, row: Any, values: dict[str, Any]) -> str:
        document_store.change_space(self.scope(request, row), row, {"name": values["name"]})
        return gettext("It is called so now.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        there = Document.objects.visible_to(self.scope(request, row))
        there = there.in_spaces([row.container_tag]).with_all().order_by("-pk")
        return {"title": str(row), "documents": list(there[:NEWEST])}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        self.require_add(request)
        form = WorkspaceChoiceForm(self, request)
        form.fields |= {
            "tag": forms.RegexField(
                CONTAINER_TAG,
                max_length=100,
                widget=UnfoldAdminTextInputWidget,
                help_text=gettext("By this, programs and keys name it: letters, digits, . : - _"),
            ),
            "name": forms.CharField(
                required=False, max_length=200, widget=UnfoldAdminTextInputWidget
            ),
        }
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            try:
                space = document_store.make_space(
                    access_of(request).scope(values["workspace"].pk), values["tag"], values["name"]
                )
            except self.refusals as refusal:
                form.add_error("tag", refusal_text(refusal))
            else:
                return redirect(self.page_of(space))
        return self.form_page(
            request, form, title=gettext("Make a space"), submit=gettext("Make it")
        )

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No spaces yet"),
            gettext("Documents are handed in with the tags of spaces, and searched by them."),
        )


# Connections: sources of documents, their last sync, its result, and a test.

Kind = SyncRun.Kind
MOST_RUNS, MOST_MISSING = 30, 50
OPTION, SECRET = "option_", "secret_"


def fields_of(of: type[SettingsObject] | None, prefix: str) -> dict[str, forms.Field]:
    """Return form fields for a connector's settings; lists are written with commas."""
    fields: dict[str, forms.Field] = {}
    for name, field in (of.model_fields if of else {}).items():
        label = name.replace("_", " ").capitalize()
        given: dict[str, Any] = {
            "label": label, "required": field.is_required(), "help_text": field.description or "",
        }  # fmt: skip
        if field.annotation is bool:
            given |= {"initial": field.default, "required": False}
            fields[prefix + name] = forms.BooleanField(widget=UnfoldBooleanSwitchWidget, **given)
        elif field.annotation is int:
            given["initial"] = field.default
            fields[prefix + name] = forms.IntegerField(
                widget=UnfoldAdminIntegerFieldWidget, **given
            )
        else:
            look = forms.PasswordInput if prefix == SECRET else forms.TextInput
            attributes = UnfoldAdminTextInputWidget().attrs | {"autocomplete": "off"}
            if field.annotation is str and field.default and not field.is_required():
                given["initial"] = field.default
            fields[prefix + name] = forms.CharField(
                widget=look(attrs=attributes), strip=True, **given
            )
    return fields


def values_of(
    of: type[SettingsObject] | None, prefix: str, cleaned: dict[str, Any]
) -> dict[str, Any]:
    """Return the values of a filled form as the API takes them. Empty fields are left out and have
    their defaults."""
    values: dict[str, Any] = {}
    for name, field in (of.model_fields if of else {}).items():
        value = cleaned.get(prefix + name)
        if value in ("", None):
            continue
        is_text = field.annotation in (str, int, bool) or not str(field.annotation).startswith(
            ("list", "typing.Annotated[list")
        )
        parts = value if is_text else [part.strip() for part in value.split(",") if part.strip()]
        values[field.alias or name] = parts
    return values


class RemoveForm(forms.Form):
    documents = forms.ChoiceField(
        choices=[("keep", "They stay"), ("erase", "They are erased first")],
        widget=UnfoldAdminSelectWidget,
        label=gettext_lazy("Its documents"),
    )


class ConnectionStateFilter(StateFilter):
    states = {
        "failed": gettext_lazy("Failed"),
        "paused": gettext_lazy("Waiting for the source"),
        "fine": gettext_lazy("Fine"),
    }

    def narrow(self, rows: Any, state: str) -> Any:
        if state == "failed":
            return rows.exclude(error_code="")
        paused = Q(paused_until__gt=timezone.now())
        return rows.filter(paused) if state == "paused" else rows.filter(error_code="")


class ConnectionAdmin(MemoryRowAdmin):
    read_capability = Capability.CURATE
    write_capability = Capability.ADMIN
    can_add = True
    add_label = gettext_lazy("Connect a source")
    list_display = ("named", "provider", "state_label", "count", "synced", "due", "why")
    list_select_related = ("workspace",)
    list_filter = (ConnectionStateFilter,)
    page_template = "admin/memories/connection.html"
    verbs = (
        Verb("sync", gettext_lazy("Sync now"), "sync", "primary", bulk=True),
        Verb("test", gettext_lazy("Test"), "network_check"),
        Verb(
            "full",
            gettext_lazy("List anew"),
            "restart_alt",
            question=gettext_lazy(
                "All that the source has is listed and compared with what is here."
            ),
        ),
        Verb(
            "allow",
            gettext_lazy("Allow deletions"),
            "delete_sweep",
            question=gettext_lazy("What the source has lost is erased, however much that is."),
        ),
        Verb(
            "back",
            gettext_lazy("Bring back"),
            "settings_backup_restore",
            question=gettext_lazy("What was erased of it here is fetched and read again."),
            capability=Capability.ADMIN,
        ),
        Verb(
            "secrets",
            gettext_lazy("New credentials"),
            "key",
            form=forms.Form,
            capability=Capability.ADMIN,
        ),
        Verb(
            "remove",
            gettext_lazy("Remove"),
            "link_off",
            "danger",
            form=RemoveForm,
            question=gettext_lazy("It is not asked any more."),
            capability=Capability.ADMIN,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        documents = Count("items", filter=Q(items__document__isnull=False))
        return super().get_queryset(request).annotate(document_count=documents)

    @display(description=gettext_lazy("source"))
    def named(self, connection: Connection) -> str:
        return one_line(connection.name, 80)

    @display(
        description=gettext_lazy("state"),
        label={"failed": "danger", "paused": "warning", "fine": "success", "new": "info"},
    )
    def state_label(self, connection: Connection) -> str:
        return state_of(connection)

    @display(description=gettext_lazy("documents"))
    def count(self, connection: Any) -> int:
        return connection.document_count

    @display(description=gettext_lazy("synced"))
    def synced(self, connection: Connection) -> Any:
        return connection.last_synced_at

    @display(description=gettext_lazy("next"))
    def due(self, connection: Connection) -> Any:
        return connection.next_sync_at

    @display(description=gettext_lazy("why"))
    def why(self, connection: Connection) -> str:
        text = f"{connection.error_code}: {connection.error}" if connection.error_code else ""
        return format_html('<span title="{}">{}</span>', text[:500], one_line(text, 60))

    def offers(self, row: Any, verb: Verb) -> bool:
        if verb.name == "secrets":
            return CONNECTORS[row.provider].Credentials is not None
        if verb.name == "back":
            return row.items.filter(document=None).exists()
        return verb.name != "allow" or row.error_code == "many_deletions"

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        form = super().form_for(verb, row, data, prefix=prefix)
        if form is not None and verb.name == "secrets":
            form.fields |= fields_of(CONNECTORS[row.provider].Credentials, SECRET)
        return form

    def _ask(self, request: HttpRequest, row: Connection, kind: str, **options: bool) -> str:
        connection_store.request_run(self.scope(request, row), row.pk, kind, **options)
        return "The worker asks the source now: look at the runs."

    def do_sync(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        return self._ask(request, row, Kind.SYNC)

    def do_test(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        return self._ask(request, row, Kind.TEST)

    def do_full(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        return self._ask(request, row, Kind.FULL)

    def do_allow(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        return self._ask(request, row, Kind.SYNC, is_confirmed=True)

    def do_back(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        return self._ask(request, row, Kind.FULL, with_erased=True)

    def do_secrets(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        given = values_of(CONNECTORS[row.provider].Credentials, SECRET, values)
        connection_store.change(self.scope(request, row), row.pk, {"credentials": given})
        return gettext("The credentials are kept, sealed.")

    def do_remove(self, request: HttpRequest, row: Connection, values: dict[str, Any]) -> str:
        is_erased = values["documents"] == "erase"
        connection_store.remove(self.scope(request, row), row.pk, erase_documents=is_erased)
        return (
            gettext("Its documents are erased, then it goes.")
            if is_erased
            else gettext("It is removed.")
        )

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        missing = row.items.filter(misses__gt=0, document__isnull=False)
        return {
            "title": row.name,
            "state": state_of(row),
            "label": CONNECTORS[row.provider].label,
            "options": [
                (name, ", ".join(value) if isinstance(value, list) else value)
                for name, value in row.options.items()
            ],
            "runs": list(row.runs.order_by("-id")[:MOST_RUNS]),
            "failed": row.items.filter(document__state="failed").count(),
            "erased": row.items.filter(document=None).count(),
            "missing": list(missing.select_related("document")[:MOST_MISSING]),
        }

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Ask first for the source, then for its settings."""
        self.require_add(request)
        provider = request.GET.get("provider", "")
        if provider not in CONNECTORS:
            kinds = [(name, each.label) for name, each in CONNECTORS.items()]
            context = {
                **self.admin_site.each_context(request), "title": self.add_label,
                "opts": self.opts, "kinds": kinds,
            }  # fmt: skip
            return TemplateResponse(request, "admin/memories/connection_kinds.html", context)
        kind = CONNECTORS[provider]
        form = WorkspaceChoiceForm(self, request)
        text = UnfoldAdminTextInputWidget
        form.fields |= {
            "name": forms.CharField(max_length=200, required=False, widget=text),
            **fields_of(kind.Options, OPTION),
            **fields_of(kind.Credentials, SECRET),
            "spaces": forms.CharField(
                required=False,
                widget=text,
                help_text=gettext("Tags of spaces, with commas between them."),
            ),
            "user": forms.CharField(
                required=False,
                widget=text,
                label=gettext("User id"),
                help_text=gettext(
                    "Whom its documents are about; empty where nobody in particular."
                ),
            ),
            "visibility": forms.ChoiceField(
                choices=[("", "By default"), *Visibility.choices],
                required=False,
                widget=UnfoldAdminSelectWidget,
            ),
            "minutes": forms.IntegerField(
                min_value=0,
                max_value=MOST_MINUTES,
                initial=USUAL_MINUTES,
                widget=UnfoldAdminIntegerFieldWidget,
                help_text=gettext("Between two syncs; 0: only when somebody asks for it."),
            ),
        }
        for name in (each for each in form.fields if each.startswith(SECRET)):
            form.fields[name].required = False  # some sources need no secret
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            tags = [tag.strip() for tag in values["spaces"].split(",")]
            try:
                made = connection_store.create(
                    access_of(request).scope(values["workspace"].pk),
                    NewConnection(
                        provider, values["name"], values_of(kind.Options, OPTION, values),
                        values_of(kind.Credentials, SECRET, values), tuple(filter(None, tags)),
                        values["user"], visibility=values["visibility"],
                        minutes=values["minutes"],
                    ),
                )  # fmt: skip
            except self.refusals as refusal:
                form.add_error(None, refusal_text(refusal))
            else:
                return redirect(self.page_of(made))
        return self.form_page(
            request,
            form,
            title=gettext("Connect: %(label)s") % {"label": kind.label},
            submit=gettext("Connect"),
        )

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No sources yet"),
            gettext("A folder, a site or a repository is kept in step here."),
        )


def state_of(connection: Connection) -> str:
    if connection.error_code:
        return "failed"
    if connection.paused_until and connection.paused_until > timezone.now():
        return "paused"
    return "fine" if connection.last_synced_at else "new"
