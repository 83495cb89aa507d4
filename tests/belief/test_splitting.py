"""A part of one subject becomes another's: chosen memories and conversations; and it goes back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from memories.belief import review
from memories.belief.review import SplitOff
from memories.errors import Conflict, Invalid, NotFound
from memories.ingest import NewMessage
from memories.models import Conversation, Memory
from memories.profiles.features.update import update_now
from tests.belief.test_separating import of, subject, told
from tests.desk import Desk, member, messages_of, page_of
from tests.people import Person
from workspaces.models import AuditEntry, Role, Subject, Workspace

Rows = dict[str, set[Any]]


@pytest.fixture(autouse=True)
def _index_agrees(workspace: Workspace) -> Iterator[None]:
    yield
    call_command("checkindex", "--workspace", workspace.slug)


@pytest.fixture
def both(alice: Person) -> Rows:
    """Two people under one name: each spoke in a conversation of their own."""
    told(alice, "ada", "I prefer tea to coffee.", "I love jazz.")
    alice.say("I live in Lisbon.", user_id="ada", thread_id="graces")
    update_now(alice.scope, "user:ada")
    return of("ada")


def conversation(name: str) -> SplitOff:
    return SplitOff(conversation_ids=[Conversation.objects.get(external_id=name).pk])


def memory(words: str) -> SplitOff:
    return SplitOff([Memory.objects.live().get(content__contains=words).pk])


def test_a_conversation_goes_with_what_was_read_out_of_it(alice: Person, both: Rows) -> None:
    review.split(alice.scope, subject("ada").pk, "grace", conversation("graces"))
    for name in ("ada", "grace"):
        update_now(alice.scope, f"user:{name}")
    ada, grace = of("ada"), of("grace")

    assert [each for each in grace["memories"] if "Lisbon" not in each] == []
    assert (grace["episodes"], grace["threads"]) == ({"I live in Lisbon."}, {("graces",)})
    assert len(grace["facts"]) == 1
    assert not [each for each in ada["memories"] | ada["features"] if "Lisbon" in each]
    assert [each for each in grace["features"] if "Lisbon" in each]
    assert "Lisbon" in alice.finds("Lisbon", user_id="grace")[0]


def test_it_goes_back_to_the_last_row(alice: Person, both: Rows) -> None:
    for chosen in (conversation("graces"), memory("jazz")):
        made = review.split(alice.scope, subject("ada").pk, "grace", chosen)
        for name in ("ada", "grace"):
            update_now(alice.scope, f"user:{name}")
        review.separate(alice.scope, made.pk)
        for name in ("ada", "grace"):
            update_now(alice.scope, f"user:{name}")

        again = of("ada")
        # Features are noted anew, in the same words.
        assert len(again.pop("entries")) == len(both["entries"])
        assert again == {name: rows for name, rows in both.items() if name != "entries"}
        assert not any(of("grace").values())
    with pytest.raises(Conflict, match="already"):
        review.separate(alice.scope, made.pk)


def test_a_memory_goes_with_its_versions_and_its_words_stay(alice: Person, both: Rows) -> None:
    jazz = Memory.objects.live().get(content__contains="jazz")
    review.edit(alice.scope, jazz.pk, {"content": "Ada loves old jazz"})
    review.split(alice.scope, subject("ada").pk, "grace", memory("old jazz"))

    assert Memory.objects.filter(subject=subject("grace")).count() == 2
    assert of("ada")["episodes"] == both["episodes"]
    assert "jazz" in alice.finds("jazz", user_id="grace")[0]


def test_what_stands_on_both_is_believed_of_both(alice: Person, both: Rows) -> None:
    alice.say(NewMessage("I love jazz.", name="ada"), user_id="ada", thread_id="graces")
    assert Memory.objects.live().get(content__contains="jazz").source_count == 2
    review.split(alice.scope, subject("ada").pk, "grace", conversation("graces"))
    found = Memory.objects.live().filter(content__contains="jazz")

    assert sorted(found.values_list("subject__external_id", "source_count")) == [
        ("ada", 1),
        ("grace", 1),
    ]


def test_what_is_not_theirs_does_not_go(alice: Person, both: Rows) -> None:
    other = alice.note("Sings", user_id="eve")
    ada = subject("ada")
    for chosen in (SplitOff([other.pk]), SplitOff(conversation_ids=[other.pk])):
        with pytest.raises(NotFound):
            review.split(alice.scope, ada.pk, "grace", chosen)
    for name in ("", "ada"):
        with pytest.raises(Invalid, match="somebody else"):
            review.split(alice.scope, ada.pk, name, memory("jazz"))
    with pytest.raises(Invalid, match="Choose"):
        review.split(alice.scope, ada.pk, "grace", SplitOff())

    assert not Subject.objects.filter(external_id="grace").exists()
    assert of("ada") == both


def test_a_stranger_splits_nothing(alice: Person, mallory: Person, both: Rows) -> None:
    with pytest.raises(NotFound):
        review.split(mallory.scope, subject("ada").pk, "grace", memory("jazz"))


def asks(desk: Desk, **fields: Any) -> Any:
    page = reverse("admin:workspaces_subject_split", args=[subject("ada").pk])
    return desk.client.post(page, fields, follow=True)


@pytest.mark.parametrize("role", [Role.OWNER, Role.EDITOR])
def test_the_page_tells_the_plan_moves_and_takes_back(alice: Person, both: Rows, role: str) -> None:
    desk = member(alice.workspace, role)
    talk = str(conversation("graces").conversation_ids[0])
    plan = asks(desk, user="grace", conversation=[talk]).content.decode()
    assert "1 conversation, 1 message, 1 fact" in plan
    assert "a new person begins with it" in plan
    assert not Subject.objects.filter(external_id="grace").exists()

    answer = asks(desk, user="grace", conversation=[talk], confirmed="1")
    assert "Moved to grace." in messages_of(answer)
    for name in ("ada", "grace"):
        assert "Undo the move" in desk.sees(page_of(subject(name)))
    line = AuditEntry.objects.filter(action="split", target_id=subject("ada").pk).get()
    desk.does(subject("ada"), "separate", merge=line.after["merge"])
    assert of("ada")["memories"] == both["memories"]


def test_what_cannot_be_split_is_said(alice: Person, both: Rows) -> None:
    desk = member(alice.workspace)
    jazz = str(memory("jazz").memory_ids[0])

    assert "Choose memories" in messages_of(asks(desk, user="grace"))
    assert "Name the person" in messages_of(asks(desk, user=" ", memory=[jazz]))
    assert "not found" in messages_of(asks(desk, user="grace", memory=["x"]))


def test_who_may_not_curate_splits_nothing(alice: Person, mallory: Person, both: Rows) -> None:
    fields = {"user": "grace", "memory": [str(memory("jazz").memory_ids[0])], "confirmed": "1"}
    victor, eve = member(alice.workspace, Role.VIEWER), member(mallory.workspace)

    assert [asks(each, **fields).status_code for each in (victor, eve)] == [403, 404]
    assert "Split off" not in victor.sees(page_of(subject("ada")), show="talks")
    assert of("ada") == both
