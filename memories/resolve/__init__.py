"""The resolver: does a new statement reinforce, replace or stand beside what we believe?"""

from memories.resolve.claims import (
    Claim,
    Quote,
    ResolveOutcome,
    placement_of,
    places_of,
    quarantine,
)
from memories.resolve.decide import OLDER, RULES
from memories.resolve.write import apply

__all__ = [
    "OLDER",
    "RULES",
    "Claim",
    "ResolveOutcome",
    "Quote",
    "apply",
    "placement_of",
    "places_of",
    "quarantine",
]
