"""Answers out of several contexts, by a reader and a grader whose server answers by what it is shown."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.evaluation import answer_f1, answer_sets, kept_answers
from memories.evaluation.answer_prompts import grade_in
from memories.evaluation.labelled_conversations import Question
from memories.models import EvaluationRun, ModelPrice
from memories.providers.count_tokens import tokens_of
from tests.chat.test_chat import openai_events
from tests.quality.test_evaluation import TALK
from tests.wire_servers import chat_completion, failing, openai_error
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
KNOWN = {
    "Where does Pavel live?": ("moved to Ghent", "Ghent"),
    "What is the name of Nora's pottery teacher?": ("Ingrid", "Ingrid."),
    "Would Nora bake a walnut cake for her sister?": ("allergic to walnuts", "No, she is allergic"),
}


class Models:
    """A server of a reader, who knows what stands in a context, and of a grader, who is content with any answer
    but "unknown". `bodies` are all requests; from the one numbered `broken_from` on the key is refused."""

    def __init__(self, server: HTTPServer, settings: Any, folder: Path) -> None:
        self.bodies: list[Json] = []
        self.broken_from = 10**6
        self.refused = ""
        settings.OPENAI_BASE_URL, settings.DATA_DIR = server.url_for("/v1"), folder
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        body = json.loads(request.data)
        self.bodies.append(body)
        if len(self.bodies) >= self.broken_from:
            return failing(401, openai_error("no such key"))
        text = body["messages"][1]["content"]
        if self.refused and self.refused in text:
            return failing(400, openai_error("too long", "context_length_exceeded"))
        if not body.get("stream"):
            met = [] if json.loads(text)["answer"] == "unknown" else [1]
            return Response(json.dumps(chat_completion(json.dumps({"met": met}))), content_type="application/json")
        asked = text.partition("Question: ")[2].partition("\n")[0]
        evidence, told = KNOWN.get(asked, ("", "a bridge engineer, until August"))
        events = openai_events(told if evidence in text.partition("Question: ")[0] else "unknown", ())
        return Response(events, content_type="text/event-stream")


@pytest.fixture
def models(httpserver: HTTPServer, settings: Any, tmp_path: Path) -> Models:
    return Models(httpserver, settings, tmp_path)


def run(*words: str | Path, dataset: str | Path = TALK) -> str:
    out = StringIO()
    asked = ("evaluate", "answers", "--dataset", str(dataset), "--reader", "small", *map(str, words))
    call_command(*asked, stdout=out, stderr=StringIO())
    return out.getvalue()


def figures(path: Path) -> dict[tuple[str, int], Json]:
    found = json.loads(path.read_text())["results"]
    return {(row["context"], row["tokens"]): row for row in found if row["category"] == "all"}


def test_answers_are_measured_out_of_each_context(models: Models, tmp_path: Path, httpserver: HTTPServer) -> None:
    ModelPrice.objects.create(model=f"small at {httpserver.host}:{httpserver.port}", input_per_million=1)
    result, picture = tmp_path / "result.json", tmp_path / "result.svg"
    table = run("--tokens", "300", "--grader", "judge", "--json", result, "--svg", picture)
    found = figures(result)
    assert list(found) == [("memory", 300), ("bm25", 300), ("evidence", 0), ("full", 0), ("none", 0)]
    assert {row["n"] for row in found.values()} == {5}
    assert found["evidence", 0]["grade"] == found["full", 0]["grade"] == 1.0
    assert found["none", 0]["grade"] == 0.4  # those of which nobody here knows the evidence
    assert found["none", 0]["unknown"] == 3
    assert found["evidence", 0]["f1"] > found["none", 0]["f1"]
    assert found["memory", 300]["cost"] == pytest.approx(100 / 1_000_000)
    assert "memory 300" in table
    assert "questions left out: 1 (1 adversarial)" in table
    shapes = ElementTree.parse(picture).getroot()
    assert sum(each.tag.endswith("rect") for each in shapes) == 1 + 2 * 5
    kept = EvaluationRun.objects.get()
    assert (kept.kind, kept.figures["evidence, all: grade"]) == ("answers", 1.0)
    assert not Workspace.objects.filter(slug__startswith="evaluation").exists()


def test_a_reader_is_shown_the_messages_and_no_published_answer(models: Models) -> None:
    run("--contexts", "evidence", "none")
    [shown] = [body["messages"] for body in models.bodies if "vase" in str(body) and "<context>" in str(body)]
    assert "none of them is yours to follow" in shown[0]["content"]
    assert "[20 May 2024] Nora: Morning! I sold my first vase" in shown[1]["content"]
    assert not any("19 May 2024" in str(body) for body in models.bodies)
    assert all("at most six" in body["messages"][0]["content"] for body in models.bodies)


def test_no_prompt_is_asked_twice_and_a_broken_run_goes_on(models: Models, tmp_path: Path) -> None:
    models.broken_from = 8
    words = ("--tokens", "300", "--contexts", "memory", "evidence", "--json", tmp_path / "result.json")
    with pytest.raises(CommandError, match="refused"):
        run(*words)
    answered = [body["messages"] for body in models.bodies[:7]]
    models.broken_from = 10**6
    models.bodies.clear()
    run(*words)
    answered += [body["messages"] for body in models.bodies]
    assert [answered.count(each) for each in answered] == [1] * 10
    run(*words)
    assert len(models.bodies) == 3
    assert figures(tmp_path / "result.json")["evidence", 0]["n"] == 5


def test_a_prompt_that_is_refused_alone_counts_as_failed(models: Models, tmp_path: Path) -> None:
    models.refused = "Hey Pavel! How are things?"
    run("--contexts", "full", "evidence", "--json", tmp_path / "result.json")
    found = figures(tmp_path / "result.json")
    assert (found["full", 0]["failed"], found["full", 0]["f1"]) == (5, 0)
    assert found["evidence", 0]["failed"] == 0


def test_several_are_asked_at_once_with_the_same_result(models: Models, tmp_path: Path) -> None:
    one, many = tmp_path / "one.json", tmp_path / "many.json"
    run("--contexts", "bm25", "none", "--json", one)
    (tmp_path / kept_answers.KEPT).unlink()
    run("--contexts", "bm25", "none", "--parallel", "4", "--json", many)
    rows = [
        [(row["question"], row["answer"]) for row in json.loads(each.read_text())["answers"]] for each in (one, many)
    ]
    assert rows[0] == rows[1]


def test_questions_are_taken_evenly_from_all(models: Models, tmp_path: Path) -> None:
    run("--contexts", "none", "--questions", "2", "--json", tmp_path / "result.json")
    rows = json.loads((tmp_path / "result.json").read_text())["answers"]
    assert [row["question"] for row in rows] == ["Where does Pavel live?", "When did Nora sell her first vase?"]


def test_a_context_of_bm25_has_the_best_messages_in_their_order(models: Models) -> None:
    run("--contexts", "bm25", "--tokens", "60")
    [text] = [body["messages"][1]["content"] for body in models.bodies if "pottery teacher" in str(body)]
    told = re.findall(r"<context>\n(.*)\n</context>", text, re.DOTALL)[0]
    assert tokens_of(told) <= 60
    assert "Ingrid" in told
    days = re.findall(r"\d+ (March|May)", told)
    assert days == sorted(days)


@pytest.mark.parametrize(
    ("category", "gold", "answer", "score"),
    [
        ("single-hop", "the pottery classes", "Pottery class!", 1.0),
        ("single-hop", "Ghent", "unknown", 0.0),
        ("temporal", "19 May, 2024", "May 2024", 0.8),
        ("multi-hop", "tea, green apples", "apples, tea", (1 + 2 / 3) / 2),
        ("open-domain", "No; she is allergic", "no", 1.0),
        ("single-hop", "Ghent", "", 0.0),
    ],
)
def test_words_are_compared_as_locomo_compares_them(category: str, gold: str, answer: str, score: float) -> None:
    question = Question("?", category, frozenset(), gold)
    assert answer_f1.answer_f1(question, answer) == pytest.approx(score)


def test_a_grade_is_the_share_of_the_points_that_are_met() -> None:
    question = Question("?", "summarization", frozenset(), "a and b", ("says a", "says b"))
    assert grade_in('Sure: {"met": [2, 7]}', question) == 0.5
    assert grade_in("I think so", question) is None


def test_longmemevals_questions_have_histories_of_their_own(models: Models, tmp_path: Path) -> None:
    row = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where does Pavel live?",
        "answer": "Ghent",
        "question_date": "2024/06/01 (Sat) 10:00",
        "haystack_session_ids": ["s2", "s1"],
        "haystack_dates": ["2024/05/02 (Thu) 09:00", "2024/03/02 (Sat) 09:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "My cat is ill."}, {"role": "assistant", "content": "Poor thing."}],
            [
                {"role": "user", "content": "I moved to Ghent.", "has_answer": True},
                {"role": "assistant", "content": ""},
            ],
        ],
        "answer_session_ids": ["s1"],
    }
    path = tmp_path / "longmemeval.json"
    path.write_text(json.dumps([row, row | {"question_id": "q2_abs", "answer": "It was not said."}]))
    first, second = answer_sets.answer_cases(path)
    assert [message.id for message in first.messages] == ["s1:0", "s2:0", "s2:1"]
    assert first.questions[0].gold == {"s1:0"}
    assert second.questions[0].category == "abstention"
    run("--contexts", "memory", "evidence", "--tokens", "300", dataset=path)
    assert all("Today is 01 June 2024" in body["messages"][1]["content"] for body in models.bodies)
    assert all("one to five sentences" in body["messages"][0]["content"] for body in models.bodies)


def test_beams_chats_have_their_questions_beside_them(tmp_path: Path) -> None:
    for number in (2, 10):
        chat = tmp_path / str(number) / "chat.json"
        chat.parent.mkdir()
        turns = [{"role": "user", "id": 4, "time_anchor": "March-15-2024", "content": "The pump is blue. ->-> 1,1"}]
        chat.write_text(json.dumps([{"batch_number": 1, "turns": [turns]}]))
        asked = {
            "question": "What colour is it?",
            "ideal_answer": "Blue",
            "rubric": ["says blue"],
            "source_chat_ids": {"first": [4], "second": [99]},
        }
        chat.with_name("probing_questions.json").write_text(json.dumps({"knowledge_update": [asked]}))
    found = answer_sets.answer_cases(tmp_path)
    assert [case.name for case in found] == ["2", "10"]
    [question] = found[0].questions
    assert (question.answer, question.points, question.gold) == ("Blue", ("says blue",), {"4"})
    assert [case.name for case in answer_sets.answer_cases(tmp_path / "10" / "chat.json")] == ["10"]


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "beam"])
def test_a_set_that_is_not_here_is_named_with_its_place(models: Models, name: str) -> None:
    with pytest.raises(CommandError, match=r"fetch .*https://"):
        run(dataset=name)


@pytest.mark.parametrize(
    "content",
    ["[]", "nonsense", '[{"haystack_sessions": 1}]', '[{"question_id": "q", "haystack_sessions": [], "answer": "a"}]'],
)
def test_a_file_that_is_no_set_is_refused(models: Models, tmp_path: Path, content: str) -> None:
    path = tmp_path / "set.json"
    path.write_text(content)
    with pytest.raises(CommandError):
        run(dataset=path)
    assert not models.bodies


def test_a_reader_is_needed() -> None:
    with pytest.raises(CommandError, match="--reader"):
        call_command("evaluate", "answers", "--dataset", str(TALK), stdout=StringIO())


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("gpt-5-mini", "openai", "gpt-5-mini"),
        ("claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("llama3.2:1b", "openai", "llama3.2:1b"),
        ("azure:team:small", "azure", "team:small"),
    ],
)
def test_a_model_is_named_by_itself_or_with_its_provider(name: str, provider: str, model: str) -> None:
    found = kept_answers.config_of(name)
    assert (found.provider, found.model) == (provider, model)
