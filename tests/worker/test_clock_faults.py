"""Rows as a clock leaves them that was 400 days ahead, or back; and what is said to be of then."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from memories import ingest
from memories.index import check, repair, workspace_index
from memories.ingest import IngestRequest, NewMessage
from memories.meters import stored_metrics
from memories.models import (
    Connection,
    ConversationSummary,
    Document,
    DueSummary,
    DueVector,
    Entry,
    Episode,
    Erasure,
    FeatureSet,
    IdempotentAnswer,
    JudgeRehearsal,
    Memory,
    MemoryPeriod,
    MemorySession,
    PostedJob,
    SetDiscovery,
    SyncRun,
    Webhook,
    WebhookDelivery,
)
from memories.privacy.erase import workspace_removal
from memories.profiles.features.set_queue import discover_sets, enqueue_due
from memories.profiles.features.update import update_now
from memories.queue import outbox
from memories.worker import future_times, sweep
from tests.api_fixtures import caller
from tests.people import Person
from workspaces.models import ApiKey, WorkspaceRemoval, workspace

FAR = timedelta(days=400)
OSLO, ROME = "I live in Oslo.", "I moved to Rome, I live in Rome now."


def ahead() -> datetime:
    return timezone.now() + FAR


@pytest.mark.parametrize("way", [FAR, -FAR], ids=["ahead", "back"])
def test_the_next_sweep_comes_soon_whatever_the_clock_was(db: None, way: timedelta) -> None:
    assert outbox.post_each_minute("sweep")
    PostedJob.objects.update(posted_at=timezone.now() + way)
    assert outbox.post_each_minute("sweep")
    assert abs(PostedJob.objects.get().posted_at - timezone.now()) < timedelta(minutes=2)


def test_a_task_that_was_locked_far_ahead_is_fetched_again(db: None) -> None:
    near = timezone.now() + timedelta(minutes=5)
    for at in (ahead(), near):
        OrmQ.objects.create(key="memoryproject", payload="", lock=at)
    sweep.sweep()
    locked = list(OrmQ.objects.filter(payload="").order_by("lock").values_list("lock", flat=True))
    assert (locked[0] <= timezone.now(), locked[1]) == (True, near)


@pytest.mark.parametrize(
    "left",
    [
        {"state": "received", "next_attempt_at": ahead},
        {"state": "extracting", "lease_until": ahead, "attempts": 1},
    ],
)
def test_a_session_is_run(alice: Person, left: dict[str, Any]) -> None:
    ingest.receive(alice.scope, IngestRequest(content=OSLO, user_id="ada"))
    MemorySession.objects.update(**{k: v() if callable(v) else v for k, v in left.items()})
    assert sweep.sweep().sessions == 1
    assert alice.live() == ["User lives in Oslo"]


def test_a_set_is_taken_in(alice: Person) -> None:
    alice.say("I like tea.", user_id="ada", extract="patterns")
    discover_sets()
    FeatureSet.objects.update(due_at=ahead(), lease_until=ahead(), rung_at=None)
    sweep.sweep()
    assert FeatureSet.objects.get().due_at < timezone.now() + timedelta(minutes=2)
    assert update_now(alice.scope, "user:ada").episodes == 1


@pytest.mark.parametrize("left", ["due_at", "lease_until"])
def test_a_workspace_is_removed(alice: Person, left: str) -> None:
    workspace_removal.request(alice.workspace, "server_key:x")
    WorkspaceRemoval.objects.update(**{left: ahead()})
    assert sweep.sweep().removals == 1
    assert WorkspaceRemoval.objects.get().state == "done"


def test_a_bell_of_the_future_keeps_no_other_from_ringing(alice: Person) -> None:
    FeatureSet.objects.create(workspace=alice.workspace, key="own", due_at=timezone.now(), rung_at=ahead())
    assert (enqueue_due(), enqueue_due()) == (1, 0)


def test_a_bell_that_was_lost_rings_again_in_a_few_minutes(alice: Person) -> None:
    now = timezone.now()
    for minutes in (1, 3):
        at = now - timedelta(minutes=minutes)
        own = {"key": f"rung-{minutes}", "due_at": at, "rung_at": at}
        FeatureSet.objects.create(workspace=alice.workspace, **own)
    assert enqueue_due() == 1
    assert FeatureSet.objects.get(rung_at__gte=now).key == "rung-3"


def test_what_comes_after_a_cursor_of_the_future_is_taken_in(alice: Person) -> None:
    alice.say("I like tea.", user_id="ada", extract="patterns")
    update_now(alice.scope, "user:ada")
    FeatureSet.objects.update(cursor=workspace.first_uuid7(ahead()))
    SetDiscovery.objects.update(seen=workspace.first_uuid7(ahead()))
    for name in ("ada", "eve"):
        alice.say("I like coffee.", user_id=name, extract="patterns")
    sweep.sweep()
    assert list(FeatureSet.objects.order_by("key").values_list("waiting", flat=True)) == [1, 1]


@pytest.mark.parametrize("column", future_times.COLUMNS, ids=lambda each: f"{each.model.__name__}.{each.name}")
def test_no_time_is_left_further_ahead_than_it_may_be(alice: Person, column: Any) -> None:
    furnish(alice)
    model = column.model
    model._default_manager.update(**{column.name: timezone.now() + column.longest / 2})
    assert future_times.heal() == 0
    rows = model._default_manager.filter(**{f"{column.name}__isnull": False})
    assert rows.update(**{column.name: ahead()}) == future_times.heal() == 1
    assert rows.values_list(column.name, flat=True)[0] <= timezone.now() + column.rest


def furnish(alice: Person) -> None:
    """One row of each that waits for something."""
    now = timezone.now()
    http = caller(alice)
    http.post("/memories", {"content": "The gate is green."}, Idempotency_Key="k")
    IdempotentAnswer.objects.update(status=None, body=None)
    http.post("/documents", {"content": "The gate is blue.", "title": "Gate"})
    Document.objects.update(state="queued", next_attempt_at=now)
    source = Connection.objects.create(
        workspace=alice.workspace, provider="folder", visibility="team", paused_until=now
    )
    SyncRun.objects.create(workspace=alice.workspace, connection=source, kind="sync", requested_by="x")
    session = ingest.receive(alice.scope, IngestRequest(content=OSLO, thread_id="t"))
    own = {"workspace": alice.workspace, "due_at": now}
    FeatureSet.objects.create(key="own", **own)
    ConversationSummary.objects.create(conversation_id=session.conversation_id, **own)
    DueSummary.objects.create(conversation_id=session.conversation_id, workspace=alice.workspace)
    JudgeRehearsal.objects.create(since=now, requested_by="x", **own)
    Erasure.objects.create(kind="episode", target_id=session.pk, **own)
    WorkspaceRemoval.objects.create(workspace_id=uuid.uuid4(), number=0, due_at=now)
    entry = Entry.objects.order_by("pk")[0]
    DueVector.objects.create(entry=entry, workspace=entry.workspace)
    hook = Webhook.objects.create(workspace=alice.workspace, url="https://example.org/hook", events=["session.done"])
    WebhookDelivery.objects.create(workspace=alice.workspace, webhook=hook, kind="ping")
    repair.leave(workspace_index.index_of(alice.workspace.pk))


# ---- what is said to be of the future


def tell(alice: Person, text: str, at: datetime | None = None) -> MemorySession:
    return alice.tell(text, user_id="ada", extract="auto", occurred_at=at)


def test_later_words_replace_what_was_said_to_be_of_the_future(alice: Person) -> None:
    far = datetime(2031, 1, 1, tzinfo=UTC)
    session = tell(alice, OSLO, far)
    assert "of the future" in session.reason
    assert Episode.objects.get().occurred_at == far
    assert Memory.objects.get().valid_from <= timezone.now()
    tell(alice, ROME)
    assert Memory.objects.live().filter(content__contains="Oslo").count() == 0
    assert all("Rome" in each for each in alice.finds("where does the user live", user_id="ada"))


def test_of_messages_those_of_the_future_are_believed_in_their_order(alice: Person) -> None:
    said = [NewMessage(OSLO, created_at=ahead()), NewMessage(ROME)]
    session = alice.say(*said, user_id="ada")
    assert session.reason.startswith("1 of the messages said to be of the future")
    assert not any("Oslo" in each for each in alice.live())


def test_hours_ahead_are_a_zone_and_are_believed_as_said(alice: Person) -> None:
    soon = timezone.now() + timedelta(hours=14)
    session = tell(alice, OSLO, soon)
    assert (session.reason, Memory.objects.get().valid_from) == ("", soon)
    tell(alice, ROME)
    assert not any("Oslo" in each for each in alice.live())


def test_an_event_may_be_of_any_day(alice: Person) -> None:
    tell(alice, "I fly to Rome on 3 March 2041.")
    assert Memory.objects.get().event_date.year == 2041


def test_features_of_the_future_are_replaced_by_later_words(alice: Person) -> None:
    tell(alice, OSLO, datetime(2031, 1, 1, tzinfo=UTC))
    update_now(alice.scope, "user:ada")
    tell(alice, ROME)
    update_now(alice.scope, "user:ada")
    told = caller(alice).get("/sets/user:ada/features").body["results"]
    assert [each["value"] for each in told if each["feature"] == "home"] in ([], ["Rome"])
    assert not any("Oslo" in each["value"] for each in told)


@pytest.fixture
def wrongly_dated(alice: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    """What is left of a start 400 days ahead, in which somebody said where they live."""
    with monkeypatch.context() as wrong:
        wrong.setattr(workspace, "_last", workspace.first_uuid7(ahead()).int >> 80 << 12)
        tell(alice, OSLO)
    at = ahead()
    Memory.objects.update(created_at=at, valid_from=at)
    Episode.objects.update(created_at=at, occurred_at=at)
    Entry.objects.update(occurred_at=at)
    MemoryPeriod.objects.update(from_at=at)
    return alice


def test_what_a_wrong_clock_kept_is_replaced_at_once(wrongly_dated: Person) -> None:
    tell(wrongly_dated, ROME)
    assert not any("Oslo" in each for each in wrongly_dated.live())
    assert any("Rome" in each for each in wrongly_dated.live())


def test_a_sweep_dates_nothing_anew_whichever_clock_is_wrong(wrongly_dated: Person) -> None:
    before = [list(model.objects.values()) for model in (Memory, Episode, MemoryPeriod, Entry)]
    sweep.sweep()
    assert [list(model.objects.values()) for model in (Memory, Episode, MemoryPeriod, Entry)] == before
    tell(wrongly_dated, ROME)
    space = workspace_index.index_of(wrongly_dated.workspace.pk)
    assert check.check_index(space, lambda _: None).broken == {}


def test_the_time_of_a_keys_last_use_goes_on(alice: Person) -> None:
    ApiKey.objects.update(last_used_at=ahead())
    assert caller(alice).get("/memories").status == 200
    stored_metrics.flush_or_keep()
    assert ApiKey.objects.get().last_used_at <= timezone.now()
