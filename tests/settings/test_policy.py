"""What policy holds back: the pure rule, and that the resolver obeys it."""

from typing import Any

import pytest

from memories.belief.resolve.protected_memories import Policy, Replacement
from memories.errors import Invalid
from memories.models import Category, Memory, Supersession, WorkspaceIndex
from memories.settings import workspace_settings
from tests.people import Person
from workspaces.models import Agent, AuditEntry, Workspace

CATEGORIES = frozenset(Category.values)
LISBON, PORTO = "I live in Lisbon.", "I live in Porto."


def replacement(**values: Any) -> Replacement:
    about = {"similarity": 0.85, "confidence": 0.9, "categories": frozenset({"identity"})}
    return Replacement(**{**about, **values})


@pytest.mark.parametrize(
    ("settings", "values", "reason"),
    [
        ({}, {}, ""),
        ({}, {"pinned": True}, "pinned"),
        ({"similarity": [0.8, 0.9]}, {}, "grey"),
        ({"similarity": [0.8, 0.85]}, {}, ""),
        ({"similarity": [0.85, 0.9]}, {}, "grey"),
        ({"similarity": [0.8, 0.9]}, {"similarity": None}, ""),
        ({"confidence": 0.9}, {}, ""),
        ({"confidence": 0.91}, {}, "unsure"),
        ({"categories": ["identity"]}, {}, "protected"),
        ({"categories": ["policy"]}, {}, ""),
        ({"agents": ["a"]}, {"agent": "a"}, "untrusted"),
        ({"agents": ["a"]}, {"agent": "b"}, ""),
        ({"agents": ["a"], "categories": ["identity"]}, {"agent": "a"}, "protected"),
    ],
)
def test_the_first_reason_that_applies_holds_it_back(
    settings: dict[str, Any], values: dict[str, Any], reason: str
) -> None:
    assert Policy.of(settings).holds(replacement(**values)) == reason


@pytest.mark.parametrize(
    "wrong",
    [
        {"similarity": [0.9, 0.8]},
        {"similarity": [0.1]},
        {"similarity": "all"},
        {"similarity": [float("nan"), 1]},
        {"confidence": 2},
        {"confidence": True},
        {"categories": ["secrets"]},
        {"categories": "identity"},
        {"agents": [7]},
        {"agents": ["a"] * 201},
        {"everything": 1},
        [],
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: Any) -> None:
    assert workspace_settings.faults_of({"review": wrong})


def test_settings_that_make_sense_are_not(workspace: Workspace) -> None:
    whole = {"similarity": [0, 1], "confidence": 0.5, "categories": ["policy"], "agents": ["x"]}
    assert workspace_settings.faults_of({"review": whole}) == []
    assert workspace_settings.faults_of({}) == []


def applied_rule(person: Person, user_id: str) -> str:
    """The rule by which a machine that no policy binds replaces the one by the other."""
    workspace_settings.change_policy(person.scope, {})
    for said in (LISBON, PORTO):
        person.say(said, user_id=user_id, extract="patterns")
    return Supersession.objects.get(state="applied").rule


def test_a_protected_category_waits_for_a_person(alice: Person) -> None:
    workspace_settings.change_policy(alice.scope, {"categories": ["identity"]})
    alice.say(LISBON, user_id="u1", extract="patterns")
    session = alice.say(PORTO, user_id="u1", extract="patterns")
    decision = Supersession.objects.get()

    reason, rule = decision.rule.split(": ")
    assert (decision.state, reason) == ("pending", "protected")
    assert decision.new.held_at is not None
    assert session.counts["held"] == 1
    assert len(alice.live()) == 1
    assert rule == applied_rule(alice, "u2")


def test_the_grey_zone_holds_back_what_a_slot_would_replace(alice: Person) -> None:
    workspace_settings.change_policy(alice.scope, {"similarity": [0, 1]})
    alice.say("I live in Rome.", user_id="u1", extract="patterns")
    alice.say("My home is an old mill near Porto now.", user_id="u1", extract="patterns")
    alice.say("I live in Milan now.", user_id="u1", extract="patterns")
    found = Supersession.objects.filter(state="pending")

    assert all(each.rule.startswith("grey: ") for each in found)
    assert found.filter(new__content__contains="Milan", similarity__gte=0).exists()
    assert not Supersession.objects.filter(state="applied").exists()


def test_a_replacement_by_a_slot_keeps_how_near_the_two_were(alice: Person) -> None:
    alice.say("I live in Rome.", user_id="u1", extract="patterns")
    alice.say("I live in Milan now.", user_id="u1", extract="patterns")
    decision = Supersession.objects.get()

    assert decision.rule.startswith("slot:")
    assert 0 < (decision.similarity or 0) < 1
    space = WorkspaceIndex.objects.get(workspace=alice.workspace)
    assert decision.model == str(space.embedding_model)


def test_within_one_ingest_it_is_kept_as_well(alice: Person) -> None:
    alice.say("I live in Rome.", "I live in Milan now.", user_id="u1", extract="patterns")
    [apart] = Supersession.objects.values_list("similarity", flat=True)
    Supersession.objects.all().delete()
    alice.say("I live in Rome.", user_id="u2", extract="patterns")
    alice.say("I live in Milan now.", user_id="u2", extract="patterns")

    assert Supersession.objects.get().similarity == pytest.approx(apart, abs=0.01)


def test_without_a_policy_the_machine_replaces(alice: Person) -> None:
    alice.say(LISBON, user_id="u1", extract="patterns")
    alice.say(PORTO, user_id="u1", extract="patterns")

    assert Supersession.objects.get().state == "applied"


def test_what_an_untrusted_agent_writes_waits(alice: Person) -> None:
    agent = Agent.objects.create(workspace=alice.workspace, external_id="scraper")
    workspace_settings.change_policy(alice.scope, {"agents": [str(agent.pk)]})
    for said in (LISBON, PORTO):
        alice.say(said, user_id="u1", agent_id="scraper", extract="patterns")

    assert Supersession.objects.get().rule.startswith("untrusted: ")
    assert Memory.objects.live().count() == 1


def test_a_change_of_policy_is_audited_and_nonsense_is_refused(alice: Person) -> None:
    workspace_settings.change_policy(alice.scope, {"confidence": 0.5})
    with pytest.raises(Invalid):
        workspace_settings.change_policy(alice.scope, {"confidence": 5})
    line = AuditEntry.objects.get(action="change_policy")

    assert (line.actor, line.before, line.after) == (alice.scope.actor, {}, {"confidence": 0.5})
