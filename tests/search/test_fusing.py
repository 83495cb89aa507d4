"""Several layers in one list, by place: no layer crowds the others out."""

import pytest

from memories.models import Layer
from memories.search import Hit
from memories.search.layer_order import by_place
from memories.search.request import Scored
from tests.people import Person
from workspaces.models.workspace import uuid7

BOTH = ("memories", "episodes")
ALONE = ("linea", "vector", "keyword")


def scored(layer: str, *scores: float) -> list[Scored]:
    return [Scored(layer, n, uuid7(), score, {"vector": score}) for n, score in enumerate(scores)]


def told(found: list[Scored]) -> list[tuple[str, float]]:
    return [(one.layer[0], one.score) for one in sorted(found, key=lambda one: one.order)]


def test_the_best_of_each_layer_come_first() -> None:
    found = by_place([*scored("memories", 0.9, 0.8, 0.7), *scored("episodes", 0.3, 0.2)])
    assert [layer for layer, _ in told(found)] == ["m", "e", "m", "e", "m"]


def test_scores_fall_along_the_list_and_the_parts_stay_as_they_were() -> None:
    found = by_place([*scored("memories", 0.9, 0.8), *scored("episodes", 0.3, 0.2)])
    assert [score for _, score in told(found)] == [0.9, 0.8, 0.8, 0.2]
    assert sorted(one.scores["vector"] for one in found) == [0.2, 0.3, 0.8, 0.9]


def test_one_layer_is_left_as_it_is() -> None:
    found = scored("memories", 0.9, 0.8)
    assert by_place(found) == found


def test_what_is_not_good_enough_is_not_raised() -> None:
    found = by_place([*scored("memories", 0.9, 0.8), *scored("episodes", 0.1)], 0.5)
    assert told(found) == [("m", 0.9), ("m", 0.8), ("e", 0.1)]


def layers_of(hits: list[Hit]) -> set[str]:
    return {hit.layer for hit in hits}


@pytest.mark.parametrize("ranking", ALONE)
def test_short_statements_and_long_messages_share_a_list(alice: Person, ranking: str) -> None:
    for n in range(12):
        alice.note(f"Ada's garden {n}")
    aside = "and the weather was as it is in April, with a little of everything, all day long, "
    alice.say(*(f"Well, {aside * 3} but Ada's garden {n} is fine" for n in (1, 2)))
    found = alice.ask("Ada's garden", layers=BOTH, ranking=ranking, limit=4)
    assert [hit.layer for hit in found].count("episodes") == 2
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@pytest.mark.parametrize("ranking", ALONE)
def test_a_longer_list_begins_as_a_shorter_one(alice: Person, ranking: str) -> None:
    for n in range(5):
        alice.tell(f"The orchard gate {n} is green")
    many = alice.ask("orchard gate", layers=BOTH, ranking=ranking, limit=8)
    few = alice.ask("orchard gate", layers=BOTH, ranking=ranking, limit=3)
    assert [hit.row.id for hit in few] == [hit.row.id for hit in many][:3]


def test_a_threshold_counts_for_what_a_hit_is_by_itself(alice: Person) -> None:
    alice.note("Ada's garden is green")
    alice.say("What a day it was!")
    found = alice.ask("Ada's garden", layers=BOTH, ranking="vector", threshold=0.5)
    assert layers_of(found) == {"memories"}
    assert Layer.EPISODES.label in layers_of(alice.ask("Ada's garden", layers=BOTH, ranking="vector"))
