"""Quality, measured on labelled files."""

import json
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memories.evaluation import (
    change_stories,
    conflicts,
    extraction,
    retrieval,
)
from memories.evaluation.evaluation_report import retrieval_json, retrieval_lines
from memories.evaluation.labelled_conversations import locomo_cases
from memories.evaluation.retrieval import Retrieval
from memories.models import Entry, Episode, EvaluationRun, Speaker, Vector
from memories.providers import EmbedderConfig, embedder_from
from memories.transcripts import Unreadable
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
DATA = Path(__file__).parents[1] / "data"
TALK = DATA / "locomo_small.json"
PAIRS = DATA / "conflict_pairs_development.jsonl"


def run(*words: str | Path) -> str:
    out = StringIO()
    call_command("evaluate", *map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def write(folder: Path, *lines: object) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


# ---- measures -------------------------------------------------------------------------------


def test_a_ranking_is_measured_by_where_the_right_messages_stand() -> None:
    found = retrieval.measures_of(["a", "x", "b", "x", "c"], {"b", "z"})
    assert found["recall@5"] == found["recall@20"] == 0.5
    assert found["mrr"] == pytest.approx(1 / 3)
    assert found["ndcg@10"] == pytest.approx(0.5 / (1 + 0.6309297535714575))


def test_a_perfect_ranking_has_full_marks() -> None:
    assert set(retrieval.measures_of(["a", "b"], {"a", "b"}).values()) == {1.0}


def test_a_ranking_that_finds_nothing_has_none() -> None:
    assert set(retrieval.measures_of([], {"a"}).values()) == {0.0}


def test_texts_overlap_by_their_shared_terms() -> None:
    one, other = extraction.terms("Ada drinks green tea"), extraction.terms("Ada drank tea")
    assert extraction.overlap(one, one) == 1.0
    assert extraction.overlap(one, other) == pytest.approx(4 / 7)
    assert extraction.overlap(one, []) == extraction.overlap([], []) == 0.0


# ---- LoCoMo's labels ------------------------------------------------------------------------


def test_questions_name_the_messages_that_answer_them() -> None:
    (case,) = locomo_cases(TALK)
    assert (case.name, len(case.messages)) == ("talk-1", 12)
    by_category = {question.category: question for question in case.questions}
    assert by_category["multi-hop"].gold == {"D1:5", "D2:5"}
    assert all("greyhound" not in question.text for question in case.questions)


def test_questions_that_cannot_be_scored_are_counted_by_the_reason(tmp_path: Path, db: None) -> None:
    (label,) = json.loads(TALK.read_text())
    scored = [{"question": "what?", "category": 4, "evidence": ["D1:2"]}]
    left = [
        {"question": "who?", "category": 5, "evidence": ["D1:2"]},
        {"question": "where?", "category": 4, "evidence": []},
        {"question": "when?", "category": 2, "evidence": ["D99:1"]},
        {"question": "why?", "category": 9, "evidence": ["D1:2"]},
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([label | {"qa": scored + left}]))
    found = retrieval.evaluate(locomo_cases(path), lambda n: None)
    assert (
        "questions left out: 4 (1 adversarial, 1 of no category, 1 with evidence that is not there, 1 without evidence)"
    ) in retrieval_lines(found)
    assert sum(retrieval_json(found)["leftOut"].values()) == 4


def test_facts_name_the_messages_that_say_them() -> None:
    (case,) = locomo_cases(TALK)
    assert len(case.facts) == 8
    assert case.facts[0].gold == {"D1:2"}


def test_labels_of_another_shape_are_refused(tmp_path: Path) -> None:
    (label,) = json.loads(TALK.read_text())
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([label | {"qa": ["what?"]}]))
    with pytest.raises(Unreadable, match="talk-1"):
        locomo_cases(path)


# ---- retrieval ------------------------------------------------------------------------------


def test_rankings_are_measured_side_by_side(db: None) -> None:
    found = retrieval.evaluate(locomo_cases(TALK), lambda n: None)
    assert set(found.measured) == {"hybrid", "keyword", "vector"}
    best = found.measured["hybrid"]
    assert len(best["all"]) == 5
    assert retrieval.mean(best["all"], "recall@20") == 1.0
    assert retrieval.mean(best["single-hop"], "mrr") > 0.5


def test_a_category_below_a_baseline_is_told() -> None:
    found = Retrieval()
    for ranking, recall in (("hybrid", 0.5), ("keyword", 0.6), ("vector", 0.4)):
        found.add(ranking, "multi-hop", dict.fromkeys(retrieval.COLUMNS, recall))
    assert "below keyword: multi-hop (n 1), recall@10 0.500 < 0.600" in retrieval_lines(found)
    assert [low["baseline"] for low in retrieval_json(found)["below"]] == ["keyword"] * 2


def test_that_no_category_is_below_is_told_too() -> None:
    found = Retrieval()
    for ranking in ("hybrid", "keyword", "vector"):
        found.add(ranking, "multi-hop", dict.fromkeys(retrieval.COLUMNS, 0.5))
    told = "by recall@10, hybrid is below keyword or vector in no category"
    assert list(retrieval_lines(found))[-1] == told


def test_nothing_is_left_of_the_scratch_workspace(db: None) -> None:
    retrieval.evaluate(locomo_cases(TALK), lambda n: None)
    for model in (Workspace, Episode, Entry, Vector, Speaker):
        assert model.objects.count() == 0


def test_nothing_is_left_after_a_failure_either(db: None) -> None:
    def fail(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrieval.evaluate(locomo_cases(TALK), fail)
    assert not Workspace.objects.exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [("evaluate", ("retrieval", "--dataset", TALK)), ("benchmark", ()), ("benchmarkfolding", ())],
)
@pytest.mark.parametrize(("file", "told"), [("none/x.json", "there is no folder .*none"), (".", "is a folder")])
def test_a_file_that_cannot_be_written_is_told_before_the_work_begins(
    tmp_path: Path, command: str, words: tuple[str | Path, ...], file: str, told: str
) -> None:
    with pytest.raises(CommandError, match=told):
        call_command(command, *map(str, words), "--json", str(tmp_path / file))


def test_the_command_tells_a_table_and_writes_the_same_as_json(db: None, tmp_path: Path) -> None:
    told = run("retrieval", "--dataset", TALK, "--json", tmp_path / "out.json")
    values = json.loads((tmp_path / "out.json").read_text())
    hybrid = values["rankings"]["hybrid"]["all"]
    assert hybrid["n"] == 5
    assert f"{hybrid['ndcg@10']:.3f}" in told
    assert told.count(" keyword  ") == told.count(" vector  ") == 5  # four categories and all


@pytest.mark.parametrize(
    ("what", "path", "figure"),
    [
        ("retrieval", TALK, "hybrid, all: recall@10"),
        ("extraction", TALK, "coverage"),
        ("conflicts", PAIRS, "updates superseded"),
    ],
)
def test_a_run_is_kept_with_its_figures(db: None, what: str, path: Path, figure: str) -> None:
    began = time.monotonic()
    run(what, "--dataset", path, "--limit", "1")
    kept = EvaluationRun.objects.get(kind=what)
    assert kept.name == path.name
    assert 0 <= kept.figures[figure] <= 1
    assert kept.details
    assert 0 <= kept.seconds <= time.monotonic() - began + 0.1  # it is rounded


# ---- extraction: without a database ---------------------------------------------------------


def test_facts_are_matched_to_the_labels_of_their_turn() -> None:
    found = extraction.evaluate(locomo_cases(TALK), lambda n: None).measured()
    assert found["turns"] == 12
    assert found["fact-bearing"] == pytest.approx(8 / 12)
    assert found["coverage"] > 0.5
    assert found["turn precision"] > 0.8
    assert found["fact recall"] > 0.4


def test_the_gatekeeper_is_measured_too() -> None:
    found = extraction.evaluate(locomo_cases(TALK), lambda n: None).measured()
    assert found["skipped"] > 0.1
    assert (found["skipped rightly"], found["lost by skipping"]) == (1.0, 0.0)


def test_the_command_tells_coverage_and_times(db: None) -> None:
    told = run("extraction", "--dataset", TALK)
    assert "coverage" in told
    assert "ms p95" in told


# ---- conflicts: without a database ----------------------------------------------------------


def judged(*labelled: conflicts.LabelledPair) -> conflicts.Judged:
    return conflicts.evaluate(labelled, embedder_from(EmbedderConfig("local")), lambda n: None)


def test_judgements_are_counted_by_label() -> None:
    found = judged(
        conflicts.LabelledPair("Ada lives in Rome.", "Ada lives in Oslo now.", "update"),
        conflicts.LabelledPair("Ada lives in Rome.", "Ada plays the cello.", "different"),
        conflicts.LabelledPair("Ada lives in Rome.", "Bob keeps bees.", "same"),
    ).measured()
    assert (found["pairs"], found["updates superseded"]) == (3, 1.0)
    assert (found["duplicates merged"], found["different merged or superseded"]) == (0.0, 0.0)


def test_what_was_judged_wrongly_is_kept_with_its_rule() -> None:
    (wrong,) = judged(conflicts.LabelledPair("Ada lives in Rome.", "Bob keeps bees.", "same")).wrong
    assert (wrong["label"], wrong["judged"]) == ("same", "different")
    assert wrong["rule"]


def test_the_command_judges_the_first_pairs(db: None, tmp_path: Path) -> None:
    told = run("conflicts", "--dataset", PAIRS, "--limit", "20", "--json", tmp_path / "out.json")
    assert "updates superseded" in told
    assert json.loads((tmp_path / "out.json").read_text())["pairs"] == 20


@pytest.mark.parametrize("line", [{"old": "a", "new": "b"}, {"old": "a", "new": "b", "label": "alike"}, ["a", "b"]])
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, line: Any) -> None:
    good = {"old": "a", "new": "b", "label": "duplicate"}
    with pytest.raises(CommandError, match="line 2"):
        run("conflicts", "--dataset", write(tmp_path, good, line))


def test_pairs_and_stories_of_one_half_are_measured_alone(db: None, tmp_path: Path) -> None:
    pair = {"old": "Ada lives in Rome.", "new": "Ada lives in Oslo now.", "label": "update"}
    path = write(tmp_path, pair | {"half": "one"}, pair | {"half": "other"}, pair)
    assert len(conflicts.pairs(path, "one")) == 1
    story = {"id": "a", "kind": "still", "messages": [{"content": "I live in Rome."}]}
    path = write(tmp_path, story | {"half": "one"}, story | {"half": "other"})
    assert len(change_stories.stories(path, "other")) == 1


# ---- changes: stories, told to a workspace of their own ----------------------------------------


def test_stories_of_changes_are_counted_by_what_came_of_them(db: None, tmp_path: Path) -> None:
    rome, oslo = {"content": "I live in Rome."}, {"content": "I live in Oslo now."}
    path = write(
        tmp_path,
        {"id": "a", "kind": "clauses", "messages": [rome, oslo], "old": ["Rome"], "new": ["Oslo"]},
        {"id": "b", "kind": "clauses", "messages": [rome], "old": ["Rome"], "new": ["Oslo"]},
        {"id": "c", "kind": "still", "messages": [rome, oslo], "keep": ["Rome"]},
        {"id": "d", "kind": "opposite", "messages": [rome, rome], "old": ["Rome"]},
    )
    text = run("changes", "--dataset", path, "--json", tmp_path / "out.json")
    figures = json.loads((tmp_path / "out.json").read_text())
    assert figures["told in two clauses: replaced or questioned"] == 0.5
    assert figures["look-alikes: wrongly"] == figures["opposite as support: wrongly"] == 1.0
    assert "b: still believed: User lives in Rome; not believed: Oslo" in text


def test_messages_of_a_story_may_have_a_speaker_and_a_day(db: None, tmp_path: Path) -> None:
    messages = [
        {"content": "I live in Rome.", "name": "Ada", "on": "2026-05-01"},
        {"content": "I moved to Oslo.", "name": "Ada", "on": "2026-04-01"},
    ]
    path = write(tmp_path, {"id": "a", "kind": "dated", "messages": messages, "old": ["Ada lives in Rome"]})
    run("changes", "--dataset", path, "--json", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["wrong"] == []


def test_a_line_that_is_no_story_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="line 1 is no story"):
        run("changes", "--dataset", write(tmp_path, {"id": "a", "kind": "tale", "messages": []}))


@pytest.mark.parametrize("what", ["retrieval", "extraction", "conflicts"])
def test_a_missing_file_is_told(what: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.json"):
        run(what, "--dataset", tmp_path / "nowhere.json")


def test_a_file_without_labels_is_refused(tmp_path: Path) -> None:
    (label,) = json.loads(TALK.read_text())
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([label | {"qa": []}]))
    with pytest.raises(CommandError, match="no conversation with questions"):
        run("retrieval", "--dataset", path)


def test_help_ends_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("--help")
    assert "examples:\n  manage.py evaluate retrieval" in capsys.readouterr().out
