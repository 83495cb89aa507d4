"""Counts of messages that were not read, and why: the gatekeeper's verdicts, added up over the
sessions of a workspace; and of messages kept without anything being learned from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, F, Func, IntegerField, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Greatest
from django.utils import timezone

from memories.language.english import claim_worth, gatekeeper
from memories.models import MemorySession
from workspaces.scope import Scope

# before the labels, in a session's counts: of messages not read, of claims not kept
KEY, UNWORTHY = "skipped_", "unworthy_"
MOST_SESSIONS = 20_000  # the newest
MOST_READ = 5_000  # the newest, of which each message is looked at
# The messages of a session that something stands on.
CITED = """
(select count(*)::int4 from unnest(memories_memorysession.episode_ids) said(id)
 where exists (select 1 from memories_citation c where c.episode_id = said.id))
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of `messages` received, and how many were passed over for each reason, the
    commonest first: (label, meaning, count)."""

    messages: int
    reasons: tuple[tuple[str, str, int], ...]

    @property
    def skipped(self) -> int:
        return sum(count for _, _, count in self.reasons)


def unworthy(scope: Scope, days: int = 30) -> tuple[tuple[str, str, int], ...]:
    """Findings that were not worth keeping, by reason, in the form of `count_skips`."""
    reasons, _ = _summed(scope, days, UNWORTHY, claim_worth.REASONS)
    return reasons


def count_skips(scope: Scope, days: int = 30) -> Counted:
    """Count over the newest 20,000 sessions of the last `days` days that `scope` may see."""
    reasons, messages = _summed(scope, days, KEY, gatekeeper.REASONS)
    return Counted(messages, reasons)


def _summed(
    scope: Scope, days: int, prefix: str, labels: Mapping[str, str]
) -> tuple[tuple[tuple[str, str, int], ...], int]:
    """The counts of `labels`, the commonest first, and the number of messages."""
    since = timezone.now() - timedelta(days=days)
    seen = MemorySession.objects.visible_to(scope).filter(created_at__gte=since)
    rows = seen.filter(pk__in=seen.order_by("-pk").values("pk")[:MOST_SESSIONS])
    size = Func(F("episode_ids"), function="cardinality", output_field=IntegerField())
    sums = {label: Coalesce(Sum(Cast(KT(f"counts__{prefix}{label}"), IntegerField())), 0) for label in labels}
    found = dict(rows.aggregate(messages=Coalesce(Sum(size), 0), **sums))
    messages = found.pop("messages")
    counted = [(label, labels[label], n) for label, n in found.items() if n]
    return tuple(sorted(counted, key=lambda reason: -reason[2])), messages


@dataclass(frozen=True, slots=True)
class Unread:
    """The outcome of `messages`, which gave `memories`. Nothing stands on `unread` of them, though
    they are no greetings, questions or the like, and nobody asked to keep them as they are;
    `without_model` of these had no model. `waiting` are still to be read, `failed` could not be.
    `sessions` were counted, `with_model` of them where there is a model."""

    messages: int = 0
    memories: int = 0
    unread: int = 0
    waiting: int = 0
    failed: int = 0
    without_model: int = 0
    sessions: int = 0
    with_model: int = 0

    @property
    def is_cut(self) -> bool:
        """Tell whether there are older sessions, which are not counted."""
        return self.sessions == MOST_READ


def count_unread(sessions: QuerySet[MemorySession], *, has_server_model: bool) -> Unread:
    """Count over the newest 5,000 of these sessions, in one statement; documents are counted
    elsewhere. `has_server_model`: workspaces that name no model have the server's."""
    of_talk = sessions.exclude(pathway=MemorySession.Pathway.DOCUMENT)
    newest = of_talk.order_by("-pk").values("pk")[:MOST_READ]
    number = IntegerField()
    size = Func(F("episode_ids"), function="cardinality", output_field=number)
    made = Func(F("created_ids"), function="cardinality", output_field=number)
    passed_over = sum(
        (Coalesce(Cast(KT(f"counts__{KEY}{label}"), number), 0) for label in gatekeeper.REASONS),
        start=RawSQL(CITED, [], output_field=number),
    )
    done = Q(state=MemorySession.State.DONE) & ~Q(extract=MemorySession.Extract.NONE)
    stuck = Q(state__in=MemorySession.STUCK)
    named = "workspace__settings__extractors"
    is_left_open = Q(**{f"{named}__isnull": True}) | Q(**{named: None})
    own = ~is_left_open & ~Q(**{named: []})
    with_model = own | is_left_open if has_server_model else own
    rows = MemorySession.objects.filter(pk__in=newest).annotate(
        size=size, made=made, left=Greatest(size - passed_over, 0)
    )
    found = rows.aggregate(
        messages=Coalesce(Sum("size"), 0),
        memories=Coalesce(Sum("made"), 0),
        unread=Coalesce(Sum("left", filter=done), 0),
        waiting=Coalesce(Sum("size", filter=~Q(state__in=MemorySession.FINAL)), 0),
        failed=Coalesce(Sum("size", filter=stuck), 0),
        without_model=Coalesce(Sum("left", filter=done & ~with_model), 0),
        sessions=Count("pk"),
        with_model=Count("pk", filter=with_model),
    )
    return Unread(**found)
