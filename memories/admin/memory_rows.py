"""The base of what is remembered: pages to read, changed only through the verbs."""

import uuid
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from memories.admin.row_search import in_index
from memories.errors import Conflict, Forbidden, Invalid, NotFound
from workspaces.adminbase.access import access_of, workspace_id_of
from workspaces.adminbase.list_admin import Empty
from workspaces.adminbase.row_admin import RowAdmin
from workspaces.auth import as_uuid
from workspaces.models import Capability
from workspaces.scope import Scope

MOST_SCANNED = 20_000
INGEST = """curl {url} \\
    -H 'Authorization: Bearer <key>' -H 'Content-Type: application/json' \\
    -d '{{"content": "I prefer tea to coffee.", "userId": "ada"}}'"""


class MemoryRowAdmin(RowAdmin):
    """With `searched` set a list is searched by the words of that field, and by id.

    Substring search over 100,000 rows would read them all: with `layer` set it goes through the
    index, where that knows, and elsewhere it looks at the newest rows only.
    """

    write_capability = Capability.CURATE
    refusals = (Conflict, Forbidden, Invalid, NotFound)
    searched = ""
    layer: int | None = None

    def scope(self, request: HttpRequest, row: Model) -> Scope:
        return access_of(request).scope(workspace_id_of(row))

    def is_indexed(self, request: HttpRequest) -> bool:
        """Whether the rows of this list are those that the index holds."""
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
        items: list[uuid.UUID] | QuerySet[Any, Any] | None = None
        if self.layer is not None and self.is_indexed(request):
            items = in_index(access_of(request), self.layer, words)
        if items is None:
            items = queryset.order_by("-pk").values("pk")[:MOST_SCANNED]
        conditions = [Q(**{f"{self.searched}__icontains": word}) for word in words]
        return queryset.filter(*conditions, pk__in=items), False


def ingest_hint(request: HttpRequest, title: str, text: str = "") -> Empty:
    """What to do where nothing has been told yet."""
    workspace = access_of(request).workspaces().order_by("name").first()
    slug = workspace.slug if workspace else "<workspace>"
    url = request.build_absolute_uri(f"/api/v1/workspaces/{slug}/memories/ingest")
    return Empty(title, text or "Tell it something with a key:", INGEST.format(url=url))


def as_typed(text: str) -> str:
    """A text as it was meant: browsers send each line end as two characters."""
    return text.replace("\r\n", "\n").strip()


def one_line(text: str, most: int = 160) -> str:
    """A text as a list shows it: one line of it."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def text_column(text: str, most: int = 160) -> str:
    return format_html('<span class="desk-told">{}</span>', one_line(text, most))
