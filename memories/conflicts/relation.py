"""Whether a new statement says the same as an old one, replaces it, or stands beside it."""

from memories.conflicts.duplicates import duplicate, identical, near
from memories.conflicts.overlap import compare
from memories.conflicts.reading import Reading
from memories.conflicts.replacement import denied, ended, new_value, replaced
from memories.conflicts.same_slot import by_slot
from memories.conflicts.verdict import DIFFERENT, Relation


def relation(old: Reading, new: Reading, cosine: float | None, threshold: float) -> Relation:
    """How `new` stands to `old`, which was said before it.

    `cosine`: similarity of their embeddings, None without any; `threshold`: from where on the
    embedding model takes two texts for one.
    """
    overlap = compare(old, new)
    return (
        identical(old, new)
        or by_slot(old, new, overlap)
        or denied(old, new, overlap)
        or ended(old, new, overlap)
        or replaced(old, new, overlap)
        or new_value(old, new, overlap)
        or duplicate(old, new, overlap)
        or near(old, new, overlap, cosine, threshold)
        or DIFFERENT
    )
