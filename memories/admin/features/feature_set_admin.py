"""Feature sets: what waits in each, and its contents."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Prefetch, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from memories.admin.features.set_config_page import NUMBERS, TEXTS, SetConfigPage, setting_text
from memories.admin.memory_rows import MemoryRowAdmin, ingest_hint, one_line
from memories.models import Feature, FeatureChange, FeatureCitation, FeatureRefusal, FeatureSet
from memories.profiles.features import sets
from memories.profiles.features.config import LONGEST_NAME
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.set_embedding import state_of
from memories.profiles.features.sets import effective_of
from memories.profiles.features.update import asks_model, update_now, update_soon
from memories.queue import outbox
from memories.settings import workspace_settings
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import PickFilter, StateFilter
from workspaces.adminbase.target_names import names_of
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


@admin.register(FeatureSet)
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
            "share",
            _("Share as a type"),
            "share",
            form=TypeForm,
            capability=Capability.ADMIN,
            question=_("What this set says itself is then said by the type, for all sets of it."),
        ),
        Verb(
            "delete",
            _("Delete"),
            "delete",
            "danger",
            capability=Capability.ADMIN,
            question=_("The features, their history and what was refused go for good."),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        live = Count("features", filter=Q(features__ended_at=None))
        rows = super().get_queryset(request).filter(deleted_at=None)
        rows = rows.select_related("workspace", "subject", "conversation")
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

    @display(description=_("state"), label={"ok": "success", "failing": "danger", "at work": "info"})
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
        told = ngettext("One set is of the type %(name)s.", "%(number)d sets are of the type %(name)s.", number)
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
        # Each setting in force, and its source.
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
        """Return the address of the configuration, empty for people who may not change it."""
        may = self.may(request, Capability.ADMIN, row)
        return reverse(f"admin:{SetConfigPage.name}", args=[row.pk]) if may else ""

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(
            request,
            gettext("No profiles yet"),
            gettext("Each person gets one when something is said of it:"),
        )


def with_words(rows: Any) -> Any:
    """Add to features the words that they are based on."""
    cited = FeatureCitation.objects.filter(change__is_current=True).select_related("episode")
    return rows.prefetch_related(Prefetch("citations", cited, to_attr="cited"))
