"""The list of memories: what is believed about whom, when it was said and when it is true, and
why."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from django.contrib.admin.options import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from memories.admin.memories.memory_timeline import timeline
from memories.admin.memory_rows import MemoryRowAdmin, one_line
from memories.models import (
    Category,
    Citation,
    DueVector,
    Layer,
    Memory,
    MemoryState,
    Standing,
    Visibility,
)
from workspaces.adminbase.list_admin import ListView, csv_lines, display
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter, StateFilter
from workspaces.auth import as_uuid
from workspaces.models import Capability
from workspaces.time_zones import day_of

PIN = mark_safe(
    '<span class="desk-pin material-symbols-outlined" title="pinned" role="img" aria-label="pinned">keep</span>'
)
LONGEST_IN_PLACE = 2_000  # characters that are edited within the list
CHUNK = 500
MOST_EXPORTED = 100_000
COLUMNS = (
    "id",
    "workspace",
    "userId",
    "content",
    "category",
    "factType",
    "visibility",
    "state",
    "standing",
    "pinned",
    "version",
    "sourceCount",
    "confidence",
    "saidAt",
    "eventDate",
    "validFrom",
    "validUntil",
    "createdAt",
    "updatedAt",
)


STATE_CHIP = ' <span class="desk-chip desk-chip--{0}">{0}</span>'


def said_twice(rows: Any) -> Any:
    """Return the live memories whose text another live one about the same subject has, too."""
    # The inner query reads only an index and leaves few rows for the outer one, which checks times.
    texts = rows.order_by().filter(is_head=True).values("workspace", "fingerprint").annotate(same=Count("pk"))
    others = rows.model.objects.live().filter(workspace=OuterRef("workspace"), fingerprint=OuterRef("fingerprint"))
    others = others.exclude(pk=OuterRef("pk"))
    alike = Q(Exists(others.filter(subject=OuterRef("subject"))))
    of_nobody = Q(Exists(others.filter(subject=None)), subject=None)
    return rows.live().filter(alike | of_nobody, fingerprint__in=texts.filter(same__gt=1).values("fingerprint"))


class LifeFilter(StateFilter):
    """Filter by whether memories are believed now, no longer, or not yet."""

    first = MemoryState.LIVE.value
    states = {
        **dict(MemoryState.choices),
        "twice": _("Live, and the same text twice"),
        "unembedded": _("Without a vector yet"),
    }

    def narrow(self, rows: Any, state: str) -> QuerySet[Any]:
        if state == "twice":
            return said_twice(rows)
        if state == "unembedded":
            due = DueVector.objects.filter(entry__layer=Layer.MEMORIES)
            return rows.filter(pk__in=due.values("entry__item"))
        return rows.in_state(MemoryState(state))


class TrueFilter(StateFilter):
    """Filter by when memories are true: a period without a beginning or an end is open there."""

    title = _("true")
    parameter_name = "true"
    states = {"now": _("Now"), "over": _("Not any more"), "ahead": _("Not yet")}

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str | Promise]]:
        return list(self.states.items())

    def value(self) -> str:
        asked = super().value()
        return "" if asked == "all" else asked

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = timezone.now()
        over, ahead = Q(valid_until__lte=now), Q(valid_from__gt=now)
        wanted = {"": Q(), "now": ~over & ~ahead, "over": over, "ahead": ahead}
        return queryset.filter(wanted[self.value()])


class DocumentFilter(DropdownFilter):
    """Filter for memories that cite a document. The document's page links here; the list of filters
    does not offer it."""

    title = _("document")
    parameter_name = "document"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        asked = request.GET.get(self.parameter_name, "")
        return [(asked, gettext("the one you came from"))] if as_uuid(asked) else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = as_uuid(self.value() or "")
        cited = Citation.objects.filter(revision__document=asked, fact__withdrawn_at=None, fact__memory=OuterRef("pk"))
        return queryset.filter(Exists(cited)) if asked else queryset


class MemoryList(MemoryRowAdmin):
    searched = "content"
    layer = Layer.MEMORIES
    list_display = ("text", "person", "category_label", "seen_by", "when_said", "true", "why")
    joined = ("workspace", "subject", "agent", "conversation")
    list_select_related = ("workspace", "subject")
    list_filter = (
        LifeFilter,
        ("subject", PickFilter),
        ("category", ChoicesDropdownFilter),
        ("visibility", ChoicesDropdownFilter),
        TrueFilter,
        DayFilter,
        ("fact_type", ChoicesDropdownFilter),
        ("scope", ChoicesDropdownFilter),
        ("source", ChoicesDropdownFilter),
        ("pinned", BooleanRadioFilter),
        DocumentFilter,
    )
    quick_filters = ("state", "category__exact", "visibility__exact", "true")
    views = (
        ListView(_("Believed now")),
        ListView(_("Pinned"), "pinned__exact=1"),
        ListView(_("Preferences"), "category__exact=preference"),
        ListView(_("Plans"), "category__exact=plan"),
        ListView(_("Instructions"), "category__exact=instruction"),
        ListView(_("For everybody"), "visibility__exact=global"),
        ListView(_("Held back"), "state=held"),
        ListView(_("Forgotten"), "state=forgotten"),
    )
    list_after_template = "admin/memories/memory_list_after.html"
    change_list_template = "admin/memories/memory_list.html"
    search_fields = ("content",)
    search_help_text = _("Words that the memory contains, or its id")

    class Media:
        js = ("memoryproject/memory_list.js",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("export.<slug:form>", view(self.export_view), name="memories_memory_export"),
            path("<path:object_id>/why/", view(self.why_view), name="memories_memory_why"),
        ]
        return [*own, *super().get_urls()]

    def is_indexed(self, request: HttpRequest) -> bool:
        # The trigrams hold live memories only.
        return request.GET.get("state", "live") == "live"

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        tell_when_said(rows)
        tell_standing(rows)
        for row in rows:
            row.may_edit = (
                row.is_live and len(row.content) <= LONGEST_IN_PLACE and self.may(request, Capability.CURATE, row)
            )

    @display(description=_("memory"))
    def text(self, memory: Memory) -> str:
        pin = PIN if memory.pinned else ""
        state = memory.state
        word = memory.standing if state == MemoryState.LIVE else state  # type: ignore[attr-defined]
        chip = "" if word == Standing.CURRENT else STATE_CHIP.format(word)
        return format_html('<span class="desk-told">{}{}</span>{}', pin, one_line(memory.content), mark_safe(chip))

    @display(description=_("category"), label=True)
    def category_label(self, memory: Memory) -> str:
        return memory.category

    @display(description=_("seen by"))
    def seen_by(self, memory: Memory) -> str:
        return memory.visibility

    @display(description=_("said"))
    def when_said(self, memory: Any) -> str:
        read = _("written by hand") if memory.said_at is None else _("read")
        said = memory.said_at or memory.created_at
        if said.date() == memory.created_at.date() and memory.said_at is not None:
            return format_html('<span class="desk-nowrap">{}</span>', day_text(said))
        return format_html(
            '<span class="desk-nowrap">{}</span><br><span class="desk-small desk-quiet desk-nowrap">{} {}</span>',
            day_text(said),
            read,
            "" if memory.said_at is None else day_text(memory.created_at),
        )

    @display(description=_("true"))
    def true(self, memory: Memory) -> str:
        return true_text(memory)

    @display(description=_("why"))
    def why(self, memory: Any) -> str:
        page = self.page_of(memory)
        links = format_html(
            '<a class="desk-link" href="{}#chain" data-why="{}" aria-label="{}">{}</a>',
            page,
            reverse("admin:memories_memory_why", args=[memory.pk]),
            f"{_('Why do we believe it')}: {one_line(memory.content, 60)}",
            _("Why?"),
        )
        if memory.may_edit:
            links += format_html(
                ' <button type="button" class="desk-link" data-edits="{}" data-row="{}" aria-label="{}">{}</button>',
                reverse("admin:memories_memory_do", args=[memory.pk, "correct"]),
                json.dumps(
                    {
                        "content": memory.content,
                        "category": memory.category,
                        "visibility": memory.visibility,
                        "valid_from": day_value(memory.valid_from),
                        "valid_until": day_value(memory.valid_until),
                        "version": memory.version,
                    }
                ),
                f"{_('Edit')}: {one_line(memory.content, 60)}",
                _("Edit"),
            )
        return format_html('<span class="desk-acts">{}</span>', links)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        asked = request.GET.copy()
        asked.pop("p", None)
        context = {
            "exports": [
                (
                    each,
                    f"{reverse('admin:memories_memory_export', args=[each])}?{asked.urlencode()}",
                )
                for each in FORMATS
            ],
            "categories": Category.choices,
            "visibilities": Visibility.choices,
            "here": request.get_full_path(),
        }
        return super().changelist_view(request, context | (extra_context or {}))

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Export all rows of the filtered list, in its order."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if form not in FORMATS:
            raise Http404(f"there is no {form}")
        kind, write = FORMATS[form]
        rows = self.get_changelist_instance(request).queryset[:MOST_EXPORTED]
        answer = StreamingHttpResponse(write(rows), content_type=kind)
        answer.headers["Content-Disposition"] = f'attachment; filename="memories.{form}"'
        return answer

    def why_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a memory's sources and its history, beside the list."""
        row = self.row_or_404(request, object_id)
        story = timeline(self.scope(request, row), row)
        context = {
            "row": row,
            "story": story,
            "versions": list(reversed(story.versions)),
            "true": true_text(row),
            "names": story.names,
        }
        return TemplateResponse(request, "admin/memories/memory_why.html", context)


def tell_standing(rows: Sequence[Any]) -> None:
    """Give each memory its standing, by one statement for all."""
    told = Memory.objects.filter(pk__in=[row.pk for row in rows]).with_names()
    standings = {row.pk: row.standing for row in told.only("pk")}  # type: ignore[attr-defined]
    for row in rows:
        row.standing = standings.get(row.pk, Standing.PAST)


def tell_when_said(rows: Sequence[Any]) -> None:
    """Set `said_at` on memories: the time of their newest evidence, None for those written by
    hand."""
    cited = Citation.objects.filter(fact__memory__in=[row.pk for row in rows], fact__withdrawn_at=None)
    at = Max(Coalesce("episode__occurred_at", "revision__created_at"))
    said = dict(cited.order_by().values_list("fact__memory").annotate(at=at))
    for row in rows:
        row.said_at = said.get(row.pk)


def day_text(at: datetime) -> str:
    return format_date(day_of(at), "j M Y")


def day_value(at: datetime | None) -> str:
    """Return the day as a date field takes it, "" for None."""
    return day_of(at).isoformat() if at else ""


def true_text(memory: Memory) -> str:
    """Return when a memory is true, in words; "" where it has no dates."""
    begin, end = memory.valid_from, memory.valid_until
    if begin and end:
        return f"{day_text(begin)} – {day_text(end)}"
    if end:
        return str(_("until %(day)s")) % {"day": day_text(end)}
    if begin:
        return str(_("since %(day)s")) % {"day": day_text(begin)}
    return str(_("on %(day)s")) % {"day": day_text(memory.event_date)} if memory.event_date else ""


def records(rows: QuerySet[Memory]) -> Iterator[dict[str, Any]]:
    left = rows.iterator(chunk_size=CHUNK)
    while chunk := list(islice(left, CHUNK)):
        tell_when_said(chunk)
        tell_standing(chunk)
        yield from map(record, chunk)


def record(row: Any) -> dict[str, Any]:
    times = {
        "saidAt": row.said_at,
        "eventDate": row.event_date,
        "validFrom": row.valid_from,
        "validUntil": row.valid_until,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }
    return {
        "id": str(row.pk),
        "workspace": row.workspace.slug,
        "userId": row.subject.external_id if row.subject else None,
        "content": row.content,
        "category": row.category,
        "factType": row.fact_type,
        "visibility": row.visibility,
        "state": str(row.state),
        "standing": str(row.standing),
        "pinned": row.pinned,
        "version": row.version,
        "sourceCount": row.source_count,
        "confidence": row.confidence,
        **{name: at and at.isoformat() for name, at in times.items()},
    }


def as_csv(rows: QuerySet[Memory]) -> Iterable[str]:
    return csv_lines(COLUMNS, records(rows))


def as_json(rows: QuerySet[Memory]) -> Iterator[str]:
    """Yield one array, row by row."""
    before = "[\n"
    for each in records(rows):
        yield before + json.dumps(each, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


FORMATS: dict[str, tuple[str, Callable[[QuerySet[Memory]], Iterable[str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
}
