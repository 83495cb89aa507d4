"""Imports that have a name: their threads begin with it, and all of one is taken back at once."""

import re
from collections import Counter

from memories.models import Conversation, Episode, Erasure
from memories.models.conversation import ConversationQuerySet
from memories.privacy import erase
from memories.privacy.erase import ErasureTarget
from memories.transcripts.transcript import digest
from workspaces.scope import Scope

MARK = "import:"  # begins the thread of everything that was imported
LONGEST_THREAD = 200
LONGEST_BATCH = 40
BATCH_NAME = rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_BATCH - 1}}}"


def thread_of(batch: str, thread: str) -> str:
    name = f"{MARK}{batch}:{thread}"
    return name if len(name) <= LONGEST_THREAD else f"{MARK}{batch}:{digest(thread)}"


def batch_name_of(file: str) -> str:
    """Return the name of an import by that of its file."""
    return re.sub(r"[^a-z0-9]+", "-", file.lower()).strip("-")[:LONGEST_BATCH] or "files"


def batches(scope: Scope) -> dict[str, int]:
    """Return how many messages each import brought that the asker sees, by its name."""
    counts: Counter[str] = Counter()
    rows = Episode.objects.visible_to(scope).filter(
        workspace_id=scope.workspace_id, conversation__external_id__startswith=MARK
    )
    for thread in rows.values_list("conversation__external_id", flat=True).iterator():
        counts[thread.split(":")[1]] += 1
    return dict(sorted(counts.items()))


def targets_of(scope: Scope, batch: str) -> list[ErasureTarget]:
    """Return what is erased to take an import back; [] for a name that none has."""
    rows = conversations_of(scope, batch).values_list("pk", flat=True)
    return [erase.target_of(scope, Erasure.Kind.CONVERSATION, row) for row in rows]


def conversations_of(scope: Scope, batch: str) -> ConversationQuerySet:
    return Conversation.objects.visible_to(scope).filter(
        workspace_id=scope.workspace_id, external_id__startswith=thread_of(batch, "")
    )
