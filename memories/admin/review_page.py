"""The review queue: what waits for a person, decided by one key each, or many at once."""

from dataclasses import asdict, dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from memories.admin.case_cards import case_cards, with_statements
from memories.admin.decision_cards import decision_cards, deed, meanwhile
from memories.admin.navigation import MOST_WAITING
from memories.models import Case, Supersession
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.list_admin import AdminPage, bounded_count, count_text
from workspaces.adminbase.row_admin import MOST_AT_ONCE, RowAdmin, Verb, back_to, refusal_text
from workspaces.auth import as_uuid
from workspaces.models import Capability

PAGE = 20
MOST_COUNTED = 999
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
    """What became of one decision; `message` is a sentence."""

    id: str
    ok: bool
    message: str
    state: str


class PendingPage(AdminPage):
    """What the pages of the queue share: the cases that wait, and their number."""

    model_admin: RowAdmin

    @property
    def pending(self) -> QuerySet[Case]:
        rows = self.access.limit(Case.objects.all(), "workspace")
        return rows.filter(state=Case.State.OPEN)

    def counts(self) -> dict[str, str]:
        count = bounded_count(self.pending, MOST_COUNTED)
        return {
            "waiting": count_text(count, MOST_COUNTED),
            "badge": count_text(count, MOST_WAITING),
        }


class ReviewPage(PendingPage):
    """Those of the highest risk first; `?after=` goes on behind a case."""

    path, name, title = "review/", "memories_review", "Review"
    template_name = "admin/memories/review.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        rows = with_statements(self.pending)
        after = as_uuid(self.request.GET.get("after", ""))
        if last := Case.objects.filter(pk=after).first() if after else None:
            rows = rows.filter(Q(rank__lt=last.rank) | Q(rank=last.rank, pk__lt=last.pk))
        shown = list(rows.order_by("-rank", "-pk")[: PAGE + 1])
        return super().get_context_data(
            **kwargs,
            cards=case_cards(shown[:PAGE]),
            waiting=self.counts()["waiting"],
            last=shown[PAGE - 1].pk if len(shown) > PAGE else "",
            may_decide=self.model_admin.may(self.request, Capability.CURATE),
            of_many=self.access.is_of_many,
        )


class PendingCountPage(PendingPage):
    """How many wait, as JSON, for pages that stay open while others decide."""

    path, name = "review/waiting/", "memories_review_waiting"

    def has_permission(self) -> bool:
        return self.model_admin.may(self.request, Capability.READ)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return JsonResponse(self.counts())


class DecidePage(PendingPage):
    """Do `verb` to each of `ids`: JSON for scripts, a page for people."""

    path, name = "review/act/", "memories_review_act"
    template_name = "admin/memories/review_sure.html"
    verb: Verb

    def has_permission(self) -> bool:
        name = self.request.POST.get("verb", "")
        verb = next((each for each in self.model_admin.verbs if each.name == name), None)
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
            return JsonResponse({"results": [asdict(each) for each in results], **self.counts()})
        done = [each for each in results if each.ok]
        left = [each for each in results if not each.ok]
        if done:
            messages.success(
                request, done[0].message if len(done) == 1 else f"{len(done)} decided."
            )
        for each in left[:5]:
            messages.warning(request, each.message)
        if len(left) > 5:
            messages.warning(request, f"{len(left)} were left as they are.")
        return redirect(back_to(request) or reverse("admin:memories_review"))

    def decide(self, asked: str) -> DecisionResult:
        """Where somebody was faster, or the row has become another one: who did what."""
        admin, request, verb = self.model_admin, self.request, self.verb
        row_id, rows = as_uuid(asked), admin.get_queryset(request)
        row = rows.filter(pk=row_id).first() if row_id else None
        if row is None or not admin.may(request, verb.capability, row):
            return DecisionResult(asked, False, "There is no such decision.", "gone")
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
