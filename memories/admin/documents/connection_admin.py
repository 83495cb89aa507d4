"""Connections, the sources that documents come from."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from memories.admin.memory_rows import MemoryRowAdmin, one_line
from memories.models import Connection, SyncRun, Visibility
from memories.models.source_connection import MOST_MINUTES, USUAL_MINUTES
from memories.settings_objects import SettingsObject
from memories.sources.connections import connection_store
from memories.sources.connections.connection_store import NewConnection
from memories.sources.connectors import CONNECTORS
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import StateFilter, WorkspaceChoiceForm
from workspaces.models import Capability

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
            "label": label,
            "required": field.is_required(),
            "help_text": field.description or "",
        }
        if field.annotation is bool:
            given |= {"initial": field.default, "required": False}
            fields[prefix + name] = forms.BooleanField(widget=UnfoldBooleanSwitchWidget, **given)
        elif field.annotation is int:
            given["initial"] = field.default
            fields[prefix + name] = forms.IntegerField(widget=UnfoldAdminIntegerFieldWidget, **given)
        else:
            look = forms.PasswordInput if prefix == SECRET else forms.TextInput
            attributes = UnfoldAdminTextInputWidget().attrs | {"autocomplete": "off"}
            if field.annotation is str and field.default and not field.is_required():
                given["initial"] = field.default
            fields[prefix + name] = forms.CharField(widget=look(attrs=attributes), strip=True, **given)
    return fields


def values_of(of: type[SettingsObject] | None, prefix: str, cleaned: dict[str, Any]) -> dict[str, Any]:
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
        "paused": gettext_lazy("Paused"),
        "fine": gettext_lazy("Fine"),
    }

    def narrow(self, rows: Any, state: str) -> Any:
        if state == "failed":
            return rows.exclude(error_code="")
        paused = Q(paused_until__gt=timezone.now())
        return rows.filter(paused) if state == "paused" else rows.filter(error_code="")


@admin.register(Connection)
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
            question=gettext_lazy("All that the source has is listed and compared with what is here."),
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
        return gettext("Its documents are erased, then it goes.") if is_erased else gettext("It is removed.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        missing = row.items.filter(misses__gt=0, document__isnull=False)
        return {
            "title": row.name,
            "state": state_of(row),
            "label": CONNECTORS[row.provider].label,
            "options": [
                (name, ", ".join(value) if isinstance(value, list) else value) for name, value in row.options.items()
            ],
            "runs": list(row.runs.order_by("-id")[:MOST_RUNS]),
            "failed": row.items.filter(document__state="failed").count(),
            "erased": row.items.filter(document=None).count(),
            "missing": list(missing.select_related("document")[:MOST_MISSING]),
        }

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask first for the source, then for its settings."""
        self.require_add(request)
        provider = request.GET.get("provider", "")
        if provider not in CONNECTORS:
            kinds = [(name, each.label) for name, each in CONNECTORS.items()]
            context = {
                **self.admin_site.each_context(request),
                "title": self.add_label,
                "opts": self.opts,
                "kinds": kinds,
            }
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
                help_text=gettext("Whom its documents are about; empty where nobody in particular."),
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
                        provider,
                        values["name"],
                        values_of(kind.Options, OPTION, values),
                        values_of(kind.Credentials, SECRET, values),
                        tuple(filter(None, tags)),
                        values["user"],
                        visibility=values["visibility"],
                        minutes=values["minutes"],
                    ),
                )
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
