"""A row as a page to read, with buttons for the verbs that its state and the person's role
allow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy

from workspaces.adminbase.access import look_at, workspace_id_of
from workspaces.adminbase.list_admin import display
from workspaces.adminbase.scoped_admin import ScopedAdmin
from workspaces.adminbase.target_names import names_of
from workspaces.models import Capability

MOST_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Verb:
    """A button: `question` is asked before the verb runs, with the fields of `form`.

    With `bulk` it can be applied to several rows of the list at once, its fields left empty; with
    `bulk_form` these are filled in once for all rows, on a page that lists them.
    """

    name: str
    label: str | Promise
    icon: str = ""
    look: str = "default"
    question: str | Promise = ""
    form: type[forms.Form] | None = None
    capability: str = Capability.CURATE
    bulk: bool = False
    bulk_form: type[forms.Form] | None = None


@dataclass(frozen=True, slots=True)
class Button:
    """A verb as a page offers it."""

    verb: Verb
    url: str
    form: forms.Form | None
    key: str

    @property
    def variant(self) -> str:
        """A dangerous button is loud only where it is confirmed."""
        return "default" if self.verb.look == "danger" else self.verb.look

    @property
    def tone(self) -> str:
        return "desk-danger" if self.verb.look == "danger" else ""

    @property
    def opener(self) -> str:
        return format_html('type="button" data-opens="ask-{}"', self.key)


class RowAdmin(ScopedAdmin):
    """Rows that no form changes here: each change is a verb, by POST to `<id>/do/<verb>/`.

    The method `do_pin(request, row, values)` carries out the verb `pin` and returns the message for
    the person. `refusals` are the errors by which verbs say no, with the reason in their text.
    """

    verbs: tuple[Verb, ...] = ()
    page_template = ""
    refusals: tuple[type[Exception], ...] = ()
    can_add = False
    sortable_by: tuple[str, ...] = ()
    actor_field = ""  # the field of a row with the actor, whom the column `by` names

    @display(description=gettext_lazy("by"))
    def by(self, row: Any) -> str:
        return getattr(row, "by_name", getattr(row, self.actor_field))

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        if self.actor_field:
            actors = [getattr(row, self.actor_field) for row in rows]
            names = names_of(actors)
            for row, actor in zip(rows, actors, strict=True):
                row.by_name = names.get(actor, actor)

    @property
    def all_refusals(self) -> tuple[type[Exception], ...]:
        return (forms.ValidationError, *self.refusals)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        names = f"{self.opts.app_label}_{self.opts.model_name}_do"
        view = self.admin_site.admin_view(self.do_view)
        own = path("<path:object_id>/do/<slug:name>/", view, name=names)
        return [own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        look_at(request, workspace_id_of(row))
        request.current_app = self.admin_site.name
        context = {
            **self.admin_site.each_context(request),
            "title": str(row),
            "opts": self.opts,
            "row": row,
            "original": row,
            "list_url": self.list_url(),
            "buttons": self.buttons(request, row),
            **self.page(request, row),
        }
        return TemplateResponse(request, self.page_template, context)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what the page's template needs beside `row`."""
        return {}

    def offers(self, row: Any, verb: Verb) -> bool:
        """Tell whether the state of `row` allows the verb; the role is checked elsewhere."""
        return True

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        allowed = [v for v in self.verbs if self.may(request, v.capability, row)]
        return [self.button(row, verb) for verb in allowed if self.offers(row, verb)]

    def button(self, row: Any, verb: Verb) -> Button:
        names = f"{self.opts.app_label}_{self.opts.model_name}_do"
        url = reverse(f"{self.admin_site.name}:{names}", args=[row.pk, verb.name])
        key = f"{verb.name}-{row.pk}"
        return Button(verb, url, self.form_for(verb, row, None, prefix=key), key)

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        return None if verb.form is None else verb.form(data, auto_id=f"{prefix}-%s")

    def require_add(self, request: HttpRequest) -> None:
        if not self.has_add_permission(request):
            raise PermissionDenied

    def form_page(
        self,
        request: HttpRequest,
        form: forms.Form | None,
        *,
        title: str,
        submit: str,
        back: str = "",
        action: str = "",
        return_to: str = "",
    ) -> TemplateResponse:
        """Return a page for a form without a model; `back` is where Cancel leads."""
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "form": form,
            "submit_label": submit,
            "list_url": back or self.list_url(),
            "action": action,
            "back": return_to,
        }
        return TemplateResponse(request, "admin/form_page.html", context)

    def list_url(self) -> str:
        names = f"{self.opts.app_label}_{self.opts.model_name}_changelist"
        return reverse(f"{self.admin_site.name}:{names}")

    def do_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        verb = next((each for each in self.verbs if each.name == name), None)
        if verb is None or not self.may(request, verb.capability, row):
            raise PermissionDenied
        if request.method != "POST":
            return redirect(self.page_of(row))
        is_done = self.do(request, row, verb)
        back, now = back_to(request), self.get_object(request, unquote(object_id))
        if now is None:
            return redirect(back or self.list_url())
        if back == self.page_of(now):
            back = ""
        now = self.landing(now, verb)
        if not is_done and verb.form is not None and self.offers(now, verb):
            # After a refusal, the input, to be corrected and sent again.
            button = self.button(now, verb)
            again = self.sent_again(now, request.POST)
            form = self.form_for(verb, now, again, prefix=button.key)
            return self.form_page(
                request,
                form,
                title=f"{verb.label}: {now}",
                submit=str(verb.label),
                back=back or self.page_of(now),
                action=button.url,
                return_to=back,
            )
        return redirect(back or self.page_of(now))

    def landing(self, row: Any, verb: Verb) -> Any:
        """Return the row whose page follows `verb`, and on which a refused verb is tried again."""
        return row

    def sent_again(self, row: Any, data: QueryDict) -> QueryDict:
        """Return the input that was refused, for another try on the row as it is now."""
        return data

    def do(self, request: HttpRequest, row: Any, verb: Verb) -> bool:
        """Carry out the verb and tell the person the result; return whether it succeeded."""
        try:
            messages.success(request, self.act(request, row, verb, request.POST))
        except self.all_refusals as refusal:
            messages.error(request, refusal_text(refusal))
            return False
        return True

    def act(self, request: HttpRequest, row: Any, verb: Verb, data: Any) -> str:
        """Carry out the verb. Raises ValidationError where the form is not filled well, or a
        refusal."""
        form = self.form_for(verb, row, data, prefix=verb.name)
        if form is not None and not form.is_valid():
            raise forms.ValidationError([f"{name}: {' '.join(map(str, e))}" for name, e in form.errors.items()])
        method = getattr(self, f"do_{verb.name.replace('-', '_')}")
        return method(request, row, form.cleaned_data if form else {})

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        several = [v for v in self.verbs if v.bulk and self.may(request, v.capability)]
        return {v.name: (self._on_several(v), v.name, v.label) for v in several}

    def _on_several(self, verb: Verb) -> Callable[[Any, HttpRequest, Any], HttpResponse | None]:
        def on_several(admin: Any, request: HttpRequest, rows: Any) -> HttpResponse | None:
            chosen = list(rows[:MOST_AT_ONCE])
            form: forms.Form | None = None
            if verb.bulk_form is not None:
                form = verb.bulk_form(request.POST if "confirmed" in request.POST else None)
                if not form.is_valid():
                    return self._ask_for_several(request, verb, chosen, form)
            allowed = [r for r in chosen if self.may(request, verb.capability, r)]
            refused = []
            for row in allowed:
                try:
                    if not self.offers(row, verb):
                        raise forms.ValidationError(gettext("%(row)s: its state does not allow it") % {"row": row})
                    self.act(request, row, verb, {} if form is None else form.data)
                except self.all_refusals as refusal:
                    refused.append(refusal_text(refusal))
            done = len(allowed) - len(refused)
            if done:
                messages.success(
                    request,
                    gettext("%(label)s: %(done)s of %(number)s done.")
                    % {"label": verb.label, "done": done, "number": len(chosen)},
                )
            if done < len(chosen):
                why = f" {refused[0]}" if refused else ""
                left = len(chosen) - done
                messages.warning(
                    request,
                    gettext("%(label)s: %(left)s left as they were.%(why)s")
                    % {"label": verb.label, "left": left, "why": why},
                )
            return None

        return on_several

    def _ask_for_several(
        self, request: HttpRequest, verb: Verb, chosen: list[Any], form: forms.Form
    ) -> TemplateResponse:
        """Ask before a verb on several rows. The form goes to the filtered list, which looks them
        up again."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("%(label)s: %(number)s chosen") % {"label": verb.label, "number": len(chosen)},
            "opts": self.opts,
            "form": form,
            "submit_label": verb.label,
            "is_danger": verb.look == "danger",
            "question": verb.question,
            "list_url": request.get_full_path(),
            "action": request.get_full_path(),
            "verb": verb.name,
            "chosen": chosen,
        }
        return TemplateResponse(request, "admin/form_page.html", context)


def refusal_text(refusal: Exception) -> str:
    """Return the reason for a refusal, as a sentence."""
    if isinstance(refusal, forms.ValidationError):
        return "; ".join(refusal.messages)
    return getattr(refusal, "message", "") or str(refusal)


def back_to(request: HttpRequest) -> str:
    """The page that a form asked to return to, if it is one of ours."""
    asked = request.POST.get("back", "")
    return asked if asked.startswith(f"{reverse('admin:index')}") else ""
