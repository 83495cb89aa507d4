"""Routes: cases, decided, undone, snoozed and assigned."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django.db.models import F, Prefetch, Q, QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import CitationJson, FactJson, MemoryJson
from memories.belief import cases
from memories.belief.cases import CaseDecision
from memories.language.english.plain_words import attribute_words, rule_words
from memories.models import Case, CaseItem, Citation, Fact, Memory, with_later_said
from memories.models.fact import said_by
from workspaces.api.json_answers import JsonAnswer, UserId
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import CURATES, WorkspaceView
from workspaces.request_fields import Maybe, Moment, OneOf, Text, declared
from workspaces.scope import Scope

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
    assignee: Maybe[Annotated[uuid.UUID, Field(description="The id of a member, as in /members.")]] = None


@declared
@dataclass(frozen=True, slots=True)
class SnoozeBody:
    until: Annotated[Moment | None, Field(description="It waits no more until then; null wakes it.")] = None


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


class CaseWorkJson(JsonAnswer):
    """A decision that is being carried out: words of many texts go in steps, before it is decided."""

    since: datetime
    done: Annotated[int, Meta(description="Texts whose words are gone.")]
    total: Annotated[int | None, Meta(description="Texts whose words go.")]


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
    served: Annotated[int, Meta(description="Answers of search that had one of its memories while it waited.")]
    version: Annotated[int, Meta(description="Grows whenever the case changes.")]
    created_at: datetime
    updated_at: datetime
    work: Annotated[CaseWorkJson | None, Meta(description="Where its decision is being carried out.")]


def visible_cases(scope: Scope) -> QuerySet[Case]:
    """Return the cases that `scope` may see, with their items and such of the items' source words
    as it may see."""
    facts = Fact.objects.with_names().with_citations()
    # What a document does not say any more, only where nothing else carries the memory.
    carrying = Q(withdrawn_at=None) | Q(memory__source_count=0)
    said = Fact.objects.visible_to(scope).filter(carrying).with_citations().order_by("-pk")
    memories = with_later_said(Memory.objects.with_names(), scope).prefetch_related(Prefetch("facts", said))
    items = CaseItem.objects.prefetch_related(Prefetch("memory", memories), Prefetch("fact", facts))
    rows = Case.objects.visible_to(scope).with_work().annotate(user_external=F("subject__external_id"))
    return rows.prefetch_related(Prefetch("items", items))


def case_json(case: Any) -> CaseJson:
    """Return a case of `visible_cases` as an answer shows it."""
    is_at_work = case.work_since is not None
    return CaseJson.of(
        case,
        label=attribute_words(case.attribute),
        items=[case_item_json(item) for item in case.items.all()],
        risk=case.risk_now,
        assignee=case.assignee_id,
        work=CaseWorkJson(case.work_since, case.work_done, case.work_total) if is_at_work else None,
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
