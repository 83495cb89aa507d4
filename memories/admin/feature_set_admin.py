"""Feature sets: what waits in each, what it holds, how it is configured, and taking things back."""

from typing import Any

from django import forms
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories import outbox, workspace_settings
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, ingest_hint, one_line
from memories.admin.set_config_page import NUMBERS, TEXTS, SetConfigPage, setting_text
from memories.features import features_by_hand, sets
from memories.features.config import LONGEST_NAME
from memories.features.consolidate import consolidate
from memories.features.set_embedding import state_of
from memories.features.sets import effective_of
from memories.features.update import asks_model, update_now, update_soon
from memories.models import Feature, FeatureChange, FeatureCitation, FeatureRefusal, FeatureSet
from workspaces.adminbase.actors import names_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import PickFilter, StateFilter
from workspaces.models import Capability

MOST_FEATURES, MOST_CHANGES, MOST_REFUSALS = 500, 30, 20
LABELS = {
    "categories": "Categories and tags",
    **TEXTS,
    "languageModel": "Language model",
    "embedder": "Embedder",
    **NUMBERS,
}


class WaitingFilter(StateFilter):
    states = {"waiting": _("Something waits"), "failing": _("Failing"), "quiet": _("Nothing waits")}

    def narrow(self, rows: Any, state: str) -> Any:
        if state == "failing":
            return rows.exclude(error="")
        return rows.filter(waiting__gt=0) if state == "waiting" else rows.filter(waiting=0)


class TypeForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("One that is there already then says this instead of what it said."),
    )


class FeatureSetAdmin(MemoryRowAdmin):
    pages = (SetConfigPage,)
    list_display = ("key_label", "person", "held", "waits", "since", "state", "folded_at")
    list_select_related = ("workspace", "subject")
    list_filter = (WaitingFilter, ("subject", PickFilter))
    search_fields = ("key",)
    search_help_text = _("Key")
    page_template = "admin/memories/feature_set.html"
    verbs = (
        Verb("fold", _("Take in now"), "move_to_inbox", "primary", bulk=True),
        Verb("consolidate", _("Merge what says the same"), "merge", bulk=True),
        Verb(
            "share", _("Share as a type"), "share", form=TypeForm, capability=Capability.ADMIN,
            question=_("What this set says itself is then said by the type, for all sets of it."),
        ),
        Verb(
            "delete", _("Delete"), "delete", "danger", capability=Capability.ADMIN,
            question=_("The features, their history and what was refused go for good."),
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        live = Count("features", filter=Q(features__ended_at=None))
        rows = super().get_queryset(request).select_related("workspace", "subject", "conversation")
        return rows.annotate(number=live)

    @display(description=_("set"))
    def key_label(self, row: FeatureSet) -> str:
        return one_line(row.key, 80)

    @display(description=_("features"))
    def held(self, row: Any) -> int:
        return int(row.number)

    @display(description=_("waiting"))
    def waits(self, row: FeatureSet) -> str:
        return str(row.waiting or "")

    @display(description=_("oldest"))
    def since(self, row: FeatureSet) -> str:
        return timesince(row.waiting_since, depth=1) if row.waiting_since else ""

    @display(
        description=_("state"), label={"ok": "success", "failing": "danger", "at work": "info"}
    )
    def state(self, row: FeatureSet) -> str:
        if row.error:
            return "failing"
        is_held = row.lease_until is not None and row.lease_until > timezone.now()
        return "at work" if is_held else "ok"

    def do_fold(self, request: HttpRequest, row: FeatureSet, values: dict[str, Any]) -> str:
        scope = self.scope(request, row)
        if asks_model(scope, str(row.pk)):
            update_soon(scope, str(row.pk))
            return gettext("The worker takes it up at once.")
        done = update_now(scope, str(row.pk))
        if done is None:
            return gettext("A worker has it already.")
        return gettext(
            "%(episodes)s messages: %(added)s notes added, %(updated)s updated,"
            " %(deleted)s ended, %(refused)s commands refused."
        ) % {
            "episodes": done.episodes,
            "added": done.added,
            "updated": done.updated,
            "deleted": done.deleted,
            "refused": done.refused,
        }

    def do_consolidate(self, request: HttpRequest, row: FeatureSet, values: dict[str, Any]) -> str:
        scope = self.scope(request, row)
        if asks_model(scope, str(row.pk)):
            outbox.post("consolidate_set", row.pk)
            return gettext("The worker takes it up at once.")
        merged = consolidate(scope, str(row.pk))
        told = ngettext(
            "%(number)s note became part of others.",
            "%(number)s notes became part of others.",
            merged,
        )
        return told % {"number": merged}

    def do_share(self, request: HttpRequest, row: FeatureSet, values: dict[str, Any]) -> str:
        workspace_settings.share_type(self.scope(request, row), str(row.pk), values["name"])
        rows = FeatureSet.objects.filter(workspace=row.workspace, config__type=values["name"])
        number = rows.count()
        told = ngettext(
            "One set is of the type %(name)s.", "%(number)d sets are of the type %(name)s.", number
        )
        return told % {"number": number, "name": values["name"]}

    def do_delete(self, request: HttpRequest, row: FeatureSet, values: dict[str, Any]) -> str:
        sets.delete(self.scope(request, row), str(row.pk))
        return gettext("Deleted.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        changes = FeatureChange.objects.filter(set=row).select_related("feature").order_by("-id")
        latest = list(changes[:MOST_CHANGES])
        names = names_of(change.by for change in latest)
        for change in latest:
            vars(change)["by_name"] = names.get(change.by, change.by)
        # Live features by category and tag.
        rows = Feature.objects.live().filter(set=row).select_related("agent")
        ordered = rows.order_by("category", "tag", "about", "feature", "id")
        by_tag: dict[str, dict[str, list[Any]]] = {}
        for feature in with_words(ordered)[:MOST_FEATURES]:
            by_tag.setdefault(feature.category, {}).setdefault(feature.tag, []).append(feature)
        sections = [(category, list(tags.items())) for category, tags in by_tag.items()]
        # Each setting as it counts, and who said so.
        settings = [
            {
                "name": name,
                "label": LABELS[name],
                "value": setting_text(each.value),
                "categories": each.value if name == "categories" else (),
                "source": each.source,
            }
            for name, each in effective_of(row).items()
        ]
        return {
            "title": row.key,
            "sections": sections,
            "settings": settings,
            "config_url": self.config_url(request, row),
            "embedding": state_of(row),
            "changes": latest,
            "refusals": list(FeatureRefusal.objects.filter(set=row)[:MOST_REFUSALS]),
        }

    def config_url(self, request: HttpRequest, row: FeatureSet) -> str:
        """Empty for those who may not."""
        may = self.may(request, Capability.ADMIN, row)
        return reverse(f"admin:{SetConfigPage.name}", args=[row.pk]) if may else ""

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(
            request,
            gettext("No profiles yet"),
            gettext("Each person gets one when something is said of it:"),
        )


def with_words(rows: Any) -> Any:
    """Features with the words that they stand on, and whom they are about."""
    cited = FeatureCitation.objects.filter(change__is_current=True).select_related("episode")
    return rows.prefetch_related(Prefetch("citations", cited, to_attr="cited"))


# ---- one feature ----------------------------------------------------------------------------


class EditForm(forms.Form):
    value = forms.CharField(
        max_length=1000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), label=_("It is")
    )


class EndForm(forms.Form):
    reason = forms.CharField(
        required=False, max_length=500, widget=UnfoldAdminTextInputWidget, label=_("Why")
    )


class EndedFilter(StateFilter):
    first = "live"
    states = {"live": _("Live"), "ended": _("Ended")}

    def narrow(self, rows: Any, state: str) -> Any:
        return rows.filter(ended_at__isnull=state == "live")


class FeatureAdmin(MemoryRowAdmin):
    list_display = ("text", "category", "tag", "about", "person", "method_label", "updated_at")
    list_select_related = ("workspace", "subject")
    list_filter = (
        EndedFilter,
        ("subject", PickFilter),
        ("method", ChoicesDropdownFilter),
        ("visibility", ChoicesDropdownFilter),
    )
    search_fields = ("content",)
    search_help_text = _("Words of the feature")
    page_template = "admin/memories/feature.html"
    verbs = (
        Verb(
            "edit", _("Correct"), "edit", "primary", _("What it said stays in the undo."), EditForm
        ),
        Verb("undo", _("Take back the last change"), "undo", bulk=True),
        Verb(
            "end",
            _("End"),
            "block",
            "danger",
            _("It is told no more; it can be taken back."),
            EndForm,
        ),
    )
    joined = ("workspace", "subject", "agent", "set")

    @display(description=_("feature"))
    def text(self, row: Feature) -> str:
        return one_line(f"{row.feature}: {row.value}", 120)

    @display(description=_("by"), label={"rule": "info", "model": "info", "manual": "success"})
    def method_label(self, row: Feature) -> str:
        return str(row.get_method_display())

    def offers(self, row: Any, verb: Verb) -> bool:
        return verb.name == "undo" or row.ended_at is None

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is EditForm:
            return EditForm(data, auto_id=f"{prefix}-%s", initial={"value": row.value})
        return super().form_for(verb, row, data, prefix=prefix)

    def do_edit(self, request: HttpRequest, row: Feature, values: dict[str, Any]) -> str:
        features_by_hand.edit(
            self.scope(request, row), row.pk, {"value": as_typed(values["value"])}
        )
        return gettext("Corrected: no machine changes it now.")

    def do_undo(self, request: HttpRequest, row: Feature, values: dict[str, Any]) -> str:
        features_by_hand.undo(self.scope(request, row), row.pk)
        return gettext("Taken back.")

    def do_end(self, request: HttpRequest, row: Feature, values: dict[str, Any]) -> str:
        features_by_hand.delete(self.scope(request, row), row.pk, values.get("reason", ""))
        return gettext("Ended.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        cited = FeatureCitation.objects.select_related("episode")
        rows = FeatureChange.objects.filter(feature=row).order_by("-id")
        changes = list(rows.prefetch_related(Prefetch("citations", cited, to_attr="cited")))
        names = names_of(change.by for change in changes)
        for change in changes:
            vars(change)["by_name"] = names.get(change.by, change.by)
        return {"title": f"{row.feature}: {row.value}", "changes": changes}

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(
            request, gettext("No features yet"), gettext("They are folded out of what is said:")
        )
