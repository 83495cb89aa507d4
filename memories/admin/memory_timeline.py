"""A memory's chain as a timeline: versions, what changed, who decided, what each stands on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, Q

from memories.models import Citation, Fact, Memory, MemoryPeriod, Supersession, chain
from workspaces.adminbase.actors import names_of
from workspaces.adminbase.word_diff import Piece, word_diff
from workspaces.scope import Scope

SHOWN_FACTS = 5


@dataclass(slots=True)
class Version:
    """One version as the timeline shows it; `pieces` differ from the version before."""

    memory: Memory
    state: str
    pieces: list[Piece]
    decision: Supersession | None
    facts: list[Fact] = field(default_factory=list)
    lives: list[MemoryPeriod] = field(default_factory=list)

    @property
    def more_facts(self) -> int:
        return max(0, self.memory.source_count - len(self.facts))


@dataclass(frozen=True, slots=True)
class Timeline:
    """All versions, oldest first, and the decisions that did not put one in place of another."""

    versions: list[Version]
    others: list[Supersession]
    names: dict[str, str]


def timeline(scope: Scope, memory: Memory) -> Timeline:
    links = chain(scope, memory.pk)
    ids = [link.memory.pk for link in links]
    facts: dict[Any, list[Fact]] = defaultdict(list)
    for fact in with_quotes(Fact.objects.newest_of(ids, SHOWN_FACTS)):
        facts[fact.memory_id].append(fact)
    lives: dict[Any, list[MemoryPeriod]] = defaultdict(list)
    for life in MemoryPeriod.objects.filter(memory__in=ids).order_by("from_at", "id"):
        lives[life.memory_id].append(life)
    versions = []
    before = ""
    for link in links:
        content = link.memory.content
        pieces = word_diff(before, content) if before else [Piece("same", content)]
        version = Version(link.memory, link.memory.state, pieces, link.supersession)
        version.facts, version.lives = facts[link.memory.pk], lives[link.memory.pk]
        versions.append(version)
        before = content
    others = decisions_beside(ids)
    deciders = [d.decided_by for d in [*others, *(v.decision for v in versions)] if d is not None]
    return Timeline(versions, others, names_of(deciders))


def with_quotes(facts: Any) -> Any:
    """Facts with their citations and the heads of the episodes that these point into."""
    citations = Citation.objects.select_related("episode").defer(
        "episode__content", "episode__payload", "episode__metadata"
    )
    return facts.prefetch_related(Prefetch("citations", citations))


def decisions_beside(memories: Sequence[Any]) -> list[Supersession]:
    """The newest decisions on these versions that did not put one in place of another."""
    touching = Supersession.objects.filter(Q(old__in=memories) | Q(new__in=memories))
    others = touching.exclude(state=Supersession.State.APPLIED).select_related("old", "new")
    return list(others.order_by("-id")[:50])
