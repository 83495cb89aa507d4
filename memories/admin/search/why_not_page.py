"""The page that tells why a search did not show a memory."""

from functools import reduce
from operator import and_, or_
from typing import Any

from django import forms
from django.db.models import Q, QuerySet

from memories.admin.search.search_form import text
from memories.admin.search.search_page import SearchPageForm
from memories.errors import Forbidden, Invalid, ProviderError
from memories.models import Memory
from memories.search import RANKINGS, Hit
from memories.search.explain import why_not
from memories.search.request import Placed
from workspaces.adminbase.access import Access
from workspaces.adminbase.list_admin import AdminPage
from workspaces.auth import as_uuid

# Why not: a query and a memory that should have answered it.

MOST_OFFERED = 10
NEWEST = 20_000  # rows that are searched for the words of a memory


class WhyNotForm(SearchPageForm):
    """The search of the search page with one ranking, and the memory that was expected of it."""

    first = ("workspace", "query", "memory", "ranking", "layer")
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
        is_valid = form.is_valid()
        query, memory = (form.cleaned_data.get(name, "").strip() for name in ("query", "memory"))
        answer: dict[str, Any] = {}
        if query and memory:
            answer = self.answer(form, memory) if is_valid else {}
        elif query:
            answer = {"told": "Which memory did you expect? Enter its id, or some of its words."}
        elif memory:
            answer = {"told": "Enter the query that should have found it, too."}
        return super().get_context_data(**kwargs, form=form, **answer)

    def answer(self, form: WhyNotForm, memory: str) -> dict[str, Any]:
        """Tell why the memory was not found; where several memories have its words, offer them."""
        scope = self.access.scope(form.cleaned_data["workspace"].pk)
        memory_id = as_uuid(memory)
        if memory_id is None:
            words = memory.split()[:10]
            seen = Memory.objects.visible_to(scope).order_by("-pk")
            contain = [Q(content__icontains=word) for word in words]
            meant = self.some_of(seen, reduce(and_, contain))
            if not meant:
                close = self.some_of(seen, reduce(or_, contain)) if len(words) > 1 else []
                beside = " These have some of them:" if close else ""
                told = f"No memory that you may see has all of these words.{beside}"
                return {"told": told, "offers": self.offers(close)}
            if len(meant) > 1:
                number = f"{MOST_OFFERED} or more" if len(meant) == MOST_OFFERED else len(meant)
                told = f"{number} memories have these words. Which one did you expect?"
                return {"told": told, "offers": self.offers(meant)}
            memory_id = meant[0].pk
        try:
            result = why_not(scope, form.request, memory_id)
        except (Forbidden, Invalid, ProviderError) as error:
            form.add_error(None, str(error))
            return {}
        parts = []
        if result.placed is not None and result.last is not None:
            own, last = _scores(result.placed), _scores(result.last)
            parts = [(name, own.get(name, 0.0), last.get(name, 0.0)) for name in own | last]
        return {"found": result, "parts": parts}

    @staticmethod
    def some_of(seen: QuerySet[Memory], contain: Q) -> list[Memory]:
        """Return memories with these words, the newest first."""
        return list(seen.filter(contain, pk__in=seen.values("pk")[:NEWEST])[:MOST_OFFERED])

    def offers(self, rows: list[Memory]) -> list[tuple[Memory, str]]:
        """Return each memory with the address that asks about it."""
        asked, offers = self.request.GET.copy(), []
        for row in rows:
            asked["memory"] = str(row.pk)
            offers.append((row, f"?{asked.urlencode()}"))
        return offers


def _scores(hit: Placed | Hit) -> dict[str, float]:
    return {"whole": hit.score, **hit.scores}
