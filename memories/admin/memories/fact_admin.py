"""Facts read from episodes and documents, each with the words that it is based on."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.options import ModelAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, TextFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
)

from memories.admin.judge_heads.heads_page import HeadsPage
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, excerpt, ingest_hint, text_column
from memories.admin.quality.judge_page import JudgePage
from memories.admin.rules.rules_page import RulesPage
from memories.belief import review
from memories.models import Category, Citation, Episode, Fact
from memories.quality.repeated_statements import Repeat, RepeatQuery, repeats
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import AdminPage, Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import AskedWorkspaceForm, DayFilter, PickFilter, StateFilter

MOST_OFFERED = 300
NEWEST = 20_000  # facts that are searched for rules to choose


class RepeatsForm(AskedWorkspaceForm):
    """The filters of the page of repeats."""

    category = forms.ChoiceField(
        choices=[("", "All categories"), *Category.choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    agents = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        label=_("Agents, at least"),
        widget=UnfoldAdminIntegerFieldWidget,
    )


class RepeatsPage(AdminPage):
    path, name, title = "repeats/", "memories_repeats", "Repeats"
    template_name = "admin/memories/repeats.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        first = self.access.usual_workspace()
        asked = {"workspace": first.slug if first else "", "category": "", "agents": "1"}
        form = RepeatsForm(self.access, asked | self.request.GET.dict())
        rows: list[Repeat] = []
        if form.is_valid():
            values = form.cleaned_data
            query = RepeatQuery(min_agents=values["agents"], category=values["category"])
            rows = repeats(self.access.scope(values["workspace"].pk), query)
        opts = self.model_admin.opts
        return super().get_context_data(**kwargs, opts=opts, form=form, repeats=rows)


class RuleFilter(DropdownFilter):
    """Filter by the rules in the newest facts, and by the rule that is asked for."""

    title = _("rule")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        mine = access_of(request).limit(Fact.objects.all(), "workspace")
        newest = Fact.objects.filter(pk__in=mine.order_by("-pk").values("pk")[:NEWEST])
        rules = newest.exclude(rule="").order_by().values_list("rule", flat=True)
        shown = set(rules.distinct()[:MOST_OFFERED])
        asked = request.GET.get(self.parameter_name)
        return [(rule, rule) for rule in sorted(shown | ({asked} if asked else set()))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(rule=self.value()) if self.value() else queryset


class EntityFilter(TextFilter):
    """Filter for facts that name somebody or something, spelled as the facts spell it."""

    title = _("entity")
    parameter_name = "entity"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = (self.value() or "").strip()
        return queryset.filter(entities__contains=[asked]) if asked else queryset


class ConfidenceFilter(DropdownFilter):
    title = _("confidence")
    parameter_name = "confidence"
    least = {"0.9": 0.9, "0.8": 0.8, "0.7": 0.7, "0.5": 0.5}

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [*((each, f"At least {each}") for each in self.least), ("low", "Below 0.5")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.value()
        if asked == "low":
            return queryset.filter(confidence__lt=0.5)
        return queryset.filter(confidence__gte=self.least[asked]) if asked in self.least else queryset


class QuoteForm(forms.Form):
    quote = forms.CharField(
        label=_("The words it stands on, as a message has them"),
        max_length=10_000,
        required=False,
        help_text=_("May be left empty where the fact cites words."),
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
    )


class FactStateFilter(StateFilter):
    states = {
        "believed": _("Under a memory"),
        "quarantined": _("In quarantine"),
        "loose": _("Rejected before"),
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        wanted = {
            "believed": Q(memory__isnull=False),
            "quarantined": Q(quarantined_at__isnull=False),
            "loose": Q(memory=None, quarantined_at=None),
        }
        return rows.filter(wanted[state])


@admin.register(Fact)
class FactAdmin(MemoryRowAdmin):
    pages = (RepeatsPage, RulesPage, JudgePage, HeadsPage)
    searched = "statement"
    list_display = (
        "text",
        "state",
        "person",
        "category",
        "method",
        "rule_label",
        "sure",
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
    search_help_text = _("Words of the statement (newest 20,000), or an id")
    page_template = "admin/memories/fact.html"
    verbs = (
        Verb("accept", _("Accept"), "check", "primary", _("It is believed from now on."), QuoteForm),
        Verb("dismiss", _("Dismiss"), "close", "danger", _("It is never believed."), bulk=True),
    )
    joined = ("workspace", "subject", "agent")

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        return lookup in {"memory__id__exact", "session__id__exact"} or super().lookup_allowed(lookup, value, request)

    @display(description=_("statement"))
    def text(self, fact: Fact) -> str:
        return text_column(fact.statement)

    @display(description=_("rule"))
    def rule_label(self, fact: Fact) -> str:
        return fact.rule[:40]

    @display(description=_("confidence"))
    def sure(self, fact: Fact) -> str:
        return f"{fact.confidence:.2f}"

    @display(description=_("state"), label={"believed": "success", "quarantined": "warning"})
    def state(self, fact: Fact) -> str:
        return fact_state(fact)

    @display(description=_("read"))
    def read_at(self, fact: Fact) -> Any:
        return fact.created_at

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        cited = Citation.objects.with_places().filter(fact=row)
        citations = cited.select_related("episode__conversation", "revision__document")
        quoted = []
        for citation in citations[:50]:
            text = citation.episode.content if citation.episode else ""
            if citation.revision is not None:  # only this page reads its text
                text = citation.revision.text
            cut = excerpt(text, citation.start, citation.end)
            quoted.append((citation, cut))
        memory = row.memory
        waits = row.quarantined_at is not None
        return {
            "episodes": Episode.objects.filter(session__facts=row).order_by("pk")[:20] if waits else (),
            "state": fact_state(row),
            "citations": quoted,
            "memory": memory,
            "memory_state": memory.state if memory else "",
        }

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.quarantined_at is not None

    def do_accept(self, request: HttpRequest, row: Fact, values: dict[str, Any]) -> str:
        review.accept(self.scope(request, row), row.pk, as_typed(values["quote"]))
        return gettext("Accepted: it is resolved like any other fact, and this row gave way to it.")

    def do_dismiss(self, request: HttpRequest, row: Fact, values: dict[str, Any]) -> str:
        review.dismiss(self.scope(request, row), row.pk)
        return gettext("Dismissed: it is not believed.")

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(request, gettext("No facts yet"), gettext("Facts are read out of what agents tell:"))


def fact_state(fact: Fact) -> str:
    """`believed`, `quarantined` or `rejected` (before, by a person)."""
    if fact.quarantined_at is not None:
        return "quarantined"
    return "believed" if fact.memory_id else "rejected"
