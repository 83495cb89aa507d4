"""Rows for tests and for screenshots, written straight into the tables of truth (not the index).

Each factory makes what it needs in one workspace: `MemoryFactory(workspace=w)` is complete.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from memories.belief.resolve import CaseAbout, NewItem, open_case
from memories.language.english import lexical
from memories.models import (
    Case,
    Citation,
    Conversation,
    Episode,
    Fact,
    Memory,
    MemoryPeriod,
    MemorySession,
    Rejection,
    Supersession,
    Touch,
)
from workspaces.models import (
    Agent,
    ApiKey,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    Subject,
    User,
    Workspace,
)

LONG_AGO = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class WorkspaceFactory(DjangoModelFactory):
    class Meta:
        model = Workspace

    slug = factory.Sequence(lambda n: f"workspace-{n}")
    name = factory.LazyAttribute(lambda w: w.slug.replace("-", " ").title())


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"person{n}")
    email = factory.LazyAttribute(lambda u: f"{u.username}@example.org")
    password = factory.django.Password("a long enough password")


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = Membership

    workspace = factory.SubFactory(WorkspaceFactory)
    user = factory.SubFactory(UserFactory)
    role = Role.OWNER


class InvitationFactory(DjangoModelFactory):
    """One that nobody can accept: `workspaces.members.invite` makes one with its link."""

    class Meta:
        model = Invitation

    workspace = factory.SubFactory(WorkspaceFactory)
    email = factory.Sequence(lambda n: f"guest{n}@example.org")
    role = Role.VIEWER
    invited_by = "worker"
    digest = b"x" * 32
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=1))


class AgentFactory(DjangoModelFactory):
    class Meta:
        model = Agent

    workspace = factory.SubFactory(WorkspaceFactory)
    external_id = factory.Sequence(lambda n: f"agent-{n}")


class SubjectFactory(DjangoModelFactory):
    class Meta:
        model = Subject

    workspace = factory.SubFactory(WorkspaceFactory)
    external_id = factory.Sequence(lambda n: f"subject-{n}")


class ApiKeyFactory(DjangoModelFactory):
    """A key that nobody can present: `workspaces.keys.issue_key` makes one with its secret."""

    class Meta:
        model = ApiKey

    workspace = factory.SubFactory(WorkspaceFactory)
    name = factory.Sequence(lambda n: f"key {n}")
    prefix = factory.Sequence(lambda n: f"{n:012x}")
    digest = factory.LazyAttribute(lambda k: hashlib.sha256(k.prefix.encode()).digest())


class AuditEntryFactory(DjangoModelFactory):
    class Meta:
        model = AuditEntry

    workspace = factory.SubFactory(WorkspaceFactory)
    actor = "worker"
    action = "edit"
    target_kind = "memory"
    target_id = factory.Faker("uuid4")


class ConversationFactory(DjangoModelFactory):
    class Meta:
        model = Conversation

    workspace = factory.SubFactory(WorkspaceFactory)
    external_id = factory.Sequence(lambda n: f"thread-{n}")


class SessionFactory(DjangoModelFactory):
    class Meta:
        model = MemorySession

    workspace = factory.SubFactory(WorkspaceFactory)
    state = MemorySession.State.DONE
    requested_by = "worker"
    attempts = 1


class EpisodeFactory(DjangoModelFactory):
    class Meta:
        model = Episode

    session = factory.SubFactory(SessionFactory, workspace=factory.SelfAttribute("..workspace"))
    workspace = factory.SubFactory(WorkspaceFactory)
    kind = Episode.Kind.USER
    role = "user"
    content = factory.Sequence(lambda n: f"I told you {n} times that I prefer tea.")
    occurred_at = LONG_AGO
    position = factory.Sequence(lambda n: n)


class MemoryFactory(DjangoModelFactory):
    """A live memory with its open period; a dead one gets a period that ended."""

    class Meta:
        model = Memory
        skip_postgeneration_save = True

    workspace = factory.SubFactory(WorkspaceFactory)
    content = factory.Sequence(lambda n: f"Prefers tea number {n}")
    fingerprint = factory.LazyAttribute(lambda m: lexical.fingerprint(m.content))
    category = "preference"
    fact_type = "preference"
    source = "extracted"
    valid_from = LONG_AGO
    source_count = 1

    @factory.post_generation
    def life(self, create: bool, extracted: Any, **_: Any) -> None:
        if not create or self.held_at is not None:
            return
        ended = self.superseded_at or self.forgotten_at
        how = "superseded" if self.superseded_at else "forgotten"
        MemoryPeriod.objects.create(
            workspace=self.workspace,
            memory=self,
            from_at=min(self.created_at, ended) if ended else self.created_at,
            until_at=ended,
            cause=MemoryPeriod.Cause.CREATED,
            ended_by=how if ended else "",
        )


class FactFactory(DjangoModelFactory):
    class Meta:
        model = Fact

    workspace = factory.SubFactory(WorkspaceFactory)
    statement = factory.Sequence(lambda n: f"Prefers tea number {n}")
    category = "preference"
    fact_type = "preference"
    method = Fact.Method.PATTERN
    rule = "preference.prefer"
    visibility = "private"


class CitationFactory(DjangoModelFactory):
    """Cites the whole episode, or the `quote` that stands in it."""

    class Meta:
        model = Citation

    workspace = factory.SelfAttribute("fact.workspace")
    fact = factory.SubFactory(FactFactory)
    episode = factory.SubFactory(EpisodeFactory, workspace=factory.SelfAttribute("..fact.workspace"))
    quote = factory.LazyAttribute(lambda c: c.episode.content)
    start = factory.LazyAttribute(lambda c: c.episode.content.index(c.quote))
    end = factory.LazyAttribute(lambda c: c.start + len(c.quote))


class TouchFactory(DjangoModelFactory):
    """The whole message touches the memory, and nobody knows what it says of it."""

    class Meta:
        model = Touch

    workspace = factory.SelfAttribute("memory.workspace")
    memory = factory.SubFactory(MemoryFactory)
    episode = factory.SubFactory(
        EpisodeFactory,
        workspace=factory.SelfAttribute("..memory.workspace"),
        subject=factory.SelfAttribute("..memory.subject"),
        occurred_at=LONG_AGO + timedelta(days=30),
    )
    start = 0
    end = factory.LazyAttribute(lambda t: len(t.episode.content))
    said_at = factory.LazyAttribute(lambda t: t.episode.occurred_at)
    relation = Touch.Relation.UNSURE
    probability = 0.5
    by = Touch.By.RULE


class SupersessionFactory(DjangoModelFactory):
    """By default pending: `new` is held, and both stand in a case."""

    class Meta:
        model = Supersession
        skip_postgeneration_save = True

    workspace = factory.SubFactory(WorkspaceFactory)
    old = factory.SubFactory(MemoryFactory, workspace=factory.SelfAttribute("..workspace"), pinned=True)
    new = factory.SubFactory(
        MemoryFactory,
        workspace=factory.SelfAttribute("..workspace"),
        held_at=factory.LazyFunction(timezone.now),
    )
    similarity = 0.91
    rule = "pinned"
    method = "vector"
    state = Supersession.State.PENDING
    decided_by = "worker"

    @factory.post_generation
    def stands_in_a_case(self, create: bool, extracted: object, **kwargs: object) -> None:
        if self.state != Supersession.State.PENDING or self.case_id is not None:
            return
        about = CaseAbout(self.workspace_id, self.new.subject_id, "other", self.old_id)
        items = [NewItem(each.created_at, self.rule, memory_id=each.pk) for each in (self.old, self.new)]
        self.case_id = open_case(about, Case.Kind.HELD, items)
        self.save(update_fields=["case"])


class RejectionFactory(DjangoModelFactory):
    class Meta:
        model = Rejection

    workspace = factory.SubFactory(WorkspaceFactory)
    content = factory.Sequence(lambda n: f"Hates tea number {n}")
    fingerprint = factory.LazyAttribute(lambda r: lexical.fingerprint(r.content))
    reason = "wrong"
    rejected_by = "worker"


def chain_of(workspace: Workspace, *contents: str, **shared: Any) -> list[Memory]:
    """Versions of one memory, oldest first, each replaced by the next by rule `nearest`."""
    versions: list[Memory] = []
    for number, content in enumerate(contents, start=1):
        at = LONG_AGO + timedelta(days=30 * number)
        new = MemoryFactory(
            workspace=workspace,
            content=content,
            version=number,
            created_at=at,
            valid_from=at,
            **shared,
        )
        if versions:
            replace(versions[-1], new, at)
        versions.append(new)
    return versions


def replace(old: Memory, new: Memory, at: datetime) -> Supersession:
    """Record that `new` replaced `old` at `at`."""
    MemoryPeriod.objects.filter(memory=old).end(at, "superseded")
    old.superseded_by, old.superseded_at, old.valid_until = new, at, new.valid_from
    old.save(update_fields=["superseded_by", "superseded_at", "valid_until"])
    old.refresh_from_db()
    return SupersessionFactory(
        workspace=old.workspace,
        old=old,
        new=new,
        rule="nearest",
        similarity=0.93,
        state=Supersession.State.APPLIED,
        decided_at=at,
    )


def evidence(memory: Memory, said: str, quote: str = "", **about: Any) -> Fact:
    """A fact under `memory`, cited from an episode that says `said`; `about` is the episode's."""
    fact = FactFactory(
        workspace=memory.workspace,
        memory=memory,
        subject=memory.subject,
        statement=memory.content,
        category=memory.category,
        fact_type=memory.fact_type,
    )
    episode = EpisodeFactory(workspace=memory.workspace, subject=memory.subject, content=said, **about)
    fact.session = episode.session
    fact.save(update_fields=["session"])
    CitationFactory(fact=fact, episode=episode, quote=quote or said)
    return fact
