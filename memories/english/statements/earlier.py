"""Whether a change that is told late came before what is known: "I moved to Porto in 2015"."""

import re
from datetime import datetime, timedelta

from memories.english.dates import last_day
from memories.english.statements.read_statement import Reading

# Of these the date in a statement is the day on which it came true; a deadline's is its value.
LASTING = frozenset("residence place employer job school relationship spouse car".split())
_current = re.compile(r"\b(?:since|now|currently|still|these days)\b", re.IGNORECASE)
# A belief without a date holds at least from when it was said on, and for how long before?
UNKNOWN = timedelta(days=366)


def came_before(told: Reading, event: datetime, rule: str, since: datetime, *, dated: bool) -> bool:
    """Whether `told`, of which `event` is the first day that is meant, came true before what is
    believed `since` then; `dated`: since a day that was named. `rule` names the attribute."""
    if rule.removeprefix("slot:") not in LASTING or not _is_over(told):
        return False
    margin = timedelta(0) if dated else UNKNOWN
    last = last_day(told.statement, event.date()) - event.date()
    return since - event > margin + last


def _is_over(told: Reading) -> bool:
    """It tells what happened, not what is."""
    if _current.search(told.statement):
        return False
    return "to" in told.change or any(word.is_past for word in told.words)
