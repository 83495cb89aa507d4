"""Several workers at one heap of sets, some of which die: everything is taken in, and once."""

import random
import signal
from subprocess import Popen

import pytest
from django.utils import timezone

from bench.speed.folding import let_go, start_worker
from memories.index import check, workspace_index
from memories.ingest import NewMessage
from memories.models import Episode, Feature, FeatureMark, FeatureSet
from memories.profiles.features.set_queue import discover_sets
from tests.live_server import wait_for
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)
SETS, EACH, LEASE = 8, 12, 15.0


def worker() -> Popen[str]:
    process = start_worker(LEASE)
    let_go(process)
    return process


@pytest.fixture
def heap(alice: Person) -> None:
    for number in range(SETS):
        said = [NewMessage(f"I like tea number {n}.", name="Ada") for n in range(EACH)]
        alice.say(*said, user_id=f"u{number}", extract="patterns")
    discover_sets()
    FeatureSet.objects.update(due_at=timezone.now())


def test_every_episode_is_taken_in_once_though_workers_are_killed(alice: Person, heap: None) -> None:
    running = [worker() for _ in range(4)]
    assert wait_for(FeatureMark.objects.exists)
    for process in random.sample(running, 2):
        process.send_signal(signal.SIGKILL)
    for process in running:
        process.wait(timeout=600)
    assert FeatureMark.objects.count() == Episode.objects.count() == SETS * EACH
    assert list(FeatureSet.objects.values_list("waiting", flat=True)) == [0] * SETS
    told = Feature.objects.live().values_list("set", "value")
    assert len(told) == len(set(told)) > 0
    assert check.check_index(workspace_index.index_of(alice.workspace.pk), lambda _: None).broken == {}
