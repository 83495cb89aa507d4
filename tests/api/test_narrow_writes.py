"""A narrow key writes only among its own: every writing route of every door, asked by such a key
for rows and names of others. What was there stays as it was, and nothing new stands on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db.models import ForeignKey, Model

from memories.documents import pipeline
from memories.ingest import run
from memories.mcp.memory_tools import TOOLS
from memories.models import (
    Case,
    Conversation,
    Document,
    Episode,
    Fact,
    Feature,
    FeatureSet,
    Intent,
    MaskedSpan,
    Memory,
    MemorySession,
    Revision,
    Space,
)
from tests.api_fixtures import Answer, Caller, caller
from tests.api_operations import BODIES, OF_THE_SERVER, Furnished, operations
from tests.client_routes import address_of, client_routes
from tests.handed_in import hand_in
from tests.mcp_caller import mcp_caller
from tests.people import Person, bound_to_agent, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Capability, Subject

WRITES = [
    each for each in operations() if each.method != "GET" and each.is_of_a_workspace and each.name not in OF_THE_SERVER
]
# What the server keeps for itself, of all that is said.
OF_THE_SERVER_ITSELF = {
    "WorkspaceIndex",
    "Speaker",
    "ApiKey",
    "CommonTerm",
    "LargeLayer",
    "AuditEntry",
    "AuditMark",
    "ChangeEvent",
    "Figure",
    "IdempotentAnswer",
    "SetDiscovery",
}
# Of a set: how far it has looked, which moves whoever asks.
LOOKED = {"cursor", "waiting", "waiting_since", "due_at", "rung_at"}
# Whom and by what all rows stand.
COMMON = {"Workspace", "Agent", "ApiKey", "EmbeddingModel", "User", "Webhook"}
HIS = {"userId": "u1", "threadId": "t1"}
# Names of others beside the key's own subject; what is asked of each route is in BODIES, too.
NAMED: dict[str, list[Any]] = {
    "ingest": [
        {"content": "I prefer green tea.", "threadId": "t1"},
        {"messages": [{"role": "user", "content": "I prefer green tea."}], "threadId": "t1"},
        {"messages": [{"role": "user", "content": "I prefer tabs over spaces.", "id": "m1"}]},
        {"content": "I prefer green tea.", "threadId": "t1", "scope": "thread"},
    ],
    "createMemory": [
        {"content": "The gate is red.", "threadId": "t1"},
        {"content": "The gate is red.", "threadId": "t1", "scope": "thread"},
    ],
    "createConversation": [{"threadId": "t1"}, {"threadId": "t1", "title": "Mine"}],
    "createDocument": [
        {"content": "Mine now.", "customId": "c1"},
        {"content": "Mine now.", "containerTags": ["his"]},
    ],
    "createDocuments": [{"documents": [{"content": "Mine now.", "containerTags": ["his"]}]}],
    "createSpace": [{"containerTag": "his", "name": "Mine"}],
    "changeSpace": [{"name": "Mine"}],
    "changeDocument": [{"content": "Mine now."}, {"containerTags": ["his"]}, {"title": "Mine"}],
    "changeMemory": [{"content": "Mine now."}, {"pinned": False}],
    "changeConversation": [{"title": "Mine"}],
    "createSet": [{"key": "mine", "threadId": "t1"}, {"key": "user:u1"}],
    "changeFeature": [{"value": "Mine"}],
    "chat": [{"messages": [{"role": "user", "content": "Tabs?"}], "conversationId": "t1"}],
}
SAID = {"messages": [{"role": "user", "content": "I prefer green tea."}]}
# Of other servers' routes.
CLIENTS: dict[tuple[str, str], list[Any]] = {
    ("POST", "v3/memories/add/"): [SAID | {"user_id": "{user}", "run_id": "t1"}],
    ("POST", "v1/memories/"): [SAID | {"user_id": "{user}", "run_id": "t1"}],
    ("PUT", "v1/memories/<str:row>/"): [{"text": "Mine now"}],
    ("PUT", "v1/batch/"): [{"memories": [{"memory_id": "ROW", "text": "Mine now"}]}],
    ("DELETE", "v1/batch/"): [{"memories": [{"memory_id": "ROW"}]}],
    ("POST", "v3/documents"): [
        {"content": "Mine now.", "containerTags": ["{user}", "his"]},
        {"content": "Mine now.", "containerTag": "{user}", "customId": "c1"},
    ],
    ("POST", "v3/documents/batch"): [{"documents": ["Mine now."], "containerTags": ["{user}", "his"]}],
    ("PATCH", "v3/documents/<str:name>"): [{"content": "Mine now."}, {"metadata": {"a": "b"}}],
    ("DELETE", "v3/documents/bulk"): [{"containerTags": ["his"]}],
    ("POST", "chat/v2"): [SAID],
    ("PATCH", "v4/memories"): [{"containerTag": "u1", "id": "ROW", "newContent": "Mine"}],
    ("DELETE", "v4/memories"): [{"containerTag": "u1", "id": "ROW"}],
    ("POST", "api/v2/memories"): [
        {"messages": [{"content": "I prefer green tea.", "metadata": {"user_id": "{user}"}}]},
        {
            "messages": [{"content": "I prefer green tea.", "metadata": {"user_id": "{user}"}}],
            "types": ["episodic"],
        },
    ],
}


@pytest.fixture
def alice(furnished: Furnished, db: None, tmp_path: Path, settings: Any) -> Person:
    settings.BLOB_DIR = tmp_path / "blobs"
    person = furnished.alice
    own = {"user_id": "u1", "custom_id": "c1", "container_tags": ["his"]}
    hand_in(person, "The keeper is called Nils.", visibility="private", **own)
    work()
    return person


@pytest.fixture
def rows(furnished: Furnished, alice: Person) -> dict[str, str]:
    space = Space.objects.get(container_tag="his")
    document = Document.objects.get(custom_id="c1")
    return furnished.ids | {"spaces": str(space.pk), "documents": str(document.pk)}


@pytest.fixture
def annie(alice: Person) -> Person:
    """A key that is limited to one subject, about whom nothing was said."""
    subject = Subject.objects.create(workspace=alice.workspace, external_id="annie")
    return with_key(alice.workspace, KeyOptions("annie", subjects=(subject,)))


def kept() -> Iterator[type[Model]]:
    for model in apps.get_models():
        ours = model._meta.app_label in ("memories", "workspaces")
        if ours and model.__name__ not in OF_THE_SERVER_ITSELF:
            yield model


def snapshot() -> dict[tuple[str, Any], str]:
    return {
        (model.__name__, row["pk"]): repr(sorted(row.items(), key=lambda each: each[0]))
        for model in kept()
        for row in model._default_manager.values("pk", *columns_of(model))
    }


def columns_of(model: type[Model]) -> list[str]:
    names = [each.attname for each in model._meta.fields]
    return [name for name in names if model is not FeatureSet or name not in LOOKED]


def work() -> None:
    """What is due for a worker."""
    for each in pipeline.due():
        pipeline.run(each)
    for session in MemorySession.objects.exclude(state__in=MemorySession.FINAL):
        run(session.pk)


def standing_on(before: dict[tuple[str, Any], str], own: set[Any]) -> list[str]:
    """New rows that refer to old ones of others."""
    found = []
    for model in kept():
        links = [f for f in model._meta.fields if isinstance(f, ForeignKey)]
        for row in model._default_manager.all():
            if (model.__name__, row.pk) in before:
                continue
            for link in links:
                name, to = link.related_model.__name__, getattr(row, link.attname)
                if name not in COMMON and (name, to) in before and to not in own:
                    found.append(f"{model.__name__}.{link.name} -> {name}")
    return sorted(set(found))


def asked_of_the_api(http: Caller, rows: dict[str, str], user: str) -> Iterator[tuple[str, Answer]]:
    for operation in WRITES:
        bodies = [None] if operation.method == "DELETE" else [BODIES.get(operation.name, {})]
        for body in bodies + NAMED.get(operation.name, []):
            told = body
            for name in ("userId", *HIS) if body else ():
                if name in body:
                    told = {**body, "userId": user, "threadId": "t1"}
            if body and operation.name in ("ingest", "createMemory", "createConversation"):
                told = {**told, "userId": user}
            if body and operation.name in ("createDocument", "createSet"):
                told = {**told, "userId": user}
            if operation.name == "createDocuments":
                told = {"documents": [one | {"userId": user} for one in body["documents"]]}
            if operation.name == "chat":
                told = {**body, "userId": user}
                if "conversationId" in body:
                    told["conversationId"] = rows["conversations"]
            yield operation.name, operation.call(http, rows, told)


def asked_of_clients(http: Caller, memory: Memory, rows: dict[str, str], user: str) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(each) for name, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        return {"{user}": user, "ROW": str(memory.pk)}.get(value, value)

    for method, pattern in client_routes():
        if method != "GET":
            for body in CLIENTS.get((method, pattern), [{}]):
                named = pattern.replace("<str:name>", rows["documents"])
                http.call(method, address_of(named, memory), filled(body))


def asked_of_mcp(person: Person, memory: Memory, user: str) -> None:
    agent, row = mcp_caller(person), str(memory.pk)
    agent.tool("add_memory", text="I prefer green tea.", thread_id="t1")
    agent.tool("add_memory", text="I prefer green tea.", thread_id="t1", user_id=user)
    agent.tool("correct_memory", memory_id=row, content="Mine")
    agent.tool("forget_memory", memory_id=row, reason="wrong")
    assert {name for name, tool in TOOLS.items() if tool.needs != Capability.READ} == {
        "add_memory",
        "correct_memory",
        "forget_memory",
    }


def asked_everywhere(person: Person, rows: dict[str, str], user: str) -> list[str]:
    """Which writes of our own API were let through."""
    http, memory = caller(person), Memory.objects.get(pk=rows["memories"])
    told = list(asked_of_the_api(http, rows, user))
    asked_of_clients(http, memory, rows, user)
    asked_of_mcp(person, memory, user)
    work()
    return [name for name, answer in told if answer.status < 300]


@pytest.mark.parametrize("user", ["annie", "u1"])
def test_a_key_of_one_subject_writes_only_about_it(annie: Person, rows: dict[str, str], user: str) -> None:
    own = set(annie.scope.subject_ids or ())
    before = snapshot()
    done = asked_everywhere(annie, rows, user)
    after = snapshot()
    changed = {key for key, row in before.items() if after.get(key) != row}
    assert sorted({name for name, _ in changed}) == []
    assert standing_on(before, own) == []
    assert ("ingest" in done) == (user == "annie")


def test_its_own_threads_documents_and_spaces_stay_open_to_it(annie: Person) -> None:
    http, own = caller(annie), {"userId": "annie"}
    for words in ("I prefer green tea.", "I live in Oslo."):
        told = http.post("/memories/ingest", {"content": words, "threadId": "mine", **own})
        assert told.status == 201
    assert http.post("/memories", {"content": "A", "threadId": "mine", **own}).status == 201
    for thread in ("made", "made"):
        note = {"content": "A", "threadId": thread, **own}
        assert http.post("/memories", note).status == 201
    assert http.post("/spaces", {"containerTag": "hers"}).status == 201
    for words in ("One.", "Two."):
        told = http.post("/documents", {"content": words, "containerTags": ["hers"], **own})
        assert told.status == 202
    [space] = http.get("/spaces").body["results"]
    assert http.patch(f"/spaces/{space['id']}", {"name": "Hers"}).body["name"] == "Hers"


def test_what_is_said_in_a_thread_of_others_is_refused_without_a_word_of_it(annie: Person, alice: Person) -> None:
    """And nothing of it is served there."""
    http = caller(annie)
    body = {"content": "I prefer green tea.", "userId": "annie", "threadId": "t1"}
    told = http.post("/memories/ingest", body)
    assert (told.status, told.fields, told.body["detail"]) == (
        409,
        ["threadId"],
        "This id is taken.",
    )
    thread = Conversation.objects.get(external_id="t1")
    shown = caller(alice).get(f"/conversations/{thread.pk}/context").body["text"]
    assert "green tea" not in shown


def test_a_key_of_another_teams_agent_changes_nothing_that_it_does_not_see(alice: Person, rows: dict[str, str]) -> None:
    stranger = bound_to_agent(alice.workspace, "stranger", "others")
    guarded = (
        Memory,
        Episode,
        Fact,
        Feature,
        Document,
        Revision,
        Intent,
        Case,
        MaskedSpan,
        Conversation,
        Space,
    )
    names = {model.__name__ for model in guarded}
    before = {key: row for key, row in snapshot().items() if key[0] in names}
    asked_everywhere(stranger, rows, "u1")
    after = snapshot()
    assert sorted({key[0] for key, row in before.items() if after.get(key) != row}) == []
