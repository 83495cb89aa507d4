"""Every operation of the OpenAPI schema, and a workspace that has a row for each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from memories.features.queue import discover_sets
from memories.features.update import update_now
from tests.api_fixtures import Answer, Caller, caller
from tests.factories import MembershipFactory
from tests.people import Person

METHODS = ("get", "post", "patch", "put", "delete")
SAID = {"role": "user", "content": "I prefer tabs over spaces.", "id": "m1"}
OF_THE_SERVER = {"createWorkspace", "removeWorkspace"}  # for its administrators alone
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
    "appendEpisodes": {"messages": [{"role": "user", "content": "And then?"}]},
    "issueKey": {"name": "second"},
    "inviteMember": {"email": "new@example.org", "role": "viewer"},
    "createMemory": {"content": "The gate is green."},
    "packContext": {"query": "tabs or spaces", "userId": "u1", "layers": ["memories", "episodes"]},
    "previewExtraction": TOLD,
    "ingest": TOLD,
    "search": {"query": "tabs or spaces", "userId": "u1"},
    "createSet": {"key": "own"},
    "createFeature": {
        "category": "identity", "tag": "home", "feature": "home", "value": "Oslo",
    },
}  # fmt: skip
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


@cache
def schema() -> dict[str, Any]:
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


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
    rows["intents"] = http.post("/memories/ingest", {"messages": forgotten, "userId": "u3"}).body[
        "intents"
    ][0]["id"]
    rows["memories"] = told["memories"][0]["id"]
    rows["supersessions"] = http.get("/supersessions").body["results"][0]["id"]
    rows["cases"] = http.get("/cases").body["results"][0]["id"]
    return rows


def erased(http: Caller) -> str:
    """The id of an erasure."""
    http.post("/memories/ingest", {"content": "Nothing to keep.", "userId": "gone"})
    [subject] = http.get("/subjects", externalId="gone").body["results"]
    return str(http.delete(f"/subjects/{subject['id']}").body["id"])
