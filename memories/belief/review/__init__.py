"""Acts of people and programs on memories: create, edit, decide, forget, merge, undo."""

from memories.belief.resolve.rejections import PRIVATE, WRONG
from memories.belief.review.approve import KEPT_BOTH, approve, keep_both, reject
from memories.belief.review.create import NewMemory, create
from memories.belief.review.edit import MemoryEdit, edit, edit_all
from memories.belief.review.forget import KEEP, MASK, forget, forget_all, forget_expired, forget_locked, reject_claim
from memories.belief.review.merge_duplicates import merge_duplicates, move
from memories.belief.review.merge_people import SplitOff, merge_subjects, separate, split, split_plan
from memories.belief.review.misread import NOT_MEANT, NOT_WORTH_IT, forget_misread
from memories.belief.review.quarantine import accept, dismiss
from memories.belief.review.replace_judged import replace_judged
from memories.belief.review.undo import redo, reopen, restore, undo

__all__ = [
    "KEEP",
    "KEPT_BOTH",
    "MASK",
    "NOT_MEANT",
    "NOT_WORTH_IT",
    "PRIVATE",
    "WRONG",
    "MemoryEdit",
    "NewMemory",
    "SplitOff",
    "accept",
    "approve",
    "create",
    "dismiss",
    "edit",
    "edit_all",
    "forget",
    "forget_all",
    "forget_expired",
    "forget_locked",
    "forget_misread",
    "keep_both",
    "merge_duplicates",
    "merge_subjects",
    "move",
    "redo",
    "reject",
    "reject_claim",
    "reopen",
    "replace_judged",
    "restore",
    "separate",
    "split",
    "split_plan",
    "undo",
]
