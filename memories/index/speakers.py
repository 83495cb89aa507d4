"""Who speaks in what is searched: counted when episodes come in, read when a query is analysed."""

import uuid
from collections import Counter
from collections.abc import Iterable
from typing import Any

from memories.index import statements
from memories.models import Episode, WorkspaceIndex
from memories.ranking import Participant

MOST = 50
PEOPLE = (Episode.Kind.USER, Episode.Kind.TEXT, Episode.Kind.ACTIVITY)

COUNT_NEW = """
insert into memories_speaker (workspace, subject, author, assistant, episodes)
select %(workspace)s, %(subject)s::uuid, author, assistant, episodes
from unnest(%(authors)s::text[], %(assistants)s::bool[], %(episodes)s::int8[])
     as heard(author, assistant, episodes)
on conflict (workspace, subject, author, assistant)
do update set episodes = memories_speaker.episodes + excluded.episodes
"""
SPOKEN = """
select author, assistant, sum(episodes)::int8 as episodes from memories_speaker
where workspace = %(workspace)s {subject}
group by author, assistant order by 3 desc, author limit %(most)s
"""


def is_assistant(kind: str) -> bool:
    """Whether the assistant, or a tool for it, spoke."""
    return kind not in PEOPLE


def count_new(
    index: WorkspaceIndex, subject: uuid.UUID | None, episodes: Iterable[Episode]
) -> None:
    """Count the authors of new episodes."""
    counted = Counter((e.author, is_assistant(e.kind)) for e in episodes)
    if not counted:
        return
    # In one order for all writers, so that two of them never wait for each other's rows.
    rows = sorted(counted.items())
    values: dict[str, Any] = {
        "workspace": index.number,
        "subject": subject,
        "authors": [author for (author, _), _ in rows],
        "assistants": [assistant for (_, assistant), _ in rows],
        "episodes": [number for _, number in rows],
    }
    statements.execute(COUNT_NEW, values)


def participants(index: WorkspaceIndex, subject: uuid.UUID | None) -> list[Participant]:
    """Who speaks in a subject's episodes (None: in all of the workspace), the most first."""
    if not index.live_episodes:
        return []
    about = "and (subject = %(subject)s::uuid or subject is null)" if subject else ""
    values = {"workspace": index.number, "subject": subject, "most": MOST}
    rows = statements.rows(SPOKEN.format(subject=about), values)
    return [Participant(row.author, row.assistant, row.episodes) for row in rows]
