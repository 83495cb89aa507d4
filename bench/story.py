"""A small workspace to look at: told through the same verbs that agents and people use."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from memories import ingest
from memories.belief import review
from memories.ingest import IngestRequest, NewMessage
from memories.models import FeatureSet, Memory, MemorySession
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import Agent, Capability, Membership, Role, Subject, User, Workspace
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import Scope

PASSWORD = "a demo password"

ADA = (
    (
        "I prefer tea to coffee. Is there a good place near the station?",
        "There is, two streets on.",
    ),
    ("I prefer window seats on trains.", "I will book window seats."),
    ("I love hiking in the hills at dawn.", "The early train would suit that."),
    ("I hate cilantro.", "I will tell the restaurant."),
)
ADA_LATER = (
    ("Hello!", "Hello, Ada."),
    ("I prefer aisle seats on trains these days.", "Aisle seats it is."),
    ("I prefer coffee to tea.", "Coffee, then."),
    ("I love hiking in the hills at dawn.", "I remember."),
)
TEAM = (
    ("We decided to use Postgres for the reporting service.", "I will keep that in mind."),
    ("We always encrypt backups.", "Understood."),
    ("We switched from Go to Rust for the billing service.", "Good to know."),
)


@dataclass(frozen=True, slots=True)
class Told:
    """The workspace that a story was told to, and its owner."""

    workspace: Workspace
    owner: User


def tell() -> Told:
    """Fill an empty database. The owner logs in as `ada.lovelace` with PASSWORD."""
    workspace = Workspace.objects.create(slug="orchard", name="Orchard Support")
    owner = _people(workspace)
    scope = Scope(
        workspace.pk,
        f"user:{owner.pk}",
        ROLE_CAPABILITIES[Role.OWNER],
        user_id=owner.pk,
        role=Role.OWNER,
        slug=workspace.slug,
    )
    _programs(workspace, owner)
    start = timezone.now() - timedelta(days=40)
    _say(scope, "trip-planning", "ada", ADA, start)
    _say(scope, "platform-team", "", TEAM, start + timedelta(days=12))
    _curate(scope)
    _say(scope, "trip-planning", "ada", ADA_LATER, start + timedelta(days=30))
    _fold(scope)
    _trouble(scope)
    _as_if_heard_when_said(workspace)
    return Told(workspace, owner)


def _people(workspace: Workspace) -> User:
    people = (
        ("ada.lovelace", "Ada", "Lovelace", Role.OWNER),
        ("grace.hopper", "Grace", "Hopper", Role.EDITOR),
        ("alan.turing", "Alan", "Turing", Role.VIEWER),
    )
    made = []
    for name, first, last, role in people:
        user = User.objects.create_user(name, f"{name}@example.org", PASSWORD, first_name=first, last_name=last)
        Membership.objects.create(workspace=workspace, user=user, role=role)
        made.append(user)
    return made[0]


def _programs(workspace: Workspace, owner: User) -> None:
    for external_id, name, team in (
        ("assistant", "Assistant", ""),
        ("support-bot", "Support bot", "support"),
    ):
        Agent.objects.create(workspace=workspace, external_id=external_id, name=name, team=team)
    Subject.objects.create(workspace=workspace, external_id="ada", name="Ada Lovelace")
    agent = Agent.objects.get(workspace=workspace, external_id="assistant")
    actor = f"user:{owner.pk}"
    issue_key(workspace.pk, KeyOptions("Support backend"), actor=actor, user=owner)
    narrow = KeyOptions("Chat widget", (Capability.READ, Capability.WRITE), agent=agent)
    issue_key(workspace.pk, narrow, actor=actor, user=owner)


def _say(scope: Scope, thread: str, user: str, turns: tuple[tuple[str, str], ...], start: datetime) -> None:
    messages = []
    for number, (asked, answered) in enumerate(turns):
        at = start + timedelta(minutes=3 * number)
        messages.append(NewMessage(asked, "user", created_at=at))
        messages.append(NewMessage(answered, "assistant", created_at=at + timedelta(seconds=20)))
    for pair in range(0, len(messages), 2):
        request = IngestRequest(
            messages=tuple(messages[pair : pair + 2]),
            user_id=user,
            agent_id="assistant",
            thread_id=thread,
        )
        ingest.run(ingest.receive(scope, request).pk)


def _fold(scope: Scope) -> None:
    discover_sets()
    update_now(scope, FeatureSet.own_key("ada"))


def _curate(scope: Scope) -> None:
    """Pin, correct and forget by hand, so that a later contradiction waits for a person."""
    review.edit(scope, _live(scope, "tea to coffee").pk, {"pinned": True})
    rust = _live(scope, "Rust")
    review.edit(scope, rust.pk, {"content": "The billing team switched from Go to Rust in May"})
    review.forget(scope, _live(scope, "cilantro").pk, review.WRONG)
    review.create(scope, review.NewMemory("Ada is allergic to peanuts", "ada", category="identity"))


def _live(scope: Scope, words: str) -> Memory:
    live = Memory.objects.filter(workspace_id=scope.workspace_id).live()
    return live.get(content__contains=words)


def _as_if_heard_when_said(workspace: Workspace) -> None:
    """The messages are weeks old: so is what was learned from them."""
    learned = Memory.objects.filter(workspace=workspace, source="extracted")
    for memory in learned.select_related("superseded_by"):
        said, after = memory.valid_from, memory.superseded_by
        Memory.objects.filter(pk=memory.pk).update(created_at=said)
        memory.periods.update(from_at=said)
        if after is not None and after.source == "extracted":
            memory.periods.update(until_at=after.valid_from)
            Memory.objects.filter(pk=memory.pk).update(superseded_at=after.valid_from)
        memory.replaces_through.update(decided_at=said)


def _trouble(scope: Scope) -> None:
    """A session that was given up: its model was away."""
    request = IngestRequest(content="Ada asked about ferries to the islands.", user_id="ada")
    session = ingest.receive(scope, request)
    MemorySession.objects.filter(pk=session.pk).update(
        state=MemorySession.State.DEAD,
        attempts=3,
        error="anthropic: 529 overloaded",
        next_attempt_at=None,
        finished_at=timezone.now(),
    )
