"""A person's access in the browser: what they may do, and in which workspaces. Read once per
request."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Case, Model, QuerySet, When
from django.http import Http404, HttpRequest

from memoryproject.postgres import crossings
from workspaces.auth import as_uuid
from workspaces.middleware import LOOKED_AT
from workspaces.models import Capability, Membership, Role, User, Workspace
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import Scope

Rows = TypeVar("Rows", bound=QuerySet[Any])
KEPT = "_access"


@dataclass(frozen=True, slots=True)
class Access:
    """The workspaces of a person with the role in each; a superuser has all of them."""

    user: User  # or the anonymous user, who has access to nothing
    roles: Mapping[uuid.UUID, str] = field(default_factory=dict)
    slugs: Mapping[uuid.UUID, str] = field(default_factory=dict)
    everywhere: bool = False
    looked_at: uuid.UUID | None = None

    @property
    def is_let_in(self) -> bool:
        return self.everywhere or bool(self.roles)

    @property
    def is_of_many(self) -> bool:
        """Tell whether pages must show which workspace a row belongs to."""
        return self.everywhere or len(self.roles) > 1

    def may(self, capability: str, workspace_id: uuid.UUID) -> bool:
        role = self.roles.get(workspace_id, "")
        return self.everywhere or capability in ROLE_CAPABILITIES.get(role, frozenset())

    def may_somewhere(self, capability: str) -> bool:
        return self.everywhere or any(self.may(capability, each) for each in self.roles)

    def owns(self, workspace_id: uuid.UUID) -> bool:
        return self.everywhere or self.roles.get(workspace_id) == Role.OWNER

    def limit(self, rows: Rows, path: str, capability: str = Capability.READ) -> Rows:
        """Those of `rows` whose workspace, found at `path`, grants the capability."""
        if self.everywhere:
            return rows
        allowed = [each for each in self.roles if self.may(capability, each)]
        if len(allowed) == 1:  # an equality lets the planner walk (workspace, -id)
            return rows.filter(**{path: allowed[0]})
        return rows.filter(**{f"{path}__in": allowed})

    def one(self, rows: QuerySet[Any], capability: str) -> Any:
        """The only one of `rows`: 404 where the person does not see it, 403 where the capability is
        not theirs in its workspace."""
        row = self.limit(rows, "workspace").first()
        if row is None:
            raise Http404(f"no such {rows.model._meta.verbose_name}")
        if not self.may(capability, row.workspace_id):
            raise PermissionDenied
        return row

    def workspaces(self, capability: str = Capability.READ) -> QuerySet[Workspace]:
        return self.limit(Workspace.objects.all(), "pk", capability)

    def usual_workspace(self, capability: str = Capability.READ) -> Workspace | None:
        """Return the workspace for a page that names none: the one looked at last, else the first
        by name."""
        is_last = Case(When(pk=self.looked_at, then=0), default=1)
        return self.workspaces(capability).order_by(is_last, "name").first()

    def scope(self, workspace_id: uuid.UUID) -> Scope:
        """Return this person's scope, for the verbs, in a workspace that they belong to."""
        role = Role.OWNER if self.everywhere else self.roles[workspace_id]
        return Scope(
            workspace_id,
            actor_of(self.user),
            ROLE_CAPABILITIES[role],
            user_id=self.user.pk,
            role=role,
            slug=self.slugs.get(workspace_id, ""),
        )


def actor_of(user: Any) -> str:
    """Return the name of a person in decisions and in the audit log."""
    return f"user:{user.pk}"


def access_of(request: HttpRequest) -> Access:
    known = getattr(request, KEPT, None)
    if known is None or known.user is not request.user:
        looked_at = as_uuid(request.COOKIES.get(LOOKED_AT, ""))
        known = replace(access_for(request.user), looked_at=looked_at)
        setattr(request, KEPT, known)
    return known


def look_at(request: HttpRequest, workspace_id: uuid.UUID) -> None:
    """Make this workspace the default of the next page that names none."""
    setattr(request, LOOKED_AT, str(workspace_id))


def access_for(user: Any) -> Access:
    """Return a person's access: none for anonymous and inactive users. All rows that the person may
    read become visible."""
    if not isinstance(user, User) or not user.is_active:
        return Access(user)
    crossings.narrow_to_user(user.pk)
    memberships = Membership.objects.filter(user=user).select_related("workspace")
    by_workspace = {each.workspace_id: each for each in memberships}
    return Access(
        user,
        {key: each.role for key, each in by_workspace.items()},
        {key: each.workspace.slug for key, each in by_workspace.items()},
        everywhere=user.is_superuser,
    )


def workspace_id_of(row: Model) -> uuid.UUID:
    """The workspace that a row belongs to."""
    return row.pk if isinstance(row, Workspace) else row.workspace_id  # type: ignore[attr-defined]
