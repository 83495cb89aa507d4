"""The audit log, to be read."""

from contextlib import suppress
from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from workspaces.auth import as_uuid
from workspaces.desk.actors import names_of
from workspaces.desk.columns import display
from workspaces.desk.listing import Empty
from workspaces.desk.pages import PageAdmin
from workspaces.models import AuditEntry, Capability

# Where the model that a line is about has its page.
APPS = ("memories", "workspaces")


class AuditAdmin(PageAdmin):
    read_capability = Capability.CURATE
    list_display = ("happened", "who", "did", "about", "reason_told")
    list_select_related = ("workspace",)
    search_fields = ("action", "target_kind")
    search_help_text = "Beginning of the act, as in forget or issue_key, or the id of a row"
    page_template = "admin/workspaces/auditentry/page.html"

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
    def about(self, line: AuditEntry) -> str:
        return f"{kind_told(line.target_kind)} {str(line.target_id)[-8:]}"

    @display(description="why")
    def reason_told(self, line: AuditEntry) -> str:
        return line.reason[:80]

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        names = names_of(row.actor for row in rows)
        for row in rows:
            row.actor_name = names.get(row.actor, row.actor)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "original": None,  # its text is for machines
            "title": row.action.replace("_", " "),
            "actor_name": names_of([row.actor]).get(row.actor, row.actor),
            "kind": kind_told(row.target_kind),
            "target_url": self._target_url(row),
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


def kind_told(kind: str) -> str:
    """The word for a model: `session` for memorysession."""
    for app in APPS:
        with suppress(LookupError):
            return str(apps.get_model(app, kind)._meta.verbose_name)
    return kind
