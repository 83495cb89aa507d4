"""Episodes of a conversation as sentences are chosen from them: in their order, with citations."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from django.db.models import Q, QuerySet

from memories.guard import served_line
from memories.index import statements
from memories.models import ConversationSummary, Episode
from memories.summaries.choose_sentences import Said

Spans: TypeAlias = tuple[tuple[int, int, float], ...]

# A stored text must not end the block that it is told in, nor begin another one.
UNSAID = -1.0  # what a forgotten memory stood on is told no more
# A fact of a head counts in full, one that was replaced since less; what has expired counts until
# the sweep forgets it, which takes it out of the summary as well.
CITED = """
select c.episode_id, c.start, c."end", m.forgotten_at is not null as is_forgotten,
       m.is_head
from memories_citation c join memories_fact f on f.id = c.fact_id
join memories_memory m on m.id = f.memory_id
where c.episode_id = any(%(ids)s::uuid[])
order by c.id
"""


@dataclass(frozen=True, slots=True, order=True)
class EpisodePlace:
    """Where an episode stands in its conversation: by time, then by arrival."""

    at: datetime
    position: int

    @property
    def before(self) -> Q:
        return Q(occurred_at__lt=self.at) | Q(occurred_at=self.at, position__lt=self.position)

    @property
    def after(self) -> Q:
        return Q(occurred_at__gt=self.at) | Q(occurred_at=self.at, position__gt=self.position)


def place_of(episode: Episode) -> EpisodePlace:
    return EpisodePlace(episode.occurred_at, episode.position)


def citations(ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Spans]:
    """Where facts were read from these episodes, and how much each counts."""
    found: dict[uuid.UUID, Spans] = {}
    for row in statements.rows(CITED, {"ids": list(ids)}):
        weight = UNSAID if row.is_forgotten else 1.0 if row.is_head else 0.4
        found[row.episode_id] = (
            *found.get(row.episode_id, ()), (row.start, row.end, weight)
        )  # fmt: skip
    return found


def texts_with_citations(
    episodes: Sequence[Episode], cited: Mapping[uuid.UUID, Spans]
) -> list[Said]:
    return [Said(episode.content, cited.get(episode.pk, ())) for episode in episodes]


def speaker(episode: Episode) -> str:
    return episode.author or episode.role or episode.kind


def plain(text: str) -> str:
    return served_line.without_tags(text)


def audience(row: ConversationSummary) -> QuerySet[Episode]:
    """The episodes that a summary is made of: its agent's own, or all."""
    rows = Episode.objects.filter(
        workspace_id=row.workspace_id, conversation_id=row.conversation_id
    )
    return rows.filter(agent_id=row.agent_id) if row.agent_id else rows
