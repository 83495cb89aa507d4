"""Filters by the state that rows are in."""

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter

from memories.models import DueVector, Layer, MemoryState
from workspaces.adminbase.scoped_filters import DayFilter, PickFilter, StateFilter

__all__ = ["BooleanRadioFilter", "ChoicesDropdownFilter", "DayFilter", "PickFilter"]


def said_twice(rows: Any) -> Any:
    """Of live memories those whose text another one about the same subject has, too."""
    # The first look reads an index alone and leaves few rows for the second, which knows the clock.
    texts = (
        rows.order_by()
        .filter(is_head=True)
        .values("workspace", "fingerprint")
        .annotate(same=Count("pk"))
    )
    others = rows.model.objects.live().filter(
        workspace=OuterRef("workspace"), fingerprint=OuterRef("fingerprint")
    )
    others = others.exclude(pk=OuterRef("pk"))
    alike = Q(Exists(others.filter(subject=OuterRef("subject"))))
    of_nobody = Q(Exists(others.filter(subject=None)), subject=None)
    return rows.live().filter(
        alike | of_nobody, fingerprint__in=texts.filter(same__gt=1).values("fingerprint")
    )


class LifeFilter(StateFilter):
    """What we believe now, and what we do not (any more, or yet)."""

    first = MemoryState.LIVE.value
    states = {
        **dict(MemoryState.choices),
        "twice": "Live, and the same text twice",
        "unembedded": "Without a vector yet",
    }

    def narrow(self, rows: Any, state: str) -> QuerySet[Any]:
        if state == "twice":
            return said_twice(rows)
        if state == "unembedded":
            due = DueVector.objects.filter(entry__layer=Layer.MEMORIES)
            return rows.filter(pk__in=due.values("entry__item"))
        if state == MemoryState.LIVE:
            return rows.live()
        # What was superseded and then forgotten is both.
        wanted = {
            MemoryState.SUPERSEDED: Q(superseded_by__isnull=False),
            MemoryState.FORGOTTEN: Q(forgotten_at__isnull=False),
            MemoryState.HELD: Q(held_at__isnull=False, forgotten_at=None),
            MemoryState.EXPIRED: Q(is_head=True, forget_after__lte=timezone.now()),
        }
        return rows.filter(wanted[MemoryState(state)])


class SessionStateFilter(StateFilter):
    states = {
        "stuck": "Failed or dead",
        "working": "At work or waiting",
        "done": "Done",
        "failed": "Failed",
        "dead": "Dead",
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        groups = {
            "stuck": ("failed", "dead"),
            "working": ("received", "extracting", "resolving"),
        }
        return rows.filter(state__in=groups.get(state, (state,)))


# Rules by which a memory took another's place without contradicting it.
NO_CONTRADICTION = ("edit", "richer")


class DecisionFilter(StateFilter):
    first = "pending"
    states = {
        "pending": "Pending",
        "applied": "Applied",
        "settled": "Settled: what contradicted",
        "rejected": "Rejected",
        "undone": "Undone",
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        if state == "settled":
            return rows.filter(state="applied").exclude(rule__in=NO_CONTRADICTION)
        return super().narrow(rows, state)


class FactStateFilter(StateFilter):
    states = {
        "believed": "Under a memory",
        "quarantined": "In quarantine",
        "loose": "Rejected before",
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        wanted = {
            "believed": Q(memory__isnull=False),
            "quarantined": Q(quarantined_at__isnull=False),
            "loose": Q(memory=None, quarantined_at=None),
        }
        return rows.filter(wanted[state])
