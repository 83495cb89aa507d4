"""What the inbox does when somebody decides, and what was decided last."""

from dataclasses import asdict, dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from memories.admin.decision_cards import decision_cards, deed, meanwhile
from memories.admin.inbox_page import InboxBase
from memories.events import event_log
from memories.models import Supersession
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.list_admin import AdminPage
from workspaces.adminbase.row_admin import MOST_AT_ONCE, RowAdmin, Verb, back_to, refusal_text
from workspaces.auth import as_uuid
from workspaces.models import Capability

QUESTIONS = {
    "approve": "Approve {count}: in each, the newest memory replaces the others.",
    "keep-both": "Keep all of {count}: all of these memories are believed.",
    "reject": "Reject {count}: the old memories stay, the new ones are not learned again.",
}

DECIDED_PER_PAGE = 40
PEOPLE, KEYS = Q(decided_by__startswith="user:"), Q(decided_by__startswith="key:")
WHO = {"all": "Everybody", "me": "Me", "people": "People", "keys": "Keys", "machines": "Machines"}


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """What became of one decision; `message` is a sentence, `undo` the verb that takes it back."""

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
            # Events up to this moment are no news to the page: they are of what it did, or before.
            at = event_log.clock().isoformat()
            told = [asdict(each) for each in results]
            return JsonResponse({"results": told, "at": at, **self.counts()})
        done = [each for each in results if each.ok]
        left = [each for each in results if not each.ok]
        if done:
            messages.success(
                request,
                done[0].message
                if len(done) == 1
                else gettext("%(number)s decided.") % {"number": len(done)},
            )
        for each in left[:5]:
            messages.warning(request, each.message)
        if len(left) > 5:
            messages.warning(
                request, gettext("%(number)s were left as they are.") % {"number": len(left)}
            )
        return redirect(back_to(request) or reverse("admin:memories_inbox"))

    def decide(self, asked: str) -> DecisionResult:
        """Where somebody was faster, or the row has become another one: who did what."""
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


class DecidedPage(AdminPage):
    path, name, title = "decided/", "memories_decided", "Decided"
    template_name = "admin/memories/decided.html"
    model_admin: RowAdmin

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        who = self.request.GET.get("who", "all")
        rows = self.model_admin.get_queryset(self.request)
        rows = rows.exclude(state=Supersession.State.PENDING)
        try:
            before = parse_datetime(self.request.GET.get("before", ""))
        except ValueError:  # a day that no calendar has
            before = None
        if before is not None and before.tzinfo is not None:
            rows = rows.filter(decided_at__lt=before)
        narrow = {
            "me": Q(decided_by=actor_of(self.request.user)),
            "people": PEOPLE,
            "keys": KEYS,
            "machines": ~(PEOPLE | KEYS),
        }
        shown = list(
            rows.filter(narrow.get(who, Q())).order_by("-decided_at")[: DECIDED_PER_PAGE + 1]
        )
        return super().get_context_data(
            **kwargs,
            cases=decision_cards(shown[:DECIDED_PER_PAGE]),
            who=who if who in WHO else "all",
            choices=WHO,
            before=shown[DECIDED_PER_PAGE - 1].decided_at.isoformat()
            if len(shown) > DECIDED_PER_PAGE
            else "",
            may_decide=self.model_admin.may(self.request, Capability.CURATE),
            here=self.request.get_full_path(),
        )
