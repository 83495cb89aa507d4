"""What an import will cost, told before it is begun; and that nothing is read twice."""

import json
from collections.abc import Callable
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_httpserver import HTTPServer

from memories import ingest
from memories.ingest.session_queue import due_sessions
from memories.models import Episode, ModelPrice, ModelUse
from memories.queue import outbox
from memories.reading.extraction.cost_ahead import TalkSize, cost_ahead
from memories.reading.extraction.fallback_chain import chain_of
from tests.wire_servers import Json, chat_completion, facts_json, serve_in_turn
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "Zorble frumption {} grelled somewhere near the harbour."


@pytest.fixture
def asked(httpserver: HTTPServer, settings: Any) -> list[Json]:
    Workspace.objects.create(slug="orchard", name="Orchard")
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = "openai", "m"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    return serve_in_turn(httpserver, "/v1/chat/completions", chat_completion(facts_json()))


def talk(folder: Path, messages: int) -> Path:
    path = folder / "talk.jsonl"
    path.write_text("\n".join(json.dumps({"role": "user", "content": SAID.format(n)}) for n in range(messages)))
    return path


def run(command: str, *paths: Path, **options: Any) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(command, *paths, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def set_price(httpserver: HTTPServer, per_million: str) -> None:
    place = f"m at localhost:{httpserver.port}"
    ModelPrice.objects.create(model=place, input_per_million=Decimal(per_million), output_per_million=0)


Import = Callable[[Path], tuple[str, str]]


@pytest.mark.parametrize("command", ["ingestfile", "importmemories"])
def test_what_is_dear_is_told_and_begun_only_when_somebody_says_so(
    command: str, asked: list[Json], httpserver: HTTPServer, tmp_path: Path
) -> None:
    set_price(httpserver, "100000")
    with pytest.raises(CommandError, match=r"At most 1 calls of m at localhost:.* by its price\. .*--yes"):
        run(command, talk(tmp_path, 20))
    assert (asked, Episode.objects.count()) == ([], 0)
    _, told = run(command, talk(tmp_path, 20), yes=True)
    assert "At most 1 calls" in told
    assert Episode.objects.count() == 20


@pytest.mark.parametrize("command", ["ingestfile", "importmemories"])
def test_what_is_cheap_or_asks_nobody_needs_no_word(
    command: str, asked: list[Json], httpserver: HTTPServer, tmp_path: Path, settings: Any
) -> None:
    set_price(httpserver, "1")
    out, _ = run(command, talk(tmp_path, 20), json=True)
    ahead = json.loads(out)["ahead"]
    assert (ahead["calls"], ahead["model"]) == (1, f"m at localhost:{httpserver.port}")
    assert 0 < ahead["cost"] < 0.01
    settings.EXTRACTION_PROVIDER = "none"
    assert "No model is asked." in run(command, talk(tmp_path, 20))[1]


def test_no_price_is_said_to_be_none(asked: list[Json], tmp_path: Path) -> None:
    assert "nobody set its price" in run("ingestfile", talk(tmp_path, 20))[1]
    assert "No model is asked." in run("ingestfile", talk(tmp_path, 20), extract="patterns")[1]


def test_the_estimate_is_at_least_what_was_sent(asked: list[Json], httpserver: HTTPServer, tmp_path: Path) -> None:
    run("ingestfile", talk(tmp_path, 120), batch=20)
    work()
    chain = chain_of(Workspace.objects.get().pk)
    size = sum(len(SAID.format(n)) for n in range(120))
    ahead = cost_ahead(chain, [TalkSize(120, size)], 20)
    sent = sum(len(json.dumps(body["messages"])) // 4 for body in asked)
    assert ahead.calls == len(asked) == 6
    assert sent <= ahead.input_tokens <= 2 * sent


def test_a_thousand_messages_imported_twice_are_read_once(asked: list[Json], tmp_path: Path) -> None:
    file = talk(tmp_path, 1_000)
    for calls in (10, 10):
        run("ingestfile", file)
        work()
        assert len(asked) == calls
    assert Episode.objects.count() == 1_000
    assert sum(ModelUse.objects.values_list("calls", flat=True)) == 10


def work() -> None:
    """Do what waits for a worker."""
    while due := due_sessions():
        for session in due:
            ingest.run(session)
    outbox.drop(outbox.waiting())
