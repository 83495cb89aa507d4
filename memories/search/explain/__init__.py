"""Why a search did not show a memory that somebody expected: the step at which it fell out.

Runs the very search, and asks step by step what it asks at once, so it may be slow; it changes
nothing.
"""

from memories.search.explain.explain_run import why_not
from memories.search.explain.why_not import Step, WhyNot

__all__ = ["Step", "WhyNot", "why_not"]
