"""Texts of the OpenAPI file that the routes do not have: groups, a summary and an example of each
operation, and the ways to show a key."""

import json
import re
from typing import Any
from urllib.parse import urlencode

Schema = dict[str, Any]
METHODS = ("get", "post", "patch", "put", "delete")
WORKSPACE = "/api/v1/workspaces/{workspace}/"
# Groups of operations, by the first part of the path in a workspace, in the order of the pages.
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Ingest": ("Tell the memory what was said, and how far it has come.", ("sessions",)),
    "Recall": ("Ask it: hits, a text for a prompt, all that is known of somebody.", ()),
    "Memories": (
        "What is believed: read, written, corrected and forgotten; on which words it stands.",
        ("memories", "facts", "rejections", "patterns", "misses", "verdicts"),
    ),
    "Conversations": ("What was said, word for word.", ("conversations", "episodes", "transcripts")),
    "Profiles and features": (
        "What conversations are folded into: category, tag, feature and value.",
        ("sets", "features"),
    ),
    "Documents": ("Texts and files, cut into passages that are found.", ("documents", "spaces")),
    "Decisions": (
        "What waits for a person, and what was decided.",
        ("cases", "supersessions", "intents"),
    ),
    "Quality": ("Questions whose answers are known.", ("golden-questions", "golden-runs")),
    "Erasure": ("Who is erased, who must not be, and the proofs.", ("erasures", "holds")),
    "People and agents": (
        "Whom memories are about, and who writes them.",
        ("subjects", "agents", "teams"),
    ),
    "Connections": ("Sources of documents that are read again and again.", ("connections",)),
    "Events": (
        "What happens, as it happens: a stream, and calls to an address of yours.",
        ("events", "webhooks", "deliveries"),
    ),
    "Access": ("Keys and members.", ("keys", "members", "invitations")),
    "Workspaces": (
        "Tenants, their settings, what they did and used.",
        ("audit", "costs", "usage", "export"),
    ),
}
BY_NAME = {
    **dict.fromkeys(("ingest", "previewExtraction"), "Ingest"),
    **dict.fromkeys(("search", "packContext", "readProfile", "searchDocuments"), "Recall"),
}
BY_PART = {part: group for group, (_, parts) in GROUPS.items() for part in parts}
KEYS = {
    "key": "A key of the workspace, as `Authorization: Bearer mp_...` or `Token mp_...`.",
    "session": "The session of a member who is signed in to the admin.",
}
ROW = "01a205c1-0000-7000-8000-000000000000"
PATH_EXAMPLES = {"workspace": "demo", "row": ROW, "key": "user:ada"}
PROBLEM_WORDS = {
    "type": "about:blank, or an address that tells more.",
    "title": "The status in words.",
    "detail": "What is wrong, for people.",
    "code": "What is wrong, for programs: it does not change.",
    "errors": "What is wrong with each field of the request.",
    "requestId": "By which the server's log knows this request, as in X-Request-Id.",
}


MESSAGES = [
    {"role": "user", "content": "I live in Oslo.", "id": "m1"},
    {"role": "assistant", "content": "Since when?", "id": "m2"},
]
# The body of each operation that takes one.
BODIES: dict[str, dict[str, Any]] = {
    "createWorkspace": {"slug": "meadow", "name": "Meadow", "ownerEmail": "ada@example.org"},
    "changeWorkspace": {"name": "Orchard", "settings": {"llm": "always"}},
    "createAgent": {"externalId": "helper", "name": "Helper"},
    "changeAgent": {"team": "blue"},
    "changeSubject": {"timezone": "Europe/Madrid"},
    "createTeam": {"name": "helpers"},
    "changeTeam": {"audience": "team"},
    "ingest": {"messages": MESSAGES, "userId": "ada", "threadId": "monday"},
    "previewExtraction": {"content": "I prefer tea over coffee.", "userId": "ada"},
    "search": {"query": "Where does she live?", "userId": "ada", "include": ["citations"]},
    "packContext": {"query": "Where does she live?", "userId": "ada", "tokens": 1000},
    "createMemory": {"content": "The gate is green.", "userId": "ada"},
    "editMemory": {"content": "The gate is blue."},
    "changeRanking": {"weights": {"keyword": 0.5}},
    "createConversation": {"threadId": "about-boats", "userId": "ada", "title": "About boats"},
    "changeConversation": {"title": "About ships"},
    "importTranscript": {
        "content": "14/10/2026, 15:34 - Ada L.: I live in Oslo\n14/10/2026, 15:35 - Bo: I live in Bergen\n",
        "userId": "ada",
        "me": ["Ada L."],
        "batch": "family",
    },
    "appendEpisodes": {"messages": [{"role": "user", "content": "And then?"}]},
    "acceptFact": {"quote": "The cat lives in Graz"},
    "createSet": {"key": "boats", "metadata": {"topic": "boats"}},
    "editSetConfig": {"messages": 3},
    "createFeature": {
        "category": "identity",
        "tag": "home",
        "feature": "city",
        "value": "Oslo",
    },
    "editFeature": {"value": "Bergen"},
    "createDocument": {"content": "# Gates\n\nThe gate is green.", "customId": "gates"},
    "createDocuments": {"documents": [{"content": "The gate is blue.", "customId": "gate"}]},
    "changeDocument": {"title": "All gates"},
    "searchDocuments": {"query": "Which colour has the gate?"},
    "createSpace": {"containerTag": "boats", "name": "Boats"},
    "chat": {"messages": [{"role": "user", "content": "Which colour has the gate?"}]},
    "changeSpace": {"name": "Ships"},
    "assignCase": {"assignee": None},
    "assignInInbox": {"assignee": None},
    "decideCase": {"intent": "leave", "note": "She said so in passing."},
    "snoozeCase": {"until": "2030-01-01T09:00:00Z"},
    "snoozeInInbox": {"until": "2030-01-01T09:00:00Z"},
    "leaveInInbox": {"undo": False},
    "approveSupersession": {"content": None},
    "rejectSupersession": {"note": "That was a joke."},
    "addGoldenQuestion": {"query": "Where does she live?", "userId": "ada", "answer": "Oslo"},
    "importGoldenQuestions": {"questions": [{"query": "What does she drink?", "answer": "tea"}]},
    "runGoldenQuestions": {"settings": {"ranking": {"keyword": 0.5}}},
    "placeHold": {"userId": "otto", "reason": "Case 13"},
    "issueKey": {"name": "phone", "capabilities": ["read", "write"]},
    "rotateKey": {"overlapSeconds": 3600},
    "inviteMember": {"email": "new@example.org", "role": "viewer"},
    "changeMember": {"role": "editor"},
    "createConnection": {"provider": "folder", "options": {"path": "/second"}},
    "changeConnection": {"name": "Handbook", "minutes": 60},
    "syncConnection": {"full": True},
    "createWebhook": {"url": "https://example.org/two", "events": ["case.opened"]},
    "changeWebhook": {"isActive": False},
    "rotateWebhook": {"overlapSeconds": 3600},
}
# What is added to the address of each operation that wants it.
QUERIES: dict[str, dict[str, str]] = {
    "readProfile": {"userId": "ada"},
    "listMemories": {"userId": "ada", "limit": "20"},
    "listSupersessions": {"state": "pending"},
    "listCases": {"state": "open"},
    "listEpisodes": {"threadId": "monday"},
    "listFacts": {"category": "identity"},
    "forgetMemory": {"reason": "outdated"},
    "endFeature": {"reason": "outdated"},
    "readConversationContext": {"tokens": "500"},
    "takeBackTranscripts": {"batch": "family"},
}


def complete(result: Schema, **_: Any) -> Schema:
    """Complete the whole file: a hook of drf-spectacular."""
    known = {}
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                _complete_operation(path, method, operation)
                known[operation["tags"][0]] = True
    result["tags"] = [
        {"name": name, "description": GROUPS[name][0]} if name in GROUPS else {"name": name}
        for name in sorted(known, key=lambda name: ([*GROUPS, name].index(name), name))
    ]
    result["servers"] = [{"url": "/", "description": "The server that shows this page."}]
    components = result["components"]
    for name, words in KEYS.items():
        components["securitySchemes"][name]["description"] = words
    components["securitySchemes"]["header"] = {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key, for programs that keep Authorization for themselves.",
    }
    for name, schema in components["schemas"].items():
        # Generators take a field with a default for one that is always there: of a request it is
        # not, so it is told in words.
        for field in schema.get("properties", {}).values() if name.endswith("Request") else ():
            if "default" in field:
                words = f"Default: {json.dumps(field.pop('default'))}."
                said = field.get("description", "")
                field["description"] = f"{said} {words}" if said else words
    problem = components["schemas"]["Problem"]["properties"]
    for name, words in PROBLEM_WORDS.items():
        problem[name]["description"] = words
    return result


def _complete_operation(path: str, method: str, operation: Schema) -> None:
    name = operation["operationId"]
    part = path.removeprefix(WORKSPACE).split("/")[0] if path.startswith(WORKSPACE) else "audit"
    other = part.replace("-", " ").capitalize()
    operation["tags"] = [BY_NAME.get(name) or BY_PART.get(part, other)]
    operation["summary"] = summary_of(name)
    if {"key": []} in operation.get("security", ()):
        operation["security"].append({"header": []})
    query = QUERIES.get(name, {})
    for parameter in operation.get("parameters", ()):
        own = query if parameter["in"] == "query" else PATH_EXAMPLES
        if parameter["name"] in own and parameter["in"] in ("query", "path"):
            parameter["example"] = own[parameter["name"]]
    body = BODIES.get(name)
    content = operation.get("requestBody", {}).get("content", {})
    if body is not None and "application/json" in content:
        content["application/json"]["examples"] = {"usual": {"value": body}}
    address = path.format(**PATH_EXAMPLES) + (f"?{urlencode(query)}" if query else "")
    lines = [f'curl -X {method.upper()} "$MEMORY_URL{address}"']
    lines.append('-H "Authorization: Bearer $MEMORY_KEY"')
    if body is not None:
        lines.append('-H "Content-Type: application/json"')
        lines.append("-d '" + json.dumps(body).replace("'", "'\\''") + "'")
    source = " \\\n  ".join(lines)
    operation["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": source}]


def summary_of(name: str) -> str:
    """Turn an operation's id into words: listFactsOfMemory gives "List facts of memory"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return words[0].upper() + words[1:]


# Examples are words of a short story; tests send them.
