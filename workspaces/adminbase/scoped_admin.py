"""The base of every list and page: it shows, offers and does only what lies in the person's
workspaces."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib.admin.options import ModelAdmin
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.contrib.admin.widgets import AutocompleteSelect, AutocompleteSelectMultiple
from django.db.models import Field, ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.admin import AutocompleteSelectFilter, RelatedDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter
from unfold.widgets import SELECT_CLASSES, UnfoldAdminSelectWidget

from workspaces.adminbase.access import Access, access_of, actor_of, workspace_id_of
from workspaces.adminbase.list_admin import ListAdmin
from workspaces.adminbase.target_names import KINDS
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry, Capability, Subject, Workspace
from workspaces.models.workspace import first_uuid7
from workspaces.time_zones import begin_of

DAY = re.compile(r"20\d\d-(0[1-9]|1[0-2])-([0-2]\d|3[01])")


class PickFilter(AutocompleteSelectFilter):
    """An autocomplete that names a picked row only to those who may see it."""

    def __init__(self, field: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(field, *args, **kwargs)
        self.title = KINDS[str(field.remote_field.model._meta.model_name)][0]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        other = self.field.remote_field.model
        admin = self.model_admin.admin_site.get_model_admin(other)
        for choice in super().choices(changelist):
            choice["form"].fields[self.lookup_kwarg].queryset = admin.get_queryset(self.request)
            yield choice


class WorkspaceFilter(RelatedDropdownFilter):
    """A filter that only people of several workspaces see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        rows = access_of(request).workspaces(Capability.READ)
        return list(rows.order_by("name").values_list("pk", "name")[:500])


class StateFilter(DropdownFilter):
    """A filter by one of several states; `states` maps a value to its label, `narrow` does the
    work.

    With `first` set, the list begins with that state instead of with all rows.
    """

    title: str | Promise = gettext_lazy("state")
    parameter_name = "state"
    states: Mapping[str, str | Promise]
    first = ""
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str | Promise]]:
        return [*self.states.items(), ("all", "All")]

    def value(self) -> str:
        asked = super().value()
        return asked if asked in self.states or asked == "all" else self.first or "all"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() == "all" else self.narrow(queryset, self.value())

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        return rows.filter(**{self.parameter_name: state})


class DayFilter(DropdownFilter):
    """Rows that were made on a day: one of the last week, or any that the address names."""

    title = gettext_lazy("day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        today = timezone.localdate()
        days = {today - timedelta(days=back) for back in range(7)}
        if (asked := self._asked(request.GET.get(self.parameter_name))) is not None:
            days.add(asked)
        return [(day.isoformat(), f"{day:%a %d %b %Y}") for day in sorted(days, reverse=True)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        day = self._asked(self.value())
        if day is None:
            return queryset
        first, next_first = (first_uuid7(begin_of(each)) for each in (day, day + timedelta(days=1)))
        return queryset.filter(pk__gte=first, pk__lt=next_first)

    @staticmethod
    def _asked(text: str | None) -> date | None:
        return parse_date(text) if text and DAY.fullmatch(text) else None


class WorkspaceChoiceForm(forms.Form):
    """A form that begins with the workspace; the usual one is already chosen."""

    workspace = forms.ModelChoiceField(Workspace.objects.none(), empty_label=None, widget=UnfoldAdminSelectWidget)

    def __init__(self, admin: "ScopedAdmin", request: HttpRequest) -> None:
        super().__init__(request.POST if request.method == "POST" else None)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = admin.choices_for(Workspace, request).order_by("name")
        choice.initial = access_of(request).usual_workspace()


class AskedWorkspaceForm(forms.Form):
    """A form whose choices are in the page's address; only the person's own workspaces can be
    chosen."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        super().__init__(data)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = access.workspaces().order_by("name")


def pick_one(admin: ModelAdmin, field: Field) -> AutocompleteSelect:
    return AutocompleteSelect(field, admin.admin_site, attrs={"class": " ".join(SELECT_CLASSES)})


def pick_many(admin: ModelAdmin, field: Field) -> AutocompleteSelectMultiple:
    return AutocompleteSelectMultiple(field, admin.admin_site)


class ScopedAdmin(ListAdmin):
    """Rows of the person's workspaces, to be read and changed as the role there allows.

    Django's model permissions and groups play no part.
    """

    workspace_path = "workspace"
    joined: tuple[str, ...] = ()  # related rows to read with each row
    read_capability: str = Capability.READ
    write_capability: str = Capability.ADMIN
    can_add = True
    add_label = gettext_lazy("Add")
    can_delete = False

    ordering: tuple[str, ...] = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        rows = rows.select_related(*self.joined) if self.joined else rows
        return access_of(request).limit(rows, self.workspace_path, self.read_capability)

    def whose(self, request: HttpRequest) -> str:
        asked = as_uuid(request.GET.get("subject__id__exact", ""))
        if asked is None:
            return ""
        row = access_of(request).limit(Subject.objects.filter(pk=asked), "workspace").first()
        return str(row or "")

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField | None:
        kwargs.setdefault("queryset", self.choices_for(db_field.remote_field.model, request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def choices_for(self, model: type[Model], request: HttpRequest) -> QuerySet[Any]:
        """Return what a form may point at: workspaces to write in, or rows that the person sees."""
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
        """Return the row, or raise 404: rows of others and rows that do not exist look the same."""
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(f"no such {self.opts.verbose_name}")
        return row

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        self.row_or_404(request, object_id)
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        self.row_or_404(request, object_id)
        return super().delete_view(request, object_id, extra_context)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Redirect to the audit log, which holds what Django's own history would."""
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
        """Write a line of the audit log; `details` are its other columns."""
        if hasattr(row, "workspace_id") or isinstance(row, Workspace):
            details.setdefault("subject_id", getattr(row, "subject_id", None))
            actor = actor_of(request.user)
            AuditEntry.line(workspace_id_of(row), actor, action, row, **details).save()
