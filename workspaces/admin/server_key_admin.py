"""What belongs to the server and to no workspace, for superusers: to be read."""

from workspaces.adminbase.list_admin import ServerAdmin


class ServerKeyAdmin(ServerAdmin):
    """Made and revoked by `createkey --server`."""

    can_add = False
    list_display = ("name", "prefix", "issued_by", "last_used_at", "expires_at", "revoked_at")
    fields = readonly_fields = (*list_display, "created_at")


class RemovalAdmin(ServerAdmin):
    """Certificates of workspaces that are gone, and those that are going."""

    can_add = False
    list_display = ("workspace_id", "state", "requested_by", "created_at", "finished_at")
    fields = readonly_fields = (*list_display, "plan", "removed", "error", "attempts")
