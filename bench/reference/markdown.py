"""Tables of Markdown."""

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Words as they stand in one cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
