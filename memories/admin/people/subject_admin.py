"""A subject's page, where what is known of somebody can be corrected."""

import uuid
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories.admin.home.unread_note import note_on_person
from memories.admin.memories.memory_admin import REASONS
from memories.admin.memories.memory_timeline import as_of
from memories.admin.people import profile_parts, split_text
from memories.admin.people.life_timeline import PAGE, life
from memories.admin.people.people_list import PeopleList
from memories.admin.people.profile_export import FORMATS
from memories.belief import review
from memories.belief.cases import ask_pair
from memories.errors import NotFound, needed
from memories.index.workspace_index import index_of
from memories.language.bounds import LONGEST_ID
from memories.meters import search_counts
from memories.models import LegalHold
from memories.privacy import legal_holds
from workspaces.adminbase.access import workspace_id_of
from workspaces.adminbase.list_admin import MOST
from workspaces.adminbase.row_admin import Button, Verb, refusal_text
from workspaces.adminbase.target_names import names_of
from workspaces.models import Capability, Subject
from workspaces.time_zones import known_zones

MOST_TALKS = 30
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
    name = forms.CharField(required=False, max_length=LONGEST_ID, widget=UnfoldAdminTextInputWidget)
    time_zone = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Like Europe/Madrid: from its days counts what they tell from now on. Empty: the workspace's."),
    )
    metadata = forms.JSONField(required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}))

    def clean_time_zone(self) -> str:
        zone: str = self.cleaned_data["time_zone"]
        if zone and zone not in known_zones():
            raise forms.ValidationError(gettext("Not a time zone: give a name like Europe/Madrid."))
        return zone

    def clean_metadata(self) -> dict[str, Any]:
        metadata = self.cleaned_data["metadata"]
        if not isinstance(metadata or {}, dict):
            raise forms.ValidationError(gettext("Metadata is a JSON object."))
        return metadata or {}


class MergeForm(forms.Form):
    into = forms.CharField(
        max_length=LONGEST_ID,
        label=_("Into"),
        help_text=_("The userId of the person that stays."),
        widget=UnfoldAdminTextInputWidget,
    )


class PairForm(forms.Form):
    kept = forms.UUIDField()
    other = forms.UUIDField()


class SeparateForm(forms.Form):
    merge = forms.UUIDField()


@admin.register(Subject)
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
            chosen = review.SplitOff(*(_ids(request.POST.getlist(name)) for name in ("memory", "conversation")))
            if not user or len(user) > LONGEST_ID:
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
            "plan": split_text.split_text(found),
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
            f"What is known of {row} is about the other one from now on: {split_text.plan(row)}. "
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
        memories = profile_parts.newest(scope, row)
        known = profile_parts.parts_of(memories, index)
        features = profile_parts.beside_memories(known.values(), profile_parts.features(scope, row))
        changes, merges = profile_parts.changes_of_week(scope, row), profile_parts.merges(row)
        since = timezone.now() - profile_parts.WEEK
        return {
            "columns": [[known[name] for name in column] for column in COLUMNS],
            "also": known["also"],
            "is_cut": len(memories) == profile_parts.NEWEST,
            "newest": profile_parts.NEWEST,
            "is_known": bool(memories),
            "new": sum(memory.created_at >= since for memory in memories),
            "changes": changes,
            "merges": merges,
            "names": names_of([c.actor for c in changes] + [m.merged_by for m in merges]),
            "cases": profile_parts.open_cases(scope, row),
            "duplicates": profile_parts.duplicates(index, memories),
            "features": profile_parts.sections_of(features),
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
            "is_no_day": (days["valid_on"] and not at.valid_at) or (days["known_on"] and not at.known_at),
            "at": at,
            "offset": offset,
            "earlier": f"?{earlier}",
        }

    def talks(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        served = profile_parts.served(row)
        memories = profile_parts.served_memories(self.scope(request, row), row)
        return {
            "conversations": profile_parts.conversations(row, MOST_TALKS),
            "served": served,
            "memories": memories,
            "names": names_of([use.actor for use in served] + [use.actor for use in memories]),
            "kept_days": search_counts.KEPT.days,
        }

    def do_rename(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        before = {name: getattr(row, name) for name in values}
        for name, value in values.items():
            setattr(row, name, value)
        row.save(update_fields=[*values, "updated_at"])
        self.audit(request, "change", row, subject_id=row.pk, before=before, after=values)
        return gettext("Changed.")

    def do_merge(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        user = values["into"].strip()
        here = Subject.objects.filter(workspace_id=workspace_id_of(row))
        target = here.filter(external_id=user).first()
        if target is None:
            raise forms.ValidationError(
                gettext("Nobody here has the userId %(user)s; the list of people shows all of them.") % {"user": user}
            )
        made = review.merge_subjects(self.scope(request, row), row.pk, target.pk)
        return gettext("%(number)s memories are about %(target)s now. It can be undone here.") % {
            "number": len(made.ids("memory")),
            "target": target,
        }

    def do_hold(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        legal_holds.place(self.scope(request, row), row, values["reason"])
        return gettext("Held: nothing about it is erased.")

    def do_lift(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        hold = needed(LegalHold.objects.in_force().filter(subject=row).first(), "A hold")
        legal_holds.lift(self.scope(request, row), hold.pk)
        return gettext("The hold is lifted.")

    def do_separate(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        made = review.separate(self.scope(request, row), values["merge"])
        return gettext("Undone: %(source)s and %(target)s each have their own again.") % {
            "source": made.source,
            "target": made.target,
        }

    def do_merge_duplicates(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        review.merge_duplicates(self.scope(request, row), values["kept"], values["other"])
        return gettext("Merged: the one that stays has the facts of both.")

    def do_ask_which(self, request: HttpRequest, row: Subject, values: dict[str, Any]) -> str:
        ask_pair(self.scope(request, row), values["kept"], values["other"])
        return gettext("It waits in the inbox; both are believed until somebody decides.")
