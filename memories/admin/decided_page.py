"""What was decided last, by people and by machines, each to be taken back."""

from typing import Any

from django.db.models import Q
from django.utils.dateparse import parse_datetime

from memories.admin.decision_cards import decision_cards
from memories.models import Supersession
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.admin_page import AdminPage
from workspaces.adminbase.row_admin import RowAdmin
from workspaces.models import Capability

PAGE = 40
PEOPLE, KEYS = Q(decided_by__startswith="user:"), Q(decided_by__startswith="key:")
WHO = {"all": "Everybody", "me": "Me", "people": "People", "keys": "Keys", "machines": "Machines"}


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
        shown = list(rows.filter(narrow.get(who, Q())).order_by("-decided_at")[: PAGE + 1])
        return super().get_context_data(
            **kwargs,
            cases=decision_cards(shown[:PAGE]),
            who=who if who in WHO else "all",
            choices=WHO,
            before=shown[PAGE - 1].decided_at.isoformat() if len(shown) > PAGE else "",
            may_decide=self.model_admin.may(self.request, Capability.CURATE),
            here=self.request.get_full_path(),
            tab="decided",
        )
