"""Rejections: statements that must not be learned again, in the same words or in others."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from memories.index import prepared_sql
from memories.language.english import lexical, shorten_clause
from memories.language.english.statements import Reading, read, restates
from memories.models import Layer, Rejection, WorkspaceIndex
from memoryproject.postgres.prepared import Asked
from workspaces.scope import Scope

PRIVATE = "private"  # forgotten so, it is learned again when a person says so
WRONG = "wrong"
HIDDEN = (WRONG, PRIVATE)  # the reasons for which the words go, too
MOST = 1_000  # rejections of one subject that are compared; equal texts are found among any number
SHARED = 0.3  # of a rejection's stems; what shares fewer is no paraphrase that could be told
# Words that are masked are compared all the same, without their vector, which is of what is left.
# The vector is that of the forgotten memory, under whichever model the workspace speaks now.
OF_SUBJECT = """
select r.id, coalesce(hidden.words, r.content) as content, r.fingerprint, r.reason,
  case when hidden.words is null then v.embedding end as embedding, head.content as corrected
from memories_rejection r
left join lateral (
  select k.words from memories_maskedspan k where k.memory_id = r.memory_id and k.place = 'content'
  order by k.id limit 1) hidden on true
left join memories_memory m on m.id = r.memory_id
left join memories_memory head on head.id = m.superseded_by_id
left join memories_entry e on e.layer = %(layer)s and e.item = r.memory_id
left join memories_vector v
  on v.entry_id = e.id and v.embedding_model_id = %(model)s and v.part = 0
where r.workspace_id = %(workspace)s and r.subject_id is not distinct from %(subject)s::uuid
  and (r.agent_id is null or %(agents)s::uuid[] is null or r.agent_id = any(%(agents)s::uuid[]))
order by r.fingerprint = any(%(fingerprints)s::bytea[]) desc, r.id desc limit %(most)s
"""


def kind_of(reason: str) -> str:
    """Return a reason without the note behind it: "private" of "private: she asked me"."""
    return reason.partition(":")[0].strip().casefold()


def rejected(
    space: WorkspaceIndex,
    subject_id: uuid.UUID | None,
    claims: Sequence[str],
    agents: Sequence[uuid.UUID] | None = None,
) -> Asked:
    """Return the query for what people or these agents (None: any agents) rejected about a subject,
    texts equal to a statement first; `refused` takes its rows."""
    values = {
        "workspace": space.workspace_id,
        "subject": subject_id,
        "agents": None if agents is None else list(agents),
        "fingerprints": list({lexical.fingerprint(claim) for claim in claims}),
        "layer": int(Layer.MEMORIES),
        "model": space.embedding_model_id,
        "most": MOST,
    }
    return OF_SUBJECT, values


def refused(
    space: WorkspaceIndex,
    rows: Iterable[Any],
    claims: Sequence[str],
    vectors: Sequence[np.ndarray | None],
) -> dict[int, "Rejected"]:
    """Return the rejection, of those in `rows`, that a statement repeats, by its place.

    `vectors`: one per statement, or empty where they could not be made; then words alone decide.
    """
    known = [Rejected.of(row) for row in rows]
    if not known:
        return {}
    model = space.embedding_model
    threshold = model.duplicate_threshold if model else 1.0
    result: dict[int, Rejected] = {}
    for index, claim in enumerate(claims):
        mark = lexical.fingerprint(claim)
        vector = vectors[index] if vectors else None
        for rejected in known:
            if rejected.fingerprint == mark or rejected.is_in(claim, vector, threshold):
                result[index] = rejected
                break
    return result


def take_back(
    scope: Scope,
    space: WorkspaceIndex,
    subject_id: uuid.UUID | None,
    statement: str,
    vector: np.ndarray | None,
) -> int:
    """Remove the rejections, as far as the asker sees them, of a statement that a person now writes
    by hand; return how many."""
    deleted = 0
    while True:
        rows = prepared_sql.rows(*rejected(space, subject_id, [statement]))
        if scope.is_narrow:
            seen = Rejection.objects.visible_to(scope).filter(pk__in=[row.id for row in rows])
            ids = set(seen.values_list("pk", flat=True))
            rows = [row for row in rows if row.id in ids]
        again = refused(space, rows, [statement], [vector])
        if not again:
            return deleted
        deleted += Rejection.objects.filter(pk__in=[each.id for each in again.values()]).delete()[0]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejected statement; `is_private`: it may be believed again, if a person says so."""

    id: uuid.UUID
    fingerprint: bytes
    content: str
    corrected: str | None
    vector: np.ndarray | None
    is_private: bool = False

    @classmethod
    def of(cls, row: Any) -> Self:
        """Read a row of OF_SUBJECT, with its vector scaled to unit length."""
        vector = None
        if row.embedding is not None:
            vector = np.asarray(row.embedding.to_numpy(), dtype=np.float32)
            vector = vector / np.linalg.norm(vector)
        is_private = kind_of(row.reason) == PRIVATE
        return cls(row.id, bytes(row.fingerprint), row.content, row.corrected, vector, is_private)

    def is_in(self, claim: str, vector: np.ndarray | None, threshold: float) -> bool:
        """Tell whether a claim, or a part of it, says the same, whatever introduces it."""
        own = lexical.stem_set(self.content)
        if len(own & lexical.stem_set(claim)) < SHARED * len(own):
            return False
        if self.restates(claim, vector, threshold):
            return True
        name = self.content.split()[0].removesuffix("'s")
        parts = (part for part in shorten_clause.parts_of(claim, name) if part != claim)
        return any(
            lexical.fingerprint(part) == self.fingerprint or self.restates(part, None, threshold) for part in parts
        )

    def restates(self, claim: str, vector: np.ndarray | None, threshold: float) -> bool:
        """Tell whether a claim says the same in other words. `vector` is the claim's."""
        own = lexical.stem_set(self.content)
        if len(own & lexical.stem_set(claim)) < SHARED * len(own):  # before the two are taken apart
            return False
        cosine = None if self.vector is None or vector is None else float(self.vector @ vector)
        if not restates(_reading(self.content), _reading(claim), cosine, threshold):
            return False
        # What was corrected, not denied: who says it as it was corrected is right.
        return not self.corrected or not restates(_reading(self.corrected), _reading(claim), None, threshold)


@lru_cache(maxsize=4_096)
def _reading(text: str) -> Reading:
    return read(text)
