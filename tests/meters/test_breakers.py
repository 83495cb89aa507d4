"""A model that fails is soon not waited for any more, and is tried again beside: on real
sockets."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories import metrics
from memories.errors import ProviderError, TimedOut, Unasked
from memories.index import configured_embedder, due_vectors, workspace_index
from memories.meters import breakers
from memories.models import Breaker, DueVector, ExtractorUse
from memories.providers import network
from memories.queue import leases
from tests.api_fixtures import caller
from tests.live_server import wait_for
from tests.people import Person
from tests.wire_servers import (
    Json,
    chat_completion,
    facts_json,
    failing,
    openai_error,
    serve_embeddings,
    serve_in_turn,
    silent_server,
)

pytestmark = pytest.mark.django_db(transaction=True)
SIZE = 1536
LINE = breakers.ProviderLine("query", "a model", "http://x:1/v1", "key", 30.0)
GATE = "The orchard gate is painted green"


@pytest.fixture(autouse=True)
def web(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a web process; no pause ends while a busy machine is at a test."""
    monkeypatch.setattr(breakers, "FIRST", 60.0)
    monkeypatch.setattr(breakers, "LONGEST", 300.0)
    settings.PROCESS_KIND = "web"
    settings.QUERY_TIMEOUT, settings.QUERY_CACHE_DIR = 0.3, tmp_path
    metrics.clear()
    yield
    metrics.clear()


def speak(settings: Settings, server: HTTPServer) -> None:
    settings.EMBEDDING_PROVIDER, settings.OPENAI_API_KEY = "openai", "key"
    settings.OPENAI_BASE_URL = server.url_for("/v1")


def search(person: Person, **wish: Any) -> Any:
    return caller(person).post("/memories/search", {"query": "orchard gate", **wish})


def fail(error: ProviderError) -> None:
    def act() -> None:
        raise error

    with pytest.raises(type(error)):
        breakers.call(LINE, act)


def answer() -> str:
    return breakers.call(LINE, lambda: "an answer")


def late() -> TimedOut:
    return TimedOut("late", permanent=False)


def broken() -> ProviderError:
    return ProviderError("broken", permanent=False)


def opened(**changes: Any) -> Breaker:
    """A row that another process wrote: its pause is over."""
    past = timezone.now() - timedelta(seconds=1)
    own = {"purpose": "query", "failures": 3, "next_try_at": past, "detail": "answered 500"}
    return Breaker.objects.create(name=LINE.name, state="open", **{**own, **changes})


# ---- when it opens --------------------------------------------------------------------------


def test_two_time_outs_in_a_row_open_it() -> None:
    fail(late())
    assert answer() == "an answer"
    fail(late())
    fail(late())
    with pytest.raises(Unasked, match="did not answer in time") as refused:
        answer()
    assert not refused.value.permanent
    assert 1 <= (refused.value.retry_after or 0) <= 75


def test_three_failures_in_a_row_open_it() -> None:
    fail(broken())
    fail(broken())
    assert answer() == "an answer"
    for _ in range(3):
        fail(broken())
    with pytest.raises(Unasked):
        answer()


def test_a_refused_key_opens_it_at_once(httpserver: HTTPServer, settings: Settings, alice: Person) -> None:
    speak(settings, httpserver)
    settings.QUERY_TIMEOUT = 60.0
    said = failing(401, openai_error("no such key: sk-secret"))
    bodies = serve_in_turn(httpserver, "/v1/embeddings", said)
    for _ in range(3):
        assert search(alice).status == 200
    row = Breaker.objects.get()
    assert (len(bodies), row.state, row.detail) == (1, "open", "answered 401 (the key was refused)")
    assert row.next_try_at
    assert row.next_try_at > timezone.now()
    assert "secret" not in str(breakers.states())


def test_an_answer_that_refuses_one_question_is_no_failure() -> None:
    fail(broken())
    fail(broken())
    fail(ProviderError("too long", permanent=True))
    fail(broken())
    assert answer() == "an answer"


def test_what_was_not_asked_says_nothing() -> None:
    for _ in range(5):
        fail(Unasked("switched off", permanent=True))
    assert answer() == "an answer"
    assert not Breaker.objects.exists()


def test_a_new_key_is_another_matter() -> None:
    opened(next_try_at=timezone.now() + timedelta(minutes=1))
    other = breakers.ProviderLine("query", "a model", "http://x:1/v1", "another key", 30.0)
    assert breakers.call(other, lambda: "an answer") == "an answer"


def test_pauses_grow_so_that_a_model_that_is_well_again_is_used_within_half_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    pauses = [breakers._pause(failures, 0.0).total_seconds() for failures in (1, 3, 4, 5, 6, 10_000)]
    assert pauses == [pytest.approx(seconds, rel=breakers.JITTER) for seconds in (5, 5, 10, 20, 20, 20)]
    assert max(pauses) <= 30


def test_a_pause_that_the_server_asks_for_is_kept_for_five_minutes_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pauses = [breakers._pause(3, wanted).total_seconds() for wanted in (120.0, 4_000.0)]
    assert pauses == [pytest.approx(seconds, rel=breakers.JITTER) for seconds in (120, 300)]


@pytest.mark.parametrize(("status", "least", "most"), [(429, 80, 120), (503, 0, 30)])
def test_only_a_server_that_is_asked_too_much_may_ask_for_a_long_pause(
    status: int, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breakers, "FIRST", 5.0)
    for _ in range(3):
        error = ProviderError("busy", permanent=False, retry_after=100.0)
        error.status = status
        fail(error)
    next_try_at = Breaker.objects.get().next_try_at
    assert next_try_at is not None
    assert least <= (next_try_at - timezone.now()).total_seconds() <= most


# ---- what others know -----------------------------------------------------------------------


def test_what_another_process_saw_counts_here() -> None:
    opened(next_try_at=timezone.now() + timedelta(minutes=1))
    with pytest.raises(Unasked):
        answer()


def test_a_closed_one_costs_no_query_per_call(django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakers, "FRESH", 60.0)
    with django_assert_num_queries(1):
        assert [answer() for _ in range(20)] == ["an answer"] * 20


def test_where_rows_cannot_be_written_this_process_remembers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("set default_transaction_read_only = on")
    try:
        fail(late())
        fail(late())
        with pytest.raises(Unasked):
            answer()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("set default_transaction_read_only = off")
    assert not Breaker.objects.exists()
    assert [state.state for state in breakers.states()] == ["open"]


def test_states_tell_open_ones_first_and_not_what_nobody_asks_for() -> None:
    Breaker.objects.create(name="a", purpose="query", failures=1)
    opened()
    long_ago = timezone.now() - timedelta(days=1)
    Breaker.objects.create(name="b", purpose="query", state="open", next_try_at=long_ago)
    told = [(state.name, state.state) for state in breakers.states()]
    assert told == [(LINE.name, "open"), ("a", "closed")]
    Breaker.objects.filter(name="b").update(updated_at=timezone.now() - timedelta(days=8))
    assert breakers.prune() == 1


def test_metrics_count_the_open_ones_by_purpose_and_name_no_address(alice: Person) -> None:
    opened()
    text = caller(alice).client.get("/metrics").content.decode()
    assert 'memory_breakers_open{purpose="query"} 1' in text
    assert "x:1" not in text


# ---- trying again ---------------------------------------------------------------------------


def test_one_caller_lets_it_be_tried_beside_and_goes_on_at_once() -> None:
    opened()
    go, tried = threading.Event(), []

    def act() -> None:
        tried.append(threading.current_thread().name)
        go.wait(60)

    for _ in range(5):
        with pytest.raises(Unasked):
            breakers.call(LINE, act)
    go.set()
    assert wait_for(lambda: not Breaker.objects.filter(state="open").exists())
    assert tried == ["provider"]
    assert answer() == "an answer"


def test_of_many_processes_one_tries() -> None:
    opened()
    first = breakers._look(LINE)
    breakers.forget()
    second = breakers._look(LINE)
    assert [breakers._claim(LINE, row) for row in (first, second)] == [True, False]


def test_what_fails_again_stays_open_for_longer() -> None:
    row = opened()

    def act() -> None:
        raise broken()

    with pytest.raises(Unasked):
        breakers.call(LINE, act)
    assert wait_for(lambda: Breaker.objects.filter(failures=4).exists())
    after = Breaker.objects.get(pk=row.pk)
    assert (after.state, after.since) == ("open", row.since)
    assert after.next_try_at
    assert after.next_try_at > after.updated_at + timedelta(seconds=90)


def test_a_pause_that_a_wrong_clock_made_does_not_last() -> None:
    opened(next_try_at=timezone.now() + timedelta(days=400))
    with pytest.raises(Unasked):
        answer()
    assert wait_for(lambda: not Breaker.objects.filter(state="open").exists())


def test_the_worker_tries_by_its_own_work(settings: Settings) -> None:
    settings.PROCESS_KIND = "worker"
    opened()
    assert answer() == "an answer"
    assert Breaker.objects.get().state == "closed"


def test_a_try_of_the_worker_that_fails_is_no_failure_of_what_it_works_on(settings: Settings) -> None:
    settings.PROCESS_KIND = "worker"
    opened()

    def act() -> None:
        raise broken()

    with pytest.raises(Unasked) as refused:
        breakers.call(LINE, act)
    assert (refused.value.retry_after or 0) > 1
    assert Breaker.objects.get().failures == 4


def test_a_command_asks_whatever_is_known(settings: Settings) -> None:
    settings.PROCESS_KIND = "command"
    opened(next_try_at=timezone.now() + timedelta(minutes=1))
    assert answer() == "an answer"


# ---- in a search ----------------------------------------------------------------------------


@pytest.fixture
def silent(alice: Person, settings: Settings) -> Iterator[HTTPServer]:
    """An embedder that takes each request and never answers; Alice told something before."""
    settings.EMBEDDING_PROVIDER, settings.OPENAI_API_KEY = "openai", "key"
    settings.OPENAI_BASE_URL = "http://127.0.0.1:1/v1"
    settings.PROVIDER_TIMEOUT = 0.3
    alice.note(GATE)
    breakers.forget()
    Breaker.objects.all().delete()
    metrics.clear()
    with silent_server() as server:
        speak(settings, server)
        yield server


def counted(name: str) -> int:
    return sum(one.count for one in metrics.snapshot() if one.name == name)


@pytest.mark.parametrize("ranking", ["hybrid", "linea"])
@pytest.mark.parametrize("route", ["search", "context"])
def test_a_search_falls_to_words_says_so_and_asks_no_more(
    alice: Person, silent: HTTPServer, ranking: str, route: str
) -> None:
    body = {"query": "orchard gate", "ranking": ranking}
    answers = [caller(alice).post(f"/memories/{route}", body) for _ in range(5)]
    assert counted("provider_calls") == 2
    assert counted("searches_degraded") == 5
    for each in answers:
        assert [note["code"] for note in each.body["notes"]] == ["words_only"]
        assert str(silent.port) not in str(each.body)
        assert GATE in str(each.body)


def test_the_ranking_by_vector_alone_falls_to_words_too_and_says_so(alice: Person, silent: HTTPServer) -> None:
    answers = [search(alice, ranking="vector", include=["scores"]) for _ in range(3)]
    assert counted("provider_calls") == 2
    for each in answers:
        assert (each.status, [note["code"] for note in each.body["notes"]]) == (200, ["words_only"])
        [hit] = each.body["results"]
        assert (hit["memory"]["content"], "vector" in hit["scores"]) == (GATE, False)
        assert 0 < hit["score"] <= 1


def test_a_model_that_answers_again_is_used_again(
    alice: Person, silent: HTTPServer, settings: Settings, httpserver: HTTPServer
) -> None:
    settings.QUERY_TIMEOUT, settings.QUERY_CACHE_SECONDS = 60.0, 0
    speak(settings, httpserver)
    ways = [failing(500, {})] * 3
    serve_in_turn(httpserver, "/v1/embeddings", *ways)
    for _ in range(3):
        assert "notes" in search(alice).body
    httpserver.clear()
    bodies = serve_embeddings(httpserver, SIZE)
    assert "notes" in search(alice).body
    Breaker.objects.update(next_try_at=timezone.now())
    breakers.forget()
    assert "notes" in search(alice).body
    assert wait_for(lambda: not Breaker.objects.filter(state="open").exists())
    assert "notes" not in search(alice).body
    assert len(bodies) == 2


def test_a_search_that_lacks_nothing_has_no_notes(alice: Person) -> None:
    assert "notes" not in search(alice).body


def test_a_reranker_that_hangs_is_left_out(alice: Person, settings: Settings) -> None:
    alice.note(GATE)
    settings.RERANK_TIMEOUT = 0.3
    with silent_server() as server:
        settings.RERANK_BASE_URL = server.url_for("/").rstrip("/")
        answers = [search(alice, rerank=True).body for _ in range(4)]
    assert counted("provider_calls") == 2
    assert [each["notes"][0]["code"] for each in answers] == ["not_reranked"] * 4


def test_a_call_that_had_not_its_full_time_is_not_counted(alice: Person, silent: HTTPServer) -> None:
    with network.patience(0.4):
        calls = [search(alice, ranking="hybrid"), search(alice, ranking="hybrid")]
    assert {each.status for each in calls} == {200}
    row = Breaker.objects.get(purpose="query")
    assert (row.state, row.timeouts) == ("closed", 1)  # the second had not its full time


# ---- in writing -----------------------------------------------------------------------------


def test_what_is_written_meanwhile_waits_for_its_vector_without_a_count(
    alice: Person, silent: HTTPServer, settings: Settings
) -> None:
    settings.PROCESS_KIND = "worker"
    space = workspace_index.index_of(alice.workspace.pk)
    entry = DueVector.objects.get().entry_id
    for _ in range(4):
        DueVector.objects.update(next_attempt_at=timezone.now())
        due_vectors.fill_entries(space, [entry])
    row = DueVector.objects.get()
    assert (row.attempts, counted("provider_calls")) == (2, 2)
    assert row.next_attempt_at < timezone.now() + timedelta(seconds=80)


def test_a_renewal_that_comes_late_leaves_the_pause_after_a_failure(
    alice: Person, silent: HTTPServer, settings: Settings
) -> None:
    settings.PROCESS_KIND = "worker"
    space = workspace_index.index_of(alice.workspace.pk)
    entry = DueVector.objects.get().entry_id
    assert due_vectors.held([entry]).exists()
    due_vectors.fill_entries(space, [entry])
    DueVector.objects.update(next_attempt_at=timezone.now(), attempts=3)  # of a longer pause
    due_vectors.fill_entries(space, [entry])
    assert due_vectors.held([entry]).update(next_attempt_at=leases.end()) == 0
    row = DueVector.objects.get()
    assert (row.attempts, row.next_attempt_at > timezone.now() + 2 * leases.LEASE) == (4, True)


@pytest.fixture
def model(httpserver: HTTPServer, alice: Person) -> Callable[..., list[Json]]:
    """A language model in the workspace's settings, which answers these in turn."""

    def serve(*answers: Response | Json) -> list[Json]:
        rung = {"provider": "openai", "model": "m", "baseUrl": httpserver.url_for("/v1")}
        alice.workspace.settings = {"extractors": [rung | {"dailyCap": 100}]}
        alice.workspace.save()
        return serve_in_turn(httpserver, "/v1/chat/completions", *answers)

    return serve


def preview(person: Person) -> Any:
    body = {"content": "As of this spring I live in Lisbon.", "extract": "llm"}
    return caller(person).post("/memories/extract", body)


def test_a_language_model_that_fails_is_not_asked_for_every_text(alice: Person, model: Any) -> None:
    bodies = model(failing(500, {}))
    assert {preview(alice).status for _ in range(6)} == {200}
    # The first time in each form that the server might take, then in one.
    assert (len(bodies), ExtractorUse.objects.get().calls) == (7, 3)


def test_an_answer_that_is_no_json_does_not_keep_others_from_asking(alice: Person, model: Any) -> None:
    bodies = model(chat_completion("I would rather not."))
    for _ in range(5):
        preview(alice)
    assert len(bodies) == 5


# ---- processes that must not wait -----------------------------------------------------------


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "ELSEWHERE", True)


@pytest.fixture
def bodies(alice: Person, settings: Settings, httpserver: HTTPServer) -> list[Json]:
    settings.QUERY_TIMEOUT, settings.QUERY_CACHE_SECONDS = 60.0, 1000
    speak(settings, httpserver)
    return serve_embeddings(httpserver, SIZE)


@pytest.mark.parametrize("route", ["search", "context"])
def test_what_would_wait_is_handed_on_before_anything_is_sent_or_written(
    alice: Person, bodies: list[Json], elsewhere: None, route: str
) -> None:
    workspace_index.index_of(alice.workspace.pk)
    with pytest.raises(network.NeedsNetwork):
        caller(alice).post(f"/memories/{route}", {"query": "gate"}, idempotency_key="one")
    assert (bodies, metrics.snapshot()) == ([], [])
    assert not Breaker.objects.exists()


def test_a_query_that_is_known_is_answered_on_the_spot(
    alice: Person, bodies: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    search(alice)
    monkeypatch.setattr(network, "ELSEWHERE", True)
    assert "notes" not in search(alice).body
    assert len(bodies) == 1


def test_an_open_breaker_answers_on_the_spot_and_is_tried_beside(
    alice: Person, bodies: list[Json], elsewhere: None, settings: Settings
) -> None:
    embedder = configured_embedder.embedder_of(workspace_index.index_of(alice.workspace.pk))
    name = configured_embedder.line_to(embedder, "query", settings.QUERY_TIMEOUT).name
    past = timezone.now() - timedelta(seconds=1)
    Breaker.objects.create(name=name, purpose="query", state="open", next_try_at=past)
    assert search(alice).body["notes"][0]["code"] == "words_only"
    assert wait_for(lambda: not Breaker.objects.filter(state="open").exists())
    assert len(bodies) == 1
    assert "notes" not in search(alice).body  # it is kept


def test_a_preview_is_handed_on_before_its_call_is_counted(alice: Person, model: Any, elsewhere: None) -> None:
    bodies = model(chat_completion(facts_json()))
    with pytest.raises(network.NeedsNetwork):
        preview(alice)
    assert (bodies, ExtractorUse.objects.count()) == ([], 0)


def test_a_reranker_is_for_another_process(
    alice: Person, settings: Settings, httpserver: HTTPServer, elsewhere: None
) -> None:
    alice.note(GATE)
    settings.RERANK_BASE_URL = httpserver.url_for("/").rstrip("/")
    with pytest.raises(network.NeedsNetwork):
        search(alice, rerank=True)
    assert httpserver.log == []


# ---- the bound of a call --------------------------------------------------------------------


def test_all_tries_of_a_call_and_their_pauses_have_one_time(
    alice: Person, settings: Settings, httpserver: HTTPServer
) -> None:
    speak(settings, httpserver)
    settings.PROVIDER_TIMEOUT = 0.5
    busy = failing(503, {}, retry_after="15")
    serve_in_turn(httpserver, "/v1/embeddings", busy)
    with pytest.raises(TimedOut):
        due_vectors.embed(workspace_index.index_of(alice.workspace.pk), [["gate"]])


def test_an_answer_that_drips_has_the_same_time(alice: Person, settings: Settings, httpserver: HTTPServer) -> None:
    speak(settings, httpserver)
    end = threading.Event()

    def drip(request: Request) -> Response:
        def letters() -> Iterator[bytes]:
            for _ in range(600):
                yield b" "
                if end.wait(0.1):
                    return

        return Response(letters(), content_type="application/json")

    httpserver.expect_request("/v1/embeddings").respond_with_handler(drip)
    try:
        assert search(alice).body["notes"][0]["code"] == "words_only"
        assert Breaker.objects.get().timeouts == 1
    finally:
        end.set()
