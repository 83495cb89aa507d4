"""What people made of each rule's finds, rules switched off, and memories judged at random."""

import uuid
from typing import Any

import pytest
from django.urls import reverse

from memories.belief import review
from memories.errors import Invalid, NotFound
from memories.meters import rule_rates
from memories.meters.rule_rates import RuleRate
from memories.models import Memory, Supersession
from memories.settings import workspace_settings
from tests.api_fixtures import caller
from tests.desk import desk_of, member
from tests.people import Person
from workspaces.models import AuditEntry, Role, Workspace

RULES, JUDGE = reverse("admin:memories_rules"), reverse("admin:memories_judge")


def rate_of(person: Person, rule: str) -> RuleRate:
    return next(rate for rate in rule_rates.rule_rates(person.scope) if rate.rule == rule)


def told(person: Person) -> list[Memory]:
    """Three memories that one pattern found."""
    for thing in ("tea to coffee", "trains to planes", "Oslo to Rome"):
        person.say(f"I prefer {thing}.", user_id="ana")
    return list(Memory.objects.order_by("pk"))


def test_what_people_kept_edited_and_rejected_is_counted_by_rule(alice: Person) -> None:
    first, second, _ = told(alice)
    review.edit(alice.scope, first.pk, {"content": "Ana prefers green tea to coffee"})
    review.forget(alice.scope, second.pk, "wrong")
    rate = rate_of(alice, "prefers")
    assert (rate.facts, rate.kept, rate.edited, rate.rejected) == (3, 1, 1, 1)
    assert rate.precision is None


def test_an_edit_that_was_undone_is_none(alice: Person) -> None:
    first, *_ = told(alice)
    review.edit(alice.scope, first.pk, {"content": "Ana prefers green tea to coffee"})
    Supersession.objects.update(state=Supersession.State.UNDONE)
    assert rate_of(alice, "prefers").edited == 0


def test_judgements_give_a_rule_and_a_workspace_their_precision(alice: Person) -> None:
    first, second, third = told(alice)
    verdicts = {first.pk: "keep", second.pk: "drop", third.pk: "keep"}
    assert rule_rates.judge(alice.scope, verdicts) == 3
    rule_rates.judge(alice.scope, {third.pk: "edit"})  # a second thought
    assert rate_of(alice, "prefers").judged == {"keep": 1, "drop": 1, "edit": 1}
    assert rate_of(alice, "prefers").precision == pytest.approx(1 / 3)
    given = rule_rates.verdicts_of(alice.scope).values()
    assert rule_rates.counted(given) == {"keep": 1, "edit": 1, "drop": 1}
    assert rule_rates.memories_to_judge(alice.scope) == []


def test_nobody_judges_what_they_may_not_see(alice: Person, carol: Person, mallory: Person) -> None:
    first, *_ = told(alice)
    for other in (carol, mallory):
        assert rule_rates.memories_to_judge(other.scope) == []
        assert rule_rates.rule_rates(other.scope) == []
        with pytest.raises(NotFound):
            rule_rates.judge(other.scope, {first.pk: "keep"})
    rule_rates.judge(alice.scope, {first.pk: "keep"})
    assert rule_rates.verdicts_of(carol.scope) == rule_rates.verdicts_of(mallory.scope) == {}
    with pytest.raises(NotFound):
        rule_rates.judge(alice.scope, {uuid.uuid4(): "keep"})
    with pytest.raises(Invalid):
        rule_rates.judge(alice.scope, {first.pk: "burn"})


def test_a_rule_that_is_switched_off_finds_nothing_here(alice: Person, mallory: Person) -> None:
    workspace_settings.switch_pattern(alice.scope, "prefers", is_off=True)
    for person in (alice, mallory):
        person.say("I prefer tea to coffee.", user_id="ana")
    assert [memory.workspace for memory in Memory.objects.all()] == [mallory.workspace]
    said = {"messages": [{"role": "user", "content": "I prefer tea to coffee."}]}
    preview = caller(alice).post("/memories/extract", said)
    assert preview.body["facts"] == []
    workspace_settings.switch_pattern(alice.scope, "prefers", is_off=False)
    assert alice.say("I prefer tea to coffee.", user_id="ana").created_ids
    assert AuditEntry.objects.filter(action="switch_pattern").count() == 2
    with pytest.raises(Invalid):
        workspace_settings.switch_pattern(alice.scope, "no such rule", is_off=True)


# ---- the pages


def test_admins_switch_rules_and_others_look(alice: Person, workspace: Workspace) -> None:
    told(alice)
    viewer, admin = member(workspace, Role.VIEWER), member(workspace, Role.ADMIN)
    shown = viewer.client.get(RULES)
    assert shown.status_code == 200
    assert "Switch off" not in shown.content.decode()
    assert viewer.client.post(RULES, {"rule": "prefers", "off": "1"}).status_code == 403
    assert "Switch prefers off" in admin.client.get(RULES).content.decode()
    assert admin.client.post(RULES, {"rule": "prefers", "off": "1"}).status_code == 302
    assert Workspace.objects.get(pk=workspace.pk).settings["patternsOff"] == ["prefers"]
    assert "Switch prefers on" in admin.client.get(RULES).content.decode()


def test_curators_judge_what_the_page_shows(alice: Person, workspace: Workspace, mallory: Person) -> None:
    first, second, _ = told(alice)
    viewer, editor = member(workspace, Role.VIEWER), member(workspace, Role.EDITOR)
    sent: dict[str, Any] = {f"verdict-{first.pk}": "keep", f"verdict-{second.pk}": "drop"}
    assert viewer.client.post(JUDGE, sent).status_code == 403
    page = editor.client.get(JUDGE).content.decode()
    assert "I prefer tea to coffee." in page
    assert first.content in page
    assert editor.client.post(JUDGE, sent).status_code == 302
    assert first.content not in editor.client.get(JUDGE).content.decode()
    assert 'id="precision">0.50' in editor.client.get(RULES).content.decode()
    outsider = desk_of(member(mallory.workspace).user)
    assert first.content not in outsider.client.get(JUDGE).content.decode()
    assert outsider.client.get(f"{JUDGE}?workspace={workspace.slug}").status_code == 404
