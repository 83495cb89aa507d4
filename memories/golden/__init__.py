"""Golden questions: searches whose answers a person knows, asked again and again, and before what
searches go by is changed.

`check` compares how they do now with how they would do under a proposal, keeps that as a run, and
raises Conflict where it would get worse and nobody said `anyway`."""

from memories.golden.gate import GATES, GoldenSettings, ProposedChange, check, try_proposal
from memories.golden.questions import NewQuestion, add, import_questions, of_search, remove
from memories.golden.runs import due, keep, run, run_scheduled

__all__ = [
    "GATES", "GoldenSettings", "NewQuestion", "ProposedChange", "add", "check", "due",
    "import_questions", "keep", "of_search", "remove", "run", "run_scheduled", "try_proposal",
]  # fmt: skip
