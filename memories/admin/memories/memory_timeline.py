"""A memory's chain as a timeline: its versions, what changed, who decided, and the evidence of
each."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, tzinfo
from typing import Any

from django.db.models import Prefetch, Q
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from memories.language.english.plain_words import rule_words
from memories.models import AsOf, Citation, Fact, Memory, MemoryPeriod, Supersession, chain
from workspaces.adminbase.target_names import names_of
from workspaces.adminbase.word_diff import Piece, word_diff
from workspaces.scope import Scope

SHOWN_FACTS = 5

MOST_STEPS = 400
THINNEST = 0.6  # percent of an axis for an instant
MINUTE, HOUR, DAY = 60, 3_600, 86_400
STEPS = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY)
# The meaning of each axis, and of its end.
WORDS = {"known": ("When we believed it", "now"), "valid": ("When it was true", "any time")}
Span = tuple[datetime | None, datetime | None]


@dataclass(slots=True)
class Version:
    """One version as the timeline shows it; `pieces` is the difference from the version before."""

    memory: Memory
    state: str
    pieces: list[Piece]
    decision: Supersession | None
    facts: list[Fact] = field(default_factory=list)
    lives: list[MemoryPeriod] = field(default_factory=list)

    @property
    def why(self) -> str:
        """The rule by which it replaced the version before, in plain words."""
        return rule_words(self.decision.rule) if self.decision else ""

    @property
    def more_facts(self) -> int:
        shown = sum(fact.withdrawn_at is None for fact in self.facts)
        return max(0, self.memory.source_count - shown)


@dataclass(frozen=True, slots=True)
class Timeline:
    """All versions, oldest first, and the decisions that did not replace one by another."""

    versions: list[Version]
    others: list[Supersession]
    names: dict[str, str]


def timeline(scope: Scope, memory: Memory) -> Timeline:
    links = chain(scope, memory.pk)
    ids = [link.memory.pk for link in links]
    facts: dict[Any, list[Fact]] = defaultdict(list)
    for fact in with_quotes(Fact.objects.newest_of(ids, SHOWN_FACTS)):
        facts[fact.memory_id].append(fact)
    lives: dict[Any, list[MemoryPeriod]] = defaultdict(list)
    for life in MemoryPeriod.objects.filter(memory__in=ids).order_by("from_at", "id"):
        lives[life.memory_id].append(life)
    versions = []
    before = ""
    for link in links:
        content = link.memory.content
        pieces = word_diff(before, content) if before else [Piece("same", content)]
        version = Version(link.memory, link.memory.state, pieces, link.supersession)
        version.facts, version.lives = facts[link.memory.pk], lives[link.memory.pk]
        versions.append(version)
        before = content
    others = decisions_beside(ids)
    deciders = [d.decided_by for d in [*others, *(v.decision for v in versions)] if d is not None]
    return Timeline(versions, others, names_of(deciders))


def with_quotes(facts: Any) -> Any:
    """Add to facts their citations, and the heads of the cited texts."""
    citations = Citation.objects.with_places().defer(
        "episode__content", "episode__payload", "episode__metadata", "revision__text"
    )
    return facts.prefetch_related(Prefetch("citations", citations))


def decisions_beside(memories: Sequence[Any]) -> list[Supersession]:
    """Return the newest decisions on these versions that did not replace one by another."""
    touching = Supersession.objects.filter(Q(old__in=memories) | Q(new__in=memories))
    others = touching.exclude(state=Supersession.State.APPLIED).select_related("old", "new")
    return list(others.order_by("-id")[:50])


@dataclass(frozen=True, slots=True)
class SpanBar:
    """A span on an axis, in percent of it."""

    left: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A slider in seconds since 1970. At `last` it names no instant."""

    name: str
    first: int
    last: int
    step: int
    at: datetime | None
    typed: str
    fault: str
    bars: tuple[tuple[int, tuple[SpanBar, ...]], ...]

    @property
    def label(self) -> str:
        return WORDS[self.name][0]

    @property
    def open_end(self) -> str:
        """The meaning of `last`, in words."""
        return WORDS[self.name][1]

    @property
    def value(self) -> int:
        if self.at is None:
            return self.last
        steps = round((self.at.timestamp() - self.first) / self.step)
        return min(max(self.first + steps * self.step, self.first), self.last - self.step)

    @property
    def marker(self) -> float:
        return _percent(self.value, self.first, self.last)


@dataclass(frozen=True, slots=True)
class ChainAsOf:
    """Both axes, and the versions that were believed there."""

    known: Axis
    valid: Axis
    believed: tuple[Memory, ...]

    @property
    def ids(self) -> list[Any]:
        return [memory.pk for memory in self.believed]

    @property
    def is_now(self) -> bool:
        return self.known.at is None and self.valid.at is None

    @property
    def axes(self) -> tuple[Axis, Axis]:
        return self.known, self.valid


def chain_as_of(asked: QueryDict, memories: Sequence[Memory], lives: Iterable[Sequence[MemoryPeriod]]) -> ChainAsOf:
    """Return both axes of a chain at the point that `asked` names, and the versions believed there.
    `memories` and `lives` are ordered by version, oldest first."""
    at = as_of(asked)
    believed = [[(life.from_at, life.until_at) for life in each] for each in lives]
    true = [[(m.valid_from, m.valid_until)] if m.valid_from or m.valid_until else [] for m in memories]
    rows = Memory.objects.filter(pk__in=[memory.pk for memory in memories])
    believed_there = rows.believed(memories[0].workspace_id, at).order_by("created_at", "pk")
    versions = [memory.version for memory in memories]
    return ChainAsOf(
        _axis("known", at.known_at, asked, list(zip(versions, believed, strict=True))),
        _axis("valid", at.valid_at, asked, list(zip(versions, true, strict=True))),
        tuple(believed_there),
    )


def as_of(asked: QueryDict) -> AsOf:
    """Return the point that `asked` names on both axes (`valid_on` and `known_on`, typed; `valid`
    and `known`, from the slider). Invalid values are ignored."""
    return AsOf(valid_at=_instant(asked, "valid"), known_at=_instant(asked, "known"))


def _instant(asked: QueryDict, name: str) -> datetime | None:
    """Return the typed date, if any (the end of the day, where it has no time), else the
    slider's."""
    typed, slid = asked.get(f"{name}_on", ""), asked.get(name, "")
    try:
        if typed:
            # Raises ValueError for a day that no calendar has.
            if day := parse_date(typed):
                return datetime.combine(day, time.max, _zone_of(name))
            at = parse_datetime(typed)
            return at.replace(tzinfo=_zone_of(name)) if at and not at.tzinfo else at
        return datetime.fromtimestamp(int(slid), UTC) if slid else None
    except (ValueError, OverflowError, OSError):
        return None  # not a date


def _zone_of(name: str) -> tzinfo:
    """Return the zone of days on an axis. A day on which something was true is the same
    everywhere."""
    return UTC if name == "valid" else timezone.get_current_timezone()


def _axis(
    name: str,
    at: datetime | None,
    asked: QueryDict,
    spans: Sequence[tuple[int, Sequence[Span]]],
) -> Axis:
    ends = [end for _, each in spans for span in each for end in span if end is not None]
    ends.append(timezone.now())
    start, end = min(ends).timestamp(), max(ends).timestamp()
    fine = (each for each in STEPS if (end - start) / each <= MOST_STEPS)
    step = next(fine, STEPS[-1])
    # A step before the first event, and one after the last.
    first, last = int(start // step - 1) * step, int(end // step + 2) * step
    typed = asked.get(f"{name}_on", "")
    if at is not None and at.timestamp() >= last and not typed:
        at = None
    fault = f"“{typed[:40]}” is no day: write 2026-03-31" if typed and at is None else ""
    bars = []
    for version, each in spans:
        of_version = []
        for begin, until in each:
            words = f"{_minute_text(begin) or 'always'} to {_minute_text(until) or 'open'}"
            of_version.append(bar_of((begin, until), first, last, words))
        bars.append((version, tuple(of_version)))
    return Axis(name, first, last, step, at, typed, fault, tuple(bars))


def bar_of(span: Span, first: float, last: float, text: str = "") -> SpanBar:
    """Return a span as a bar on an axis between two seconds since 1970; open ends reach its
    ends."""
    begin, end = span
    left = _percent(begin.timestamp(), first, last) if begin else 0.0
    right = _percent(end.timestamp(), first, last) if end else 100.0
    return SpanBar(left, round(max(right - left, THINNEST), 2), text)


def _minute_text(at: datetime | None) -> str:
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M") if at else ""


def _percent(value: float, first: float, last: float) -> float:
    return round(min(max((value - first) / (last - first), 0.0), 1.0) * 100, 2)
