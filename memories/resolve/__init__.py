"""The resolver: does a new statement reinforce, replace or stand beside what we believe?"""

from memories.resolve.apply import apply
from memories.resolve.claims import Claim, Outcome, Quote, placement_of, quarantine
from memories.resolve.decide import OLDER, RULES

__all__ = [
    "OLDER",
    "RULES",
    "Claim",
    "Outcome",
    "Quote",
    "apply",
    "placement_of",
    "quarantine",
]
