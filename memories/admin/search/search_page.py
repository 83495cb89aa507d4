"""The search page: the reasons for each hit, and all rankings side by side; the page comes with the
first, and its script fetches the others one by one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories.admin.search.search_form import SearchForm
from memories.errors import Forbidden, Invalid, ProviderError
from memories.models import AsOf, Category, FactType, MemoryScope
from memories.search import LAYERS, NOTES, RANKINGS, SINGULAR, Hit, SearchRequest, filters, reranking, search
from workspaces.adminbase.access import Access, look_at
from workspaces.adminbase.list_admin import AdminPage
from workspaces.models import Capability
from workspaces.scope import Scope

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

MOST_QUOTES = 3

SIDE_BY_SIDE = "all"


# More kinds for which the navigation has another word.
LAYER_NAMES = {
    "episodes": gettext_lazy("messages"),
    "features": gettext_lazy("profile notes"),
    "chunks": gettext_lazy("documents"),
}
LAYER_CHOICES = [(name, LAYER_NAMES.get(name, name)) for name in LAYERS]


def _choice(
    label: "StrPromise",
    choices: Sequence[tuple[str, Any]],
    any_of_them: "StrPromise | str" = "",
) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=[("", any_of_them or gettext_lazy("Any")), *choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )


def _moment(label: "StrPromise", hint: "StrPromise") -> forms.DateTimeField:
    return forms.DateTimeField(
        label=label,
        help_text=hint,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"}),
    )


class SearchPageForm(SearchForm):
    first: tuple[str, ...] = ("workspace", "query", "layer", "ranking")
    field_order: Sequence[str] = first
    ranking = forms.ChoiceField(
        choices=[*((name, name) for name in RANKINGS), (SIDE_BY_SIDE, "side by side")],
        widget=UnfoldAdminSelectWidget,
    )
    layer = _choice(gettext_lazy("Look in"), LAYER_CHOICES, gettext_lazy("everything"))
    category = _choice(gettext_lazy("Category"), Category.choices)
    fact_type = _choice(gettext_lazy("Fact type"), FactType.choices)
    scope = _choice(gettext_lazy("Scope"), MemoryScope.choices)
    valid_at = _moment(gettext_lazy("True at"), gettext_lazy("What was true then."))
    known_at = _moment(gettext_lazy("Believed at"), gettext_lazy("What was believed then."))
    threshold = forms.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        label=gettext_lazy("Score, at least"),
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
    )
    filter = forms.CharField(
        required=False,
        help_text=gettext_lazy('As the API takes it: {"field": "pinned", "op": "eq", "value": true}'),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )
    rerank = forms.BooleanField(required=False, help_text=gettext_lazy("Let the reranker order the best 50."))

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        super().__init__(access, {"layer": "memories"} | data)
        if not reranking.is_reranker_configured():
            del self.fields["rerank"]

    def clean_filter(self) -> filters.Filter | None:
        text = self.cleaned_data["filter"].strip()
        if not text:
            return None
        layer = self.cleaned_data.get("layer")
        try:
            return filters.parse(json.loads(text), (layer,) if layer else tuple(LAYERS))
        except json.JSONDecodeError as error:
            raise forms.ValidationError(gettext("This is no JSON: %(error)s") % {"error": error}) from None
        except Invalid as error:
            raise forms.ValidationError(f"{error.field}: {error.message}") from None

    @property
    def request(self) -> SearchRequest:
        values = self.cleaned_data
        asked = super().request
        return replace(
            asked,
            ranking=RANKINGS[0] if asked.ranking == SIDE_BY_SIDE else asked.ranking,
            layers=(values["layer"],) if values["layer"] else tuple(LAYERS),
            categories=(values["category"],) if values["category"] else (),
            fact_types=(values["fact_type"],) if values["fact_type"] else (),
            memory_scope=values["scope"],
            filter=values["filter"],
            at=AsOf(_in_utc(values["valid_at"]), _in_utc(values["known_at"])),
            threshold=values["threshold"],
            rerank=values.get("rerank", False),
            include=frozenset({"citations", "scores"}),
        )

    @property
    def others(self) -> tuple[str, ...]:
        """The rankings to show beside the one that is asked for."""
        return RANKINGS[1:] if self.cleaned_data["ranking"] == SIDE_BY_SIDE else ()

    @property
    def fine(self) -> list[forms.BoundField]:
        """The fields beyond the first line."""
        return [each for each in self if each.name not in self.first]

    @property
    def is_fine(self) -> bool:
        """Tell whether one of those fields was filled, or filled wrongly."""
        plain = {"limit": "10"}
        return any(each.errors or each.value() != plain.get(each.name) and each.value() for each in self.fine)


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


@dataclass(slots=True)
class ShownHit:
    """A hit as the page shows it."""

    rank: int
    hit: Hit
    row: Any
    url: str
    why_not: str

    @property
    def parts(self) -> list[tuple[str, float]]:
        """The parts of the hit's score, the largest first."""
        return sorted(self.hit.scores.items(), key=lambda part: -abs(part[1]))

    @property
    def where(self) -> Any:
        return LAYER_NAMES.get(self.hit.layer, self.hit.layer)

    @property
    def may_expect(self) -> bool:
        """Tell whether a golden question can expect the hit."""
        return self.hit.layer in ("memories", "episodes")

    @property
    def quotes(self) -> list[Any]:
        return (self.hit.citations or [])[:MOST_QUOTES]


@dataclass(slots=True)
class RankingAnswer:
    """The answer of one ranking, or the reason why there is none."""

    ranking: str
    took_ms: float = 0.0
    shown: list[ShownHit] = field(default_factory=list)
    error: str = ""
    notes: list[str] = field(default_factory=list)


class SearchPage(AdminPage):
    path, name, title = "search/", "memories_search", "Search"
    template_name = "admin/memories/search.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked = self.request.GET
        form = SearchPageForm(self.access, asked.dict())
        answer: RankingAnswer | None = None
        others: list[tuple[str, str]] = []
        if form.is_valid():
            look_at(self.request, form.cleaned_data["workspace"].pk)
        if form.is_valid() and form.cleaned_data["query"]:
            answer = answer_of(self.access.scope(form.cleaned_data["workspace"].pk), form)
            page = reverse("admin:memories_search")
            others = [(name, f"{page}?{_with(asked, ranking=name)}") for name in form.others]
            if "part" in asked:
                self.template_name = "admin/memories/search_answer.html"
        is_beside = asked.get("ranking") == SIDE_BY_SIDE
        same = _with(asked, **({"ranking": RANKINGS[0]} if is_beside else {}))
        why_not = f"{reverse('admin:memories_why_not')}?{same}"
        named = {"workspace", "query", "user", "agent", "thread", "layer"}
        is_narrow = form.is_valid() and form.cleaned_data["layer"] == "memories"
        golden_url = ""
        if form.is_valid() and self.access.may(Capability.CURATE, form.cleaned_data["workspace"].pk):
            slug = form.cleaned_data["workspace"].slug
            golden_url = f"{reverse('admin:memories_golden')}?workspace={slug}"
        return super().get_context_data(
            **kwargs,
            form=form,
            answer=answer,
            others=others,
            why_not_url=why_not,
            everywhere_url=f"?{_with(asked, layer='')}" if is_narrow else "",
            golden_url=golden_url,
            asked=[(name, form.data[name]) for name in named & form.data.keys()],
        )


def page_of(hit: Hit) -> str:
    """Return the address where a hit is shown: a passage in its document, a summary at its first
    words."""
    noun, row_id = SINGULAR[hit.layer], hit.row.id
    if hit.chunk:
        noun, row_id = "document", hit.row.document_id
    elif hit.summary:
        noun, row_id = "episode", hit.row.cited[0].episode_id
    return reverse(f"admin:memories_{noun}_change", args=[row_id])


def answer_of(scope: Scope, form: SearchPageForm) -> RankingAnswer:
    """Search, and return the hits with their pages; hits that are memories also have the page that
    tells why another memory was not found."""
    ranking = form.request.ranking
    try:
        result = search(scope, form.request)
    except (Forbidden, Invalid, ProviderError) as error:
        return RankingAnswer(ranking, error=error.message)
    asked = {name: form.data[name] for name in form.fields if name in form.data}
    shown = []
    for rank, hit in enumerate(result.hits, 1):
        why_not = ""
        if hit.memory:
            query = urlencode(asked | {"ranking": ranking, "memory": str(hit.row.id)})
            why_not = f"{reverse('admin:memories_why_not')}?{query}"
        shown.append(ShownHit(rank, hit, hit.row, page_of(hit), why_not))
    return RankingAnswer(ranking, result.took_ms, shown, notes=[NOTES[n] for n in result.notes])


def _with(asked: QueryDict, **values: str) -> str:
    copy = asked.copy()
    for name, value in values.items():
        copy[name] = value
    return copy.urlencode()
