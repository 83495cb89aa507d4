"""The base of the pages of stored rows: they are read-only, and change only through the verbs."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, get_script_prefix, path
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from memories.errors import Conflict, Forbidden, Invalid, NotFound
from memories.language.english import lexical
from memories.models import Entry, Fact, WorkspaceIndex
from workspaces.adminbase.access import Access, access_of, workspace_id_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import RowAdmin
from workspaces.auth import as_uuid
from workspaces.models import Capability
from workspaces.scope import Scope

MOST_SCANNED = 20_000
INGEST = """curl {url} \\
    -H 'Authorization: Bearer <key>' -H 'Content-Type: application/json' \\
    -d '{{"content": "I prefer tea to coffee.", "userId": "ada"}}'"""

MOST_FOUND = 2_000
MOST_WORKSPACES = 50
# Materialized; otherwise the planner may walk the primary key instead of the trigrams.
CONTAINING = """
with containing as materialized (
  select e.id, e.item from memories_entry e
  cross join unnest(%(starts)s::int4[], %(ends)s::int4[]) k(s, t)
  where e.live and e.layer = %(layer)s
    and e.trigrams @> (%(keys)s::int8[])[k.s:k.t])
select id, item from containing order by id desc limit %(most)s
"""


class MemoryRowAdmin(RowAdmin):
    """The base of these pages. With `searched` set a list is searched by the words of that field,
    and by id.

    Substring search over 100,000 rows would read them all. With `layer` set it uses the index,
    where that can tell; elsewhere it looks at the newest rows only.
    """

    write_capability = Capability.CURATE
    refusals = (Conflict, Forbidden, Invalid, NotFound)
    searched = ""
    layer: int | None = None

    @display(description=_("person"))
    def person(self, row: Any) -> Any:
        return row.subject

    def scope(self, request: HttpRequest, row: Model) -> Scope:
        return access_of(request).scope(workspace_id_of(row))

    def is_indexed(self, request: HttpRequest) -> bool:
        """Tell whether the rows of this list are those that the index holds."""
        return self.layer is not None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not self.searched:
            return super().get_search_results(request, queryset, search_term)
        if (row_id := as_uuid(search_term.strip())) is not None:
            return queryset.filter(pk=row_id), False
        words = search_term.split()[:10]
        if not words:
            return queryset, False
        items: list[uuid.UUID] | None = None
        if self.layer is not None and self.is_indexed(request):
            items = in_index(access_of(request), self.layer, words)
        conditions = [Q(**{f"{self.searched}__icontains": word}) for word in words]
        if items is not None:
            return queryset.filter(*conditions, pk__in=items), False
        # The beginning of the newest rows, not their ids: the planner would compare each with each.
        newest = queryset.order_by("-pk").values_list("pk", flat=True)
        begin = newest[MOST_SCANNED - 1 : MOST_SCANNED]
        return queryset.filter(*conditions, *(Q(pk__gte=each) for each in begin)), False


def ingest_hint(request: HttpRequest, title: str, text: str = "") -> Empty:
    """Return the text of an empty page that says how to send the first words."""
    workspace = access_of(request).workspaces().order_by("name").first()
    slug = workspace.slug if workspace else "<workspace>"
    url = request.build_absolute_uri(f"{get_script_prefix()}api/v1/workspaces/{slug}/memories/ingest")
    return Empty(title, text or "Tell it something with a key:", INGEST.format(url=url))


def as_typed(text: str) -> str:
    """Return a text as it was meant: browsers send each line end as two characters."""
    return text.replace("\r\n", "\n").strip()


def one_line(text: str, most: int = 160) -> str:
    """A text as a list shows it: one line of it."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def text_column(text: str, most: int = 160) -> str:
    return format_html('<span class="desk-told">{}</span>', one_line(text, most))


def in_index(access: Access, layer: int, words: Sequence[str]) -> list[uuid.UUID] | None:
    """Return live items that may contain all words, the newest 2,000; None where the index cannot
    tell.

    It cannot for words under three characters, nor across very many workspaces.
    """
    indexes = access.limit(WorkspaceIndex.objects.all(), "workspace")
    numbers = list(indexes.order_by("number").values_list("number", flat=True)[: MOST_WORKSPACES + 1])
    by_index = [
        sorted({key for word in words for key in lexical.ilike_keys(number, layer, word)}) for number in numbers
    ]
    if len(numbers) > MOST_WORKSPACES or not all(by_index):
        return None
    # Lists of several lengths as one, with the places where each begins and ends, counted from 1.
    ends = list(accumulate(map(len, by_index)))
    starts = [1, *(end + 1 for end in ends[:-1])]
    keys = list(chain.from_iterable(by_index))
    values = {
        "starts": starts,
        "ends": ends,
        "keys": keys,
        "layer": int(layer),
        "most": MOST_FOUND,
    }
    return [row.item for row in Entry.objects.raw(CONTAINING, values)]


class MaskedTextAdmin(MemoryRowAdmin):
    """The admin of rows whose text may have masked words, which people who may curate can look
    at."""

    unmask_page = ""  # the name of its address

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.unmask_view)
        return [path("<uuid:row_id>/unmask/", view, name=self.unmask_page), *super().get_urls()]

    def unmask_view(self, request: HttpRequest, row_id: uuid.UUID) -> HttpResponse:
        """Show the same page once with the masked words; the audit log keeps who looked."""
        row = self.row_or_404(request, str(row_id))
        if not self.may(request, Capability.CURATE, row):
            raise PermissionDenied
        if request.method != "POST":
            return redirect(self.page_of(row))
        context = {
            **self.admin_site.each_context(request),
            **self.unmasked(request, row),
            "opts": self.opts,
            "row": row,
            "original": row,
            "list_url": self.list_url(),
            "buttons": [],
            "is_unmasked": True,
        }
        return TemplateResponse(request, self.page_template, context)

    def unmasked(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return the context of the page with the unmasked words."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Characters `start` to `end` of a text, and what they are cited for."""

    start: int
    end: int
    cited_for: Fact | int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A run of text under the same spans; none for plain text."""

    text: str
    spans: tuple[CitedSpan, ...] = ()


def segments(text: str, spans: Sequence[CitedSpan]) -> list[MarkedText]:
    """Cut the whole of `text` where spans begin and end; spans may overlap, and those outside the
    text are ignored."""
    inside = [s for s in spans if 0 <= s.start < s.end <= len(text)]
    cuts = sorted({0, len(text), *(s.start for s in inside), *(s.end for s in inside)})
    result = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        over = tuple(s for s in inside if s.start <= start and end <= s.end)
        result.append(MarkedText(text[start:end], over))
    return result


def excerpt(text: str, start: int, end: int, *, around: int = 240) -> tuple[str, str, str]:
    """Return the text before, in and after a span, with at most `around` characters on each
    side."""
    before, after = text[max(0, start - around) : start], text[end : end + around]
    if start > around:
        before = "…" + before
    if end + around < len(text):
        after += "…"
    return before, text[start:end], after
