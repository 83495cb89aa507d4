"""What people said must not be learned again, met again in the same words or in others."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from memories.english import lexical
from memories.english.statements import Reading, read, restates
from memories.index import statements
from memories.models import Layer, Rejection, WorkspaceIndex

MOST = 1_000  # rejections of one subject that are compared; equal texts are found among any number
SHARED = 0.3  # of a rejection's stems; what shares fewer is no paraphrase that could be told
# The vector is that of the forgotten memory, under whichever model the workspace speaks now.
OF_SUBJECT = """
select r.id, r.content, r.fingerprint, v.embedding, head.content as corrected
from memories_rejection r
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
    values = {
        "workspace": space.workspace_id,
        "subject": subject_id,
        "fingerprints": list(set(marks)),
        "layer": int(Layer.MEMORIES),
        "model": space.embedding_model_id,
        "most": MOST,
    }
    rows = statements.rows(OF_SUBJECT, values)
    if not rows:
        return {}
    model = space.embedding_model
    known = _Known(rows, model.duplicate_threshold if model else 1.0)
    own = vectors or [None] * len(claims)
    met = [known.meets(c, m, v) for c, m, v in zip(claims, marks, own, strict=True)]
    return {at: found for at, found in enumerate(met) if found is not None}


def take_back(
    space: WorkspaceIndex,
    subject_id: uuid.UUID | None,
    statement: str,
    vector: np.ndarray | None,
) -> int:
    """A person says by hand what a person had rejected: those rejections go. Their number."""
    gone = 0
    while found := refused(space, subject_id, [statement], [vector]):
        gone += Rejection.objects.filter(pk__in=found.values()).delete()[0]
    return gone


@dataclass(frozen=True, slots=True)
class _Rejected:
    id: uuid.UUID
    fingerprint: bytes
    content: str
    corrected: str | None
    vector: np.ndarray | None


class _Known:
    """The rejections of one subject."""

    def __init__(self, rows: Sequence[Any], threshold: float) -> None:
        self.threshold = threshold
        self.rows = [
            _Rejected(
                row.id, bytes(row.fingerprint), row.content, row.corrected, _unit(row.embedding)
            )
            for row in rows
        ]

    def meets(self, claim: str, mark: bytes, vector: np.ndarray | None) -> uuid.UUID | None:
        for row in self.rows:
            if row.fingerprint == mark or self._restates(row, claim, vector):
                return row.id
        return None

    def _restates(self, row: "_Rejected", claim: str, vector: np.ndarray | None) -> bool:
        if not _share_words(row.content, claim):
            return False
        cosine = None if row.vector is None or vector is None else float(row.vector @ vector)
        if not restates(_reading(row.content), _reading(claim), cosine, self.threshold):
            return False
        # What was corrected, not denied: who says it as it was corrected is right.
        return not row.corrected or not restates(
            _reading(row.corrected), _reading(claim), None, self.threshold
        )


def _unit(embedding: Any) -> np.ndarray | None:
    if embedding is None:
        return None
    found = np.asarray(embedding.to_numpy(), dtype=np.float32)
    return found / np.linalg.norm(found)


def _share_words(rejected: str, claim: str) -> bool:
    """A quick look before the two are taken apart."""
    theirs = _stems(rejected)
    return len(theirs & _stems(claim)) >= SHARED * len(theirs)


@lru_cache(maxsize=4_096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(lexical.stems(text))


@lru_cache(maxsize=4_096)
def _reading(text: str) -> Reading:
    return read(text)
