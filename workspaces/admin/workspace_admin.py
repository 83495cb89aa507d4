"""Workspaces, with their members in view."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import Model
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline

from workspaces.adminbase.access import access_of, workspace_id_of
from workspaces.adminbase.list_admin import AdminPage, Empty, display
from workspaces.adminbase.scoped_admin import ScopedAdmin
from workspaces.agents import agent_setups
from workspaces.models import Agent, Membership, Role


class MembersInline(TabularInline):
    """Members to look at. Roles are changed on the member's own page, which protects the owner."""

    model = Membership
    extra = 0
    max_num = 0
    per_page = 20
    hide_title = True
    can_delete = False
    show_change_link = True
    verbose_name_plural = "members"
    fields = readonly_fields = ("person", "role", "created_at")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("user")

    @display(description=_("person"))
    def person(self, member: Membership) -> str:
        page = reverse("admin:workspaces_membership_change", args=[member.pk])
        return format_html('<a class="desk-link" href="{}">{}</a>', page, member.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


class WorkspaceAdmin(ScopedAdmin):
    """A workspace; memories/admin adds its settings, which are about memories."""

    workspace_path = "pk"
    list_display = ("name", "slug", "role_here", "created_at")
    search_fields = ("slug__startswith", "name__icontains")
    search_help_text = _("Name, or beginning of the slug")
    fields: Sequence[str] | None = ("name", "slug")
    inlines = (MembersInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return access_of(request).everywhere

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj is not None else ()

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        access = access_of(request)
        for row in rows:
            row.own_role = access.roles.get(workspace_id_of(row), "")

    @display(description=_("your role"), label={Role.OWNER: "primary", Role.ADMIN: "info"})
    def role_here(self, workspace: Any) -> str:
        return getattr(workspace, "own_role", "")

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """Save a workspace; a new one belongs to the person who made it."""
        super().save_model(request, obj, form, change)
        if not change:
            user = access_of(request).user
            Membership.objects.create(workspace_id=obj.pk, user=user, role=Role.OWNER)

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No workspaces yet"),
            gettext("Everything is remembered within a workspace: add one."),
        )


class ConnectPage(AdminPage):
    """Lines to copy for programs that speak MCP; a key is issued elsewhere."""

    path, name, title = "connect/", "workspaces_connect", "Connect agents"
    template_name = "admin/workspaces/connect.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        url = self.request.build_absolute_uri(get_script_prefix()).rstrip("/")
        setups = agent_setups(url, "KEY", settings.COMMAND)
        return super().get_context_data(**kwargs, opts=self.model_admin.opts, setups=setups, url=f"{url}/mcp")


class AgentAdmin(ScopedAdmin):
    pages = (ConnectPage,)
    list_display = ("external_id", "name", "team_label", "created_at")
    list_select_related = ("workspace",)
    search_fields = ("external_id__startswith", "name__icontains", "team__istartswith")
    search_help_text = _("Id, name or team")
    fields = ("workspace", "external_id", "name", "team", "audience")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(removed_at=None)

    @display(description=_("team"))
    def team_label(self, agent: Agent) -> str:
        return agent.team or "default team"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Programs name an agent by their own id: another id is another agent.
        fixed = super().get_readonly_fields(request, obj)
        return [*fixed, "external_id"] if obj is not None else fixed

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No agents yet"),
            gettext("An agent appears when a program first names its agentId."),
        )
