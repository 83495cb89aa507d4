"""Attributes and words of change that a workspace adds, each with a box to try it in."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from memories.admin.memory_rows import one_line
from memories.admin.rules.own_rule_admin import (
    ENABLED_HELP,
    LABELS,
    NAME_HELP,
    SECONDS,
    WEEK,
    OwnRuleAdmin,
    fault_lines,
    form_faults,
    lines,
)
from memories.belief.resolve.words_rehearsal import rehearse_words
from memories.index import row_marks, workspace_index
from memories.language.english import statements
from memories.language.english.plain_words import attribute_words, rule_words
from memories.language.english.statements import NO_WORDS, OwnChange, OwnSlot, OwnWords, Reading
from memories.language.english.statements.workspace_word_faults import change_faults, slot_faults
from memories.language.expressions import LONGEST_REGEX, Fault
from memories.models import WorkspaceChange, WorkspaceSlot
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.models import Capability
from workspaces.scope import Scope

LONGEST = 2_000  # characters of a statement

RELATIONS = {
    "same": gettext_noop("said again"),
    "update": gettext_noop("takes its place"),
    "unsure": gettext_noop("a person is asked"),
    "different": gettext_noop("both stand"),
}
BECOMES = {
    "same": "The same: the newer is support for the older.",
    "update": "The newer takes the place of the older.",
    "unsure": "Both live, and a person is asked.",
    "different": "Both stand side by side.",
}


class OwnWordsForm(forms.ModelForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in {"regex", "examples", "counter_examples"} & set(self.fields):
            self.fields[name].widget.attrs["rows"] = 3


class WorkspaceSlotForm(OwnWordsForm):
    examples = lines(
        gettext_lazy("Examples"),
        gettext_lazy("Statements that tell it, one in a line."),
        required=True,
    )
    counter_examples = lines(
        gettext_lazy("Counter-examples"),
        gettext_lazy("Statements that do not, one in a line."),
        required=False,
    )

    class Meta:
        model = WorkspaceSlot
        fields = ("workspace", "name", "regex", "enabled", "examples", "counter_examples")
        labels = LABELS
        # Help texts are shown as HTML, which would swallow the names of the parts.
        help_texts: ClassVar[dict[str, Any]] = {
            "name": NAME_HELP,
            "regex": escape(
                gettext_lazy(
                    "How a statement tells it, with (?P<value>...) around what there is one of:"
                    r" drives a (?P<value>\w+). (?P<subject>...) may stand around whom it is"
                    " about, (?P<key>...) around what tells two of them apart (the syntax is"
                    " RE2's, whatever the case)."
                )
            ),
            "enabled": ENABLED_HELP,
        }


class WorkspaceChangeForm(OwnWordsForm):
    examples = lines(gettext_lazy("Examples"), escape("Pairs, one in a line: before => after."), required=True)
    counter_examples = lines(
        gettext_lazy("Counter-examples"),
        escape("Pairs in which the second ends nothing: before => after."),
        required=False,
    )

    class Meta:
        model = WorkspaceChange
        fields = ("workspace", "name", "verbs", "ended", "enabled", "examples", "counter_examples")
        labels = LABELS
        help_texts: ClassVar[dict[str, Any]] = {
            "name": NAME_HELP,
            "verbs": gettext_lazy("With blanks between them: mothballed sunset shelved."),
            "ended": gettext_lazy(
                "Words of the older statement that is over then, with blanks: use run own."
                " *: whatever was said of the same thing."
            ),
            "enabled": ENABLED_HELP,
        }


class StatementsTrialForm(forms.Form):
    """Two statements, and the rule to try on them before it is saved."""

    before = forms.CharField(max_length=LONGEST)
    after = forms.CharField(max_length=LONGEST)
    regex = forms.CharField(max_length=LONGEST_REGEX, required=False)
    verbs = forms.CharField(max_length=500, required=False)
    ended = forms.CharField(max_length=500, required=False)


class OwnWordsAdmin(OwnRuleAdmin):
    write_capability = Capability.CURATE
    can_delete = True
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    change_form_after_template = "admin/memories/conflict_trial.html"
    trial_name = ""

    class Media:
        js = ("memoryproject/conflict_trial.js", "memoryproject/rehearsal.js")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.trial_view)
        return [path("trial/", view, name=self.trial_name), *super().get_urls()]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        initial: dict[str, Any] = dict(super().get_changeform_initial_data(request))
        own = list(access_of(request).workspaces(self.write_capability)[:2])
        return initial | ({"workspace": own[0]} if len(own) == 1 else {})

    def trial_view(self, request: HttpRequest) -> HttpResponse:
        """Answer what would become of the second statement after the first, as JSON; nothing is
        stored."""
        if request.method != "POST" or not self.may(request, self.write_capability):
            raise PermissionDenied
        form = StatementsTrialForm(request.POST)
        if not form.is_valid():
            return JsonResponse({"faults": form_faults(form), "lines": []})
        wrong, own = self.tried(form.cleaned_data)
        if wrong:
            return JsonResponse({"faults": fault_lines(wrong), "lines": []})
        texts = form.cleaned_data["before"], form.cleaned_data["after"]
        return JsonResponse({"faults": [], "lines": outcome_lines(*texts, own)})

    def tried(self, values: Mapping[str, str]) -> tuple[list[Fault], OwnWords]:
        raise NotImplementedError

    def proposed(self, values: QueryDict) -> tuple[list[str], OwnWords]:
        given = {name: values.get(name, "") for name in ("regex", "verbs", "ended")}
        wrong, words = self.tried(given)
        return fault_lines(wrong), words

    def rehearse(self, scope: Scope, known: Any, proposed: Any) -> tuple[str, list[str]]:
        now = row_marks.words_of(workspace_index.index_of(scope.workspace_id))
        mine = known.value if known is not None else None
        new = proposed or NO_WORDS
        other = OwnWords(
            tuple(each for each in now.slots if each != mine) + new.slots,
            tuple(each for each in now.changes if each != mine) + new.changes,
            now.off,
        )
        found = rehearse_words(scope, now, other, timezone.now() - WEEK, seconds=SECONDS)
        told = _("%(changed)d would be decided otherwise, of %(asked)d pairs of the last 7 days")
        return told % {"changed": len(found.changed), "asked": found.asked}, [
            f"{each.old.content} → {each.new.content}: {_(RELATIONS[each.was.kind])} → {_(RELATIONS[each.would.kind])}"
            for each in found.changed
        ]


@admin.register(WorkspaceSlot)
class WorkspaceSlotAdmin(OwnWordsAdmin):
    form = WorkspaceSlotForm
    fields = WorkspaceSlotForm.Meta.fields
    list_display = ("name", "regex_label", "is_in_use", "updated_at")
    trial_name = "memories_slot_trial"

    @display(description=gettext_lazy("words to look for"))
    def regex_label(self, slot: WorkspaceSlot) -> str:
        return one_line(slot.regex, 60)

    def tried(self, values: Mapping[str, str]) -> tuple[list[Fault], OwnWords]:
        slot = OwnSlot("trial", values["regex"])
        wrong = [fault for fault in slot_faults(slot, [], []) if fault.field == "regex"]
        return wrong, OwnWords(slots=(slot,))

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            _("No attributes of your own yet"),
            _("Home, employer, price, deadline and many more are there without."),
        )


@admin.register(WorkspaceChange)
class WorkspaceChangeAdmin(OwnWordsAdmin):
    form = WorkspaceChangeForm
    fields = WorkspaceChangeForm.Meta.fields
    list_display = ("name", "verbs_label", "ended_label", "is_in_use", "updated_at")
    trial_name = "memories_change_trial"

    @display(description=gettext_lazy("words that end something"))
    def verbs_label(self, change: WorkspaceChange) -> str:
        return change.verbs

    @display(description=gettext_lazy("what they end"))
    def ended_label(self, change: WorkspaceChange) -> str:
        return _("whatever was said") if change.ended == "*" else change.ended

    def tried(self, values: Mapping[str, str]) -> tuple[list[Fault], OwnWords]:
        change = OwnChange("trial", values["verbs"], values["ended"] or "*")
        wrong = [fault for fault in change_faults(change, [], []) if fault.field != "examples"]
        return wrong, OwnWords(changes=(change,))

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            _("No change words of your own yet"),
            _("Sold, cancelled, quit, finished and many more are there without."),
        )


def outcome_lines(before: str, after: str, own: OwnWords) -> list[str]:
    """Return lines on what becomes of the second statement after the first, and on what was read in
    both."""
    old, new = statements.read(before, own), statements.read(after, own)
    result = statements.relation(old, new, cosine=None, threshold=1.0, words=own)
    values = [*_values("Before", old), *_values("After", new)]
    why = "" if result.kind == "different" else f" ({rule_words(result.rule)})"
    return [f"{BECOMES[result.kind]}{why}", *values]


def _values(which: str, reading: Reading) -> list[str]:
    told = [
        (" ".join(filter(None, (attribute_words(slot.name.removeprefix("own:")), slot.key))), slot)
        for slot in reading.slots
    ]
    return [f"{which}: {name} of {slot.subject or 'it'} is {slot.value}" for name, slot in told]
