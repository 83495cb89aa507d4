"""How sure the judge must be, as a page: tried by readers on the last week, saved by admins."""

from typing import Any

import pytest
from django.urls import reverse

from memories import metrics
from memories.ingest import rehearse_judge
from memories.judge import judge as judging
from memories.judge.judge import SHIPPED, thresholds_in
from memories.meters import stored_metrics
from memories.models import JudgeRehearsal, LongJob, Memory, Touch
from tests.admin.test_admin_queries import MOST, queries_of
from tests.desk import Desk, member
from tests.ingest.test_judged_messages import HIVE, told
from tests.people import Person
from tests.scripted_judge import Judge, change
from workspaces.models import AuditEntry, Role, Workspace

PAGE = reverse("admin:memories_judge_thresholds")
LIKELY = Judge(change(ends=0.75, compatible=0.25), fact=0.3)


@pytest.fixture
def week(alice: Person) -> Person:
    """A belief, and a message that may end it, which the judge has looked through."""
    alice.say("I keep bees in the orchard.", user_id="ada")
    told(alice, HIVE, user_id="ada")
    look(alice)
    return alice


def look(person: Person) -> None:
    row = rehearse_judge.request(person.scope)
    rehearse_judge.go_on(row.pk, judge=LIKELY)


def page_of(workspace: Workspace) -> str:
    return f"{PAGE}?workspace={workspace.slug}"


def asks(desk: Desk, workspace: Workspace, button: str, **fields: Any) -> Any:
    return desk.client.post(page_of(workspace), {button: "1", **fields})


def counts(answer: Any) -> list[tuple[int, int]]:
    return [(now, then) for _, now, then in answer.context["counts"]]


def judge_of(workspace: Workspace) -> Any:
    return Workspace.objects.get(pk=workspace.pk).settings.get("judge")


def test_values_are_tried_on_the_last_week_and_nothing_changes(week: Person) -> None:
    desk = member(week.workspace)
    answer = asks(desk, week.workspace, "try", act="0.7")
    assert counts(answer) == [(1, 0), (0, 1), (0, 0), (0, 0)]
    [example] = answer.context["examples"]
    assert (example.now, example.then, example.quote) == ("questioned", "replaced", HIVE)
    html = answer.content.decode()
    assert "User keeps bees in the orchard" in html
    assert HIVE in html
    assert counts(asks(desk, week.workspace, "try", ask="0.8")) == [(1, 0), (0, 0), (0, 0), (0, 0)]
    assert counts(asks(desk, week.workspace, "try", keep="0.2"))[2] == (0, 1)
    assert judge_of(week.workspace) is None
    assert Memory.objects.live().count() == 1
    assert not Touch.objects.filter(by="judge").exists()


def test_what_is_saved_is_kept_audited_and_shown_again(week: Person) -> None:
    Workspace.objects.filter(pk=week.workspace.pk).update(settings={"judge": {"enabled": False, "keep": 0.9}})
    desk = member(week.workspace)
    answer = asks(desk, week.workspace, "save", act="0.7", far="")
    assert answer.status_code == 302
    assert judge_of(week.workspace) == {"enabled": False, "act": 0.7}
    assert AuditEntry.objects.get(action="change_workspace").actor == f"user:{desk.user.pk}"
    shown = desk.client.get(page_of(week.workspace))
    assert counts(shown)[1] == (1, 1)
    assert 'value="0.7"' in shown.content.decode()
    assert f'placeholder="{thresholds_in(SHIPPED).far:g}"' in shown.content.decode()


@pytest.mark.parametrize("wrong", [{"act": "2"}, {"ask": "-1"}, {"far": "nan"}, {"keep": "much"}, {"drop": "1e9"}])
def test_nonsense_is_told_at_its_field(week: Person, wrong: dict[str, str]) -> None:
    answer = asks(member(week.workspace), week.workspace, "save", **wrong)
    assert list(answer.context["form"].errors) == list(wrong)
    assert judge_of(week.workspace) is None


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_others_than_admins_try_and_save_nothing(week: Person, role: str) -> None:
    bob = member(week.workspace, role)
    assert counts(asks(bob, week.workspace, "try", act="0.7"))[1] == (0, 1)
    assert "Owners and admins save it." in bob.sees(page_of(week.workspace))
    assert asks(bob, week.workspace, "save", act="0.7").status_code == 403
    assert judge_of(week.workspace) is None


def test_another_workspace_is_not_there(week: Person, mallory: Person) -> None:
    outsider = member(mallory.workspace)
    assert outsider.status(page_of(week.workspace)) == 404
    for button in ("try", "save", "look"):
        assert asks(outsider, week.workspace, button).status_code == 404
    assert HIVE not in outsider.sees(PAGE)
    assert not JudgeRehearsal.objects.filter(workspace=mallory.workspace).exists()


def test_an_editor_has_the_last_week_looked_through_and_sees_how_far_it_is(alice: Person) -> None:
    told(alice, HIVE, user_id="ada")
    viewer, bob = member(alice.workspace, Role.VIEWER), member(alice.workspace, Role.EDITOR)
    assert "Nothing was looked through yet" in bob.sees(page_of(alice.workspace))
    assert 'name="look"' not in viewer.sees(page_of(alice.workspace))
    assert asks(viewer, alice.workspace, "look").status_code == 403
    asks(bob, alice.workspace, "look")
    asks(bob, alice.workspace, "look")
    row = JudgeRehearsal.objects.get()
    assert row.requested_by == f"user:{bob.user.pk}"
    assert "1 message waits for the judge." in bob.sees(page_of(alice.workspace))
    job = LongJob.objects.create(
        workspace=alice.workspace, kind="rehearsal", item=row.pk, unit="messages", total=4, done=1, requested_by="x"
    )
    assert f'data-job="{job.pk}"' in bob.sees(page_of(alice.workspace))
    rehearse_judge.go_on(row.pk, judge=LIKELY)
    assert "1 message, looked through" in bob.sees(page_of(alice.workspace))


def test_what_was_forgotten_since_is_not_shown(week: Person, mallory: Person) -> None:
    Memory.objects.all().delete()
    assert asks(member(week.workspace), week.workspace, "try", act="0.7").context["examples"] == []


def test_the_page_loads_no_model_and_costs_few_queries(week: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(folder: Any) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(judging, "_load", loaded)
    monkeypatch.setattr(judging.shipped, "_loaded", {})
    assert len(queries_of(member(week.workspace), page_of(week.workspace))) <= MOST


def test_a_server_without_a_model_says_so(week: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(judging.shipped, "_folder", tmp_path)
    assert "This server has no judge" in member(week.workspace).sees(page_of(week.workspace))


def test_how_often_a_language_model_agrees_is_told(week: Person) -> None:
    desk = member(week.workspace)
    assert "second-opinions" not in desk.sees(page_of(week.workspace))
    metrics.clear()
    for outcome in ("agreed", "agreed", "differed", "none"):
        metrics.count("judge_second_opinions", workspace=str(week.workspace.pk), outcome=outcome)
    stored_metrics.flush()
    told_here = " ".join(desk.sees(page_of(week.workspace)).split())
    assert "about 4 changes that the judge was not sure of: it agreed in 2, and differed in 1." in told_here
