"""Conversations, with what was said in them."""

from collections import defaultdict
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from memories.admin.episode_admin import marked
from memories.admin.memory_rows import MemoryRowAdmin, ingest_hint, one_line
from memories.admin.state_filters import PickFilter
from memories.models import Citation, Conversation
from workspaces.adminbase.counting import BoundedPaginator
from workspaces.adminbase.list_admin import Empty, display
from workspaces.models import Capability

PER_PAGE = 50


class ConversationAdmin(MemoryRowAdmin):
    searched = "external_id"
    list_display = ("name", "subject", "agent", "workflow", "created_at")
    list_select_related = ("workspace", "subject", "agent")
    list_filter = (("subject", PickFilter), ("agent", PickFilter))
    search_fields = ("external_id",)
    search_help_text = "Part of the thread's id (newest 20,000)"
    page_template = "admin/memories/conversation.html"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace", "subject", "agent")

    @display(description="conversation")
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
            request, "No conversations yet", "Name a threadId when you tell something:"
        )
