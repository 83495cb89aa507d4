"""Rows by the thousand, quickly: one INSERT per table, the model's defaults where nothing is
said."""

import json
from typing import Any

from django.db import connection, models

from memories.models import (
    Citation,
    Conversation,
    ConversationSummary,
    DueSummary,
    DueVector,
    Entry,
    Episode,
    Fact,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureMark,
    FeatureSet,
    IdempotentAnswer,
    Layer,
    MemorySession,
    Rejection,
    SetDiscovery,
    Speaker,
    Supersession,
    TalkSummary,
    Touch,
)
from workspaces.models import Agent, AuditEntry, Subject

MEMORIES = "(select *, lag(id) over (order by id) as before from memories_memory) m"
SPAN = {"start": "0", "end": "3", "quote": "left(content, 3)"}


def fill(model: type[models.Model], source: str = MEMORIES, **said: str) -> None:
    """A row for each row of `source`; `said` are SQL expressions by column."""
    columns = {f.column: said.get(f.column) or _default(f) for f in _fields(model)}
    names = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join(columns.values())
    with connection.cursor() as cursor:
        cursor.execute(f"insert into {model._meta.db_table} ({names}) select {values} from {source}")


def _fields(model: type[models.Model]) -> list[Any]:
    made = (models.AutoField, models.CompositePrimaryKey)  # by the database
    fields = model._meta.concrete_fields
    return [field for field in fields if not isinstance(field, made) and not field.generated]


def _default(field: Any) -> str:
    value = field.get_default()
    if field.primary_key and isinstance(field, models.UUIDField):
        return "gen_random_uuid()"
    if isinstance(field, models.DateTimeField) and not field.null:
        return "now()"
    if isinstance(value, list):
        return "'[]'" if isinstance(field, models.JSONField) else "'{}'"
    if isinstance(value, dict):
        return f"'{json.dumps(value)}'"
    return "null" if value is None else f"'{value}'"


def own(kind: str, memory: str = "m.id") -> str:
    """The id of the row of this kind that a memory has of its own; less than any made now."""
    return f"overlay(md5({memory}::text || '{kind}') placing '00' from 1)::uuid"


OF = {"workspace_id": "workspace_id"}
ABOUT = {**OF, "subject_id": own("subject")}


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("analyze")


def fill_beside_memories() -> None:
    """Each memory came out of a session, an episode, a fact and a citation of its own, is about a
    subject with a set and a feature, and was said no to once."""
    of, about = OF, ABOUT
    fill_said()
    fill(Agent, **of, id=own("agent"), external_id="id::text")
    _fill_features(of, about)
    no = {"content": "content", "fingerprint": "fingerprint", "rejected_by": "'test'"}
    fill(Rejection, **about, **no)
    act = {"actor": "'test'", "action": "'edit'", "target_kind": "'memory'", "target_id": "id"}
    fill(AuditEntry, **about, **act)
    decided = {"new_id": "id", "old_id": "before", "rule": "'nearest'", "state": "'rejected'"}
    fill(Supersession, f"{MEMORIES} where before is not null", **of, **decided, decided_by="'test'")
    key = {"asker": "'test'", "key": "id::text", "request_digest": "fingerprint"}
    fill(IdempotentAnswer, **of, **key, expires_at="now() + interval '1 day'")
    fill(ConversationSummary, **of, conversation_id=own("talk"))
    later = "now() + interval '50 minutes'"  # of all that waits for a worker
    fill(DueSummary, **of, conversation_id=own("talk"), due_at=later)
    summed = {"kind": "'conversation'", "first_at": "now()", "last_at": "now()", "stands_on": "''"}
    fill(TalkSummary, **about, conversation_id=own("talk"), **summed)
    later = "now() + interval '100 minutes'"  # longer would be a wrong clock's
    fill(DueVector, "memories_entry", entry_id="id", workspace="workspace", next_attempt_at=later)
    heard = {"workspace": "workspace", "subject": "item", "author": "'Ada'", "episodes": "1"}
    fill(Speaker, "memories_entry", **heard, assistant="false")
    seen = "'00ffffff-ffff-ffff-ffff-ffffffffffff'"  # all has been looked through
    fill(SetDiscovery, "workspaces_workspace", workspace_id="id", seen=seen)
    analyze()


def fill_said() -> None:
    """Each memory came out of a session, an episode, a fact and a citation of its own; another
    memory's episode touches it."""
    of, about = OF, ABOUT
    fill(Subject, **of, id=own("subject"), external_id="id::text")
    fill(Conversation, **about, id=own("talk"), external_id="id::text")
    talk = {**about, "conversation_id": own("talk")}
    done = {"id": own("session"), "state": "'done'", "requested_by": "'test'"}
    fill(MemorySession, **talk, **done)
    said = {"content": "content", "kind": "'user'", "position": "0", "external_id": "id::text"}
    fill(Episode, **talk, **said, id=own("episode"), session_id=own("session"))
    read = {"statement": "content", "method": "'manual'", "visibility": "'global'"}
    fill(Fact, **about, **read, id=own("fact"), session_id=own("session"), memory_id="id")
    fill(Citation, **of, fact_id=own("fact"), episode_id=own("episode"), **SPAN)
    span = {"start": "0", "end": "3", "said_at": "now()"}
    said = {"relation": "'adds'", "probability": "0.5", "by": "'rule'", "decided_at": "now()"}
    fill(
        Touch,
        f"{MEMORIES} where before is not null",
        **of,
        **span,
        **said,
        memory_id="before",
        episode_id=own("episode"),
    )


def fill_entries_of_episodes() -> None:
    """The episode of each memory is indexed as the memory is."""
    same = {field.column: f'm."{field.column}"' for field in _fields(Entry)}
    episode = {"layer": str(int(Layer.EPISODES)), "item": own("episode", "m.item"), "subject": own("subject", "m.item")}
    fill(Entry, f"memories_entry m where m.layer = {int(Layer.MEMORIES)}", **(same | episode))


def _fill_features(of: dict[str, str], about: dict[str, str]) -> None:
    fill(FeatureSet, **about, id=own("set"), key="id::text")
    names = dict.fromkeys(("category", "tag", "feature"), "'drink'")
    told = {"value": "content", "content": "content", "fingerprint": "fingerprint"}
    fill(Feature, **about, **names, **told, id=own("feature"), set_id=own("set"), method="'rule'")
    step = {"batch": own("batch"), "action": "'add'", "after": "'{}'", "by": "'test'"}
    whose = {"set_id": own("set"), "feature_id": own("feature")}
    fill(FeatureChange, **of, **step, **whose, id=own("change"))
    cited = {"feature_id": own("feature"), "change_id": own("change"), "fact_id": own("fact")}
    fill(FeatureCitation, **of, **cited, episode_id=own("episode"), **SPAN)
    mark = {"set_id": own("set"), "episode_id": own("episode"), "batch": own("batch")}
    fill(FeatureMark, **of, **mark)
