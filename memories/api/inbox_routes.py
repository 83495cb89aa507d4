"""Routes: the inbox, which is all that waits for a person; cases, supersessions, and decisions on
failures."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from django.db.models import F, Prefetch, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories import cases, review
from memories.api.golden_routes import GoldenQuestionJson
from memories.api.shapes import (
    CitationJson,
    DocumentJson,
    FactJson,
    MemoryJson,
    SessionJson,
    SupersessionJson,
)
from memories.cases import CaseDecision
from memories.cases.inbox import KINDS, InboxFilter, kind_of, mark_of, risk_of_row
from memories.english.plain_words import attribute_words, rule_words
from memories.models import (
    Case,
    CaseItem,
    Citation,
    Document,
    Fact,
    GoldenQuestion,
    Memory,
    MemorySession,
    Supersession,
)
from memories.models.fact import said_by
from workspaces.api.json_answers import JsonAnswer, UserId, one_of
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import AnyText, Flag, Maybe, Moment, NullIs, OneOf, Text, declared
from workspaces.scope import Scope

# Routes: cases, which are what waits for a person, and supersessions, the recorded decisions; a
# person's word on both.

SUPERSESSION_NARROWING = {"state": "state", "user_id": "new__subject__external_id"}


@declared
@dataclass(frozen=True, slots=True)
class SupersessionQuery(PageQuery):
    state: Maybe[Annotated[str, OneOf(Supersession.State)]] = None
    user_id: Maybe[Text] = None


@declared
@dataclass(frozen=True, slots=True)
class ApproveBody:
    content: Annotated[Text, Field(description="Say it in these words instead."), NullIs("")] = ""


@declared
@dataclass(frozen=True, slots=True)
class RejectBody:
    note: Annotated[AnyText, Field(max_length=2000), NullIs("")] = ""


def visible_supersessions(scope: Scope) -> QuerySet[Supersession]:
    return Supersession.objects.visible_to(scope).with_memories()


def supersession_response(scope: Scope, row: uuid.UUID) -> Response:
    return Response(SupersessionJson.of(get_object_or_404(visible_supersessions(scope), pk=row)))


class SupersessionsView(WorkspaceView):
    @operation("listSupersessions", query=SupersessionQuery, page=SupersessionJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List decisions, the newest first; those with `state=pending` wait for a person."""
        wanted = narrowing(read_query(SupersessionQuery, request), SUPERSESSION_NARROWING)
        return paged(
            request, visible_supersessions(self.scope).filter(**wanted), SupersessionJson.of
        )


class SupersessionView(WorkspaceView):
    @operation("readSupersession", answer=SupersessionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a decision with both memories."""
        return supersession_response(self.scope, row)


class ApproveView(WorkspaceView):
    needs = CURATES

    @operation("approveSupersession", request=ApproveBody, answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Let the new memory replace the old one."""
        content = read(ApproveBody, request.data).content
        return supersession_response(self.scope, review.approve(self.scope, row, content).pk)


class RejectView(WorkspaceView):
    needs = CURATES

    @operation("rejectSupersession", request=RejectBody, answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep the old memory; the new one is forgotten."""
        note = read(RejectBody, request.data).note
        return supersession_response(self.scope, review.reject(self.scope, row, note).pk)


class KeepBothView(WorkspaceView):
    needs = CURATES

    @operation("keepBothMemories", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep both memories."""
        return supersession_response(self.scope, review.keep_both(self.scope, row).pk)


class UndoView(WorkspaceView):
    needs = CURATES

    @operation("undoSupersession", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Undo an applied supersession: the old memory is the head again."""
        return supersession_response(self.scope, review.undo(self.scope, row).pk)


class ReopenView(WorkspaceView):
    needs = CURATES

    @operation("reopenSupersession", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Reopen what a person decided: it waits again, with both memories as they were before."""
        return supersession_response(self.scope, review.reopen(self.scope, row).pk)


class RedoView(WorkspaceView):
    needs = CURATES

    @operation("redoSupersession", answer=SupersessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Apply a supersession again that was undone."""
        return supersession_response(self.scope, review.redo(self.scope, row).pk)


NARROWING = {
    "state": "state",
    "user_id": "subject__external_id",
    "attribute": "attribute",
    "kind": "kind",
    "assignee": "assignee_id",
}
MOST_QUOTES = 5  # of one item


@declared
@dataclass(frozen=True, slots=True)
class CaseQuery(PageQuery):
    state: Maybe[Annotated[str, OneOf(Case.State)]] = None
    user_id: Maybe[Text] = None
    attribute: Maybe[Text] = None
    kind: Maybe[Annotated[str, OneOf(Case.Kind)]] = None
    assignee: Maybe[
        Annotated[uuid.UUID, Field(description="The id of a member, as in /members.")]
    ] = None


@declared
@dataclass(frozen=True, slots=True)
class SnoozeBody:
    until: Annotated[
        Moment | None, Field(description="It waits no more until then; null wakes it.")
    ] = None


@declared
@dataclass(frozen=True, slots=True)
class AssignBody:
    assignee: Annotated[
        uuid.UUID | None,
        Field(description="The id of a member, as in /members; null takes it back."),
    ] = None


class CaseQuoteJson(CitationJson, kw_only=True):
    """Words that an item stands on, by whom and when they were said; of a document its title."""

    role: str
    name: str | None
    occurred_at: datetime


class CaseItemJson(JsonAnswer):
    """One statement of the case: exactly one of memory, fact and intent is there."""

    memory: MemoryJson | None
    fact: FactJson | None
    intent: Annotated[uuid.UUID | None, Meta(description="The id of an intent.")]
    quotes: list[CaseQuoteJson]
    at: Annotated[datetime, Meta(description="When it was said.")]
    why: Annotated[str | None, Meta(description="Why it is in the case, in plain words.")]
    rule: Annotated[str | None, Meta(description="The rule that brought it in.")]


class CaseJson(JsonAnswer):
    """A case: statements about one attribute of one subject, for a person to decide, the oldest
    first."""

    id: uuid.UUID
    kind: Case.Kind
    state: Case.State
    user_id: UserId
    attribute: Annotated[str, Meta(description="A single-valued attribute, or a category.")]
    label: Annotated[str, Meta(description="The attribute in plain words.")]
    items: list[CaseItemJson]
    risk: Annotated[
        float,
        Meta(
            description="0 to 1, by which lists are ordered: how contradictory it is, how much is"
            " served on it (sources, pins), and how long it waits."
        ),
    ]
    assignee: Annotated[uuid.UUID | None, Meta(description="The id of a member.")]
    snoozed_until: datetime | None
    decided_by: str | None
    decided_at: datetime | None
    note: str | None
    served: Annotated[
        int, Meta(description="Answers of search that had one of its memories while it waited.")
    ]
    version: Annotated[int, Meta(description="Grows whenever the case changes.")]
    created_at: datetime
    updated_at: datetime


def visible_cases(scope: Scope) -> QuerySet[Case]:
    """Return the cases that `scope` may see, with their items and such of the items' source words
    as it may see."""
    facts = Fact.objects.with_names().with_citations()
    # What a document does not say any more, only where nothing else carries the memory.
    carrying = Q(withdrawn_at=None) | Q(memory__source_count=0)
    said = Fact.objects.visible_to(scope).filter(carrying).with_citations().order_by("-pk")
    memories = Memory.objects.with_names().prefetch_related(Prefetch("facts", said))
    items = CaseItem.objects.prefetch_related(Prefetch("memory", memories), Prefetch("fact", facts))
    rows = Case.objects.visible_to(scope).annotate(user_external=F("subject__external_id"))
    return rows.prefetch_related(Prefetch("items", items))


def case_json(case: Case) -> CaseJson:
    return CaseJson.of(
        case,
        label=attribute_words(case.attribute),
        items=[case_item_json(item) for item in case.items.all()],
        risk=case.risk_now,
        assignee=case.assignee_id,
    )


def case_item_json(item: CaseItem) -> CaseItemJson:
    facts = item.memory.facts.all() if item.memory else [item.fact] if item.fact else []
    citations = [citation for fact in facts for citation in fact.citations.all()]
    return CaseItemJson(
        memory=MemoryJson.of(item.memory) if item.memory else None,
        fact=FactJson.of(item.fact) if item.fact else None,
        intent=item.intent,
        quotes=[quote_json(citation) for citation in citations[:MOST_QUOTES]],
        at=item.at,
        why=(item.fact and item.fact.quarantine_reason) or rule_words(item.why) or None,
        rule=item.why or None,
    )


def quote_json(citation: Citation) -> CaseQuoteJson:
    role, name, at = said_by(citation)
    return CaseQuoteJson.of_model(citation, role=role, name=name or None, occurred_at=at)


def case_response(scope: Scope, row: uuid.UUID) -> Response:
    return Response(case_json(get_object_or_404(visible_cases(scope), pk=row)))


class CasesView(WorkspaceView):
    @operation("listCases", query=CaseQuery, page=CaseJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List cases, those of the highest risk first; `state=open` are those that wait."""
        wanted = narrowing(read_query(CaseQuery, request), NARROWING)
        return paged(request, visible_cases(self.scope).filter(**wanted), case_json, rank="rank")


class CaseView(WorkspaceView):
    @operation("readCase", answer=CaseJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a case with its statements, what each stands on, and why it waits."""
        return case_response(self.scope, row)


class DecideCaseView(WorkspaceView):
    needs = CURATES

    @operation("decideCase", request=CaseDecision, answer=CaseJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Decide all statements of a case at once: all of the decision is carried out, or none."""
        decision = read(CaseDecision, request.data)
        return case_response(self.scope, cases.decide_case(self.scope, row, decision).pk)


class UndoCaseView(WorkspaceView):
    needs = CURATES

    @operation("undoCase", answer=CaseJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Undo the decision: everything in the case is as it was, and waits again."""
        return case_response(self.scope, cases.undo_case(self.scope, row).pk)


class SnoozeCaseView(WorkspaceView):
    needs = CURATES

    @operation("snoozeCase", request=SnoozeBody, answer=CaseJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Put a case off until later."""
        until = read(SnoozeBody, request.data).until
        return case_response(self.scope, cases.snooze_case(self.scope, row, until).pk)


class AssignCaseView(WorkspaceView):
    needs = CURATES

    @operation("assignCase", request=AssignBody, answer=CaseJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Assign a case to a member."""
        member = read(AssignBody, request.data).assignee
        return case_response(self.scope, cases.assign_case(self.scope, row, member).pk)


STATES = ("open", "snoozed")


@declared
@dataclass(frozen=True, slots=True)
class InboxQuery(PageQuery):
    kind: Maybe[Annotated[str, OneOf(KINDS)]] = None
    state: Annotated[str, OneOf(STATES)] = "open"
    user_id: Maybe[Text] = None
    document_id: Maybe[uuid.UUID] = None
    assignee: Maybe[
        Annotated[uuid.UUID, Field(description="The id of a member, as in /members.")]
    ] = None
    unassigned: Annotated[bool, Field(description="Only what is nobody's.")] = False


@declared
@dataclass(frozen=True, slots=True)
class LeaveBody:
    undo: Annotated[Flag, Field(description="Let it wait again, instead.")] = False


class InboxItemJson(JsonAnswer):
    """One thing that waits: exactly one of case, session, document and question is there."""

    id: uuid.UUID
    kind: Annotated[str, one_of(KINDS)]
    state: Annotated[str, one_of(STATES)]
    user_id: UserId
    risk: Annotated[float, Meta(description="0 to 1, by which the list is ordered.")]
    since: Annotated[datetime, Meta(description="When it began to wait, or failed.")]
    assignee: Annotated[uuid.UUID | None, Meta(description="The id of a member.")]
    snoozed_until: datetime | None
    case: CaseJson | None = None
    session: SessionJson | None = None
    document: DocumentJson | None = None
    question: GoldenQuestionJson | None = None


class InboxFiguresJson(JsonAnswer):
    """Counts of what waits now, and of what was done since `since`."""

    since: datetime
    waiting: int
    snoozed: int
    opened: Annotated[int, Meta(description="Cases that came.")]
    decided: Annotated[int, Meta(description="Cases that people and keys decided.")]
    left: Annotated[int, Meta(description="Failures that were left as they are.")]
    kinds: Annotated[dict[str, int], Meta(description="How many of each kind wait.")]
    decided_by: Annotated[dict[str, int], Meta(description="By actor, as in the audit.")]


@declared
@dataclass(frozen=True, slots=True)
class FiguresQuery:
    since: Maybe[
        Annotated[datetime, Field(description="Default: midnight, in the zone of the server.")]
    ] = None


SHAPES: dict[type, tuple[str, Any]] = {
    Case: ("case", case_json),
    MemorySession: ("session", SessionJson.of),
    Document: ("document", DocumentJson.of),
    GoldenQuestion: ("question", GoldenQuestionJson.of_row),
}


def item_json(row: Any) -> InboxItemJson:
    name, shape = SHAPES[type(row)]
    told, own = row if isinstance(row, Case) else mark_of(row), shape(row)
    until = told.snoozed_until if told else None
    return InboxItemJson(
        id=row.pk,
        kind=kind_of(row),
        state="snoozed" if until and until > timezone.now() else "open",
        user_id=own.user_id,
        risk=risk_of_row(row),
        since=row.created_at if isinstance(row, Case) else row.since,
        assignee=told.assignee_id if told else None,
        snoozed_until=until,
        **{name: own},
    )


def visible_rows(scope: Scope, rows: Any) -> Any:
    return rows.visible_to(scope)


def whole_rows(scope: Scope, rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the rows that `scope` may see, with all that their answers show."""
    if rows.model is Case:
        return visible_cases(scope)
    seen = visible_rows(scope, rows)
    return seen.with_all() if rows.model is Document else seen.with_names()


class InboxView(WorkspaceView):
    @operation("listInbox", query=InboxQuery, page=InboxItemJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List all that waits for a person: cases, sessions and documents that failed, and golden
        questions that got worse. The most pressing come first."""
        query = read_query(InboxQuery, request)
        wanted = InboxFilter(
            frozenset([query.kind] if query.kind else []),
            user_id=query.user_id,
            document_id=query.document_id,
            assignees=frozenset([query.assignee] if query.assignee else []),
            is_free=query.unassigned,
            is_snoozed=query.state == "snoozed",
        )
        rows = cases.inbox(partial(whole_rows, self.scope), wanted)
        return paged(request, rows, item_json, rank="urgency")


class InboxFiguresView(WorkspaceView):
    @operation("readInboxFigures", query=FiguresQuery, answer=InboxFiguresJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Count what waits, by kind, and what was done since `since` (default: today)."""
        scope, query = self.scope, read_query(FiguresQuery, request)
        today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        since = query.since or today
        return Response(InboxFiguresJson.of(cases.figures(partial(visible_rows, scope), since)))


def is_case(scope: Scope, row: uuid.UUID) -> bool:
    return Case.objects.visible_to(scope).filter(pk=row).exists()


class AssignInboxView(WorkspaceView):
    needs = CURATES

    @operation("assignInInbox", request=AssignBody, answer={204: None})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Assign a case or a failure to a member."""
        member = read(AssignBody, request.data).assignee
        if is_case(self.scope, row):
            cases.assign_case(self.scope, row, member)
        else:
            cases.assign_failure(self.scope, row, member)
        return Response(status=204)


class SnoozeInboxView(WorkspaceView):
    needs = CURATES

    @operation("snoozeInInbox", request=SnoozeBody, answer={204: None})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Put a case or a failure off until later."""
        until = read(SnoozeBody, request.data).until
        if is_case(self.scope, row):
            cases.snooze_case(self.scope, row, until)
        else:
            cases.snooze_failure(self.scope, row, until)
        return Response(status=204)


class LeaveInboxView(WorkspaceView):
    needs = CURATES

    @operation("leaveInInbox", request=LeaveBody, answer={204: None})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Leave a failure as it is: it waits for nobody until it fails anew."""
        is_undone = read(LeaveBody, request.data).undo
        cases.leave_failure(self.scope, row, is_left=not is_undone)
        return Response(status=204)
