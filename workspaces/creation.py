"""A new workspace, with a key of its own."""

import re
from dataclasses import dataclass

from django.db import transaction

from workspaces.auth import as_uuid
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import SLUG, AuditEntry, Membership, Role, User, Workspace
from workspaces.scope import ROLE_CAPABILITIES, Scope


class SlugTaken(Exception):
    """Another workspace has it."""


@dataclass(frozen=True, slots=True)
class Created:
    """`key` is the text that a caller presents, known only here; empty where none was wished."""

    workspace: Workspace
    key: str = ""


def fault_of_slug(slug: str) -> str:
    """In words; empty where it may be a workspace's."""
    if not re.fullmatch(SLUG, slug):
        return "Lower-case letters, digits and hyphens, 63 at most; no hyphen at an end."
    if as_uuid(slug) is not None:
        return "This reads like an id."
    return ""


@transaction.atomic
def create_workspace(
    slug: str, name: str, *, actor: str, owner: User | None = None, with_key: bool = False
) -> Created:
    """Make a workspace that `owner` belongs to. Raises SlugTaken."""
    workspace = Workspace(slug=slug, name=name)
    Workspace.objects.bulk_create([workspace], ignore_conflicts=True)
    if not Workspace.objects.filter(pk=workspace.pk).exists():
        raise SlugTaken
    after = {"slug": slug, "name": name}
    AuditEntry.line(workspace.pk, actor, "create_workspace", workspace, after=after).save()
    if owner is not None:
        Membership.objects.create(workspace=workspace, user=owner, role=Role.OWNER)
    if not with_key:
        return Created(workspace)
    _, text = issue_key(workspace.pk, KeyOptions("first key"), actor=actor, user=owner)
    return Created(workspace, text)


def founding_scope(workspace: Workspace, actor: str) -> Scope:
    """Who made a workspace asks as its owner, to invite the first one."""
    capabilities = ROLE_CAPABILITIES[Role.OWNER]
    return Scope(workspace.pk, actor, capabilities, role=Role.OWNER, slug=workspace.slug)
