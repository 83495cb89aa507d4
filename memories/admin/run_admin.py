"""Runs of benchmark and evaluate, for those who administer a workspace: they are of no workspace."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from memories.admin.plots_page import PlotsPage
from memories.models import EvaluationRun
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, ListAdmin, display
from workspaces.models import Capability


class RunAdmin(ListAdmin):
    pages = (PlotsPage,)
    list_display = ("name", "kind", "started_at", "took")
    list_filter = ("kind",)
    search_fields = ("name__icontains",)
    ordering = ("-started_at",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("details")

    @display(description="took")
    def took(self, run: EvaluationRun) -> str:
        return f"{run.seconds:,.0f} s"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return access_of(request).may_somewhere(Capability.ADMIN)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_change_permission = has_delete_permission = has_add_permission

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        if run is None or not self.has_view_permission(request):
            return super().change_view(request, object_id, form_url, extra_context)
        context = {
            **self.admin_site.each_context(request),
            "title": str(run),
            "opts": self.opts,
            "original": run,
            "run": run,
            "rows": sorted(run.figures.items()),
        }
        return TemplateResponse(request, "admin/memories/run.html", context)

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            "No runs yet", "Measure this installation:", "python3 manage.py benchmark --sizes 1k"
        )
