"""The resolver: does a new statement reinforce, replace or stand beside what we believe?"""

from memories.belief.resolve.claims import (
    Claim,
    Quote,
    ResolveOutcome,
    is_limited,
    placement_of,
    places_of,
    quarantine,
    spaces_of,
)
from memories.belief.resolve.decide import OLDER, RULES
from memories.belief.resolve.file_cases import (
    CaseAbout,
    NewItem,
    file_facts,
    file_unfiled,
    file_unsupported,
    follow_subjects,
    open_case,
    settle,
    unfiled,
)
from memories.belief.resolve.named_people import people_named
from memories.belief.resolve.write import apply

__all__ = [
    "OLDER",
    "RULES",
    "CaseAbout",
    "Claim",
    "NewItem",
    "ResolveOutcome",
    "Quote",
    "apply",
    "file_facts",
    "file_unfiled",
    "file_unsupported",
    "follow_subjects",
    "is_limited",
    "open_case",
    "people_named",
    "placement_of",
    "places_of",
    "quarantine",
    "settle",
    "spaces_of",
    "unfiled",
]
