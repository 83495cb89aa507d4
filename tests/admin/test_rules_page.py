"""Rules on one page: read, tried, switched, tried out on last week before that, and taken back."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from django.utils import timezone

from memories.admin.rules.own_rule_admin import WEEK
from memories.belief.resolve.words_rehearsal import rehearse_words
from memories.errors import Conflict, Invalid, NotFound
from memories.index import row_marks, workspace_index
from memories.ingest.rehearse_patterns import PatternChoice, rehearse_patterns
from memories.language.english.statements import OwnWords
from memories.language.english.statements.rule_names import ENDS, NAMES, ONE_AT_A_TIME
from memories.models import Fact, Memory, WorkspaceChange, WorkspacePattern, WorkspaceSlot
from memories.settings import own_rules, workspace_settings
from tests.api_fixtures import caller
from tests.desk import Desk, desk_of, member, messages_of, page_of
from tests.people import Person
from workspaces.models import AuditEntry, Role, Workspace

RULES = reverse("admin:memories_rules")
PATTERN: dict[str, Any] = {
    "name": "badge",
    "category": "identity",
    "regex": r"badge (?:number )?is (?P<number>\d+)",
    "template": "{speaker}'s badge number is {number}",
    "examples": ["My badge number is 88"],
}


def rules(tab: str, **more: str) -> str:
    return f"{RULES}?{urlencode({'tab': tab, **more})}"


def now_without(person: Person, rule: str) -> OwnWords:
    words = row_marks.words_of(workspace_index.index_of(person.workspace.pk))
    return OwnWords(words.slots, words.changes, words.off ^ {rule})


def sends(desk: Desk, page: str, **fields: str) -> str:
    answer = desk.client.post(page, fields)
    assert answer.status_code == 200, answer.status_code
    return str(answer.content.decode())


def test_every_rule_has_one_name_and_an_example() -> None:
    assert len(set(NAMES)) == len(NAMES) == len(ONE_AT_A_TIME) + len(ENDS)
    assert [rule.name for rule in (*ONE_AT_A_TIME, *ENDS) if not rule.examples] == []


# ---- switching


def test_an_attribute_that_is_switched_off_replaces_nothing_here(alice: Person, mallory: Person) -> None:
    workspace_settings.switch_decision(alice.scope, "slot:residence", is_off=True)
    for person in (alice, mallory):
        person.say("I live in Oslo.", user_id="ana")
        person.say("I live in Bergen.", user_id="ana")
    assert len(alice.live()) == 2
    assert len(mallory.live()) == 1
    workspace_settings.switch_decision(alice.scope, "slot:residence", is_off=False)
    alice.say("I live in Rome.", user_id="ana")
    assert [each for each in alice.live() if "Rome" not in each] == []


def test_words_of_an_end_that_are_switched_off_end_nothing(alice: Person) -> None:
    rule = "ended:sell"
    workspace_settings.switch_decision(alice.scope, rule, is_off=True)
    alice.tell("Ada drives a Fiat", user_id="u")
    alice.tell("Ada sold her Fiat", user_id="u")
    assert len(alice.live()) == 2
    with pytest.raises(Invalid):
        workspace_settings.switch_decision(alice.scope, "slot:nonsense", is_off=True)


def test_what_is_off_is_a_setting_of_the_api(alice: Person) -> None:
    address = ""
    answer = caller(alice).patch(address, {"settings": {"decisionsOff": ["slot:job"]}})
    assert answer.status == 200
    assert workspace_settings.settings_of(Workspace.objects.get(slug="orchard")).decisions_off == ["slot:job"]
    wrong = caller(alice).patch(address, {"settings": {"decisionsOff": ["slot:nonsense"]}})
    assert wrong.status == 400


def test_admins_switch_attributes_and_others_look(alice: Person, workspace: Workspace, mallory: Person) -> None:
    viewer, admin = member(workspace, Role.VIEWER), member(workspace, Role.ADMIN)
    page = rules("attributes", q="lives in")
    assert "lives in: one at a time" in viewer.sees(page)
    assert "Switch off" not in viewer.sees(page)
    sent = {"rule": "slot:residence", "off": "1"}
    assert viewer.client.post(page, sent).status_code == 403
    assert admin.client.post(page, sent).status_code == 302
    assert "Switch lives in: one at a time on" in admin.sees(rules("attributes", only="off"))
    outsider = desk_of(member(mallory.workspace).user)
    assert outsider.status(rules("attributes", workspace=workspace.slug)) == 404
    assert "Switch lives in: one at a time on" not in outsider.sees(page)
    assert admin.client.post(page, {"rule": "slot:nonsense", "off": "1"}).status_code == 404


def test_curators_switch_rules_of_the_workspaces_own(alice: Person, workspace: Workspace) -> None:
    WorkspacePattern.objects.create(workspace=workspace, **PATTERN)
    viewer, editor = member(workspace, Role.VIEWER), member(workspace, Role.EDITOR)
    sent = {"rule": "workspace:badge", "off": "1"}
    assert viewer.client.post(RULES, sent).status_code == 403
    assert editor.client.post(RULES, sent).status_code == 302
    alice.say("My badge number is 88.", user_id="ana")
    assert Fact.objects.filter(rule="workspace:badge").count() == 0
    assert editor.client.post(RULES, {"rule": "prefers", "off": "1"}).status_code == 403


# ---- what would change


def test_what_a_pattern_off_would_lose_is_told_before(alice: Person, mallory: Person) -> None:
    alice.say("I prefer tea to coffee.", "I live in Oslo.", user_id="ana")
    before = PatternChoice((), frozenset())
    off = PatternChoice((), frozenset({"prefers"}))
    since = timezone.now() - WEEK
    found = rehearse_patterns(alice.scope, before, off, since, seconds=60)
    assert [each.statement for each in found.lost] == ["User prefers tea to coffee"]
    assert (found.made, found.read, found.messages) == ([], 2, 2)
    back = rehearse_patterns(alice.scope, off, before, since, seconds=60)
    assert [each.statement for each in back.made] == ["User prefers tea to coffee"]
    assert rehearse_patterns(mallory.scope, before, off, since, seconds=60).lost == []
    later = timezone.now() + WEEK
    assert rehearse_patterns(alice.scope, before, off, later, seconds=60).messages == 0
    assert Memory.objects.count() == 2


def test_no_time_reads_one_conversation_and_says_so(alice: Person) -> None:
    for thread in ("one", "two"):
        alice.say("I prefer tea to coffee.", user_id="ana", thread_id=thread)
    choice = PatternChoice((), frozenset())
    found = rehearse_patterns(alice.scope, choice, choice, timezone.now() - WEEK, seconds=0)
    assert (found.read, found.messages) == (1, 2)


def test_what_an_attribute_off_would_leave_is_told_before(alice: Person, mallory: Person, carol: Person) -> None:
    alice.say("I live in Oslo.", user_id="ana")
    alice.say("I live in Bergen.", user_id="ana")
    since, words = timezone.now() - WEEK, now_without(alice, "slot:residence")
    found = rehearse_words(alice.scope, OwnWords(), words, since, seconds=60)
    [change] = found.changed
    assert (change.was.kind, change.would.kind) == ("update", "different")
    for other in (mallory, carol):
        assert rehearse_words(other.scope, OwnWords(), words, since, seconds=60).changed == []
    assert rehearse_words(alice.scope, OwnWords(), words, since, seconds=-1).is_cut


def test_what_an_own_attribute_would_replace_is_told_before(alice: Person) -> None:
    alice.tell("The tall urn is glazed celadon", user_id="u")
    alice.tell("The tall urn is glazed tenmoku", user_id="u")
    slot = WorkspaceSlot(name="kiln", regex=r"(?P<subject>.+) is glazed (?P<value>\w+)")
    words = OwnWords(slots=(slot.value,))
    found = rehearse_words(alice.scope, OwnWords(), words, timezone.now() - WEEK, seconds=60)
    assert [(each.was.kind, each.would.kind) for each in found.changed] == [("different", "update")]
    assert len(alice.live()) == 2


def test_pages_tell_what_would_change(alice: Person, workspace: Workspace) -> None:
    alice.say("I prefer tea to coffee.", user_id="ana")
    alice.say("I live in Oslo.", user_id="ana")
    alice.say("I live in Bergen.", user_id="ana")
    viewer = member(workspace, Role.VIEWER)
    html = sends(viewer, RULES, rule="prefers", see="1")
    assert 'id="lost">1<' in html
    assert "prefers tea to coffee" in html
    html = sends(viewer, rules("attributes"), rule="slot:residence", see="1")
    assert 'id="otherwise">1<' in html
    assert "takes its place → both stand" in html
    assert AuditEntry.objects.filter(action__startswith="switch").count() == 0


# ---- trying


def test_the_test_box_says_what_is_found_and_by_which_rule(workspace: Workspace) -> None:
    viewer = member(workspace, Role.VIEWER)
    html = sends(viewer, RULES, text="I prefer tea to coffee.", speaker="Ana", **{"try": "1"})
    assert "Ana prefers tea to coffee" in html
    assert Memory.objects.count() == 0
    tried = {"before": "Ana lives in Oslo", "after": "Ana lives in Rome", "try": "1"}
    html = sends(viewer, rules("attributes"), **tried)
    assert "takes the place of the older. (lives in: one at a time)" in html
    assert "Give two statements" in sends(viewer, rules("ends"), **{"try": "1"})


# ---- undo


def test_a_switch_is_taken_back(alice: Person, workspace: Workspace) -> None:
    workspace_settings.switch_decision(alice.scope, "slot:job", is_off=True)
    [line] = own_rules.changes_of(alice.scope)
    viewer, admin = member(workspace, Role.VIEWER), member(workspace, Role.ADMIN)
    assert "Take back" not in viewer.sees(RULES)
    assert viewer.client.post(RULES, {"line": str(line.pk)}).status_code == 403
    assert "Take back: works as: one at a time" in admin.sees(RULES)
    answer = admin.client.post(RULES, {"line": str(line.pk)}, follow=True)
    assert "as it was before" in messages_of(answer)
    assert workspace_settings.settings_of(alice.scope).decisions_off == []


def test_a_changed_and_a_removed_rule_come_back_as_they_were(
    alice: Person, mallory: Person, workspace: Workspace
) -> None:
    row = WorkspacePattern.objects.create(workspace=workspace, **PATTERN)
    editor = member(workspace, Role.EDITOR)
    form = {
        **PATTERN,
        "workspace": workspace.pk,
        "examples": "My badge number is 88",
        "confidence": "0.9",
        "template": "{speaker} has badge {number}",
        "enabled": "on",
    }
    assert editor.client.post(page_of(row), form).status_code == 302
    first = own_rules.changes_of(alice.scope)[0]
    assert first.before == {"template": PATTERN["template"], "confidence": 0.8}
    deleted = page_of(row).replace("change", "delete")
    assert editor.client.post(deleted, {"post": "yes"}).status_code == 302
    with pytest.raises(Conflict, match="changed again"):
        own_rules.take_back(alice.scope, first.pk)
    last = own_rules.changes_of(alice.scope)[0]
    with pytest.raises(NotFound):
        own_rules.take_back(mallory.scope, last.pk)
    assert own_rules.take_back(alice.scope, last.pk) == "badge"
    back = WorkspacePattern.objects.get(pk=row.pk)
    assert (back.template, back.confidence) == ("{speaker} has badge {number}", 0.9)


def test_an_own_change_word_is_switched_and_taken_back(alice: Person, mallory: Person) -> None:
    row = WorkspaceChange.objects.create(
        workspace=alice.workspace,
        name="mothball",
        verbs="mothball",
        ended="run",
        examples=["The plant runs the old mill => The plant mothballed the old mill"],
    )
    with pytest.raises(NotFound):
        own_rules.switch_own(mallory.scope, "workspacechange", row.pk, is_off=True)
    own_rules.switch_own(alice.scope, "workspacechange", row.pk, is_off=True)
    row.refresh_from_db()
    assert not row.enabled
    own_rules.take_back(alice.scope, own_rules.changes_of(alice.scope)[0].pk)
    row.refresh_from_db()
    assert row.enabled


# ---- the page


@pytest.mark.parametrize("tab", ["patterns", "attributes", "ends", "limits", "waits"])
def test_tabs_say_rules_in_words(alice: Person, workspace: Workspace, tab: str) -> None:
    alice.say("I live in Oslo.", user_id="ana")
    shown = member(workspace, Role.VIEWER).sees(rules(tab))
    words = re.sub(r"<[^>]*>", " ", shown.partition('id="content-main"')[2])
    assert [code for code in ("slot:", "ended:", "implied:", "own:") if code in words] == []


def test_rules_are_found_by_the_words_of_their_examples(workspace: Workspace) -> None:
    viewer = member(workspace, Role.VIEWER)
    assert "lives in: one at a time" in viewer.sees(rules("attributes", q="Oslo"))
    assert "No rule is like that" in viewer.sees(rules("attributes", q="zebra crossing"))
    assert "No rule is like that" in viewer.sees(rules("ends", only="own"))


def test_pages_of_rules_take_few_queries(
    alice: Person, workspace: Workspace, django_assert_max_num_queries: Any
) -> None:
    alice.say("I live in Oslo.", user_id="ana")
    viewer = member(workspace, Role.VIEWER)
    for tab in ("patterns", "attributes", "ends", "limits", "waits"):
        with django_assert_max_num_queries(19):
            viewer.sees(rules(tab))


# ---- what would change, before an own rule is saved


def rehearsed(desk: Desk, model: type[Any], **fields: str) -> Any:
    page = reverse(f"admin:memories_{model._meta.model_name}_rehearsal")
    return desk.client.post(page, fields)


def test_an_own_pattern_is_tried_on_last_week_before_it_is_saved(
    alice: Person, workspace: Workspace, mallory: Person
) -> None:
    alice.say("My badge number is 88.", user_id="ana")
    editor, viewer = member(workspace, Role.EDITOR), member(workspace, Role.VIEWER)
    form = {name: PATTERN[name] for name in ("name", "category", "regex", "template")}
    form |= {"workspace": str(workspace.pk), "template": "{speaker} wears badge {number}"}
    found = rehearsed(editor, WorkspacePattern, **form).json()
    assert found["faults"] == []
    assert "made: User wears badge 88" in found["lines"]
    assert WorkspacePattern.objects.count() == 0
    wrong = rehearsed(editor, WorkspacePattern, **{**form, "regex": "("}).json()
    assert wrong["faults"]
    outsider = desk_of(member(mallory.workspace).user)
    for other in (viewer, outsider):
        assert rehearsed(other, WorkspacePattern, **form).status_code == 403
    own = {**PATTERN, "template": form["template"]}
    row = WorkspacePattern.objects.create(workspace=workspace, **own)
    off = {**form, "pk": str(row.pk), "enabled": "false"}
    assert "lost: User wears badge 88" in rehearsed(editor, WorkspacePattern, **off).json()["lines"]
    assert rehearsed(outsider, WorkspacePattern, **off).status_code == 403


def test_own_words_are_tried_on_last_week_before_they_are_saved(alice: Person, workspace: Workspace) -> None:
    alice.tell("The tall urn is glazed celadon", user_id="u")
    alice.tell("The tall urn is glazed tenmoku", user_id="u")
    editor = member(workspace, Role.EDITOR)
    form = {"regex": r"(?P<subject>.+) is glazed (?P<value>\w+)", "workspace": str(workspace.pk)}
    found = rehearsed(editor, WorkspaceSlot, **form).json()
    assert found["lines"] == [
        "The tall urn is glazed celadon → The tall urn is glazed tenmoku: both stand → takes its place"
    ]
    words = {"verbs": "reglaze", "ended": "*", "workspace": str(workspace.pk)}
    assert rehearsed(editor, WorkspaceChange, **words).json()["lines"] == []


def test_whoever_switches_a_rule_still_sees_what_was_looked_for(workspace: Workspace) -> None:
    page = rules("patterns", workspace=workspace.slug, q="routine")
    answer = member(workspace).client.post(page, {"rule": "routine", "off": "1"}, follow=True)

    assert answer.context["q"] == "routine"
    assert [row.name for row, _may in answer.context["rows"]] == ["routine"]
