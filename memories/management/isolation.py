"""Two tenants, and every way from one to the other: what `prove_isolation` tries."""

import json
import secrets
import uuid
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from django.conf import settings
from django.contrib.admin import site
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import DatabaseError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator
from mcp.shared.exceptions import MCPError

from memories.api.schema_words import METHODS
from memories.compat import urls as compat_urls
from memories.erase import workspace_removal
from memories.features.sets import discover_sets
from memories.features.update import update_now
from memories.mcp.asker import McpAsker, asker_of
from memories.mcp.memory_tools import TOOLS
from memories.mcp.protocol import (
    ABOUT,
    FAILED,
    PROFILE,
    RECALL,
    called,
    in_words,
    profile_text,
    recall,
)
from memoryproject import administrators, crossings, walls
from memoryproject.postgres import visible
from workspaces.api.problems import Problem
from workspaces.keys import KeyOptions, issue_key, scope_for_key
from workspaces.models import Agent, ApiKey, Capability, Membership, Role, Subject, User, Workspace
from workspaces.new_workspace import NewWorkspace, create_workspace

# Two tenants with teams, subjects, keys and members, made through the server's own doors, and
# taken away again.

ACTOR = "prove_isolation"
# Resources whose first row is read from a list.
LISTS = ("agents", "subjects", "sessions", "facts", "episodes", "conversations")
ORDER = ("I have a horse called {}.", "I was only kidding about the horse.")


class NotFurnished(Exception):
    """A tenant could not be made; the message says what the server answered."""


@dataclass
class ProbeDoor:
    """A caller over HTTP: a key in the headers, or a session in the client."""

    name: str
    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def ask(self, method: str, path: str, body: Any = None) -> HttpResponse:
        told: Any = self.client.generic(
            method,
            path,
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers=self.headers,
            **_ORIGIN,
        )
        return told

    def read(self, method: str, path: str, body: Any = None) -> Any:
        """The body of an answer that must be a good one."""
        answer = self.ask(method, path, body)
        if answer.status_code >= 300:
            raise NotFurnished(f"{method} {path}: {answer.status_code} {answer.content[:300]!r}")
        return json.loads(answer.content or b"null")

    def post_form(self, path: str, values: dict[str, Any]) -> HttpResponse:
        told: Any = self.client.post(path, values, **_ORIGIN)
        return told


# A request as it comes by the proxy, or straight to this machine.
_ORIGIN: dict[str, Any] = {"SERVER_NAME": "localhost", "REMOTE_ADDR": "127.0.0.1"}
if settings.BEHIND_TLS_PROXY:
    _ORIGIN |= {"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}


@dataclass
class Tenant:
    """`secret` stands in all that is told here about one subject, `private` in what its agent alone
    may know, `shelved` in a document; `rows` has an id for each resource of the API."""

    workspace: Workspace
    secret: str
    private: str
    backend: ProbeDoor
    doors: list[ProbeDoor]
    people: list[User]
    rows: dict[str, str] = field(default_factory=dict)
    shelved: str = ""
    revoked: ProbeDoor = field(default_factory=lambda: ProbeDoor("revoked key"))

    @property
    def base(self) -> str:
        return f"/api/v1/workspaces/{self.workspace.slug}"

    def narrow_doors(self) -> list[tuple[ProbeDoor, str]]:
        """Those within the tenant which may not know all, each with the word that is kept from
        it."""
        kept = {"narrow key": self.private, "key of another space": self.shelved}
        return [
            (door, word)
            for door in self.doors
            for name, word in kept.items()
            if door.name.startswith(name)
        ]


def by_key(name: str, key: str) -> ProbeDoor:
    return ProbeDoor(name, {"Authorization": f"Bearer {key}"})


def make(label: str) -> Tenant:
    """A workspace with two teams, two subjects, keys of every width, an owner and a viewer, and
    something in each of its tables that a program can fill."""
    mark = secrets.token_hex(6)
    slug = f"isolation-{label}-{mark}"
    secret, private = f"secret{mark}", f"private{mark}"
    made = create_workspace(NewWorkspace(slug, slug, with_key=True), actor=ACTOR)
    workspace, backend = made.workspace, by_key(f"backend of {label}", made.key)
    doors, people = [backend], []
    for name, team in (("assistant", ""), ("stranger", f"others {secret}")):
        agent = Agent.objects.create(workspace=workspace, external_id=name, team=team)
        key = issue_key(workspace.pk, KeyOptions(name, agent=agent), actor=ACTOR)[1]
        kind = "narrow key" if team else "key"
        doors.append(by_key(f"{kind} of agent {name} of {label}", key))
    other = Subject.objects.create(workspace=workspace, external_id="somebody else")
    key = issue_key(workspace.pk, KeyOptions("one subject", subjects=(other,)), actor=ACTOR)[1]
    doors.append(by_key(f"narrow key of another subject of {label}", key))
    options = KeyOptions("space", (Capability.READ,), container_tags=("another",))
    key = issue_key(workspace.pk, options, actor=ACTOR)[1]
    doors.append(by_key(f"key of another space of {label}", key))
    for role in (Role.OWNER, Role.VIEWER):
        user = User(username=f"{slug}-{role}", email=f"{slug}-{role}@localhost.localdomain")
        user.set_unusable_password()
        user.save(force_insert=True)
        Membership.objects.create(workspace=workspace, user=user, role=role)
        people.append(user)
        doors.append(in_session(f"{role} of {label}", user))
    tenant = Tenant(workspace, secret, private, backend, doors, people, shelved=f"shelved{mark}")
    try:
        furnish(tenant, made.key)
        tenant.revoked = revoked_door(tenant)
    except BaseException:
        remove([tenant])
        raise
    return tenant


def in_session(name: str, user: User) -> ProbeDoor:
    """Make the door of a logged-in user; the account has no password that would open it."""
    door = ProbeDoor(name)
    session = door.client.session
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    door.client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""
    return door


def furnish(tenant: Tenant, key: str) -> None:
    """Fill the tenant as programs do."""
    ask = tenant.backend.read
    base, secret = tenant.base, tenant.secret
    about = {"userId": f"user {secret}", "agentId": "assistant", "threadId": f"thread {secret}"}
    first = {"role": "user", "content": f"I prefer {secret} over {tenant.private}.", "id": secret}
    wish = {"extract": "patterns", **about}
    told = ask("POST", f"{base}/memories/ingest", {"messages": [first], **wish})
    memory = told["memories"][0]["id"]
    ask("PATCH", f"{base}/memories/{memory}", {"pinned": True})
    changed = f"I prefer {tenant.private} over {secret}."
    ask("POST", f"{base}/memories/ingest", {"content": changed, **wish})
    rows = {name: ask("GET", f"{base}/{name}")["results"][0]["id"] for name in LISTS}
    rows["members"] = ask("GET", f"{base}/members")["results"][0]["id"]
    guest = {"email": f"{secret}@example.org", "role": "viewer", "name": secret}
    rows["invitations"] = ask("POST", f"{base}/members", guest)["id"]
    rows["teams"] = ask("POST", f"{base}/teams", {"name": f"team {secret}"})["id"]
    rows["keys"] = ask("POST", f"{base}/keys", {"name": f"key {secret}"})["id"]
    with visible.only(tenant.workspace.pk):
        scope = scope_for_key(key)
        assert scope is not None
        discover_sets(tenant.workspace.pk)
        update_now(scope, f"user:user {secret}")
    rows["sets"] = ask("GET", f"{base}/sets")["results"][0]["key"]
    value = {"category": "identity", "tag": "home", "feature": "home", "value": secret}
    rows["features"] = ask("POST", f"{base}/sets/{rows['sets']}/features", value)["id"]
    hold = {"userId": f"held {secret}", "reason": secret}
    rows["holds"] = ask("POST", f"{base}/holds", hold)["id"]
    ask("POST", f"{base}/holds/{rows['holds']}/lift")  # or nobody could remove the workspace
    # Switched off, at a name that leads nowhere: nobody shall be called.
    hook = {"url": f"https://{secret}.invalid/", "name": secret, "events": ["session.done"]}
    rows["webhooks"] = ask("POST", f"{base}/webhooks", hook)["id"]
    ask("PATCH", f"{base}/webhooks/{rows['webhooks']}", {"isActive": False})
    rows["deliveries"] = ask("POST", f"{base}/webhooks/{rows['webhooks']}/ping")["id"]
    forgotten = [{"role": "user", "content": text.format(secret)} for text in ORDER]
    gone = {"userId": f"gone {secret}", "extract": "patterns"}
    intents = ask("POST", f"{base}/memories/ingest", {"messages": forgotten, **gone})["intents"]
    rows["intents"] = intents[0]["id"]
    [subject] = ask("GET", f"{base}/subjects?externalId=gone%20{secret}")["results"]
    rows["erasures"] = ask("DELETE", f"{base}/subjects/{subject['id']}")["id"]
    page = f"A page about {secret}. The {tenant.shelved} fee is 12 dollars."
    said = {"content": page, "containerTags": [f"shelf-{secret}"]}
    source = {"provider": "folder", "name": secret, "options": {"path": f"/{secret}"}, "minutes": 0}
    rows["connections"] = ask("POST", f"{base}/connections", source)["id"]
    rows["documents"] = ask("POST", f"{base}/documents", {**said, "mode": "sync"})["id"]
    rows["spaces"] = ask("GET", f"{base}/spaces")["results"][0]["id"]
    known = {"query": f"What about {secret}?", "answer": secret}
    rows["golden-questions"] = ask("POST", f"{base}/golden-questions", known)["id"]
    rows["golden-runs"] = ask("POST", f"{base}/golden-runs", {})["id"]
    rows["memories"] = memory
    rows["supersessions"] = ask("GET", f"{base}/supersessions")["results"][0]["id"]
    rows["cases"] = rows["inbox"] = ask("GET", f"{base}/cases")["results"][0]["id"]
    tenant.rows = rows


def revoked_door(tenant: Tenant) -> ProbeDoor:
    """A key of this tenant that was taken back."""
    with visible.only(tenant.workspace.pk):
        key, text = issue_key(tenant.workspace.pk, KeyOptions("revoked"), actor=ACTOR)
        ApiKey.objects.filter(pk=key.pk).update(revoked_at=key.created_at)
    return by_key("revoked key", text)


def remove(tenants: list[Tenant]) -> None:
    """Remove every row of these tenants; the certificate of each removal stays."""
    for tenant in tenants:
        with crossings.everywhere():
            row = workspace_removal.request(tenant.workspace, ACTOR)
            while (went := workspace_removal.run(row.pk)) is not None and went.is_open:
                pass
        for door in tenant.doors:
            door.client.session.flush()
        User.objects.filter(pk__in=[user.pk for user in tenant.people]).delete()


# Every route of the OpenAPI file and every page and action of the admin, asked by whoever has no
# business there.

REFUSED = {400, 401, 403, 404, 405, 409}
# Routes outside of the OpenAPI file and the admin. Each was looked at by hand: none shows a row of
# a workspace to anybody who does not prove that it is theirs.
OTHERS = {
    "", "favicon.ico", "health/live", "health/ready", "metrics", "api/schema", "api/docs",
    "api/redoc", "api/<path:rest>", "accounts/invitations",
    "accounts/invitations/<uuid:row>/<str:token>", "accounts/password/<uidb64>/<token>",
    "accounts/password/done", "docs", "docs/", "docs/<path:path>",
}  # fmt: skip
API, ADMIN = "api/v1/", "admin/"
# The routes of other servers' clients: by the key alone, which names no workspace in the address.
COMPAT = tuple(str(each.pattern) for each in compat_urls.urlpatterns)
LEFT_OUT = {"logout", "password_change", "password_change_done", "second_factor", "login_code"}


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
            answer = door.ask(
                operation.method, operation.address(owner.workspace.slug, owner.rows), body
            )
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
        "<str:row>": owner.rows["memories"], "<str:kind>": "user",
        "<path:name>": f"user {owner.secret}", "<path:rest>": "unknown",
    }  # fmt: skip
    named = {"query": owner.secret, "user_id": f"user {owner.secret}",
             "filters": {"user_id": f"user {owner.secret}"}}  # fmt: skip
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
            "messages": [message], "userId": "somebody else", "threadId": f"thread {owner.secret}",
        }  # fmt: skip
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
                tally.look(
                    f"/{address} by {door.name}", door.ask("GET", f"/{address}"), words, False
                )
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
                    door.post_form(address, form), words, False,
                )  # fmt: skip


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

WRITES = "tool add_memory"
PATHS = ("/mcp", "/mcp/{}")  # the second for one user


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


def _calls(
    owner: Tenant, user: str, query: str, tally: ProofTally
) -> Iterator[tuple[str, Callable[[McpAsker], str]]]:
    """Yield calls of all that MCP offers, with ids and names of `owner`'s. A tool with an argument
    that this proof does not know is a leak."""
    given: dict[str, Any] = {
        "query": query, "user_id": user, "text": "I like pears.",
        "memory_id": owner.rows["memories"], "content": "User likes pears.",
        "scopedDocumentIds": [owner.rows["documents"]],
    }  # fmt: skip
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
        "REQUEST_METHOD": "POST", "PATH_INFO": unquote(path), "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "localhost", "SERVER_PORT": "80", "HTTP_HOST": "localhost",
        "HTTP_X_FORWARDED_PROTO": "https", "REQUEST_ID": "isolation", **key,
    }  # fmt: skip
    with visible.only():
        try:
            return call(asker_of(environ))
        except (Problem, MCPError) as refusal:
            return str(refusal)


# The same in SQL: what the role that serves reads and writes of another's rows, table by table.

# Its own work goes on in these while others ask: they are not compared.
OF_THE_SERVER = {
    "memories_featureset", "memories_setdiscovery", "memories_figure", "memories_indexrepair",
    "memories_workspaceindex", "memories_memorysession", "memories_conversationsummary",
    "memories_talksummary", "memories_duesummary",
    "memories_erasure", "memories_longjob", "workspaces_apikey", "memories_duevector",
    "memories_entry", "memories_vector", "memories_searchuse", "memories_memoryuse",
    "workspaces_auditmark",
}  # fmt: skip
FORBIDDEN = (
    "create table isolation (id int)",
    "create function isolation() returns int language sql as 'select 1'",
    "alter table memories_memory disable row level security",
    "drop policy workspace on memories_memory",
    "select * from public.memories_entry",
    "select * from public.memories_vector",
    "copy memories_memory to program 'cat'",
    "select pg_read_file('postgresql.conf')",
    "update workspaces_auditentry set actor = actor",
    "delete from workspaces_auditentry",
    "update workspaces_auditmark set position = position",
    "delete from workspaces_auditmark",
    "update workspaces_user set is_superuser = true",
    "update workspaces_serverkey set digest = digest",
    "delete from workspaces_serverkey",
    f"select key from {administrators.KEYS}",
    *(f"select {column} from {table}" for table, column in walls.HIDDEN.items()),
)


# Each tenant has rows of these: not seeing another's proves nothing without seeing one's own.
FILLED = {
    "memories_entry", "memories_episode", "memories_fact", "memories_memory", "memories_vector",
}  # fmt: skip


def fingerprint(tenant: Tenant) -> dict[str, str]:
    """Return a digest of all rows of a tenant, by table."""
    found = {}
    with visible.only(tenant.workspace.pk), connection.cursor() as cursor:
        for wall in walls.walls():
            if wall.table in OF_THE_SERVER:
                continue
            columns = ", ".join(f't."{name}"' for name in walls.readable(cursor, wall.table))
            cursor.execute(
                "select md5(coalesce(string_agg(row::text, '' order by row::text), ''))"
                f" from (select row({columns}) from {walls.name_of(wall.table)} t) r(row)"
            )
            found[wall.table] = cursor.fetchone()[0]
    return found


def try_tables(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper or rolbypassrls from pg_roles where rolname = current_user")
        if cursor.fetchone()[0]:
            tally.leaks.append("the role that serves may pass all walls")
    tally.leaks += [f"{table} has no wall and no reason" for table in walls.unnamed()]
    tally.leaks += walls.faults(connection)
    for wall in walls.walls():
        tally.tried("tables")
        own = f"where t.{wall.nobodys} is not null" if wall.nobodys else ""
        with visible.only(owner.workspace.pk), connection.cursor() as cursor:
            name = walls.name_of(wall.table)
            cursor.execute(f"select t.ctid::text from {name} t {own} limit 500")
            rows = [row[0] for row in cursor.fetchall()]
        if wall.table in FILLED and not rows:
            tally.leaks.append(f"nothing is proven of {wall.table}: a wall hides its own rows")
        for ids in ((), (other.workspace.pk,)):
            with visible.only(*ids):
                _try_table(wall, rows, tally)
    # Only a real login shows what a login may become: a session that was let in as somebody else
    # may become whatever that one may.
    with connection.cursor() as cursor:
        cursor.execute("select session_user = current_user")
        others = [f"set role {walls.CROSSING_ROLE}"] if cursor.fetchone()[0] else []
    for text in (*FORBIDDEN, *others):
        tally.tried("statements")
        if _does(text) is not None:
            tally.leaks.append(f"the role that serves may: {text}")


def _try_table(wall: walls.Wall, rows: list[str], tally: ProofTally) -> None:
    """Try to read, change and delete rows by their physical place in the table. Nothing of it is
    kept."""
    name = walls.name_of(wall.table)
    where = "ctid = any(%s::tid[])"
    for text in (
        f"select 1 from {name} where {where}",
        f"update {name} set {_some_column(wall)} = {_some_column(wall)} where {where}",
        f"delete from {name} where {where}",
    ):
        tally.tried("statements")
        if _does(text, rows):
            tally.leaks.append(f"{wall.table}: {text.split(' ', 1)[0]} reaches another's rows")


def _some_column(wall: walls.Wall) -> str:
    with connection.cursor() as cursor:
        return f'"{walls.readable(cursor, wall.table)[0]}"'


def _does(text: str, rows: list[str] | None = None) -> int | None:
    """Run the statement and roll it back. Return the number of its rows; None where it is
    refused."""

    class Undo(Exception):
        pass

    number: int | None = None
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(text, None if rows is None else [rows])
                number = cursor.rowcount
            raise Undo
    except Undo:
        return number
    except DatabaseError:
        return None


def compare(before: dict[str, Any], after: dict[str, Any], tally: ProofTally) -> None:
    """Report a leak for each table in which others changed rows of the tenant."""
    for table, digest in before.items():
        tally.tried("fingerprints")
        if after[table] != digest:
            tally.leaks.append(f"{table}: another's rows were changed")
