"""Golden questions are asked by hand, by the clock and before a change, which they may refuse."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.urls import reverse

from memories.belief import review
from memories.errors import Conflict, Invalid, NotFound
from memories.index import configured_embedder, workspace_index
from memories.models import EmbeddingModel, Episode, GoldenQuestion, GoldenRun, Memory
from memories.privacy import erase
from memories.quality import golden_gate, golden_questions, golden_runs
from memories.quality.golden_gate import ProposedChange
from memories.quality.golden_questions import NewQuestion
from memories.settings import workspace_settings
from memories.worker.sweep import sweep
from tests.api_fixtures import caller
from tests.desk import member
from tests.management.test_commands import run
from tests.people import Person
from workspaces.models import Role, Subject

SIGNALS = ("keyword", "vector", "sessionBest", "sessionSome", "sessionVector", "number", "when")
WORSE = {"ranking": dict.fromkeys(SIGNALS, 0.0)}


@pytest.fixture
def asked(alice: Person) -> GoldenQuestion:
    """A question whose answer stands first among a dozen others."""
    memory = alice.note("The warehouse in Lisbon ships on Tuesdays", user_id="ada")
    for name in ("Berlin", "Paris", "Rome", "Oslo", "Madrid", "Vienna", "Prague", "Athens"):
        alice.note(f"The office in {name} has a cafeteria", user_id="ada")
    return golden_questions.add(
        alice.scope,
        NewQuestion("When does the warehouse ship?", user_id="ada", memory_ids=(memory.pk,)),
    )


def outcomes() -> list[str]:
    return list(GoldenRun.objects.order_by("pk").values_list("outcome", flat=True))


def test_a_run_tells_the_place_of_each_answer(alice: Person, asked: GoldenQuestion) -> None:
    made = golden_runs.run(alice.scope)
    asked.refresh_from_db()
    assert (made.outcome, made.found_after, asked.rank) == ("fine", 1.0, 1)
    kept = {"kept_before": True, "kept_after": True}
    assert made.results == [{"question": str(asked.pk), "before": 1, "after": 1, **kept}]


def test_what_is_forgotten_is_worse_the_next_time(alice: Person) -> None:
    kept = alice.note("The gate code is on the blue card")
    golden_questions.add(alice.scope, NewQuestion("Where is the gate code?", answer="blue card"))
    golden_runs.run(alice.scope)
    review.forget(alice.scope, kept.pk, "outdated")
    made = golden_runs.run(alice.scope)
    assert (made.outcome, made.worse, made.found_after) == ("worse", 1, 0.0)
    again = alice.note("The gate code is on the blue card")
    assert golden_runs.run(alice.scope).better == 1
    review.forget(alice.scope, again.pk, "outdated")
    with pytest.raises(CommandError, match="worse"):
        run("golden")


def test_a_newer_version_answers_too(alice: Person) -> None:
    old = alice.note("Ada lives in Lisbon")
    question = NewQuestion("Where does Ada live?", memory_ids=(old.pk,), layers=("memories",))
    golden_questions.add(alice.scope, question)
    review.edit(alice.scope, old.pk, {"content": "Ada lives in Porto"})
    assert golden_runs.run(alice.scope).found_after == 1.0


def test_an_episode_answers_by_the_callers_own_id(alice: Person) -> None:
    http = caller(alice)
    said = [{"role": "user", "content": "My cat is called Tom.", "id": "m7"}]
    http.post("/memories/ingest", {"messages": said, "userId": "ada", "threadId": "t1"})
    body = {"query": "What is the cat called?", "userId": "ada", "threadId": "t1"}
    made = http.post("/golden-questions", body | {"externalIds": ["m7"]})
    assert (made.status, made.body["userId"], made.body["threadId"]) == (201, "ada", "t1")
    assert made.body["episodeIds"] == [str(Episode.objects.get().pk)]
    assert http.post("/golden-runs", {}).body["foundAfter"] == 1.0
    assert http.get(f"/golden-questions/{made.body['id']}").body["rank"] == 1


def test_questions_without_an_answer_are_refused(alice: Person, mallory: Person) -> None:
    other = mallory.note("Not hers")
    http = caller(alice)
    ask = {"query": "Where?"}
    assert http.post("/golden-questions", ask).fields == ["answer"]
    assert http.post("/golden-questions", ask | {"externalIds": ["none"]}).fields == ["externalIds"]
    assert http.post("/golden-questions", ask | {"memoryIds": [str(other.pk)]}).status == 400
    unknown = ask | {"answer": "here", "threadId": "none"}
    assert http.post("/golden-questions", unknown).fields == ["threadId"]
    many = {"questions": [ask | {"answer": "here"}, ask]}
    assert http.post("/golden-questions/import", many).fields == ["questions[1].answer"]
    assert not GoldenQuestion.objects.exists()


def test_there_is_an_end_to_them(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.quality.golden_questions.MOST", 1)
    golden_questions.add(alice.scope, NewQuestion("Where?", answer="here"))
    with pytest.raises(Invalid, match="at most 1"):
        golden_questions.add(alice.scope, NewQuestion("When?", answer="now"))


def test_agents_and_strangers_have_no_part_in_them(
    alice: Person, bob: Person, mallory: Person, asked: GoldenQuestion
) -> None:
    made = golden_runs.run(alice.scope)
    paths = (f"/golden-questions/{asked.pk}", f"/golden-runs/{made.pk}")
    for path in paths:
        assert caller(alice).get(path).status == 200
        assert caller(bob).get(path).status == 404
        assert caller(mallory).get(path).status == 404
    for path in ("/golden-questions", "/golden-runs"):
        assert len(caller(alice).get(path).body["results"]) == 1
        assert caller(bob).get(path).status == 403
        assert caller(mallory).get(path).body["results"] == []
    with pytest.raises(NotFound):
        golden_questions.remove(mallory.scope, asked.pk)
    assert caller(alice).delete(paths[0]).status == 204


def test_weights_that_answer_worse_wait_for_a_word(alice: Person, asked: GoldenQuestion) -> None:
    http = caller(alice)
    worse = {"weights": WORSE["ranking"]}
    refused = http.call("PATCH", "/memories/ranking", worse)
    assert (refused.status, refused.body["code"]) == (409, "worse_answers")
    assert "anyway" in refused.body["detail"]
    [line] = http.get("/golden-runs").body["results"]
    assert line["changed"] == sorted(f"ranking.{name}" for name in SIGNALS)
    assert [each["change"] for each in line["results"]] == ["worse"]
    assert workspace_settings.settings_of(alice.scope).ranking.named()["vector"] > 0
    done = http.call("PATCH", "/memories/ranking", worse | {"anyway": True})
    assert done.status == 200
    assert outcomes() == ["refused", "anyway"]


def test_one_that_gets_worse_waits_for_a_word_though_another_gets_better(alice: Person, asked: GoldenQuestion) -> None:
    newest = alice.note("Nobody waters the fern", user_id="ada")
    for query in ("When does the warehouse ship?", "Which warehouse ships on Tuesdays?"):
        golden_questions.add(alice.scope, NewQuestion(query, user_id="ada", memory_ids=(newest.pk,)))
    http = caller(alice)
    refused = http.call("PATCH", "/memories/ranking", {"weights": WORSE["ranking"]})
    assert (refused.status, refused.body["code"]) == (409, "worse_answers")
    [run] = http.get("/golden-runs").body["results"]
    assert (run["worse"], run["better"]) == (1, 2)
    assert run["meanAfter"] > run["meanBefore"]
    assert run["foundAfter"] >= run["foundBefore"]


def test_an_answer_that_the_context_lost_is_worse_at_the_same_place(alice: Person) -> None:
    about = {"userId": "ada", "threadId": "talk"}
    said = {"role": "user", "content": "I live in Lisbon near the tram depot.", "id": "home"}
    http = caller(alice)
    http.post("/memories/ingest", {"messages": [said], **about})
    question = {"query": "Where does Ada live?", "userId": "ada", "externalIds": ["home"]}
    assert http.post("/golden-questions", question).status == 201
    assert http.post("/golden-runs", {}).body["worse"] == 0
    [row] = http.get("/golden-questions").body["results"]
    assert (row["rank"], row["inContext"]) == (1, True)
    for memory in http.get("/memories").body["results"]:
        http.delete(f"/memories/{memory['id']}", reason="outdated")
    for _ in range(2):  # it stays so until it is as good again
        run = http.post("/golden-runs", {}).body
        [line] = run["results"]
        assert (line["before"], line["after"], line["inContextAfter"]) == (1, 1, False)
        [row] = http.get("/golden-questions").body["results"]
        assert (row["rank"], row["inContext"]) == (1, False)
        assert GoldenQuestion.objects.get().worse_since is not None
    first = http.get("/golden-runs").body["results"][1]
    assert (first["outcome"], first["worse"]) == ("worse", 1)
    assert first["results"][0]["inContextBefore"] is True


def test_settings_are_tried_without_being_changed(alice: Person, asked: GoldenQuestion) -> None:
    tried = caller(alice).post("/golden-runs", {"settings": WORSE})
    assert (tried.body["outcome"], tried.body["cause"], tried.body["worse"]) == ("worse", "settings", 1)
    alice.workspace.refresh_from_db()
    assert "ranking" not in alice.workspace.settings
    refused = caller(alice).call("PATCH", "", {"settings": WORSE})
    assert refused.status == 409
    other = {"settings": {"llm": "always"}}
    assert caller(alice).call("PATCH", "", other).status == 200
    assert outcomes() == ["worse", "refused"]


def test_a_workspace_may_refuse_or_ask_nothing(alice: Person, asked: GoldenQuestion) -> None:
    change = workspace_settings.change_workspace
    change(alice.scope, changes={"goldenQuestions": {"gate": "refuse"}})
    with pytest.raises(Conflict, match="goldenQuestions.gate"):
        change(alice.scope, changes=WORSE, anyway=True)
    change(alice.scope, changes={"goldenQuestions": {"gate": "off"}})
    change(alice.scope, changes=WORSE)
    assert outcomes() == ["refused"]


def test_without_questions_nothing_is_asked(alice: Person) -> None:
    workspace_settings.change_workspace(alice.scope, changes=WORSE)
    assert not GoldenRun.objects.exists()


def test_a_pattern_whose_findings_answer_is_not_switched_off_unasked(alice: Person) -> None:
    alice.say("My favourite editor is Helix.", user_id="ada")
    memory = Memory.objects.get()
    rule = memory.facts.get().rule
    question = NewQuestion("Which editor?", user_id="ada", memory_ids=(memory.pk,), layers=("memories",))
    golden_questions.add(alice.scope, question)
    grace = member(alice.workspace, Role.ADMIN)
    page = reverse("admin:memories_rules")
    answer = grace.client.post(page, {"rule": rule, "off": "1"})
    assert "worse=" in answer.url
    assert "Switch off anyway" in grace.sees(answer.url)
    grace.client.post(page, {"rule": rule, "off": "1", "anyway": "1"})
    alice.workspace.refresh_from_db()
    assert alice.workspace.settings["patternsOff"] == [rule]
    assert outcomes() == ["refused", "anyway"]


def test_another_model_is_tried_before_a_workspace_speaks_it(alice: Person, asked: GoldenQuestion) -> None:
    index = workspace_index.index_of(alice.workspace.pk)
    assert index.embedding_model is not None
    other = configured_embedder.configured_model()
    assert isinstance(other, EmbeddingModel)
    made = golden_gate.check(alice.scope, {}, ProposedChange(model=other))
    assert made is not None
    assert (made.cause, made.outcome) == ("model", "fine")
    assert made.changed[0].startswith("embedding model")


def test_the_clock_asks_once_a_day(alice: Person, asked: GoldenQuestion) -> None:
    assert sweep().golden == 1
    assert sweep().golden == 0
    made = GoldenRun.objects.get()
    GoldenRun.objects.filter(pk=made.pk).update(created_at=made.created_at - timedelta(days=2))
    assert golden_runs.due() == [alice.workspace.pk]


def test_old_runs_go(alice: Person, asked: GoldenQuestion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden_runs, "KEPT", 2)
    newest = [golden_runs.run(alice.scope).pk for _ in range(3)][1:]
    assert set(GoldenRun.objects.values_list("pk", flat=True)) == set(newest)


def test_a_question_goes_with_what_it_stands_on(alice: Person, asked: GoldenQuestion) -> None:
    alice.say("My cat is called Behemoth.", user_id="cat", thread_id="t1")
    golden_questions.add(alice.scope, NewQuestion("What is the cat called?", answer="Behemoth"))
    alice.say("Please forget what my cat is called.", user_id="cat", thread_id="t1")
    assert list(GoldenQuestion.objects.all()) == [asked]
    target = erase.target_of(alice.scope, "subject", Subject.objects.get(external_id="ada").pk)
    assert erase.plan(target)["golden questions"] == 1
    erase.run(erase.request(alice.scope, target).pk)
    assert not GoldenQuestion.objects.exists()


def test_a_hit_becomes_a_question_by_one_click(alice: Person, mallory: Person) -> None:
    alice.note("Prefers tea")
    grace, viewer = member(alice.workspace, Role.EDITOR), member(alice.workspace, Role.VIEWER)
    search, page = reverse("admin:memories_search"), reverse("admin:memories_golden")
    answer = grace.client.get(search, {"query": "tea"})
    assert "This has to be found" in answer.content.decode()
    assert "This has to be found" not in viewer.sees(f"{search}?query=tea")
    sent = dict(answer.context["asked"]) | {
        "item": str(answer.context["answer"].shown[0].row.id),
        "found_in": "memories",
    }
    assert viewer.client.post(page, sent).status_code == 403
    stranger = member(mallory.workspace)
    assert stranger.client.post(f"{page}?workspace=orchard", sent).status_code == 404
    stranger.client.post(page, sent)
    grace.client.post(page, sent | {"query": ""})
    assert not GoldenQuestion.objects.exists()
    grace.client.post(page, sent)
    [row] = GoldenQuestion.objects.all()
    assert (row.query, row.created_by) == ("tea", f"user:{grace.user.pk}")
    grace.client.post(page, {"run": "1"})
    shown = viewer.sees(page)
    assert "number 1" in shown
    assert ">Prefers tea</a>" in shown
    assert "0 worse" in shown
    assert "Ask them now" not in shown
    grace.client.post(page, {"remove": str(row.pk)})
    grace.client.post(page, {"remove": "none"})
    assert not GoldenQuestion.objects.exists()
    assert grace.status(f"{page}?run={GoldenRun.objects.get().pk}") == 200


def test_the_settings_page_asks_before_it_saves(alice: Person, asked: GoldenQuestion) -> None:
    grace = member(alice.workspace, Role.OWNER)
    page = reverse("admin:workspaces_workspace_change", args=[alice.workspace.pk])
    sent = {
        "name": "Orchard",
        "slug": "orchard",
        **{f"ranking.{name}": "0" for name in SIGNALS},
        "memberships-TOTAL_FORMS": "0",
        "memberships-INITIAL_FORMS": "0",
    }
    assert "answered worse" in grace.client.post(page, sent).content.decode()
    alice.workspace.refresh_from_db()
    assert "ranking" not in alice.workspace.settings
    grace.client.post(page, sent | {"anyway": "on"})
    alice.workspace.refresh_from_db()
    assert alice.workspace.settings["ranking"] == WORSE["ranking"]


def test_the_command_imports_asks_and_tries(alice: Person, tmp_path: Path) -> None:
    alice.note("The gate code is on the blue card")
    alice.note("Prefers tea")
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"query": "Where is the gate code?", "answer": "blue card"}) + "\n")
    assert "1 golden questions added" in run("golden", "--import", str(file))
    assert "100% found" in run("golden")
    tried = json.loads(run("golden", "--json", "--try", json.dumps({"llm": "always"})))
    assert [each["change"] for each in tried["results"]] == ["same"]
    file.write_text("")
    with pytest.raises(CommandError, match="no question"):
        run("golden", "--import", str(file))
    file.write_text('{"query": "Where?", "answers": "here"}')
    with pytest.raises(CommandError, match="line 1"):
        run("golden", "--import", str(file))
    with pytest.raises(CommandError):
        run("golden", "--try", '{"llm": "never"}')
