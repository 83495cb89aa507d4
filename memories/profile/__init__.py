"""What we know of somebody: memories by kind, features by category and tag, and as a text."""

from memories.profile.gathering import GROUPS, Known, Profile, Wish, profile
from memories.profile.keeping import kept
from memories.profile.rendering import dynamic_lines, markdown, static_lines

__all__ = [
    "GROUPS",
    "Known",
    "Profile",
    "Wish",
    "dynamic_lines",
    "kept",
    "markdown",
    "profile",
    "static_lines",
]
