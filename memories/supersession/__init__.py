"""The resolver: does a new statement reinforce, replace or stand beside what we believe?"""

from memories.supersession.applying import apply
from memories.supersession.claims import Claim, Outcome, Quote, placement_of, quarantine
from memories.supersession.deciding import OLDER, RULES

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
