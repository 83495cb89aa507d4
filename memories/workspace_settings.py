"""What is wrong with the settings of a workspace, whoever reads them."""

from typing import Any

from memories import ladder
from memories.semantics import config as feature_sets
from memories.supersession import RULES


def faults_of(settings: dict[str, Any]) -> list[str]:
    """In words for people; [] where all is well."""
    found = ladder.faults_of(settings)
    if settings.get("conflict_rule", RULES[0]) not in RULES:
        found.append(f"conflict_rule: one of {', '.join(RULES)}.")
    found += feature_sets.faults_of(settings)
    return found
