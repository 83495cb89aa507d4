"""The base of every list and page: what is shown, offered and done stays in the person's workspaces."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.utils import unquote
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from workspaces.adminbase.access import access_of, actor_of, workspace_id_of
from workspaces.adminbase.list_admin import ListAdmin
from workspaces.adminbase.scoped_filters import WorkspaceFilter
from workspaces.models import AuditEntry, Capability, Workspace


class ScopedAdmin(ListAdmin):
    """Rows of the person's workspaces, to be read and changed as the role there allows.

    Django's model permissions and groups play no part.
    """

    workspace_path = "workspace"
    read_capability: str = Capability.READ
    write_capability: str = Capability.ADMIN
    can_add = True
    add_label = "Add"
    can_delete = False

    show_facets = 0
    list_per_page = 50
    list_max_show_all = 0
    list_disable_select_all = True
    list_filter_submit = True
    ordering: tuple[str, ...] = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return access_of(request).limit(rows, self.workspace_path, self.read_capability)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField | None:
        kwargs.setdefault("queryset", self.choices_for(db_field.remote_field.model, request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def choices_for(self, model: type[Model], request: HttpRequest) -> QuerySet[Any]:
        """What a form may point at: workspaces to write in, and rows that the person sees."""
        if model is Workspace:
            return access_of(request).workspaces(self.write_capability)
        return self.admin_site.get_model_admin(model).get_queryset(request)

    def may(self, request: HttpRequest, capability: str, row: Model | None = None) -> bool:
        access = access_of(request)
        if not isinstance(row, Model):
            return access.may_somewhere(capability)
        return access.may(capability, workspace_id_of(row))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.may(request, self.read_capability)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.may(request, self.read_capability, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.can_add and self.may(request, self.write_capability)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.may(request, self.write_capability, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.can_delete and self.may(request, self.write_capability, obj)

    def get_list_display(self, request: HttpRequest) -> Sequence[Any]:
        columns = super().get_list_display(request)
        return [*columns, "workspace"] if self._tells_workspace(request) else columns

    def get_list_filter(self, request: HttpRequest) -> Sequence[Any]:
        filters = super().get_list_filter(request)
        own = ("workspace", WorkspaceFilter)
        return [own, *filters] if self._tells_workspace(request) else filters

    def _tells_workspace(self, request: HttpRequest) -> bool:
        return self.workspace_path == "workspace" and access_of(request).is_of_many

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        is_of_one = any(field.name == "workspace" for field in self.opts.fields)
        return [*fixed, "workspace"] if obj is not None and is_of_one else fixed

    def page_of(self, row: Model) -> str:
        names = f"{row._meta.app_label}_{row._meta.model_name}"
        return reverse(f"{self.admin_site.name}:{names}_change", args=[row.pk])

    def row_or_404(self, request: HttpRequest, object_id: str) -> Any:
        """The row, or 404: what is another's and what is not there look the same."""
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(f"no such {self.opts.verbose_name}")
        return row

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        self.row_or_404(request, object_id)
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        self.row_or_404(request, object_id)
        return super().delete_view(request, object_id, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """The audit log holds what Django's own history would."""
        row = self.row_or_404(request, object_id)
        audit = reverse(f"{self.admin_site.name}:workspaces_auditentry_changelist")
        return redirect(f"{audit}?target_id__exact={row.pk}")

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        self.audit(request, "create", obj)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> None:
        changed = [name for part in message for name in part.get("changed", {}).get("fields", [])]
        self.audit(request, "change", obj, after={"changed": changed})

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.audit(request, "delete", row, before={"was": str(row)})

    def audit(self, request: HttpRequest, action: str, row: Model, **details: Any) -> None:
        """Keep a line of the audit log; `details` are its other columns."""
        if hasattr(row, "workspace_id") or isinstance(row, Workspace):
            details.setdefault("subject_id", getattr(row, "subject_id", None))
            actor = actor_of(request.user)
            AuditEntry.line(workspace_id_of(row), actor, action, row, **details).save()
