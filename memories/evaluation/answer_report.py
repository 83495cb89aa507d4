"""The results of an evaluation of answers: a table, values for programs, and a picture."""

from collections.abc import Iterator, Sequence
from html import escape
from statistics import fmean
from typing import Any

from memories.evaluation.answers import ALL, AnswersRead

LABELS, WIDTH, BAR, ROW, TOP = 150, 640, 15, 44, 46  # of the picture
SHADES = {"f1": "#4f46e5", "grade": "#0d9488"}
NAMES = {"f1": "token F1", "grade": "grader"}


def summaries(found: AnswersRead) -> Iterator[dict[str, Any]]:
    """Yield the figures of each context and category."""
    for name, tokens, category, rows in found.groups():
        grades = [row["grade"] for row in rows if row.get("grade") is not None]
        costs = [row["cost"] for row in rows if row["cost"] is not None]
        yield {
            "context": name,
            "tokens": tokens,
            "category": category,
            "n": len(rows),
            "f1": _mean(rows, "f1"),
            "grade": round(fmean(grades), 4) if grades else None,
            "graded": len(grades),
            "unknown": sum(row["isUnknown"] for row in rows),
            "failed": sum("error" in row for row in rows),
            "promptTokens": _mean(rows, "promptTokens"),
            "answerTokens": _mean(rows, "answerTokens"),
            "seconds": _mean(rows, "seconds"),
            "cost": round(fmean(costs), 8) if costs else None,
        }


def answer_lines(found: AnswersRead) -> Iterator[str]:
    yield f"{found.conversations} conversations, {found.messages} messages; reader {found.reader}"
    if found.left_out:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(found.left_out.items()))
        yield f"questions left out: {found.left_out.total()} ({told})"
    yield f"grader {found.grader}" if found.grader else "no grader: token F1 alone"
    yield (
        f"{'category':<26}{'context':<15}{'n':>6}{'F1':>8}{'grade':>8}{'unknown':>9}{'failed':>8}"
        f"{'prompt':>8}{'seconds':>9}{'cost':>11}"
    )
    for one in sorted(summaries(found), key=lambda one: one["category"] != ALL):
        grade = "" if one["grade"] is None else f"{one['grade']:.3f}"
        cost = "" if one["cost"] is None else f"{one['cost']:.6f}"
        yield (
            f"{one['category']:<26}{_label(one):<15}{one['n']:>6}{one['f1']:>8.3f}{grade:>8}{one['unknown']:>9}"
            f"{one['failed']:>8}{one['promptTokens']:>8.0f}{one['seconds']:>9.2f}{cost:>11}"
        )


def answer_json(found: AnswersRead) -> dict[str, Any]:
    return {
        "reader": found.reader,
        "grader": found.grader or None,
        "conversations": found.conversations,
        "messages": found.messages,
        "leftOut": dict(found.left_out),
        "results": list(summaries(found)),
        "answers": found.rows,
    }


def answer_figures(results: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The means of `summaries` by name, as a kept run has them."""
    named = {f"{_label(one)}, {one['category']}": one for one in results}
    return {
        f"{label}: {name}": one[name]
        for label, one in named.items()
        for name in ("f1", "grade")
        if one[name] is not None
    }


def answer_picture(found: AnswersRead) -> str:
    """Return an SVG with a row of bars for each context, over all categories."""
    rows = [one for one in summaries(found) if one["category"] == ALL]
    measures = [name for name in SHADES if any(one[name] is not None for one in rows)]
    height, scale = TOP + ROW * len(rows) + 12, WIDTH - LABELS - 60
    count = rows[0]["n"] if rows else 0
    head = f"{found.reader}, {count} questions: {', '.join(NAMES[name] for name in measures)}"
    parts = [_text(12, 24, head, 14)]
    for at, one in enumerate(rows):
        top = TOP + ROW * at
        parts.append(_text(12, top + 18, _label(one), 13))
        for place, name in enumerate(measures):
            value, y = one[name] or 0.0, top + (BAR + 2) * place
            shape = f'x="{LABELS}" y="{y}" width="{value * scale:.1f}" height="{BAR}" fill="{SHADES[name]}"'
            parts.append(f"<rect {shape}><title>{escape(NAMES[name])}</title></rect>")
            parts.append(_text(LABELS + value * scale + 6, y + 12, f"{value:.2f}", 12))
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    paper = f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', paper, *parts, "</svg>", ""])


def _text(x: float, y: float, text: str, size: int) -> str:
    style = f'font-family="system-ui, sans-serif" font-size="{size}" fill="#1e293b"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _label(one: dict[str, Any]) -> str:
    return f"{one['context']} {one['tokens']:,}" if one["tokens"] else str(one["context"])


def _mean(rows: Sequence[dict[str, Any]], name: str) -> float:
    return round(fmean(row[name] for row in rows), 4)
