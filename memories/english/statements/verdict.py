"""The answer of a comparison."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["same", "update", "different", "unsure"]


@dataclass(frozen=True, slots=True)
class Relation:
    """`rule` tells why; `richer`: both say the same and the new one says more."""

    kind: Kind
    rule: str
    richer: bool = False


DIFFERENT = Relation("different", "other")
