"""A small real model on its server's own wire. How well it reads is its affair; that it is asked, bounded, held
against its sources and counted is ours."""

import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from memories import ingest
from memories.ingest import NewMessage
from memories.models import (
    Citation,
    Conversation,
    ConversationSummary,
    Episode,
    Fact,
    Feature,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    Memory,
    MemorySession,
    ModelPrice,
    ModelUse,
)
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.profiles.summaries import running_summary
from tests.api_fixtures import caller
from tests.client_environments import CLIENTS, python_with
from tests.people import Person

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("small-model")]
LONGEST = 900.0  # seconds of a call: a busy machine takes minutes for what an idle one does in seconds
LONGEST_ANSWER = 256  # tokens, by its server's own settings
MODEL = "qwen2.5-coder-0.5b"
MOVED = "I moved to Lisbon in March, and I work as a carpenter there."
SISTER = "My sister Ines is allergic to wasps."
SAID = (MOVED, SISTER)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the model, which ends with its standard input."""
    log = tmp_path_factory.mktemp("small_model") / "log"
    command = [python_with("small_model.lock"), CLIENTS / "serve_small_model.py"]
    pipe = subprocess.PIPE
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True) as process,
    ):
        assert process.stdin
        assert process.stdout
        with process.stdin:
            found = process.stdout.readline().strip()
            assert found, log.read_text()
            yield found


@pytest.fixture(autouse=True)
def model(address: str, settings: Any) -> str:
    """What the ledger calls it. It is the server's model for all that there is, at a price."""
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = "openai", MODEL
    settings.OPENAI_BASE_URL, settings.PROVIDER_TIMEOUT = f"{address}/v1", LONGEST
    name = f"{MODEL} at {address.removeprefix('http://')}"
    ModelPrice.objects.create(model=name, input_per_million=1, output_per_million=10)
    return name


def say(person: Person, *texts: str, extract: str = "patterns") -> MemorySession:
    said = (NewMessage(text, name="Mira") for text in texts)
    return person.say(*said, user_id="mira", thread_id="garden", extract=extract)


def check_quotes(citations: Iterable[Citation | FeatureCitation]) -> None:
    for cited in citations:
        assert cited.quote == cited.episode.content[cited.start : cited.end] != ""
        assert cited.episode.content in SAID


def check_ledger(model: str, purpose: str, most_calls: int = 2) -> None:
    """All of its calls are written down: answered, within their bounds, and paid for."""
    row = ModelUse.objects.get(purpose=purpose)
    assert (row.model, row.failed) == (model, 0)
    assert 1 <= row.calls <= most_calls
    assert 0 < row.output_tokens <= LONGEST_ANSWER * row.calls
    assert row.input_tokens > 100 * row.calls
    assert row.cost * 1_000_000 == row.input_tokens + 10 * row.output_tokens


def test_what_it_reads_is_believed_by_its_quotes_or_has_a_reason(alice: Person, model: str) -> None:
    session = say(alice, *SAID, extract="llm")
    assert (session.state, session.error) == ("done", "")
    [step] = session.steps
    assert (step["rule"], step["model"]) == ("llm:1", MODEL)
    assert "facts" in step["outcome"]
    assert session.created_ids or session.reason
    assert all(Fact.objects.exclude(quarantined_at=None).values_list("quarantine_reason", flat=True))
    assert Memory.objects.filter(facts__citations=None).count() == 0
    check_quotes(Citation.objects.select_related("episode"))
    check_ledger(model, "extraction", most_calls=1)


def test_what_it_folds_is_done_by_its_quotes_or_refused_with_a_reason(alice: Person, model: str) -> None:
    say(alice, *SAID)
    discover_sets()
    result = update_now(alice.scope, "user:mira")
    assert result is not None
    assert (result.episodes, FeatureSet.objects.get().failures) == (len(SAID), 0)
    assert all(FeatureRefusal.objects.values_list("reason", flat=True))
    features = Feature.objects.live()
    assert all(feature.value and feature.citations.exists() for feature in features)
    check_quotes(cited for feature in features for cited in feature.citations.select_related("episode"))
    check_ledger(model, "features")


def test_what_it_sums_up_names_the_messages_it_stands_on(alice: Person, model: str) -> None:
    say(alice, *SAID, *(f"Bed {number} has new earth." for number in range(running_summary.KEEP)))
    row = ConversationSummary.objects.create(
        workspace=alice.workspace, conversation=Conversation.objects.get(), due_at=timezone.now()
    )
    assert running_summary.summarize(row.pk) is not None
    row.refresh_from_db()
    assert (row.due_at, bool(row.lines)) == (None, True)
    if row.method == "llm":
        said = {str(pk) for pk in Episode.objects.filter(content__in=SAID).values_list("pk", flat=True)}
        assert all(line["text"] and said.issuperset(line["episodes"]) for line in row.lines)
    else:
        assert row.error
    check_ledger(model, "summaries")


def test_what_it_answers_cites_its_sources_and_nothing_else(alice: Person, model: str) -> None:
    say(alice, *SAID)
    asked = {"messages": [{"role": "user", "content": "Where do I live?"}], "userId": "mira"}
    answer = caller(alice).post("/chat", asked)
    assert answer.status == 200, answer.body
    assert (answer.body["model"], answer.body["usage"]["calls"]) == (MODEL, 1)
    assert answer.body["message"].strip()
    for cited in answer.body["citations"]:
        text = Episode.objects.get(pk=cited["episodeId"]).content
        assert text[cited["start"] : cited["end"]] == cited["quote"] != ""
        assert f"[{cited['n']}]" in answer.body["message"]
    check_ledger(model, "chat", most_calls=1)


def test_what_it_has_no_time_for_is_kept_and_read_later(alice: Person, model: str, settings: Any) -> None:
    settings.PROVIDER_TIMEOUT = 0.05
    session = say(alice, *SAID, extract="llm")
    assert (session.state, "did not answer in time" in session.error) == ("received", True)
    assert set(Episode.objects.values_list("content", flat=True)) == set(SAID)
    row = ModelUse.objects.get()
    assert (row.calls, row.failed) == (1, 1)
    settings.PROVIDER_TIMEOUT = LONGEST
    MemorySession.objects.update(next_attempt_at=timezone.now())
    ingest.run(session.pk)
    session.refresh_from_db()
    assert (session.state, session.error) == ("done", "")
    row.refresh_from_db()
    assert (row.calls, row.failed) == (2, 1)
