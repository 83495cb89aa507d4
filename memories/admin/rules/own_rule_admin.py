"""Patterns that a workspace adds to those that ship, each with a box to try it in."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextareaWidget

from memories.admin.memory_rows import one_line
from memories.index import workspace_index
from memories.ingest.rehearse_patterns import PatternChoice, rehearse_patterns
from memories.language.english import find_claims, gatekeeper, workspace_patterns
from memories.language.english.workspace_patterns import OwnPattern, proposal
from memories.language.expressions import LONGEST_REGEX, Fault
from memories.models import Category, Miss, WorkspacePattern
from memories.reading.extraction import unmatched
from memories.settings import own_rules
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.scoped_admin import ScopedAdmin
from workspaces.auth import as_uuid
from workspaces.models import Capability
from workspaces.scope import Scope

FIELDS = (
    "workspace",
    "name",
    "category",
    "regex",
    "template",
    "confidence",
    "visibility",
    "enabled",
    "examples",
    "counter_examples",
)
LONGEST_TRIAL = 20_000  # characters
WEEK = timedelta(days=7)
SECONDS = 4.0  # of work on the rehearsal
SHOWN_CHANGES = 50
NOTHING_FOUND: dict[str, Any] = {"matches": [], "instead": []}

# Labels of the fields of own rules, in forms and in messages.
LABELS: dict[str, Any] = {
    "name": gettext_lazy("Name"),
    "category": gettext_lazy("Kind of memory"),
    "regex": gettext_lazy("Words to look for"),
    "template": gettext_lazy("What is remembered then"),
    "confidence": gettext_lazy("How sure that is"),
    "visibility": gettext_lazy("Seen by"),
    "enabled": gettext_lazy("In use"),
    "verbs": gettext_lazy("Words that end something"),
    "ended": gettext_lazy("What they end"),
    "examples": gettext_lazy("Examples"),
    "counter_examples": gettext_lazy("Counter-examples"),
    "before": gettext_lazy("Known before"),
    "after": gettext_lazy("Said now"),
    "text": gettext_lazy("What is said"),
    "speaker": gettext_lazy("Who says it"),
}
NAME_HELP = gettext_lazy("What the rule is called here: lower-case letters, digits, - and _.")
ENABLED_HELP = gettext_lazy("Off: it is kept, and nothing is read by it.")


def fault_lines(faults: Iterable[Fault]) -> list[str]:
    return [f"{LABELS.get(fault.field, fault.field)}: {fault.message}" for fault in faults]


def form_faults(form: forms.Form) -> list[str]:
    """Return the errors of a form, each with the label of its field."""
    errors = form.errors.items()
    return [f"{LABELS.get(name, name)}: {' '.join(map(str, each))}" for name, each in errors]


def lines(label: Promise, help_text: str | Promise, *, required: bool) -> SimpleArrayField:
    """Return a field for a list of texts, one on each line."""
    return SimpleArrayField(
        forms.CharField(max_length=2_000),
        delimiter="\n",
        label=label,
        help_text=help_text,
        required=required,
        widget=UnfoldAdminTextareaWidget,
    )


class PatternForm(forms.ModelForm):
    examples = lines(
        gettext_lazy("Examples"),
        gettext_lazy("Sentences that it must match, one in a line."),
        required=True,
    )
    counter_examples = lines(
        gettext_lazy("Counter-examples"),
        gettext_lazy("Sentences that it must not match, one in a line."),
        required=False,
    )

    class Meta:
        model = WorkspacePattern
        fields = FIELDS
        labels = LABELS
        # Help texts are shown as HTML, which would swallow the name of a part.
        help_texts: ClassVar[dict[str, Any]] = {
            "name": NAME_HELP,
            "category": gettext_lazy("What sort of thing is remembered by it."),
            "regex": escape(
                gettext_lazy(
                    "Plain words are found as they stand, whatever their case: deploys with."
                    r" A part that differs is written (?P<tool>\w+): any word, called tool."
                    " a|b is one or the other, s? an s that may be missing (the syntax is RE2's)."
                )
            ),
            "template": gettext_lazy(
                "The statement, with {speaker} for who said it, and the parts by their names:"
                " {speaker} deploys with {tool}. Empty: the whole sentence, told of the speaker."
            ),
            "confidence": gettext_lazy("From 0, a guess, to 1, certain."),
            "visibility": gettext_lazy(
                "private: its own agent and person; team: agents of the team; global: everybody."
                " Empty: as it is usual for its kind."
            ),
            "enabled": ENABLED_HELP,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("regex", "examples", "counter_examples"):
            if name in self.fields:
                self.fields[name].widget.attrs["rows"] = 3


class PatternTrialForm(forms.Form):
    """A pattern to try before it is saved."""

    regex = forms.CharField(max_length=LONGEST_REGEX)
    template = forms.CharField(max_length=500, required=False)
    category = forms.ChoiceField(choices=Category.choices)
    text = forms.CharField(max_length=LONGEST_TRIAL)
    speaker = forms.CharField(max_length=255, required=False)


class OwnRuleAdmin(ScopedAdmin):
    """A workspace's own rules. The audit log keeps their text, so that changes can be undone.
    `rehearse` shows what the rule in the form would change, before it is saved."""

    @display(description=gettext_lazy("in use"))
    def is_in_use(self, row: Any) -> str:
        return _("yes") if row.enabled else _("no")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.rehearsal_view)
        name = f"memories_{self.opts.model_name}_rehearsal"
        return [path("rehearsal/", view, name=name), *super().get_urls()]

    def rehearsal_view(self, request: HttpRequest) -> HttpResponse:
        """Answer, as JSON, how the last week would have differed under the form as it is filled;
        nothing is stored."""
        if request.method != "POST":
            raise PermissionDenied
        access, pk = access_of(request), as_uuid(request.POST.get("pk", ""))
        known = self.get_queryset(request).filter(pk=pk).first() if pk else None
        asked = known.workspace_id if known else as_uuid(request.POST.get("workspace", ""))
        home = access.workspaces(self.write_capability).filter(pk=asked).first() if asked else None
        if home is None:
            raise PermissionDenied
        faults, proposed = self.proposed(request.POST)
        if faults:
            return JsonResponse({"faults": faults, "told": "", "lines": []})
        is_on = request.POST.get("enabled", "true") == "true"
        told, changes = self.rehearse(access.scope(home.pk), known, proposed if is_on else None)
        more = len(changes) - SHOWN_CHANGES
        rows = [*changes[:SHOWN_CHANGES], *([f"… {more}"] if more > 0 else [])]
        return JsonResponse({"faults": [], "told": told, "lines": rows})

    def proposed(self, values: QueryDict) -> tuple[list[str], Any]:
        """Return the errors in the rule that a form holds, and the rule."""
        raise NotImplementedError

    def rehearse(self, scope: Scope, known: Any, proposed: Any) -> tuple[str, list[str]]:
        """Return what would have differed with `proposed` in place of `known`, in words: the sum,
        and each change."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        known = type(obj).objects.get(pk=obj.pk) if change else None
        obj.known_values = own_rules.values_of(known) if known else {}
        super().save_model(request, obj, form, change)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> None:
        now = own_rules.values_of(obj)
        known = {name: each for name, each in obj.known_values.items() if each != now[name]}
        if known:
            after = {name: now[name] for name in known}
            self.audit(request, "change", obj, before=known, after=after)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.audit(request, "delete", row, before=own_rules.values_of(row))


@admin.register(WorkspacePattern)
class WorkspacePatternAdmin(OwnRuleAdmin):
    form = PatternForm
    write_capability = Capability.CURATE
    can_delete = True
    list_display = ("name", "category", "regex_label", "is_in_use", "updated_at")
    list_filter = (("category", ChoicesDropdownFilter),)
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    fields = FIELDS
    change_form_after_template = "admin/memories/pattern_trial.html"

    class Media:
        js = ("memoryproject/pattern_trial.js", "memoryproject/rehearsal.js")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.trial_view)
        return [path("trial/", view, name="memories_pattern_trial"), *super().get_urls()]

    def proposed(self, values: QueryDict) -> tuple[list[str], OwnPattern]:
        name = values.get("name", "") or "trial"
        category = values.get("category", "")
        pattern = OwnPattern(name, category, values.get("regex", ""), values.get("template", ""))
        wrong = workspace_patterns.faults(pattern, ["-"], [])
        faults = fault_lines(fault for fault in wrong if fault.field != "examples")
        return faults + ([] if category in Category else [_("Choose a kind of memory.")]), pattern

    def rehearse(self, scope: Scope, known: Any, proposed: Any) -> tuple[str, list[str]]:
        index = workspace_index.index_of(scope.workspace_id)
        in_use = WorkspacePattern.objects.in_use(scope.workspace_id)
        own = [each for each in in_use if known is None or each.name != known.name]
        other = sorted([*own, *([proposed] if proposed else [])], key=lambda each: each.name)
        found = rehearse_patterns(
            scope,
            PatternChoice(in_use, index.patterns_off),
            PatternChoice(tuple(other), index.patterns_off),
            timezone.now() - WEEK,
            seconds=SECONDS,
        )
        numbers = {"made": len(found.made), "lost": len(found.lost), "read": found.read}
        told = _("%(made)d made, %(lost)d lost, of the %(read)d newest messages of the last 7 days")
        lost = [_("lost: %(text)s") % {"text": each.statement} for each in found.lost]
        return told % numbers, [*lost, *(_("made: %(text)s") % {"text": each.statement} for each in found.made)]

    @display(description=gettext_lazy("words to look for"))
    def regex_label(self, pattern: WorkspacePattern) -> str:
        return one_line(pattern.regex, 60)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Return what a miss suggests, where one is named: its frame, and parts for what varies in
        it."""
        initial: dict[str, Any] = dict(super().get_changeform_initial_data(request))
        initial.pop("miss", None)
        miss = _miss_of(request)
        if miss is None:
            own_workspaces = list(access_of(request).workspaces(self.write_capability)[:2])
            return initial | ({"workspace": own_workspaces[0]} if len(own_workspaces) == 1 else {})
        likely = proposal(miss.text, miss.statements)
        return initial | {
            "workspace": miss.workspace_id,
            "category": miss.category,
            "regex": likely.regex,
            "template": likely.template,
            "examples": [one_line(likely.sentence, 2_000)],
        }

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        miss = None if change else _miss_of(request)
        if miss is not None and miss.workspace_id == obj.workspace_id:
            scope = access_of(request).scope(miss.workspace_id)
            others = unmatched.settle_found(scope, obj, miss)
            if others:
                messages.info(
                    request,
                    _("%(others)s more of the kind are found by it and settled.") % {"others": others},
                )

    def trial_view(self, request: HttpRequest) -> HttpResponse:
        """Answer what a pattern finds in a text, as JSON; nothing is stored."""
        if request.method != "POST" or not self.may(request, self.write_capability):
            raise PermissionDenied
        form = PatternTrialForm(request.POST)
        if not form.is_valid():
            return JsonResponse({"faults": form_faults(form), **NOTHING_FOUND})
        values = form.cleaned_data
        pattern = OwnPattern("trial", values["category"], values["regex"], values["template"])
        text = values["text"]
        wrong = workspace_patterns.faults(pattern, [text], [])
        if faults := fault_lines(fault for fault in wrong if fault.field != "examples"):
            return JsonResponse({"faults": faults, **NOTHING_FOUND})
        read = (text, values["speaker"], timezone.now())
        hits = workspace_patterns.find(pattern, *read)
        passed_over = gatekeeper.verdict(text, "user", "message")
        if hits and passed_over.skip:
            faults = [f"Such a message is not read: {passed_over.reason}."]
            return JsonResponse({"faults": faults, **NOTHING_FOUND})
        library = find_claims.extract(*read)
        left = workspace_patterns.with_library(library, [pattern], *read) if hits else library
        found = {
            "faults": [],
            "matches": [{"quote": text[h.start : h.end], "statement": h.statement} for h in hits],
            "instead": [hit.statement for hit in library if hit not in left],
        }
        return JsonResponse(found)

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            _("No patterns of your own yet"),
            _("The library is always there. What it misses waits under Not understood."),
        )


def _miss_of(request: HttpRequest) -> Miss | None:
    """Return the miss in the address, if it is of a workspace where the person may curate."""
    asked = as_uuid(request.GET.get("miss", ""))
    rows = access_of(request).limit(Miss.objects.all(), "workspace", Capability.CURATE)
    return rows.filter(pk=asked).first() if asked else None


# Slots and words of change that a workspace adds, with a box to try them on two statements.
