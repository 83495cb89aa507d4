"""Columns of lists."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from unfold import decorators

Column = TypeVar("Column", bound=Callable[..., Any])


def display(
    *, description: str, ordering: str | None = None, label: bool | dict[str, str] | None = None
) -> Callable[[Column], Column]:
    """Unfold's decorator, typed; `label` makes a badge, in the colour that it gives a value."""
    decorated = decorators.display(description=description, ordering=ordering, label=label)
    return cast("Callable[[Column], Column]", decorated)
