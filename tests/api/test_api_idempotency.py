"""The same key and body answer the same again; the act is done once."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from memories import ingest
from memories.errors import Conflict
from memories.models import Episode, IdempotentAnswer, Memory, MemorySession
from memories.queue import leases
from tests.api_fixtures import Caller, caller
from tests.people import Person, backend_of

NEW, KEY = {"content": "The gate is green"}, "order-7"


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def test_the_same_request_is_done_once(http: Caller) -> None:
    first = http.post("/memories", NEW, Idempotency_Key=KEY)
    http.delete(f"/memories/{first.body['id']}")
    again = http.post("/memories", dict(NEW), Idempotency_Key=KEY)
    assert (again.status, again.body) == (first.status, first.body)
    assert Memory.objects.count() == 1


def test_another_body_or_route_is_409(http: Caller) -> None:
    http.post("/memories", NEW, Idempotency_Key=KEY)
    for path, body in (("/memories", {"content": "Other"}), ("/memories/ingest", NEW)):
        answer = http.post(path, body, Idempotency_Key=KEY)
        assert (answer.status, answer.codes) == (409, ["key_reused"])


def running(until: datetime) -> None:
    """As a request leaves its row that has not been answered: alive, or with a lease that is
    over."""
    IdempotentAnswer.objects.update(status=None, body=None, lease_until=until)


def test_while_the_first_still_runs_it_is_409(http: Caller) -> None:
    http.post("/memories", NEW, Idempotency_Key=KEY)
    running(until=leases.end())
    answer = http.post("/memories", NEW, Idempotency_Key=KEY)
    assert (answer.status, answer.codes) == (409, ["in_progress"])
    assert int(answer.headers["Retry-After"]) > 0


def test_after_its_process_died_another_does_it_again(http: Caller) -> None:
    http.post("/memories", NEW, Idempotency_Key=KEY)
    Memory.objects.all().delete()
    running(until=timezone.now())
    first = http.post("/memories", NEW, Idempotency_Key=KEY)
    again = http.post("/memories", NEW, Idempotency_Key=KEY)
    assert (first.status, again.body, Memory.objects.count()) == (201, first.body, 1)


def test_an_ingest_whose_process_died_is_answered_by_its_session(http: Caller) -> None:
    told = {"messages": [{"role": "user", "content": "I live in Oslo."}], "userId": "ada"}
    first = http.post("/memories/ingest", told, Idempotency_Key=KEY)
    running(until=timezone.now())
    MemorySession.objects.update(state="extracting")
    for _ in range(2):
        meanwhile = http.post("/memories/ingest", told, Idempotency_Key=KEY)
        assert (meanwhile.status, meanwhile.body["status"]) == (202, "extracting")
        assert meanwhile.body["sessionId"] == first.body["sessionId"]
    MemorySession.objects.update(state="done")
    for _ in range(2):
        again = http.post("/memories/ingest", told, Idempotency_Key=KEY)
        assert (again.status, again.body) == (first.status, first.body)
    assert Episode.objects.count() == MemorySession.objects.count() == 1


def test_who_comes_back_after_another_took_the_key_keeps_nothing(alice: Person) -> None:
    row = IdempotentAnswer.objects.create(
        workspace=alice.workspace,
        asker=alice.scope.actor,
        key=KEY,
        request_digest=b"",
        expires_at=timezone.now() + timedelta(hours=1),
        lease_until=leases.end(),
        claims=2,
    )
    with pytest.raises(Conflict):
        ingest.ingest(alice.scope, ingest.IngestRequest(content="A.", answer=(row.pk, 1)))
    assert not Episode.objects.exists()


def test_an_ingest_that_fails_after_it_kept_what_was_said_does_not_free_the_key(
    http: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"content": "The gate is green.", "extract": "none"}
    with monkeypatch.context() as broken:
        broken.setattr("memories.belief.resolve.apply", lambda *_, **__: 1 / 0)
        assert http.post("/memories/ingest", told, Idempotency_Key=KEY).status == 500
    again = http.post("/memories/ingest", told, Idempotency_Key=KEY)
    assert (again.status, again.body["sessionId"]) == (202, str(MemorySession.objects.get().pk))


def test_an_answer_is_forgotten_after_a_day(http: Caller) -> None:
    http.post("/memories", NEW, Idempotency_Key=KEY)
    kept = IdempotentAnswer.objects.get()
    assert timedelta(hours=23) < kept.expires_at - timezone.now() <= timedelta(hours=24)
    IdempotentAnswer.objects.update(expires_at=timezone.now())
    assert http.post("/memories", {"content": "Other"}, Idempotency_Key=KEY).status == 201


def test_a_failure_frees_the_key(http: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("memories.belief.review.create", lambda *_: 1 / 0)
        assert http.post("/memories", NEW, Idempotency_Key=KEY).status == 500
    assert http.post("/memories", {}, Idempotency_Key=KEY).status == 400
    assert http.post("/memories", NEW, Idempotency_Key=KEY).status == 201


def test_two_askers_may_use_the_same_key(http: Caller, alice: Person) -> None:
    other = caller(backend_of(alice.workspace))
    assert http.post("/memories", NEW, Idempotency_Key=KEY).status == 201
    assert other.post("/memories", {"content": "Other"}, Idempotency_Key=KEY).status == 201


def test_a_secret_is_not_kept(http: Caller) -> None:
    first = http.post("/keys", {"name": "phone"}, Idempotency_Key=KEY)
    again = http.post("/keys", {"name": "phone"}, Idempotency_Key=KEY)
    assert again.body == first.body | {"key": None}
    assert first.body["key"] not in str(IdempotentAnswer.objects.get().body)


@pytest.mark.parametrize("key", ["", "k" * 256, "é"])
def test_a_key_that_cannot_be_kept_is_400(http: Caller, key: str) -> None:
    answer = http.post("/memories", NEW, Idempotency_Key=key)
    assert (answer.status, answer.fields) == (400, ["Idempotency-Key"])
