"""API keys: issued with the secret shown once, revoked, and never changed."""

import re
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import get_script_prefix
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSingleDateWidget,
    UnfoldAdminTextInputWidget,
)

from workspaces.adminbase.access import access_of, actor_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import RowAdmin, Verb
from workspaces.adminbase.scoped_admin import StateFilter, WorkspaceChoiceForm, pick_many, pick_one
from workspaces.agents import agent_setups
from workspaces.keys import KeyOptions, issue_key, revoke_key
from workspaces.models import Agent, ApiKey, Capability, Subject
from workspaces.models.key import CONTAINER_TAG
from workspaces.time_zones import begin_of

CAPABILITIES = {
    Capability.READ: "Read: search and look at memories",
    Capability.WRITE: "Write: tell it things",
    Capability.CURATE: "Curate: edit, forget, restore, decide",
    Capability.ADMIN: "Admin: keys and members",
}


class KeyForm(WorkspaceChoiceForm):
    name = forms.CharField(
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("What uses it, so that you know later which key to revoke."),
    )
    agent = forms.ModelChoiceField(
        Agent.objects.none(),
        required=False,
        help_text=gettext_lazy("Empty: the workspace's own backend, which sees all of the workspace."),
    )
    subjects = forms.ModelMultipleChoiceField(
        Subject.objects.none(),
        required=False,
        label=gettext_lazy("People"),
        help_text=gettext_lazy("Empty: everybody. Otherwise it reads and writes only what is about these."),
    )
    spaces = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget,
        label=gettext_lazy("Spaces"),
        help_text=gettext_lazy(
            "Empty: documents of all spaces. Otherwise tags of spaces, with commas between them:"
            " it reads and writes documents of these alone. This limits documents only: which"
            " memories it sees, agent and people above decide."
        ),
    )
    capabilities = forms.MultipleChoiceField(
        choices=list(CAPABILITIES.items()),
        initial=[Capability.READ, Capability.WRITE],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    expires_on = forms.DateField(
        required=False,
        widget=UnfoldAdminSingleDateWidget,
        label=gettext_lazy("Expires on"),
        help_text=gettext_lazy("Empty: never."),
    )

    def __init__(self, admin: Any, request: HttpRequest) -> None:
        super().__init__(admin, request)
        self._limit("agent", Agent, pick_one(admin, ApiKey._meta.get_field("agent")), admin, request)
        subjects = ApiKey._meta.get_field("subjects")
        self._limit("subjects", Subject, pick_many(admin, subjects), admin, request)

    def _limit(self, name: str, model: Any, widget: Any, admin: Any, request: HttpRequest) -> None:
        choice = self.fields[name]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.widget = widget
        choice.queryset = admin.choices_for(model, request)

    def clean_expires_on(self) -> Any:
        day = self.cleaned_data["expires_on"]
        if day is not None and day <= timezone.localdate():
            raise ValidationError(gettext("This day is over, or ends now: give a later one."))
        return day

    def clean_spaces(self) -> tuple[str, ...] | None:
        told = self.cleaned_data["spaces"].split(",")
        tags = tuple(dict.fromkeys(tag.strip() for tag in told if tag.strip()))
        if wrong := [tag for tag in tags if not re.fullmatch(CONTAINER_TAG, tag)]:
            raise ValidationError(gettext("%s is no tag of a space.") % wrong[0])
        return tags or None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        workspace = values.get("workspace")
        if workspace is not None:
            self._check_home("agent", [values["agent"]] if values.get("agent") else [], workspace)
            self._check_home("subjects", values.get("subjects") or [], workspace)
        return values

    def _check_home(self, name: str, rows: Any, workspace: Any) -> None:
        if any(row.workspace_id != workspace.pk for row in rows):
            self.add_error(name, f"Choose of {workspace} only.")

    def options(self) -> KeyOptions:
        values = self.cleaned_data
        day = values["expires_on"]
        return KeyOptions(
            name=values["name"],
            capabilities=tuple(values["capabilities"]),
            agent=values["agent"],
            subjects=tuple(values["subjects"]) or None,
            expires_at=day and begin_of(day),
            container_tags=values["spaces"],
        )


class KeyStateFilter(StateFilter):
    states = {
        "active": gettext_lazy("Active"),
        "expired": gettext_lazy("Expired"),
        "revoked": gettext_lazy("Revoked"),
    }

    def narrow(self, rows: Any, state: str) -> Any:
        if state == "revoked":
            return rows.filter(revoked_at__isnull=False)
        expired = rows.filter(expires_at__lte=timezone.now(), revoked_at=None)
        return expired if state == "expired" else rows.filter(revoked_at=None).exclude(pk__in=expired.values("pk"))


class KeyAdmin(RowAdmin):
    read_capability = Capability.ADMIN
    can_add = True
    add_label = gettext_lazy("Issue key")
    list_display = (
        "name",
        "begins",
        "agent_label",
        "may_label",
        "state",
        "last_used_at",
        "created_at",
    )
    list_select_related = ("workspace", "agent")
    list_filter = (KeyStateFilter,)
    search_fields = ("name__icontains", "prefix__startswith")
    search_help_text = gettext_lazy("Name, or beginning after mp_")
    page_template = "admin/workspaces/apikey/page.html"
    verbs = (
        Verb(
            "revoke",
            gettext_lazy("Revoke"),
            "block",
            "danger",
            gettext_lazy("Whatever uses this key is refused from now on. This cannot be taken back."),
            capability=Capability.ADMIN,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        # The digest has no business on any page.
        rows = super().get_queryset(request).select_related("workspace", "agent")
        return rows.defer("digest")

    @display(description=gettext_lazy("begins with"))
    def begins(self, key: ApiKey) -> str:
        return f"mp_{key.prefix}_…"

    @display(description=gettext_lazy("agent"))
    def agent_label(self, key: ApiKey) -> str:
        return str(key.agent) if key.agent else "any"

    @display(description=gettext_lazy("may"), label=True)
    def may_label(self, key: ApiKey) -> list[str]:
        """Return what the key may do, and where it is narrower than the workspace."""
        people = [gettext("some people only")] if key.limited_to_subjects else []
        spaces = [gettext("documents of %s only") % tag for tag in key.container_tags or ()]
        return [*key.capabilities, *people, *spaces]

    @display(description=gettext_lazy("state"), label={"active": "success", "expired": "warning"})
    def state(self, key: ApiKey) -> str:
        return state_of(key)

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.revoked_at is None

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "title": row.name,
            "state": state_of(row),
            "subjects": list(row.subjects.all()[:50]) if row.limited_to_subjects else None,
            "made_by": row.created_by or "",
        }

    def do_revoke(self, request: HttpRequest, row: ApiKey, values: dict[str, Any]) -> str:
        revoke_key(row, actor=actor_of(request.user))
        return gettext("%(name)s is revoked.") % {"name": row.name}

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        self.require_add(request)
        form = KeyForm(self, request)
        if request.method == "POST" and form.is_valid():
            workspace = form.cleaned_data["workspace"]
            actor = access_of(request).scope(workspace.pk).actor
            user: Any = request.user
            key, secret = issue_key(workspace.pk, form.options(), actor=actor, user=user)
            context = {
                **self.admin_site.each_context(request),
                "title": gettext("Key issued"),
                "opts": self.opts,
                "key": key,
                "secret": secret,
                "key_url": self.page_of(key),
                "url": request.build_absolute_uri(f"{get_script_prefix()}api/v1/workspaces/{workspace.slug}/memories/"),
                "setups": agent_setups(
                    request.build_absolute_uri(get_script_prefix()).rstrip("/"),
                    secret,
                    settings.COMMAND,
                ),
            }
            return TemplateResponse(request, "admin/workspaces/apikey/issued.html", context)
        return self.form_page(request, form, title=gettext("Issue an API key"), submit=gettext("Issue key"))

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No API keys yet"),
            gettext("A program needs a key to read and write: issue one."),
        )


def state_of(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "active" if key.is_active else "expired"
