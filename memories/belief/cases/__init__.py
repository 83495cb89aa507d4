"""The inbox of everything that waits for a person. A case is decided as a whole: one transaction
does everything in it. It can be undone as a whole, snoozed or assigned."""

from memories.belief.cases.case_decision import CaseDecision
from memories.belief.cases.decide_case import decide_case
from memories.belief.cases.inbox import InboxFilter, figures, inbox
from memories.belief.cases.postpone_case import (
    ask_case,
    ask_pair,
    assign_case,
    assign_failure,
    leave_failure,
    snooze_case,
    snooze_failure,
)
from memories.belief.cases.undo_case import undo_case

__all__ = [
    "CaseDecision",
    "InboxFilter",
    "ask_case",
    "ask_pair",
    "assign_case",
    "assign_failure",
    "decide_case",
    "figures",
    "inbox",
    "leave_failure",
    "snooze_case",
    "snooze_failure",
    "undo_case",
]
