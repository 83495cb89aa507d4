"""The review queue: what waits for a person, decided by one key each, or many at once."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from memories.admin.cases import cases, deed, meanwhile
from memories.admin.navigation import MOST_WAITING
from memories.models import Supersession
from workspaces.adminbase.access import access_of
from workspaces.adminbase.counting import bounded_count, told
from workspaces.adminbase.pages import MOST_AT_ONCE, Verb, back_to
from workspaces.adminbase.pages import told as refusal_told
from workspaces.auth import as_uuid
from workspaces.models import Capability

PAGE = 20
MOST_COUNTED = 999
QUESTIONS = {
    "approve": "Approve {count}: each new memory replaces its old one.",
    "keep-both": "Keep both of {count}: all of these memories are believed.",
    "reject": "Reject {count}: the old memories stay, the new ones are not learned again.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one decision; `told` is a sentence."""

    id: str
    ok: bool
    told: str
    state: str

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "ok": self.ok, "told": self.told, "state": self.state}


class ReviewPage:
    """Mixin of the admin of supersessions: adds `review/`, `review/act/`, `review/waiting/`."""

    admin_site: Any
    opts: Any
    verbs: tuple[Verb, ...]
    may: Any
    act: Any
    offers: Any
    all_refusals: Any
    get_queryset: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("review/", view(self.review_view), name="memories_review"),
            path("review/waiting/", view(self.waiting_view), name="memories_review_waiting"),
            path("review/act/", view(self.review_act_view), name="memories_review_act"),
        ]
        return [*own, *super().get_urls()]  # type: ignore[misc]

    def review_view(self, request: HttpRequest) -> HttpResponse:
        """The oldest first; `?after=` goes on behind a decision."""
        waiting = self.waiting(request)
        after = as_uuid(request.GET.get("after", ""))
        rows = waiting.filter(pk__gt=after) if after else waiting
        found = list(rows.order_by("pk")[: PAGE + 1])
        count = bounded_count(waiting, MOST_COUNTED)
        context = {
            **self.admin_site.each_context(request),
            "title": "Review",
            "cases": cases(found[:PAGE]),
            "waiting": told(count, MOST_COUNTED),
            "last": found[PAGE - 1].pk if len(found) > PAGE else "",
            "may_decide": self.may(request, Capability.CURATE),
            "of_many": access_of(request).is_of_many,
            "tab": "review",
        }
        return TemplateResponse(request, "admin/memories/review.html", context)

    def waiting(self, request: HttpRequest) -> Any:
        rows = self.get_queryset(request).filter(state=Supersession.State.PENDING)
        return rows.select_related("new__subject", "new__agent")

    def review_act_view(self, request: HttpRequest) -> HttpResponseBase:
        """Do `verb` to each of `ids`: JSON for scripts, a page for people."""
        name = request.POST.get("verb", "")
        verb = next((each for each in self.verbs if each.name == name), None)
        if request.method != "POST" or verb is None or not self.may(request, verb.capability):
            raise PermissionDenied
        ids = list(dict.fromkeys(request.POST.getlist("ids")))[:MOST_AT_ONCE]
        wants_json = request.headers.get("Accept") == "application/json"
        if len(ids) > 1 and not (wants_json or request.POST.get("confirmed")):
            return self._question(request, verb, ids)
        outcomes = [self._decide(request, verb, each) for each in ids]
        if wants_json:
            results = [each.as_json() for each in outcomes]
            return JsonResponse({"results": results, **self._counts(request)})
        _tell(request, outcomes)
        return redirect(back_to(request) or reverse("admin:memories_review"))

    def waiting_view(self, request: HttpRequest) -> HttpResponseBase:
        """How many wait, for pages that stay open while others decide."""
        if not self.may(request, Capability.READ):
            raise PermissionDenied
        return JsonResponse(self._counts(request))

    def _counts(self, request: HttpRequest) -> dict[str, str]:
        count = bounded_count(self.waiting(request), MOST_COUNTED)
        return {"waiting": told(count, MOST_COUNTED), "badge": told(count, MOST_WAITING)}

    def _question(self, request: HttpRequest, verb: Verb, ids: list[str]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": verb.label,
            "verb": verb,
            "ids": ids,
            "question": QUESTIONS.get(verb.name, "{count}").format(count=len(ids)),
            "back": back_to(request),
        }
        return TemplateResponse(request, "admin/memories/review_sure.html", context)

    def _decide(self, request: HttpRequest, verb: Verb, wanted: str) -> Outcome:
        row_id = as_uuid(wanted)
        row = self.get_queryset(request).filter(pk=row_id).first() if row_id else None
        if row is None or not self.may(request, verb.capability, row):
            return Outcome(wanted, False, "There is no such decision.", "gone")
        if not self.offers(row, verb):
            return Outcome(wanted, False, meanwhile(row), row.state)
        try:
            sentence = self.act(request, row, verb, request.POST)
        except self.all_refusals as refusal:
            return self._too_late(request, row, refusal)
        row = self.get_queryset(request).get(pk=row.pk)
        return Outcome(wanted, True, sentence, row.state)

    def _too_late(self, request: HttpRequest, row: Any, refusal: Exception) -> Outcome:
        """Somebody was faster, or the row has become another one: who did what is told."""
        now = self.get_queryset(request).get(pk=row.pk)
        changed = deed(now) != deed(row) or now.state != row.state
        sentence = meanwhile(now) if changed else refusal_told(refusal)
        return Outcome(str(row.pk), False, sentence, now.state)


def _tell(request: HttpRequest, outcomes: list[Outcome]) -> None:
    done = [each for each in outcomes if each.ok]
    left = [each for each in outcomes if not each.ok]
    if len(done) == 1:
        messages.success(request, done[0].told)
    elif done:
        messages.success(request, f"{len(done)} decided.")
    for each in left[:5]:
        messages.warning(request, each.told)
    if len(left) > 5:
        messages.warning(request, f"{len(left)} were left as they are.")
