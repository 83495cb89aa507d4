"""The page that plots latency, cache and runs, and the charts it is drawn with."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from memories import figures, metrics
from memories.models import EvaluationRun
from tests.desk import Desk, desk_of, member, superuser
from tests.factories import WorkspaceFactory
from workspaces.desk.charts import Frame, Line, bar_chart, line_chart, nice, told
from workspaces.models import Role, Workspace

PAGE = "admin:memories_plots"


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    metrics.clear()


def plots(desk: Desk, **query: str) -> str:
    return desk.sees(reverse(PAGE), **query)


def test_without_figures_it_says_what_there_will_be(workspace: Workspace) -> None:
    html = plots(member(workspace))

    assert "No search in this time." in html
    assert "manage.py benchmark" in html


@pytest.mark.parametrize("reach", ["day", "week", "quarter", "nonsense"])
def test_searches_of_the_own_workspaces_are_drawn(workspace: Workspace, reach: str) -> None:
    for owner, times in ((workspace, 3), (WorkspaceFactory(), 40)):
        for _ in range(times):
            metrics.count("searches", 0.005, ranking="hybrid", workspace=str(owner.pk))
    figures.flush()

    assert "searches 3<" in plots(member(workspace), reach=reach).replace(" <strong>", " ")
    assert "searches 43<" in plots(superuser(), reach=reach).replace(" <strong>", " ")


def test_hit_rate_of_the_cache_is_told(workspace: Workspace) -> None:
    for outcome in ("hit", "hit", "hit", "miss"):
        metrics.count("query_vectors", outcome=outcome, workspace=str(workspace.pk))
    figures.flush()

    assert "hit rate <strong>75%" in plots(member(workspace))


def evaluated(days_ago: int, recall: float) -> EvaluationRun:
    return EvaluationRun.objects.create(
        kind="retrieval", name="talk.json", seconds=3,
        started_at=timezone.now() - timedelta(days=days_ago),
        figures={"bm25, all: recall@10": 0.5, "hybrid, all: recall@10": recall},
    )  # fmt: skip


def test_runs_are_drawn_and_lead_to_their_figures(workspace: Workspace) -> None:
    evaluated(2, 0.71)
    run = evaluated(1, 0.83)
    alice = member(workspace)
    html = plots(alice)
    page = reverse("admin:memories_evaluationrun_change", args=[run.pk])

    assert page in html
    assert "hybrid, all <strong>0.83" in html
    assert "hybrid, all: recall@10" in alice.sees(page)
    assert run.name in alice.sees(reverse("admin:memories_evaluationrun_changelist"))


def test_runs_are_not_for_editors(workspace: Workspace) -> None:
    run = evaluated(1, 0.83)
    bob = member(workspace, Role.EDITOR)

    assert "talk.json" not in plots(bob)
    assert bob.status(reverse("admin:memories_evaluationrun_change", args=[run.pk])) == 403
    assert bob.status(reverse("admin:memories_evaluationrun_changelist")) == 403


def test_a_run_that_is_not_there_is_no_error(workspace: Workspace) -> None:
    page = reverse("admin:memories_evaluationrun_change", args=[12345])

    assert member(workspace).status(page) in (302, 404)


def test_nobody_without_a_workspace_gets_in(workspace: Workspace) -> None:
    stranger = member(workspace)
    stranger.user.memberships.all().delete()

    assert desk_of(stranger.user).status(reverse(PAGE)) == 302


def test_line_has_a_gap_where_nothing_is_known() -> None:
    [(_, path)] = line_chart(Frame("t", "abc"), [Line("x", [1, None, 1])]).paths

    assert path.count("M") == 2
    assert "L" not in path


def test_bars_are_stacked_to_the_top() -> None:
    chart = bar_chart(Frame("t", "a"), [Line("x", [3], 1), Line("y", [7], 2)])

    assert [(bar.y, bar.height) for bar in chart.bars] == [(140, 60), (0, 140)]
    assert chart.columns[0].told == "a: x 3, y 7"


def test_chart_of_nothing_says_so() -> None:
    assert line_chart(Frame("t", "ab"), [Line("x", [None, None])]).empty == "Nothing yet"
    assert bar_chart(Frame("t", "ab"), [Line("x", [0, 0])]).empty == "Nothing yet"


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.83, 1), (1, 1), (7, 10), (12, 20), (101, 200), (23, 25)]
)
def test_tops_are_round_numbers(value: float, top: float) -> None:
    assert nice(value) == top


def test_values_are_told_shortly() -> None:
    words = [told(1234567.8), told(12.3456, "ms"), told(75.0, "%"), told(0.8312)]
    assert words == ["1,234,568", "12.3 ms", "75%", "0.831"]
