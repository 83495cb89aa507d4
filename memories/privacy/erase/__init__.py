"""Erasure: a subject, a conversation or an episode goes, and all that was made of it.

`plan` counts what would go. `request` writes down that it is to go, `run` takes it away in short
transactions, each whole in itself: whatever interrupts it, it goes on from the rows that are left.
At last `proof` looks for what was said, by searching and by reading every table.
"""

from memories.privacy.erase.erasure_plan import ErasureTarget, plan, target_of
from memories.privacy.erase.erasure_run import due, request, request_again, run, run_or_wait

__all__ = [
    "ErasureTarget",
    "due",
    "plan",
    "request",
    "request_again",
    "run",
    "run_or_wait",
    "target_of",
]
