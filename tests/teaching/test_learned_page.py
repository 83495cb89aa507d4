"""What the judge learned, as a page and as a command: counts and figures, to take over, go back and switch off."""

import json
from typing import Any

import pytest
from django.core.management import CommandError
from django.urls import reverse

from memories import teaching
from memories.judge.judge import shipped
from memories.management.commands import teach
from memories.models import JudgeHead, Touch
from memories.settings import workspace_settings
from tests.desk import Desk, member
from tests.management.test_commands import run
from tests.people import Person
from tests.scripted_judge import HesitantJudge
from tests.teaching.decided import decided
from workspaces.models import Role, Workspace

PAGE = reverse("admin:memories_learned")
JUDGE = HesitantJudge()


def learned(alice: Person) -> JudgeHead:
    decided(alice)
    teaching.ask_to_learn(alice.scope)
    made = teaching.learn(alice.workspace.pk, JUDGE)
    assert made is not None
    return made


def does(desk: Desk, workspace: Workspace, **fields: Any) -> Any:
    return desk.client.post(f"{PAGE}?workspace={workspace.slug}", fields)


def states() -> list[str]:
    return list(JudgeHead.objects.order_by("pk").values_list("state", flat=True))


def test_an_owner_sees_the_figures_lets_it_take_over_goes_back_and_switches_it_off(alice: Person) -> None:
    owner = member(alice.workspace)
    assert "at least 5 of them as no longer true" in owner.sees(PAGE)
    head = learned(alice)
    page = owner.sees(PAGE)
    assert all(words in page for words in ("20 of 40 → 40 of 40", head.name, "may take over", "Take over"))
    assert "Hen 0" not in page
    does(owner, alice.workspace, take=str(head.pk))
    assert states() == ["serving"]
    assert "serves this workspace and no other" in owner.sees(PAGE)
    does(owner, alice.workspace, back="1")
    assert states() == ["ended"]
    does(owner, alice.workspace, learns="off")
    page = owner.sees(PAGE)
    assert "It is switched off" in page
    assert "Learn now" not in page
    assert Workspace.objects.get(pk=alice.workspace.pk).settings["judge"] == {"learn": False}
    does(owner, alice.workspace, learns="on")
    does(owner, alice.workspace, learn="1")
    assert states() == ["ended", "waiting"]
    assert "being learned" in owner.sees(PAGE)


def test_a_teammate_sees_it_and_changes_nothing_and_an_outsider_sees_nothing(alice: Person, mallory: Person) -> None:
    head = learned(alice)
    editor, outsider = member(alice.workspace, Role.EDITOR), member(mallory.workspace)
    page = editor.sees(PAGE)
    assert head.name in page
    assert "Take over" not in page
    for fields in ({"take": str(head.pk)}, {"back": "1"}, {"learns": "off"}, {"learn": "1"}):
        assert does(editor, alice.workspace, **fields).status_code == 403
        assert does(outsider, alice.workspace, **fields).status_code == 404
    does(outsider, mallory.workspace, take=str(head.pk))
    assert head.name not in outsider.sees(PAGE)
    assert outsider.status(f"{PAGE}?workspace={alice.workspace.slug}") == 404
    assert states() == ["ready"]


@pytest.fixture
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teach.Command, "judge", JUDGE)


@pytest.mark.usefixtures("_scripted")
def test_the_command_tries_learns_and_goes_back(alice: Person) -> None:
    with pytest.raises(CommandError, match="0 pairs are decided"):
        run("teach")
    made = decided(alice)
    assert run("teach", "--examples").splitlines()[:2] == [
        "over: User keeps hen 0 | Hen 0 is gone for good",
        "holds: User keeps hen 1 | Hen 1 is gone for now",
    ]
    found = json.loads(run("teach", "--dry-run", "--json"))
    assert (found["pairs"], found["people"], found["serves"], found["worse"]) == (40, 3, False, [])
    assert states() == []
    lines = run("teach").splitlines()
    assert lines[:2] == ["40 decided pairs, by 3", "decided pairs called right: 20 of 40, 40 of 40"]
    assert lines[-1] == f"{found['name']} serves from now on"
    assert states() == ["serving"]
    assert run("teach", "--back") == "The judge as it came serves from now on\n"
    with pytest.raises(CommandError, match="nothing to go back to"):
        run("teach", "--back")
    Touch.objects.filter(pk__in=[one.pk for one in made]).update(decided_by="session:1")
    with pytest.raises(CommandError, match="0 pairs are decided"):
        run("teach")


def test_the_command_takes_over_nothing_that_is_worse_nor_where_it_is_off(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teach.Command, "judge", HesitantJudge(share=0.5))
    for at, touch in enumerate(decided(alice)):
        Touch.objects.filter(pk=touch.pk).update(relation="ends" if at % 4 < 2 else "adds")
    with pytest.raises(CommandError, match="worse in decided pairs"):
        run("teach")
    assert states() == ["refused"]
    workspace_settings.change_workspace(alice.scope, changes={"judge": {"learn": False}})
    with pytest.raises(CommandError, match=r"judge\.learn is off"):
        run("teach")


def test_the_shipped_judge_can_be_taught(alice: Person) -> None:
    decided(alice)
    found = json.loads(run("teach", "--examples", "--json").splitlines()[0])
    assert (found["belief"], found["is_over"], found["is_sampled"]) == ("User keeps hen 0", True, False)
    learned = teaching.try_workspace(alice.scope)
    assert learned.head.name.startswith(f"{shipped.name}+")
    assert learned.figures["decided"]["of"] == 40
    assert learned.figures["fixed"]["of"] == [20, 40]
