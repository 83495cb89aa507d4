"""What is forgotten or erased is served by none of the places that serve text; all of them are
listed."""

from typing import Any

import pytest
from django.contrib.admin import site
from django.core.management import get_commands
from django.db import connection

from memories.belief import review
from memories.compat.urls import urlpatterns as compat_routes
from memories.ingest import NewMessage
from memories.mcp.memory_tools import TOOLS
from memories.models import (
    Case,
    Conversation,
    Document,
    Episode,
    Fact,
    FeatureSet,
    Intent,
    MaskedSpan,
    Memory,
    MemorySession,
)
from memories.privacy import erase
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.profiles.summaries import talk_summaries
from memories.queue import outbox
from memories.reading import intents
from tests import api_operations, text_places
from tests.api_fixtures import Caller, caller
from tests.desk import list_of, member, page_of
from tests.handed_in import hand_in
from tests.mcp_caller import mcp_caller
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
        "episodes": str(session.episode_ids[0]),
        "sessions": str(session.pk),
        "memories": str(memory.pk),
        "facts": str(fact.pk),
        "conversations": str(Conversation.objects.get(external_id="t1").pk),
    }


def served_to_other_clients(http: Caller, rows: dict[str, str]) -> dict[str, str]:
    shown: dict[str, str] = {}
    wanted = {"query": WORD, "filters": {"user_id": "*"}}
    for route in ("v3/memories/", "v3/memories/search/", "v1/memories/search/"):
        shown[f"POST {route}"] = str(http.post(f"//{route}", wanted).body)
    for route in (f"v1/memories/{rows['memories']}/", f"v1/memories/{rows['memories']}/history/"):
        shown[f"GET {route}"] = str(http.get(f"//{route}").body)
    for route in ("v3/search", "v4/search", "v4/profile"):
        for about in ({}, {"containerTag": "u1"}):
            shown[f"POST {route} {about}"] = str(http.post(f"//{route}", {"q": WORD, **about}).body)
    shown["POST v3/documents/list"] = str(http.post("//v3/documents/list", {}).body)
    shown["GET v3/documents/processing"] = str(http.get("//v3/documents/processing").body)
    for document in Document.objects.filter(workspace__slug=http.slug):
        name = f"v3/documents/{document.pk}"
        shown[f"GET {name}"] = str(http.get(f"//{name}").body)
    return shown


def served(alice: Person, rows: dict[str, str]) -> dict[str, str]:
    """By place, what it shows now: every reading operation, searches, and the pages of the
    admin."""
    http, shown = caller(alice), {}
    for each in api_operations.operations():
        if each.method == "GET" and each.name in text_places.SERVING:
            shown[each.name] = str(each.call(http, rows).body)
    talk_summaries.all_due(alice.workspace.pk)
    for row in talk_summaries.due_rows():
        talk_summaries.make(row)
    for layers in (["memories"], ["episodes"], ["features"], ["chunks"], ["summaries"]):
        for ranking in ("hybrid", "keyword", "vector", "linea"):
            body: dict[str, Any] = {"query": WORD, "layers": layers, "ranking": ranking}
            answer = http.post("/memories/search", body | {"include": ["citations", "chain"]})
            shown[f"search {layers} {ranking}"] = str(answer.body)
    shown["packContext"] = str(http.post("/memories/context", {"query": f"cat {WORD}"}).body)
    shown["searchDocuments"] = str(http.post("/documents/search", {"query": WORD}).body)
    agent = mcp_caller(alice)
    about = {"user_id": "u1"}
    shown["searchDatabase"] = str(agent.tool("searchDatabase", query=WORD).body)
    shown["search_memories"] = str(agent.tool("search_memories", query=WORD, **about).body)
    shown["get_context"] = str(agent.tool("get_context", query=f"cat {WORD}", **about).body)
    shown["get_profile"] = str(agent.tool("get_profile", **about).body)
    shown["explain_memory"] = str(agent.tool("explain_memory", memory_id=rows["memories"]).body)
    shown["recall"] = str(agent.ask("prompts/get", name="recall", arguments={"topic": "the cat"}).body)
    shown["profile as a resource"] = str(agent.ask("resources/read", uri="memory://profile/u1").body)
    shown |= served_to_other_clients(http, rows)
    desk = member(alice.workspace)
    kinds = (
        Memory,
        Episode,
        Fact,
        Conversation,
        MemorySession,
        FeatureSet,
        AuditEntry,
        Subject,
        Case,
        Intent,
        Document,
    )
    for model in kinds:
        shown[f"list of {model.__name__}"] = desk.sees(list_of(model))
        for row in model.objects.filter(workspace=alice.workspace)[:8]:
            shown[f"page of {model.__name__} {row.pk}"] = desk.sees(page_of(row))
    for row in Subject.objects.filter(workspace=alice.workspace)[:8]:
        for part in ("life", "talks"):
            shown[f"{part} of {row.pk}"] = desk.sees(page_of(row), show=part)
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
            cursor.execute(f'select count(*) from "{table}" where "{column}"::text like %s', [f"%{WORD}%"])
            if cursor.fetchone()[0]:
                found.append(f"{table}.{column}")
    return found


def erase_subject(alice: Person) -> None:
    target = erase.target_of(alice.scope, "subject", Subject.objects.get(external_id="u1").pk)
    erase.run(erase.request(alice.scope, target).pk)


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


def test_every_route_of_other_servers_is_in_the_list_of_places() -> None:
    every = {str(route.pattern) for route in compat_routes}
    assert every == text_places.ROUTES_SERVING | text_places.ROUTES_SILENT


def test_every_tool_is_in_the_list_of_places() -> None:
    assert set(TOOLS) == text_places.TOOLS_SERVING | text_places.TOOLS_SILENT


MCP_PLACES = {"search_memories", "get_context", "get_profile", "explain_memory"}


def test_what_is_forgotten_is_in_no_place_and_comes_back(alice: Person, told: dict[str, str]) -> None:
    before = places_of(alice, told)
    assert {"listEpisodes", "readMemory", "packContext", *MCP_PLACES} <= set(before)
    assert {"recall", "profile as a resource", "POST v3/memories/"} <= set(before)
    assert f"GET v1/memories/{told['memories']}/" in before
    assert f"life of {Subject.objects.get(external_id='u1').pk}" in before
    alice.say("Please forget what I told you about my cat.", user_id="u1", thread_id="t1")
    intent = Intent.objects.get(kind="forget")
    assert (intent.state, intent.reason) == ("done", "")
    assert places_of(alice, told) == []
    assert tables() == ["memories_maskedspan.words"]
    intents.undo(alice.scope, intent.pk)
    after = places_of(alice, told)
    assert {"listEpisodes", "readMemory", "packContext"} <= set(after)


@pytest.mark.parametrize("reason", ["wrong", "private", "private: she asked me to"])
def test_what_a_person_forgets_is_in_no_place_and_comes_back(alice: Person, told: dict[str, str], reason: str) -> None:
    words = f"I know that your cat is called {WORD}."
    alice.say(NewMessage(words, role="assistant"), user_id="u1", thread_id="t2")
    hand_in(alice, f"Notes. My cat is called {WORD}.", user_id="u1", extract="none")
    assert {"searchDocuments", "get_context"} <= set(places_of(alice, told))
    caller(alice).delete(f"/memories/{told['memories']}", reason=reason)
    assert places_of(alice, told) == []
    assert tables() == ["memories_maskedspan.words"]
    caller(alice).post(f"/memories/{told['memories']}/restore")
    after = places_of(alice, told)
    assert {"listEpisodes", "readMemory", "packContext", "searchDocuments"} <= set(after)
    assert not MaskedSpan.objects.exists()


def test_what_is_held_in_quarantine_is_in_no_place_before_a_person_lets_it_through(
    alice: Person, told: dict[str, str]
) -> None:
    assert places_of(alice, told)
    erase_subject(alice)
    session = alice.say(f"My bank password is {WORD}.", user_id="u1", thread_id="t1")
    fact = Fact.objects.get(quarantined_at__isnull=False)
    rows = told | {"episodes": str(session.episode_ids[0]), "sessions": str(session.pk), "facts": str(fact.pk)}
    rows |= {"conversations": str(Conversation.objects.get(external_id="t1").pk)}
    update_now(alice.scope, "user:u1")
    assert places_of(alice, rows) == []
    assert tables() == ["memories_maskedspan.words"]
    rows["memories"] = str(review.accept(alice.scope, fact.pk, unmask=True).pk)
    assert {"listEpisodes", "readMemory", "listMemories"} <= set(places_of(alice, rows))


def test_what_is_held_and_dismissed_stays_in_no_place(alice: Person, told: dict[str, str]) -> None:
    erase_subject(alice)
    alice.say(f"My bank password is {WORD}.", user_id="u1", thread_id="t1")
    review.dismiss(alice.scope, Fact.objects.get(quarantined_at__isnull=False).pk)
    assert places_of(alice, told) == []
    assert tables() == ["memories_maskedspan.words"]


def test_what_a_document_hides_is_in_no_place(alice: Person, told: dict[str, str]) -> None:
    text = f"The pump house is old. Its router password is {WORD}!2024. Nils keeps it."
    rows = told | {"documents": str(hand_in(alice, text).pk)}
    shown = served(alice, rows)
    assert "Nils" in shown["readDocument"] + shown["listChunks"]
    assert [name for name, text in shown.items() if f"{WORD}!" in text] == []


def test_what_is_erased_is_in_no_place(alice: Person, told: dict[str, str]) -> None:
    alice.say("Please forget what my cat is called.", user_id="u1", thread_id="t1")
    erase_subject(alice)
    assert places_of(alice, told) == []
    assert tables() == []
