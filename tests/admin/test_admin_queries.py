"""Pages stay cheap: a bounded number of queries with 50 rows, and no count of a whole table."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memories.admin.people.people_list import COUNTS, MOST_SHOWN
from memories.admin.people.subject_admin import SubjectAdmin
from memories.models import Episode, Memory
from tests.desk import Desk, list_of, member, page_of
from tests.factories import (
    AgentFactory,
    ApiKeyFactory,
    AuditEntryFactory,
    ConversationFactory,
    EpisodeFactory,
    MembershipFactory,
    MemoryFactory,
    RejectionFactory,
    SessionFactory,
    SubjectFactory,
    SupersessionFactory,
    chain_of,
    evidence,
)
from tests.statements_sent import generic_plan
from workspaces.adminbase import list_admin
from workspaces.models import Subject, Workspace

MOST = 19


def queries_of(desk: Desk, page: str, **query: str) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        desk.sees(page, **query)
    return [each["sql"] for each in captured.captured_queries]


def fifty(make: Callable[[Workspace, int], Model], workspace: Workspace) -> Model:
    return [make(workspace, number) for number in range(50)][-1]


def memory_of(workspace: Workspace, number: int) -> Model:
    subject = SubjectFactory(workspace=workspace)
    memory = MemoryFactory(workspace=workspace, subject=subject)
    evidence(memory, f"I told you {number} times.")
    return memory


def fact_of(workspace: Workspace, number: int) -> Model:
    return evidence(MemoryFactory(workspace=workspace), f"I told you {number} times.")


def episode_of(workspace: Workspace, number: int) -> Model:
    conversation = ConversationFactory(workspace=workspace)
    return EpisodeFactory(workspace=workspace, conversation=conversation)


MAKERS: dict[str, Callable[[Workspace, int], Model]] = {
    "memory": memory_of,
    "fact": fact_of,
    "episode": episode_of,
    "supersession": lambda w, n: SupersessionFactory(workspace=w, decided_by=f"user:{w.pk}"),
    "conversation": lambda w, n: ConversationFactory(
        workspace=w, subject=SubjectFactory(workspace=w), agent=AgentFactory(workspace=w)
    ),
    "session": lambda w, n: SessionFactory(workspace=w, subject=SubjectFactory(workspace=w)),
    "rejection": lambda w, n: RejectionFactory(workspace=w, subject=SubjectFactory(workspace=w)),
    "member": lambda w, n: MembershipFactory(workspace=w),
    "agent": lambda w, n: AgentFactory(workspace=w),
    "subject": lambda w, n: SubjectFactory(workspace=w),
    "key": lambda w, n: ApiKeyFactory(workspace=w, agent=AgentFactory(workspace=w)),
    "audit": lambda w, n: AuditEntryFactory(workspace=w, actor=f"user:{w.pk}"),
}


@pytest.mark.parametrize("noun", MAKERS)
def test_list_of_fifty_and_its_page_take_few_queries(workspace: Workspace, noun: str) -> None:
    row = fifty(MAKERS[noun], workspace)
    alice = member(workspace)

    for page in (list_of(type(row)), page_of(row)):
        queries = queries_of(alice, page)
        assert len(queries) <= MOST, "\n".join(queries)


def test_home_takes_few_queries(workspace: Workspace) -> None:
    fifty(memory_of, workspace)

    assert len(queries_of(member(workspace), reverse("admin:index"))) <= MOST


def test_member_of_many_workspaces_takes_few_queries(workspace: Workspace) -> None:
    alice = member(workspace)
    for _ in range(20):
        memory_of(MembershipFactory(user=alice.user).workspace, 1)

    assert len(queries_of(alice, list_of(Memory))) <= MOST


def test_long_chain_takes_few_queries(workspace: Workspace) -> None:
    chain = chain_of(workspace, *[f"Prefers tea number {n}" for n in range(40)])
    for memory in chain:
        evidence(memory, f"I said: {memory.content}.")

    assert len(queries_of(member(workspace), page_of(chain[-1]))) <= MOST


def test_conversation_with_many_citations_takes_few_queries(workspace: Workspace) -> None:
    conversation = ConversationFactory(workspace=workspace)
    for number in range(50):
        evidence(MemoryFactory(workspace=workspace), f"Said {number}", conversation=conversation)

    assert len(queries_of(member(workspace), page_of(conversation))) <= MOST


def test_session_with_many_facts_takes_few_queries(workspace: Workspace) -> None:
    memories = [MemoryFactory(workspace=workspace) for _ in range(30)]
    session = SessionFactory(workspace=workspace, created_ids=[m.pk for m in memories])
    for memory in memories:
        evidence(memory, f"I said: {memory.content}.", session=session)

    assert len(queries_of(member(workspace), page_of(session))) <= MOST


@pytest.mark.parametrize("noun", MAKERS)
def test_no_count_reads_a_whole_table(workspace: Workspace, noun: str) -> None:
    row = MAKERS[noun](workspace, 1)
    asked = queries_of(member(workspace), list_of(type(row)))
    # The audit log counts the runs of its newest lines by itself.
    counts = [q for q in asked if "COUNT(*)" in q or f"LIMIT {list_admin.MOST + 1}" in q]

    assert counts
    assert all("LIMIT" in query for query in counts)


def test_more_rows_than_are_counted_are_told_as_more(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_admin, "MOST", 3)
    monkeypatch.setattr(list_admin.bounded_count, "__defaults__", (3,))
    fifty(memory_of, workspace)

    assert "more than 10,000" in member(workspace).sees(list_of(Memory))


def test_people_are_counted_without_reading_what_is_known_of_others(workspace: Workspace) -> None:
    talker, *others = [SubjectFactory(workspace=workspace) for _ in range(20)]
    said = {"workspace": workspace, "subject": talker}
    Memory.objects.bulk_create(MemoryFactory.build(**said) for _ in range(3_000))
    Episode.objects.bulk_create(EpisodeFactory.build(**said, session=None) for _ in range(3_000))
    with connection.cursor() as cursor:
        cursor.execute("analyze memories_memory, memories_episode")
    asked = {"subjects": [each.pk for each in others], "most": MOST_SHOWN + 1}
    last_heard = SubjectAdmin.last_heard_of.admin_order_field  # type: ignore[attr-defined]
    plans = [generic_plan(COUNTS, asked), Subject.objects.order_by(last_heard.desc()).explain()]

    assert all("episode_subject" in plan for plan in plans)
    assert "memory_subject" in plans[0]
    assert not any("Seq Scan on memories_" in plan.replace("_case", "") for plan in plans)
