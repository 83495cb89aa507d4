"""New rows by COPY and in one statement are as the models themselves would make them."""

import pytest
from django.db import transaction
from django.db.models import Model

from memories.index import prepared_sql
from memories.models import Conversation, Fact, Memory
from tests.people import Person
from tests.statements_sent import sent

SAID = {"content": "Ada keeps bees.", "fingerprint": b"0" * 16, "entities": ["Ada"]}
OWN = {"id", "created_at", "updated_at"}


def values(row: Model) -> dict[str, object]:
    found = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return {name: value for name, value in found.items() if name not in OWN}


@pytest.mark.parametrize("number", [1, 3])
def test_rows_given_by_values_are_like_saved_ones(alice: Person, number: int) -> None:
    rows = prepared_sql.rows_with(Memory, [SAID] * number, workspace_id=alice.workspace.pk)
    prepared_sql.insert(rows)
    made = list(Memory.objects.order_by("pk"))
    saved = Memory.objects.create(**SAID, workspace=alice.workspace)
    saved.refresh_from_db()
    assert [values(row) for row in made] == [values(saved)] * number
    assert len({row.pk for row in made}) == number
    assert all(row.created_at and row.updated_at for row in made)


def test_rows_alone_in_their_tables_are_one_statement(alice: Person) -> None:
    place = {"workspace": alice.workspace}
    memory = Memory(**SAID, **place, metadata={"a": 1})
    fact = Fact(**place, memory=memory, statement="Ada keeps bees.", method="llm")
    with sent() as told:
        prepared_sql.insert([Conversation(**place, external_id="t")], [], [memory], [fact])
    assert len(told) == 1
    assert Fact.objects.get().memory.metadata == {"a": 1}
    assert Conversation.objects.get().external_id == "t"


def test_what_is_many_comes_in_its_order_among_what_is_alone(alice: Person) -> None:
    place = {"workspace": alice.workspace}
    memory = Memory(**SAID, **place)
    facts = [Fact(**place, memory=memory, statement=text, method="llm") for text in "ab"]
    with transaction.atomic():
        prepared_sql.insert([memory], facts, [Conversation(**place, external_id="t")])
    assert sorted(fact.statement for fact in memory.facts.all()) == ["a", "b"]
    assert Conversation.objects.exists()
