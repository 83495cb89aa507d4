"""What was decided last, by people and by machines, each to be taken back."""

from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.dateparse import parse_datetime

from memories.admin.cases import cases
from memories.models import Supersession
from workspaces.adminbase.access import actor_of
from workspaces.models import Capability

PAGE = 40
PEOPLE, KEYS = Q(decided_by__startswith="user:"), Q(decided_by__startswith="key:")
WHO = {"all": "Everybody", "me": "Me", "people": "People", "keys": "Keys", "machines": "Machines"}


class DecidedPage:
    """Mixin of the admin of supersessions: adds `decided/`."""

    admin_site: Any
    opts: Any
    may: Any
    get_queryset: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decided_view)
        return [path("decided/", view, name="memories_decided"), *super().get_urls()]  # type: ignore[misc]

    def decided_view(self, request: HttpRequest) -> HttpResponse:
        who = request.GET.get("who", "all")
        rows = self.get_queryset(request).exclude(state=Supersession.State.PENDING)
        if (before := _instant(request)) is not None:
            rows = rows.filter(decided_at__lt=before)
        narrow = {
            "me": Q(decided_by=actor_of(request.user)),
            "people": PEOPLE,
            "keys": KEYS,
            "machines": ~(PEOPLE | KEYS),
        }
        found = list(rows.filter(narrow.get(who, Q())).order_by("-decided_at")[: PAGE + 1])
        context = {
            **self.admin_site.each_context(request),
            "title": "Decided",
            "cases": cases(found[:PAGE]),
            "who": who if who in WHO else "all",
            "choices": WHO,
            "before": found[PAGE - 1].decided_at.isoformat() if len(found) > PAGE else "",
            "may_decide": self.may(request, Capability.CURATE),
            "here": request.get_full_path(),
            "tab": "decided",
        }
        return TemplateResponse(request, "admin/memories/decided.html", context)


def _instant(request: HttpRequest) -> datetime | None:
    try:
        found = parse_datetime(request.GET.get("before", ""))
    except ValueError:  # a day that no calendar has
        return None
    return found if found and found.tzinfo else None
