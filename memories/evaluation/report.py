"""What an evaluation found, as a table for people and as values for programs."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from memories.evaluation import measures
from memories.evaluation.conflicts import JUDGEMENTS, Judgements
from memories.evaluation.extraction import TurnCounts
from memories.evaluation.retrieval import ALL, DECIDES, RANKINGS, Retrieval


def retrieval_lines(result: Retrieval) -> Iterator[str]:
    yield f"{result.conversations} conversations, {result.messages} messages"
    if result.left_out:
        parts = ", ".join(f"{count} {reason}" for reason, count in sorted(result.left_out.items()))
        yield f"questions left out: {result.left_out.total()} ({parts})"
    yield f"{'category':<14}{'n':>6}  {'ranking':<9}" + "".join(
        f"{c:>11}" for c in measures.COLUMNS
    )
    groups = result.measured.get(RANKINGS[0], {})
    for category in [*sorted(groups.keys() - {ALL}), *([ALL] if groups else [])]:
        for ranking in RANKINGS:
            rows = result.measured[ranking][category]
            values = "".join(f"{measures.mean(rows, c):>11.3f}" for c in measures.COLUMNS)
            yield f"{category:<14}{len(rows):>6}  {ranking:<9}{values}"
    lines = [
        f"below {low.baseline}: {low.category} (n {low.questions}),"
        f" {DECIDES} {low.own:.3f} < {low.theirs:.3f}"
        for low in result.below_baselines()
    ]
    baselines = " or ".join(RANKINGS[1:])
    yield from lines or [f"by {DECIDES}, {RANKINGS[0]} is below {baselines} in no category"]


def retrieval_json(result: Retrieval) -> dict[str, Any]:
    return {
        "conversations": result.conversations,
        "messages": result.messages,
        "leftOut": dict(result.left_out),
        "rankings": {
            ranking: {
                category: {"n": len(rows)}
                | {column: round(measures.mean(rows, column), 4) for column in measures.COLUMNS}
                for category, rows in groups.items()
            }
            for ranking, groups in result.measured.items()
        },
        "below": [asdict(low) for low in result.below_baselines()],
    }


def extraction_lines(result: TurnCounts) -> Iterator[str]:
    yield from _measured(result.measured())
    parts = sorted(result.categories.items(), key=lambda item: -item[1])
    yield "facts by category: " + ", ".join(f"{name} {count}" for name, count in parts)


def extraction_json(result: TurnCounts) -> dict[str, Any]:
    return {**_rounded(result.measured()), "categories": result.categories}


def conflict_lines(result: Judgements) -> Iterator[str]:
    yield f"{'label':<12}" + "".join(f"{judged:>11}" for judged in JUDGEMENTS)
    for label in sorted({label for label, _ in result.counts}):
        counts = [result.counts.get((label, judged), 0) for judged in JUDGEMENTS]
        yield f"{label:<12}" + "".join(f"{count:>11}" for count in counts)
    yield from _measured(result.measured())


def conflict_json(result: Judgements) -> dict[str, Any]:
    counts: dict[str, dict[str, int]] = {}
    for (label, judged), count in result.counts.items():
        counts.setdefault(label, {})[judged] = count
    return {**_rounded(result.measured()), "counts": counts, "wrong": result.wrong}


def _measured(values: dict[str, float]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{name:<32}{value:>9}" if isinstance(value, int) else f"{name:<32}{value:>9.3f}"


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def figures(values: dict[str, Any]) -> dict[str, float]:
    """The numbers of a result by name, as `EvaluationRun` keeps them; of retrieval each mean,
    of the others what was measured."""
    if "rankings" not in values:
        return {name: value for name, value in values.items() if isinstance(value, int | float)}
    return {
        f"{ranking}, {category}: {column}": row[column]
        for ranking, groups in values["rankings"].items()
        for category, row in groups.items()
        for column in measures.COLUMNS
    }
