"""A new workspace, with a key of its own and an owner who is invited."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from memoryproject.postgres import visible
from workspaces.auth import as_uuid
from workspaces.keys import KeyOptions, issue_key
from workspaces.members import invite
from workspaces.models import (
    REMOVED,
    SLUG,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    User,
    Workspace,
)
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import Scope


class SlugTaken(Exception):
    """Another workspace has this slug."""


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """A workspace to create: `owner` belongs to it at once; `owner_email` is invited."""

    slug: str
    name: str
    owner: User | None = None
    owner_email: str = ""
    with_key: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Created:
    """A new workspace. `key` is the text that a caller presents, `token` that of the invitation's
    link: both are known only here, and empty where none was wanted."""

    workspace: Workspace
    key: str = ""
    invitation: Invitation | None = None
    token: str = ""


def fault_of_slug(slug: str) -> str:
    """Return what is wrong with a slug, in words; empty where a workspace may have it."""
    if not re.fullmatch(SLUG, slug):
        return "Lower-case letters, digits and hyphens, 63 at most; no hyphen at an end."
    if as_uuid(slug) is not None:
        return "This reads like an id."
    if slug.startswith(REMOVED):
        return f"What begins with {REMOVED} is a workspace that is being removed."
    return ""


@transaction.atomic
def create_workspace(new: NewWorkspace, *, actor: str) -> Created:
    """Create a workspace with what is needed to begin. Raises SlugTaken."""
    workspace = Workspace(slug=new.slug, name=new.name, settings=dict(new.settings))
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
