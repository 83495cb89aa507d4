"""Slots and change words that a workspace adds: used by the resolver, held to their examples."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from memories.models import Memory, Supersession, WorkspaceChange, WorkspaceSlot
from tests.desk import list_of, member, page_of
from tests.people import Person
from workspaces.models import AuditEntry, Workspace

SLOT: dict[str, Any] = {
    "name": "kiln",
    "regex": r"(?P<subject>.+) is glazed (?P<value>\w+)",
    "examples": ["The blue vase is glazed celadon"],
    "counter_examples": ["The blue vase is fired"],
}
CHANGE: dict[str, Any] = {
    "name": "mothball",
    "verbs": "mothball",
    "ended": "run operate",
    "examples": ["The plant runs the old mill => The plant mothballed the old mill"],
    "counter_examples": ["The plant runs the old mill => The plant mothballed the crane"],
}
BEFORE, AFTER = "The tall urn is glazed celadon", "The tall urn is glazed tenmoku"


def slot(workspace: Workspace, **changes: Any) -> WorkspaceSlot:
    return WorkspaceSlot.objects.create(workspace=workspace, **{**SLOT, **changes})


def test_a_newer_value_of_an_own_slot_supersedes(alice: Person, mallory: Person) -> None:
    slot(alice.workspace)
    for person in (alice, mallory):
        person.tell(BEFORE, user_id="u")
        person.tell(AFTER, user_id="u")
    assert (alice.live(), mallory.live()) == ([AFTER], [BEFORE, AFTER])
    assert Supersession.objects.get(state="applied").rule == "slot:own:kiln"


def test_an_own_change_word_ends_what_it_ends(alice: Person) -> None:
    WorkspaceChange.objects.create(workspace=alice.workspace, **CHANGE)
    alice.tell("Ravn operates the north mill", user_id="u")
    alice.tell("Ravn mothballed the north mill", user_id="u")
    assert alice.live() == ["Ravn mothballed the north mill"]
    assert Supersession.objects.get().rule == "ended:mothbal"


def test_one_that_is_turned_off_decides_nothing(alice: Person) -> None:
    slot(alice.workspace, enabled=False)
    alice.tell(BEFORE, user_id="u")
    alice.tell(AFTER, user_id="u")
    assert alice.live() == [BEFORE, AFTER]


def test_reindex_gives_old_memories_the_keys_of_a_new_slot(alice: Person) -> None:
    alice.tell(BEFORE, user_id="u")
    slot(alice.workspace)
    assert Memory.objects.get().slots == []
    call_command("reindex", workspace="orchard", verbosity=0)
    assert len(Memory.objects.get().slots) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"regex": "(?P<value>"}, "regex"),
        ({"regex": "glazed celadon"}, "regex"),
        ({"regex": r"(?P<value>\w+) (?P<other>\w+)"}, "regex"),
        ({"regex": "(?P<value>a?)"}, "regex"),
        ({"examples": []}, "examples"),
        ({"examples": ["Nothing of the kind"]}, "examples"),
        ({"counter_examples": SLOT["examples"]}, "counter_examples"),
        ({"name": "Not A Name"}, "name"),
    ],
)
def test_a_slot_that_is_no_good_is_never_stored(workspace: Workspace, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        slot(workspace, **changes)
    assert field in refused.value.message_dict


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"verbs": " "}, "verbs"),
        ({"examples": ["no pair"]}, "examples"),
        ({"examples": CHANGE["counter_examples"]}, "examples"),
        ({"counter_examples": CHANGE["examples"]}, "counter_examples"),
    ],
)
def test_a_change_word_that_is_no_good_is_never_stored(
    workspace: Workspace, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        WorkspaceChange.objects.create(workspace=workspace, **{**CHANGE, **changes})
    assert field in refused.value.message_dict


def test_no_expression_can_hang_a_worker(alice: Person) -> None:
    slot(
        alice.workspace,
        regex="(?P<value>(a+)+b)",
        examples=["The aab is here"],
        counter_examples=[],
    )
    session = alice.tell("a" * 900 + " is here", user_id="u")
    assert session.state == "done"  # one that steps back would be at it for ages


# ---- in the admin

PAGES = [
    ("workspaceslot", WorkspaceSlot, SLOT, {"regex": SLOT["regex"]}),
    ("workspacechange", WorkspaceChange, CHANGE, {"verbs": "mothball", "ended": "run operate"}),
]
each = pytest.mark.parametrize(("page", "model", "good", "own"), PAGES)


def form_of(workspace: Workspace, good: dict[str, Any], **changes: Any) -> dict[str, Any]:
    lists = {name: "\n".join(good[name]) for name in ("examples", "counter_examples")}
    return {**good, **lists, "workspace": str(workspace.pk), "enabled": "on", **changes}


@each
def test_an_editor_adds_one_and_the_act_is_audited(
    workspace: Workspace, page: str, model: Any, good: dict[str, Any], own: dict[str, str]
) -> None:
    editor, add = member(workspace, "editor"), reverse(f"admin:memories_{page}_add")
    assert "conflict-trial" in editor.sees(add)
    editor.client.post(add, form_of(workspace, good), follow=True)
    made = model.objects.get()
    assert AuditEntry.objects.filter(target_id=str(made.pk), action="create").exists()
    assert made.name in editor.sees(list_of(model))


@each
def test_members_see_and_curators_write(
    alice: Person, mallory: Person, page: str, model: Any, good: dict[str, Any], own: Any
) -> None:
    made = model.objects.create(workspace=alice.workspace, **good)
    add = reverse(f"admin:memories_{page}_add")
    outsider, viewer = member(mallory.workspace), member(alice.workspace, "viewer")
    assert made.name not in outsider.sees(list_of(model))
    assert outsider.status(page_of(made)) == 404
    outsider.client.post(add, form_of(alice.workspace, good, name="mine"))
    assert model.objects.count() == 1
    assert made.name in viewer.sees(list_of(model))
    assert viewer.status(add) == 403
    assert viewer.client.post(page_of(made), form_of(alice.workspace, good)).status_code == 403


def test_the_test_box_tells_what_would_become_of_it(workspace: Workspace) -> None:
    box = reverse("admin:memories_slot_trial")
    wish = {"before": BEFORE, "after": AFTER, "regex": SLOT["regex"]}
    editor = member(workspace, "editor")
    told = editor.client.post(box, wish).json()["lines"]
    assert told[0] == "The newer takes the place of the older. (trial: one at a time)"
    assert "Before: trial of tall-urn is celadon" in told
    assert "RE2" in editor.client.post(box, {**wish, "regex": "("}).json()["faults"][0]
    assert editor.client.post(box, {**wish, "after": ""}).json()["faults"]
    assert member(workspace, "viewer").client.post(box, wish).status_code == 403
    assert not WorkspaceSlot.objects.exists()


def test_the_test_box_tries_change_words(workspace: Workspace) -> None:
    before, after = CHANGE["examples"][0].split(" => ")
    wish = {"before": before, "after": after, "verbs": "mothball", "ended": ""}
    box = reverse("admin:memories_change_trial")
    told = member(workspace, "editor").client.post(box, wish).json()["lines"]
    assert told[0] == "The newer takes the place of the older. (ended: mothbal)"


@pytest.mark.parametrize(
    ("field", "text"),
    [("verbs", ".* ("), ("verbs", "mothball ["), ("ended", "run (own|have)"), ("ended", "* run")],
)
def test_a_change_word_that_is_no_plain_word_is_refused_at_its_field(
    workspace: Workspace, field: str, text: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        WorkspaceChange.objects.create(workspace=workspace, **{**CHANGE, field: text})
    assert set(refused.value.message_dict) == {field}


def test_words_of_any_language_and_hyphens_are_plain_words(workspace: Workspace) -> None:
    words = "mothball dé-commission außer-dienst"
    WorkspaceChange.objects.create(workspace=workspace, **{**CHANGE, "verbs": words})
    assert WorkspaceChange.objects.in_use(workspace.pk)[0].verbs == words
