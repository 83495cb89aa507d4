"""What is erased is gone from every table, and what stood on it is made anew or goes with it."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Field
from django.utils import timezone

from memories.belief import review
from memories.belief.review import forget
from memories.errors import NotFound
from memories.index import workspace_index
from memories.models import (
    Conversation,
    Entry,
    Episode,
    Erasure,
    Fact,
    Feature,
    FeatureSet,
    Memory,
    MemoryPeriod,
    MemorySession,
    Rejection,
    Speaker,
    Supersession,
    WorkspacePattern,
)
from memories.privacy import erase as erasing
from memories.privacy.erase import erasure_run
from memories.privacy.erase.proof import CONTENT, FREE
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.profiles.summaries.running_summary import window
from memories.reading.extraction import unmatched
from memories.worker import sweep
from tests.api_fixtures import caller, member
from tests.people import Person
from workspaces.models import AuditEntry, Subject

SECRET = "Zanzibarquokka"
LIVES = f"I moved to {SECRET} in May."
TEXTUAL = {"TextField", "CharField", "JSONField", "BinaryField", "ArrayField", "EmailField"}


def columns() -> Iterator[tuple[str, str]]:
    """Every column of the database that can hold words."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select table_name, column_name from information_schema.columns"
            " where table_schema = current_schema() and data_type in"
            " ('text', 'character varying', 'jsonb', 'ARRAY')"
        )
        yield from cursor.fetchall()


def found(word: str) -> list[str]:
    """Where in the database the word stands."""
    places = []
    with connection.cursor() as cursor:
        for table, column in columns():
            cursor.execute(f'select count(*) from "{table}" where "{column}"::text ilike %s', [f"%{word}%"])
            if cursor.fetchone()[0]:
                places.append(f"{table}.{column}")
    return places


def agrees() -> bool:
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())
    return True


def erase(person: Person, kind: str, row_id: Any) -> Erasure:
    asked = erasing.request(person.scope, erasing.target_of(person.scope, kind, row_id))
    erasing.run(asked.pk)
    return Erasure.objects.get(pk=asked.pk)


def subject(name: str = "ada") -> Subject:
    return Subject.objects.get(external_id=name)


@pytest.fixture
def furnished(alice: Person) -> Person:
    """A subject of whom every table holds something, and another one beside it."""
    http = caller(alice)
    said = {"role": "user", "name": f"Ada {SECRET}", "content": LIVES, "id": f"{SECRET}-1"}
    told = {"userId": "ada", "threadId": f"{SECRET}-thread", "messages": [said]}
    http.post("/memories/ingest", told, Idempotency_Key="one")
    http.post("/memories", {"content": f"Ada likes {SECRET} figs", "userId": "ada"})
    alice.say(f"I work as a {SECRET} baker.", *["Nothing new."] * 30, user_id="ada", thread_id="t")
    alice.say("I work as a gardener in Leeds.", user_id="ben", thread_id="b")
    memory = Memory.objects.filter(content__contains="figs").get()
    head = review.edit(alice.scope, memory.pk, {"content": f"Ada loves {SECRET} plums"})
    forget(alice.scope, head.pk, "wrong")
    episode = Episode.objects.filter(content=LIVES).get()
    unmatched.report(alice.scope, episode.pk, [f"Ada is near {SECRET}"], "other")
    pattern = {"name": "own", "regex": r"moved to (?P<x>\w+)", "template": "Went to {x}"}
    WorkspacePattern.objects.create(workspace=alice.workspace, examples=[LIVES, "I moved to Kent."], **pattern)
    window(alice.scope, Conversation.objects.get(external_id="t").pk, 150)
    sweep.sweep()
    return alice


def test_the_subject_is_in_many_tables_before(furnished: Person) -> None:
    assert len(found(SECRET)) > 12


def test_nothing_of_an_erased_subject_is_left_in_any_column(furnished: Person) -> None:
    erasure = erase(furnished, "subject", subject().pk)
    assert found(SECRET) == []
    assert (erasure.state, erasure.proof["clean"], erasure.error) == ("done", True, "")
    assert erasure.probes == []
    told = furnished.finds(SECRET, layers=("memories", "episodes"))
    assert [text for text in told if "Leeds" not in text] == []
    assert agrees()


def test_nobody_else_loses_anything(furnished: Person, mallory: Person) -> None:
    mallory.tell(LIVES, user_id="ada")
    before = furnished.live()
    erase(furnished, "subject", subject_of(furnished).pk)
    assert [text for text in before if "Leeds" in text or "gardener" in text] == furnished.live()
    assert mallory.live() == [LIVES]
    assert Episode.objects.filter(content__contains="Leeds").exists()


def subject_of(person: Person) -> Subject:
    return Subject.objects.get(workspace=person.workspace, external_id="ada")


def test_the_plan_counts_what_goes_and_changes_nothing(furnished: Person) -> None:
    target = erasing.target_of(furnished.scope, "subject", subject().pk)
    counts = erasing.plan(target)
    assert counts["episodes"] == 32
    assert Episode.objects.count() == 33
    erasure = erase(furnished, "subject", subject().pk)
    assert {name: erasure.removed.get(name, 0) for name in counts} == counts
    assert set(erasure.removed) <= set(counts)
    assert all(counts[name] for name in ("vectors", "feature sets", "kept answers"))


def test_the_act_stays_in_the_audit_log_without_its_words(furnished: Person) -> None:
    target = subject().pk
    before = set(AuditEntry.objects.filter(subject_id=target).values_list("pk", "action"))
    erase(furnished, "subject", target)
    lines = AuditEntry.objects.filter(subject_id=target)
    assert set(lines.values_list("pk", "action")) == before
    assert not lines.filter(before__isnull=False).exists()
    assert AuditEntry.objects.filter(action__in=["erase", "erased"]).count() == 2


def test_a_crash_between_two_steps_loses_nothing(furnished: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure_run, "BATCH", 5)
    target = erasing.target_of(furnished.scope, "subject", subject().pk)
    asked = erasing.request(furnished.scope, target)
    for _ in range(3):
        assert erasing.run(asked.pk, seconds=0).state == "running"
        assert agrees()
    assert 0 < Episode.objects.filter(subject=target.id).count() < 32
    Erasure.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep.sweep().erasures == 1
    assert Erasure.objects.get().state == "done"
    assert found(SECRET) == []


def test_what_was_asked_twice_is_one_erasure(furnished: Person) -> None:
    target = erasing.target_of(furnished.scope, "subject", subject().pk)
    first, second = (erasing.request(furnished.scope, target) for _ in range(2))
    assert first == second
    assert erasing.run(first.pk).state == "done"
    assert erasing.run(first.pk) is None


def test_a_session_under_way_learns_nothing_more(alice: Person) -> None:
    session = alice.tell(LIVES, user_id="ada", mode="async")
    MemorySession.objects.filter(pk=session.pk).update(state="extracting", attempts=1)
    erase(alice, "subject", subject().pk)
    assert not MemorySession.objects.exists()
    assert not Memory.objects.exists()


def test_the_subject_can_come_back_as_somebody_new(furnished: Person) -> None:
    erase(furnished, "subject", subject().pk)
    furnished.tell("I like oats.", user_id="ada")
    assert "I like oats." in furnished.live()


# ---- episodes and conversations: what stands on others too stays


@pytest.fixture
def twice(alice: Person) -> Person:
    """A claim made in two threads."""
    for thread in ("one", "two"):
        alice.say("I live in Oslo.", thread_id=thread, user_id="ada")
    return alice


def test_a_memory_with_other_support_stays_and_is_counted_anew(twice: Person) -> None:
    memory = Memory.objects.get()
    assert memory.source_count == 2
    erase(twice, "episode", Episode.objects.order_by("pk")[0].pk)
    memory.refresh_from_db()
    assert memory.source_count == Fact.objects.count() == 1
    assert twice.finds("Oslo") == [memory.content]
    assert agrees()


def test_a_memory_is_told_in_the_words_that_are_left(alice: Person) -> None:
    session = alice.tell(f"Ada lives in Oslo ({SECRET}).", user_id="ada")
    alice.tell("Ada lives in Oslo.", user_id="ada")
    first, second = Fact.objects.order_by("pk")
    Fact.objects.filter(pk=second.pk).update(memory=first.memory)
    Memory.objects.exclude(pk=first.memory_id).delete()
    erase(alice, "episode", session.episode_ids[0])
    sweep.sweep()
    assert alice.live() == alice.finds("Oslo") == ["Ada lives in Oslo."]
    assert found(SECRET) == []


def test_the_version_before_is_believed_again(alice: Person) -> None:
    alice.tell("Ada lives in Oslo.", user_id="ada")
    old = Memory.objects.get()
    session = alice.tell("Ada lives in Bergen.", user_id="ada")
    new = Memory.objects.exclude(pk=old.pk).get()
    assert Supersession.objects.filter(old=old, new=new, state="applied").exists()
    erase(alice, "episode", session.episode_ids[0])
    assert alice.live() == ["Ada lives in Oslo."]
    assert MemoryPeriod.objects.filter(until_at=None).get().cause == "undone"
    assert agrees()


def test_a_version_in_the_middle_leaves_a_whole_chain(alice: Person) -> None:
    texts = [f"Ada lives in {place}." for place in ("Oslo", "Bergen", "Turku")]
    sessions = [alice.tell(text, user_id="ada") for text in texts]
    first, _, last = Memory.objects.order_by("pk")
    erase(alice, "episode", sessions[1].episode_ids[0])
    first.refresh_from_db()
    assert first.superseded_by_id == last.pk
    assert alice.live() == texts[2:]


def test_an_edit_goes_with_what_it_corrected(alice: Person) -> None:
    session = alice.tell(LIVES, user_id="ada")
    review.edit(alice.scope, Memory.objects.get().pk, {"content": f"Lives near {SECRET}"})
    erase(alice, "episode", session.episode_ids[0])
    assert not Memory.objects.exists()
    assert not Rejection.objects.exists()
    assert found(SECRET) == []


def test_neighbours_no_longer_lend_the_words_of_an_erased_message(alice: Person) -> None:
    said = ("Plums are ripe.", f"{SECRET} is far.", "We made jam.", "It was sweet.")
    alice.say(*said, thread_id="t")
    assert len(alice.finds(SECRET, layers=("episodes",), ranking="keyword")) == len(said)
    erase(alice, "episode", Episode.objects.get(content__contains=SECRET).pk)
    assert alice.finds(SECRET, layers=("episodes",), ranking="keyword") == []
    assert agrees()


def test_a_conversation_goes_with_its_thread_memories(twice: Person) -> None:
    twice.say("I own a kayak.", thread_id="one", user_id="ada", scope="thread")
    thread = Conversation.objects.get(external_id="one")
    erasure = erase(twice, "conversation", thread.pk)
    assert erasure.proof["clean"]
    assert list(Conversation.objects.values_list("external_id", flat=True)) == ["two"]
    assert Episode.objects.count() == 1
    assert [text for text in twice.live() if "kayak" in text] == []
    assert Memory.objects.get().conversation_id != thread.pk


def test_a_summary_is_emptied_and_made_anew(alice: Person) -> None:
    alice.say(LIVES, *[f"The day was long, number {n}." for n in range(60)], thread_id="t")
    thread = Conversation.objects.get()
    window(alice.scope, thread.pk, 300)
    sweep.sweep()
    erase(alice, "episode", Episode.objects.get(content=LIVES).pk)
    sweep.sweep()
    assert SECRET not in window(alice.scope, thread.pk, 300).text


def test_speakers_are_counted_anew(alice: Person) -> None:
    alice.say("Plums are ripe.", "We made jam.", thread_id="t", user_id="ada")
    erase(alice, "episode", Episode.objects.order_by("pk")[0].pk)
    assert Speaker.objects.get().episodes == 1


def test_what_a_set_s_providers_complained_of_goes_too(furnished: Person) -> None:
    made = FeatureSet.objects.create(workspace=furnished.workspace, key="all", role="user")
    fault = f"the model cannot read {SECRET}"
    FeatureSet.objects.filter(pk=made.pk).update(error=fault, embedding_error=fault)
    erase(furnished, "episode", Episode.objects.filter(content=LIVES).get().pk)
    made.refresh_from_db()
    assert (made.error, made.embedding_error) == ("", "")


def test_features_go_with_their_words(furnished: Person) -> None:
    erase(furnished, "subject", subject().pk)
    assert not Feature.objects.filter(subject__external_id="ada").exists()
    assert (
        not Entry.objects.filter(workspace=workspace_index.index_of(furnished.workspace.pk).number)
        .filter(item__in=Feature.objects.filter(ended_at__isnull=False))
        .exists()
    )


# ---- who may


def test_only_what_is_seen_can_be_erased(furnished: Person, carol: Person, mallory: Person) -> None:
    episode = Episode.objects.filter(content=LIVES).get()
    for stranger in (carol, mallory):
        with pytest.raises(NotFound):
            erasing.target_of(stranger.scope, "episode", episode.pk)


# ---- every copy has a name


def textual() -> Iterator[tuple[str, str]]:
    for label in ("memories", "workspaces"):
        for model in apps.get_app_config(label).get_models():
            for field in model._meta.concrete_fields:
                if _holds_words(field):
                    yield model.__name__, field.name


def _holds_words(field: "Field[Any, Any]") -> bool:
    is_vector = "vector" in type(field).__name__.lower()
    is_free = field.is_relation or bool(field.choices)
    return is_vector or (field.get_internal_type() in TEXTUAL and not is_free)


def test_every_column_that_can_hold_words_is_on_the_list_of_erasure() -> None:
    known = {(model.__name__, name) for model, names in CONTENT.items() for name in names}
    free = {model for model, names in FREE.items() if names is None}
    declared = {(model, name) for model, names in FREE.items() for name in names or ()}
    unknown = [c for c in textual() if c not in known | declared and c[0] not in free]
    assert unknown == []


# ---- over HTTP and from the shell


@pytest.mark.parametrize("kind", ["subjects", "conversations", "episodes"])
def test_a_dry_run_shows_the_plan_and_nothing_goes(furnished: Person, kind: str) -> None:
    row = caller(furnished).get(f"/{kind}").body["results"][-1]["id"]
    shown = caller(furnished).delete(f"/{kind}/{row}", dryRun="true")
    read = caller(furnished).get(f"/{kind}/{row}/erasure")
    assert (shown.status, shown.body) == (200, read.body)
    assert shown.body["plan"]["episodes"] >= 1
    assert Episode.objects.count() == 33


def test_erasing_over_http_answers_with_the_certificate(furnished: Person) -> None:
    http = caller(furnished)
    told = http.delete(f"/subjects/{subject().pk}")
    assert (told.status, told.body["status"]) == (200, "done")
    assert told.body["proof"]["clean"]
    assert told.body["removed"]["episodes"] == 32
    assert http.get(f"/erasures/{told.body['id']}").body == told.body
    assert http.get("/erasures").body["results"] == [told.body]
    assert found(SECRET) == []


@pytest.mark.parametrize("kind", ["subjects", "conversations", "episodes"])
def test_only_who_administers_may_erase(furnished: Person, kind: str) -> None:
    row = caller(furnished).get(f"/{kind}").body["results"][0]["id"]
    for role, status in (("editor", 403), ("viewer", 403), ("admin", 200)):
        person = member(furnished.workspace, role)
        assert person.delete(f"/{kind}/{row}", dryRun="true").status == status


def test_an_agent_does_not_erase(furnished: Person, bob: Person, mallory: Person) -> None:
    path = f"/subjects/{subject().pk}"
    assert caller(bob).delete(path).status == 403
    assert caller(mallory).delete(path).status == 404
    assert caller(mallory, furnished.workspace).delete(path).status == 404


def test_the_command_shows_the_plan_and_wants_to_be_told(furnished: Person) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="--yes"):
        call_command("erase", "subject", "ada", stdout=out, stderr=StringIO())
    assert "32 episodes" in out.getvalue()
    call_command("erase", "subject", "ada", yes=True, stdout=out, stderr=StringIO())
    assert "nothing of it was found" in out.getvalue()
    assert found(SECRET) == []


def test_what_went_over_in_a_merge_is_erased_with_the_target(alice: Person) -> None:
    alice.note("Prefers tea", user_id="ada")
    alice.say(LIVES, user_id="grace")
    discover_sets()
    update_now(alice.scope, "user:grace")
    assert Feature.objects.filter(value__contains=SECRET).exists()
    ids = [Subject.objects.get(external_id=name).pk for name in ("grace", "ada")]
    review.merge_subjects(alice.scope, *ids)

    assert erase(alice, "subject", ids[1]).state == "done"
    assert found(SECRET) == []
