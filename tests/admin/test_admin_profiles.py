"""A person's page: what is known of somebody, and how it is put right."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memories.admin.memories.memory_list import day_text
from memories.admin.people.life_timeline import PAGE
from memories.belief import review
from memories.meters import search_counts
from memories.models import Feature, FeatureSet, Memory
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from tests.desk import Desk, list_of, member, messages_of, page_of
from tests.factories import SubjectFactory
from tests.people import Person
from workspaces.models import AuditEntry, Role, Subject, Workspace


@pytest.fixture
def ada(alice: Person) -> Subject:
    """Somebody of whom something is known."""
    alice.say("I prefer tea to coffee.", user_id="ada", thread_id="breakfast")
    alice.note("Lives in Lisbon", user_id="ada", category="identity")
    return Subject.objects.get(external_id="ada")


def shown(desk: Desk, subject: Subject) -> Any:
    answer = desk.client.get(page_of(subject))
    assert answer.status_code == 200
    return answer.context


def parts_of(context: Any) -> dict[str, list[str]]:
    """What each part of the page says."""
    known = [part for column in context["columns"] for part in column]
    return {part.name: [each.memory.content for each in part.memories] for part in [*known, context["also"]]}


def test_each_memory_stands_in_one_part(alice: Person, ada: Subject) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    for content, wish in (
        ("Ada is allergic to nuts", {"category": "identity"}),
        ("Ada travels to Porto", {"category": "plan", "event_date": tomorrow}),
        ("Ada travelled to Oslo", {"category": "plan", "event_date": tomorrow - timedelta(days=9)}),
        ("Answer Ada in short sentences", {"category": "instruction"}),
        ("Ada has read about ferries", {}),
    ):
        alice.note(content, user_id="ada", **wish)
    shown_parts = parts_of(shown(member(alice.workspace), ada))
    [liked] = shown_parts.pop("preferences")

    assert "tea" in liked
    assert shown_parts == {
        "who": ["Ada is allergic to nuts"],
        "now": ["Lives in Lisbon"],
        "plans": ["Ada travels to Porto"],
        "instructions": ["Answer Ada in short sentences"],
        "also": ["Ada has read about ferries", "Ada travelled to Oslo"],
    }


def test_a_memory_is_told_once_on_the_page(alice: Person, ada: Subject) -> None:
    discover_sets()
    update_now(alice.scope, "user:ada")
    memory = Memory.objects.live().get(content__contains="tea")
    feature = Feature.objects.live().get(subject=ada)
    desk = member(alice.workspace, Role.VIEWER)
    html = desk.sees(page_of(ada))

    assert html.count(memory.content) == 1
    assert feature.value not in html.replace(memory.content, "")
    assert f'{page_of(feature)}">{feature.feature}</a>' in html
    assert shown(desk, ada)["features"] == {}


def test_every_part_says_that_it_is_empty(alice: Person) -> None:
    html = member(alice.workspace).sees(page_of(SubjectFactory(workspace=alice.workspace)))

    for words in (
        "Nothing tells yet who this is.",
        "Nothing tells yet where they live",
        "No likes or dislikes",
        "No plans",
        "nothing that always holds",
        "Nothing changed this week.",
        "Nothing waits for a decision.",
    ):
        assert words in html


def test_what_changed_is_told_in_plain_words(alice: Person, ada: Subject) -> None:
    alice.say("I prefer coffee to tea now.", user_id="ada")
    lives = Memory.objects.get(content="Lives in Lisbon")
    review.edit(alice.scope, lives.pk, {"pinned": True})
    member(alice.workspace).does(ada, "rename", name="Ada Lovelace", metadata="{}")
    changes = shown(member(alice.workspace), ada)["changes"]

    assert [(each.did, each.what) for each in changes if each.line] == [
        ("changed", "person"),
        ("pinned", "Lives in Lisbon"),
        ("added", "Lives in Lisbon"),
    ]
    [replaced] = [each for each in changes if each.memory]
    assert (replaced.did, "tea to coffee" in replaced.what) == ("replaced", True)


def test_open_cases_stand_with_their_words(alice: Person, ada: Subject) -> None:
    memory = Memory.objects.get(content="Lives in Lisbon")
    review.edit(alice.scope, memory.pk, {"pinned": True})
    alice.say("I live in Porto now.", user_id="ada")
    [waiting] = shown(member(alice.workspace), ada)["cases"]

    assert ("Porto" in waiting.text, waiting.about) == (True, "Which of these is true of ada?")
    member(alice.workspace).does(waiting.case, "reject")
    assert shown(member(alice.workspace), ada)["cases"] == []


def test_duplicates_stand_beside_what_waits(alice: Person, ada: Subject) -> None:
    alice.note("Lives in Lisbon", user_id="ada", category="identity", visibility="global")
    desk = member(alice.workspace)
    [pair] = shown(desk, ada)["duplicates"]

    assert (pair.newer.content, pair.conflicts) == ("Lives in Lisbon", False)
    page = desk.sees(page_of(ada))
    assert "Nothing waits for a decision." in page
    assert "Say the same?" in page


def test_what_conflicts_is_a_case_of_the_inbox_and_counted_once(alice: Person) -> None:
    alice.say("My budget for the kitchen is 12,000 EUR.", user_id="kim")
    alice.say("My budget for the kitchen is probably 15,000 EUR.", user_id="kim")
    kim, desk = Subject.objects.get(external_id="kim"), member(alice.workspace)
    [waiting] = shown(desk, kim)["cases"]
    page, inbox = desk.sees(page_of(kim)), desk.sees(reverse("admin:memories_inbox"))

    assert "Say the same?" not in page
    assert str(waiting.case.pk) in inbox
    assert "the same with another number" in inbox
    assert '<span id="review-count">1</span>' in inbox
    assert 'Open cases <span class="desk-quiet desk-small">1</span>' in page
    assert ">1</a>" in desk.sees(list_of(Subject))


def test_what_conflicted_before_anybody_was_asked_is_put_into_the_inbox(alice: Person) -> None:
    for amount, audience in (("12,000", "global"), ("15,000", "private")):
        said = f"The budget of the kitchen is {amount} EUR"
        alice.note(said, user_id="kim", category="possession", visibility=audience)
    kim, desk = Subject.objects.get(external_id="kim"), member(alice.workspace)
    [pair] = shown(desk, kim)["duplicates"]
    assert pair.conflicts
    assert "Ask in the inbox which is right" in desk.sees(page_of(kim))
    ids = {"kept": str(pair.older.pk), "other": str(pair.newer.pk)}
    assert member(alice.workspace, Role.VIEWER).does(kim, "ask-which", **ids).status_code == 403
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    assert mallory.does(kim, "ask-which", **ids).status_code == 404
    desk.does(kim, "ask-which", **ids)

    assert shown(desk, kim)["duplicates"] == []
    assert len(shown(desk, kim)["cases"]) == 1
    assert "Which budget is right?" in desk.sees(reverse("admin:memories_inbox"))


def lived(desk: Desk, subject: Subject, **asked: str) -> Any:
    return desk.client.get(page_of(subject), {"show": "life", **asked}).context["life"]


def test_timeline_tells_both_axes(alice: Person, ada: Subject) -> None:
    alice.say("I prefer coffee to tea now.", user_id="ada")
    long_ago, today = timezone.now() - timedelta(days=900), timezone.now()
    moved = Memory.objects.get(content="Lives in Lisbon")
    Memory.objects.filter(pk=moved.pk).update(valid_from=long_ago)
    entries = lived(member(alice.workspace), ada).entries
    by_text = {each.memory.content: each for each in entries}
    home = by_text["Lives in Lisbon"]

    assert [each.memory.pk for each in entries][-1] == moved.pk
    assert home.true == f"since {day_text(long_ago)}"
    assert home.believed == f"since {day_text(today)}"
    assert home.true_bar.left < home.believed_bars[0].left
    [over] = [each for each in entries if each.state]
    assert ("tea to coffee" in over.memory.content, over.state) == (True, "replaced")


def test_timeline_shows_what_was_believed_of_a_day(alice: Person, ada: Subject) -> None:
    desk = member(alice.workspace)
    tomorrow, yesterday = ((timezone.localtime() + timedelta(days=days)).date().isoformat() for days in (1, -1))
    home = Memory.objects.get(content="Lives in Lisbon")
    since = timezone.now() + timedelta(days=9)
    Memory.objects.filter(pk=home.pk).update(valid_from=since)

    assert lived(desk, ada, known_on=yesterday).entries == []
    seen = [each.memory.content for each in lived(desk, ada, valid_on=tomorrow).entries]
    assert len(seen) == 1
    assert "Lives in Lisbon" not in seen
    html = desk.sees(page_of(ada), show="life", valid_on="soon", offset="x")
    assert "This is no day" in html
    assert "Lives in Lisbon" in html


def test_a_day_on_which_something_was_true_is_the_same_in_every_zone(alice: Person, ada: Subject) -> None:
    desk = member(alice.workspace)
    desk.client.cookies["time_zone"] = "Pacific/Honolulu"
    home = Memory.objects.get(content="Lives in Lisbon")
    Memory.objects.filter(pk=home.pk).update(valid_from=datetime(2026, 3, 31, tzinfo=UTC))
    seen = {
        day: {each.memory.content for each in lived(desk, ada, valid_on=day).entries}
        for day in ("2026-03-30", "2026-03-31")
    }
    assert "Lives in Lisbon" not in seen["2026-03-30"]
    assert "Lives in Lisbon" in seen["2026-03-31"]


def test_timeline_goes_on_where_it_is_long(alice: Person, ada: Subject) -> None:
    for number in range(PAGE):
        alice.note(f"Owns bicycle number {number}", user_id="ada")
    desk = member(alice.workspace)
    first, rest = lived(desk, ada), lived(desk, ada, offset=str(PAGE))

    assert (len(first.entries), first.is_more) == (PAGE, True)
    assert (len(rest.entries), rest.is_more) == (2, False)
    assert "There is nothing earlier." in desk.sees(page_of(ada), show="life", offset="999999")


def test_conversations_and_searches_are_told(alice: Person, ada: Subject) -> None:
    alice.ask("tea", user_id="ada")
    search_counts.flush()
    desk = member(alice.workspace, Role.VIEWER)
    context = desk.client.get(page_of(ada), {"show": "talks"}).context

    assert [str(each) for each in context["conversations"]] == ["breakfast"]
    assert context["conversations"][0].last_at is not None
    assert [(use.searches, use.results) for use in context["served"]] == [(1, 2)]


def test_strangers_see_no_part_of_it(ada: Subject) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    for show in ("glance", "life", "talks"):
        assert mallory.status(f"{page_of(ada)}?show={show}") == 404


@pytest.mark.parametrize("show", ["glance", "life", "talks"])
def test_much_is_shown_by_few_queries(alice: Person, ada: Subject, show: str) -> None:
    for number in range(12):
        alice.say(f"I like hill number {number}.", user_id="ada", thread_id=f"talk-{number}")
        alice.note(f"Owns bicycle number {number}", user_id="ada")
    discover_sets()
    update_now(alice.scope, "user:ada")
    desk = member(alice.workspace)
    with CaptureQueriesContext(connection) as captured:
        desk.sees(page_of(ada), show=show)

    sent = [each["sql"] for each in captured.captured_queries]
    assert len(sent) < 22, "\n".join(sent)


def test_duplicates_are_merged_by_a_button(alice: Person, ada: Subject) -> None:
    first = Memory.objects.get(content="Lives in Lisbon")
    again = alice.note("Lives in Lisbon", user_id="ada", category="identity", visibility="global")
    desk = member(alice.workspace)
    desk.does(ada, "merge-duplicates", kept=str(first.pk), other=str(again.pk))

    assert Memory.objects.live().filter(content="Lives in Lisbon").get() == first
    assert shown(desk, ada)["duplicates"] == []


def test_memory_is_corrected_in_place(alice: Person, ada: Subject) -> None:
    memory = Memory.objects.get(content="Lives in Lisbon")
    desk = member(alice.workspace)
    answer = desk.does(memory, "correct", content="Lives in Porto", back=page_of(ada))

    assert answer.redirect_chain[-1][0] == page_of(ada)
    assert "Lives in Porto" in answer.content.decode()
    assert page_of(Memory.objects.get(content="Lives in Porto")) in messages_of(answer)


def test_what_is_forgotten_in_place_has_a_way_back(alice: Person, ada: Subject) -> None:
    memory = Memory.objects.get(content="Lives in Lisbon")
    desk = member(alice.workspace)
    from_the_person = messages_of(desk.does(memory, "forget", reason="private", back=page_of(ada)))
    desk.does(memory, "restore")
    from_its_own_page = messages_of(desk.does(memory, "forget", reason="private"))

    assert page_of(memory) in from_the_person
    assert page_of(memory) not in from_its_own_page


def test_a_birthday_says_who_somebody_is_and_is_no_plan(alice: Person) -> None:
    soon = timezone.now() + timedelta(days=9)
    alice.say(f"My birthday is on {soon:%B} {soon.day}.", user_id="bea")
    told = parts_of(shown(member(alice.workspace), Subject.objects.get(external_id="bea")))

    assert (len(told["who"]), told["plans"]) == (1, [])


def test_merge_shows_what_it_moves_before(alice: Person, ada: Subject) -> None:
    html = member(alice.workspace).sees(page_of(ada))

    assert "2 memories, 1 conversation, 1 message" in html


def test_subjects_are_merged(alice: Person, ada: Subject) -> None:
    other = SubjectFactory(workspace=alice.workspace, external_id="lovelace")
    desk = member(alice.workspace)
    told = messages_of(desk.does(ada, "merge", into="nobody"))
    assert "Nobody here has the userId nobody" in told
    desk.does(ada, "merge", into="lovelace")

    assert Memory.objects.filter(subject=other).count() == 2
    assert AuditEntry.objects.filter(action="merge", target_id=other.pk).exists()


def test_subject_of_another_workspace_is_no_target(ada: Subject, alice: Person) -> None:
    SubjectFactory(workspace=Workspace.objects.create(slug="swamp"), external_id="eve")

    told = messages_of(member(alice.workspace).does(ada, "merge", into="eve"))
    assert "Nobody here has the userId eve" in told


def test_name_is_changed_and_kept_in_the_audit_log(alice: Person, ada: Subject) -> None:
    desk = member(alice.workspace)
    desk.does(ada, "rename", name="Ada Lovelace", metadata='{"plan": "gold"}')
    assert "JSON object" in messages_of(desk.does(ada, "rename", name="x", metadata="[1]"))

    line = AuditEntry.objects.get(action="change", target_id=ada.pk)
    assert line.after == {"name": "Ada Lovelace", "time_zone": "", "metadata": {"plan": "gold"}}


def test_viewer_reads_and_changes_nothing(alice: Person, ada: Subject) -> None:
    victor = member(alice.workspace, Role.VIEWER)
    html = victor.sees(page_of(ada))

    assert "Lives in Lisbon" in html
    assert '<form method="post"' not in html.split('id="content-main"')[1]
    for verb in ("rename", "merge", "merge-duplicates"):
        assert victor.does(ada, verb).status_code == 403


def test_features_that_no_memory_says_stand_by_category_and_tag(alice: Person, ada: Subject) -> None:
    owned = FeatureSet.objects.create(workspace=alice.workspace, subject=ada, key="x")
    owned.features.create(
        workspace=alice.workspace,
        subject=ada,
        category="profile",
        tag="home",
        feature="city",
        value="Lisbon",
        visibility="private",
        fingerprint=b"x",
    )
    found = shown(member(alice.workspace), ada)["features"]

    assert [feature.value for feature in found["profile"]["home"]] == ["Lisbon"]


def exported(desk: Desk, subject: Subject, form: str) -> str:
    answer = desk.client.get(reverse("admin:memories_profile_export", args=[subject.pk, form]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_profile_is_exported_with_its_quotes(alice: Person, ada: Subject) -> None:
    desk = member(alice.workspace, Role.VIEWER)
    told = json.loads(exported(desk, ada, "json"))
    text = exported(desk, ada, "md")

    assert told["userId"] == "ada"
    assert told["preferences"][0]["quotes"] == ["I prefer tea to coffee."]
    assert "## Profile\n\n- Lives in Lisbon (identity" in text
    assert "  > I prefer tea to coffee." in text
    lines = AuditEntry.objects.filter(action="export", target_id=ada.pk).order_by("pk")
    assert [(line.actor, line.after) for line in lines] == [
        (f"user:{desk.user.pk}", {"format": form}) for form in ("json", "md")
    ]


def test_profile_is_not_exported_to_strangers(ada: Subject) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    page = reverse("admin:memories_profile_export", args=[ada.pk, "json"])

    assert mallory.status(page) == 404
    assert mallory.status(page_of(ada)) == 404
    assert member(ada.workspace).status(page.replace("json", "exe")) == 404


def people(desk: Desk, **asked: str) -> list[Any]:
    answer = desk.client.get(list_of(Subject), asked)
    assert answer.status_code == 200
    return list(answer.context["cl"].result_list)


def test_list_tells_how_much_is_known_what_waits_and_who_was_heard_of(alice: Person, ada: Subject) -> None:
    memory = Memory.objects.get(content="Lives in Lisbon")
    review.edit(alice.scope, memory.pk, {"pinned": True})
    alice.say("I live in Porto now.", user_id="ada")
    silent = SubjectFactory(workspace=alice.workspace, external_id="zoe")
    desk = member(alice.workspace, Role.VIEWER)
    told = {row.external_id: (row.known, row.open_cases) for row in people(desk)}

    assert told == {"ada": (2, 1), "zoe": (0, 0)}
    assert [row.external_id for row in people(desk, state="cases")] == ["ada"]
    assert [row.external_id for row in people(desk, state="week")] == ["ada"]
    assert people(desk, state="silent") == [silent]
    assert people(desk, state="held") == []
    html = desk.sees(list_of(Subject))
    assert 'aria-label="Open cases of ada"' in html


def test_list_is_sorted_by_name_and_by_who_was_heard_of_last(alice: Person) -> None:
    for name in ("carl", "bea", "ann"):
        alice.say("I like tea.", user_id=name)
    alice.say("I like coffee.", user_id="carl")
    desk = member(alice.workspace)
    shown = list(desk.client.get(list_of(Subject)).context["cl"].list_display)
    by_name, by_day = str(shown.index("person_id")), f"-{shown.index('last_heard_of')}"

    assert [row.external_id for row in people(desk, o=by_name)] == ["ann", "bea", "carl"]
    assert [row.external_id for row in people(desk, o=by_day)] == ["carl", "ann", "bea"]


def test_list_shows_nobody_of_another_workspace(ada: Subject) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    assert people(mallory) == people(mallory, state="silent") == []


def test_page_tells_to_whom_something_was_served(alice: Person, ada: Subject) -> None:
    alice.ask("tea", user_id="ada")
    search_counts.flush()
    html = member(alice.workspace, Role.VIEWER).sees(page_of(ada), show="talks")

    assert "key backend" in html
    assert "The memories that were served" in html
    assert html.count("prefers tea to coffee</a>") == 1
    assert "<td>not kept</td>" not in html
