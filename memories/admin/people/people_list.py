"""The list of people."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories.admin.memory_rows import MemoryRowAdmin
from memories.admin.people import profile_parts as parts
from memories.models import Case, Episode
from memories.models.memory_state import LIVE_SQL
from workspaces.adminbase.list_admin import Empty, ListView, count_text, display
from workspaces.adminbase.scoped_admin import StateFilter
from workspaces.models import Subject
from workspaces.models.workspace import first_uuid7

# The list of people: the number of their memories and open cases, and when they were last heard of.

MOST_SHOWN = 999  # the list counts no further
SILENT = timedelta(days=90)
# Counts for the people of a page; the database limits these rows to their workspaces, too. Each id
# is compared by `between`: where nearly all rows are about one person, an equation makes the
# planner read all of them for each of the others.
COUNTS = f"""
select s.id,
  (select e.created_at from memories_episode e
     where e.subject_id between s.id and s.id
     order by e.subject_id desc, e.id desc limit 1::int4) as last_seen,
  (select count(*) from (select 1 from memories_memory m
     where m.subject_id between s.id and s.id and {LIVE_SQL}
     limit %(most)s::int4) live) as known,
  (select count(*) from (select 1 from memories_case c
     where c.subject_id between s.id and s.id and c.state = 'open'
     limit %(most)s::int4) waiting) as open_cases
from unnest(%(subjects)s::uuid[]) s(id)
"""
# The last message again, to sort all people by.
LAST_SEEN = Subquery(
    Episode.objects.filter(subject__gte=OuterRef("pk"), subject__lte=OuterRef("pk"))
    .order_by("-subject_id", "-id")
    .values("created_at")[:1]
)


class PeopleFilter(StateFilter):
    """Filter for people with open cases, heard of lately, silent for long, or on hold."""

    title = _("who")
    states = {
        "cases": _("With open cases"),
        "week": _("Heard of this week"),
        "silent": _("Silent for 90 days"),
        "held": _("On hold"),
    }

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        if state == "cases":
            waiting = Case.objects.filter(state=Case.State.OPEN, subject__isnull=False)
            return rows.filter(pk__in=waiting.values("subject"))
        if state == "held":
            return rows.filter(is_held=True)
        since = first_uuid7(timezone.now() - (parts.WEEK if state == "week" else SILENT))
        heard = Exists(Episode.objects.filter(subject=OuterRef("pk"), pk__gte=since))
        return rows.filter(heard if state == "week" else ~heard)


class PeopleList(MemoryRowAdmin):
    list_display = ("person_id", "name", "remembered", "waiting", "last_heard_of", "created_at")
    list_select_related = ("workspace",)
    list_filter = (PeopleFilter,)
    sortable_by = ("person_id", "name", "last_heard_of", "created_at")
    views = (
        ListView(_("Everybody")),
        ListView(_("With open cases"), "state=cases"),
        ListView(_("Heard of this week"), "state=week"),
        ListView(_("Silent for 90 days"), "state=silent"),
        ListView(_("On hold"), "state=held"),
    )
    search_fields = ("external_id__startswith", "name__icontains")
    search_help_text = _("Beginning of the id, or name")

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add counts, none further than 999, and the time last heard of to the rows of a page, in
        one statement."""
        given = {"subjects": [row.pk for row in rows], "most": MOST_SHOWN + 1}
        counted: Iterable[Any] = Subject.objects.raw(COUNTS, given)
        counts = {each.id: each for each in counted}
        for row in rows:
            row.known, row.open_cases = counts[row.pk].known, counts[row.pk].open_cases
            row.last_seen = counts[row.pk].last_seen

    @display(description=_("person"), ordering="external_id")
    def person_id(self, subject: Subject) -> str:
        return subject.external_id

    @display(description=_("memories"))
    def remembered(self, subject: Any) -> str:
        return format_html(
            '<a class="desk-link" href="{}?subject__id__exact={}" aria-label="{}">{}</a>',
            reverse("admin:memories_memory_changelist"),
            subject.pk,
            gettext("Memories of %(person)s") % {"person": subject},
            count_text(subject.known, MOST_SHOWN),
        )

    @display(description=_("open cases"))
    def waiting(self, subject: Any) -> str:
        if not subject.open_cases:
            return "0"
        asked = urlencode({"who": "all", "user": subject.external_id})
        return format_html(
            '<a class="desk-link" href="{}?{}" aria-label="{}">{}</a>',
            reverse("admin:memories_inbox"),
            asked,
            gettext("Open cases of %(person)s") % {"person": subject},
            count_text(subject.open_cases, MOST_SHOWN),
        )

    @display(description=_("last heard of"), ordering=Coalesce(LAST_SEEN, "created_at"))
    def last_heard_of(self, subject: Any) -> Any:
        return subject.last_seen

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No people yet"),
            gettext("Somebody appears when a program first names their userId."),
        )
