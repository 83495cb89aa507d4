"""Folding: what was said becomes features, by rules or a model, and what is too much is merged."""

from memories.folding.consolidating import consolidate
from memories.folding.discovery import discover, ring
from memories.folding.taking_in import Folded, fold, fold_due, fold_now

__all__ = ["Folded", "consolidate", "discover", "fold", "fold_due", "fold_now", "ring"]
