"""The audit log, read-only."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from django.contrib.admin.options import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_noop as _
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from workspaces.admin.activity_list import ActivityList, run_words
from workspaces.adminbase.access import access_of
from workspaces.adminbase.act_words import (
    ACTS,
    PRIVATE,
    QUIET,
    SHARED,
    UNPINNED,
    WRONG,
    WRONG_REASON,
    act_text,
    act_words,
)
from workspaces.adminbase.list_admin import Empty, csv_lines, display
from workspaces.adminbase.row_admin import RowAdmin
from workspaces.adminbase.scoped_admin import DayFilter
from workspaces.adminbase.target_names import APPS, describe_targets, kind_text, name_of, names_of
from workspaces.adminbase.word_diff import changes
from workspaces.auth import as_uuid
from workspaces.models import ApiKey, AuditEntry, Capability, Membership, Subject

# Choices among the lines of one act, by their value in an address: words, act, and condition.
EXACT = {
    "pinned": (_("pinned"), "edit", Q(after__pinned=True)),
    "unpinned": (UNPINNED, "edit", Q(after__pinned=False)),
    "reworded": (_("reworded"), "edit", Q(after__has_key="content")),
    "made_private": (PRIVATE, "edit", Q(after__visibility="private")),
    "shared": (_("shared"), "edit", Q(after__visibility__in=list(SHARED))),
    "dated": (
        _("set a date"),
        "edit",
        Q(after__has_any_keys=["valid_from", "valid_until", "event_date"]),
    ),
    "forgot_as_wrong": (WRONG, "forget", Q(reason=WRONG_REASON)),
}

MOST_OFFERED = 200
NEWEST = 20_000  # lines that are searched for values to choose
KINDS = {"person": "All people", "key": "All agents and programs", "server": "The server itself"}

CHUNK = 2_000
COLUMNS = (
    "id",
    "at",
    "workspace",
    "actor",
    "actor_name",
    "action",
    "did",
    "target_kind",
    "target_id",
    "subject_id",
    "reason",
    "before",
    "after",
)


class WhoFilter(DropdownFilter):
    """Filter by people, keys or the server; or by one member or key of the person's workspaces."""

    title = gettext_lazy("who")
    parameter_name = "who"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        access = access_of(request)
        people = access.limit(Membership.objects.all(), "workspace", Capability.CURATE)
        keys = access.limit(ApiKey.objects.all(), "workspace", Capability.CURATE)
        names = people.order_by("user__username").values_list("user_id", "user__username")
        members = dict.fromkeys((f"user:{pk}", name) for pk, name in names[:MOST_OFFERED])
        programs = keys.order_by("name").values_list("pk", "name")[:MOST_OFFERED]
        known = dict([*KINDS.items(), *members, *((f"key:{pk}", f"key {n}") for pk, n in programs)])
        asked = request.GET.get(self.parameter_name)
        return list((known if not asked else {**known, asked: known.get(asked, asked)}).items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        people, keys = Q(actor__startswith="user:"), Q(actor__startswith="key:")
        match self.value():
            case None:
                return queryset
            case "person":
                return queryset.filter(people)
            case "key":
                return queryset.filter(keys)
            case "server":
                return queryset.exclude(people | keys)
            case actor:
                return queryset.filter(actor=actor)


class NewestValuesFilter(DropdownFilter):
    """Filter by the values of a field in the newest lines, and by the value that is asked for."""

    field = ""

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        mine = access_of(request).limit(AuditEntry.objects.all(), "workspace", Capability.CURATE)
        newest = mine.order_by("-pk").values("pk")[:NEWEST]
        rows = AuditEntry.objects.filter(pk__in=newest).order_by()
        shown = set(rows.values_list(self.field, flat=True).distinct()[:MOST_OFFERED])
        asked = request.GET.get(self.parameter_name)
        return [(each, self.label_of(each)) for each in sorted(shown | ({asked} if asked else set()))]

    def label_of(self, value: str) -> str:
        return value.replace("_", " ")

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.field: self.value()}) if self.value() else queryset


class VerbFilter(NewestValuesFilter):
    title = gettext_lazy("did")
    parameter_name = "did"
    field = "action"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        shown = dict(super().lookups(request, model_admin))
        exact = {name: gettext(words) for name, (words, act, _) in EXACT.items() if name in shown or act in shown}
        return sorted((shown | exact).items(), key=lambda choice: choice[1])

    def label_of(self, value: str) -> str:
        return act_text(value)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if (asked := self.value()) in EXACT:
            _, act, which = EXACT[asked]
            return queryset.filter(which, action=act)
        return super().queryset(request, queryset)


class RowFilter(NewestValuesFilter):
    title = gettext_lazy("to")
    parameter_name = "to"
    field = "target_kind"

    def label_of(self, value: str) -> str:
        return kind_text(value)


def as_csv(lines: QuerySet[AuditEntry]) -> Iterator[str]:
    return csv_lines(COLUMNS, _records(lines))


def as_jsonl(lines: QuerySet[AuditEntry]) -> Iterator[str]:
    for record in _records(lines):
        yield json.dumps(record, ensure_ascii=False) + "\n"


FORMATS: dict[str, tuple[str, Callable[[QuerySet[AuditEntry]], Iterator[str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/x-ndjson", as_jsonl),
}


def _records(lines: QuerySet[AuditEntry]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    for line in lines.select_related("workspace").iterator(chunk_size=CHUNK):
        if line.actor not in names:
            names |= names_of([line.actor])
        yield {
            "id": str(line.pk),
            "at": line.created_at.isoformat(),
            "workspace": line.workspace.slug,
            "actor": line.actor,
            "actor_name": names.get(line.actor, line.actor),
            "action": line.action,
            "did": act_words(line),
            "target_kind": line.target_kind,
            "target_id": str(line.target_id),
            "subject_id": str(line.subject_id) if line.subject_id else None,
            "reason": line.reason,
            "before": line.before,
            "after": line.after,
        }


class AuditAdmin(RowAdmin):
    read_capability = Capability.CURATE
    list_display = ("happened", "who", "did", "about", "reason_label")
    list_select_related = ("workspace",)
    list_filter = (WhoFilter, VerbFilter, RowFilter, DayFilter)
    search_fields = ("action", "target_kind")
    search_help_text = gettext_lazy("What was done (pinned, forgot), a person's name, or an id")
    page_template = "admin/workspaces/auditentry/page.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        own = path("export.<slug:form>", view, name="workspaces_audit_export")
        return [own, *super().get_urls()]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Export all lines of the filtered list, in its order."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if form not in FORMATS:
            raise Http404(f"there is no {form}")
        kind, write = FORMATS[form]
        answer = StreamingHttpResponse(write(self.get_changelist_instance(request).queryset), content_type=kind)
        answer.headers["Content-Disposition"] = f'attachment; filename="audit.{form}"'
        return answer

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ActivityList]:
        return ActivityList

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        asked = request.GET.copy()
        asked.pop("p", None)
        exports = [
            (form, f"{reverse('admin:workspaces_audit_export', args=[form])}?{asked.urlencode()}") for form in FORMATS
        ]
        return super().changelist_view(request, {**(extra_context or {}), "exports": exports})

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        asked = search_term.strip()
        if not asked:
            return queryset, False
        if (row_id := as_uuid(asked)) is not None:
            return queryset.filter(target_id=row_id), False
        people = access_of(request).limit(Subject.objects.all(), "workspace", Capability.CURATE)
        named = people.filter(Q(external_id__iexact=asked) | Q(name__icontains=asked))
        acts = Q(action__startswith=asked.lower().replace(" ", "_"))
        acts |= Q(action__in=[name for name in ACTS if asked.lower() in act_text(*name.split())])
        for words, act, which in EXACT.values():
            if asked.lower() in gettext(words):
                acts |= Q(action=act) & which
        return queryset.filter(acts | Q(subject_id__in=named.values("pk")[:MOST_OFFERED])), False

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        return lookup in {"target_id__exact", "subject_id__exact"} or super().lookup_allowed(lookup, value, request)

    @display(description=gettext_lazy("when"))
    def happened(self, line: AuditEntry) -> Any:
        return line.created_at

    @display(description=gettext_lazy("who"))
    def who(self, line: Any) -> str:
        if not line.actor.startswith(("user:", "key:")):
            return gettext("the server")
        return getattr(line, "actor_name", line.actor)

    @display(description=gettext_lazy("did"), label=True)
    def did(self, line: AuditEntry) -> str:
        return act_words(line)

    @display(description=gettext_lazy("to"))
    def about(self, line: Any) -> str:
        if len(run := getattr(line, "run", [])) > 1:
            since = timezone.localtime(run[-1].created_at)
            return format_html(
                '<span class="desk-told">{}</span> <span class="desk-small desk-quiet">{}</span>',
                run_words(line),
                gettext("since {:%H:%M}").format(since),
            )
        kind, subject = kind_text(line.target_kind), getattr(line, "subject_name", "")
        return format_html(
            '<span class="desk-told">{}</span> <span class="desk-small desk-quiet">{}</span>',
            getattr(line, "words", "") or str(line.target_id)[-8:],
            f"{kind}, about {subject}" if subject else kind,
        )

    @display(description=gettext_lazy("why"))
    def reason_label(self, line: AuditEntry) -> str:
        is_told = line.action in QUIET or line.reason == WRONG_REASON
        return "" if is_told else line.reason[:80]

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        names = names_of(row.actor for row in rows)
        for row in rows:
            row.actor_name = names.get(row.actor, row.actor)
        describe_targets(rows)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        url = ""
        describe_targets([row])
        for app in APPS:
            with suppress(NoReverseMatch):
                name = f"{self.admin_site.name}:{app}_{row.target_kind}_change"
                url = url or reverse(name, args=[row.target_id])
        return {
            "original": None,  # its text is for machines
            "title": act_words(row),
            "actor_name": name_of(row.actor),
            "kind": kind_text(row.target_kind),
            "words": row.words,
            "target_url": url,
            "changes": changes(row.before, row.after),
        }

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("Nothing has happened yet"),
            gettext("Each act of a person, an agent or the server is kept here."),
        )
