"""A feature set that is deleted is gone at once, and its rows go even where a process dies."""

from collections.abc import Callable
from typing import Any

import pytest

from memories.errors import NotFound
from memories.ingest import NewMessage
from memories.models import Feature, FeatureCitation, FeatureMark, FeatureSet
from memories.profiles.features import set_queue, sets
from memories.profiles.features.update import update_due_sets, update_now
from memories.worker import sweep
from tests.people import Person
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "user:ada"


class Killed(BaseException):
    """As if the process were."""


def told(person: Person, *said: str) -> None:
    person.say(*[NewMessage(each, name="Ada") for each in said], user_id="ada")


@pytest.fixture
def of_ada(alice: Person) -> Person:
    told(alice, "I like green tea.", "I enjoy long hikes.", "I live in Porto.")
    update_now(alice.scope, KEY)
    assert Feature.objects.live().count() == 3
    return alice


@pytest.fixture
def deleted_by_halves(of_ada: Person, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Delete her set by a process that is killed after so many steps of one row."""
    monkeypatch.setattr(sets, "DELETED", 1)
    monkeypatch.setattr(sets, "ROWS", 1)
    step = sets._delete_some

    def delete(steps: int) -> None:
        done = []

        def dying(*given: Any) -> int:
            if len(done) == steps:
                raise Killed
            done.append(1)
            return step(*given)

        with monkeypatch.context() as patch:
            patch.setattr(sets, "_delete_some", dying)
            with pytest.raises(Killed):
                sets.delete(of_ada.scope, KEY)

    return delete


@pytest.mark.parametrize("steps", [0, 2, 5, 10])
def test_the_worker_goes_on_where_a_process_died(
    steps: int, deleted_by_halves: Callable[[int], None], of_ada: Person, mallory: Person
) -> None:
    deleted_by_halves(steps)
    assert FeatureSet.objects.exists()
    for person in (of_ada, mallory):
        with pytest.raises(NotFound):
            sets.find(person.scope, KEY)
        with pytest.raises(NotFound):
            sets.delete(person.scope, str(FeatureSet.objects.get().pk))
    assert sweep.sweep().deleted == 1
    for model in (FeatureSet, Feature, FeatureMark, FeatureCitation):
        assert not model.objects.exists()
    assert sweep.sweep().deleted == 0
    assert AuditEntry.objects.get(action="delete_set").before == {"key": KEY, "features": 3}


def test_nothing_is_taken_into_it_again_meanwhile(deleted_by_halves: Callable[[int], None], of_ada: Person) -> None:
    deleted_by_halves(4)
    left = FeatureMark.objects.count()
    assert not Feature.objects.live().exists()
    FeatureSet.objects.update(due_at=None)
    set_queue.discover_sets()
    for row in FeatureSet.objects.all():
        set_queue.release(row.pk)
    update_due_sets(until=float("inf"))
    assert FeatureSet.objects.count() == 1
    assert not Feature.objects.live().exists()
    assert FeatureMark.objects.count() == left


def test_its_key_is_free_and_what_is_said_then_makes_it_anew(
    deleted_by_halves: Callable[[int], None], of_ada: Person
) -> None:
    deleted_by_halves(4)
    told(of_ada, "I like oolong.")
    update_now(of_ada.scope, KEY)
    kept = set(Feature.objects.live().filter(set__key=KEY).values_list("value", flat=True))
    sweep.sweep()
    assert FeatureSet.objects.count() == 1
    assert set(Feature.objects.live().values_list("value", flat=True)) == kept
    assert len(kept) == 4
