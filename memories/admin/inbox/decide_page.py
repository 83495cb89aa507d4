"""The page behind a decision's button: it decides, and tells what changed."""

from dataclasses import asdict, dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from memories.admin.cases.case_cards import deed, meanwhile
from memories.admin.inbox.inbox_page import InboxBase
from memories.events import read_events
from workspaces.adminbase.row_admin import MOST_AT_ONCE, Verb, back_to, refusal_text
from workspaces.auth import as_uuid

# Decisions made in the inbox.

QUESTIONS = {
    "approve": "In each of {count} the newest memory replaces the others.",
    "keep-both": "All memories of {count} are believed.",
    "reject": "In each of {count} the old memories stay, the new ones are not learned again.",
}


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The result of one decision; `message` is a sentence, `undo` the verb that takes it back."""

    id: str
    ok: bool
    message: str
    state: str
    undo: str = "undo"


class DecidePage(InboxBase):
    """Do `verb` to each of `ids`: JSON for scripts, a page for people."""

    path, name = "review/act/", "memories_review_act"
    template_name = "admin/memories/review_sure.html"
    more_verbs: tuple[Verb, ...] = ()
    verb: Verb

    def has_permission(self) -> bool:
        name = self.request.POST.get("verb", "")
        verbs = (*self.model_admin.verbs, *self.more_verbs)
        verb = next((each for each in verbs if each.name == name), None)
        if verb is None or not self.is_sent:
            return False
        self.verb = verb
        return self.model_admin.may(self.request, verb.capability)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        ids = list(dict.fromkeys(request.POST.getlist("ids")))[:MOST_AT_ONCE]
        wants_json = request.headers.get("Accept") == "application/json"
        if len(ids) > 1 and not (wants_json or request.POST.get("confirmed")):
            question = QUESTIONS.get(self.verb.name, "{count}").format(count=len(ids))
            self.title = self.verb.label
            act = reverse(f"admin:{self.name}")
            context = {"verb": self.verb, "ids": ids, "question": question, "act": act}
            return self.render_to_response(self.get_context_data(**context, back=back_to(request)))
        results = [self.decide(each) for each in ids]
        if wants_json:
            # Events up to this moment are no news to the page: it caused them, or they are older.
            at = read_events.clock().isoformat()
            told = [asdict(each) for each in results]
            return JsonResponse({"results": told, "at": at, **self.counts_of_day()})
        done = [each for each in results if each.ok]
        left = [each for each in results if not each.ok]
        if done:
            messages.success(
                request,
                done[0].message if len(done) == 1 else gettext("%(number)s decided.") % {"number": len(done)},
            )
        for each in left[:5]:
            messages.warning(request, each.message)
        if len(left) > 5:
            messages.warning(request, gettext("%(number)s were left as they are.") % {"number": len(left)})
        return redirect(back_to(request) or reverse("admin:memories_inbox"))

    def decide(self, asked: str) -> DecisionResult:
        """Decide one row. Where somebody was faster, or the row has changed, say who did what."""
        admin, request, verb = self.model_admin, self.request, self.verb
        row_id, rows = as_uuid(asked), admin.get_queryset(request)
        row = rows.filter(pk=row_id).first() if row_id else None
        if row is None or not admin.may(request, verb.capability, row):
            return DecisionResult(asked, False, gettext("There is no such decision."), "gone")
        if not admin.offers(row, verb):
            return DecisionResult(asked, False, meanwhile(row), row.state)
        try:
            sentence = admin.act(request, row, verb, request.POST)
        except admin.all_refusals as refusal:
            now = rows.get(pk=row.pk)
            is_changed = deed(now) != deed(row) or now.state != row.state
            sentence = meanwhile(now) if is_changed else refusal_text(refusal)
            return DecisionResult(str(row.pk), False, sentence, now.state)
        return DecisionResult(asked, True, sentence, rows.get(pk=row.pk).state)
