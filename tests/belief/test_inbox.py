"""The inbox: all that waits for a person, in one list; whose it is, what rests, what may stay."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories import ingest
from memories.belief import review
from memories.models import Case, Document, FailureMark, GoldenQuestion, MemorySession
from memories.quality import golden_questions, golden_runs
from memories.quality.golden_questions import NewQuestion
from tests.api.test_api_cases import tell
from tests.api_fixtures import Caller, caller
from tests.factories import MembershipFactory, SessionFactory
from tests.people import Person
from workspaces.models import AuditEntry, Membership, Workspace


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def grace(alice: Person) -> Membership:
    return MembershipFactory(workspace=alice.workspace, user__username="grace")


@pytest.fixture
def full(alice: Person, http: Caller) -> dict[str, str]:
    """One of each: a case, a dead session and a failed document of u1, a question that got
    worse."""
    for place in ("Oslo", "Bergen"):
        tell(http, f"I live in {place}.")
        memory = http.get("/memories").body["results"][0]
        http.patch(f"/memories/{memory['id']}", {"pinned": True})
    session = SessionFactory(
        workspace=alice.workspace,
        state="dead",
        error="it broke",
        finished_at=timezone.now(),
        subject=alice.workspace.subjects.get(external_id="u1"),
    )
    failed = {"content": " \n ", "mode": "sync", "userId": "u1", "containerTags": ["shelf"]}
    document = http.post("/documents", failed).body
    kept = alice.note("The gate code is on the blue card")
    question = golden_questions.add(alice.scope, NewQuestion("Where is the gate code?", answer="blue card"))
    golden_runs.run(alice.scope)
    review.forget(alice.scope, kept.pk, "outdated")
    golden_runs.run(alice.scope)
    [case] = http.get("/cases", state="open").body["results"]
    return {
        "held": case["id"],
        "session": str(session.pk),
        "document": document["id"],
        "question": str(question.pk),
    }


def listed(http: Caller, **query: str) -> dict[str, str]:
    """Kind to id."""
    answer = http.get("/inbox", **query)
    assert answer.status == 200, answer.body
    return {row["kind"]: row["id"] for row in answer.body["results"]}


def test_all_that_waits_for_a_person_is_in_one_list(http: Caller, full: dict[str, str]) -> None:
    rows = http.get("/inbox").body["results"]

    assert {row["kind"]: row["id"] for row in rows} == full
    assert [row["risk"] for row in rows] == sorted((row["risk"] for row in rows), reverse=True)
    for row in rows:
        own = "case" if row["kind"] == "held" else row["kind"]
        there = {n for n in ("case", "session", "document", "question") if row[n] is not None}
        assert (there, row[own]["id"]) == ({own}, row["id"])
        assert (row["state"], row["assignee"], row["snoozedUntil"]) == ("open", None, None)


def test_it_is_read_page_by_page_in_both_directions(http: Caller, full: dict[str, str]) -> None:
    every = [row["id"] for row in http.get("/inbox").body["results"]]
    seen, cursor = [], ""
    for _ in every:
        page = http.get("/inbox", limit=1, **({"cursor": cursor} if cursor else {})).body
        seen += [row["id"] for row in page["results"]]
        cursor = page["next"] or ""
    assert (seen, cursor) == (every, "")
    back = http.get("/inbox", limit=2, cursor=page["previous"]).body
    assert [row["id"] for row in back["results"]] == every[1:3]


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ({"kind": "session"}, {"session"}),
        ({"kind": "held"}, {"held"}),
        ({"kind": "quarantine"}, set()),
        ({"userId": "u1"}, {"held", "session", "document"}),
        ({"userId": "nobody"}, set()),
        ({"unassigned": "true"}, {"held", "session", "document", "question"}),
        ({"state": "snoozed"}, set()),
    ],
)
def test_it_is_narrowed(http: Caller, full: dict[str, str], query: dict[str, str], kinds: set[str]) -> None:
    assert set(listed(http, **query)) == kinds


def test_it_is_narrowed_to_a_document(http: Caller, full: dict[str, str]) -> None:
    assert listed(http, documentId=full["document"]) == {"document": full["document"]}


@pytest.mark.parametrize(
    ("query", "field"),
    [({"kind": "letter"}, "kind"), ({"state": "gone"}, "state"), ({"assignee": "me"}, "assignee")],
)
def test_what_it_does_not_know_is_named(http: Caller, query: dict[str, str], field: str) -> None:
    answer = http.get("/inbox", **query)
    assert (answer.status, answer.fields) == (400, [field])


@pytest.mark.parametrize("kind", ["held", "session", "document", "question"])
def test_any_of_it_is_given_to_a_member(http: Caller, full: dict[str, str], grace: Membership, kind: str) -> None:
    path = f"/inbox/{full[kind]}/assign"
    assert http.post(path, {"assignee": str(grace.pk)}).status == 204

    assert listed(http, assignee=str(grace.pk)) == {kind: full[kind]}
    assert kind not in listed(http, unassigned="true")
    assert AuditEntry.objects.filter(action="assign", target_id=full[kind]).exists()
    assert http.post(path, {"assignee": None}).status == 204
    assert kind in listed(http, unassigned="true")
    stranger = MembershipFactory()
    answer = http.post(path, {"assignee": str(stranger.pk)})
    assert (answer.status, answer.fields) == (400, ["assignee"])


@pytest.mark.parametrize("kind", ["held", "session", "document", "question"])
def test_any_of_it_rests_until_its_time(http: Caller, full: dict[str, str], kind: str) -> None:
    path, tomorrow = f"/inbox/{full[kind]}/snooze", timezone.now() + timedelta(days=1)
    assert http.post(path, {"until": tomorrow.isoformat()}).status == 204

    assert kind not in listed(http)
    assert listed(http, state="snoozed") == {kind: full[kind]}
    assert http.post(path, {"until": None}).status == 204
    assert kind in listed(http)
    past = (timezone.now() - timedelta(days=1)).isoformat()
    answer = http.post(path, {"until": past})
    assert (answer.status, answer.fields) == (400, ["until"])


def test_a_failure_whose_time_has_come_waits_again(http: Caller, full: dict[str, str]) -> None:
    http.post(
        f"/inbox/{full['session']}/snooze",
        {"until": (timezone.now() + timedelta(days=1)).isoformat()},
    )
    FailureMark.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    assert "session" in listed(http)


@pytest.mark.parametrize("kind", ["session", "document", "question"])
def test_a_failure_may_stay_as_it_is(http: Caller, full: dict[str, str], kind: str) -> None:
    assert http.post(f"/inbox/{full[kind]}/leave").status == 204
    assert kind not in listed(http)
    assert http.get("/inbox/figures").body["left"] == 1

    assert http.post(f"/inbox/{full[kind]}/leave", {"undo": True}).status == 204
    assert kind in listed(http)


def test_what_was_left_and_fails_anew_waits_again(http: Caller, full: dict[str, str]) -> None:
    for kind in ("session", "document", "question"):
        http.post(f"/inbox/{full[kind]}/leave")
    MemorySession.objects.filter(pk=full["session"]).update(claims=7)
    http.post(f"/documents/{full['document']}/retry")
    Document.objects.filter(pk=full["document"]).update(state="failed", error_code="no_text", claims=9)
    GoldenQuestion.objects.filter(pk=full["question"]).update(rank=9)
    assert set(listed(http)) == {"held", "session", "document", "question"}


def test_what_is_well_again_is_not_in_the_inbox(alice: Person, http: Caller, full: dict[str, str]) -> None:
    alice.note("The gate code is on the blue card")
    golden_runs.run(alice.scope)
    ingest.retry(alice.scope, MemorySession.objects.get(pk=full["session"]))
    http.post(f"/cases/{full['held']}/decide", {"keep": memories_of(full["held"])})

    assert set(listed(http)) == {"document"}
    assert http.post(f"/inbox/{full['session']}/leave").status == 404


def memories_of(case: str) -> list[str]:
    return [str(each.memory_id) for each in Case.objects.get(pk=case).items.all()]


def test_a_question_that_stays_worse_waits_until_it_is_as_good(alice: Person) -> None:
    kept = alice.note("The gate code is on the blue card")
    question = golden_questions.add(alice.scope, NewQuestion("Where is the gate code?", answer="blue card"))
    golden_runs.run(alice.scope)
    review.forget(alice.scope, kept.pk, "outdated")
    golden_runs.run(alice.scope)
    question.refresh_from_db()
    since = question.worse_since
    golden_runs.run(alice.scope)
    question.refresh_from_db()

    assert (question.rank, question.rank_before) == (None, 1)
    assert since is not None
    assert question.worse_since == since


def test_the_figures_tell_the_day(http: Caller, full: dict[str, str]) -> None:
    now = http.get("/inbox/figures").body
    assert (now["waiting"], now["opened"], now["decided"], now["snoozed"]) == (4, 1, 0, 0)
    assert now["kinds"] == {"held": 1, "session": 1, "document": 1, "question": 1}
    http.post(f"/cases/{full['held']}/decide", {"keep": memories_of(full["held"])})
    until = (timezone.now() + timedelta(days=1)).isoformat()
    http.post(f"/inbox/{full['session']}/snooze", {"until": until})

    now = http.get("/inbox/figures").body
    assert (now["waiting"], now["decided"], now["snoozed"]) == (2, 1, 1)
    [(actor, number)] = now["decidedBy"].items()
    assert (actor.startswith("key:"), number) == (True, 1)


def test_a_day_begins_with_its_first_second(
    http: Caller, full: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    midnight = tomorrow.replace(hour=0, minute=0, second=0, microsecond=0)
    Case.objects.update(created_at=midnight)
    monkeypatch.setattr(timezone, "now", lambda: midnight + timedelta(milliseconds=5_900))
    assert http.get("/inbox/figures").body["opened"] == 1


def test_a_teammate_sees_only_what_its_agent_may(http: Caller, bob: Person, full: dict[str, str]) -> None:
    assert "question" not in listed(caller(bob))
    assert "session" not in listed(caller(bob))
    assert caller(bob).post(f"/inbox/{full['session']}/leave").status in (403, 404)


def test_mallory_finds_nothing_and_changes_nothing(mallory: Person, http: Caller, full: dict[str, str]) -> None:
    stranger = caller(mallory)
    assert listed(stranger) == {}
    assert stranger.get("/inbox/figures").body["waiting"] == 0
    for row in full.values():
        for verb in ("assign", "snooze", "leave"):
            assert stranger.post(f"/inbox/{row}/{verb}").status == 404
    assert caller(mallory, Workspace.objects.get(slug=http.slug)).get("/inbox").status == 404
    assert not FailureMark.objects.exists()


def test_an_erased_subject_takes_its_marks_along(http: Caller, full: dict[str, str]) -> None:
    http.post(f"/inbox/{full['session']}/leave")
    http.post(f"/inbox/{full['document']}/leave")
    [subject] = http.get("/subjects", externalId="u1").body["results"]
    assert http.delete(f"/subjects/{subject['id']}").status in (200, 202)

    assert not FailureMark.objects.exists()
    assert set(listed(http)) == {"question"}
