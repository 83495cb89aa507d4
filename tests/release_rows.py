"""A row in tables that no request over HTTP fills, for the data of a release that is kept. Each is
over and done, so that no worker takes it and no search is another one."""

import uuid
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone

from memories.models import (
    Breaker,
    Connection,
    ConnectionItem,
    Conversation,
    ConversationSummary,
    Document,
    Episode,
    EvaluationRun,
    ExtractorUse,
    FailureMark,
    FeatureRefusal,
    FeatureSet,
    IdempotentAnswer,
    ImportedRow,
    JudgeRehearsal,
    LargeLayer,
    Layer,
    MergedRows,
    Miss,
    ModelPrice,
    ModelUse,
    SubjectMerge,
    WorkspaceChange,
    WorkspaceImport,
    WorkspaceIndex,
    WorkspacePattern,
    WorkspaceSlot,
)
from memoryproject.postgres import walls
from workspaces.models import (
    LoginAttempt,
    LoginPause,
    RecoveryCode,
    SecondFactor,
    ServerKey,
    Subject,
    User,
    Workspace,
    WorkspaceRemoval,
)


def add() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"set local {walls.UPKEEP} = 'on'")
        workspace = Workspace.objects.get()
        _of_work(workspace)
        _of_sources(workspace)
        _of_words(workspace)
        _of_the_server()


def _of_work(workspace: Workspace) -> None:
    of, today = {"workspace": workspace}, timezone.now().date()
    ModelUse.objects.create(**of, day=today, purpose="query", model="hash")
    ExtractorUse.objects.create(**of, day=today, extractor="patterns")
    IdempotentAnswer.objects.create(
        **of,
        asker="test",
        key="once",
        request_digest=bytes(32),
        status=200,
        body={},
        expires_at=timezone.now() + timedelta(days=1),
    )
    came_in = {"workspace": uuid.uuid4()}
    WorkspaceImport.objects.create(**came_in, export=uuid.uuid4(), header={}, finished_at=timezone.now())
    ImportedRow.objects.create(**came_in, model="memories.Memory", row={})
    index = WorkspaceIndex.objects.get(workspace=workspace)
    LargeLayer.objects.create(workspace=index, layer=Layer.MEMORIES)
    source, target = Subject.objects.filter(workspace=workspace)[:2]
    merge = SubjectMerge.objects.create(
        **of,
        source=source,
        target=target,
        merged_by="test",
        batch=uuid.uuid4(),
        undone_at=timezone.now(),
    )
    JudgeRehearsal.objects.create(**of, state="done", requested_by="test", since=timezone.now())
    MergedRows.objects.create(**of, merge=merge, kind="memories", ids=[uuid.uuid4()])


def _of_sources(workspace: Workspace) -> None:
    of = {"workspace": workspace}
    source = Connection.objects.filter(workspace=workspace)[0]
    done = Document.objects.filter(workspace=workspace, state="done")[0]
    ConnectionItem.objects.create(**of, connection=source, document=done, digest="d", external_id="pumps.md", listing=1)
    failed = Document.objects.filter(workspace=workspace, state="failed")[0]
    FailureMark.objects.create(**of, document=failed)
    talk = Conversation.objects.filter(workspace=workspace)[0]
    ConversationSummary.objects.create(**of, conversation=talk)
    folded = FeatureSet.objects.filter(workspace=workspace)[0]
    FeatureRefusal.objects.create(**of, set=folded, batch=uuid.uuid4(), command={}, reason="none")


def _of_words(workspace: Workspace) -> None:
    """As they are in the table: `save` would ask for good examples."""
    own = {"workspace": workspace, "name": "spare", "enabled": False}
    WorkspacePattern.objects.bulk_create([WorkspacePattern(**own, regex="a way")])
    WorkspaceSlot.objects.bulk_create([WorkspaceSlot(**own, regex="a way")])
    WorkspaceChange.objects.bulk_create([WorkspaceChange(**own, verbs="leave")])
    said = Episode.objects.filter(workspace=workspace)[0]
    Miss.objects.create(
        workspace=workspace,
        episode=said,
        text=said.content,
        statements=["A"],
        found_by="person",
        state="done",
    )


def _of_the_server() -> None:
    now, user = timezone.now(), User.objects.all()[0]
    Breaker.objects.create(name="model", purpose="extraction")
    EvaluationRun.objects.create(kind="benchmark", name="1,000", seconds=1.0)
    ModelPrice.objects.create(model="hash")
    ServerKey.objects.create(name="spare", prefix="ms_0", digest=bytes(32), issued_by="test", revoked_at=now)
    LoginAttempt.objects.create(kind="password", name="n", address="127.0.0.1", request_id="r")
    LoginPause.objects.create(key="k", tried_at=now, not_before=now)
    SecondFactor.objects.create(user=user, nonce="n")
    RecoveryCode.objects.create(user=user, digest="d")
    WorkspaceRemoval.objects.create(
        workspace_id=uuid.uuid4(), number=0, requested_by="test", state="done", finished_at=now
    )
