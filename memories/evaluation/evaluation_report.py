"""The results of an evaluation, as a table for people and as values for programs."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from memories.evaluation.answer_report import answer_figures
from memories.evaluation.change_stories import ChangesTold
from memories.evaluation.conflicts import JUDGEMENTS, Judged
from memories.evaluation.dated_stories import DatedAnswers
from memories.evaluation.evidence_stories import EvidenceServed
from memories.evaluation.extraction import Turns
from memories.evaluation.guard_stories import StoryFaults
from memories.evaluation.intent_stories import StoriesTold
from memories.evaluation.long_runs import RunsServed
from memories.evaluation.retrieval import ALL, COLUMNS, DECIDES, RANKINGS, Retrieval, mean
from memories.evaluation.worth_stories import WorthJudged


def retrieval_lines(found: Retrieval) -> Iterator[str]:
    yield f"{found.conversations} conversations, {found.messages} messages"
    if found.left_out:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(found.left_out.items()))
        yield f"questions left out: {found.left_out.total()} ({told})"
    yield f"{'category':<14}{'n':>6}  {'ranking':<9}" + "".join(f"{c:>11}" for c in COLUMNS)
    groups = found.measured.get(RANKINGS[0], {})
    categories = [*sorted(group for group in groups if group != ALL), *([ALL] if groups else [])]
    for category in categories:
        for ranking in RANKINGS:
            rows = found.measured[ranking][category]
            values = "".join(f"{mean(rows, c):>11.3f}" for c in COLUMNS)
            yield f"{category:<14}{len(rows):>6}  {ranking:<9}{values}"
    lines = [
        f"below {low.baseline}: {low.category} (n {low.questions}), {DECIDES} {low.own:.3f} < {low.theirs:.3f}"
        for low in found.below_baselines()
    ]
    baselines = " or ".join(RANKINGS[1:])
    yield from lines or [f"by {DECIDES}, {RANKINGS[0]} is below {baselines} in no category"]


def retrieval_json(found: Retrieval) -> dict[str, Any]:
    return {
        "conversations": found.conversations,
        "messages": found.messages,
        "leftOut": dict(found.left_out),
        "rankings": {
            ranking: {
                category: {"n": len(rows)} | {column: round(mean(rows, column), 4) for column in COLUMNS}
                for category, rows in groups.items()
            }
            for ranking, groups in found.measured.items()
        },
        "below": [asdict(low) for low in found.below_baselines()],
    }


def extraction_lines(found: Turns) -> Iterator[str]:
    yield from _measured(found.measured())
    told = sorted(found.categories.items(), key=lambda item: -item[1])
    yield "facts by category: " + ", ".join(f"{name} {count}" for name, count in told)


def extraction_json(found: Turns) -> dict[str, Any]:
    return {**_rounded(found.measured()), "categories": found.categories}


def conflict_lines(found: Judged) -> Iterator[str]:
    yield f"{'label':<12}" + "".join(f"{judged:>11}" for judged in JUDGEMENTS)
    for label in sorted({label for label, _ in found.counts}):
        counts = [found.counts.get((label, judged), 0) for judged in JUDGEMENTS]
        yield f"{label:<12}" + "".join(f"{count:>11}" for count in counts)
    yield from _measured(found.measured())


def conflict_json(found: Judged) -> dict[str, Any]:
    counts: dict[str, dict[str, int]] = {}
    for (label, judged), count in found.counts.items():
        counts.setdefault(label, {})[judged] = count
    return {**_rounded(found.measured()), "counts": counts, "wrong": found.wrong}


def intent_lines(found: StoriesTold) -> Iterator[str]:
    yield from _measured(found.measured())
    for row in found.wrong:
        faults, intents = "; ".join(row["faults"]), ", ".join(row["intents"])
        yield f"{row['id']} ({row['kind']}): {faults} [{intents}]"


def intent_json(found: StoriesTold) -> dict[str, Any]:
    return {**_rounded(found.measured()), "wrong": found.wrong}


def change_lines(result: ChangesTold) -> Iterator[str]:
    yield from _measured(result.measured())
    for row in result.wrong:
        yield f"{row['id']}: {'; '.join(row['faults'])}"


def change_json(result: ChangesTold) -> dict[str, Any]:
    return {**_rounded(result.measured()), "wrong": result.wrong}


def worth_lines(result: WorthJudged) -> Iterator[str]:
    yield from _measured(result.measured())
    for row in result.wrong:
        yield f"{row['id']}: {' / '.join(row['messages'])!r} gave {row['memories']}"


def worth_json(result: WorthJudged) -> dict[str, Any]:
    return {**_rounded(result.measured()), "wrong": result.wrong}


def evidence_lines(result: EvidenceServed) -> Iterator[str]:
    for name, value in result.measured().items():
        yield f"{name:<52}{value:>9}" if isinstance(value, int) else f"{name:<52}{value:>9.3f}"


def evidence_json(result: EvidenceServed) -> dict[str, Any]:
    return {**_rounded(result.measured()), "stories_told": result.rows}


def longrun_lines(result: RunsServed) -> Iterator[str]:
    for name, value in result.measured().items():
        yield f"{name:<44}{value:>9}" if isinstance(value, int) else f"{name:<44}{value:>9.3f}"
    for row in result.rows:
        if row.get("right") is False:
            yield f"{row['id']} ({row['kind']}): {row['question']!r} found {row['first'][:120]!r}"


def longrun_json(result: RunsServed) -> dict[str, Any]:
    return {**_rounded(result.measured()), "questions": result.rows, "profiles": result.profiles}


def story_lines(result: StoryFaults | DatedAnswers) -> Iterator[str]:
    yield from _measured(result.measured())
    for row in result.rows:
        yield f"{row['id']}: {row['fault']}: {row['text'][:200]!r}"


def story_json(result: StoryFaults | DatedAnswers) -> dict[str, Any]:
    return {**_rounded(result.measured()), "wrong": result.rows}


def _measured(values: dict[str, float]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{name:<32}{value:>9}" if isinstance(value, int) else f"{name:<32}{value:>9.3f}"


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def figures(found: dict[str, Any]) -> dict[str, float]:
    """The numbers of a result by name, as `EvaluationRun` keeps them; of retrieval and answers each mean,
    of the others what was measured."""
    if "results" in found:
        return answer_figures(found["results"])
    if "rankings" not in found:
        return {name: value for name, value in found.items() if isinstance(value, int | float)}
    return {
        f"{ranking}, {category}: {column}": row[column]
        for ranking, groups in found["rankings"].items()
        for category, row in groups.items()
        for column in COLUMNS
    }
