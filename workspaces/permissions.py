"""Permissions: what each role of a member may do."""

from workspaces.models import Capability, Role

ROLE_CAPABILITIES: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(Capability.values),
    Role.ADMIN: frozenset(Capability.values),
    Role.EDITOR: frozenset({Capability.READ, Capability.WRITE, Capability.CURATE}),
    Role.VIEWER: frozenset({Capability.READ}),
}
