"""Each decision of a person says what changed, as the rows have it, and what its button said."""

import re
from typing import Any

import pytest
from django.urls import reverse

from memories.models import Case, Memory, Rejection
from tests.api_fixtures import Caller, caller
from tests.belief.test_grounds import memory_of, open_cases, tell
from tests.desk import Desk, member
from tests.people import Person
from workspaces.models import Role, Workspace

INBOX, ACT = reverse("admin:memories_inbox"), reverse("admin:memories_case_act")
SWIMS = "I swim at the harbour pool because it's close to my flat."


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def moved(http: Caller) -> Caller:
    tell(http, "I live in Lille.", SWIMS, "I moved to Antwerp.")
    return http


@pytest.fixture
def pinned(http: Caller) -> Caller:
    tell(http, "I live in Lille.")
    http.patch(f"/memories/{memory_of(http, 'Lille')['id']}", {"pinned": True})
    tell(http, "I moved to Antwerp.", day=9)
    return http


def decides(desk: Desk, verb: str, **fields: str) -> dict[str, Any]:
    """About the one case."""
    data = {"verb": verb, "ids": [str(Case.objects.get().pk)], **fields}
    answer = desk.client.post(ACT, data, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told | told["results"][0]


def buttons(page: str) -> list[str]:
    found = re.findall(r'<button name="verb"[^>]*><kbd>\w</kbd>([^<]+)</button>', page)
    return [each.replace("&#x27;", "'") for each in found]


def test_buttons_of_what_is_uncertain_say_what_they_do(alice: Person, moved: Caller) -> None:
    page = member(alice.workspace).sees(INBOX)

    assert "Is this still true of u1?" in page
    assert buttons(page) == [
        "Antwerp is right: swims at the harbour pool no more",
        "Still swims at the harbour pool",
    ]


def test_what_holds_no_more_ends_and_may_be_learned_again(alice: Person, moved: Caller) -> None:
    ada = member(alice.workspace)
    told = decides(ada, "approve")
    assert told["message"] == (
        "“User moved to Antwerp” is believed; “User swims at the harbour pool…” is not any more."
    )
    assert not Memory.objects.live().filter(content__contains="harbour").exists()
    assert not Rejection.objects.filter(content__contains="harbour").exists()

    told = decides(ada, "undo")
    assert told["message"].startswith("Taken back: it waits again.")
    assert memory_of(moved, "harbour")["uncertain"] is True


def test_what_still_holds_is_believed_and_asked_about_no_more(alice: Person, moved: Caller) -> None:
    told = decides(member(alice.workspace), "keep-both")
    assert "harbour pool" in told["message"]
    assert "not any more" not in told["message"]
    assert memory_of(moved, "harbour")["uncertain"] is False
    assert open_cases(moved) == []


def test_what_replaces_another_leaves_what_rests_on_it_to_a_question_of_its_own(alice: Person, http: Caller) -> None:
    tell(http, "I live in Lille.", SWIMS)
    http.patch(f"/memories/{memory_of(http, 'Lille')['id']}", {"pinned": True})
    tell(http, "I moved to Antwerp.", day=9)
    told = decides(member(alice.workspace), "approve")

    assert told["message"].startswith("“User moved to Antwerp” is believed") or told["message"].startswith(
        "“User swims"
    )
    assert "“User lives in Lille” is not any more" in told["message"]
    assert memory_of(http, "harbour")["uncertain"] is True
    [case] = open_cases(http)
    assert case["kind"] == "uncertain"


@pytest.mark.parametrize(
    ("verb", "button", "told"),
    [
        ("approve", "Antwerp is right", "Antwerp is believed; Lille is not any more."),
        ("keep-both", "Both are true", "Antwerp and Lille are believed."),
        ("reject", "Lille is right", "Lille is still believed; Antwerp is not."),
    ],
)
def test_two_values_of_one_attribute_are_named_by_the_values(
    alice: Person, pinned: Caller, verb: str, button: str, told: str
) -> None:
    ada = member(alice.workspace)
    page = ada.sees(INBOX)
    assert "Where does u1 live?" in page
    assert button in buttons(page)
    answer = decides(ada, verb)
    names = answer["message"].replace("Lille and Antwerp", "Antwerp and Lille")
    assert names == told


def test_what_was_taken_back_says_what_is_believed_meanwhile(alice: Person, pinned: Caller) -> None:
    ada = member(alice.workspace)
    decides(ada, "approve")
    told = decides(ada, "undo")
    assert told["message"] == ("Taken back: it waits again. Lille is believed; Antwerp is not any more.")


def test_the_day_is_told_with_the_answer(alice: Person, pinned: Caller) -> None:
    ada = member(alice.workspace)
    assert "Today nothing was decided yet" in ada.sees(INBOX)
    told = decides(ada, "approve")
    assert told["today"].startswith("Today 1 was decided (1 by you), 1 came")
    assert (told["waiting"], told["badge"]) == ("0", "0")


def test_several_that_rest_on_one_thing_are_decided_each_in_its_way(alice: Person, http: Caller) -> None:
    tell(http, "I live in Lille.", SWIMS, "My favourite bakery is near my flat.")
    tell(http, "I moved to Antwerp.", day=9)
    ada = member(alice.workspace)
    page = ada.sees(INBOX)
    assert buttons(page)[:2] == [
        "Antwerp is right: none of them holds any more",
        "All of them still hold",
    ]
    pool, bakery = (memory_of(http, word)["id"] for word in ("harbour", "bakery"))
    decides(ada, "decide", **{f"choice-{pool}": "end", f"choice-{bakery}": "keep"})
    assert not Memory.objects.live().filter(pk=pool).exists()
    assert memory_of(http, "bakery")["uncertain"] is False


def test_an_end_is_decided_by_programs_too(moved: Caller) -> None:
    [case] = open_cases(moved)
    pool = memory_of(moved, "harbour")["id"]
    both = moved.post(f"/cases/{case['id']}/decide", {"end": [pool], "forget": [pool]})
    assert both.status == 400
    assert moved.post(f"/cases/{case['id']}/decide", {"end": [pool]}).status == 200
    assert moved.post(f"/cases/{case['id']}/undo").status == 200
    assert memory_of(moved, "harbour")["uncertain"] is True


def test_a_viewer_and_a_stranger_end_nothing(alice: Person, mallory: Person, moved: Caller) -> None:
    case = str(Case.objects.get().pk)
    alan = member(alice.workspace, Role.VIEWER)
    assert alan.client.post(ACT, {"verb": "approve", "ids": [case]}).status_code == 403
    assert buttons(alan.sees(INBOX)) == []
    stranger = member(Workspace.objects.get(pk=mallory.workspace.pk))
    assert decides(stranger, "approve")["state"] == "gone"
    assert "harbour" not in stranger.sees(INBOX)
    assert memory_of(moved, "harbour")["uncertain"] is True
