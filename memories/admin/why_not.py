"""Why not: a query and a memory that should have answered it, and where it fell out."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from memories.admin.asking import text
from memories.admin.search_desk import DeskForm
from memories.errors import Forbidden, Invalid, ProviderError
from memories.models import Memory
from memories.search import RANKINGS, Hit
from memories.search.explain import WhyNot, why_not
from memories.search.trace import Placed
from workspaces.adminbase.access import Access, access_of
from workspaces.auth import as_uuid
from workspaces.scope import Scope

MOST_OFFERED = 10
NEWEST = 20_000  # rows that are looked through for the words of a memory


class WhyNotForm(DeskForm):
    """The search as the desk has it, of one ranking, and the memory that was expected of it."""

    first = ("workspace", "query", "memory", "ranking")
    field_order = first
    memory = text("Expected memory", "Its id, or some of its words.")

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        super().__init__(access, data)
        choice = self.fields["ranking"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(name, name) for name in RANKINGS]


class WhyNotPage:
    """Mixin of an admin: adds the page `why-not/` to its addresses."""

    admin_site: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.why_not_view)
        own = path("why-not/", view, name="memories_why_not")
        return [own, *super().get_urls()]  # type: ignore[misc]

    def why_not_view(self, request: HttpRequest) -> HttpResponse:
        access = access_of(request)
        form = WhyNotForm(access, request.GET.dict())
        context = {
            **self.admin_site.each_context(request),
            "title": "Why not?",
            "form": form,
            **_answered(access, form, request),
        }
        return TemplateResponse(request, "admin/memories/why_not.html", context)


def _answered(access: Access, form: WhyNotForm, request: HttpRequest) -> dict[str, Any]:
    """The answer, or the memories that may be meant; nothing before both are entered."""
    if not form.is_valid() or not (form.cleaned_data["query"] and form.cleaned_data["memory"]):
        return {}
    scope = access.scope(form.cleaned_data["workspace"].pk)
    memory = as_uuid(form.cleaned_data["memory"].strip())
    if memory is None:
        return {"offers": _offers(scope, form.cleaned_data["memory"], request)}
    try:
        found = why_not(scope, form.request, memory)
    except (Forbidden, Invalid, ProviderError) as error:
        form.add_error(None, str(error))
        return {}
    return {"found": found, "parts": _parts(found)}


def _offers(scope: Scope, words: str, request: HttpRequest) -> list[tuple[Memory, str]]:
    """Memories with these words, the newest first, each with the address that asks about it."""
    seen = Memory.objects.visible_to(scope).order_by("-pk")
    rows = seen.filter(pk__in=seen.values("pk")[:NEWEST])
    for word in words.split()[:10]:
        rows = rows.filter(content__icontains=word)
    asked = request.GET.copy()
    offers = []
    for row in rows[:MOST_OFFERED]:
        asked["memory"] = str(row.pk)
        offers.append((row, f"?{asked.urlencode()}"))
    return offers


def _parts(found: WhyNot) -> list[tuple[str, float, float]]:
    """The parts of its score beside those of the last hit shown."""
    if found.placed is None or found.last is None:
        return []
    own, last = _scores(found.placed), _scores(found.last)
    return [(name, own.get(name, 0.0), last.get(name, 0.0)) for name in own | last]


def _scores(hit: Placed | Hit) -> dict[str, float]:
    return {"whole": hit.score, **hit.scores}
