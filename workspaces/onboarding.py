"""The first minute of a new server: an admin, a workspace, an agent and a key."""

import secrets
from dataclasses import dataclass

from django.db import transaction

from workspaces.keys import KeyOptions, issue_key
from workspaces.models import Agent, Membership, Role, User, Workspace


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What a new server made; the two secrets are known only here."""

    workspace: str
    admin_user: str
    admin_password: str
    key: str


@transaction.atomic
def first_run(slug: str = "demo") -> FirstRun | None:
    """Make the first admin, workspace, agent and key; None where any user exists already."""
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    admin = User.objects.create_superuser("admin", "admin@localhost.localdomain", password)
    workspace = Workspace.objects.create(slug=slug, name=slug.title())
    Membership.objects.create(workspace=workspace, user=admin, role=Role.OWNER)
    Agent.objects.create(workspace=workspace, external_id="assistant", name="Assistant")
    _, key = issue_key(workspace.pk, KeyOptions("first key"), actor="up", user=admin)
    return FirstRun(workspace.slug, admin.username, password, key)
