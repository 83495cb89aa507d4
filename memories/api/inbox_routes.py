"""Routes: the inbox, which is all that waits for a person, and decisions on failures."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from django.db.models import QuerySet
from django.utils import timezone
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.case_routes import AssignBody, CaseJson, SnoozeBody, case_json, visible_cases
from memories.api.golden_routes import GoldenQuestionJson
from memories.api.shapes import DocumentJson, SessionJson
from memories.belief import cases
from memories.belief.cases.inbox import KINDS, InboxFilter, kind_of, mark_of, risk_of_row
from memories.models import Case, Document, GoldenQuestion, MemorySession
from workspaces.api.json_answers import JsonAnswer, UserId, one_of
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import Flag, Maybe, OneOf, Text, declared
from workspaces.scope import Scope

STATES = ("open", "snoozed")


@declared
@dataclass(frozen=True, slots=True)
class InboxQuery(PageQuery):
    kind: Maybe[Annotated[str, OneOf(KINDS)]] = None
    state: Annotated[str, OneOf(STATES)] = "open"
    user_id: Maybe[Text] = None
    document_id: Maybe[uuid.UUID] = None
    assignee: Maybe[Annotated[uuid.UUID, Field(description="The id of a member, as in /members.")]] = None
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
    since: Maybe[Annotated[datetime, Field(description="Default: midnight, in the zone of the server.")]] = None


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
