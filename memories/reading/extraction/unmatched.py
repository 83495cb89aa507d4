"""Misses: statements that patterns did not find, kept so that a person can make a pattern."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from memories.errors import Invalid, needed
from memories.language.english import workspace_patterns
from memories.language.english.workspace_patterns import shape_of
from memories.models import Category, Episode, MemorySession, Miss, WorkspacePattern
from memories.reading.extraction import Missed
from workspaces.scope import Scope

MOST_ALIKE = 200


def record(session: MemorySession, missed: Sequence[Missed]) -> None:
    """Keep what a model found in messages of `session`; once per message, even if it runs again."""
    rows = [
        Miss(
            workspace_id=session.workspace_id,
            session=session,
            episode_id=each.episode_id,
            text=each.text,
            found_by=Miss.FoundBy.LLM,
            statements=list(each.statements),
            category=each.category,
            shape=shape_of(each.text, each.statements),
        )
        for each in missed
    ]
    if rows:
        Miss.objects.bulk_create(rows, ignore_conflicts=True)


@transaction.atomic
def report(scope: Scope, episode_id: uuid.UUID, statements: Sequence[str], category: str) -> Miss:
    """Report statements that patterns missed in an episode; later ones join the same miss."""
    episode = needed(Episode.objects.visible_to(scope).filter(pk=episode_id).first(), "Episode")
    said = [statement.strip() for statement in statements if statement.strip()]
    if not said:
        raise Invalid("statements", "Say what stands in the message.")
    if category not in Category.values:
        raise Invalid("category", "There is no such category.")
    miss, is_new = Miss.objects.get_or_create(
        workspace_id=scope.workspace_id,
        episode=episode,
        found_by=Miss.FoundBy.PERSON,
        defaults={
            "session_id": episode.session_id,
            "text": episode.content,
            "statements": said,
            "category": category,
            "shape": shape_of(episode.content, said),
        },
    )
    if not is_new:
        miss.statements = list(dict.fromkeys([*miss.statements, *said]))
        miss.state = Miss.State.OPEN
        miss.save(update_fields=["statements", "state", "updated_at"])
    _audit(scope, "report_miss", miss)
    return miss


@transaction.atomic
def settle(scope: Scope, miss: Miss, note: str = "", *, state: str = Miss.State.DONE) -> None:
    """Record that nothing is left to do about a miss, or (state open) that there is."""
    before = miss.state
    miss.state, miss.note = state, note or miss.note
    miss.save(update_fields=["state", "note", "updated_at"])
    _audit(scope, "settle_miss", miss, reason=note, before={"state": before})


@transaction.atomic
def settle_found(scope: Scope, pattern: WorkspacePattern, miss: Miss) -> int:
    """Settle `miss`, from which `pattern` was made, and open ones like it that it finds; how many,
    at most MOST_ALIKE."""
    alike = Miss.objects.filter(
        workspace_id=scope.workspace_id,
        state=Miss.State.OPEN,
        category=miss.category,
        shape=miss.shape,
    )
    others = [
        other
        for other in alike.exclude(pk=miss.pk).order_by("-pk")[:MOST_ALIKE]
        if workspace_patterns.find(pattern.value, other.text, "", other.created_at)
    ]
    for each in (miss, *others):
        settle(scope, each, f"The pattern {pattern.name} finds it.")
    return len(others)


def _audit(scope: Scope, action: str, miss: Miss, **details: object) -> None:
    after = {"state": miss.state}
    scope.audit(action, miss, after=after, **details)
