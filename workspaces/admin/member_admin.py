"""Members: invite, change the role, remove."""

from typing import Any

from django import forms
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminEmailInputWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from workspaces import members
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Button, RowAdmin, Verb, refusal_text
from workspaces.adminbase.scoped_admin import StateFilter, WorkspaceChoiceForm
from workspaces.adminbase.target_names import name_of
from workspaces.models import Capability, Invitation, Membership, Role
from workspaces.scope import NotAllowed

ROLES = {
    Role.OWNER: "Owner: everything, also other owners",
    Role.ADMIN: "Admin: everything but owners",
    Role.EDITOR: "Editor: reads, writes, corrects and forgets",
    Role.VIEWER: "Viewer: reads",
}


class InviteForm(WorkspaceChoiceForm):
    email = forms.EmailField(widget=UnfoldAdminEmailInputWidget)
    name = forms.CharField(max_length=150, required=False, widget=UnfoldAdminTextInputWidget)
    role = forms.ChoiceField(choices=list(ROLES.items()), initial=Role.VIEWER, widget=UnfoldAdminSelectWidget)

    def __init__(self, admin: Any, request: HttpRequest) -> None:
        super().__init__(admin, request)
        access = access_of(request)
        _offer(self, owner=access.everywhere or any(map(access.owns, access.roles)))


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=list(ROLES.items()), widget=UnfoldAdminSelectWidget)


def _offer(form: Any, *, owner: bool) -> None:
    """Hide the role of owner from people who are not owners; the verb would refuse it, too."""
    if not owner:
        form.fields["role"].widget.choices = [each for each in ROLES.items() if each[0] != Role.OWNER]


class MemberAdmin(RowAdmin):
    list_display = ("person", "email", "role_label", "created_at")
    list_select_related = ("workspace", "user")
    list_filter = ("role",)
    search_fields = ("user__username__istartswith", "user__email__istartswith")
    search_help_text = _("Beginning of the name or address")
    page_template = "admin/workspaces/membership/page.html"
    refusals = (members.MembershipConflict, NotAllowed)
    can_add = True
    add_label = _("Invite")
    verbs = (
        Verb(
            "role",
            _("Change role"),
            "badge",
            "primary",
            _("What may this person do?"),
            RoleForm,
            Capability.ADMIN,
        ),
        Verb(
            "remove",
            _("Remove"),
            "person_remove",
            "danger",
            _("The person sees nothing of this workspace any more. The account stays."),
            capability=Capability.ADMIN,
        ),
    )

    @display(description=_("person"), ordering="user__username")
    def person(self, member: Membership) -> str:
        return member.known_as

    @display(description=_("address"))
    def email(self, member: Membership) -> str:
        return member.user.email

    @display(
        description=_("role"),
        label={Role.OWNER: "primary", Role.ADMIN: "info", Role.EDITOR: "success"},
    )
    def role_label(self, member: Membership) -> str:
        return member.role

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("user", "workspace")

    def may(self, request: HttpRequest, capability: str, row: Model | None = None) -> bool:
        allowed = super().may(request, capability, row)
        if not isinstance(row, Membership) or capability == Capability.READ:
            return allowed
        return allowed and (row.role != Role.OWNER or access_of(request).owns(row.workspace_id))

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        buttons = super().buttons(request, row)
        for button in buttons:
            if button.form is not None:
                _offer(button.form, owner=access_of(request).owns(row.workspace_id))
        return buttons

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {"title": str(row.user), "meaning": ROLES[Role(row.role)]}

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        return verb.form(data, initial={"role": row.role}, auto_id=f"{prefix}-%s")

    def do_role(self, request: HttpRequest, row: Membership, values: dict[str, Any]) -> str:
        scope = access_of(request).scope(row.workspace_id)
        members.change_role(scope, row, values["role"])
        return gettext("%(user)s is %(role)s now.") % {"user": row.user, "role": values["role"]}

    def do_remove(self, request: HttpRequest, row: Membership, values: dict[str, Any]) -> str:
        members.remove(access_of(request).scope(row.workspace_id), row)
        return gettext("%(user)s was removed from %(workspace)s.") % {
            "user": row.user,
            "workspace": row.workspace,
        }

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        self.require_add(request)
        form = InviteForm(self, request)
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            scope = access_of(request).scope(values["workspace"].pk)
            try:
                invitation, token = members.invite(scope, values["email"], values["role"], values["name"])
            except self.refusals as refusal:
                form.add_error(getattr(refusal, "field", None), refusal_text(refusal))
            else:
                context = {
                    **self.admin_site.each_context(request),
                    "title": gettext("Invited"),
                    "opts": self.opts,
                    "invitation": invitation,
                    "invite_url": members.link_of(request, invitation, token),
                    "list_url": reverse("admin:workspaces_invitation_changelist"),
                }
                template = "admin/workspaces/membership/invited.html"
                return TemplateResponse(request, template, context)
        return self.form_page(request, form, title=gettext("Invite a member"), submit=gettext("Invite"))


class InvitationStateFilter(StateFilter):
    states = {"open": _("Open"), "accepted": _("Accepted"), "over": _("Revoked or expired")}

    def narrow(self, rows: Any, state: str) -> Any:
        if state == "accepted":
            return rows.filter(accepted_at__isnull=False)
        opened = Invitation.objects.open().values("pk")
        if state == "open":
            return rows.filter(pk__in=opened)
        return rows.filter(accepted_at=None).exclude(pk__in=opened)


class InvitationAdmin(RowAdmin):
    """Invitations to become a member. New ones are made on the page of members."""

    read_capability = Capability.ADMIN
    list_display = ("email", "role_label", "state_label", "expires_at", "created_at")
    list_select_related = ("workspace",)
    list_filter = (InvitationStateFilter,)
    search_fields = ("email__istartswith",)
    search_help_text = _("Beginning of the address")
    page_template = "admin/workspaces/invitation/page.html"
    refusals = (NotAllowed,)
    verbs = (
        Verb(
            "revoke",
            _("Revoke"),
            "block",
            "danger",
            _("The link opens nothing any more."),
            capability=Capability.ADMIN,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace").defer("digest")

    @display(description=_("role"), label=True)
    def role_label(self, row: Invitation) -> str:
        return row.role

    @display(description=_("state"), label={"open": "info", "accepted": "success"})
    def state_label(self, row: Invitation) -> str:
        return row.state

    def offers(self, row: Any, verb: Verb) -> bool:
        return bool(row.state == "open")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        invited_by = name_of(row.invited_by)
        return {"title": row.email, "meaning": ROLES[Role(row.role)], "invited_by": invited_by}

    def do_revoke(self, request: HttpRequest, row: Invitation, values: dict[str, Any]) -> str:
        members.revoke(access_of(request).scope(row.workspace_id), row)
        return gettext("The invitation of %(email)s is revoked.") % {"email": row.email}

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(gettext("No invitations yet"), gettext("Invite somebody on the page of members."))
