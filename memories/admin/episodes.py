"""Episodes: what was said, with the words marked that facts stand on."""

from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html

from memories.admin.base import MemoryPage, said, tell_it
from memories.admin.filters import ChoicesDropdownFilter, PickFilter
from memories.admin.highlighting import Segment, Span, segments
from memories.admin.searching import SearchedAdmin
from memories.models import Citation, Episode, Layer
from workspaces.adminbase.columns import display
from workspaces.adminbase.listing import Empty
from workspaces.auth import as_uuid
from workspaces.models import Capability

MOST_SHOWN = 100_000
MOST_CITATIONS = 500


class EpisodeAdmin(SearchedAdmin, MemoryPage):
    layer = Layer.EPISODES
    list_display = ("told", "kind", "author", "subject", "conversation_told", "occurred_at")
    list_select_related = ("workspace", "subject", "conversation")
    list_filter = (
        ("kind", ChoicesDropdownFilter),
        ("subject", PickFilter),
        ("conversation", PickFilter),
    )
    search_fields = ("content",)
    search_help_text = "Words that were said, or an id"
    page_template = "admin/memories/episode.html"

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        return rows.select_related("workspace", "subject", "agent", "conversation")

    @display(description="said")
    def told(self, episode: Episode) -> str:
        return format_html('<span class="desk-told">{}</span>', said(episode.content) or "(empty)")

    @display(description="conversation")
    def conversation_told(self, episode: Episode) -> str:
        return said(str(episode.conversation), 30) if episode.conversation else ""

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        citations = list(
            Citation.objects.filter(episode=row).select_related("fact__memory")[:MOST_CITATIONS]
        )
        return {
            "segments": marked(row.content[:MOST_SHOWN], citations),
            "is_cut": len(row.content) > MOST_SHOWN,
            "facts": list({c.fact_id: c.fact for c in citations}.values()),
            "asked": as_uuid(request.GET.get("fact", "")),
            "may_report": self.may(request, Capability.CURATE, row),
            "may_erase": self.may(request, Capability.ADMIN, row),
        }

    def empty(self, request: HttpRequest) -> Empty:
        return tell_it(request, "No episodes yet", "What agents tell is kept here word for word:")


def marked(text: str, citations: list[Citation]) -> list[Segment]:
    return segments(text, [Span(c.start, c.end, c.fact) for c in citations])
