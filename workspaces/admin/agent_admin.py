from typing import Any

from django.http import HttpRequest

from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.scoped_admin import ScopedAdmin
from workspaces.models import Agent


class AgentAdmin(ScopedAdmin):
    list_display = ("external_id", "name", "team_label", "created_at")
    list_select_related = ("workspace",)
    search_fields = ("external_id__startswith", "name__icontains", "team__istartswith")
    search_help_text = "Id, name or team"
    fields = ("workspace", "external_id", "name", "team", "audience")

    @display(description="team")
    def team_label(self, agent: Agent) -> str:
        return agent.team or "default team"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # The callers' own id is how programs name it: another id is another agent.
        fixed = super().get_readonly_fields(request, obj)
        return [*fixed, "external_id"] if obj is not None else fixed

    def empty(self, request: HttpRequest) -> Empty:
        return Empty("No agents yet", "An agent appears when a program first names its agentId.")
