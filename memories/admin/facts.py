"""Facts: what was read out of episodes, each with the words that it stands on."""

from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html

from memories.admin.base import MemoryPage, said, tell_it
from memories.admin.chains import state_of
from memories.admin.fact_filters import ConfidenceFilter, EntityFilter, RuleFilter
from memories.admin.filters import ChoicesDropdownFilter, DayFilter, FactStateFilter, PickFilter
from memories.admin.highlighting import excerpt
from memories.admin.repeats import RepeatsPage
from memories.admin.searching import SearchedAdmin
from memories.models import Citation, Fact
from workspaces.desk.columns import display
from workspaces.desk.listing import Empty


class FactAdmin(RepeatsPage, SearchedAdmin, MemoryPage):
    says = "statement"
    list_display = (
        "told",
        "subject",
        "category",
        "method",
        "rule_told",
        "sure",
        "state",
        "read_at",
    )
    list_select_related = ("workspace", "subject")
    list_filter = (
        FactStateFilter,
        ("subject", PickFilter),
        DayFilter,
        ("category", ChoicesDropdownFilter),
        ("method", ChoicesDropdownFilter),
        RuleFilter,
        ("agent", PickFilter),
        EntityFilter,
        ConfidenceFilter,
    )
    search_fields = ("statement",)
    search_help_text = "Words of the statement (newest 20,000), or an id"
    page_template = "admin/memories/fact.html"

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        return rows.select_related("workspace", "subject", "agent")

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        return lookup in {"memory__id__exact", "session__id__exact"} or super().lookup_allowed(
            lookup, value, request
        )

    @display(description="statement")
    def told(self, fact: Fact) -> str:
        return format_html('<span class="desk-told">{}</span>', said(fact.statement))

    @display(description="rule")
    def rule_told(self, fact: Fact) -> str:
        return fact.rule[:40]

    @display(description="confidence")
    def sure(self, fact: Fact) -> str:
        return f"{fact.confidence:.2f}"

    @display(description="state", label={"believed": "success", "quarantined": "warning"})
    def state(self, fact: Fact) -> str:
        return fact_state(fact)

    @display(description="read")
    def read_at(self, fact: Fact) -> Any:
        return fact.created_at

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        citations = Citation.objects.filter(fact=row).select_related("episode__conversation")
        found = []
        for citation in citations[:50]:
            cut = excerpt(citation.episode.content, citation.start, citation.end)
            found.append((citation, cut))
        memory = row.memory
        return {
            "state": fact_state(row),
            "citations": found,
            "memory": memory,
            "memory_state": state_of(memory) if memory else "",
        }

    def empty(self, request: HttpRequest) -> Empty:
        return tell_it(request, "No facts yet", "Facts are read out of what agents tell:")


def fact_state(fact: Fact) -> str:
    """`believed`, `quarantined` or `rejected` (before, by a person)."""
    if fact.quarantined_at is not None:
        return "quarantined"
    return "believed" if fact.memory_id else "rejected"
