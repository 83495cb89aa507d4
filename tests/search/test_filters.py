"""The filter's grammar: every operator on every kind of field, found or refused by name."""

import operator
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memories.errors import Invalid
from memories.ingest import NewMessage
from memories.models import Memory
from memories.search import filters
from memories.search.filters import OPERATORS
from tests.people import Person

DAY, ID = "2026-05-01T00:00:00Z", "01a1f9cd-e417-7000-8000-000000000000"
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "neq": operator.ne,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
FLOORS = {f"The duck house on floor {n} is red": n for n in (1, 2, 3)}


def value_for(op: str, value: object) -> object:
    return {"in": [value], "exists": True}.get(op, value)


@pytest.mark.parametrize(
    ("layer", "field", "value", "refused"),
    [
        ("memories", "category", "plan", set()),
        ("memories", "metadata.floor", 2, set()),
        ("memories", "metadata.name", "red", set()),
        ("memories", "version", 2, {"contains"}),
        ("memories", "pinned", True, {"contains", "gt", "gte", "lt", "lte"}),
        ("memories", "createdAt", DAY, {"contains"}),
        ("memories", "id", ID, {"contains"}),
        ("memories", "entities", "Lisbon", {"eq", "neq", "gt", "gte", "lt", "lte"}),
        ("episodes", "name", "Ana", set()),
        ("episodes", "position", 1, {"contains"}),
        ("episodes", "occurredAt", DAY, {"contains"}),
        ("episodes", "metadata.floor", 2, set()),
    ],
)
def test_every_operator_is_answered_or_refused_by_name(
    alice: Person, layer: str, field: str, value: object, refused: set[str]
) -> None:
    alice.tell("The duck house is red", metadata={"floor": 2})
    for op in OPERATORS:
        condition = {"field": field, "op": op, "value": value_for(op, value)}
        if op in refused:
            with pytest.raises(Invalid, match=r"fit|list") as caught:
                filters.parse({"not": condition}, (layer,))
            assert caught.value.field == "filter.not.value"
        else:
            tree = filters.parse({"not": condition}, (layer,))
            alice.finds("duck", filter=tree, layers=(layer,))


@pytest.mark.parametrize(("wanted", "found"), [(True, ["red"]), (False, ["blue"])])
def test_a_memory_has_the_metadata_of_what_it_cites(alice: Person, wanted: bool, found: list[str]) -> None:
    alice.say(NewMessage("red", metadata={"floor": 2}), NewMessage("blue"), extract="none")
    tree = filters.parse({"field": "metadata.floor", "op": "exists", "value": wanted}, ("memories",))
    assert alice.finds("red blue", filter=tree) == found


@pytest.mark.parametrize("op", COMPARED)
@pytest.mark.parametrize("ranking", ["hybrid", "linea"])
def test_comparisons_are_those_of_numbers(alice: Person, op: str, ranking: str) -> None:
    said = [NewMessage(text, metadata={"floor": n}) for text, n in FLOORS.items()]
    alice.say(*said, extract="none")
    tree = filters.parse({"field": "metadata.floor", "op": op, "value": 2}, ("memories",))
    found = set(alice.finds("duck house", filter=tree, ranking=ranking))
    assert found == {text for text, n in FLOORS.items() if COMPARED[op](n, 2)}


@pytest.mark.parametrize(
    ("field", "op", "value", "place"),
    [
        ("category", "eq", "nope", ""),
        ("scope", "neq", "nope", ""),
        ("factType", "gt", "nope", ""),
        ("source", "in", ["manual", "nope"], "[1]"),
        ("visibility", "eq", "", ""),
        ("id", "eq", "not-a-uuid", ""),
        ("id", "in", [ID, "not-a-uuid"], "[1]"),
        ("pinned", "gt", True, ""),
    ],
)
def test_a_value_that_no_memory_could_have_is_refused_by_its_place(
    field: str, op: str, value: object, place: str
) -> None:
    with pytest.raises(Invalid) as caught:
        filters.parse({"and": [{"field": field, "op": op, "value": value}]}, ("memories",))
    assert caught.value.field == f"filter.and[0].value{place}"


def test_part_of_a_word_may_be_looked_for(alice: Person) -> None:
    alice.note("The duck house is red", category="technology")
    tree = filters.parse({"field": "category", "op": "contains", "value": "tech"}, ("memories",))
    assert alice.finds("duck", filter=tree) == ["The duck house is red"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("category", "TECH"),
        ("entities", "greta"),
        ("metadata.shelf", "OAK"),
        ("metadata.by", "ida"),
    ],
)
def test_case_says_nothing_where_a_part_is_looked_for(alice: Person, field: str, value: str) -> None:
    own = {"shelf": "an oak one", "by": ["Ida"]}
    note = alice.note("The duck house is red", category="technology", metadata=own)
    Memory.objects.filter(pk=note.pk).update(entities=["Greta"])
    alice.note("Every duck swims in the pond", category="policy")
    tree = filters.parse({"field": field, "op": "contains", "value": value}, ("memories",))
    assert alice.finds("duck", filter=tree) == ["The duck house is red"]


def test_a_category_of_features_is_any_word() -> None:
    words = {"field": "category", "op": "eq", "value": "hobbies"}
    filters.parse(words, ("memories", "features"))
    with pytest.raises(Invalid, match="Unknown category"):
        filters.parse(words, ("memories", "episodes"))


def test_a_list_may_mix_whole_and_decimal_numbers(alice: Person) -> None:
    alice.note("The duck house is red")
    tree = filters.parse({"field": "confidence", "op": "in", "value": [0.5, 1]}, ("memories",))
    assert alice.finds("duck", filter=tree) == ["The duck house is red"]


def test_an_id_is_found_however_it_is_written(alice: Person) -> None:
    told = alice.note("The duck house is red")
    value = str(told.pk).upper()
    tree = filters.parse({"field": "id", "op": "eq", "value": value}, ("memories",))
    assert alice.finds("duck", filter=tree) == ["The duck house is red"]


@pytest.mark.parametrize(("op", "found"), [("eq", ["red"]), ("neq", ["blue"])])
def test_nothing_equals_a_missing_value(alice: Person, op: str, found: list[str]) -> None:
    alice.tell("red")
    alice.note("blue", event_date=datetime(2026, 5, 1, tzinfo=UTC))
    tree = filters.parse({"field": "eventDate", "op": op, "value": None}, ("memories",))
    assert alice.finds("red blue", filter=tree) == found


@pytest.mark.parametrize("ranking", ["hybrid", "linea"])
def test_a_category_is_looked_up_only_where_all_that_is_wanted_has_it(alice: Person, ranking: str) -> None:
    alice.say(*map(NewMessage, FLOORS), extract="none")
    first, second, third = FLOORS
    Memory.objects.filter(content__in=[first, second]).update(category="plan")
    plan = {"field": "category", "op": "eq", "value": "plan"}
    some = {"field": "category", "op": "in", "value": ["plan", "decision"]}
    is_first = {"field": "content", "op": "eq", "value": first}
    is_third = {"field": "content", "op": "eq", "value": third}
    for asked, wanted in (
        (plan, {first, second}),
        ({"and": [some, is_first]}, {first}),
        ({"and": [plan, {"not": is_first}]}, {second}),
        ({"or": [plan, is_third]}, {first, second, third}),
        ({"not": plan}, {third}),
    ):
        tree = filters.parse(asked, ("memories",))
        found = alice.finds("duck house floor", filter=tree, ranking=ranking)
        assert set(found) == wanted, asked
