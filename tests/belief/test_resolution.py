"""What becomes of a new statement under the rule `guarded`, from the ingest to the chain."""

from datetime import UTC, datetime, timedelta

import pytest

from memories.belief import review
from memories.ingest import NewMessage
from memories.models import AsOf, EmbeddingModel, Memory, MemorySession, Supersession, chain
from memories.search import SearchRequest, search
from tests.people import Person
from workspaces.models import Workspace

LONG_AGO = datetime(2020, 3, 1, tzinfo=UTC)


def told(alice: Person, *statements: str) -> MemorySession:
    """Each in a session of its own; the last of these."""
    return [alice.tell(statement, user_id="u") for statement in statements][-1]


def memory(content: str) -> Memory:
    return Memory.objects.get(content=content)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("Ann lives in Oslo", "Ann has moved to Bergen", "slot:residence"),
        ("Ann works at Equinor", "Ann started a new job at Statkraft", "slot:employer"),
        ("Ann likes olives", "Ann no longer likes olives", "denied"),
        ("Ann drives a Fiat", "Ann sold her Fiat", "ended:sell"),
        ("Ann is planning a trip to Malta", "Ann cancelled her trip to Malta", "ended:cancel"),
        ("The team uses MySQL", "The team switched from MySQL to Postgres", "slot:tool"),
        ("The standup is at 9:00", "The standup was moved to 10:30", "slot:standup"),
    ],
)
def test_a_newer_value_supersedes(alice: Person, old: str, new: str, rule: str) -> None:
    session = told(alice, old, new)
    assert alice.live() == [new]
    assert session.updated_ids == [memory(old).pk]
    decision = Supersession.objects.get()
    assert (decision.rule, decision.state) == (rule, "applied")
    assert memory(new).version == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann has a dog called Rex", "Ann has a cat called Tom"),
        ("Ann likes tea", "Ann likes cake"),
        ("Ann ran 5 km on Monday", "Ann ran 8 km on Monday"),
        ("Ann visited Rome in 2020", "Ann visited Rome in 2021"),
        ("Ann booked the outbound flight", "Ann booked the return flight"),
        ("Ann finished her first book", "Ann finished her second book"),
        ("Ann lives in Oslo", "Ann's sister lives in Bergen"),
        ("Ann lives in Oslo", "Ann wants to move to Bergen"),
        ("Ann lent Bo a pen", "Bo lent Ann a pen"),
    ],
)
def test_what_only_looks_alike_coexists(alice: Person, one: str, other: str) -> None:
    EmbeddingModel.objects.update(duplicate_threshold=0.4)
    told(alice, one, other)
    assert alice.live() == [one, other]
    assert not Supersession.objects.filter(state="applied").exists()


def test_the_same_in_other_words_is_support(alice: Person) -> None:
    session = told(alice, "Ann has 2 dogs", "Ann has two dogs.")
    assert (alice.live(), memory("Ann has 2 dogs").source_count) == (["Ann has 2 dogs"], 2)
    assert session.reinforced_ids == [memory("Ann has 2 dogs").pk]


def test_the_richer_text_stays_with_the_support_of_both(alice: Person) -> None:
    told(alice, "Bo works at Google", "Bo works at Google as an engineer")
    assert alice.live() == ["Bo works at Google as an engineer"]
    old, new = memory("Bo works at Google"), memory("Bo works at Google as an engineer")
    assert Supersession.objects.get().rule == "richer"
    assert (new.valid_from, new.source_count, old.valid_until) == (old.valid_from, 2, None)


def test_the_poorer_text_adds_support_only(alice: Person) -> None:
    told(alice, "Bo works at Google as an engineer", "Bo works at Google")
    assert alice.live() == ["Bo works at Google as an engineer"]


def test_the_grey_zone_goes_to_review_and_both_live(alice: Person) -> None:
    one, other = "Ann explores tasks of a tester", "Ann explores worries of a tester"
    alice.tell(one, user_id="u")
    EmbeddingModel.objects.update(duplicate_threshold=0.5)
    session = alice.tell(other, user_id="u")
    assert alice.live() == [one, other]
    decision = Supersession.objects.get()
    assert (decision.state, decision.rule, session.counts["reviewed"]) == ("pending", "near", 1)
    review.keep_both(alice.scope, decision.pk)
    assert alice.live() == [one, other]


def test_an_approved_review_replaces_the_old_one(alice: Person) -> None:
    one, other = "Ann explores tasks of a tester", "Ann explores worries of a tester"
    alice.tell(one, user_id="u")
    EmbeddingModel.objects.update(duplicate_threshold=0.5)
    alice.tell(other, user_id="u")
    review.approve(alice.scope, Supersession.objects.get().pk)
    assert (alice.live(), memory(other).version) == ([other], 2)


def test_a_pinned_memory_waits_for_a_person(alice: Person) -> None:
    alice.tell("Ann lives in Oslo", user_id="u")
    review.edit(alice.scope, memory("Ann lives in Oslo").pk, {"pinned": True})
    session = alice.tell("Ann moved to Bergen", user_id="u")
    assert (alice.live(), session.counts["held"]) == (["Ann lives in Oslo"], 1)
    decision = Supersession.objects.get()
    assert (decision.state, decision.rule) == ("pending", "pinned: slot:residence")
    assert decision.similarity is not None


def test_a_pinned_text_keeps_its_words_where_a_richer_one_comes(alice: Person) -> None:
    alice.tell("Bo works at Google", user_id="u")
    review.edit(alice.scope, memory("Bo works at Google").pk, {"pinned": True})
    alice.tell("Bo works at Google as an engineer", user_id="u")
    assert (alice.live(), memory("Bo works at Google").source_count) == (["Bo works at Google"], 2)


def test_an_older_claim_becomes_a_version_of_the_past(alice: Person) -> None:
    alice.tell("Ann lives in Bergen", user_id="u")
    alice.tell("Ann lives in Oslo", user_id="u", occurred_at=LONG_AGO)
    assert alice.live() == ["Ann lives in Bergen"]
    old, head = memory("Ann lives in Oslo"), memory("Ann lives in Bergen")
    assert (old.superseded_by_id, old.version, head.version) == (head.pk, 1, 2)
    assert Supersession.objects.get().rule == "older"
    links = chain(alice.scope, head.pk)
    assert [link.memory.content for link in links] == [old.content, head.content]
    then = SearchRequest("Ann lives", user_id="u", at=AsOf(LONG_AGO + timedelta(days=9)))
    assert [hit.memory.content for hit in search(alice.scope, then).hits] == [old.content]


def test_undoing_the_past_leaves_what_is_believed(alice: Person) -> None:
    alice.tell("Ann lives in Bergen", user_id="u")
    alice.tell("Ann lives in Oslo", user_id="u", occurred_at=LONG_AGO)
    review.undo(alice.scope, Supersession.objects.get().pk)
    assert sorted(alice.live()) == ["Ann lives in Bergen", "Ann lives in Oslo"]


def ann(person: Person, *said: str) -> list[str]:
    """What is believed after Ann said these, one after the other, in this year."""
    for each in said:
        person.say(NewMessage(f"I {each}.", name="Ann"), user_id="u")
    return person.live()


@pytest.mark.parametrize(
    ("old", "late"),
    [
        ("live in Bergen", "moved to Oslo in 2015"),
        ("moved to Bergen in 2020", "moved to Oslo in 2015"),
        ("moved to Bergen in 2020", "moved to Oslo in 2019"),
        ("moved to Bergen in June 2020", "moved to Oslo in May 2020"),
        ("work at Equinor", "started at Statkraft in 2010"),
    ],
)
def test_a_change_of_long_ago_that_is_told_late_is_a_version_of_the_past(alice: Person, old: str, late: str) -> None:
    [head] = ann(alice, old)
    assert ann(alice, late) == [head]
    past, head_row = memory(f"Ann {late}"), memory(head)
    assert (past.superseded_by_id, past.version) == (head_row.pk, 1)
    assert past.valid_until == head_row.valid_from


@pytest.mark.parametrize(
    ("old", "late"),
    [
        ("live in Bergen", "moved to Oslo last week"),
        ("live in Bergen", "live in Oslo since 2015"),
        ("moved to Bergen in 2012", "moved to Oslo in 2015"),
        ("moved to Bergen in May 2015", "moved to Oslo in 2015"),
    ],
)
def test_a_change_that_may_be_newer_replaces(alice: Person, old: str, late: str) -> None:
    assert len(ann(alice, old, late)) == 1
    assert "Oslo" in alice.live()[0]


def test_undo_restores(alice: Person) -> None:
    told(alice, "Ann lives in Oslo", "Ann moved to Bergen")
    review.undo(alice.scope, Supersession.objects.get().pk)
    assert alice.live() == ["Ann lives in Oslo"]


def test_one_statement_ends_all_that_it_ends_and_undo_gives_back_one(alice: Person) -> None:
    told(alice, "Ann drives a Fiat", "Ann owns a red Fiat", "Ann sold her Fiat")
    assert alice.live() == ["Ann sold her Fiat"]
    first, second = Supersession.objects.order_by("old_id")
    review.undo(alice.scope, first.pk)
    assert sorted(alice.live()) == ["Ann drives a Fiat", "Ann sold her Fiat"]
    review.undo(alice.scope, second.pk)
    assert sorted(alice.live()) == ["Ann drives a Fiat", "Ann owns a red Fiat"]


def test_the_same_words_of_another_day_are_another_event(alice: Person) -> None:
    for day in (3, 17):
        said_at = datetime(2026, 3, day, tzinfo=UTC)
        message = NewMessage("I went to the dentist yesterday.", name="Ann", created_at=said_at)
        alice.say(message, user_id="u")
    assert sorted(m.event_date.day for m in Memory.objects.all() if m.event_date) == [2, 16]


def test_changes_within_one_request_end_in_one_chain(alice: Person) -> None:
    homes = [f"Ann lives in {town}" for town in ("Oslo", "Bergen", "Tromso")]
    alice.say(*homes, extract="none", user_id="u")
    assert alice.live() == homes[-1:]
    assert [m.version for m in Memory.objects.order_by("version")] == [1, 2, 3]


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"user_id": "v"},
        {"user_id": "u", "scope": "thread", "thread_id": "t"},
        {"user_id": "u", "scope": "workflow", "workflow_id": "w"},
        {"user_id": "u", "visibility": "global"},
        {"user_id": "u", "agent_id": "helper"},
    ],
)
def test_attributes_of_other_places_never_meet(alice: Person, elsewhere: dict[str, str]) -> None:
    alice.tell("Ann lives in Oslo", user_id="u")
    alice.tell("Ann moved to Bergen", **elsewhere)
    assert alice.live() == ["Ann lives in Oslo", "Ann moved to Bergen"]


def test_a_team_holds_one_value_and_private_ones_stand_beside_it(alice: Person, bob: Person, carol: Person) -> None:
    bob.tell("The team uses MySQL", user_id="u", visibility="team")
    carol.tell("The team uses MySQL", user_id="u", visibility="team")
    bob.tell("The team uses MySQL", user_id="u", visibility="private")
    alice.tell("The team switched from MySQL to Postgres", user_id="u", visibility="team")
    ended = Memory.objects.get(superseded_by__isnull=False)
    assert (ended.agent_id, ended.visibility) == (bob.scope.agent_id, "team")


def test_the_old_value_is_found_without_any_vector(alice: Person) -> None:
    EmbeddingModel.objects.update(duplicate_threshold=1.5)
    told(alice, "Ann resides in Oslo", "Ann relocated to Bergen")
    told(alice, "Ann owns a red canoe with two seats", "Ann sold her canoe")
    assert alice.live() == ["Ann relocated to Bergen", "Ann sold her canoe"]


def test_an_edit_gives_the_memory_the_attributes_of_its_new_words(alice: Person) -> None:
    edited = alice.note("Ann likes Oslo", user_id="u")
    review.edit(alice.scope, edited.pk, {"content": "Ann lives in Oslo"})
    alice.note("Ann moved to Bergen", user_id="u")
    assert alice.live() == ["Ann moved to Bergen"]


def test_a_workspace_chooses_the_rule(alice: Person) -> None:
    Workspace.objects.update(settings={"conflictRule": "nearest"})
    told(alice, "Ann lives in Oslo", "Ann moved to Bergen")
    assert alice.live() == ["Ann lives in Oslo", "Ann moved to Bergen"]


@pytest.mark.parametrize("year", [1, 9999])
def test_what_was_said_at_an_end_of_the_calendar_is_compared_too(alice: Person, year: int) -> None:
    end = datetime(year, 12 if year > 1 else 1, 31 if year > 1 else 1, 23, 59, 59, tzinfo=UTC)
    alice.tell("Ann lives in Oslo", user_id="u")
    alice.tell("Ann lives in Rome", user_id="u", occurred_at=end)
    assert alice.live() == ["Ann lives in Rome" if year > 1 else "Ann lives in Oslo"]
