"""Thresholds that are measured: what is found is said, written and audited."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memories.index import configured_embedder
from memories.models import EmbeddingModel
from memories.quality import calibrate_thresholds
from memories.quality.calibrate_thresholds import DIFFERENT, SAME, LabelledQuestion
from tests.people import Person
from workspaces.models import AuditEntry


def calibrate(**options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("calibrate", json=True, stdout=out, stderr=StringIO(), **options)
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


@pytest.fixture
def model(alice: Person) -> EmbeddingModel:
    alice.tell("The heron stands in the reeds", user_id="u")
    EmbeddingModel.objects.update(duplicate_threshold=0.31)
    return EmbeddingModel.objects.get()


def test_the_threshold_keeps_what_it_promises(model: EmbeddingModel) -> None:
    [found] = calibrate()
    assert found["merges"] <= found["random_pairs"] / 10_000
    assert found["precision"] >= 0.9
    model.refresh_from_db()
    assert model.duplicate_threshold == found["threshold"] != found["before"]
    assert found["stored"]


def test_it_is_told_and_audited(model: EmbeddingModel, alice: Person) -> None:
    out = StringIO()
    call_command("calibrate", stdout=out, stderr=StringIO())
    model.refresh_from_db()
    assert f"is now {model.duplicate_threshold}, was 0.31" in out.getvalue()
    line = AuditEntry.objects.get(action="calibrate")
    assert (line.workspace_id, line.before["duplicate_threshold"]) == (alice.workspace.pk, 0.31)
    call_command("calibrate", stdout=out, stderr=StringIO())
    assert "stays" in out.getvalue()
    assert AuditEntry.objects.filter(action="calibrate").count() == 1


def test_a_dry_run_writes_nothing(model: EmbeddingModel) -> None:
    [found] = calibrate(dry_run=True)
    model.refresh_from_db()
    assert (model.duplicate_threshold, found["stored"]) == (0.31, False)
    assert not AuditEntry.objects.filter(action="calibrate").exists()


def test_stored_statements_of_one_subject_count_too(model: EmbeddingModel, alice: Person) -> None:
    [before] = calibrate(dry_run=True)
    alice.say("A crane flies north", "The mill pond froze", extract="none", user_id="u")
    [after] = calibrate(dry_run=True)
    assert after["random_pairs"] == before["random_pairs"] + 3


def test_the_floor_is_where_answers_and_the_rest_meet(model: EmbeddingModel) -> None:
    EmbeddingModel.objects.update(search_floor=-0.7)
    dataset = Path(__file__).parent.with_name("data") / "locomo_small.json"
    [found] = calibrate(dataset=dataset)
    model.refresh_from_db()
    assert model.search_floor == found["floor"] > 0
    assert (found["floor_before"], found["floor_stored"]) == (-0.7, True)
    out = StringIO()
    call_command("calibrate", dataset=dataset, dry_run=True, stdout=out, stderr=StringIO())
    assert f"as good as chance at {found['floor']}" in out.getvalue()


def test_answers_that_are_no_nearer_change_nothing(model: EmbeddingModel) -> None:
    embedder = configured_embedder.embedder_for(model)
    texts = ["The heron stands in the reeds", "Bread is baked on Fridays"]
    question = LabelledQuestion("Where does the heron stand?", frozenset({1}))
    found = calibrate_thresholds.calibrate_floor(model, embedder, [(texts, [question])])
    assert (found.floor, found.questions) == (None, 1)
    assert not calibrate_thresholds.store(found, model, "test")
    unlabelled = calibrate_thresholds.calibrate_floor(model, embedder, [(texts, [])])
    assert (unlabelled.floor, unlabelled.questions) == (None, 0)


def test_a_dataset_that_is_none_is_told(model: EmbeddingModel, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="none.json"):
        calibrate(dataset=tmp_path / "none.json")


def test_without_an_embedding_model_there_is_nothing_to_measure(db: None, settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = "none"
    with pytest.raises(CommandError, match="none"):
        call_command("calibrate", stdout=StringIO(), stderr=StringIO())


def test_the_shipped_pairs_are_of_one_person_and_none_is_twice() -> None:
    texts = [text for pair in SAME + DIFFERENT for text in pair]
    assert all("Robin" in text for text in texts)
    assert len(set(SAME + DIFFERENT)) == len(SAME + DIFFERENT)
    assert calibrate_thresholds.steps() > len(SAME) + len(DIFFERENT)
