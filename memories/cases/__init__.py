"""What waits for a person, decided as one: everything of a case is done in one transaction, taken
back as one, put off, or given to somebody."""

from memories.cases.decide_case import CaseDecision, decide_case
from memories.cases.put_off_case import ask_case, assign_case, snooze_case
from memories.cases.undo_case import undo_case

__all__ = ["CaseDecision", "ask_case", "assign_case", "decide_case", "snooze_case", "undo_case"]
