"""Weights of confidence that are measured: judged by what they were not fitted on, told, kept."""

import json
import random
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memories.models import EmbeddingModel
from memories.quality import calibrate_confidence
from memories.quality.calibrate_confidence import SeenQuestion
from memories.search import SearchRequest, search
from memories.search.confidence import SHIPPED, ConfidenceSigns, ConfidenceWeights
from tests.people import Person
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db

BIRDS = (
    "heron crane stork gull tern owl hawk kite wren robin finch lark swift crow raven dove duck"
    " goose swan grebe coot rail snipe plover"
).split()
PLACES = (
    "reeds meadow tower harbour dune barn cliff valley hedge garden orchard field roof farm wood"
    " square pond lake river bay marsh ditch heath beach"
).split()
UPSIDE_DOWN = asdict(replace(SHIPPED, spoken_start=3.0, spoken_of={n: -v for n, v in SHIPPED.spoken_of.items()}))


@pytest.fixture
def birds(alice: Person) -> Person:
    told = [f"The {bird} sleeps in the {place}" for bird, place in zip(BIRDS, PLACES, strict=True)]
    alice.say(*told, extract="none", user_id="mira")
    return alice


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    lines = [
        {"query": text.format(bird), "userId": "mira", "answerable": is_answerable}
        for bird in BIRDS
        for text, is_answerable in (
            ("Where does the {} sleep?", True),
            ("How is tax {} paid abroad?", False),
        )
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def calibrate(path: Path, **options: Any) -> tuple[str, list[dict[str, Any]]]:
    out = StringIO()
    call_command("calibrate", questions=path, stdout=out, stderr=StringIO(), **options)
    return out.getvalue(), json.loads(out.getvalue()) if options.get("json") else []


def test_weights_that_are_better_are_kept_for_the_model_and_audited(birds: Person, questions: Path) -> None:
    EmbeddingModel.objects.update(confidence=UPSIDE_DOWN)
    asked = SearchRequest("Where does the heron sleep?", user_id="mira")
    before = search(birds.scope, asked).confidence
    dry, _ = calibrate(questions, dry_run=True)
    assert "would be stored" in dry
    assert EmbeddingModel.objects.get().confidence == UPSIDE_DOWN
    _, [_, found] = calibrate(questions, json=True)
    own = found["confidence"]
    assert (own["fitted_on"], own["judged_on"]) == (len(BIRDS), len(BIRDS))
    assert own["after"]["auroc"] > own["before"]["auroc"]
    assert found["stored"]
    assert EmbeddingModel.objects.get().confidence == own["weights"]
    assert search(birds.scope, asked).confidence > before
    line = AuditEntry.objects.filter(action="calibrate").latest("pk")
    assert line.after["confidence"] == own["weights"]


def test_weights_that_are_no_better_on_the_other_half_stay(birds: Person, questions: Path) -> None:
    told, _ = calibrate(questions)
    assert "the weights stay" in told
    assert "AUROC of 1.000, was 1.000" in told
    assert EmbeddingModel.objects.get().confidence is None


def signs(best: float) -> ConfidenceSigns:
    return ConfidenceSigns(dict.fromkeys(SHIPPED.spoken_of, 0.0) | {"best": best}, dict.fromkeys(SHIPPED.answered, 0.3))


def test_labels_that_mean_nothing_teach_nothing(birds: Person) -> None:
    rng = random.Random(3)
    model = EmbeddingModel.objects.get()
    halves = [[SeenQuestion(signs(rng.random()), rng.random() < 0.5) for _ in range(200)] for _ in range(2)]
    assert abs(calibrate_confidence.fit(model, *halves).after.auroc - 0.5) < 0.1
    nothing = [SeenQuestion(None, True), *halves[0]]
    of_one_kind = [replace(each, is_answered=True) for each in nothing]
    kept = calibrate_confidence.fit(model, of_one_kind, halves[1])
    assert (kept.weights, kept.is_better) == (SHIPPED, False)


def test_weights_of_signs_that_are_not_known_are_not_used() -> None:
    assert ConfidenceWeights.of(None) is SHIPPED
    other = asdict(SHIPPED) | {"answered": {"luck": 1.0}}
    for told in (other, {"start": 1.0}, None):
        assert ConfidenceWeights.of(EmbeddingModel(confidence=told)) is SHIPPED
    assert ConfidenceWeights.of(EmbeddingModel(confidence=UPSIDE_DOWN)).spoken_start == 3.0


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no JSON", "line 2 is no question"),
        ("[1]", "line 2 is no question"),
        ('{"answerable": true}', "line 2 is no question: query is a text"),
        ('{"query": " ", "answerable": true}', "line 2 is no question: query is a text"),
        ('{"query": "Who?", "answerable": "yes"}', "answerable is true or false"),
        ('{"query": "Who?"}', "answerable is true or false"),
        ('{"query": "Who?", "userId": 3, "answerable": true}', "userId is a text"),
        ('{"query": "Who?", "label": 1, "answerable": true}', "it has label; known are query"),
        ('{"query": "Who?", "answerable": true}', "1 questions are not answerable; at least 20"),
    ],
)
def test_a_file_that_is_none_is_told_with_the_line(birds: Person, tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "questions.jsonl"
    many = [json.dumps({"query": f"Who is {n}?", "answerable": True}) for n in range(30)]
    path.write_text("\n".join(['{"query": "What?", "answerable": false}', line, *many]))
    with pytest.raises(CommandError, match=why) as told:
        calibrate(path)
    assert "questions.jsonl" in str(told.value)
    with pytest.raises(CommandError, match="none.jsonl"):
        calibrate(tmp_path / "none.jsonl")
