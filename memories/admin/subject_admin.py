"""The list of people, and a subject's page, where what is known of somebody can be corrected."""

import uuid
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories import review, search_counts
from memories.admin import profile_parts as parts
from memories.admin.memory_admin import REASONS
from memories.admin.memory_rows import MemoryRowAdmin
from memories.admin.memory_timeline import as_of
from memories.admin.profile_parts import FORMATS, PAGE, life
from memories.admin.unread_note import note_on_person
from memories.cases import ask_pair
from memories.erase import erasure_plan
from memories.errors import NotFound, needed
from memories.index import prepared_sql
from memories.index.workspace_index import index_of
from memories.models import Case, Episode, LegalHold
from memories.models.memory_state import LIVE_SQL
from workspaces.adminbase.access import workspace_id_of
from workspaces.adminbase.acts_and_actors import names_of
from workspaces.adminbase.list_admin import MOST, Empty, ListView, count_text, display
from workspaces.adminbase.row_admin import Button, Verb, refusal_text
from workspaces.adminbase.scoped_admin import StateFilter
from workspaces.models import Capability, Subject
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
        counts = {each.id: each for each in prepared_sql.rows(COUNTS, given)}
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


MOST_TALKS = 30
LONGEST_NAME = 255
SHOWN = {
    "glance": _("At a glance"),
    "life": _("Timeline"),
    "talks": _("Conversations and searches"),
}
# The parts of the first screen; open cases and changes are in a third column.
COLUMNS = (("who", "now", "instructions"), ("preferences", "plans"))
# Verbs whose buttons are beside the rows they act on.
ON_THE_PAGE = ("merge-duplicates", "ask-which", "separate")


def _ids(texts: list[str]) -> list[uuid.UUID]:
    """Parse ids. Raises NotFound for a text that is no id."""
    try:
        return [uuid.UUID(text) for text in texts]
    except ValueError:
        raise NotFound("What was chosen") from None


class HoldForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Whoever wants to erase it will read that."),
    )


class RenameForm(forms.Form):
    name = forms.CharField(
        required=False, max_length=LONGEST_NAME, widget=UnfoldAdminTextInputWidget
    )
    metadata = forms.JSONField(required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}))

    def clean_metadata(self) -> dict[str, Any]:
        metadata = self.cleaned_data["metadata"]
        if not isinstance(metadata or {}, dict):
            raise forms.ValidationError(gettext("Metadata is a JSON object."))
        return metadata or {}


class MergeForm(forms.Form):
    into = forms.CharField(
        max_length=LONGEST_NAME,
        label=_("Into"),
        help_text=_("The userId of the person that stays."),
        widget=UnfoldAdminTextInputWidget,
    )


class PairForm(forms.Form):
    kept = forms.UUIDField()
    other = forms.UUIDField()


class SeparateForm(forms.Form):
    merge = forms.UUIDField()


class SubjectAdmin(PeopleList):
    write_capability = Capability.WRITE
    can_add = True
    fields = ("workspace", "external_id", "name", "metadata")
    page_template = "admin/memories/profile.html"
    verbs = (
        Verb("rename", _("Edit"), "edit", form=RenameForm, capability=Capability.WRITE),
        Verb("merge", _("Merge"), "merge", "danger", "?", MergeForm),
        Verb(
            "hold",
            _("Hold"),
            "gavel",
            question=_("Nothing about it is erased until that is lifted."),
            form=HoldForm,
            capability=Capability.ADMIN,
        ),
        Verb(
            "lift",
            _("Lift hold"),
            "gavel",
            question=_("It may be erased again."),
            capability=Capability.ADMIN,
        ),
        Verb("merge-duplicates", _("Merge"), form=PairForm),
        Verb("ask-which", _("Ask which is right"), form=PairForm),
        Verb("separate", _("Undo"), form=SeparateForm),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        holds = LegalHold.objects.in_force().filter(subject=OuterRef("pk"))
        rows = super().get_queryset(request).select_related("workspace")
        return rows.annotate(is_held=Exists(holds))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        split = self.admin_site.admin_view(self.split_view)
        own = [
            path("<path:object_id>/profile.<slug:form>", view, name="memories_profile_export"),
            path("<path:object_id>/split/", split, name="workspaces_subject_split"),
        ]
        return [*own, *super().get_urls()]

    def split_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show what would move to another person and, once that is confirmed, move it."""
        row = self.row_or_404(request, object_id)
        if not self.may(request, Capability.CURATE, row):
            raise PermissionDenied
        page, scope = self.page_of(row), self.scope(request, row)
        if request.method != "POST":
            return redirect(page)
        user = request.POST.get("user", "").strip()
        try:
            chosen = review.SplitOff(
                *(_ids(request.POST.getlist(name)) for name in ("memory", "conversation"))
            )
            if not user or len(user) > LONGEST_NAME:
                raise forms.ValidationError(gettext("Name the person whom it is about."))
            if "confirmed" in request.POST:
                made = review.split(scope, row.pk, user, chosen)
                told = gettext("Moved to %(person)s. It can be undone here.")
                messages.success(request, told % {"person": made.target})
                return redirect(page)
            found = review.split_plan(scope, row, chosen)
        except self.all_refusals as refusal:
            messages.error(request, refusal_text(refusal))
            return redirect(page)
        known = Subject.objects.filter(workspace_id=workspace_id_of(row), external_id=user).first()
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Move a part of what is known of %(person)s") % {"person": row},
            "opts": self.opts,
            "row": row,
            "whom": user,
            "known": known,
            "chosen": chosen,
            "plan": parts.split_text(found),
            "list_url": page,
        }
        return TemplateResponse(request, "admin/memories/profile_split.html", context)

    def export_view(self, request: HttpRequest, object_id: str, form: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        if form not in FORMATS:
            raise Http404(f"there is no {form}")
        kind, write = FORMATS[form]
        answer = HttpResponse(write(self.scope(request, row), row), content_type=kind)
        self.audit(request, "export", row, subject_id=row.pk, after={"format": form})
        answer.headers["Content-Disposition"] = f'attachment; filename="profile-{row.pk}.{form}"'
        return answer

    def offers(self, row: Any, verb: Verb) -> bool:
        if verb.name not in ("hold", "lift"):
            return super().offers(row, verb)
        return row.is_held == (verb.name == "lift")

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        buttons = super().buttons(request, row)
        return [button for button in buttons if button.verb.name not in ON_THE_PAGE]

    def button(self, row: Any, verb: Verb) -> Button:
        button = super().button(row, verb)
        if verb.name != "merge":
            return button
        question = (
            f"What is known of {row} is about the other one from now on: {parts.plan(row)}. "
            f"It can be undone on this page. Later news about {row.external_id} is its own again."
        )
        asked = Verb(verb.name, verb.label, verb.icon, verb.look, question, verb.form)
        return Button(asked, button.url, button.form, button.key)

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is None:
            return None
        initial = {"name": row.name, "metadata": row.metadata}
        return verb.form(data, initial=initial, auto_id=f"{prefix}-%s")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        asked = request.GET.get("show", "")
        show = asked if asked in SHOWN else "glance"
        self.prepare(request, [row])
        may_curate = self.may(request, Capability.CURATE, row)
        context = {
            "title": str(row),
            "show": show,
            "unread": note_on_person(request, row) if show == "glance" else None,
            "tabs": SHOWN,
            "may_curate": may_curate,
            "may_erase": self.may(request, Capability.ADMIN, row),
            "exports": list(FORMATS),
            "back": self.page_of(row),
        }
        own = {"glance": self.glance, "life": self.life, "talks": self.talks}[show]
        return context | own(request, row)

    def glance(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what is known of somebody on one screen, each memory once."""
        scope, index = self.scope(request, row), index_of(row.workspace_id)
        memories = parts.newest(scope, row)
        known = parts.parts_of(memories, index)
        features = parts.beside_memories(known.values(), parts.features(scope, row))
        changes, merges = parts.changes_of_week(scope, row), parts.merges(row)
        since = timezone.now() - parts.WEEK
        return {
            "columns": [[known[name] for name in column] for column in COLUMNS],
            "also": known["also"],
            "is_cut": len(memories) == parts.NEWEST,
            "newest": parts.NEWEST,
            "is_known": bool(memories),
            "new": sum(memory.created_at >= since for memory in memories),
            "changes": changes,
            "merges": merges,
            "names": names_of([c.actor for c in changes] + [m.merged_by for m in merges]),
            "cases": parts.open_cases(scope, row),
            "duplicates": parts.duplicates(index, memories),
            "features": parts.sections_of(features),
            "reasons": REASONS,
        }

    def life(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        at = as_of(request.GET)
        asked = request.GET.get("offset", "")
        offset = min(int(asked), MOST) if asked.isascii() and asked.isdecimal() else 0
        days = {name: request.GET.get(name, "") for name in ("valid_on", "known_on")}
        earlier = urlencode({"show": "life", **days, "offset": str(offset + PAGE)})
        return {
            "life": life(self.scope(request, row), row, at, offset),
            **days,
            "is_no_day": (days["valid_on"] and not at.valid_at)
            or (days["known_on"] and not at.known_at),
            "at": at,
            "offset": offset,
            "earlier": f"?{earlier}",
        }

    def talks(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        served = parts.served(row)
        memories = parts.served_memories(self.scope(request, row), row)
        return {
            "conversations": parts.conversations(row, MOST_TALKS),
            "served": served,
            "memories": memories,
            "names": names_of([use.actor for use in served] + [use.actor for use in memories]),
            "kept_days": search_counts.KEPT.days,
        }

    def do_rename(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        before = {"name": row.name, "metadata": row.metadata}
        row.name, row.metadata = values["name"], values["metadata"]
        row.save(update_fields=["name", "metadata", "updated_at"])
        self.audit(request, "change", row, subject_id=row.pk, before=before, after=values)
        return gettext("Changed.")

    def do_merge(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        user = values["into"].strip()
        here = Subject.objects.filter(workspace_id=workspace_id_of(row))
        target = here.filter(external_id=user).first()
        if target is None:
            raise forms.ValidationError(
                gettext(
                    "Nobody here has the userId %(user)s; the list of people shows all of them."
                )
                % {"user": user}
            )
        made = review.merge_subjects(self.scope(request, row), row.pk, target.pk)
        return gettext("%(number)s memories are about %(target)s now. It can be undone here.") % {
            "number": len(made.ids("memory")),
            "target": target,
        }

    def do_hold(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        erasure_plan.place(self.scope(request, row), row, values["reason"])
        return gettext("Held: nothing about it is erased.")

    def do_lift(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        hold = needed(LegalHold.objects.in_force().filter(subject=row).first(), "A hold")
        erasure_plan.lift(self.scope(request, row), hold.pk)
        return gettext("The hold is lifted.")

    def do_separate(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        made = review.separate(self.scope(request, row), values["merge"])
        return gettext("Undone: %(source)s and %(target)s each have their own again.") % {
            "source": made.source,
            "target": made.target,
        }

    def do_merge_duplicates(
        self, request: HttpRequest, row: Subject, values: dict[str, Any]
    ) -> str:
        review.merge_duplicates(self.scope(request, row), values["kept"], values["other"])
        return gettext("Merged: the one that stays has the facts of both.")

    def do_ask_which(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        ask_pair(self.scope(request, row), values["kept"], values["other"])
        return gettext("It waits in the inbox; both are believed until somebody decides.")
