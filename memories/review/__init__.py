"""What people and programs do to memories by hand: create, edit, decide, forget, undo."""

from memories.review.approve import KEPT_BOTH, approve, keep_both, reject
from memories.review.create import NewMemory, create
from memories.review.edit import edit
from memories.review.forget import WRONG, forget
from memories.review.merge import merge_subjects
from memories.review.move import merge_duplicates, move
from memories.review.quarantine import accept, dismiss
from memories.review.restore import restore
from memories.review.separate import separate
from memories.review.undo import redo, reopen, undo

__all__ = [
    "KEPT_BOTH",
    "WRONG",
    "NewMemory",
    "accept",
    "approve",
    "create",
    "dismiss",
    "edit",
    "forget",
    "keep_both",
    "merge_duplicates",
    "merge_subjects",
    "move",
    "redo",
    "reject",
    "reopen",
    "restore",
    "separate",
    "undo",
]
