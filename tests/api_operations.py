"""Every operation of the OpenAPI schema, and a workspace that has a row for each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from tests.api_fixtures import Answer, Caller, caller
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.models import Workspace

METHODS = ("get", "post", "patch", "put", "delete")
SAID = {"role": "user", "content": "I prefer tabs over spaces.", "id": "m1"}
OF_THE_SERVER = {"createWorkspace", "removeWorkspace"}  # for its administrators alone
# It begins a transaction, and so cannot be asked within that of a test; its own tests ask it.
IN_ITS_OWN_TRANSACTION = {"exportWorkspace"}
TOLD = {
    "messages": [{"role": "user", "content": "I live in Oslo.", "id": "twice-1"}],
    "userId": "u2",
    "threadId": "t2",
}
# What makes each of them do something; {} where nothing has to be said.
BODIES: dict[str, Any] = {
    "createAgent": {"externalId": "helper"},
    "createTeam": {"name": "helpers"},
    "createConversation": {"threadId": "helper"},
    "importTranscript": {
        "content": "14/10/2026, 15:34 - Ada L.: I live in Oslo\n14/10/2026, 15:35 - Bo: I live in Bergen\n",
        "userId": "u1",
        "batch": "family",
    },
    "appendEpisodes": {"messages": [{"role": "user", "content": "And then?"}]},
    "issueKey": {"name": "second"},
    "inviteMember": {"email": "new@example.org", "role": "viewer"},
    "createMemory": {"content": "The gate is green."},
    "packContext": {"query": "tabs or spaces", "userId": "u1", "layers": ["memories", "episodes"]},
    "previewExtraction": TOLD,
    "ingest": TOLD,
    "search": {"query": "tabs or spaces", "userId": "u1"},
    "placeHold": {"userId": "held too", "reason": "Case 13"},
    "createDocument": {"content": "The gate is green.", "mode": "sync"},
    "createDocuments": {"documents": [{"content": "The gate is blue."}]},
    "searchDocuments": {"query": "tabs or spaces"},
    "createSpace": {"containerTag": "second"},
    "createConnection": {"provider": "folder", "options": {"path": "/second"}},
    "addGoldenQuestion": {"query": "tabs or spaces", "answer": "tabs"},
    "importGoldenQuestions": {"questions": [{"query": "spaces or tabs", "answer": "tabs"}]},
    "chat": {"messages": [{"role": "user", "content": "Tabs or spaces?"}]},
    "createWebhook": {"url": "https://example.org/two", "events": ["case.opened"]},
    "createSet": {"key": "own"},
    "createFeature": {
        "category": "identity",
        "tag": "home",
        "feature": "home",
        "value": "Oslo",
    },
}
ORDER = ("I have a horse called Thunder.", "I was only kidding about the horse.")
CHANGED = "I prefer spaces over tabs."


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    name: str

    @property
    def is_of_a_workspace(self) -> bool:
        return "{workspace}" in self.path

    @property
    def resource(self) -> str:
        """What {row} is an id of."""
        return self.path.removeprefix("/api/v1/workspaces/{workspace}/").split("/")[0]

    def address(self, rows: dict[str, str], workspace: str = "orchard") -> str:
        named = self.path.replace("{workspace}", workspace).replace("{key}", rows.get("sets", ""))
        return f"/{named.replace('{row}', rows.get(self.resource, ''))}"

    def call(self, http: Caller, rows: dict[str, str], body: Any = None) -> Answer:
        sent = body if body is not None or self.method in ("GET", "DELETE") else {}
        return http.call(self.method, self.address(rows), sent)

    def call_as_shown(self, http: Caller, rows: dict[str, str]) -> Answer:
        """With the example of the schema."""
        body = body_example(self)
        sent = body if body is not None or self.method in ("GET", "DELETE") else {}
        return http.call(self.method, self.address(rows), sent, query=query_example(self))


@dataclass(frozen=True)
class Furnished:
    """A workspace that several tests begin with: its owner's backend, and what `furnish` says."""

    owner: Person
    ids: dict[str, str]

    @property
    def alice(self) -> Person:
        """With a workspace as it is stored: another test may have changed the last one."""
        return Person(Workspace.objects.get(pk=self.owner.workspace.pk), self.owner.key)


@cache
def schema() -> dict[str, Any]:
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


def declared(operation: Operation) -> dict[str, Any]:
    """What the schema says of it."""
    found: dict[str, Any] = schema()["paths"][operation.path][operation.method.lower()]
    return found


def body_example(operation: Operation) -> Any:
    content = declared(operation).get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("examples", {}).get("usual", {}).get("value")


def query_example(operation: Operation) -> dict[str, str]:
    return {
        one["name"]: one["example"]
        for one in declared(operation).get("parameters", ())
        if one["in"] == "query" and "example" in one
    }


def operations() -> list[Operation]:
    return list(_operations())


def _operations() -> Iterator[Operation]:
    for path, item in schema()["paths"].items():
        for method in METHODS:
            if method in item:
                yield Operation(method.upper(), path, item[method]["operationId"])


def furnish(alice: Person) -> dict[str, str]:
    """Fill Alice's workspace; the id of one row for each resource."""
    http = caller(alice)
    erasure = erased(http)
    about = {"userId": "u1", "agentId": "assistant", "threadId": "t1"}
    told = http.post("/memories/ingest", {"messages": [SAID], **about}).body
    http.patch(f"/memories/{told['memories'][0]['id']}", {"pinned": True})
    http.post("/memories/ingest", {"content": CHANGED, **about})
    MembershipFactory(workspace=alice.workspace, role="viewer")
    lists = ("agents", "subjects", "members", "sessions", "facts", "episodes", "conversations")
    rows = {name: http.get(f"/{name}").body["results"][0]["id"] for name in lists}
    guest = {"email": "guest@example.org", "role": "viewer"}
    rows["invitations"] = http.post("/members", guest).body["id"]
    rows["teams"] = http.post("/teams", {"name": "spare"}).body["id"]
    rows["keys"] = http.post("/keys", {"name": "spare"}).body["id"]
    discover_sets()
    update_now(alice.scope, "user:u1")
    rows["sets"] = "user:u1"
    rows["features"] = http.get("/sets/user:u1/features").body["results"][0]["id"]
    rows["erasures"] = erasure
    forgotten = [{"role": "user", "content": text} for text in ORDER]
    said = {"content": "# Tabs\n\nTabs are wide.", "containerTags": ["shelf"], "mode": "sync"}
    http.post("/documents", said)
    # One that failed can be retried.
    rows["documents"] = http.post("/documents", said | {"content": " \n "}).body["id"]
    source = {"provider": "folder", "options": {"path": "/nowhere"}, "minutes": 0}
    rows["connections"] = http.post("/connections", source).body["id"]
    rows["spaces"] = http.get("/spaces").body["results"][0]["id"]
    rows["intents"] = http.post("/memories/ingest", {"messages": forgotten, "userId": "u3"}).body["intents"][0]["id"]
    rows["memories"] = told["memories"][0]["id"]
    question = {"query": "tabs or spaces", "userId": "u1", "memoryIds": [rows["memories"]]}
    rows["golden-questions"] = http.post("/golden-questions", question).body["id"]
    rows["golden-runs"] = http.post("/golden-runs", {}).body["id"]
    held = {"userId": "held", "reason": "Case 12"}
    hook = {"url": "https://example.org/hook", "events": ["session.done"]}
    rows["webhooks"] = http.post("/webhooks", hook).body["id"]
    rows["deliveries"] = http.post(f"/webhooks/{rows['webhooks']}/ping").body["id"]
    rows["holds"] = http.post("/holds", held).body["id"]
    http.post(f"/holds/{rows['holds']}/lift")
    rows["supersessions"] = http.get("/supersessions").body["results"][0]["id"]
    rows["inbox"] = rows["documents"]
    rows["cases"] = http.get("/cases").body["results"][0]["id"]
    return rows


def erased(http: Caller) -> str:
    """The id of an erasure."""
    http.post("/memories/ingest", {"content": "Nothing to keep.", "userId": "gone"})
    [subject] = http.get("/subjects", externalId="gone").body["results"]
    return str(http.delete(f"/subjects/{subject['id']}").body["id"])
