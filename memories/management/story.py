"""A small workspace to look at: told through the same verbs that agents and people use."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from memories import curation, forgetting, ingest
from memories.ingest import IngestRequest, NewMessage
from memories.models import Memory, MemorySession, Supersession
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import Agent, Capability, Membership, Role, Subject, User, Workspace
from workspaces.scope import ROLE_CAPABILITIES, Scope

PASSWORD = "a demo password"

ADA = (
    ("I prefer tea to coffee, and I am allergic to peanuts.", "Noted: tea, and no peanuts."),
    ("I live in Lisbon. I work as a marine biologist.", "Lisbon must be lovely in spring."),
    ("My sister Grace is visiting next week.", "Shall I look for a quiet restaurant?"),
    ("I prefer window seats on trains.", "I will book window seats."),
)
ADA_LATER = (
    ("I live in Porto now; we moved in May.", "Congratulations on the move."),
    ("I prefer aisle seats on trains these days.", "Aisle seats it is."),
    ("Hello!", "Hello, Ada."),
)
TEAM = (
    ("We decided to use Postgres for the reporting service.", "I will keep that in mind."),
    ("Our refund policy is thirty days without a receipt.", "Understood."),
    ("The billing service is written in Go.", "Good to know."),
)


@dataclass(frozen=True, slots=True)
class Told:
    """Who may look at it."""

    workspace: Workspace
    owner: User


def tell() -> Told:
    """Fill an empty database. The owner logs in as `ada.lovelace` with PASSWORD."""
    workspace = Workspace.objects.create(slug="orchard", name="Orchard Support")
    owner = _people(workspace)
    scope = Scope(
        workspace.pk, f"user:{owner.pk}", ROLE_CAPABILITIES[Role.OWNER], user_id=owner.pk,
        role=Role.OWNER, slug=workspace.slug,
    )  # fmt: skip
    _programs(workspace, owner)
    start = timezone.now() - timedelta(days=40)
    _say(scope, "trip-planning", "ada", ADA, start)
    _say(scope, "trip-planning", "ada", ADA_LATER, start + timedelta(days=30))
    _say(scope, "platform-team", "", TEAM, start + timedelta(days=12))
    _curate(scope)
    _trouble(scope)
    return Told(workspace, owner)


def _people(workspace: Workspace) -> User:
    people = (
        ("ada.lovelace", "Ada", "Lovelace", Role.OWNER),
        ("grace.hopper", "Grace", "Hopper", Role.EDITOR),
        ("alan.turing", "Alan", "Turing", Role.VIEWER),
    )
    made = []
    for name, first, last, role in people:
        user = User.objects.create_user(
            name, f"{name}@example.org", PASSWORD, first_name=first, last_name=last
        )
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


def _say(
    scope: Scope, thread: str, user: str, turns: tuple[tuple[str, str], ...], start: datetime
) -> None:
    messages = []
    for number, (asked, answered) in enumerate(turns):
        at = start + timedelta(minutes=3 * number)
        messages.append(NewMessage(asked, "user", created_at=at))
        messages.append(NewMessage(answered, "assistant", created_at=at + timedelta(seconds=20)))
    for pair in range(0, len(messages), 2):
        request = IngestRequest(
            messages=tuple(messages[pair : pair + 2]), user_id=user, agent_id="assistant",
            thread_id=thread,
        )  # fmt: skip
        ingest.run(ingest.receive(scope, request).pk)


def _curate(scope: Scope) -> None:
    live = Memory.objects.filter(workspace_id=scope.workspace_id).live()
    allergy = live.filter(content__icontains="peanut").first()
    if allergy is not None:
        curation.edit(scope, allergy.pk, {"pinned": True})
    go = live.filter(content__icontains="billing").first()
    if go is not None:
        curation.edit(scope, go.pk, {"content": "The billing service is written in Go and Rust"})
    sister = live.filter(content__icontains="sister").first()
    if sister is not None:
        forgetting.forget(scope, sister.pk, forgetting.WRONG)


def _trouble(scope: Scope) -> None:
    """A decision that waits for a person, and a session that was given up."""
    pinned = Memory.objects.filter(workspace_id=scope.workspace_id, pinned=True).live().first()
    if pinned is not None:
        held = curation.create(
            scope, curation.NewMemory("I can eat peanuts again", "ada", category=pinned.category)
        )
        Memory.objects.filter(pk=held.pk).update(held_at=timezone.now())
        Supersession.objects.create(
            workspace_id=scope.workspace_id, old=pinned, new=held, similarity=0.86, rule="pinned",
            method="vector", state=Supersession.State.PENDING, decided_by="worker",
        )  # fmt: skip
    request = IngestRequest(content="Ada asked about ferries to the islands.", user_id="ada")
    session = ingest.receive(scope, request)
    MemorySession.objects.filter(pk=session.pk).update(
        state=MemorySession.State.DEAD, attempts=3, error="anthropic: 529 overloaded",
        next_attempt_at=None, finished_at=timezone.now(),
    )  # fmt: skip
