"""The same key and body answer the same again; the act is done once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.models import IdempotentAnswer, Memory
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


def test_while_the_first_still_runs_it_is_409(http: Caller) -> None:
    http.post("/memories", NEW, Idempotency_Key=KEY)
    IdempotentAnswer.objects.update(status=None, body=None)
    answer = http.post("/memories", NEW, Idempotency_Key=KEY)
    assert (answer.status, answer.codes) == (409, ["in_progress"])
    assert int(answer.headers["Retry-After"]) > 0


def test_an_answer_is_forgotten_after_a_day(http: Caller) -> None:
    http.post("/memories", NEW, Idempotency_Key=KEY)
    kept = IdempotentAnswer.objects.get()
    assert timedelta(hours=23) < kept.expires_at - timezone.now() <= timedelta(hours=24)
    IdempotentAnswer.objects.update(expires_at=timezone.now())
    assert http.post("/memories", {"content": "Other"}, Idempotency_Key=KEY).status == 201


def test_a_failure_frees_the_key(http: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("memories.curation.create", lambda *_: 1 / 0)
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
