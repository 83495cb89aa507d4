"""Evaluation of retrieval: whether search finds the messages that answer a question, for several
rankings side by side.

Each conversation goes through ingest into a workspace of its own, which is removed afterwards.
"""

import math
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memories.evaluation.labelled_conversations import LabelledConversation
from memories.exchange.import_without_repeats import ImportOptions, import_transcript
from memories.index import workspace_index
from memories.models import Entry, MemorySession, Speaker
from memories.search import SearchRequest, search
from memoryproject.postgres import visible
from workspaces.models import Workspace, erasing_audit
from workspaces.scope import Scope, worker_scope

RANKINGS = ("hybrid", "keyword", "vector")
LAYERS = ("episodes", "memories")
DEPTHS = (5, 10, 20)
COLUMNS = (*(f"recall@{depth}" for depth in DEPTHS), "mrr", "ndcg@10")
# A baseline may tell a message twice, by itself and by a memory: so many hits hold 20 messages.
HITS = 2 * max(DEPTHS)
ALL = "all"
DECIDES = "recall@10"  # what a category is compared with the baselines by

Advance = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Below:
    """A category in which a baseline finds more than the default ranking does."""

    category: str
    questions: int
    baseline: str
    own: float
    theirs: float


@dataclass(slots=True)
class Retrieval:
    """`measured[ranking][category]`: one row of measures for each question; ALL has every one.
    `left_out` counts the questions that could not be scored by the reason."""

    conversations: int = 0
    messages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    measured: dict[str, dict[str, list[dict[str, float]]]] = field(default_factory=dict)

    def add(self, ranking: str, category: str, row: dict[str, float]) -> None:
        for group in (ALL, category):
            self.measured.setdefault(ranking, {}).setdefault(group, []).append(row)

    def below_baselines(self) -> list[Below]:
        """The categories in which the best ranking falls below a baseline, by category, then
        baseline."""
        best, *baselines = RANKINGS
        return [
            Below(category, len(rows), baseline, own, theirs)
            for category, rows in sorted(self.measured.get(best, {}).items())
            for baseline in baselines
            if (own := mean(rows, DECIDES)) < (theirs := mean(self.measured[baseline][category], DECIDES))
        ]


def steps(cases: Sequence[LabelledConversation]) -> int:
    """Count the times `evaluate` will advance: messages to ingest and searches to make."""
    return sum(len(c.messages) + len(c.questions) * len(RANKINGS) for c in cases)


def evaluate(cases: Sequence[LabelledConversation], advance: Advance) -> Retrieval:
    found = Retrieval()
    for case in cases:
        with scratch() as scope:
            wish = ImportOptions(user_id=case.name, extract=MemorySession.Extract.PATTERNS)
            for transcript in case.transcripts:
                for batch in import_transcript(scope, transcript, wish):
                    advance(batch.messages)
            for question in case.questions:
                for ranking in RANKINGS:
                    wanted = SearchRequest(
                        question.text,
                        limit=HITS,
                        layers=LAYERS,
                        ranking=ranking,
                        include=frozenset({"citations"}),
                    )
                    # The messages that a hit stands for: its own, or those that it cites.
                    names = [
                        row.external_id or ""
                        for hit in search(scope, wanted).hits
                        for row in ([hit.episode] if hit.episode else hit.citations or ())
                    ]
                    measure = measures_of(names, question.gold)
                    found.add(ranking, question.category, measure)
                    advance(1)
        found.conversations += 1
        found.messages += len(case.messages)
        found.left_out.update(case.left_out)
    return found


@contextmanager
def scratch() -> Iterator[Scope]:
    """A workspace that is there only inside."""
    slug = f"evaluation-{uuid.uuid4().hex[:12]}"
    workspace = Workspace(slug=slug, name="Evaluation")
    visible.add(workspace.pk)
    workspace.save(force_insert=True)
    try:
        yield worker_scope(workspace.pk, "evaluate")
    finally:
        number = workspace_index.index_of(workspace.pk).number
        Entry.objects.filter(workspace=number).delete()
        Speaker.objects.filter(workspace=number).delete()
        with erasing_audit():
            workspace.delete()


def measures_of(found: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """COLUMNS for one question; `found` best first, of repeats the first counts."""
    hits = [name in gold for name in dict.fromkeys(found)]
    measured = {f"recall@{depth}": sum(hits[:depth]) / len(gold) for depth in DEPTHS}
    measured["mrr"] = next((1 / place for place, hit in enumerate(hits, 1) if hit), 0.0)
    ideal = sum(_gain(place) for place in range(min(10, len(gold))))
    measured["ndcg@10"] = sum(_gain(p) for p, hit in enumerate(hits[:10]) if hit) / ideal
    return measured


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def mean(rows: Sequence[Mapping[str, float]], column: str) -> float:
    return sum(row[column] for row in rows) / len(rows)
