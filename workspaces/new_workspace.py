"""A new workspace, with a key of its own and an owner who is invited."""

import re
import secrets
from dataclasses import dataclass

from django.db import transaction

from memoryproject.postgres import visible
from workspaces.auth import as_uuid
from workspaces.invitations import invite
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import (
    REMOVED,
    SLUG,
    Agent,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    User,
    Workspace,
)
from workspaces.scope import ROLE_CAPABILITIES, Scope


class SlugTaken(Exception):
    """Another workspace has it."""


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """`owner` belongs to it at once; `owner_email` is invited."""

    slug: str
    name: str
    owner: User | None = None
    owner_email: str = ""
    with_key: bool = False


@dataclass(frozen=True, slots=True)
class Created:
    """`key` is the text that a caller presents, `token` that of the invitation's link: both are
    known only here, and empty where none was wished."""

    workspace: Workspace
    key: str = ""
    invitation: Invitation | None = None
    token: str = ""


def fault_of_slug(slug: str) -> str:
    """In words; empty where it may be a workspace's."""
    if not re.fullmatch(SLUG, slug):
        return "Lower-case letters, digits and hyphens, 63 at most; no hyphen at an end."
    if as_uuid(slug) is not None:
        return "This reads like an id."
    if slug.startswith(REMOVED):
        return f"What begins with {REMOVED} is a workspace that is being removed."
    return ""


@transaction.atomic
def create_workspace(new: NewWorkspace, *, actor: str) -> Created:
    """Make a workspace, and what is needed to begin with it. Raises SlugTaken."""
    workspace = Workspace(slug=new.slug, name=new.name)
    visible.add(workspace.pk)
    Workspace.objects.bulk_create([workspace], ignore_conflicts=True)
    if not Workspace.objects.filter(pk=workspace.pk).exists():
        raise SlugTaken
    after = {"slug": new.slug, "name": new.name}
    AuditEntry.line(workspace.pk, actor, "create_workspace", workspace, after=after).save()
    if new.owner is not None:
        Membership.objects.create(workspace=workspace, user=new.owner, role=Role.OWNER)
    key, invitation, token = "", None, ""
    if new.with_key:
        _, key = issue_key(workspace.pk, KeyOptions("first key"), actor=actor, user=new.owner)
    if new.owner_email:
        asker = Scope(workspace.pk, actor, ROLE_CAPABILITIES[Role.OWNER], role=Role.OWNER)
        invitation, token = invite(asker, new.owner_email, Role.OWNER)
    return Created(workspace, key, invitation, token)


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What a new server made; the two secrets are known only here. The password is None once it
    was changed."""

    workspace: str
    admin_user: str
    admin_password: str | None
    key: str


@transaction.atomic
def first_run(slug: str = "demo") -> FirstRun | None:
    """Make the first admin, workspace, agent and key; None where any user exists already."""
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    admin = User.objects.create_superuser("admin", "admin@localhost.localdomain", password)
    ask_for_another_password(admin)
    workspace = Workspace(slug=slug, name=slug.title())
    visible.add(workspace.pk)
    workspace.save(force_insert=True)
    Membership.objects.create(workspace=workspace, user=admin, role=Role.OWNER)
    Agent.objects.create(workspace=workspace, external_id="assistant", name="Assistant")
    _, key = issue_key(workspace.pk, KeyOptions("first key"), actor="up", user=admin)
    return FirstRun(workspace.slug, admin.username, password, key)


def is_first_password(username: str, password: str) -> bool:
    """Whether it opens the account still, which then must change it at the next login."""
    admin = User.objects.filter(username=username).first()
    if admin is None or not admin.check_password(password):
        return False
    ask_for_another_password(admin)
    return True


def ask_for_another_password(user: User) -> None:
    user.must_change_password = True
    user.save(update_fields=["must_change_password"])
