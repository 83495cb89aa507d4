"""What is held is neither erased nor pruned; what is old and carries nothing may go."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from memories.errors import Conflict
from memories.models import Episode, LegalHold, Memory, Miss
from memories.privacy import erase, retention
from memories.settings.workspace_settings import change_workspace
from tests.api_fixtures import caller, member
from tests.desk import member as at_desk
from tests.management.test_commands import run
from tests.people import Person
from workspaces.models import AuditEntry, Subject, erasing_audit

OLD = timedelta(days=40)


def test_what_is_held_is_not_erased_until_the_hold_is_lifted(alice: Person, bob: Person, mallory: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada", thread_id="t1")
    http = caller(alice)
    made = http.post("/holds", {"userId": "ada", "reason": "Case 12"})
    assert (made.status, made.body["userId"], made.body["liftedAt"]) == (201, "ada", None)
    assert http.post("/holds", {"userId": "ada", "reason": "x"}).body["id"] == made.body["id"]
    for path in ("subjects", "conversations", "episodes"):
        row = http.get(f"/{path}").body["results"][0]["id"]
        refused = http.delete(f"/{path}/{row}")
        assert (refused.status, refused.body["code"]) == (409, "legal_hold")
        assert "Case 12" in refused.body["detail"]
    with pytest.raises(CommandError, match="under a legal hold"):
        run("erase", "subject", "ada", "--workspace", "orchard", "--yes")
    with pytest.raises(CommandError, match="under a legal hold"):
        run("removeworkspace", "orchard", "--yes")
    lift = f"/holds/{made.body['id']}/lift"
    assert caller(mallory).post(lift).status == 404
    assert caller(mallory).get("/holds").body["results"] == []
    assert caller(bob).get("/holds").status == 403
    assert member(alice.workspace, "editor").post(lift).status == 403
    assert http.post(lift).body["liftedBy"] == alice.scope.actor
    assert http.post(lift).status == 409
    assert http.get("/holds", inForce="true").body["results"] == []
    assert len(http.get("/holds", userId="ada", inForce="false").body["results"]) == 1
    run("erase", "subject", "ada", "--workspace", "orchard", "--yes")
    assert not LegalHold.objects.exists()
    lines = AuditEntry.objects.filter(action__in=("place_hold", "lift_hold"))
    assert lines.count() == 2


def test_a_hold_has_a_reason_and_comes_before_the_erasure(alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada")
    http = caller(alice)
    assert http.post("/holds", {"userId": "ada", "reason": "  "}).fields == ["reason"]
    subject = Subject.objects.get()
    erase.request(alice.scope, erase.target_of(alice.scope, "subject", subject.pk))
    assert http.post("/holds", {"userId": "ada", "reason": "late"}).status == 409


def test_the_page_of_a_subject_holds_it_and_lets_go(alice: Person) -> None:
    ada = Subject.objects.create(workspace=alice.workspace, external_id="ada")
    owner, viewer = at_desk(alice.workspace), at_desk(alice.workspace, "viewer")
    viewer.does(ada, "hold", **{"reason": "Case 12"})
    assert not LegalHold.objects.exists()
    owner.does(ada, "hold", **{"reason": "Case 12"})
    assert LegalHold.objects.in_force().get().reason == "Case 12"
    owner.does(ada, "lift")
    assert not LegalHold.objects.in_force().exists()


@pytest.fixture
def old(alice: Person) -> None:
    """Of 40 days ago: one message that carries a memory, one that carries nothing, of two users."""
    for user in ("ada", "ben"):
        alice.say("I live in Lisbon.", "Hm, right.", user_id=user)
    Miss.objects.create(
        workspace=alice.workspace,
        episode=Episode.objects.earliest("id"),
        text="Hm",
        found_by="person",
        statements=["x"],
    )
    then = timezone.now() - OLD
    for model in (Episode, Miss):
        model.objects.update(created_at=then)  # type: ignore[attr-defined]


def test_nothing_goes_where_nobody_said_so(alice: Person, old: None) -> None:
    assert retention.plan(alice.scope) == {}
    assert run("prune", "--yes") == "orchard: nothing, its setting `retention` is empty\n"
    assert Episode.objects.count() == 4


def test_what_nothing_stands_on_goes_and_what_is_held_stays(alice: Person, old: None) -> None:
    change_workspace(alice.scope, changes={"retention": {"episodes": 30, "misses": 30}})
    caller(alice).post("/holds", {"userId": "ben", "reason": "Case 12"})
    assert "1 episodes, 1 misses" in run("prune")
    told = json.loads(run("prune", "--dry-run", "--yes", "--json"))
    assert told == {"done": False, "workspaces": {"orchard": {"episodes": 1, "misses": 1}}}
    assert Episode.objects.count() == 4
    told = json.loads(run("prune", "--workspace", "orchard", "--yes", "--json"))
    assert told["workspaces"] == {"orchard": {"episodes": 1, "misses": 1}}
    left = Episode.objects.values_list("subject__external_id", "content").order_by("id")
    assert sorted(left) == [
        ("ada", "I live in Lisbon."),
        ("ben", "Hm, right."),
        ("ben", "I live in Lisbon."),
    ]
    assert Memory.objects.live().count() == 2
    run("checkindex")


def test_what_is_young_stays(alice: Person, old: None) -> None:
    change_workspace(alice.scope, changes={"retention": {"episodes": 50, "misses": 50}})
    assert retention.plan(alice.scope) == {"episodes": 0, "misses": 0}


def test_old_lines_of_the_audit_lose_their_values_and_stay(alice: Person) -> None:
    change_workspace(alice.scope, name="Orchard 2", changes={"retention": {"audit": 30}})
    line = AuditEntry.objects.get(action="change_workspace")
    assert retention.plan(alice.scope) == {"audit": 0}
    change_workspace(alice.scope, changes={"retention": {"audit": 1}})
    lines = AuditEntry.objects.count()
    with erasing_audit():
        AuditEntry.objects.filter(pk=line.pk).update(created_at=timezone.now() - OLD)
    assert run("prune", "--yes") == "orchard: 1 audit\n"
    line.refresh_from_db()
    assert (line.before, line.after, AuditEntry.objects.count()) == (None, None, lines)


def test_a_retention_that_cannot_be_is_refused(alice: Person) -> None:
    answer = caller(alice).patch("", {"settings": {"retention": {"episodes": -1}}})
    assert (answer.status, answer.fields) == (400, ["settings.retention.episodes"])


def test_a_held_subject_is_not_erased_by_another_way(alice: Person) -> None:
    """An episode about somebody who is held, in a conversation of nobody."""
    alice.say("I live in Lisbon.", user_id="ada")
    caller(alice).post("/holds", {"userId": "ada", "reason": "Case 12"})
    target = erase.target_of(alice.scope, "episode", Episode.objects.get().pk)
    with pytest.raises(Conflict, match="Case 12"):
        erase.request(alice.scope, target)
