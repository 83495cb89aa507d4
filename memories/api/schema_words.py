"""What the OpenAPI file says beside what it reads out of the routes: groups, a summary and an
example of each operation, and the ways to show a key."""

import json
import re
from typing import Any
from urllib.parse import urlencode

from memories.api.operation_examples import BODIES, QUERIES

Schema = dict[str, Any]
METHODS = ("get", "post", "patch", "put", "delete")
WORKSPACE = "/api/v1/workspaces/{workspace}/"
# Of what an operation is, by the first part of its path in a workspace: in the order of the pages.
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Ingest": ("Tell the memory what was said, and how far it has come.", ("sessions",)),
    "Recall": ("Ask it: hits, a text for a prompt, all that is known of somebody.", ()),
    "Memories": (
        "What is believed: read, written, corrected and forgotten; on which words it stands.",
        ("memories", "facts", "rejections", "patterns", "misses", "verdicts"),
    ),
    "Conversations": ("What was said, word for word.", ("conversations", "episodes")),
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


def complete(result: Schema, **_: Any) -> Schema:
    """A hook of drf-spectacular, which hands over the whole file."""
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
        "type": "apiKey", "in": "header", "name": "X-API-Key",
        "description": "The same key, for programs that keep Authorization for themselves.",
    }  # fmt: skip
    for name, schema in components["schemas"].items():
        if name.endswith("Request"):
            _tell_defaults(schema)
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
    """listFactsOfMemory: List facts of memory."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return words[0].upper() + words[1:]


def _tell_defaults(schema: Schema) -> None:
    """Generators take a field with a default for one that is always there: of a request it is not,
    so it is told in words."""
    for field in schema.get("properties", {}).values():
        if "default" not in field:
            continue
        said = field.get("description", "")
        words = f"Default: {json.dumps(field.pop('default'))}."
        field["description"] = f"{said} {words}" if said else words
