"""What came of asking: facts, and each step on the way."""

from dataclasses import asdict, dataclass, field
from typing import Any

from memories.errors import ProviderError
from memories.prompts import PROMPT_VERSION
from memories.providers import ExtractedFact, ExtractionAnswer, ExtractionRequest


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt at a piece of the messages; `outcome` in words."""

    rule: str
    model: str
    outcome: str
    prompt_version: str = PROMPT_VERSION
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {_camel(name): value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact, with the model and prompt that found it and the number of the piece that it read."""

    fact: ExtractedFact
    rule: str
    piece: int


@dataclass(slots=True)
class LadderAnswer:
    """`error` where a piece was read by no rung; the facts of the others are there all the same.
    Of `pieces` the last `unread` were left out: there were too many, or no time was left."""

    pieces: list[ExtractionRequest] = field(default_factory=list)
    facts: list[ReadFact] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    error: ProviderError | None = None
    unread: int = 0


def step_of(rule: str, found: ExtractionAnswer) -> Step:
    return Step(
        rule,
        found.model,
        f"{len(found.facts)} facts" + (", cut off" if found.is_cut else ""),
        found.prompt_version,
        found.input_tokens,
        found.output_tokens,
        round(found.milliseconds, 2),
    )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
