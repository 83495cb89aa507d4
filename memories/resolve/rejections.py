"""What people said must not be learned again, met again in the same words or in others."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from memories.english import lexical, shorten_clause
from memories.english.statements import Reading, read, restates
from memories.index import prepared_sql
from memories.models import Layer, Rejection, WorkspaceIndex

MOST = 1_000  # rejections of one subject that are compared; equal texts are found among any number
SHARED = 0.3  # of a rejection's stems; what shares fewer is no paraphrase that could be told
# Words that are masked are compared all the same, without their vector, which is of what is left.
# The vector is that of the forgotten memory, under whichever model the workspace speaks now.
OF_SUBJECT = """
select r.id, coalesce(hidden.words, r.content) as content, r.fingerprint,
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
order by r.fingerprint = any(%(fingerprints)s::bytea[]) desc, r.id desc limit %(most)s
"""


def refused(
    space: WorkspaceIndex,
    subject_id: uuid.UUID | None,
    claims: Sequence[str],
    vectors: Sequence[np.ndarray | None],
) -> dict[int, uuid.UUID]:
    """Which of the statements say what was rejected about their subject: place to rejection.

    `vectors` as the statements, or empty where they could not be made; then words decide alone.
    """
    marks = [lexical.fingerprint(claim) for claim in claims]
    model = space.embedding_model
    values = {
        "workspace": space.workspace_id,
        "subject": subject_id,
        "fingerprints": list(set(marks)),
        "layer": int(Layer.MEMORIES),
        "model": space.embedding_model_id,
        "most": MOST,
    }
    known = [_Rejected.of(row) for row in prepared_sql.rows(OF_SUBJECT, values)]
    if not known:
        return {}
    threshold = model.duplicate_threshold if model else 1.0
    result = {}
    for index, (claim, mark) in enumerate(zip(claims, marks, strict=True)):
        vector = vectors[index] if vectors else None
        for rejected in known:
            if rejected.fingerprint == mark or rejected.is_in(claim, vector, threshold):
                result[index] = rejected.id
                break
    return result


def take_back(
    space: WorkspaceIndex,
    subject_id: uuid.UUID | None,
    statement: str,
    vector: np.ndarray | None,
) -> int:
    """A person says by hand what a person had rejected: those rejections go. Their number."""
    deleted = 0
    while rejected := refused(space, subject_id, [statement], [vector]):
        deleted += Rejection.objects.filter(pk__in=rejected.values()).delete()[0]
    return deleted


@dataclass(frozen=True, slots=True)
class _Rejected:
    id: uuid.UUID
    fingerprint: bytes
    content: str
    corrected: str | None
    vector: np.ndarray | None

    @classmethod
    def of(cls, row: Any) -> Self:
        """Of a row of OF_SUBJECT; its vector has unit length."""
        vector = None
        if row.embedding is not None:
            vector = np.asarray(row.embedding.to_numpy(), dtype=np.float32)
            vector = vector / np.linalg.norm(vector)
        return cls(row.id, bytes(row.fingerprint), row.content, row.corrected, vector)

    def is_in(self, claim: str, vector: np.ndarray | None, threshold: float) -> bool:
        """Whether a claim, or a part of it, says the same, whatever leads in to it."""
        own = lexical.stem_set(self.content)
        if len(own & lexical.stem_set(claim)) < SHARED * len(own):
            return False
        if self.restates(claim, vector, threshold):
            return True
        name = self.content.split()[0].removesuffix("'s")
        parts = (part for part in shorten_clause.parts_of(claim, name) if part != claim)
        return any(
            lexical.fingerprint(part) == self.fingerprint or self.restates(part, None, threshold)
            for part in parts
        )

    def restates(self, claim: str, vector: np.ndarray | None, threshold: float) -> bool:
        """Whether a claim says the same in other words. `vector` is the claim's."""
        own = lexical.stem_set(self.content)
        if len(own & lexical.stem_set(claim)) < SHARED * len(own):  # before the two are taken apart
            return False
        cosine = None if self.vector is None or vector is None else float(self.vector @ vector)
        if not restates(_reading(self.content), _reading(claim), cosine, threshold):
            return False
        # What was corrected, not denied: who says it as it was corrected is right.
        return not self.corrected or not restates(
            _reading(self.corrected), _reading(claim), None, threshold
        )


@lru_cache(maxsize=4_096)
def _reading(text: str) -> Reading:
    return read(text)
