"""Folding: what was said becomes features, by rules or a model, and what is too much is merged."""

from memories.folding.consolidating import consolidate, consolidate_set
from memories.folding.discovery import counted_now, discover, ring
from memories.folding.taking_in import (
    Folded,
    asks_model,
    fold,
    fold_due,
    fold_now,
    fold_soon,
)

__all__ = [
    "Folded",
    "asks_model",
    "consolidate",
    "consolidate_set",
    "counted_now",
    "discover",
    "fold",
    "fold_due",
    "fold_now",
    "fold_soon",
    "ring",
]
