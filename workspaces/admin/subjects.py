from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html

from workspaces.desk.base import ScopedAdmin
from workspaces.desk.columns import display
from workspaces.desk.listing import Empty
from workspaces.models import Capability, Subject


class SubjectAdmin(ScopedAdmin):
    write_capability = Capability.WRITE
    list_display = ("external_id", "name", "remembered", "created_at")
    list_select_related = ("workspace",)
    search_fields = ("external_id__startswith", "name__icontains")
    search_help_text = "Beginning of the id, or name"
    fields = ("workspace", "external_id", "name", "metadata", "remembered")
    readonly_fields = ("remembered",)

    @display(description="memories")
    def remembered(self, subject: Subject) -> str:
        """A link, not a count: counting each subject's memories would read the whole table."""
        try:
            page = reverse(f"{self.admin_site.name}:memories_memory_changelist")
        except NoReverseMatch:
            return "-"
        return format_html(
            '<a class="desk-link" href="{}?subject__id__exact={}">show</a>', page, subject.pk
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        return [*fixed, "external_id"] if obj is not None else fixed

    def empty(self, request: HttpRequest) -> Empty:
        return Empty("No subjects yet", "A subject appears when a program first names its userId.")
