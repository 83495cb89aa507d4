"""The timeline of a life."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from memories.admin.memories.memory_list import day_text, true_text
from memories.admin.memories.memory_timeline import Span, SpanBar, bar_of
from memories.models import AsOf, FactType, Memory, MemoryPeriod, MemoryState
from workspaces.models import Subject
from workspaces.scope import Scope

# Somebody's life as it is believed: each version of each memory, with the times when it is true
# and when it was believed.

PAGE = 40
# Why a version is no longer believed.
STATES = {
    MemoryState.SUPERSEDED: gettext_noop("replaced"),
    MemoryState.FORGOTTEN: gettext_noop("forgotten"),
    MemoryState.HELD: gettext_noop("held back"),
    MemoryState.EXPIRED: gettext_noop("expired"),
}


@dataclass(frozen=True, slots=True)
class LifeEntry:
    """A version of a memory; `true` and `believed` say in words what the bars of both axes show."""

    memory: Memory
    at: datetime
    state: str
    true: str
    believed: str
    true_bar: SpanBar
    believed_bars: tuple[SpanBar, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """A page of entries, the latest beginning first; `first` and `last` are the ends of the
    axis."""

    entries: list[LifeEntry]
    is_more: bool
    first: datetime
    last: datetime


def life(scope: Scope, subject: Subject, at: AsOf, offset: int) -> Life:
    """Return a page of all memories ever believed about somebody, or of those believed as of
    `at`."""
    begins: Any = Coalesce("event_date", "valid_from", "created_at")
    periods = MemoryPeriod.objects.order_by("from_at", "id")
    rows = Memory.objects.visible_to(scope).filter(subject=subject)
    if at.is_now:
        rows = rows.filter(Exists(periods.filter(memory=OuterRef("pk"))))
    else:
        rows = rows.believed(scope.workspace_id, at)
    rows = rows.annotate(begins=begins).order_by("-begins", "-pk")
    found: list[Any] = list(rows.prefetch_related(Prefetch("periods", periods))[offset : offset + PAGE + 1])
    memories, now = found[:PAGE], timezone.now()
    known = [each for memory in memories for each in _ends(memory)]
    first, last = min([*known, now]), max([*known, now])
    room = max((last - first) * 0.04, timedelta(days=1))  # so that the first beginning is visible
    first, last = first - room, last + room
    axis = first.timestamp(), last.timestamp()
    entries = []
    for memory in memories:
        own = [(each.from_at, each.until_at) for each in memory.periods.all()]
        # An event has its day, not the time since when it was known.
        day = memory.event_date if memory.fact_type == FactType.EVENT else None
        span = (day, day) if day else (memory.valid_from, memory.valid_until)
        entries.append(
            LifeEntry(
                memory,
                memory.begins,
                "" if memory.is_live else gettext(STATES[memory.state]),
                gettext("on %(day)s") % {"day": day_text(day)} if day else true_text(memory),
                believed_text(own),
                bar_of(span, *axis),
                tuple(bar_of(span, *axis) for span in own),
            )
        )
    return Life(entries, len(found) > PAGE, first, last)


def believed_text(spans: Sequence[Span]) -> str:
    """Return the periods in which a memory was believed, in words."""
    words = []
    for begin, end in spans:
        if begin is None:
            continue
        if end is None:
            words.append(gettext("since %(day)s") % {"day": day_text(begin)})
        elif day_text(begin) == day_text(end):
            words.append(gettext("on %(day)s") % {"day": day_text(begin)})
        else:
            words.append(f"{day_text(begin)} – {day_text(end)}")
    return ", ".join(words)


def _ends(memory: Any) -> list[datetime]:
    own = [memory.event_date, memory.valid_from, memory.valid_until]
    own += [at for each in memory.periods.all() for at in (each.from_at, each.until_at)]
    return [at for at in own if at is not None]
