"""Sessions with their results."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories import ingest
from memories.admin.memories.memory_timeline import with_quotes
from memories.admin.memory_rows import MemoryRowAdmin, ingest_hint, one_line
from memories.admin.playground.preview_page import PreviewPage
from memories.language.english import gatekeeper
from memories.meters import skip_counts
from memories.models import Document, Episode, Memory, MemorySession
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.adminbase.target_names import name_of

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


@admin.register(MemorySession)
class SessionAdmin(MemoryRowAdmin):
    pages = (PreviewPage,)
    searched = "error"
    list_display = (
        "received",
        "state_label",
        "person",
        "became",
        "why",
        "mode",
        "attempts",
        "took",
    )
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
        label={
            "done": "success",
            "failed": "danger",
            "dead": "danger",
            "received": "warning",
            "extracting": "info",
            "resolving": "info",
        },
    )
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
            "episodes": Episode.objects.filter(pk__in=row.episode_ids[:MOST_ROWS]).order_by("position", "pk"),
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
    counts = ((label, session.counts.get(f"{skip_counts.KEY}{label}", 0)) for label in gatekeeper.REASONS)
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
