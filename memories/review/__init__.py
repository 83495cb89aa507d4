"""Acts of people and programs on memories: create, edit, decide, forget, merge, undo."""

from memories.resolve.rejections import PRIVATE, WRONG
from memories.review.approve_and_undo import (
    KEPT_BOTH,
    approve,
    keep_both,
    redo,
    reject,
    reopen,
    restore,
    undo,
)
from memories.review.create_and_edit import MemoryEdit, NewMemory, create, edit, edit_all
from memories.review.forget import (
    KEEP,
    MASK,
    forget,
    forget_all,
    forget_expired,
    forget_locked,
    reject_claim,
)
from memories.review.merge_and_separate import (
    SplitOff,
    merge_duplicates,
    merge_subjects,
    move,
    separate,
    split,
    split_plan,
)
from memories.review.quarantine import accept, dismiss

__all__ = [
    "KEEP", "KEPT_BOTH", "MASK", "PRIVATE", "WRONG", "MemoryEdit", "NewMemory", "SplitOff",
    "accept", "approve", "create", "dismiss", "edit", "edit_all", "forget", "forget_all",
    "forget_expired", "forget_locked", "keep_both", "merge_duplicates", "merge_subjects", "move",
    "redo", "reject", "reject_claim", "reopen", "restore", "separate", "split", "split_plan",
    "undo",
]  # fmt: skip
