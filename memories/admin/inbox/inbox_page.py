"""The inbox as a page: what waits for a person, by risk, person or document, with a key or two for
each."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from memories.admin.cases.case_cards import CaseCard, case_cards, with_statements
from memories.admin.navigation import MOST_WAITING, waiting
from memories.belief import cases
from memories.belief.cases.inbox import KINDS, FailedRow, InboxFilter, documents_of, kind_of, mark_of
from memories.belief.cases.inbox import waiting as waiting_rows
from memories.events import read_events
from memories.models import Case, Document, Episode, Revision
from workspaces.adminbase.access import Access, actor_of
from workspaces.adminbase.list_admin import AdminPage, bounded_counts, count_text
from workspaces.adminbase.row_admin import RowAdmin
from workspaces.adminbase.target_names import names_of
from workspaces.auth import as_uuid
from workspaces.models import Capability, Membership, Subject, User

PAGE = 20
MOST_COUNTED = 999
MOST_GROUPED = 500  # the most pressing entries, which are put into groups
MOST_MEMBERS = 50
MORNING = 9  # the hour at which entries that were put off come back
REST = ((1, "Tomorrow"), (3, "In three days"), (7, "In a week"), (30, "In a month"))
MOST_STREAMS = 3  # workspaces whose events a page receives
KIND_WORDS = {
    "contradiction": "Contradictions",
    "held": "Held back",
    "uncertain": "Uncertain",
    "quarantine": "In quarantine",
    "intent": "Asked for",
    "session": "Failed conversations",
    "document": "Failed documents",
    "question": "Known answers lost",
}
WAYS = {"risk": "By risk", "person": "By person", "document": "By document"}
WHOSE = {"open": "Mine and nobody's", "me": "Mine", "free": "Nobody's", "all": "Everybody's"}
FAILURES = {
    "session": ("sms_failed", "Failed conversation"),
    "document": ("scan_delete", "Failed document"),
    "question": ("search_off", "Known answer lost"),
}


@dataclass(frozen=True, slots=True)
class FailureCard:
    """A failure as the page shows it; `text` is what it is about, `why` what went wrong."""

    row: FailedRow
    text: str
    why: str
    url: str
    since: datetime

    @property
    def kind(self) -> str:
        return kind_of(self.row)

    @property
    def key(self) -> str:
        """The key by which the page acts on the failure."""
        return f"{self.kind}:{self.row.pk}"

    @property
    def icon(self) -> str:
        return FAILURES[self.kind][0]

    @property
    def label(self) -> str:
        return FAILURES[self.kind][1]

    @property
    def assignee(self) -> Membership | None:
        mark = mark_of(self.row)
        return mark.assignee if mark else None

    @property
    def may_retry(self) -> bool:
        return self.kind != "question"

    @property
    def waited(self) -> str:
        return ago(self.since)


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """One entry of the page: a case or a failure. `group` is its person or document. `count` is how
    many of the group wait, on the first of them on the page."""

    card: CaseCard | None
    failure: FailureCard | None
    group: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class InboxAsked:
    """The choices in the page's address; invalid ones are ignored."""

    kind: str
    who: str
    by: str
    user: str
    document: uuid.UUID | None
    is_snoozed: bool
    offset: int

    @property
    def is_narrow(self) -> bool:
        """Tell whether filters are set with which an empty list says little about what waits."""
        return bool(self.kind or self.user or self.document or self.is_snoozed)

    @classmethod
    def of(cls, request: HttpRequest) -> "InboxAsked":
        asked = request.GET
        kind, by, who = (asked.get(name, "") for name in ("kind", "by", "who"))
        offset = asked.get("offset", "")
        return cls(
            kind if kind in KINDS else "",
            who if who in WHOSE or as_uuid(who) else "open",
            by if by in WAYS else "risk",
            asked.get("user", "").replace("\0", ""),
            as_uuid(asked.get("document", "")),
            asked.get("state") == "snoozed",
            min(int(offset), MOST_GROUPED) if offset.isascii() and offset.isdecimal() else 0,
        )

    def filter(self, mine: frozenset[uuid.UUID]) -> InboxFilter:
        chosen = as_uuid(self.who) if self.who not in WHOSE else None
        own = mine if self.who in ("open", "me") else frozenset([chosen] if chosen else [])
        if self.who == "me" and not own:  # an administrator of the server, who is no member
            own = frozenset([uuid.UUID(int=0)])
        return InboxFilter(
            frozenset([self.kind] if self.kind else []),
            user_id=self.user or None,
            document_id=self.document,
            assignees=own,
            is_free=self.who in ("open", "free"),
            is_snoozed=self.is_snoozed,
        )


class InboxBase(AdminPage):
    """The common part of the page and of its count."""

    model_admin: RowAdmin

    def limit(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return self.access.limit(rows, "workspace")

    @property
    def user_id(self) -> uuid.UUID:
        user = self.request.user
        assert isinstance(user, User)
        return user.pk

    @cached_property
    def asked(self) -> InboxAsked:
        return InboxAsked.of(self.request)

    @cached_property
    def members(self) -> list[Membership]:
        """The members who may be given something: all who may curate, the person first."""
        rows = self.access.limit(Membership.objects.all(), "workspace").exclude(role="viewer")
        rows = rows.select_related("user").order_by("user__username")[:MOST_MEMBERS]
        return sorted(rows, key=lambda each: each.user_id != self.user_id)

    @cached_property
    def wanted(self) -> InboxFilter:
        own = Membership.objects.filter(user_id=self.user_id)
        return self.asked.filter(frozenset(own.values_list("pk", flat=True)))

    def counts(self) -> dict[str, str]:
        """Count the entries that wait under the filters, and those for the side bar."""
        counted = bounded_counts(*waiting_rows(self.limit, self.wanted).values(), most=MOST_COUNTED)
        now = waiting(self.request)
        return {
            "waiting": count_text(sum(counted), MOST_COUNTED),
            "badge": count_text(now.inbox, MOST_WAITING),
        }

    def today(self) -> "Today":
        midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        return Today.of(self.access, self.request, midnight)

    def counts_of_day(self) -> dict[str, str]:
        """Return the counts, and the day in a sentence, for an open page."""
        words = render_to_string("admin/memories/inbox_today.html", {"today": self.today()})
        return self.counts() | {"today": " ".join(words.split())}


class InboxPage(InboxBase):
    """The inbox, the most pressing first; `?offset=` skips entries that are on earlier pages."""

    path, name, title = "inbox/", "memories_inbox", "Inbox"
    template_name = "admin/memories/review.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked = self.asked
        # Read before the rows, so that the page receives events that come while it is on its way.
        read_so_far = urlencode({"lastEventId": str(read_events.newest())})
        entries, more = self.entries()
        counts = self.counts()
        return super().get_context_data(
            **kwargs,
            entries=entries,
            waiting=counts["waiting"],
            next_offset=asked.offset + PAGE if more else 0,
            next_url=self.address(offset=str(asked.offset + PAGE)),
            rests=REST,
            asked=asked,
            filters=self.filters(),
            members=[
                {
                    "id": str(each.pk),
                    "name": str(each.user),
                    "workspace": str(each.workspace_id),
                    "isMe": each.user_id == self.user_id,
                }
                for each in self.members
            ],
            streams=[
                f"{get_script_prefix()}api/v1/workspaces/{slug}/events?{read_so_far}"
                for slug in list(self.access.slugs.values())[:MOST_STREAMS]
            ],
            today=self.today(),
            may_decide=self.model_admin.may(self.request, Capability.CURATE),
            of_many=self.access.is_of_many,
        )

    def entries(self) -> tuple[list[InboxEntry], bool]:
        """Return the entries of the page in their order, and whether there are more."""
        asked, rows = self.asked, cases.inbox(self.limit, self.wanted)
        if asked.by == "risk":
            found = rows[asked.offset : asked.offset + PAGE + 1]
            return shown(found[:PAGE]), len(found) > PAGE
        groups = grouped(rows[:MOST_GROUPED], asked.by)
        every = [(row, name, len(own)) for name, own in groups.items() for row in own]
        part = every[asked.offset : asked.offset + PAGE]
        entries = shown([row for row, _, _ in part], [(name, count) for _, name, count in part])
        return entries, len(every) > asked.offset + PAGE

    def filters(self) -> dict[str, list[dict[str, Any]]]:
        """Return the choices above the list, each with its address."""
        asked = self.asked
        people = {str(each.pk): str(each.user) for each in self.members[:20]}
        return {
            "kind": self.choices("kind", {"": _("All kinds"), **KIND_WORDS}, asked.kind),
            "who": self.choices("who", WHOSE | people, asked.who),
            "by": self.choices("by", WAYS, asked.by),
            "state": self.choices(
                "state",
                {"": _("Waiting"), "snoozed": _("Put off")},
                "snoozed" if asked.is_snoozed else "",
            ),
        }

    def choices(self, name: str, words: dict[str, str], now: str) -> list[dict[str, Any]]:
        return [
            {"label": label, "url": self.address(**{name: value}), "on": value == now} for value, label in words.items()
        ]

    def address(self, **changed: str) -> str:
        """Return the address of this page with other choices, from its beginning unless `offset` is
        among them."""
        query = self.request.GET.copy()
        query.pop("offset", None)
        for name, value in changed.items():
            query[name] = value
        return f"?{query.urlencode()}"


class InboxCountPage(InboxBase):
    """The number of waiting entries as JSON, for pages that stay open while others decide."""

    path, name = "review/waiting/", "memories_review_waiting"

    def has_permission(self) -> bool:
        return self.model_admin.may(self.request, Capability.READ)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return JsonResponse(self.counts_of_day())


class FormerReviewPage(AdminPage):
    """A redirect from the former address of the inbox."""

    path, name, title = "review/", "memories_review", "Inbox"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect("admin:memories_inbox")


@dataclass(frozen=True, slots=True)
class Today:
    """The day in figures; `people` are names with their numbers of decisions, the person first."""

    opened: int
    decided: int
    left: int
    snoozed: int
    people: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def of(cls, access: Access, request: HttpRequest, since: datetime) -> "Today":
        found = cases.figures(lambda rows: access.limit(rows, "workspace"), since)
        mine, names = actor_of(request.user), names_of(found.decided_by)
        people = [(names.get(who, who), number) for who, number in found.decided_by.items()]
        if mine in found.decided_by:
            own = (names.get(mine, mine), found.decided_by[mine])
            people.remove(own)
            people.insert(0, (_("you"), own[1]))
        return cls(found.opened, found.decided, found.left, found.snoozed, people)


def ago(since: datetime) -> str:
    words = timesince(since, timezone.now(), depth=1)
    return _("just now") if words.startswith("0") else _("%(time)s ago") % {"time": words}


def grouped(rows: Sequence[Any], by: str) -> dict[str, list[Any]]:
    """Group the rows by the name of their person or document, the most pressing group first."""
    if by == "document":
        of = documents_of([row.pk for row in rows if isinstance(row, Case)])
        sessions = [row.pk for row in rows if kind_of(row) == "session"]
        revisions = Revision.objects.filter(session__in=sessions)
        of |= dict(revisions.values_list("session", "document"))
        of |= {row.pk: row.pk for row in rows if isinstance(row, Document)}
        documents = Document.objects.in_bulk(set(of.values()))
        names = {pk: str(documents[its]) for pk, its in of.items() if its in documents}
        nothing = _("No document")
    else:
        known = Subject.objects.in_bulk({row.subject_id for row in rows if row.subject_id})
        names = {row.pk: str(known[row.subject_id]) for row in rows if row.subject_id in known}
        nothing = _("About nobody")
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(names.get(row.pk, nothing), []).append(row)
    return groups


def shown(rows: Sequence[Any], groups: Sequence[tuple[str, int]] = ()) -> list[InboxEntry]:
    """Make entries of the rows, in few queries. `groups` has the group of each row and the number
    that wait in it."""
    own = with_statements(Case.objects.filter(pk__in=[r.pk for r in rows if isinstance(r, Case)]))
    cards = {card.case.pk: card for card in case_cards(list(own))}
    failures = {card.row.pk: card for card in failure_cards(rows)}
    found, before = [], ""
    for place, row in enumerate(rows):
        group, count = groups[place] if groups else ("", 0)
        found.append(InboxEntry(cards.get(row.pk), failures.get(row.pk), group, 0 if group == before else count))
        before = group
    return [each for each in found if each.card or each.failure]


def failure_cards(rows: Sequence[Any]) -> list[FailureCard]:
    """Return the cards of the rows that are not cases. One query reads the messages of all
    sessions."""
    firsts = {r.pk: r.episode_ids[0] for r in rows if kind_of(r) == "session" and r.episode_ids}
    said = Episode.objects.in_bulk(firsts.values())
    found = []
    for row in rows:
        kind = kind_of(row)
        if kind == "session":
            first = said.get(firsts[row.pk]) if row.pk in firsts else None
            text = first.content if first else _("A conversation")
            why = row.error or row.reason
            url = reverse("admin:memories_memorysession_change", args=[row.pk])
        elif kind == "document":
            text, why = str(row), row.reason
            url = reverse("admin:memories_document_change", args=[row.pk])
        elif kind == "question":
            text, url = row.query, reverse("admin:memories_golden")
            why = _("was at place %(before)s, is now %(now)s") % {
                "before": row.rank_before,
                "now": _("at place %(rank)s") % {"rank": row.rank} if row.rank else _("not found"),
            }
            if row.in_context_before and not row.in_context:
                why = _("%(why)s; lost in the context") % {"why": why}
        else:
            continue
        found.append(FailureCard(row, text, why, url, row.since))
    return found
