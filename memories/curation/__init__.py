"""What people and programs do to memories by hand: create, edit, restore, decide, undo."""

from memories.curation.creating import NewMemory, create
from memories.curation.deciding import KEPT_BOTH, approve, keep_both, reject, undo
from memories.curation.editing import edit
from memories.curation.moving import merge_duplicates, merge_subjects, move
from memories.curation.quarantine import accept, dismiss
from memories.curation.reopening import redo, reopen
from memories.curation.reviving import restore

__all__ = [
    "KEPT_BOTH",
    "NewMemory",
    "accept",
    "approve",
    "create",
    "dismiss",
    "edit",
    "keep_both",
    "merge_duplicates",
    "merge_subjects",
    "move",
    "redo",
    "reject",
    "reopen",
    "restore",
    "undo",
]
