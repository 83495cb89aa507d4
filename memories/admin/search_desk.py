"""The search desk: a search with everything it may be asked, why each hit came up, and all rankings
side by side."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories import filters, reranking
from memories.admin.asking import SearchForm
from memories.errors import Forbidden, Invalid, ProviderError
from memories.models import AsOf, Category, FactType, MemoryScope
from memories.search import LAYERS, RANKINGS, Hit, SearchRequest, search
from workspaces.desk.access import access_of
from workspaces.scope import Scope

SIDE_BY_SIDE = "all"
MOST_QUOTES = 3


def _choice(label: str, choices: Sequence[tuple[str, str]], hint: str = "") -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=[("", "Any"), *choices],
        help_text=hint,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )


def _moment(label: str, hint: str) -> forms.DateTimeField:
    return forms.DateTimeField(
        label=label,
        help_text=hint,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"}),
    )


class DeskForm(SearchForm):
    ranking = forms.ChoiceField(
        choices=[*((name, name) for name in RANKINGS), (SIDE_BY_SIDE, "side by side")],
        widget=UnfoldAdminSelectWidget,
    )
    layer = _choice("Layer", [(name, name) for name in LAYERS], "Any: all of them, mixed.")
    category = _choice("Category", Category.choices)
    fact_type = _choice("Fact type", FactType.choices)
    scope = _choice("Scope", MemoryScope.choices)
    valid_at = _moment("True at", "What was true then (UTC).")
    known_at = _moment("Believed at", "What was believed then (UTC).")
    threshold = forms.FloatField(
        min_value=0, max_value=1, required=False, label="Score, at least",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
    )  # fmt: skip
    filter = forms.CharField(
        required=False,
        help_text='As the API takes it: {"field": "pinned", "op": "eq", "value": true}',
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )
    rerank = forms.BooleanField(required=False, help_text="Let the reranker order the best 50.")

    def __init__(self, access: Any, data: dict[str, Any]) -> None:
        super().__init__(access, {"layer": "memories"} | data)
        if not reranking.is_configured():
            del self.fields["rerank"]

    def clean_filter(self) -> filters.Filter | None:
        text = self.cleaned_data["filter"].strip()
        if not text:
            return None
        layer = self.cleaned_data.get("layer")
        try:
            return filters.parse(json.loads(text), (layer,) if layer else tuple(LAYERS))
        except json.JSONDecodeError as error:
            raise forms.ValidationError(f"This is no JSON: {error}") from None
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
    def rankings(self) -> tuple[str, ...]:
        asked = self.cleaned_data["ranking"]
        return RANKINGS if asked == SIDE_BY_SIDE else (asked,)

    @property
    def fine(self) -> list[forms.BoundField]:
        """The fields beyond the first line."""
        return [each for each in self if each.name not in ("workspace", "query", "ranking")]

    @property
    def is_fine(self) -> bool:
        """Whether one of them was filled, or filled wrongly."""
        plain = {"limit": "10", "layer": "memories"}
        return any(each.errors or each.value() != plain.get(each.name) and each.value()
                   for each in self.fine)  # fmt: skip


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


@dataclass(slots=True)
class Shown:
    """A hit as the desk shows it; `places` are its ranks in the other rankings, None: not there."""

    rank: int
    hit: Hit
    row: Any
    url: str
    why_not: str
    places: list[tuple[str, int | None, str]] = field(default_factory=list)

    @property
    def parts(self) -> list[tuple[str, float]]:
        """What its score is made of, the largest first."""
        return sorted(self.hit.scores.items(), key=lambda part: -abs(part[1]))

    @property
    def quotes(self) -> list[Any]:
        return (self.hit.citations or [])[:MOST_QUOTES]


@dataclass(slots=True)
class Answer:
    """What one ranking answered, or why it did not."""

    ranking: str
    took_ms: float = 0.0
    shown: list[Shown] = field(default_factory=list)
    error: str = ""


class SearchDeskPage:
    """Mixin of an admin: adds the page `search/` to its addresses."""

    admin_site: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.search_view)
        own = path("search/", view, name="memories_search")
        return [own, *super().get_urls()]  # type: ignore[misc]

    def search_view(self, request: HttpRequest) -> HttpResponse:
        access = access_of(request)
        form = DeskForm(access, request.GET.dict())
        answers: list[Answer] | None = None
        if form.is_valid() and form.cleaned_data["query"]:
            scope = access.scope(form.cleaned_data["workspace"].pk)
            answers = answers_to(scope, form)
        context = {
            **self.admin_site.each_context(request),
            "title": "Search",
            "form": form,
            "answers": answers,
            "why_not_url": _why_not(request, form),
        }
        return TemplateResponse(request, "admin/memories/search.html", context)


def answers_to(scope: Scope, form: DeskForm) -> list[Answer]:
    answers = [_answer(scope, form, ranking) for ranking in form.rankings]
    _compare(answers)
    return answers


def _answer(scope: Scope, form: DeskForm, ranking: str) -> Answer:
    try:
        found = search(scope, replace(form.request, ranking=ranking))
    except (Forbidden, Invalid, ProviderError) as error:
        return Answer(ranking, error=error.message)
    shown = [_shown(rank, hit, form, ranking) for rank, hit in enumerate(found.hits, 1)]
    return Answer(ranking, found.took_ms, shown)


def _shown(rank: int, hit: Hit, form: DeskForm, ranking: str) -> Shown:
    noun = {"memories": "memory", "episodes": "episode"}.get(hit.layer, hit.layer.rstrip("s"))
    row = getattr(hit, noun)
    url = reverse(f"admin:memories_{noun}_change", args=[row.id])
    return Shown(rank, hit, row, url, _why_not_of(form, ranking, row) if noun == "memory" else "")


def _why_not_of(form: DeskForm, ranking: str, row: Any) -> str:
    asked = {name: form.data.get(name, "") for name in ("workspace", "query", "user", "agent",
                                                         "thread", "limit")}  # fmt: skip
    page = reverse("admin:memories_why_not")
    return f"{page}?{urlencode(asked | {'ranking': ranking, 'memory': str(row.id)})}"


def _why_not(request: HttpRequest, form: DeskForm) -> str:
    asked = request.GET.copy()
    if asked.get("ranking") == SIDE_BY_SIDE:
        asked["ranking"] = RANKINGS[0]
    return f"{reverse('admin:memories_why_not')}?{asked.urlencode()}"


def _compare(answers: Sequence[Answer]) -> None:
    """Tell each hit where the other rankings have it; where one has it not, why not."""
    ranks = {a.ranking: {one.row.id: one.rank for one in a.shown} for a in answers if not a.error}
    for answer in answers:
        for one in answer.shown:
            for other in ranks.keys() - {answer.ranking}:
                place = ranks[other].get(one.row.id)
                why = one.why_not.replace(f"ranking={answer.ranking}", f"ranking={other}")
                one.places.append((other, place, why if place is None else ""))
            one.places.sort()
