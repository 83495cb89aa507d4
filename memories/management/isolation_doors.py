"""Every route, page and tool, tried by one tenant with the ids of the other."""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from django.contrib.admin import site
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator
from mcp.shared.exceptions import MCPError

from memories.api.schema_words import METHODS
from memories.compat import urls as compat_urls
from memories.management.isolation_tenants import ProbeDoor, Tenant
from memories.mcp.asker import McpAsker, asker_of
from memories.mcp.memory_tools import TOOLS
from memories.mcp.protocol import ABOUT, FAILED, PROFILE, RECALL, called, in_words, profile_text, recall
from memoryproject.postgres import visible
from workspaces.api.problems import Problem

# Every route of the OpenAPI file and every page and action of the admin, asked by whoever has no
# business there.

REFUSED = {400, 401, 403, 404, 405, 409}
# Routes outside of the OpenAPI file and the admin. Each was looked at by hand: none shows a row of
# a workspace to anybody who does not prove that it is theirs.
OTHERS = {
    "",
    ".well-known/oauth-authorization-server",
    ".well-known/oauth-protected-resource/mcp/oauth",
    "favicon.ico",
    "oauth/apps",
    "oauth/authorize",
    "oauth/consent",
    "oauth/register",
    "oauth/revoke",
    "oauth/token",
    "health/live",
    "health/ready",
    "metrics",
    "api/schema",
    "api/docs",
    "api/redoc",
    "api/<path:rest>",
    "accounts/invitations",
    "accounts/invitations/<uuid:row>/<str:token>",
    "accounts/password/<uidb64>/<token>",
    "accounts/password/done",
    "docs",
    "docs/",
    "docs/<path:path>",
}
API, ADMIN = "api/v1/", "admin/"
# The routes of other servers' clients: by the key alone, which names no workspace in the address.
COMPAT = tuple(str(each.pattern) for each in compat_urls.urlpatterns)
LEFT_OUT = {"logout", "password_change", "password_change_done", "second_factor", "login_code"}


WRITES = "tool add_memory"
PATHS = ("/mcp", "/mcp/{}")  # the second for one user


@dataclass
class ProofTally:
    """Counts of what was tried, and the leaks: in words, one line each."""

    counts: dict[str, int] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)

    def tried(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def look(self, told: str, answer: HttpResponse, words: list[str], refused: bool = True) -> None:
        """Note a leak where one of `words` is in an answer, or what must be refused was not."""
        self.tried("requests")
        content = b"" if answer.streaming else answer.content
        if any(word.encode() in content for word in words):
            self.leaks.append(f"{told}: {answer.status_code} shows what is another's")
        elif answer.status_code >= 500:
            self.leaks.append(f"{told}: {answer.status_code}, which proves nothing")
        elif refused and answer.status_code not in REFUSED:
            self.leaks.append(f"{told}: {answer.status_code}, and is no refusal")


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    name: str

    @property
    def resource(self) -> str:
        return self.path.partition("{workspace}/")[2].split("/")[0]

    def address(self, slug: str, rows: dict[str, str], row: str = "") -> str:
        named = self.path.replace("{workspace}", slug).replace("{key}", rows.get("sets", ""))
        return f"/{named}".replace("//", "/").replace("{row}", row or rows.get(self.resource, ""))


def operations() -> list[Operation]:
    generator: Any = SchemaGenerator
    schema = generator().get_schema(request=None, public=True)
    return [
        Operation(method.upper(), path, item[method]["operationId"])
        for path, item in schema["paths"].items()
        for method in METHODS
        if method in item
    ]


def unlisted(every: list[Operation], tenant: Tenant) -> Iterator[str]:
    """Yield the routes that this proof does not know."""
    for operation in every:
        unknown = set(operation.path.split("{")[1:])
        parts = {part.partition("}")[0] for part in unknown} - {"workspace", "row", "key"}
        if parts or ("{row}" in operation.path and operation.resource not in tenant.rows):
            yield f"{operation.method} {operation.path}: no row is furnished for it"
    for route in _routes_of(get_resolver().url_patterns):
        listed = route.startswith((API, ADMIN)) or route in OTHERS or route in COMPAT
        if not listed:
            yield f"{route}: neither a route of the OpenAPI file, nor a page of the admin"


def _routes_of(patterns: Any, before: str = "") -> Iterator[str]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _routes_of(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            yield route


def try_routes(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    """Try everything of `owner`'s through `other`'s doors, and without valid credentials."""
    every = operations()
    for told in unlisted(every, owner):
        tally.leaks.append(told)
    made_up = ProbeDoor("a key that is none", {"Authorization": "Bearer mp_abcdef012345_x"})
    strangers = [*other.doors, ProbeDoor("nobody"), made_up, owner.revoked]
    words = [owner.secret, owner.private]
    for operation in every:
        tally.tried("routes")
        body: Any = None if operation.method in ("GET", "DELETE") else {}
        is_of_one = "{workspace}" in operation.path
        for door in strangers:
            told = f"{operation.name} by {door.name}"
            answer = door.ask(operation.method, operation.address(owner.workspace.slug, owner.rows), body)
            tally.look(told, answer, words, is_of_one or operation.method != "GET")
        if "{row}" not in operation.path:
            continue
        own = owner.rows.get(operation.resource, str(uuid.UUID(int=1)))
        guessed = str(uuid.UUID(int=uuid.UUID(own).int + 1))
        for row in (own, guessed, str(uuid.UUID(int=0))):
            for door in other.doors:
                address = operation.address(other.workspace.slug, other.rows, row)
                answer = door.ask(operation.method, address, body)
                tally.look(f"{operation.name} of a foreign row by {door.name}", answer, words)
    _try_within(owner, every, tally)
    try_compat(owner, other, tally)


def try_compat(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    """Try the routes of other servers' clients, with `other`'s keys, and ids and names of
    `owner`'s."""
    parts = {
        "<str:row>": owner.rows["memories"],
        "<str:kind>": "user",
        "<path:name>": f"user {owner.secret}",
        "<path:rest>": "unknown",
        "<str:organisation>": str(owner.workspace.pk),
        "<str:project>": str(owner.workspace.pk),
    }
    named = {"query": owner.secret, "user_id": f"user {owner.secret}", "filters": {"user_id": f"user {owner.secret}"}}
    words = (owner.secret, owner.private)
    for route in COMPAT:
        tally.tried("routes of clients")
        address = f"/{route}"
        for part, value in parts.items():
            address = address.replace(part, quote(value))
        for door in other.doors:
            for method in ("GET", "POST", "PUT", "DELETE"):
                body = None if method in ("GET", "DELETE") else named
                answer = door.ask(method, address, body)
                shown = answer.content.replace(f"user {owner.secret}".encode(), b"")
                if any(word.encode() in shown for word in words):
                    told = f"{method} {address} by {door.name}"
                    tally.leaks.append(f"{told}: shows what is another's")
                tally.tried("requests")


def _try_within(owner: Tenant, every: list[Operation], tally: ProofTally) -> None:
    """A key of another team, one of another subject and one of another space, within the workspace:
    what is private to somebody, or stands in a space, is not for them."""
    for door, word in owner.narrow_doors():
        for operation in every:
            if operation.method == "GET" and "{workspace}" in operation.path:
                address = operation.address(owner.workspace.slug, owner.rows)
                answer = door.ask("GET", address)
                tally.look(f"{operation.name} by {door.name}", answer, [word], False)
        layers = ["memories", "episodes", "chunks"]
        query = f"{owner.secret} {word}"
        for path in ("memories/search", "memories/context", "documents/search"):
            asked = {"query": query} | ({} if path[0] == "d" else {"layers": layers})
            answer = door.ask("POST", f"{owner.base}/{path}", asked)
            shown = answer.content.replace(query.encode(), b"")
            if word.encode() in shown:
                tally.leaks.append(f"{path} by {door.name}: shows what is private")
            tally.tried("requests")
        _try_guesses(owner, door, tally)


def _try_guesses(owner: Tenant, door: ProbeDoor, tally: ProofTally) -> None:
    """Ingest a message that `door` does not see, by its id and thread, with its words and with
    others; both must be refused alike."""
    told = []
    for words in (f"I prefer {owner.secret} over {owner.private}.", "I prefer tea over milk."):
        message = {"role": "user", "content": words, "id": owner.secret}
        body = {
            "messages": [message],
            "userId": "somebody else",
            "threadId": f"thread {owner.secret}",
        }
        answer = door.ask("POST", f"{owner.base}/memories/ingest", body)
        said = json.loads(answer.content)
        told.append((answer.status_code, said | {"requestId": ""}))
        tally.tried("guesses")
    if told[0] != told[1] or told[0][0] not in REFUSED:
        tally.leaks.append(f"a guess by {door.name}: right and wrong are not refused alike")


def try_pages(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    """Try every page of the admin and every action on it as `other`'s members and as nobody, with
    `owner`'s rows."""
    people = [door for door in other.doors if not door.headers] + [ProbeDoor("nobody")]
    words = [owner.secret, owner.private]
    rows = _first_rows(owner)
    for route, name in _admin_routes():
        if name in LEFT_OUT:
            continue
        tally.tried("pages")
        for address in _addresses(route, name, rows):
            for door in people:
                tally.look(f"/{address} by {door.name}", door.ask("GET", f"/{address}"), words, False)
                posted = door.post_form(f"/{address}", {"workspace": str(owner.workspace.pk)})
                tally.look(f"post to /{address} by {door.name}", posted, words, False)
    for model, admin in site._registry.items():
        label = f"{model._meta.app_label}_{model._meta.model_name}"
        if label not in rows:
            continue
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        for action in getattr(admin, "actions", None) or ():
            tally.tried("actions")
            said = action if isinstance(action, str) else action.__name__
            for door in people:
                form = {"action": said, ACTION_CHECKBOX_NAME: [rows[label]], "post": "yes"}
                tally.look(
                    f"action {said} on {label} by {door.name}",
                    door.post_form(address, form),
                    words,
                    False,
                )


def _first_rows(owner: Tenant) -> dict[str, str]:
    """One row of `owner`'s for each kind that the admin shows."""
    rows = {"workspaces_workspace": str(owner.workspace.pk)}
    with visible.only(owner.workspace.pk):
        for model in site._registry:
            label = f"{model._meta.app_label}_{model._meta.model_name}"
            if any(f.column == "workspace_id" for f in model._meta.concrete_fields):
                row = model._default_manager.values_list("pk", flat=True).first()
                if row is not None:
                    rows[label] = str(row)
    return rows


def _admin_routes() -> Iterator[tuple[str, str]]:
    def walk(patterns: Any, before: str) -> Iterator[tuple[str, str]]:
        for each in patterns:
            route = before + str(each.pattern)
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns, route)
            else:
                yield route, each.name or ""

    yield from walk(site.urls[0], ADMIN)


def _addresses(route: str, name: str, rows: dict[str, str]) -> Iterator[str]:
    """Yield the addresses of a route, with a row of the page's own model in the place of each
    part."""
    if not set(route) & set("<(?"):
        yield route
        return
    own = [row for label, row in rows.items() if name.startswith(f"{label}_")]
    for row in own or [next(iter(rows.values()))]:
        address = ""
        for part in route.replace("<", "\0<").replace(">", ">\0").split("\0"):
            address += row if part.startswith("<") else part
        yield address


# Every tool, resource and prompt of MCP, asked by whoever has no business there.


def try_tools(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    """Try the MCP tools with `other`'s keys and `owner`'s ids, names and words; and with `owner`'s
    narrow keys."""
    user = f"user {owner.secret}"
    query = f"{owner.secret} {owner.private}"
    strangers = [door for door in other.doors if door.headers]
    for name, call in _calls(owner, user, query, tally):
        tally.tried("tools")
        asked = [(door, [owner.secret, owner.private]) for door in strangers]
        if name != WRITES:  # what a narrow key adds to its own workspace is no leak
            asked += [(door, [word]) for door, word in owner.narrow_doors()]
        for door, words in asked:
            for path in PATHS if name != WRITES else PATHS[:1]:
                tally.tried("requests")
                answer = _answer(door, path.format(user), call)
                answer = answer.replace(query, "").replace(user, "")
                if FAILED[:20] in answer:
                    tally.leaks.append(f"{name} at {path} by {door.name}: failed, proves nothing")
                if any(word in answer for word in words):
                    tally.leaks.append(f"{name} at {path} by {door.name}: shows what is another's")


def _calls(owner: Tenant, user: str, query: str, tally: ProofTally) -> Iterator[tuple[str, Callable[[McpAsker], str]]]:
    """Yield calls of all that MCP offers, with ids and names of `owner`'s. A tool with an argument
    that this proof does not know is a leak."""
    given: dict[str, Any] = {
        "query": query,
        "user_id": user,
        "text": "I like pears.",
        "memory_id": owner.rows["memories"],
        "content": "User likes pears.",
        "scopedDocumentIds": [owner.rows["documents"]],
    }
    yield "prompt", lambda asker: in_words(recall, asker, RECALL.name, {ABOUT.name: query})
    yield "resource", lambda asker: in_words(profile_text, asker, PROFILE + user)
    for name, tool in TOOLS.items():
        known = {f.name: f.default for f in fields(tool.arguments)}
        if f"tool {name}" == WRITES:  # it is the asker's own: it is not given others' names
            known.pop("user_id")
        own = {key: value for key, value in given.items() if key in known}
        if missing := {key for key, value in known.items() if value is MISSING} - own.keys():
            tally.leaks.append(f"tool {name}: {sorted(missing)} are not furnished")
        yield f"tool {name}", partial(_called, name, own)


def _called(name: str, given: dict[str, Any], asker: McpAsker) -> str:
    return str(called(asker, name, given).content)


def _answer(door: ProbeDoor, path: str, call: Callable[[McpAsker], str]) -> str:
    key = {f"HTTP_{name.upper()}": value for name, value in door.headers.items()}
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": unquote(path),
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "HTTP_HOST": "localhost",
        "HTTP_X_FORWARDED_PROTO": "https",
        "REQUEST_ID": "isolation",
        **key,
    }
    with visible.only():
        try:
            return call(asker_of(environ))
        except (Problem, MCPError) as refusal:
            return str(refusal)
