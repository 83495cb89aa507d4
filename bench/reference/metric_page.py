"""The page of what /metrics tells."""

import ast
from pathlib import Path

from bench.reference.markdown import cell, table
from memories.api.metrics_page import OF_PARTS, SIZES
from memories.metrics import COUNTS

HEAD = """# Metrics

`/metrics` answers in Prometheus' text format, to whoever shows `METRICS_TOKEN`; without one, to programs on
the server's own machine. It counts what all processes did (a few seconds late), and names no workspace,
person or content. [A dashboard](../grafana.json) and [alerts](../alerts.yaml) are made for it;
[operating](../guides/operating.md#watch-it) says which figure answers which question.
"""
FOLDERS = ("memories", "workspaces", "memoryproject")
COUNTERS = ("count", "timer", "add")
HIDDEN = ("workspace",)  # a label of our own pages
# Counted by others than `metrics.count("name")`.
LABELS = {"logins": {"kind", "outcome"}}


def page(root: Path) -> str:
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))
    trees = [ast.parse(path.read_text()) for path in paths]
    counts = [
        (f"`memory_{name}_{'seconds' if is_timed else 'total'}`", listed(labels), cell(COUNTS.get(name, "")))
        for name, (labels, is_timed) in sorted(counted(trees).items())
    ]
    rows = [
        (f"`memory_{name}`", listed(labels), cell(words)) for name, (words, labels) in sorted(gauges(trees).items())
    ]
    head = ("name", "labels", "meaning")
    told = "A name with `_seconds` is a histogram: it has `_bucket`, `_sum` and `_count`."
    return "\n".join([HEAD, f"## Counted\n\n{told}\n", table(head, counts), "## Gauges\n", table(head, rows)])


def counted(trees: list[ast.Module]) -> dict[str, tuple[set[str], bool]]:
    """The labels of what is counted, and whether it is timed, by name."""
    found: dict[str, tuple[set[str], bool]] = {}
    for call in (node for tree in trees for node in ast.walk(tree)):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="metrics"), attr=attr),
                args=[ast.Constant(value=str(name)), *rest],
            ) if attr in COUNTERS:
                labels, is_timed = found.get(name, (set(), False))
                labels = labels | {word.arg for word in call.keywords if word.arg}
                found[name] = (
                    labels,
                    is_timed or attr == "timer" or (attr == "count" and bool(rest)),
                )
    return {**{name: (LABELS.get(name, set()), False) for name in COUNTS}, **found}


def gauges(trees: list[ast.Module]) -> dict[str, tuple[str, set[str]]]:
    """The words and labels of each gauge, by name."""
    found: dict[str, tuple[str, set[str]]] = {
        "part_state": ("Each part of the server: 0 failed, 1 degraded, 2 ok.", {"part"}),
        **{name: (words, set()) for name, words in OF_PARTS.values()},
        **{name: (words, {"table"}) for name, words, _ in SIZES},
    }
    for tree in trees:
        for call in ast.walk(tree):
            match call:
                case ast.Call(func=ast.Name(id="Gauge"), args=[ast.Constant(value=str(name)), told, *rest]):
                    keys = rest[1].keys if rest[1:] and isinstance(rest[1], ast.Dict) else []
                    labels = {str(key.value) for key in keys if isinstance(key, ast.Constant)}
                    found[name] = words_of(told, tree), labels
    return found


def listed(labels: set[str]) -> str:
    return ", ".join(f"`{each}`" for each in sorted(labels - {*HIDDEN}))


def words_of(node: ast.expr, tree: ast.Module) -> str:
    """The text of a constant, or of a name that was given one just before."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    values = [
        str(each.value.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
        if isinstance(node, ast.Name) and each.lineno < node.lineno
        if any(isinstance(name, ast.Name) and name.id == node.id for name in each.targets)
    ]
    return values[-1] if values else ""
