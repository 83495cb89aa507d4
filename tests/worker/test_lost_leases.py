"""A worker that lost its lease while a model hung: another has done the work, and it does
nothing."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.index import check, workspace_index
from memories.ingest import NewMessage
from memories.models import Feature, FeatureChange, FeatureMark, FeatureSet
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_set
from memories.queue import leases
from tests.live_server import wait_for
from tests.people import Person
from tests.wire_servers import chat_completion

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "I moved to Lisbon."
PATIENCE = 120  # seconds; a busy machine is slow, not wrong


class Hanging:
    """A model of which the first question hangs until it is let go; answers differ by number."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()
        self.count = 0

    def answer(self, request: Request) -> Response:
        self.count += 1
        value = f"Lisbon {self.count}"
        if self.count == 1:
            self.asked.set()
            assert self.go.wait(PATIENCE)
        command = {
            "action": "add",
            "id": None,
            "category": "identity",
            "tag": "home",
            "feature": "home",
            "value": value,
            "quotes": [{"message": 0, "text": "moved to Lisbon"}],
        }
        body = chat_completion(json.dumps({"commands": [command]}))
        return Response(json.dumps(body), content_type="application/json")


@pytest.fixture
def model(alice: Person) -> Iterator[Hanging]:
    found = Hanging()
    with HTTPServer(threaded=True) as server:
        server.expect_request("/v1/chat/completions").respond_with_handler(found.answer)
        rung = {
            "provider": "openai",
            "model": "m",
            "baseUrl": server.url_for("/v1"),
            "timeout": PATIENCE,
        }
        alice.workspace.settings = {"extractors": [], "featureSets": {"languageModel": rung}}
        alice.workspace.save()
        yield found
        found.go.set()


@pytest.fixture
def waiting(alice: Person) -> FeatureSet:
    alice.say(NewMessage(SAID, name="Ada"), user_id="ada", extract="patterns")
    discover_sets()
    FeatureSet.objects.update(due_at=timezone.now())
    return FeatureSet.objects.get()


def in_a_thread(set_id: Any, results: list[Any]) -> threading.Thread:
    def work() -> None:
        try:
            results.append(update_set(set_id))
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_while_a_model_hangs_its_set_is_nobody_elses(model: Hanging, waiting: FeatureSet) -> None:
    done: list[Any] = []
    thread = in_a_thread(waiting.pk, done)
    assert model.asked.wait(PATIENCE)
    first = FeatureSet.objects.get().lease_until
    assert wait_for(lambda: FeatureSet.objects.get().lease_until > first)
    model.go.set()
    thread.join(PATIENCE)
    assert (done[0].added, FeatureSet.objects.get().claims) == (1, 1)


def test_who_lost_the_lease_applies_nothing(
    alice: Person, model: Hanging, waiting: FeatureSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LONGEST", 0.0)  # as where a process stands still: none is renewed
    late: list[Any] = []
    thread = in_a_thread(waiting.pk, late)
    assert model.asked.wait(PATIENCE)
    assert update_set(waiting.pk) is None
    past = timezone.now() - timedelta(seconds=1)
    FeatureSet.objects.update(lease_until=past)
    done = update_set(waiting.pk)
    model.go.set()
    thread.join(PATIENCE)
    assert (done and done.added, late, model.count) == (1, [None], 2)
    assert list(Feature.objects.values_list("value", flat=True)) == ["Lisbon 2"]
    assert (FeatureMark.objects.count(), FeatureChange.objects.count()) == (1, 1)
    found = FeatureSet.objects.get()
    assert (found.waiting, found.lease_until, found.error, found.claims) == (0, None, "", 2)
    assert check.check_index(workspace_index.index_of(alice.workspace.pk), lambda _: None).broken == {}


def test_who_comes_back_while_the_other_is_still_at_work_leaves_its_lease_alone(
    alice: Person, model: Hanging, waiting: FeatureSet
) -> None:
    late: list[Any] = []
    thread = in_a_thread(waiting.pk, late)
    assert model.asked.wait(PATIENCE)
    until = timezone.now() + timedelta(minutes=5)
    FeatureSet.objects.update(claims=2, lease_until=until)  # as another's claim leaves it
    model.go.set()
    thread.join(PATIENCE)
    found = FeatureSet.objects.get()
    assert (late, found.lease_until, found.claims) == ([None], until, 2)
    assert not Feature.objects.exists()
    assert not FeatureMark.objects.exists()
