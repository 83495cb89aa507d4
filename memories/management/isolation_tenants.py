"""Two furnished tenants for `prove_isolation`, and ways to ask as each."""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.http import HttpResponse
from django.test import Client

from memories.privacy.erase import workspace_removal
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memoryproject.postgres import crossings, visible
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
        return [(door, word) for door in self.doors for name, word in kept.items() if door.name.startswith(name)]


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
