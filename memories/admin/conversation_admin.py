"""Conversations with their messages, sessions with their results, and the requests that people make
of the memory itself."""

from collections import defaultdict
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories import ingest, intents, masks, skip_counts
from memories.admin.case_and_decision_cards import ORDERS
from memories.admin.memory_rows import (
    CitedSpan,
    MarkedText,
    MaskedTextAdmin,
    MemoryRowAdmin,
    ingest_hint,
    one_line,
    segments,
)
from memories.admin.memory_timeline import with_quotes
from memories.admin.playground_page import PlaygroundPage, PreviewPage
from memories.english import gatekeeper
from memories.models import (
    Citation,
    Conversation,
    Document,
    Episode,
    Intent,
    Layer,
    Memory,
    MemorySession,
)
from workspaces.adminbase.acts_and_actors import name_of
from workspaces.adminbase.list_admin import BoundedPaginator, Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.auth import as_uuid
from workspaces.models import Capability

MOST_SHOWN = 100_000
MOST_CITATIONS = 500

PER_PAGE = 50


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
        return format_html(
            '<span class="desk-told">{}</span>', one_line(episode.content) or "(empty)"
        )

    @display(description=_("conversation"))
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
            "may_unmask": self.may(request, Capability.CURATE, row)
            and row.masks.filter(place="content").exists(),
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


# Sessions: the result of each ingest, and the reasons.

MOST_ROWS = 50


class SessionStateFilter(StateFilter):
    states = {
        "stuck": _("Failed or dead"),
        "working": _("At work or waiting"),
        "done": _("Done"),
        "failed": _("Failed"),
        "dead": _("Dead"),
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        groups = {
            "stuck": ("failed", "dead"),
            "working": ("received", "extracting", "resolving"),
        }
        return rows.filter(state__in=groups.get(state, (state,)))


class SessionAdmin(MemoryRowAdmin):
    pages = (PreviewPage,)
    searched = "error"
    list_display = (
        "received", "state_label", "person", "became", "why", "mode", "attempts", "took",
    )  # fmt: skip
    list_select_related = ("workspace", "subject")
    list_filter = (
        SessionStateFilter,
        ("subject", PickFilter),
        DayFilter,
        ("mode", ChoicesDropdownFilter),
        ("pathway", ChoicesDropdownFilter),
    )
    search_fields = ("error",)
    search_help_text = _("Words of the error (newest 20,000), or an id")
    page_template = "admin/memories/session.html"
    verbs = (Verb("retry", _("Retry"), "refresh", "primary", bulk=True),)
    joined = ("workspace", "subject", "agent", "conversation")

    @display(description=_("received"))
    def received(self, session: MemorySession) -> Any:
        return session.created_at

    @display(
        description=_("state"),
        label={"done": "success", "failed": "danger", "dead": "danger", "received": "warning",
               "extracting": "info", "resolving": "info"},
    )  # fmt: skip
    def state_label(self, session: MemorySession) -> str:
        return session.state

    @display(description=_("became"))
    def became(self, session: MemorySession) -> str:
        return outcome(session)

    @display(description=_("why"))
    def why(self, session: MemorySession) -> str:
        reason = session.error or session.reason
        return format_html('<span title="{}">{}</span>', reason[:500], one_line(reason, 60))

    @display(description=_("took"))
    def took(self, session: MemorySession) -> str:
        total = session.timings.get("total")
        return "" if total is None else f"{total:,.0f} ms"

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.state in MemorySession.STUCK

    def do_retry(self, request: HttpRequest, row: MemorySession, values: dict[str, Any]) -> str:
        ingest.retry(self.scope(request, row), row)
        return gettext("Due again: the worker takes it up at once.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        wanted = {
            "Created": row.created_ids,
            "Superseded": row.updated_ids,
            "Reinforced": row.reinforced_ids,
        }
        every = [each for ids in wanted.values() for each in ids[:MOST_ROWS]]
        memories = Memory.objects.filter(workspace_id=row.workspace_id).in_bulk(every)
        facts = with_quotes(row.facts.select_related("memory")).order_by("id")
        return {
            "document": Document.objects.filter(revisions__session=row).first(),
            "title": outcome(row) or row.state,
            "episodes": Episode.objects.filter(pk__in=row.episode_ids[:MOST_ROWS]).order_by(
                "position", "pk"
            ),
            "facts": list(facts[:MOST_ROWS]),
            "memories": [
                (
                    label,
                    [(memories[i], memories[i].state) for i in ids if i in memories],
                    len(ids),
                )
                for label, ids in wanted.items()
                if ids
            ],
            "timings": sorted((k, v) for k, v in row.timings.items() if k != "total"),
            "total": row.timings.get("total"),
            "counts": {
                name: number
                for name, number in row.counts.items()
                if name != "places" and not name.startswith(skip_counts.KEY)
            },
            "passed_over": passed_over(row),
            "asker": name_of(row.requested_by),
        }

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(
            request,
            gettext("No sessions yet"),
            gettext("Each ingest leaves a session that tells its outcome:"),
        )


def passed_over(session: MemorySession) -> list[tuple[str, int]]:
    """Return the reasons why messages were not read, in words, each with the number of messages."""
    counts = (
        (label, session.counts.get(f"{skip_counts.KEY}{label}", 0)) for label in gatekeeper.REASONS
    )
    return [(gatekeeper.REASONS[label], number) for label, number in counts if number]


def outcome(session: MemorySession) -> str:
    """Return a session's result in words: `2 facts, 1 new, 1 replaced`; empty while it is at
    work."""
    facts = session.counts.get("facts", 0)
    counts = [
        (facts, "fact" if facts == 1 else "facts"),
        (len(session.created_ids), "new"),
        (len(session.updated_ids), "replaced"),
        (len(session.reinforced_ids), "confirmed"),
        (session.counts.get("held", 0), "held"),
        (session.counts.get("reviewed", 0), "to review"),
    ]
    words = [f"{number} {word}" for number, word in counts if number]
    if words:
        return ", ".join(words)
    return {"done": "nothing new", "failed": "failed", "dead": "given up"}.get(session.state, "")


# Requests made of the memory: what was asked, what was done about it, and how to undo it.

MOST_NAMED = 50
STATES = {
    Intent.State.HEARD: "not done yet",
    Intent.State.DONE: "done",
    Intent.State.CASE: "waits for a person",
    Intent.State.NOTHING_FOUND: "nothing was meant",
    Intent.State.UNDONE: "taken back",
}


class IntentAdmin(MemoryRowAdmin):
    list_display = ("asked", "kind_label", "state_label", "person", "named", "by", "created_at")
    list_select_related = ("workspace", "subject", "episode")
    actor_field = "decided_by"
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
        ("subject", PickFilter),
        DayFilter,
    )
    page_template = "admin/memories/intent.html"
    verbs = (
        Verb(
            "undo", _("Undo"), "undo", "primary",
            _("Memories are believed again, and masked words are shown again."), bulk=True,
        ),
    )  # fmt: skip
    joined = ("workspace", "subject", "agent", "episode")

    @display(description=_("said"))
    def asked(self, intent: Intent) -> str:
        return one_line(intent.quote, 90)

    @display(description=_("asks"))
    def kind_label(self, intent: Intent) -> str:
        return ORDERS[intent.kind]

    @display(
        description=_("state"),
        label={"done": "success", "waits for a person": "warning", "taken back": "info"},
    )
    def state_label(self, intent: Intent) -> str:
        return STATES[Intent.State(intent.state)]

    @display(description=_("memories"))
    def named(self, intent: Intent) -> int:
        return len(intent.memory_ids)

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.state == Intent.State.DONE and row.kind != Intent.Kind.REMEMBER

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        named = Memory.objects.filter(workspace=row.workspace_id, pk__in=row.memory_ids)
        return {
            "asks": ORDERS[row.kind],
            "state": STATES[Intent.State(row.state)],
            "memories": list(named.order_by("pk")[:MOST_NAMED]),
            "decider": name_of(row.decided_by) if row.decided_by else "",
        }

    def do_undo(self, request: HttpRequest, row: Intent, values: dict[str, Any]) -> str:
        intents.undo(self.scope(request, row), row.pk)
        return gettext("Taken back: everything is as it was.")

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("Nobody asked the memory for anything yet"),
            gettext("“Please forget my salary” or “no, the 14th” appear here, with what was done."),
        )
