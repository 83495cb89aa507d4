"""The page that plots latency, cache and runs, and the charts it is drawn with."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from bench.speed import acts, facts, report
from bench.speed.recall import FILTERS
from memories import metrics
from memories.admin.usage.performance_charts import PlotPeriod, drawings
from memories.admin.usage.performance_page import PERIODS
from memories.evaluation.conflicts import Judged
from memories.evaluation.extraction import Turns
from memories.meters import stored_metrics
from memories.models import EvaluationRun
from tests.desk import Desk, desk_of, member, superuser
from tests.factories import WorkspaceFactory
from workspaces.adminbase.charts import (
    MOST_LINES,
    MOST_MARKED,
    ChartLine,
    Frame,
    bar_chart,
    line_chart,
    moments,
    nice,
    number_text,
)
from workspaces.models import Role, Workspace

PAGE = "admin:memories_plots"
SEARCHES = (acts.RAW, acts.VERB, acts.LINEA, acts.HYBRID, *(acts.LINEA + name for name in FILTERS))


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
    stored_metrics.flush()

    assert "searches 3<" in plots(member(workspace), reach=reach).replace(" <strong>", " ")
    assert "searches 43<" in plots(superuser(), reach=reach).replace(" <strong>", " ")


def test_hit_rate_of_the_cache_is_told(workspace: Workspace) -> None:
    for outcome in ("hit", "hit", "hit", "miss"):
        metrics.count("query_vectors", outcome=outcome, workspace=str(workspace.pk))
    stored_metrics.flush()

    assert "hit rate <strong>75%" in plots(member(workspace))


def evaluated(days_ago: int, recall: float) -> EvaluationRun:
    return EvaluationRun.objects.create(
        kind="retrieval",
        name="talk.json",
        seconds=3,
        started_at=timezone.now() - timedelta(days=days_ago),
        figures={"bm25, all: recall@10": 0.5, "hybrid, all: recall@10": recall},
    )


def test_runs_are_drawn_and_lead_to_their_figures(workspace: Workspace) -> None:
    evaluated(2, 0.71)
    run = evaluated(1, 0.83)
    alice = member(workspace)
    html = plots(alice)
    page = reverse("admin:memories_evaluationrun_change", args=[run.pk])

    assert page in html
    assert "hybrid <strong>0.83" in html
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


# ---- which figures share a chart ------------------------------------------------------------


def figures_of(*places: str) -> set[str]:
    """The names that a benchmark of these sizes leaves."""
    timings = [
        {"name": name, "place": place, "p50": 2.0, "p95": 3.0, "ratio": 1.0, "perSecond": 500.0}
        for place in places
        for name in (*SEARCHES, facts.ONE, facts.MANY, acts.ONE, acts.MANY)
    ]
    empty = {"name": acts.EMPTY, "place": "", "p50": 1.0, "p95": 1.0, "ratio": None}
    found = {
        "timings": [*timings, empty],
        "throughput": [],
        "recall": {f"{place}{cell}": 1.0 for place in places for cell in FILTERS},
        "indexCost": dict.fromkeys(places, 1.1),
        "growth": {acts.LINEA: 0.2},
        "footprint": [],
    }
    return set(report.figures(found))


def test_what_takes_milliseconds_of_one_size_is_drawn_together() -> None:
    names = figures_of("10k", "1k")
    medians = [each for each in drawings("benchmark", names) if each.title.startswith("Medians")]

    assert [each.title for each in medians] == ["Medians, 1k", "Medians, 10k"]
    assert list(medians[0].lines) == [
        "hybrid, HTTP",
        "linea, HTTP",
        "linea, raw statement",
        "empty request",
        "one fact",
        "one message",
    ]
    assert set(medians[0].lines.values()) < names


def test_batches_are_drawn_by_what_they_do_in_a_second() -> None:
    found = {each.title: each for each in drawings("benchmark", figures_of("10k", "1k"))}

    assert list(found["Facts in batches"].lines) == ["1k", "10k"]
    assert found["Facts in batches"].lines["1k"] == f"{facts.MANY}, 1k: per s"
    assert found["Facts in batches"].unit == "/s"
    assert list(found["Messages in batches"].lines) == ["1k", "10k"]


def test_recall_of_a_benchmark_is_called_that_of_the_vector_side() -> None:
    found = {each.title: each for each in drawings("benchmark", figures_of("1k"))}

    assert list(found["Recall@10 of the vector side"].lines) == ["1k"]
    assert list(found["The same with filters"].lines) == ["1k, 1 %", "1k, 10 %"]


def test_four_sizes_find_place_in_each_chart() -> None:
    found = drawings("benchmark", figures_of("1k", "10k", "100k", "1M"))

    assert max(len(each.lines) for each in found) <= MOST_LINES


def test_each_category_has_its_baselines_beside_it() -> None:
    names = {
        f"{ranking}, {category}: {measure}"
        for ranking in ("vector", "hybrid", "keyword")
        for category in ("temporal", "all")
        for measure in ("recall@10", "mrr")
    }
    found = drawings("retrieval", names)

    assert [each.title for each in found] == ["recall@10, all", "recall@10, temporal", "mrr, all"]
    assert all(list(each.lines) == ["hybrid", "keyword", "vector"] for each in found)


@pytest.mark.parametrize(
    ("kind", "measured"),
    [("extraction", Turns().measured()), ("conflicts", Judged().measured())],
)
def test_evaluations_without_rankings_are_drawn_too(kind: str, measured: dict[str, float]) -> None:
    drawn = {name for each in drawings(kind, set(measured)) for name in each.lines.values()}

    assert set(measured) - drawn <= {"pairs", "turns", "facts per turn"}


def test_runs_over_the_same_fold_up_behind_the_newest(workspace: Workspace) -> None:
    evaluated(2, 0.71)
    EvaluationRun.objects.create(kind="retrieval", name="other.json", seconds=1)
    html = plots(member(workspace))

    assert html.index("other.json") < html.index("talk.json")
    assert html.count('<details class="desk-series" open>') == 1
    assert html.count('<details class="desk-series">') == 1


# ---- charts ---------------------------------------------------------------------------------


def test_one_run_is_a_mark_with_its_day_below() -> None:
    chart = line_chart(Frame("t", ["20 Nov 02:30"]), [ChartLine("x", [1])])

    assert chart.marks == [(1, "M500.0 0.0h0.1")]
    assert chart.ends == ["20 Nov 02:30"]


def test_of_many_steps_only_those_without_neighbours_are_marked() -> None:
    values = [1.0, 1.0, None, 1.0, *[None] * MOST_MARKED]
    [(_, path)] = line_chart(Frame("t", [""] * len(values)), [ChartLine("x", values)]).marks

    assert path.count("M") == 1


AT = datetime(2026, 11, 20, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (timedelta(days=1), ["20 Nov 02:30", "21 Nov 02:30"]),
        (timedelta(seconds=20), ["20 Nov 02:30:00", "20 Nov 02:30:20"]),
        (timedelta(days=365), ["20 Nov 2026 02:30", "20 Nov 2027 02:30"]),
    ],
)
def test_times_of_runs_are_told_apart(later: timedelta, told: list[str]) -> None:
    assert moments([AT, AT + later]) == told


@pytest.mark.parametrize("reach", PERIODS, ids=lambda reach: reach.name)
def test_steps_of_a_plot_tell_their_day(reach: PlotPeriod) -> None:
    steps = [f"{at:{reach.form}}" for at in reach.times(AT)]

    assert steps[-1].startswith("20 Nov")
    assert len(set(steps)) == len(steps)


def test_line_has_a_gap_where_nothing_is_known() -> None:
    [(_, path)] = line_chart(Frame("t", "abc"), [ChartLine("x", [1, None, 1])]).paths

    assert path.count("M") == 2
    assert "L" not in path


def test_bars_are_stacked_to_the_top() -> None:
    chart = bar_chart(Frame("t", "a"), [ChartLine("x", [3], 1), ChartLine("y", [7], 2)])

    assert [(bar.y, bar.height) for bar in chart.bars] == [(140, 60), (0, 140)]
    assert chart.columns[0].text == "a: x 3, y 7"


def test_chart_of_nothing_says_so() -> None:
    assert line_chart(Frame("t", "ab"), [ChartLine("x", [None, None])]).empty == "Nothing yet"
    assert bar_chart(Frame("t", "ab"), [ChartLine("x", [0, 0])]).empty == "Nothing yet"


@pytest.mark.parametrize(("value", "top"), [(0, 1), (0.83, 1), (1, 1), (7, 10), (12, 20), (101, 200), (23, 25)])
def test_tops_are_round_numbers(value: float, top: float) -> None:
    assert nice(value) == top


def test_values_are_told_shortly() -> None:
    words = [
        number_text(1234567.8),
        number_text(12.3456, "ms"),
        number_text(75.0, "%"),
        number_text(0.8312),
    ]
    assert words == ["1,234,568", "12.3 ms", "75%", "0.831"]
