import pytest
from django.urls import reverse
from django.utils import timezone

from memories import metrics
from memories.admin.home.home_page import by_day, last_days
from memories.belief import review
from memories.meters import stored_metrics
from memories.models import Episode, FeatureSet, Memory, Supersession
from memories.reading.extraction import unmatched
from tests.desk import list_of, member
from tests.factories import (
    FactFactory,
    MembershipFactory,
    MemoryFactory,
    SessionFactory,
    SubjectFactory,
    SupersessionFactory,
)
from tests.people import Person
from workspaces.adminbase.access import access_for
from workspaces.models import Workspace

HOME = "admin:index"


def test_new_workspace_is_told_how_to_begin(workspace: Workspace) -> None:
    html = member(workspace).sees(reverse(HOME))

    assert "Nothing is remembered yet" in html
    assert f"/api/v1/workspaces/{workspace.slug}/memories/ingest" in html


def test_home_says_what_needs_a_person(workspace: Workspace) -> None:
    SupersessionFactory(workspace=workspace)
    SessionFactory(workspace=workspace, state="dead")
    html = member(workspace).sees(reverse(HOME))

    assert "decisions to take" in html
    assert "intakes failed" in html


def test_failing_and_waiting_sets_are_told(workspace: Workspace) -> None:
    FeatureSet.objects.create(workspace=workspace, key="ada", error="away", waiting=3)
    html = member(workspace).sees(reverse(HOME))

    assert "profiles that fail" in html
    assert "<strong>1</strong>profile with news to take in" in html


def test_home_counts_nothing_of_other_workspaces(workspace: Workspace) -> None:
    SupersessionFactory()
    SessionFactory(state="dead")

    assert "no decision waits" in member(workspace).sees(reverse(HOME))


def test_home_shows_what_was_learned_last(alice: Person) -> None:
    alice.note("Prefers tea")

    assert "Prefers tea" in member(alice.workspace).sees(reverse(HOME))


def test_workspace_is_named_where_there_are_several(workspace: Workspace) -> None:
    alice = member(workspace)
    SupersessionFactory(workspace=workspace)
    column = "column-workspace"
    assert column not in alice.sees(list_of(Memory))

    MembershipFactory(user=alice.user)

    assert column in alice.sees(list_of(Memory))


@pytest.mark.parametrize("page", ["admin:index", "admin:memories_memory_changelist", "admin:login"])
def test_pages_name_no_other_host(workspace: Workspace, page: str) -> None:
    html = member(workspace).client.get(reverse(page), follow=True).content.decode()

    assert 'src="http' not in html
    assert 'href="http' not in html


def test_home_counts_open_misses_and_quarantine(alice: Person) -> None:
    alice.say("The gate is green.", "The gate is blue.")
    first = Episode.objects.first()
    assert first is not None
    unmatched.report(alice.scope, first.pk, ["The gate is green"], "other")
    FactFactory(workspace=alice.workspace, quarantined_at=timezone.now())
    html = member(alice.workspace).sees(reverse(HOME))

    assert "texts not understood" in html
    assert "facts in quarantine" in html


def test_share_of_live_memories_is_told(alice: Person) -> None:
    old = alice.note("Prefers tea")
    review.edit(alice.scope, old.pk, {"content": "Prefers coffee"})

    assert "50%" in member(alice.workspace).sees(reverse(HOME))


def test_same_text_twice_is_counted_and_listed(alice: Person, workspace: Workspace) -> None:
    for visibility in ("private", "team"):
        MemoryFactory(workspace=workspace, content="Prefers mint", visibility=visibility)
    MemoryFactory(workspace=workspace, content="Prefers mint", subject=SubjectFactory(workspace=workspace))
    MemoryFactory(workspace=workspace, content="Prefers sage")
    answer = member(workspace).client.get(list_of(Memory), {"state": "twice"})

    assert [row.content for row in answer.context["cl"].result_list] == ["Prefers mint"] * 2


def test_charts_lead_to_the_memories_of_the_day(alice: Person) -> None:
    day = alice.note("Prefers tea").created_at.date().isoformat()
    desk = member(alice.workspace)
    html = desk.sees(reverse(HOME))

    assert f"state=all&amp;day={day}" in html
    assert "Prefers tea" in desk.sees(list_of(Memory), day=day)
    assert "Prefers tea" not in desk.sees(list_of(Memory), day="2024-02-01")
    assert "Prefers tea" in desk.sees(list_of(Memory), day="2024-02-99")


def test_bars_of_replaced_memories_lead_to_the_replacements_of_the_day(
    workspace: Workspace,
) -> None:
    decision = SupersessionFactory(workspace=workspace, state="applied")
    day = decision.created_at.date().isoformat()
    desk = member(workspace)

    assert f"state=applied&amp;day={day}" in desk.sees(reverse(HOME))
    assert decision.old.content in desk.sees(list_of(Supersession), state="applied", day=day)
    other = desk.sees(list_of(Supersession), state="applied", day="2024-02-01")
    assert decision.old.content not in other


def test_days_count_only_the_own_workspaces(alice: Person, mallory: Person) -> None:
    alice.note("Prefers tea")
    mine, theirs = (
        by_day(Memory, access_for(member(person.workspace).user), last_days(2)) for person in (alice, mallory)
    )
    assert (sum(mine), sum(theirs)) == (1, 0)


def test_failed_calls_of_models_are_counted(workspace: Workspace) -> None:
    metrics.clear()
    metrics.count("provider_calls", 0.5, provider="openai", outcome="failed")
    stored_metrics.flush()

    html = member(workspace).sees(reverse(HOME))
    assert "<strong>1</strong>failed calls of models" in html
