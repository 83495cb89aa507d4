"""Every noun and every page of the admin, for tests that walk all of them."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import site
from django.db.models import Model
from django.urls import URLPattern, URLResolver

from memories.belief.resolve import CaseAbout, NewItem, open_case
from memories.models import (
    Breaker,
    Case,
    Connection,
    Document,
    Episode,
    Erasure,
    EvaluationRun,
    Fact,
    Feature,
    FeatureSet,
    IndexRepair,
    Intent,
    LongJob,
    Memory,
    Miss,
    ModelPrice,
    Space,
    Supersession,
    Webhook,
    WebhookDelivery,
    WorkerBeat,
    WorkspaceChange,
    WorkspacePattern,
    WorkspaceSlot,
)
from tests.desk import list_of, page_of
from tests.factories import (
    AgentFactory,
    ApiKeyFactory,
    AuditEntryFactory,
    CitationFactory,
    ConversationFactory,
    FactFactory,
    InvitationFactory,
    MembershipFactory,
    MemoryFactory,
    RejectionFactory,
    SessionFactory,
    SubjectFactory,
    SupersessionFactory,
)
from workspaces.models import LoginAttempt, ServerKey, User, Workspace, WorkspaceRemoval

ALL: dict[type[Model], dict[str, str]] = {Memory: {"state": "all"}, Supersession: {"state": "all"}}
SECRET = "knows-the-way-to-the-orchard"
OF_THE_SERVER = {
    User,
    EvaluationRun,
    Breaker,
    IndexRepair,
    LoginAttempt,
    ModelPrice,
    WorkerBeat,
    ServerKey,
    WorkspaceRemoval,
}  # and the worker's queue: these have no workspace
NOUNS = {model for model in site._registry if model._meta.app_label != "django_q"} - OF_THE_SERVER
# They answer no page: what is posted, fetched by a script, or leads away.
NO_PAGES = {
    "login",
    "login_code",
    "logout",
    "search",
    "autocomplete",
    "jsi18n",
    "memories_review_act",
    "memories_case_act",
    "memories_decided_undo",
    "memories_review",
    "memories_jump",
    "memories_running",
    "memories_unmask",
    "memories_pattern_trial",
    "memories_slot_trial",
    "memories_change_trial",
    "memories_workspacepattern_rehearsal",
    "memories_workspaceslot_rehearsal",
    "memories_workspacechange_rehearsal",
    # only a program adds these
    "memories_evaluationrun_add",
    "memories_indexrepair_add",
    "memories_workerbeat_add",
    "memories_breaker_add",
    "workspaces_loginattempt_add",
    "django_q_ormq_add",
}


def rows_of(workspace: Workspace) -> list[Model]:
    """One row of each noun, each of which says SECRET somewhere in its list."""
    subject = SubjectFactory(workspace=workspace, external_id=SECRET)
    about: dict[str, Any] = {"workspace": workspace, "subject": subject}
    memory = MemoryFactory(content=SECRET, **about)
    fact = FactFactory(statement=SECRET, memory=memory, **about)
    session = SessionFactory(error=SECRET, **about)
    episode = CitationFactory(fact=fact, episode__workspace=workspace, episode__content=SECRET).episode
    return [
        workspace,
        subject,
        memory,
        fact,
        episode,
        MembershipFactory(workspace=workspace, user__username=SECRET),
        InvitationFactory(workspace=workspace, email=f"{SECRET}@example.org"),
        AgentFactory(workspace=workspace, external_id=SECRET),
        ApiKeyFactory(workspace=workspace, name=SECRET),
        ConversationFactory(external_id=SECRET, **about),
        session,
        SupersessionFactory(workspace=workspace, old=memory),
        RejectionFactory(content=SECRET, **about),
        AuditEntryFactory(workspace=workspace, reason=SECRET),
        *_folded(about),
        *_own_words(workspace),
        *_told(workspace),
        _miss(fact, episode),
        _case(memory),
        Document.objects.create(title=SECRET, visibility="team", state="failed", error_code="no_text", **about),
        Connection.objects.create(workspace=workspace, provider="folder", name=SECRET, visibility="team"),
        Space.objects.create(workspace=workspace, container_tag="orchard", name=SECRET),
        Intent.objects.create(
            workspace=workspace,
            subject=subject,
            session=session,
            episode=episode,
            kind="forget",
            state="done",
            start=0,
            end=len(SECRET),
        ),
        Erasure.objects.create(
            workspace=workspace,
            kind="subject",
            target_id=subject.pk,
            requested_by=SECRET,
            state="failed",
            error=SECRET,
        ),
        LongJob.objects.create(workspace=workspace, kind="import", total=9, unit="messages", requested_by=SECRET),
    ]


def _folded(about: dict[str, Any]) -> list[Model]:
    owned = FeatureSet.objects.create(key=SECRET, **about)
    feature = Feature.objects.create(
        set=owned,
        category="identity",
        tag="home",
        feature="city",
        value=SECRET,
        content=SECRET,
        method="manual",
        fingerprint=b"x",
        **about,
    )
    feature.changes.create(
        workspace=owned.workspace,
        set=owned,
        action="add",
        after={"value": SECRET},
        by=SECRET,
        batch=feature.pk,
        occurred_at=feature.created_at,
    )
    return [owned, feature]


def _told(workspace: Workspace) -> list[Model]:
    hook = Webhook.objects.create(
        workspace=workspace, name=SECRET, url="https://example.org/hook", events=["session.done"]
    )
    sent = WebhookDelivery.objects.create(
        workspace=workspace, webhook=hook, kind="ping", state="given_up", error=SECRET
    )
    return [hook, sent]


def _own_words(workspace: Workspace) -> list[Model]:
    """As they are in the table: `save` would ask for good examples."""
    about: dict[str, Any] = {"workspace": workspace, "name": SECRET}
    return [
        *WorkspacePattern.objects.bulk_create([WorkspacePattern(regex="a way", **about)]),
        *WorkspaceSlot.objects.bulk_create([WorkspaceSlot(regex="a way", **about)]),
        *WorkspaceChange.objects.bulk_create([WorkspaceChange(verbs="leave", **about)]),
    ]


def _miss(fact: Fact, episode: Episode) -> Miss:
    return Miss.objects.create(
        workspace_id=fact.workspace_id,
        session=fact.session,
        episode=episode,
        text=SECRET,
        statements=[SECRET],
        found_by="person",
    )


def _case(memory: Memory) -> Case:
    about = CaseAbout(memory.workspace_id, memory.subject_id, "residence", memory.pk)
    items = [NewItem(memory.created_at, memory_id=memory.pk)]
    return Case.objects.get(pk=open_case(about, Case.Kind.HELD, items))


def pages(rows: list[Model]) -> list[str]:
    """The address of every page that asks for no id, of the list and of the page of each row."""
    own = [f"/admin/{route}" for route, name in _routes(site.urls[0]) if name not in NO_PAGES]
    return sorted({*own, *(list_of(type(row)) for row in rows), *map(page_of, rows)})


def _routes(patterns: Any, before: str = "") -> Iterator[tuple[str, str]]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _routes(each.url_patterns, route)
        elif isinstance(each, URLPattern) and not set(route) & set("<(") and _is_allowed(each):
            yield route, each.name or ""


def _is_allowed(pattern: URLPattern) -> bool:
    """Where nothing can be added by hand the page to add says 403."""
    noun, _, page = (pattern.name or "").rpartition("_")
    admins = {f"{m._meta.app_label}_{m._meta.model_name}": a for m, a in site._registry.items()}
    return page != "add" or getattr(admins[noun], "can_add", True)
