"""Why not: a query and a memory that should have answered it, and where it fell out."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from memories.admin.search_page import SearchPageForm, text
from memories.errors import Forbidden, Invalid, ProviderError
from memories.models import Memory
from memories.search import RANKINGS, Hit
from memories.search.explain import why_not
from memories.search.request import Placed
from workspaces.adminbase.access import Access
from workspaces.adminbase.list_admin import AdminPage
from workspaces.auth import as_uuid

MOST_OFFERED = 10
NEWEST = 20_000  # rows that are looked through for the words of a memory


class WhyNotForm(SearchPageForm):
    """The search as the search page has it, of one ranking, and the memory that was expected of
    it."""

    first = ("workspace", "query", "memory", "ranking")
    field_order = first
    memory = text("Expected memory", "Its id, or some of its words.")

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        super().__init__(access, data)
        choice = self.fields["ranking"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(name, name) for name in RANKINGS]


class WhyNotPage(AdminPage):
    path, name, title = "why-not/", "memories_why_not", "Why not?"
    template_name = "admin/memories/why_not.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        form = WhyNotForm(self.access, self.request.GET.dict())
        is_asked = form.is_valid() and form.cleaned_data["query"] and form.cleaned_data["memory"]
        answer = self.answer(form) if is_asked else {}
        return super().get_context_data(**kwargs, form=form, **answer)

    def answer(self, form: WhyNotForm) -> dict[str, Any]:
        """Why the memory was not found, or the memories that may be meant."""
        scope = self.access.scope(form.cleaned_data["workspace"].pk)
        memory = as_uuid(form.cleaned_data["memory"].strip())
        if memory is None:
            seen = Memory.objects.visible_to(scope).order_by("-pk")
            return {"offers": self.offers(seen, form.cleaned_data["memory"].split()[:10])}
        try:
            result = why_not(scope, form.request, memory)
        except (Forbidden, Invalid, ProviderError) as error:
            form.add_error(None, str(error))
            return {}
        parts = []
        if result.placed is not None and result.last is not None:
            own, last = _scores(result.placed), _scores(result.last)
            parts = [(name, own.get(name, 0.0), last.get(name, 0.0)) for name in own | last]
        return {"found": result, "parts": parts}

    def offers(self, seen: QuerySet[Memory], words: list[str]) -> list[tuple[Memory, str]]:
        """Memories with these words, the newest first, each with the address that asks about it."""
        rows = seen.filter(pk__in=seen.values("pk")[:NEWEST])
        for word in words:
            rows = rows.filter(content__icontains=word)
        asked = self.request.GET.copy()
        offers = []
        for row in rows[:MOST_OFFERED]:
            asked["memory"] = str(row.pk)
            offers.append((row, f"?{asked.urlencode()}"))
        return offers


def _scores(hit: Placed | Hit) -> dict[str, float]:
    return {"whole": hit.score, **hit.scores}
