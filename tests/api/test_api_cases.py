"""Cases over HTTP: read, decided as one, taken back, put off, given to somebody."""

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from memories.belief import resolve
from memories.models import Case, Fact, Memory, Rejection, Supersession
from tests.api_fixtures import Caller, caller
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.models import AuditEntry


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def case(http: Caller) -> str:
    """Oslo is pinned; Bergen and Rome wait to take its place."""
    tell(http, "I live in Oslo.")
    for memory in http.get("/memories").body["results"]:
        http.patch(f"/memories/{memory['id']}", {"pinned": True})
    tell(http, "I live in Bergen.")
    tell(http, "I live in Rome.")
    [found] = http.get("/cases", state="open", userId="u1").body["results"]
    return f"/cases/{found['id']}"


def tell(http: Caller, content: str) -> None:
    said = [{"role": "user", "content": content, "createdAt": "2026-03-01T10:00:00Z"}]
    http.post("/memories/ingest", {"messages": said, "userId": "u1"})


def of(http: Caller, case: str) -> dict[str, str]:
    """Place to memory id."""
    contents = {i["memory"]["content"]: i["memory"]["id"] for i in http.get(case).body["items"]}
    return {text.split()[-1].strip("."): row for text, row in contents.items()}


def lives(http: Caller) -> list[str]:
    return sorted(text.split()[-1].strip(".") for text in http.get("/memories").contents())


def test_a_case_tells_what_was_said_when_and_why_it_asks(http: Caller, case: str) -> None:
    found = http.get(case).body
    assert (found["kind"], found["attribute"], found["label"]) == ("held", "residence", "lives in")
    assert 0 < found["risk"] <= 1
    quotes = [item["quotes"][0]["quote"] for item in found["items"]]
    assert sorted(quotes) == ["I live in Bergen.", "I live in Oslo.", "I live in Rome."]
    assert found["items"][0]["quotes"][0]["occurredAt"].startswith("2026-03-01")
    assert {item["why"] for item in found["items"]} == {"the old one is pinned · lives in: one at a time"}


def test_siblings_are_decided_together(http: Caller, case: str) -> None:
    ids = of(http, case)
    chosen = {"replace": [{"old": ids["Oslo"], "new": ids["Rome"]}], "forget": [ids["Bergen"]]}
    answer = http.post(f"{case}/decide", {**chosen, "note": "she said so"})
    assert (answer.status, answer.body["state"], answer.body["note"]) == (
        200,
        "decided",
        "she said so",
    )
    assert lives(http) == ["Rome"]
    assert not Supersession.objects.filter(state="pending").exists()
    shown = http.get("/supersessions", state="applied").body["results"]
    assert [row["new"]["id"] for row in shown] == [ids["Rome"]]
    assert [row.content for row in Rejection.objects.all()] == [Memory.objects.get(pk=ids["Bergen"]).content]


def test_a_chain_of_moves_is_decided_at_once_and_forbids_nothing(http: Caller, case: str) -> None:
    ids = of(http, case)
    moves = [(ids["Oslo"], ids["Bergen"]), (ids["Bergen"], ids["Rome"])]
    chosen = {"replace": [{"old": old, "new": new} for old, new in moves]}
    assert http.post(f"{case}/decide", chosen).status == 200
    assert lives(http) == ["Rome"]
    assert len(http.get(f"/memories/{ids['Rome']}/chain").body["results"]) == 3
    assert not Rejection.objects.exists()


def test_all_are_kept(http: Caller, case: str) -> None:
    assert http.post(f"{case}/decide", {"keep": list(of(http, case).values())}).status == 200
    assert lives(http) == ["Bergen", "Oslo", "Rome"]


def test_in_other_words(http: Caller, case: str) -> None:
    ids = of(http, case)
    chosen: dict[str, Any] = {
        "forget": [ids["Oslo"], ids["Bergen"]],
        "edit": {"memoryId": ids["Rome"], "content": "User lives in Roma"},
    }
    assert http.post(f"{case}/decide", chosen).status == 200
    assert lives(http) == ["Roma"]


WAYS: list[tuple[dict[str, list[str]], list[tuple[str, str]]]] = [
    ({"keep": ["Oslo", "Bergen", "Rome"]}, []),
    ({"forget": ["Oslo", "Bergen"], "keep": ["Rome"]}, []),
    ({"forget": ["Bergen"]}, [("Oslo", "Rome")]),
    ({}, [("Oslo", "Bergen"), ("Bergen", "Rome")]),
    ({"forget": ["Bergen"]}, [("Rome", "Oslo")]),
]


@pytest.mark.parametrize(("named", "moves"), WAYS)
def test_a_decision_is_taken_back_whole(
    http: Caller, case: str, named: dict[str, list[str]], moves: list[tuple[str, str]]
) -> None:
    columns = ("content", "version", "pinned", "is_head", "forgotten_at", "superseded_by_id")
    before = sorted(Memory.objects.values_list(*columns))
    pairs = sorted(Supersession.objects.values_list("old", "new", "state"))
    ids = of(http, case)
    chosen: dict[str, Any] = {name: [ids[place] for place in own] for name, own in named.items()}
    chosen["replace"] = [{"old": ids[old], "new": ids[new]} for old, new in moves]
    assert http.post(f"{case}/decide", chosen).status == 200
    answer = http.post(f"{case}/undo")
    assert (answer.status, answer.body["state"]) == (200, "open")
    assert sorted(Memory.objects.values_list(*columns)) == before
    waiting = Supersession.objects.exclude(state="undone")
    assert sorted(waiting.values_list("old", "new", "state")) == pairs
    assert not Rejection.objects.exists()
    acts = AuditEntry.objects.filter(target_kind="case").order_by("pk")
    assert list(acts.values_list("action", flat=True)) == ["decide", "undo"]


def test_an_edit_in_a_case_is_taken_back(http: Caller, case: str) -> None:
    ids = of(http, case)
    chosen = {
        "replace": [{"old": ids["Oslo"], "new": ids["Rome"]}],
        "forget": [ids["Bergen"]],
        "edit": {"memoryId": ids["Rome"], "content": "User lives in Roma"},
    }
    http.post(f"{case}/decide", chosen)
    assert http.post(f"{case}/undo").status == 200
    assert lives(http) == ["Oslo"]


def test_what_is_held_back_has_to_be_named(http: Caller, case: str) -> None:
    answer = http.post(f"{case}/decide", {"keep": [of(http, case)["Rome"]]})
    assert (answer.status, answer.body["errors"][0]["code"]) == (400, "left")
    assert lives(http) == ["Oslo"]  # nothing of it was done


def test_what_is_not_of_the_case_is_refused(http: Caller, case: str) -> None:
    other = http.post("/memories", {"content": "The gate is green."}).body["id"]
    answer = http.post(f"{case}/decide", {"forget": [other]})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "forget[0]")


def test_a_case_is_decided_once(http: Caller, case: str) -> None:
    everything = {"keep": list(of(http, case).values())}
    http.post(f"{case}/decide", everything)
    answer = http.post(f"{case}/decide", everything)
    assert (answer.status, "decided it meanwhile" in answer.body["detail"]) == (409, True)


def test_who_read_an_older_version_hears_what_came(http: Caller, case: str) -> None:
    found = http.get(case).body
    tell(http, "I live in Lima.")
    chosen = {"keep": list(of(http, case).values()), "version": found["version"]}
    answer = http.post(f"{case}/decide", chosen)
    assert (answer.status, answer.body["errors"][0]["field"]) == (409, "version")


def test_what_ended_meanwhile_is_a_conflict(http: Caller, case: str) -> None:
    ids = of(http, case)
    http.delete(f"/memories/{ids['Rome']}")
    answer = http.post(f"{case}/decide", {"keep": list(ids.values())})
    assert (answer.status, "forgotten meanwhile" in answer.body["detail"]) == (409, True)


def test_a_case_closes_when_its_pairs_are_decided_one_by_one(http: Caller, case: str) -> None:
    for row in http.get("/supersessions", state="pending").body["results"]:
        assert http.get(case).body["state"] == "open"
        http.post(f"/supersessions/{row['id']}/reject")
    assert http.get(case).body["state"] == "decided"
    answer = http.post(f"{case}/undo")
    assert answer.status == 409
    http.post(f"/supersessions/{row['id']}/reopen")
    assert len(http.get("/cases", state="open").body["results"]) == 1


def test_a_case_is_put_off_and_woken(http: Caller, case: str) -> None:
    answer = http.post(f"{case}/snooze", {"until": "2099-01-01T00:00:00Z"})
    assert (answer.body["state"], http.get("/cases", state="open").body["results"]) == (
        "snoozed",
        [],
    )
    assert http.post(f"{case}/snooze", {"until": "2001-01-01T00:00:00Z"}).status == 400
    assert http.post(f"{case}/snooze", {"until": None}).body["state"] == "open"


def test_a_case_is_given_to_a_member(http: Caller, case: str, alice: Person) -> None:
    member = str(MembershipFactory(workspace=alice.workspace, role="editor").pk)
    assert http.post(f"{case}/assign", {"assignee": member}).body["assignee"] == member
    assert len(http.get("/cases", assignee=member).body["results"]) == 1
    stranger = str(MembershipFactory(role="editor").pk)
    assert http.post(f"{case}/assign", {"assignee": stranger}).status == 400
    assert http.post(f"{case}/assign", {"assignee": None}).body["assignee"] is None


def test_pages_go_by_risk(http: Caller, case: str) -> None:
    for place, risk in enumerate((0.9, 0.1, 0.5)):
        base = Case.objects.get(pk=case.rpartition("/")[2])
        extra = Case.objects.create(
            workspace=base.workspace,
            attribute=f"a{place}",
            topic=base.topic,
            kind="held",
            risk=risk,
            rank=base.rank + 1 + risk,
        )
        assert extra.pk
    first = http.get("/cases", limit="2").body
    rest = http.get("/cases", limit="2", cursor=first["next"]).body
    names = [row["attribute"] for row in first["results"] + rest["results"]]
    assert (names, rest["next"]) == (["a0", "a2", "a1", "residence"], None)
    assert http.get("/cases", limit="2", cursor=rest["previous"]).body["results"] == first["results"]


def test_only_who_sees_all_of_it_sees_a_case(http: Caller, case: str, bob: Person, mallory: Person) -> None:
    assert http.get(case).status == 200
    everything = {"keep": list(of(http, case).values())}
    for person in (bob, mallory):
        stranger = caller(person)
        assert stranger.get("/cases").body["results"] == []
        assert stranger.get(case).status == 404
        assert stranger.post(f"{case}/decide", everything).status == 404
        assert stranger.post(f"{case}/undo").status == 404
        assert stranger.post(f"{case}/snooze", {"until": None}).status == 404
        assert stranger.post(f"{case}/assign", {"assignee": None}).status == 404
    Memory.objects.update(visibility="global")
    assert caller(bob).get(case).status == 200
    assert caller(mallory).get(case).status == 404


@pytest.fixture
def doubted(http: Caller, alice: Person) -> str:
    """Two claims without evidence about one thing wait in a case beside what is believed."""
    session = alice.say("I live in Oslo.", user_id="u1")
    claims = [
        resolve.Claim(
            statement=f"User lives in {place}",
            category="identity",
            fact_type="profile",
            visibility="private",
            method="llm",
            rule="",
            source="extracted",
            occurred_at=timezone.now(),
        )
        for place in ("Lima", "Quito")
    ]
    with transaction.atomic():
        doubts = [(claim, "no evidence") for claim in claims]
        resolve.quarantine(resolve.placement_of(session, claims), doubts, session.pk)
    return f"/cases/{Case.objects.get().pk}"


def facts_of(http: Caller, case: str) -> dict[str, str]:
    """Place to fact id."""
    facts = [item["fact"] for item in http.get(case).body["items"] if item["fact"]]
    return {fact["statement"].split()[-1]: fact["id"] for fact in facts}


def test_facts_are_accepted_and_dismissed_and_wait_again(http: Caller, doubted: str) -> None:
    assert http.get(doubted).body["kind"] == "quarantine"
    ids = facts_of(http, doubted)
    before = sorted(Fact.objects.values_list("statement", "quarantine_reason"))
    answer = http.post(f"{doubted}/decide", {"accept": [ids["Lima"]], "dismiss": [ids["Quito"]]})
    assert (answer.status, answer.body["state"]) == (200, "decided")
    assert "Lima" in lives(http)
    assert not Fact.objects.filter(quarantined_at__isnull=False).exists()
    answer = http.post(f"{doubted}/undo")
    assert (answer.status, answer.body["state"]) == (200, "open")
    assert lives(http) == ["Oslo"]
    assert sorted(facts_of(http, doubted)) == ["Lima", "Quito"]
    assert Fact.objects.filter(quarantined_at__isnull=False).count() == 2
    assert sorted(Fact.objects.values_list("statement", "quarantine_reason")) == before


def test_every_fact_that_waits_has_to_be_named(http: Caller, doubted: str) -> None:
    ids = facts_of(http, doubted)
    answer = http.post(f"{doubted}/decide", {"accept": [ids["Lima"]]})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "accept")
    assert lives(http) == ["Oslo"]
    both = {"accept": [ids["Lima"]], "dismiss": [ids["Lima"], ids["Quito"]]}
    assert http.post(f"{doubted}/decide", both).status == 400


def test_a_fact_that_somebody_decided_meanwhile_is_a_conflict(http: Caller, doubted: str) -> None:
    ids = facts_of(http, doubted)
    http.post(f"/facts/{ids['Quito']}/dismiss")
    answer = http.post(f"{doubted}/decide", {"accept": [ids["Lima"]], "dismiss": [ids["Quito"]]})
    assert (answer.status, "meanwhile" in answer.body["detail"]) == (409, True)
    assert lives(http) == ["Oslo"]
    assert http.post(f"{doubted}/decide", {"dismiss": [ids["Lima"]]}).status == 200


def test_an_accepted_fact_that_says_what_is_believed_is_taken_back(http: Caller, alice: Person, doubted: str) -> None:
    alice.say("I live in Lima.", user_id="u1")
    ids = facts_of(http, doubted)
    before, support = lives(http), sorted(Memory.objects.values_list("content", "source_count"))
    http.post(f"{doubted}/decide", {"accept": [ids["Lima"]], "dismiss": [ids["Quito"]]})
    assert http.post(f"{doubted}/undo").status == 200
    assert lives(http) == before
    assert sorted(Memory.objects.values_list("content", "source_count")) == support
