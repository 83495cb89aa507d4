"""The first minute of a new server: an admin, a workspace, an agent and a key."""

import secrets
from dataclasses import dataclass

from django.db import transaction

from workspaces.keys import KeyOptions, issue_key
from workspaces.models import Agent, Membership, Role, User, Workspace


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
    workspace = Workspace.objects.create(slug=slug, name=slug.title())
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
