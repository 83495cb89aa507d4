"""A summary as it is to be written: whose it is, its lines and what they say."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memories.models import Episode, TalkSummary

Lines = list[dict[str, Any]]

RULE = "stretches-1"


@dataclass(frozen=True, slots=True)
class TalkAudience:
    """Whose talk it is: of one agent with one subject."""

    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class NewTalkSummary:
    """A summary as it is to be; `text` is what its lines say, `read` the citations that a model
    read for it, in their order."""

    row: TalkSummary
    text: str
    read: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        row = self.row
        return row.kind, row.subject_id, row.agent_id, row.conversation_id, row.name, row.ordinal


def digest(version: str, told: Iterable[object]) -> str:
    """Of what a model is told, and by which prompt."""
    return hashlib.sha256("\n".join([version, *map(str, told)]).encode()).hexdigest()


def new_summary(
    workspace_id: uuid.UUID,
    audience: TalkAudience,
    kind: str,
    lines: Lines,
    of: Mapping[uuid.UUID, Episode],
    *,
    conversation_id: uuid.UUID | None = None,
    name: str = "",
    ordinal: int = 0,
    rule: str = RULE,
    stands_on: str = "",
    read: tuple[int, ...] = (),
) -> NewTalkSummary:
    """`of`: the episodes that the lines name, by id."""
    lines = [{name: line[name] for name in line if name != "score"} for line in lines]
    times = [episode.occurred_at for episode in of.values()]
    row = TalkSummary(
        workspace_id=workspace_id,
        subject_id=audience.subject_id,
        agent_id=audience.agent_id,
        conversation_id=conversation_id,
        kind=kind,
        name=name,
        ordinal=ordinal,
        lines=lines,
        rule=rule,
        stands_on=stands_on,
        first_at=min(times),
        last_at=max(times),
    )
    texts = [
        line["text"]
        if "text" in line
        else of[uuid.UUID(line["episode"])].content[line["start"] : line["end"]]
        for line in lines
    ]
    return NewTalkSummary(row, "\n".join(texts), read)
