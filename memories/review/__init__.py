"""What people and programs do to memories by hand: create, edit, decide, forget, merge, undo."""

from memories.review.approve import KEPT_BOTH, approve, keep_both, reject
from memories.review.create import NewMemory, create
from memories.review.edit import MemoryEdit, edit, edit_all
from memories.review.forget import WRONG, forget, forget_all, forget_locked
from memories.review.merge import merge_duplicates, merge_subjects, move
from memories.review.quarantine import accept, dismiss
from memories.review.separate import SplitOff, separate, split, split_plan
from memories.review.undo import redo, reopen, restore, undo

__all__ = [
    "KEPT_BOTH", "WRONG", "MemoryEdit", "NewMemory", "SplitOff", "accept", "approve", "create",
    "dismiss", "edit", "edit_all", "forget", "forget_all", "forget_locked", "keep_both",
    "merge_duplicates", "merge_subjects", "move", "redo", "reject", "reopen", "restore",
    "separate", "split", "split_plan", "undo",
]  # fmt: skip
