"""Marks of a row: what is derived from a text and kept beside it, and which rules made them.

Marks are `Memory.slots` and, of an entry, `weights`, `length`, `marks` and the passages that its
vectors stand for. Whoever changes what the code makes of a text (conflicts, lexical, ranking.marks,
message_pieces) raises the version: then `index.repair` makes all rows anew.
Keys of words (`terms`, `trigrams`) and fingerprints stay as they are: a search would not find rows
that wait for their repair, and fingerprints stand under unique constraints.
tests/index/test_rules_version.py fails where marks have changed and the version has not."""

import uuid
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from memories.language.english import statements
from memories.language.english.statements import NO_WORDS, OwnWords, Reading
from memories.models import Memory, WorkspaceChange, WorkspaceIndex, WorkspaceSlot

RULES_VERSION = 6
# The first version that cuts passages as this one does: vectors of longer texts whose rows are
# older are made anew.
PASSAGES_SINCE = 0


def are_current(index: WorkspaceIndex) -> bool:
    """Tell whether all rows of the workspace have the marks of these rules."""
    return index.rules == RULES_VERSION


def words_of(index: WorkspaceIndex) -> OwnWords:
    """Return the attributes and words of change that the workspace added itself, and those of the
    shipped ones that it switched off."""
    if not index.has_own_words:
        return OwnWords(off=index.decisions_off) if index.decisions_off else NO_WORDS
    return OwnWords(
        WorkspaceSlot.objects.in_use(index.workspace_id),
        WorkspaceChange.objects.in_use(index.workspace_id),
        index.decisions_off,
    )


def slot_keys_of(about: uuid.UUID, reading: Reading) -> list[int]:
    """Return signed 64-bit keys, sorted; `about` is the subject, or the workspace where there is
    none.

    Two subjects never share a key, so that everybody's home is not in one posting list.
    """
    return keys_of(about, statements.slot_keys(reading))


def keys_of(about: uuid.UUID, names: Iterable[str]) -> list[int]:
    """Return the keys of attributes by their names, as `statements.slot_keys` gives them."""
    digests = {blake2b(name.encode(), digest_size=8, key=about.bytes).digest() for name in names}
    return sorted(int.from_bytes(digest, "big", signed=True) for digest in digests)


def slots_of_memory(memory: Memory, words: OwnWords) -> list[int]:
    return slot_keys_of(memory.subject_id or memory.workspace_id, statements.read(memory.content, words))


def stale_slots(ids: Sequence[uuid.UUID], words: OwnWords) -> list[Memory]:
    """Return those of these memories that have other keys than they tell now, with the right
    ones."""
    found = []
    for memory in Memory.objects.filter(pk__in=ids):
        keys_now = slots_of_memory(memory, words)
        if memory.slots != keys_now:
            memory.slots = keys_now
            found.append(memory)
    return found


def rebuild_slots(ids: Sequence[uuid.UUID], words: OwnWords) -> int:
    """Give these memories the keys that they tell now; return how many had others."""
    return Memory.objects.bulk_update(stale_slots(ids, words), ["slots"])
