"""The outcome of a trial."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind`: lost, doubled, stuck ...; `what`: which row or answer, in words."""

    kind: str
    what: str


@dataclass(slots=True)
class Outcome:
    """`tried` are the points that were done, in words; `acts` statuses by kind of request."""

    tried: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    acts: dict[str, dict[str, int]] = field(default_factory=dict)
    starts: int = 0
    taken_over: int = 0  # sessions that had more than one attempt
    slowest_recovery: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)


def counted(findings: Sequence[Finding]) -> Counter[str]:
    return Counter(finding.kind for finding in findings)
