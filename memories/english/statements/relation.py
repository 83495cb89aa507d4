"""Whether a new statement says the same as an old one, replaces it, or stands beside it."""

from memories.english.statements.duplicates import duplicate, identical, near
from memories.english.statements.overlap import Overlap, compare
from memories.english.statements.participants import turned_round
from memories.english.statements.read_statement import Reading
from memories.english.statements.replacement import denied, ended, new_value, replaced
from memories.english.statements.same_slot import by_slot
from memories.english.statements.verdict import DIFFERENT, Relation
from memories.english.statements.workspace_slots import NO_WORDS, OwnWords

APART = 0.2  # below the threshold, a text within another is about something else
LONG = 24  # content words; a text of so many says more than the one thing that has changed


def relation(
    old: Reading,
    new: Reading,
    *,
    cosine: float | None,
    threshold: float,
    words: OwnWords = NO_WORDS,
) -> Relation:
    """How `new` stands to `old`, which was said before it.

    `cosine`: similarity of their embeddings, None without any; `threshold`: from where on the
    embedding model takes two texts for one; `words`: those of the workspace's own.
    """
    overlap = compare(old, new)
    found = _first_rule(old, new, overlap, words) or (
        near(old, new, overlap, cosine, threshold) or DIFFERENT
    )
    if found.rule == "contained" and cosine is not None and cosine < threshold - APART:
        return DIFFERENT
    if found.kind == "update" and len(old.stems) > LONG:
        return Relation("unsure", found.rule)
    return found


def _first_rule(old: Reading, new: Reading, overlap: Overlap, words: OwnWords) -> Relation | None:
    return (
        identical(old, new)
        or by_slot(old, new, overlap)
        or denied(old, new, overlap)
        or ended(old, new, words)
        or replaced(old, new, overlap)
        or new_value(old, new, overlap)
        or turned_round(old, new, overlap)
        or duplicate(old, new, overlap)
    )
