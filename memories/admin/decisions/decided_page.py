"""The newest decisions of all kinds, by any route: cases, replacements and corrections, merged
people, and everything else that somebody did by hand. Each says what changed and can be taken
back."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memories.admin.cases.case_cards import CaseCard, DecisionCard, case_cards, decision_cards, with_statements
from memories.belief.cases import acts_by_hand
from memories.belief.cases.decide_case import REWORDED
from memories.belief.cases.decide_case import what_was_done as steps_told
from memories.belief.cases.outcome import Outcome, OutcomeWords, outcome_of
from memories.models import Case, SubjectMerge, Supersession
from workspaces.adminbase.access import Access, actor_of
from workspaces.adminbase.act_words import act_words
from workspaces.adminbase.list_admin import AdminPage
from workspaces.adminbase.row_admin import RowAdmin, back_to, refusal_text
from workspaces.adminbase.target_names import describe_targets, kind_text, names_of
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry, Capability

PER_PAGE = 40
WHO = {"all": "Everybody", "me": "Me", "people": "People", "keys": "Keys", "machines": "Machines"}
WRONG = "wrong"
# Sentences for lines of the audit log.
TOLD = {
    "forget": _("%(what)s is not believed any more."),
    "restore": _("%(what)s is believed."),
    "create": _("%(what)s is believed."),
    "accept": _("%(what)s is believed."),
    "dismiss": _("%(what)s is not believed."),
    "move": _("%(what)s is about %(now)s."),
    "merge": _("%(what)s stands for “%(other)s” as well."),
    "allow_again": _("%(what)s may be learned again."),
    "leave": _("%(what)s is left as it is, until it fails anew."),
}
FORGOT_AS_WRONG = _("%(what)s is not believed any more, and not learned again.")
MOVED = _("%(what)s is about %(now)s, and about %(was)s no more.")
PAGES = {
    "memory": "memories_memory",
    "fact": "memories_fact",
    "feature": "memories_feature",
    "memorysession": "memories_memorysession",
    "document": "memories_document",
}


@dataclass(frozen=True, slots=True)
class TakingBack:
    """The form of an undo button: its address and its fields."""

    url: str
    fields: tuple[tuple[str, str], ...]
    label: str = "Undo"


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision as the page shows it. `told` is what changed; `replaced` is the card of a
    replacement, which shows the difference in words. `undo` is None where the decision was taken
    back, or where something came after it."""

    id: str
    at: datetime
    by: str
    told: str
    kind: str = ""
    about: str = ""
    url: str = ""
    note: str = ""
    replaced: DecisionCard | None = None
    undo: TakingBack | None = None


Row = Case | Supersession | SubjectMerge | AuditEntry


@dataclass(frozen=True, slots=True)
class DecidedAsked:
    """The choices in the page's address: whose decisions to show, and those before which time."""

    who: str
    me: str
    before: datetime | None

    @classmethod
    def of(cls, request: HttpRequest) -> "DecidedAsked":
        who = request.GET.get("who", "all")
        try:
            before = parse_datetime(request.GET.get("before", ""))
        except ValueError:  # a day that no calendar has
            before = None
        is_time = before is not None and before.tzinfo is not None
        return cls(who if who in WHO else "all", actor_of(request.user), before if is_time else None)

    def narrow(self, rows: QuerySet[Any], actor: str, at: str) -> list[Any]:
        """Return a page of the rows and one more, the newest first."""
        people, keys = (Q(**{f"{actor}__startswith": f"{kind}:"}) for kind in ("user", "key"))
        by_hand = {"me": Q(**{actor: self.me}), "people": people, "keys": keys}
        if rows.model is Supersession:
            rows = rows.filter(by_hand.get(self.who, Q()))
            rows = rows.exclude(people | keys) if self.who == "machines" else rows
        elif self.who == "machines":
            return []
        else:
            rows = rows.filter(by_hand.get(self.who, people | keys))
        if self.before is not None:
            rows = rows.filter(**{f"{at}__lt": self.before})
        return list(rows.order_by(f"-{at}")[: PER_PAGE + 1])


def newest_decisions(access: Access, asked: DecidedAsked) -> list[tuple[datetime, Row]]:
    """Return the newest decisions of all kinds with their times. Replacements made by a case are
    shown with the case, not again."""
    decided = Case.objects.filter(state=Case.State.DECIDED).exclude(steps=[])
    pairs = Supersession.objects.exclude(state=Supersession.State.PENDING)
    pairs = pairs.exclude(note=REWORDED).exclude(
        ~Q(case__steps=[]),
        case__state=Case.State.DECIDED,
        case__decided_by=F("decided_by"),
        decided_at__lte=F("case__decided_at"),
    )
    sources: tuple[tuple[QuerySet[Any], str, str], ...] = (
        (with_statements(decided), "decided_by", "decided_at"),
        (pairs.select_related("workspace", "old", "new"), "decided_by", "decided_at"),
        (SubjectMerge.objects.select_related("source", "target"), "merged_by", "created_at"),
        (acts_by_hand.lines(), "actor", "created_at"),
    )
    rows: list[tuple[datetime, Row]] = [
        (getattr(row, at), row)
        for source, actor, at in sources
        for row in asked.narrow(access.limit(source, "workspace"), actor, at)
    ]
    return sorted(rows, key=lambda each: (each[0], each[1].pk), reverse=True)


def shown(rows: Sequence[tuple[datetime, Row]]) -> list[Decided]:
    """Make the decisions to show, in few queries for any number."""
    every = [row for _, row in rows]
    cases = [row for row in every if isinstance(row, Case)]
    pairs = [row for row in every if isinstance(row, Supersession)]
    merges = [row for row in every if isinstance(row, SubjectMerge)]
    lines = [row for row in every if isinstance(row, AuditEntry)]
    names = names_of([*(each.merged_by for each in merges), *(each.actor for each in lines)])
    outcomes = {each.pk: outcome_of(each) or Outcome() for each in cases}
    words = OutcomeWords.of(list(outcomes.values()))
    made = [_case(card, words.sentence(outcomes[card.case.pk])) for card in case_cards(cases)]
    made += [_pair(card) for card in decision_cards(pairs)]
    made += [_merge(row, names) for row in merges]
    describe_targets(lines)
    standing = acts_by_hand.open_lines(lines)
    made += [_line(line, names, is_open=line.pk in standing) for line in lines]
    by_id = {each.id: each for each in made}
    return [by_id[str(row.pk)] for row in every]


def _case(card: CaseCard, told: str) -> Decided:
    case = card.case
    undo = TakingBack(reverse("admin:memories_case_act"), (("ids", str(case.pk)), ("verb", "undo")))
    return Decided(
        str(case.pk),
        case.decided_at or case.updated_at,
        card.decider,
        told or f"{steps_told(case).capitalize()}.",
        kind=case.kind,
        about=card.question,
        url=reverse("admin:memories_case_change", args=[case.pk]),
        note=case.note,
        undo=undo,
    )


def _pair(card: DecisionCard) -> Decided:
    row = card.decision
    undo = None
    if card.undoing:
        label = gettext("Apply again") if card.undoing == "redo" else gettext("Undo")
        fields = (("ids", str(row.pk)), ("verb", card.undoing))
        undo = TakingBack(reverse("admin:memories_review_act"), fields, label)
    note = "" if row.is_kept_both or row.note in ("rejected", "wrong") else row.note
    return Decided(
        str(row.pk),
        row.decided_at,
        card.decider,
        card.outcome,
        url=reverse("admin:memories_supersession_change", args=[row.pk]),
        note=note,
        replaced=card,
        undo=undo,
    )


def _merge(row: SubjectMerge, names: dict[str, str]) -> Decided:
    people = {"source": row.source, "target": row.target}
    told = (
        gettext("A part of what is known of %(source)s is about %(target)s.") % people
        if row.is_split
        else gettext("What is known of %(source)s is about %(target)s.") % people
    )
    if row.undone_at:
        told = gettext("%(source)s and %(target)s each have their own again.") % people
    undo = TakingBack(
        reverse("admin:workspaces_subject_do", args=[row.source_id, "separate"]),
        (("merge", str(row.pk)),),
    )
    url = reverse("admin:workspaces_subject_change", args=[row.target_id])
    by = names.get(row.merged_by, row.merged_by)
    kind = "split" if row.is_split else "merge"
    return Decided(
        str(row.pk),
        row.created_at,
        by,
        told,
        kind=kind,
        url=url,
        undo=None if row.undone_at else undo,
    )


def _line(line: AuditEntry, names: dict[str, str], *, is_open: bool) -> Decided:
    undo = TakingBack(reverse("admin:memories_decided_undo"), (("line", str(line.pk)),))
    page = PAGES.get(line.target_kind)
    url = reverse(f"admin:{page}_change", args=[line.target_id]) if page else ""
    return Decided(
        str(line.pk),
        line.created_at,
        names.get(line.actor, line.actor),
        line_told(line),
        kind=act_words(line),
        url=url,
        note="" if line.reason == WRONG else line.reason,
        undo=undo if is_open else None,
    )


def line_told(line: Any) -> str:
    """Return a sentence on what a line of the audit log changed. `line` comes with its `words`."""
    before, after = line.before or {}, line.after or {}
    if line.words:
        what = f"“{line.words}”"
    elif line.action == "leave":  # a failed conversation has no words of its own
        what = kind_text(line.target_kind).capitalize()
    else:
        what = gettext("What is erased by now")
    words = {
        "what": what,
        "now": after.get("userId", ""),
        "was": before.get("userId", ""),
        "other": str(before.get("content", ""))[:120],
    }
    told = TOLD.get(line.action)
    if line.action == "forget" and line.reason == WRONG:
        told = FORGOT_AS_WRONG
    elif line.action == "move" and words["was"]:
        told = MOVED
    return gettext(told) % words if told else f"{words['what']}: {act_words(line)}."


class DecidedPage(AdminPage):
    path, name, title = "decided/", "memories_decided", "Decided"
    template_name = "admin/memories/decided.html"
    model_admin: RowAdmin

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked = DecidedAsked.of(self.request)
        rows = newest_decisions(self.access, asked)
        part = rows[:PER_PAGE]
        return super().get_context_data(
            **kwargs,
            decisions=shown(part),
            who=asked.who,
            choices=WHO,
            before=part[-1][0].isoformat() if len(rows) > PER_PAGE else "",
            may_decide=self.model_admin.may(self.request, Capability.CURATE),
            here=self.request.get_full_path(),
        )


class TakeBackPage(AdminPage):
    """The undo of what somebody did by hand, by its line in the audit log."""

    path, name = "decided/undo/", "memories_decided_undo"
    model_admin: RowAdmin

    def has_permission(self) -> bool:
        return self.is_sent and self.model_admin.may(self.request, Capability.CURATE)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        line_id = as_uuid(request.POST.get("line", "")) or uuid.UUID(int=0)
        rows = self.access.limit(AuditEntry.objects.all(), "workspace", Capability.CURATE)
        line = rows.filter(pk=line_id).first()
        if line is None:
            messages.error(request, gettext("There is no such decision."))
        else:
            try:
                acts_by_hand.take_back(self.access.scope(line.workspace_id), line.pk)
            except (*self.model_admin.all_refusals,) as refusal:
                messages.error(request, refusal_text(refusal))
            else:
                messages.success(request, gettext("Taken back."))
        return redirect(back_to(request) or reverse("admin:memories_decided"))
