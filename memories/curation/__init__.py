"""What people and programs do to memories by hand: create, edit, restore, decide, undo."""

from memories.curation.creating import NewMemory, create
from memories.curation.deciding import KEPT_BOTH, approve, keep_both, reject, undo
from memories.curation.editing import edit
from memories.curation.merging import merge_subjects
from memories.curation.moving import merge_duplicates, move
from memories.curation.quarantine import accept, dismiss
from memories.curation.reopening import redo, reopen
from memories.curation.reviving import restore
from memories.curation.separating import separate

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
    "separate",
    "undo",
]
