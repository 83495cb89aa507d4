"""Episodes: what was said, with the words marked that facts stand on."""

from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html

from memories.admin.highlighting import CitedSpan, MarkedText, segments
from memories.admin.memory_rows import MemoryRowAdmin, ingest_hint, one_line
from memories.admin.state_filters import ChoicesDropdownFilter, PickFilter
from memories.models import Citation, Episode, Layer
from workspaces.adminbase.list_admin import Empty, display
from workspaces.auth import as_uuid
from workspaces.models import Capability

MOST_SHOWN = 100_000
MOST_CITATIONS = 500


class EpisodeAdmin(MemoryRowAdmin):
    searched = "content"
    layer = Layer.EPISODES
    list_display = ("text", "kind", "author", "subject", "conversation_line", "occurred_at")
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
    def text(self, episode: Episode) -> str:
        return format_html(
            '<span class="desk-told">{}</span>', one_line(episode.content) or "(empty)"
        )

    @display(description="conversation")
    def conversation_line(self, episode: Episode) -> str:
        return one_line(str(episode.conversation), 30) if episode.conversation else ""

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
        return ingest_hint(
            request, "No episodes yet", "What agents tell is kept here word for word:"
        )


def marked(text: str, citations: list[Citation]) -> list[MarkedText]:
    return segments(text, [CitedSpan(c.start, c.end, c.fact) for c in citations])
