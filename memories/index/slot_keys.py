"""Keys of the single-valued attributes that a memory tells: how an older value is found."""

import uuid
from collections.abc import Sequence
from hashlib import blake2b

from memories.english import statements
from memories.english.statements import NO_WORDS, OwnWords, Reading
from memories.models import Memory, WorkspaceChange, WorkspaceIndex, WorkspaceSlot


def words_of(index: WorkspaceIndex) -> OwnWords:
    """The attributes and words of change that the workspace added itself."""
    if not index.has_own_words:
        return NO_WORDS
    return OwnWords(
        WorkspaceSlot.objects.in_use(index.workspace_id),
        WorkspaceChange.objects.in_use(index.workspace_id),
    )


def keys(about: uuid.UUID, reading: Reading) -> list[int]:
    """Signed 64-bit keys, sorted; `about` is the subject, or the workspace where there is none.

    Two subjects never share a key, so that everybody's home is not in one posting list.
    """
    names = statements.slot_keys(reading)
    digests = {blake2b(name.encode(), digest_size=8, key=about.bytes).digest() for name in names}
    return sorted(int.from_bytes(digest, "big", signed=True) for digest in digests)


def of_memory(memory: Memory, words: OwnWords) -> list[int]:
    return keys(memory.subject_id or memory.workspace_id, statements.read(memory.content, words))


def stale(ids: Sequence[uuid.UUID], words: OwnWords) -> list[Memory]:
    """Of these memories those that have other keys than they tell now, with the right ones."""
    found = []
    for memory in Memory.objects.filter(pk__in=ids):
        keys_now = of_memory(memory, words)
        if memory.slots != keys_now:
            memory.slots = keys_now
            found.append(memory)
    return found


def rebuild(ids: Sequence[uuid.UUID], words: OwnWords) -> int:
    """Give these memories the keys that they tell now; how many had others."""
    return Memory.objects.bulk_update(stale(ids, words), ["slots"])
