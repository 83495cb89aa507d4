"""The inbox of everything that waits for a person. A case is decided as a whole: one transaction
does everything in it. It can be undone as a whole, snoozed or assigned."""

from memories.cases.case_acts import (
    ask_case,
    ask_pair,
    assign_case,
    assign_failure,
    decide_case,
    leave_failure,
    snooze_case,
    snooze_failure,
    undo_case,
)
from memories.cases.case_decision import CaseDecision
from memories.cases.inbox import InboxFilter, figures, inbox

__all__ = [
    "CaseDecision", "InboxFilter", "ask_case", "ask_pair", "assign_case", "assign_failure",
    "decide_case", "figures", "inbox", "leave_failure", "snooze_case", "snooze_failure",
    "undo_case",
]  # fmt: skip
