"""What is forgotten or erased is served by none of the places that serve text; all of them are
listed."""

from typing import Any

import pytest
from django.contrib.admin import site
from django.core.management import get_commands
from django.db import connection

from memories import erase, intents, outbox
from memories.features.queue import discover_sets
from memories.features.update import update_now
from memories.models import (
    Case,
    Conversation,
    Episode,
    Fact,
    FeatureSet,
    Intent,
    Memory,
    MemorySession,
)
from tests import api_operations, text_places
from tests.api_fixtures import caller
from tests.desk import list_of, member, page_of
from tests.people import Person
from workspaces.models import AuditEntry, Subject

WORD = "Behemoth"
TOLD = f"My cat is called {WORD}. I live in Lisbon."


@pytest.fixture
def told(alice: Person) -> dict[str, str]:
    """Rows of every resource; the word stands in a message, its quotes, a memory and a feature."""
    rows = api_operations.furnish(alice)
    about = {"user_id": "u1", "thread_id": "t1"}
    session = alice.say(TOLD, **about)
    alice.say("She is old and likes to sleep near the stove.", **about)
    discover_sets()
    update_now(alice.scope, "user:u1")
    memory = Memory.objects.filter(content__contains=WORD).first()
    assert memory is not None
    fact = Fact.objects.filter(memory=memory).first()
    assert fact is not None
    return rows | {
        "episodes": str(session.episode_ids[0]), "sessions": str(session.pk),
        "memories": str(memory.pk), "facts": str(fact.pk),
        "conversations": str(Conversation.objects.get(external_id="t1").pk),
    }  # fmt: skip


def served(alice: Person, rows: dict[str, str]) -> dict[str, str]:
    """By place, what it shows now: every reading operation, searches, and the pages of the
    admin."""
    http, shown = caller(alice), {}
    for each in api_operations.operations():
        if each.method == "GET" and each.name in text_places.SERVING:
            shown[each.name] = str(each.call(http, rows).body)
    for layers in (["memories"], ["episodes"], ["features"]):
        for ranking in ("hybrid", "keyword", "vector", "linea"):
            body: dict[str, Any] = {"query": WORD, "layers": layers, "ranking": ranking}
            answer = http.post("/memories/search", body | {"include": ["citations", "chain"]})
            shown[f"search {layers} {ranking}"] = str(answer.body)
    shown["packContext"] = str(http.post("/memories/context", {"query": f"cat {WORD}"}).body)
    desk = member(alice.workspace)
    kinds = (
        Memory, Episode, Fact, Conversation, MemorySession, FeatureSet, AuditEntry, Subject, Case,
        Intent,
    )  # fmt: skip
    for model in kinds:
        shown[f"list of {model.__name__}"] = desk.sees(list_of(model))
        for row in model.objects.filter(workspace=alice.workspace)[:8]:
            shown[f"page of {model.__name__} {row.pk}"] = desk.sees(page_of(row))
    shown["tasks"] = str(outbox.waiting())
    return shown


def places_of(alice: Person, rows: dict[str, str]) -> list[str]:
    return [name for name, text in served(alice, rows).items() if WORD in text]


def tables() -> list[str]:
    """The columns of the database in which the word stands."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(
            "select table_name, column_name from information_schema.columns"
            " where table_schema = current_schema() and data_type in"
            " ('text', 'character varying', 'jsonb', 'ARRAY')"
        )
        for table, column in cursor.fetchall():
            cursor.execute(
                f'select count(*) from "{table}" where "{column}"::text like %s', [f"%{WORD}%"]
            )
            if cursor.fetchone()[0]:
                found.append(f"{table}.{column}")
    return found


def test_every_operation_is_in_the_list_of_places() -> None:
    every = {each.name for each in api_operations.operations()}
    assert every == text_places.SERVING | text_places.SILENT | text_places.UNMASKING
    assert not text_places.SERVING & text_places.SILENT


def test_every_page_is_in_the_list_of_places() -> None:
    every = {model._meta.label for model in site._registry}
    assert every == text_places.PAGES_SERVING | text_places.PAGES_SILENT


def test_every_command_is_in_the_list_of_places() -> None:
    every = {name for name, app in get_commands().items() if app == "memories"}
    assert every == text_places.COMMANDS_SERVING | text_places.COMMANDS_SILENT


def test_what_is_forgotten_is_in_no_place_and_comes_back(
    alice: Person, told: dict[str, str]
) -> None:
    before = places_of(alice, told)
    assert {"listEpisodes", "readMemory", "packContext"} <= set(before)
    alice.say("Please forget what my cat is called.", user_id="u1", thread_id="t1")
    intent = Intent.objects.get(kind="forget")
    assert intent.state == "done"
    assert places_of(alice, told) == []
    assert tables() == ["memories_maskedspan.words"]
    intents.undo(alice.scope, intent.pk)
    after = places_of(alice, told)
    assert {"listEpisodes", "readMemory", "packContext"} <= set(after)


def test_what_is_erased_is_in_no_place(alice: Person, told: dict[str, str]) -> None:
    alice.say("Please forget what my cat is called.", user_id="u1", thread_id="t1")
    target = erase.target_of(alice.scope, "subject", Subject.objects.get(external_id="u1").pk)
    erase.run(erase.request(alice.scope, target).pk)
    assert places_of(alice, told) == []
    assert tables() == []
