"""Conversations with their messages."""

from collections import defaultdict
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories.admin.memory_rows import (
    CitedSpan,
    MarkedText,
    MaskedTextAdmin,
    MemoryRowAdmin,
    ingest_hint,
    one_line,
    segments,
)
from memories.admin.playground.playground_page import PlaygroundPage
from memories.models import Citation, Conversation, Episode, Layer
from memories.privacy import masks
from workspaces.adminbase.list_admin import BoundedPaginator, Empty, display
from workspaces.adminbase.scoped_admin import PickFilter
from workspaces.auth import as_uuid
from workspaces.models import Capability

MOST_SHOWN = 100_000
MOST_CITATIONS = 500

PER_PAGE = 50


@admin.register(Episode)
class EpisodeAdmin(MaskedTextAdmin):
    unmask_page = "memories_unmask"
    searched = "content"
    layer = Layer.EPISODES
    list_display = ("text", "kind", "author", "person", "conversation_line", "occurred_at")
    list_select_related = ("workspace", "subject", "conversation")
    list_filter = (
        ("kind", ChoicesDropdownFilter),
        ("subject", PickFilter),
        ("conversation", PickFilter),
    )
    search_fields = ("content",)
    search_help_text = _("Words that were said, or an id")
    page_template = "admin/memories/episode.html"
    joined = ("workspace", "subject", "agent", "conversation")

    @display(description=_("said"))
    def text(self, episode: Episode) -> str:
        return format_html('<span class="desk-told">{}</span>', one_line(episode.content) or "(empty)")

    @display(description=_("conversation"))
    def conversation_line(self, episode: Episode) -> str:
        return one_line(str(episode.conversation), 30) if episode.conversation else ""

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        citations = list(Citation.objects.filter(episode=row).select_related("fact__memory")[:MOST_CITATIONS])
        return {
            "segments": marked(row.content[:MOST_SHOWN], citations),
            "is_cut": len(row.content) > MOST_SHOWN,
            "facts": list({c.fact_id: c.fact for c in citations}.values()),
            "asked": as_uuid(request.GET.get("fact", "")),
            "may_report": self.may(request, Capability.CURATE, row),
            "may_erase": self.may(request, Capability.ADMIN, row),
            "may_unmask": self.may(request, Capability.CURATE, row) and row.masks.filter(place="content").exists(),
        }

    def unmasked(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        words = masks.reveal(self.scope(request, row), row)[:MOST_SHOWN]
        return {"title": gettext("What was said"), "segments": segments(words, [])}

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(
            request,
            gettext("No messages yet"),
            gettext("What agents tell is kept here word for word:"),
        )


def marked(text: str, citations: list[Citation]) -> list[MarkedText]:
    return segments(text, [CitedSpan(c.start, c.end, c.fact) for c in citations])


@admin.register(Conversation)
class ConversationAdmin(MemoryRowAdmin):
    pages = (PlaygroundPage,)
    searched = "external_id"
    list_display = ("name", "person", "agent", "workflow", "created_at")
    list_select_related = ("workspace", "subject", "agent")
    list_filter = (("subject", PickFilter), ("agent", PickFilter))
    search_fields = ("external_id",)
    search_help_text = _("Part of the thread's id (newest 20,000)")
    page_template = "admin/memories/conversation.html"
    joined = ("workspace", "subject", "agent")

    @display(description=_("conversation"))
    def name(self, conversation: Conversation) -> str:
        return one_line(str(conversation), 90)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        episodes = row.episodes.order_by("occurred_at", "position", "pk")
        pages: Paginator = BoundedPaginator(episodes, PER_PAGE)
        shown = pages.get_page(request.GET.get("page"))
        rows = list(shown.object_list)
        cited = defaultdict(list)
        for citation in Citation.objects.filter(episode__in=rows).select_related("fact"):
            cited[citation.episode_id].append(citation)
        talk = [(each, marked(each.content[:20_000], cited[each.pk])) for each in rows]
        may_erase = self.may(request, Capability.ADMIN, row)
        return {"talk": talk, "shown": shown, "may_erase": may_erase}

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(
            request,
            gettext("No conversations yet"),
            gettext("Name a threadId when you tell something:"),
        )
