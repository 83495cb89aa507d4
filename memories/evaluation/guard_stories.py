"""Evaluation of the guard: secrets, orders, private matters and what a person rejected must not be
believed or shown; everything else must.

Each story is told in a scratch workspace, to a subject of its own. JSONL, one story a line; a
file's lines name the half they belong to, so that one half can be kept apart.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db.models import Q

from memories import ingest
from memories.belief import review
from memories.evaluation.retrieval import scratch
from memories.evaluation.story_files import share
from memories.ingest import IngestRequest, NewMessage
from memories.models import Citation, Episode, Fact, MaskedSpan, Memory, MemorySession, Visibility
from memories.search import SearchRequest, search
from memories.transcripts import Unreadable
from workspaces.models import Agent
from workspaces.scope import Scope

Story = dict[str, Any]
Advance = Callable[[int], object]
# The keys that a line must have, beside id and half.
KEYS = {
    "guard": ("kind", "role", "text"),
    "visibility": ("seen", "team", "userId", "role", "text"),
    "rejected": ("told", "again", "leadIns", "other"),
}
SOMEBODY_ELSE = "somebody-else"
LOOK_ALIKE = "look-alike"
REJECTED = "rejected before"  # stands in the reason of a session


@dataclass(slots=True)
class StoryFaults:
    """Counts of the cases tried and failed in each group, with the failures."""

    told: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, group: str, fault: str, **row: str) -> None:
        """`fault`: empty where all went well."""
        self.told[group] += 1
        if fault:
            self.wrong[group] += 1
            self.rows.append({**row, "fault": fault})

    def measured(self) -> dict[str, float]:
        rates = {group: share(self.wrong[group], count) for group, count in self.told.items()}
        return {"stories": self.told.total(), **rates}


def own_stories(what: str) -> Path:
    return Path(__file__).with_name(f"{what}.jsonl")


def stories(what: str, path: Path, half: str = "") -> list[Story]:
    """The stories of a file, or of one half of it. Raises Unreadable with the number of the line
    that is none."""
    told = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
            if lacking := {"id", *KEYS[what]} - row.keys():
                raise ValueError(f"without {', '.join(sorted(lacking))}")
        except (AttributeError, ValueError) as error:
            raise Unreadable(f"line {number} is no story: {error}") from error
        if not half or row.get("half") == half:
            told.append(row)
    return told


def evaluate(what: str, told: Sequence[Story], advance: Advance) -> StoryFaults:
    measure = {"guard": _guard, "visibility": _visibility, "rejected": _rejected}[what]
    faults = StoryFaults()
    with scratch() as scope:
        for story in told:
            measure(scope, story, faults)
            advance(1)
    return faults


def _guard(scope: Scope, story: Story, faults: StoryFaults) -> None:
    """Tell the story as a message that is read and, if it is a person's, also as a text kept
    whole."""
    ways: list[dict[str, Any]] = [{"messages": (NewMessage(story["text"], story["role"]),)}]
    if story["role"] == "user":
        ways.append({"content": story["text"], "extract": MemorySession.Extract.NONE})
    problems = []
    for number, way in enumerate(ways):
        name = f"{story['id']}-{number}"
        _tell(scope, user_id=name, thread_id=name, **way)
        mine = {"subject__external_id": name, "workspace": scope.workspace_id}
        if story["kind"] == LOOK_ALIKE:
            held = Fact.objects.filter(**mine, quarantined_at__isnull=False)
            masks = MaskedSpan.objects.filter(
                Q(episode__subject__external_id=name) | Q(memory__subject__external_id=name),
                workspace=scope.workspace_id,
            )
            problems += ["held"] * held.exists() + ["masked"] * masks.exists()
            continue
        shown = [*Memory.objects.filter(**mine).values_list("content", flat=True)]
        shown += Fact.objects.filter(**mine).values_list("statement", flat=True)
        shown += Citation.objects.filter(fact__subject__external_id=name, workspace=scope.workspace_id).values_list(
            "quote", flat=True
        )
        for episode in Episode.objects.filter(**mine):
            shown += [episode.content, json.dumps([episode.payload, episode.metadata])]
        problems += [f"served: {w}" for w in story["hidden"] if any(w in text for text in shown)]
    group = f"{story['kind']}s: {'held or masked' if story['kind'] == LOOK_ALIKE else 'served'}"
    faults.add(group, ", ".join(dict.fromkeys(problems)), id=story["id"], text=story["text"])


def _visibility(scope: Scope, story: Story, faults: StoryFaults) -> None:
    """A mate is an agent of the same team; somebody else is another user."""
    team = f"{story['team']}-{story['id']}" if story["team"] else ""
    teller, mate = (
        scope.as_agent(
            Agent.objects.create(workspace_id=scope.workspace_id, external_id=f"{name}-{story['id']}", team=team)
        )
        for name in ("teller", "mate")
    )
    message = NewMessage(story["text"], story["role"])
    session = _tell(teller, user_id=story["userId"], messages=(message,))
    made = set(session.created_ids)
    text = " ".join(Memory.objects.filter(pk__in=made).values_list("content", flat=True))
    seen = Memory.objects.visible_to(mate).filter(pk__in=made).exists()
    found = {
        asker: bool(made & {hit.memory.id for hit in hits if hit.memory})
        for asker, hits in (
            ("mate", search(mate, SearchRequest(text, user_id=SOMEBODY_ELSE)).hits),
            ("teller", search(teller, SearchRequest(text, user_id=SOMEBODY_ELSE)).hits),
        )
        if text
    }
    told = {"id": story["id"], "text": story["text"]}
    if story["seen"] == Visibility.TEAM:
        wrong = "not found by a mate who names somebody else" if not found.get("mate") else ""
        faults.add("team: not found by its agents", wrong, **told)
    else:
        by_others = bool(story["userId"] and found.get("teller"))
        others = ["a mate"] * bool(seen or found.get("mate")) + ["somebody else"] * by_others
        wrong = f"seen by {' and '.join(others)}" if others else ""
        faults.add("private: seen by others", wrong, **told)


def _rejected(scope: Scope, story: Story, faults: StoryFaults) -> None:
    """Check that a blocked claim makes no memory and supports none."""
    name = story["id"]
    made = _tell(scope, user_id=name, content=story["told"]).created_ids
    if not made:  # not worth keeping as it was told
        made = [review.create(scope, review.NewMemory(story["told"], user_id=name)).pk]
    for memory_id in made:
        review.forget(scope, memory_id, review.WRONG)
    groups = (
        ("rephrasings: not blocked", "again", False),
        ("with lead-ins: not blocked", "leadIns", False),
        ("other claims: blocked", "other", True),
    )
    for group, key, may in groups:
        for text in story[key]:
            session = _tell(scope, user_id=name, content=text)
            is_believed = bool(session.created_ids or session.reinforced_ids)
            fault = "believed" if is_believed and not may else ""
            if may and REJECTED in session.reason:
                fault = session.reason
            faults.add(group, fault, id=name, text=text)
            for memory in Memory.objects.live().filter(pk__in=session.created_ids):
                review.forget(scope, memory.pk)


def _tell(scope: Scope, **told: Any) -> MemorySession:
    told.setdefault("extract", MemorySession.Extract.AUTO)
    session = ingest.ingest(scope, IngestRequest(**told))
    if not session.is_final:
        ingest.run(session.pk)
        session.refresh_from_db()
    return session
