"""How feature sets and features look in JSON."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from memories.api.shapes import CitationJson
from memories.models import Feature, FeatureChange, Visibility
from workspaces.api.json_answers import AgentId, JsonAnswer, ThreadId, UserId
from workspaces.request_fields import Free


class FeatureJson(JsonAnswer):
    id: UUID
    set_key: str
    category: str
    tag: str
    feature: str
    value: str
    about: Annotated[str | None, Meta(description="Whose it is, where several speak.")]
    visibility: Visibility
    method: Feature.Method
    user_id: UserId
    agent_id: AgentId
    thread_id: ThreadId
    metadata: Free
    ended_at: datetime | None
    created_at: datetime
    updated_at: datetime
    citations: list[CitationJson] | UnsetType = UNSET


class ChangeJson(JsonAnswer):
    """One step in a feature's history; `after` null: it ended. Changes of one act share `batch`."""

    id: UUID
    feature_id: UUID
    batch: UUID
    action: FeatureChange.Action
    before: Free | None
    after: Free | None
    by: str
    rule: str | None
    reason: str | None
    occurred_at: Annotated[datetime, Meta(description="When it was said.")]
    created_at: datetime
    is_current: bool
    undone_at: datetime | None
    citations: list[CitationJson]

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        """`row.cited` are its citations that the asker may see."""
        return super().of(
            row,
            before=_without_slot(row.before),
            after=_without_slot(row.after),
            citations=[CitationJson.of_model(one) for one in row.cited],
        )


def _without_slot(snapshot: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A snapshot without what is the machine's own."""
    if snapshot is None:
        return None
    return {name: value for name, value in snapshot.items() if name != "slot"}


class EmbeddingJson(JsonAnswer):
    """The embedding model that a set shall speak and the one it speaks; null: the workspace's."""

    wanted: str | None
    spoken: str | None
    state: Literal["ready", "under way", "failing"]
    made: Annotated[int, Meta(description="Features that have a vector of the wanted model.")]
    total: int
    error: str | None


class SetJson(JsonAnswer):
    """What waits is told to those who see the whole workspace."""

    id: UUID
    key: str
    user_id: UserId
    thread_id: ThreadId
    role: str | None
    metadata: Free
    waiting: Annotated[int | None, Meta(description="Episodes to be taken in.")]
    waiting_since: datetime | None
    due_at: datetime | None
    folded_at: datetime | None
    error: str | None
    created_at: datetime
    updated_at: datetime
    embedding: Annotated[
        EmbeddingJson | UnsetType, Meta(description="Of a set that is read alone.")
    ] = UNSET

    @classmethod
    def of_set(cls, row: Any, *, whole: bool) -> Self:
        """`whole`: the asker sees all of the workspace, and so what waits."""
        if whole:
            return cls.of(row)
        return cls.of(row, waiting=None, waiting_since=None, due_at=None, error=None)


class RefusalJson(JsonAnswer):
    id: UUID
    batch: UUID
    command: Free
    reason: str
    rule: str | None
    created_at: datetime
