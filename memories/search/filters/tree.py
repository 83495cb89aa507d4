"""A filter that is validated: conditions, joined."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison; `path` is where it stands in the request."""

    field: str
    op: str
    value: Any
    path: str


@dataclass(frozen=True, slots=True)
class Group:
    """`and`, `or` or `not` over parts."""

    joint: str
    parts: tuple["Condition | Group", ...]


Filter = Condition | Group


def all_of(conditions: Mapping[str, list[Any]], tree: Filter | None) -> Filter | None:
    """`tree` and, for each field with values, one of them."""
    parts: list[Filter] = [
        Condition(field, "in", list(values), field)
        for field, values in conditions.items()
        if values
    ]
    if tree is not None:
        parts.append(tree)
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Group("and", tuple(parts))
