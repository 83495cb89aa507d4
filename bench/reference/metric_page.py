"""The page of what /metrics tells."""

import ast
from pathlib import Path

from bench.reference.markdown import cell, table
from memories.api.metrics_page import OF_PARTS, SIZES, TOLD

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
    counted: dict[str, tuple[set[str], bool]] = {}
    gauges = {
        "memory_part_state": ("Each part of the server: 0 failed, 1 degraded, 2 ok.", {"part"})
    }
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            match call:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="metrics"), attr=attr),
                    args=[ast.Constant(value=str(name)), *rest],
                ) if attr in COUNTERS:
                    labels, timed = counted.get(name, (set(), False))
                    labels |= {word.arg for word in call.keywords if word.arg}
                    is_timed = attr == "timer" or (attr == "count" and bool(rest))
                    counted[name] = labels, timed or is_timed
                case ast.Call(
                    func=ast.Name(id="Gauge"), args=[ast.Constant(value=str(name)), told, *rest]
                ):
                    keys = rest[1].keys if rest[1:] and isinstance(rest[1], ast.Dict) else []
                    found = {key.value for key in keys if isinstance(key, ast.Constant)}
                    gauges[f"memory_{name}"] = words_of(told, tree), found
    for name, told in OF_PARTS.values():
        gauges[f"memory_{name}"] = told, set()
    for name, told, _ in SIZES:
        gauges[f"memory_{name}"] = told, {"table"}
    for name in TOLD:
        counted.setdefault(name, (LABELS.get(name, set()), False))
    return "\n".join(
        [
            HEAD,
            "## Counted\n\nA name with `_seconds` is a histogram: it has `_bucket`, `_sum` and `_count`.\n",
            table(
                ("name", "labels", "meaning"),
                [
                    (
                        f"`memory_{name}_{'seconds' if timed else 'total'}`",
                        listed(labels),
                        cell(TOLD.get(name, name.replace("_", " ").capitalize() + ".")),
                    )
                    for name, (labels, timed) in sorted(counted.items())
                ],
            ),
            "## Gauges\n",
            table(
                ("name", "labels", "meaning"),
                [
                    (f"`{name}`", listed(keys), cell(told))
                    for name, (told, keys) in sorted(gauges.items())
                ],
            ),
        ]
    )


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
