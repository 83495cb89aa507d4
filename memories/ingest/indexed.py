"""Entries of new episodes: each lends a share of its words to its neighbours'."""

from collections.abc import Sequence

from memories import lexical
from memories.indexing import entries, speakers
from memories.models import Episode, Layer, MemorySession, WorkspaceIndex


def index(
    space: WorkspaceIndex,
    session: MemorySession,
    made: list[Episode],
    vectors: list[entries.Vectors] | None,
) -> None:
    """Entries of new episodes; each lends a share of its words to its neighbours'."""
    before = _neighbours_before(session, made)
    stems = [lexical.stems(e.content) for e in [*before, *made]]
    items = []
    for at, episode in enumerate(made, start=len(before)):
        counts = _document(stems, at)
        items.append(
            entries.episode_item(
                episode, scope=session.scope, workflow=session.workflow, counts=counts
            )
        )
    entries.write(space, items, vectors)
    speakers.heard(space, session.subject_id, made)
    if before and made:
        at = len(before) - 1
        entries.reweigh(space, Layer.EPISODES, before[-1].pk, _document(stems, at))


def _neighbours_before(session: MemorySession, made: list[Episode]) -> list[Episode]:
    """The last two episodes of the conversation, oldest first: one to borrow from, one to lend."""
    if session.conversation is None or not made:
        return []
    last = session.conversation.episodes.exclude(pk__in=[e.pk for e in made])
    return list(last.order_by("-occurred_at", "-position")[:2])[::-1]


def _document(stems: Sequence[Sequence[str]], at: int) -> dict[str, float]:
    previous = stems[at - 1] if at else ()
    following = stems[at + 1] if at + 1 < len(stems) else ()
    return lexical.index_stems(stems[at], previous, following)
