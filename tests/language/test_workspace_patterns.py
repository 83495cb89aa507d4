"""Patterns of a workspace's own: checked when saved, before the library's, theirs alone."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from memories.ingest import NewMessage
from memories.models import Episode, Fact, Memory, Miss, WorkspacePattern
from tests.api_fixtures import caller
from tests.desk import Desk, list_of, member, page_of
from tests.people import Person
from workspaces.models import Workspace

SAID = "Zorble frumption grelled with Kestrel today."
GOOD = {
    "name": "grelled",
    "category": "technology",
    "regex": r"(?P<what>\w+ \w+) grelled with (?P<tool>\w+)",
    "template": "{what} grels with {tool}",
    "examples": ["The backend grelled with Kestrel."],
    "counter_examples": ["Nobody grels."],
}


def pattern(workspace: Workspace, **changes: Any) -> WorkspacePattern:
    return WorkspacePattern.objects.create(workspace=workspace, **{**GOOD, **changes})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"regex": "(grelled"}, "regex"),
        ({"regex": "(?=grelled)"}, "regex"),
        ({"regex": "x*"}, "regex"),
        ({"regex": ""}, "regex"),
        ({"template": "{nothing}"}, "template"),
        ({"template": "{speaker.__class__}"}, "template"),
        ({"template": "{tool:>9999999}"}, "template"),
        ({"template": "{tool"}, "template"),
        ({"examples": ["Nobody grels."]}, "examples"),
        ({"examples": []}, "examples"),
        ({"counter_examples": ["My team grelled with Kestrel."]}, "counter_examples"),
        ({"name": "No Name!"}, "name"),
        ({"confidence": 1.5}, "confidence"),
    ],
)
def test_a_pattern_that_does_not_do_what_it_says_is_not_saved(
    workspace: Workspace, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refusal:
        pattern(workspace, **changes)
    assert list(refusal.value.message_dict) == [field]


def test_what_it_finds_is_a_fact_with_its_rule_and_quote(alice: Person) -> None:
    pattern(alice.workspace)
    alice.say(f"Good morning. {SAID}")
    fact = Fact.objects.get()
    assert fact.statement == "Zorble frumption grels with Kestrel"
    assert (fact.rule, fact.method, fact.category) == ("workspace:grelled", "pattern", "technology")
    assert (fact.citations.get().quote, fact.visibility) == (SAID, "team")


def test_its_own_visibility_and_the_callers_wish_count(alice: Person) -> None:
    pattern(alice.workspace, visibility="global")
    alice.say(SAID)
    alice.say(SAID.replace("Kestrel", "Falcon"), visibility="private")
    assert list(Memory.objects.order_by("id").values_list("visibility", flat=True)) == [
        "global",
        "private",
    ]


def test_an_empty_template_tells_the_sentence_of_its_speaker(alice: Person) -> None:
    pattern(alice.workspace, regex="frumption", template="", examples=["I frumption."])
    alice.say("I frumption my bicycle.", user_id="ana")
    assert Fact.objects.get().statement.startswith("User ")


def test_questions_and_the_disabled_find_nothing(alice: Person) -> None:
    made = pattern(alice.workspace)
    alice.say("Has anybody grelled with Kestrel today in the office?")
    WorkspacePattern.objects.filter(pk=made.pk).update(enabled=False)
    alice.say(SAID)
    assert not Fact.objects.filter(rule__startswith="workspace:").exists()


DRINKS = {"regex": r"I (?P<how>prefer|like) (?P<what>\w+)", "template": "{speaker} drinks {what}"}


def drinks(workspace: Workspace, **changes: Any) -> WorkspacePattern:
    fields = {**DRINKS, "examples": ["I prefer tea."], "counter_examples": [], **changes}
    return pattern(workspace, name="drinks", category="preference", **fields)


def test_it_goes_before_the_library_on_the_same_words(alice: Person) -> None:
    drinks(alice.workspace, visibility="global")
    alice.say("I prefer tea to coffee.")
    assert alice.live() == ["User drinks tea"]
    assert Memory.objects.get().visibility == "global"


def test_the_library_keeps_the_other_clauses_of_its_sentence(alice: Person) -> None:
    drinks(alice.workspace)
    alice.say("I moved to Lisbon in May, and I prefer tea to coffee.")
    assert sorted(alice.live()) == ["User drinks tea", "User moved to Lisbon in May"]


@pytest.mark.parametrize(
    ("regex", "template", "quote"),
    [
        (r"prefer (?P<what>\w+)", "{speaker} drinks {what}", "I prefer tea to coffee."),
        (
            r"in May.* prefer (?P<what>\w+)",
            "{speaker} drinks {what}",
            "I moved to Lisbon in May, and I prefer tea to coffee.",
        ),
        (r"prefer", "", "I moved to Lisbon in May, and I prefer tea to coffee."),
    ],
)
def test_it_cites_the_clauses_that_it_matched(alice: Person, regex: str, template: str, quote: str) -> None:
    drinks(alice.workspace, regex=regex, template=template, examples=["In May I prefer tea."])
    alice.say("Hello! I moved to Lisbon in May, and I prefer tea to coffee.")
    fact = Fact.objects.get(rule="workspace:drinks")
    assert fact.citations.get().quote == quote
    assert (fact.event_date is None) == ("May" not in quote)


def test_two_of_them_read_two_clauses_of_a_sentence(alice: Person) -> None:
    drinks(alice.workspace)
    pattern(
        alice.workspace,
        name="badge",
        regex=r"badge is (?P<no>\d+)",
        template="Badge {no}",
        examples=["My badge is 8"],
        counter_examples=[],
    )
    alice.say("I prefer tea to coffee, and my badge is 88.")
    assert sorted(alice.live()) == ["Badge 88", "User drinks tea"]


@pytest.mark.parametrize(
    "changes",
    [
        {"regex": "(?P<all>.+)", "template": "{all}"},
        {"regex": r"^I .*prefer (?P<what>\w+)", "template": "{speaker} drinks {what}"},
        {"regex": r"(?P<who>\w+) .*prefer (?P<what>\w+)", "template": "{who} drinks {what}"},
        {"regex": "I.*prefer tea", "template": "Tea"},
    ],
)
def test_one_that_reaches_too_far_loses_no_fact_of_other_words(alice: Person, changes: dict[str, str]) -> None:
    drinks(alice.workspace, **changes)
    alice.say("I moved to Lisbon in May, and I prefer tea to coffee. My sister lives in Bern.")
    told = " ".join(alice.live())
    assert all(word in told for word in ("Lisbon", "tea", "Bern"))


def test_one_that_says_what_the_library_says_makes_one_fact(alice: Person) -> None:
    drinks(alice.workspace, regex="I .*prefer.*", template="")
    alice.say("I prefer tea to coffee.")
    assert Fact.objects.get().rule == "workspace:drinks"


def test_an_assistants_words_make_no_decision(alice: Person) -> None:
    drinks(alice.workspace, regex="(?P<all>decided .*)", template="{all}", examples=["decided it"])
    alice.say(NewMessage("We decided to use Postgres for the billing service.", "assistant"))
    assert not Fact.objects.exists()


def test_other_workspaces_know_nothing_of_it(alice: Person, bob: Person, mallory: Person) -> None:
    pattern(alice.workspace)
    mallory.say(SAID)
    assert not Fact.objects.exists()
    bob.say(SAID)
    assert Fact.objects.get().workspace == alice.workspace


def test_the_preview_tries_it_too(alice: Person, mallory: Person) -> None:
    pattern(alice.workspace)
    body = {"messages": [{"role": "user", "content": SAID}]}
    [fact] = caller(alice).post("/memories/extract", body).body["facts"]
    assert fact["rule"] == "workspace:grelled"
    assert caller(mallory).post("/memories/extract", body).body["facts"] == []


def test_no_expression_can_hang_a_worker(alice: Person) -> None:
    pattern(alice.workspace, regex="(a+)+b", template="", examples=["aab"])
    session = alice.say("a" * 400 + "! " + "a" * 400)
    assert session.state == "done"  # one that steps back would be at it for ages


# ---- in the admin


def form_of(workspace: Workspace, **changes: Any) -> dict[str, Any]:
    fields = {**GOOD, "workspace": str(workspace.pk), "confidence": "0.8", "enabled": "on"}
    lists = {name: "\n".join(GOOD[name]) for name in ("examples", "counter_examples")}
    return {**fields, **lists, "visibility": "", **changes}


ADD = "admin:memories_workspacepattern_add"


def test_an_editor_adds_a_pattern_in_the_admin(workspace: Workspace) -> None:
    editor = member(workspace, "editor")
    assert "(?P&lt;tool&gt;" in editor.sees(reverse(ADD))
    answer = editor.client.post(reverse(ADD), form_of(workspace), follow=True)
    assert answer.status_code == 200
    made = WorkspacePattern.objects.get()
    assert (made.examples, made.regex) == (GOOD["examples"], GOOD["regex"])
    assert "pattern-trial" in editor.sees(page_of(made))


def test_a_wrong_pattern_is_told_and_not_added(workspace: Workspace) -> None:
    answer = member(workspace, "editor").client.post(reverse(ADD), form_of(workspace, template="{nothing}"))
    assert "There is no group" in answer.content.decode()
    assert not WorkspacePattern.objects.exists()


def test_patterns_are_seen_by_members_and_written_by_curators(alice: Person, mallory: Person) -> None:
    made = pattern(alice.workspace)
    outsider, viewer = member(mallory.workspace), member(alice.workspace, "viewer")
    assert "grelled" not in outsider.sees(list_of(WorkspacePattern))
    assert outsider.status(page_of(made)) == 404
    foreign = outsider.client.post(reverse(ADD), form_of(alice.workspace, name="mine"))
    assert (foreign.status_code, WorkspacePattern.objects.count()) == (200, 1)
    assert "grelled" in viewer.sees(list_of(WorkspacePattern))
    assert viewer.status(reverse(ADD)) == 403
    assert viewer.client.post(page_of(made), form_of(alice.workspace)).status_code == 403


def tried(desk: Desk, **fields: str) -> Any:
    wish = {**{k: GOOD[k] for k in ("regex", "template", "category")}, "text": SAID, **fields}
    return desk.client.post(reverse("admin:memories_pattern_trial"), wish)


def test_the_test_box_tells_what_is_found_and_stores_nothing(workspace: Workspace) -> None:
    answer = tried(member(workspace, "editor"), text=f"Good morning. {SAID}").json()
    assert answer == {
        "faults": [],
        "matches": [{"quote": SAID, "statement": "Zorble frumption grels with Kestrel"}],
        "instead": [],
    }
    assert not WorkspacePattern.objects.exists()


def test_the_test_box_tells_what_the_library_would_have_said(workspace: Workspace) -> None:
    said = {**DRINKS, "text": "I prefer tea to coffee."}
    answer = tried(member(workspace, "editor"), **said, speaker="Ada").json()
    assert [match["statement"] for match in answer["matches"]] == ["Ada drinks tea"]
    assert answer["instead"] == ["Ada prefers tea to coffee"]


def test_the_test_box_tells_what_is_wrong(workspace: Workspace) -> None:
    editor = member(workspace, "editor")
    assert "RE2" in tried(editor, regex="(").json()["faults"][0]
    assert tried(editor, text="Nothing here.").json()["matches"] == []
    assert tried(editor, regex="").json()["faults"]
    assert tried(member(workspace, "viewer")).status_code == 403
    assert editor.status(reverse("admin:memories_pattern_trial")) == 403


def missed(person: Person) -> Miss:
    person.say("Is it so? Yes (a+b) grelled with Kestrel.")
    return Miss.objects.create(
        workspace=person.workspace,
        episode=Episode.objects.get(),
        text="Yes (a+b) grelled with Kestrel.",
        found_by="llm",
        statements=["a grels"],
        category="plan",
    )


def test_a_miss_fills_the_form_and_is_settled_by_its_pattern(alice: Person) -> None:
    miss = missed(alice)
    editor, address = member(alice.workspace, "editor"), f"{reverse(ADD)}?miss={miss.pk}"
    assert "grelled with (?P&lt;name&gt;" in editor.sees(address)
    editor.client.post(address, form_of(alice.workspace))
    miss.refresh_from_db()
    assert (miss.state, "grelled" in miss.note) == ("done", True)


def test_anothers_miss_fills_nothing_and_stays_open(alice: Person, mallory: Person) -> None:
    miss = missed(alice)
    outsider, address = member(mallory.workspace), f"{reverse(ADD)}?miss={miss.pk}"
    assert "Kestrel" not in outsider.sees(address)
    outsider.client.post(address, form_of(mallory.workspace))
    miss.refresh_from_db()
    assert (WorkspacePattern.objects.count(), miss.state) == (1, "open")
