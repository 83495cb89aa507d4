"""Why a search did not show a memory that somebody expected: the step at which it fell out.

Runs the very search, and asks step by step what it asks at once, so it may be slow; it changes
nothing.
"""

from memories.search.explain.report import Step, WhyNot
from memories.search.explain.run import why_not

__all__ = ["Step", "WhyNot", "why_not"]
