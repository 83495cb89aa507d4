"""What waits for a person, in one inbox. A case is decided as one: everything of it is done in one
transaction, taken back as one, put off, or given to somebody."""

from memories.cases.decide_case import CaseDecision, decide_case
from memories.cases.inbox import InboxFilter, figures, inbox
from memories.cases.put_off_case import (
    ask_case,
    assign_case,
    assign_failure,
    leave_failure,
    snooze_case,
    snooze_failure,
)
from memories.cases.undo_case import undo_case

__all__ = [
    "CaseDecision", "InboxFilter", "ask_case", "assign_case", "assign_failure", "decide_case",
    "figures", "inbox", "leave_failure", "snooze_case", "snooze_failure", "undo_case",
]  # fmt: skip
