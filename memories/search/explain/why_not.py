"""A question, the memory that should have answered it, and the steps between them."""

from dataclasses import dataclass, field
from typing import Literal

from memories.models import Memory, WorkspaceIndex
from memories.search import Hit, SearchRequest
from memories.search.conditions import LayerQuery
from memories.search.trace import Placed

State = Literal["passed", "noted", "failed"]


@dataclass(frozen=True, slots=True)
class Step:
    """One condition on the way to a hit. `noted` makes a hit less likely, and excludes nothing."""

    name: str
    state: State
    told: str


@dataclass(slots=True)
class WhyNot:
    """The steps up to the one that failed. `rank` counts from 1 where the memory was ranked, and
    `placed` has its score; `last` is the last hit that was shown, to compare the parts with."""

    memory: Memory | None = None
    steps: list[Step] = field(default_factory=list)
    rank: int | None = None
    placed: Placed | None = None
    last: Hit | None = None

    @property
    def failed(self) -> Step | None:
        return next((step for step in self.steps if step.state == "failed"), None)

    def note(self, name: str, failure: str, success: str) -> bool:
        """Add a step that failed where `failure` says something; whether it passed."""
        self.steps.append(Step(name, "failed" if failure else "passed", failure or success))
        return not failure


@dataclass(frozen=True, slots=True)
class WhyNotQuestion:
    """A question and the memory that should have answered it."""

    index: WorkspaceIndex
    request: SearchRequest
    asked: LayerQuery
    memory: Memory
