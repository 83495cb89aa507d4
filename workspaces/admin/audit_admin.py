"""The audit log, to be read."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils.html import format_html

from workspaces.admin.audit_export import FORMATS
from workspaces.admin.audit_filters import RowFilter, VerbFilter, WhoFilter
from workspaces.adminbase.actors import APPS, kind_text, names_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import RowAdmin
from workspaces.adminbase.scoped_filters import DayFilter
from workspaces.adminbase.targets import describe_targets
from workspaces.adminbase.word_diff import changes
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry, Capability


class AuditAdmin(RowAdmin):
    read_capability = Capability.CURATE
    list_display = ("happened", "who", "did", "about", "reason_label")
    list_select_related = ("workspace",)
    list_filter = (WhoFilter, VerbFilter, RowFilter, DayFilter)
    search_fields = ("action", "target_kind")
    search_help_text = "Beginning of the act, as in forget or issue_key, or the id of a row"
    page_template = "admin/workspaces/auditentry/page.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        own = path("export.<slug:form>", view, name="workspaces_audit_export")
        return [own, *super().get_urls()]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """All lines of the list as it is filtered, in its order."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if form not in FORMATS:
            raise Http404(f"there is no {form}")
        kind, write = FORMATS[form]
        answer = StreamingHttpResponse(
            write(self.get_changelist_instance(request).queryset), content_type=kind
        )
        answer.headers["Content-Disposition"] = f'attachment; filename="audit.{form}"'
        return answer

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        asked = request.GET.copy()
        asked.pop("p", None)
        exports = [
            (form, f"{reverse('admin:workspaces_audit_export', args=[form])}?{asked.urlencode()}")
            for form in FORMATS
        ]
        return super().changelist_view(request, {**(extra_context or {}), "exports": exports})

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        asked = search_term.strip()
        if not asked:
            return queryset, False
        if (row_id := as_uuid(asked)) is not None:
            return queryset.filter(target_id=row_id), False
        return queryset.filter(action__startswith=asked.lower().replace(" ", "_")), False

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        return lookup in {"target_id__exact", "subject_id__exact"} or super().lookup_allowed(
            lookup, value, request
        )

    @display(description="when")
    def happened(self, line: AuditEntry) -> Any:
        return line.created_at

    @display(description="who")
    def who(self, line: Any) -> str:
        return getattr(line, "actor_name", line.actor)

    @display(description="did", label=True)
    def did(self, line: AuditEntry) -> str:
        return line.action.replace("_", " ")

    @display(description="to")
    def about(self, line: Any) -> str:
        kind, subject = kind_text(line.target_kind), getattr(line, "subject_name", "")
        return format_html(
            '<span class="desk-told">{}</span> <span class="desk-small desk-quiet">{}</span>',
            getattr(line, "words", "") or str(line.target_id)[-8:],
            f"{kind}, about {subject}" if subject else kind,
        )

    @display(description="why")
    def reason_label(self, line: AuditEntry) -> str:
        return line.reason[:80]

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        names = names_of(row.actor for row in rows)
        for row in rows:
            row.actor_name = names.get(row.actor, row.actor)
        describe_targets(rows)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "original": None,  # its text is for machines
            "title": row.action.replace("_", " "),
            "actor_name": names_of([row.actor]).get(row.actor, row.actor),
            "kind": kind_text(row.target_kind),
            "target_url": self._target_url(row),
            "changes": changes(row.before, row.after),
        }

    def _target_url(self, line: AuditEntry) -> str:
        for app in APPS:
            try:
                name = f"{self.admin_site.name}:{app}_{line.target_kind}_change"
                return reverse(name, args=[line.target_id])
            except NoReverseMatch:
                continue
        return ""

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            "Nothing has happened yet", "Each act of a person, key or worker is kept here."
        )
