"""Short forms of the trials, over one real server; and that they can fail."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from bench import sentences, tenants
from bench.bounds import Bound, as_json, percentile
from bench.faults import document_rows, document_trial, rows
from bench.faults.acts import NOTE, SYNC, Act, Workload
from bench.faults.document_acts import SMALL, Writer
from bench.faults.document_trial import DocumentOptions, DocumentTrial, environment_of
from bench.faults.points import ALL, KILL, STOP, Point, plan
from bench.faults.trial import Options, Trial
from bench.http_client import Answer
from bench.load.clients import KINDS, Heard, Load, go_on
from bench.load.samples import Sample, Samples
from bench.pressure.trial import FLOOD, Presser, possible, results
from bench.pressure.victim import LIVE, Victim
from bench.processes import POSTGRES, WEB, WORKER
from bench.server import TrialServer
from bench.spare_folder import MARK, NotSpare, spare_folder
from tests import migrated_folder

pytestmark = pytest.mark.xdist_group("trials")
NEVER = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrialServer]:
    folder = tmp_path_factory.mktemp("trials")
    made = TrialServer(folder, environment_of(folder / "files"), web=2, workers=1)
    migrated_folder.copy_to(made.data)
    try:
        made.start()
        yield made
    finally:
        made.leave(keep=False)


# ---- over the server ------------------------------------------------------------------------


def test_clients_of_every_kind_are_answered(server: TrialServer):
    heard, samples = Heard(), Samples(server)
    # By this seed the first requests of the ten are of all kinds, however slow the machine is.
    load = Load(server.info["url"], server.path, server.info["key"], 10, 0.1, seed=9)
    # In a thread of its own: the browser of other tests leaves a loop in this one.
    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, go_on(load, heard, 6.0, samples.take)).result()
    assert (heard.failed, heard.refused.total()) == ({}, 0)
    assert set(KINDS) - set(heard.seconds) <= {"large"}  # of these there are few
    assert samples.taken[-1].connections > 0


@pytest.mark.parametrize("pressure", ["flood", "half", "guessers"])
def test_who_presses_takes_no_answer_from_another(server: TrialServer, pressure: str):
    keys = tenants.make_over(server, {"victim": {}, FLOOD: {}})
    url, paths = server.info["url"], {FLOOD: f"/api/v1/workspaces/{FLOOD}"}
    victim = Victim(url, "/api/v1/workspaces/victim", keys["victim"], memories=50)
    victim.fill()
    presser = Presser(url, {FLOOD: keys[FLOOD]}, paths, lambda: False, messages=50)
    [result] = results(presser, victim, possible(presser, [pressure]), seconds=2.0)
    assert set(result.felt.statuses) == {200}
    assert set(result.felt.health_statuses[LIVE]) == {200}
    assert sum(result.pressed[pressure].values()) > 0


def test_what_is_killed_and_stopped_loses_and_doubles_nothing(server: TrialServer):
    # Nobody asks for the sets of the other workspaces: they wait a minute by their settings, and
    # `RINGING` and a sweep more where a worker was killed that had heard their bell.
    wish = Options(
        seed=5,
        stopped_for=2.0,
        large=60,
        keyed=0.0,
        patience=360.0,
        deadline=time.monotonic() + 600,
    )
    points = [
        Point(1, KILL, WEB, "large", delay=0.3, place=0.9),
        Point(2, KILL, POSTGRES, "erase", delay=0.1, place=0.0),
        Point(3, STOP, WEB, "small", delay=0.1, place=0.5),
        Point(4, KILL, ALL, "fold", delay=0.2, place=0.0),
    ]
    outcome = Trial(server, wish).run(points, lambda done: None)
    assert (outcome.findings, len(outcome.tried)) == ([], 4)
    assert sum(outcome.acts[SYNC].values()) > 0


def test_what_is_killed_at_any_state_of_a_document_loses_and_doubles_nothing(server: TrialServer):
    wish = DocumentOptions(seed=5, patience=360.0, deadline=time.monotonic() + 600, hurried=True)
    points = [
        Point(1, KILL, WORKER, "done", delay=0.0, place=0.0),
        Point(2, KILL, WORKER, "extracting", delay=0.0, place=0.0),
        Point(3, KILL, WEB, "upload", delay=0.1, place=0.5),
        Point(4, KILL, WORKER, "indexing", delay=0.0, place=0.0),
        Point(5, KILL, WORKER, "memories", delay=0.0, place=0.0),
        Point(6, KILL, WEB, "sync", delay=0.1, place=0.0),
    ]
    trial = DocumentTrial(server, server.folder / "files", wish)
    outcome = trial.run(points, lambda done: None)
    assert (outcome.findings, len(outcome.tried)) == ([], 6)
    # What was kept, and is not there any more, would have been told.
    files = [each for each in (server.data / "blobs").rglob("*") if each.is_file()]
    files[0].rename(server.folder / "elsewhere")
    assert rows.LOST in {finding.kind for finding in document_rows.blobs_agree(server)}
    (server.folder / "elsewhere").rename(files[0])
    never = Writer(7).document(SMALL)
    kinds = {finding.kind for finding in document_rows.findings(server, [never], trial.files)}
    assert rows.LOST in kinds


def test_a_state_of_documents_is_hit_each_in_its_turn():
    points = list(document_trial.plan(30, 1))
    assert points == list(document_trial.plan(30, 1))
    assert {point.during for point in points} == set(document_trial.STATES)


def test_a_message_that_was_acknowledged_and_is_not_there_is_told(server: TrialServer):
    told = Answer(201, f'{{"sessionId": "{NEVER}"}}'.encode(), 0.1)
    act = Act(SYNC, "POST", "/", texts={"never": "Never sent."}, statuses=[201], answer=told)
    kinds = {finding.kind for finding in rows.findings(server, [act])}
    assert {rows.LOST, rows.DIFFERS} <= kinds


def test_a_message_that_was_kept_twice_is_told(server: TrialServer):
    act = Workload(6, "twice", server.path).small(NOTE)
    with server.client() as client:
        for key in ("one", "another"):
            act.note(client.ask(act.method, act.path, act.body, {"Idempotency-Key": key}))
    assert rows.DOUBLED in {finding.kind for finding in rows.findings(server, [act])}


def test_a_request_that_was_never_answered_is_told(server: TrialServer):
    act = Act(SYNC, "POST", "/", user="somebody", statuses=[0, 503])
    assert rows.STUCK in {finding.kind for finding in rows.findings(server, [act])}


# ---- the parts ------------------------------------------------------------------------------


def test_the_seed_decides_the_points_and_the_words():
    assert list(plan(20, 1, (KILL, STOP))) == list(plan(20, 1, (KILL, STOP)))
    assert list(plan(20, 1, (KILL, STOP))) != list(plan(20, 2, (KILL, STOP)))
    one, same = Workload(1, "a", "/w"), Workload(1, "a", "/w")
    assert [one.small().body for _ in range(5)] == [same.small().body for _ in range(5)]


def test_only_what_was_chosen_is_done():
    assert {point.fault for point in plan(30, 1, (STOP,))} == {STOP}


def test_no_two_marks_have_the_same_sentence():
    made = [sentences.sentence(1, str(mark)) for mark in range(2000)]
    assert len(set(made)) == len(made)


@pytest.mark.django_db
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path):
    (tmp_path / "letters").write_text("mine")
    with pytest.raises(CommandError, match="holds what no trial made") as refused:
        call_command("tryfaults", data=tmp_path, only=(KILL,))
    assert refused.value.returncode == 2
    assert (tmp_path / "letters").read_text() == "mine"


def test_a_folder_is_left_as_it_was(tmp_path: Path):
    for folder in (tmp_path, tmp_path / "new"):
        before = folder.exists()
        with spare_folder(folder) as inside:
            (inside / "data").write_text("of the trial")
        assert (folder.exists(), list(tmp_path.iterdir())) == (before, [])


def test_what_an_interrupted_trial_left_is_taken_away(tmp_path: Path):
    with spare_folder(tmp_path, keep=True) as inside:
        (inside / "data").write_text("of the trial")
    with spare_folder(tmp_path) as inside, pytest.raises(NotSpare), spare_folder(tmp_path):
        raise AssertionError("two trials at one folder")
    assert (list(inside.parent.iterdir()), (tmp_path / MARK).exists()) == ([], False)


def test_a_bound_that_is_missed_is_told():
    held, missed = Bound("live", 0.2, 1.0, " s"), Bound("lost", 1, 0)
    report = as_json([held, missed], seed=1)
    assert (report["holds"], [each["holds"] for each in report["bounds"]]) == (False, [True, False])


def test_percentiles_are_of_the_values_there_are():
    assert [percentile([3.0, 1.0, 2.0], share) for share in (0.0, 0.5, 0.99)] == [1.0, 2.0, 3.0]
    assert percentile([], 0.5) == 0.0


def test_growth_begins_when_the_server_has_settled(server: TrialServer):
    sizes = [100, 300, 300, 300, 360, 360]
    taken = [Sample(60.0 * at, size, 1, 1, 1, {}) for at, size in enumerate(sizes)]
    assert Samples(server, taken=taken).growth(settled=120.0) == 60.0
