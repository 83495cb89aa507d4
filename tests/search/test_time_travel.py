"""What was believed, and true, at any instant equals a replay of the history by hand."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from memories import search
from memories.belief import review
from memories.belief.review import forget
from memories.models import AsOf, EmbeddingModel, Memory, Supersession
from memories.profiles.profile import ProfileOptions, profile
from memories.search import SearchRequest, filters
from memories.search.context import context
from tests.api_fixtures import caller
from tests.people import Person

GREEN, BLUE = "The orchard gate is painted green", "The orchard gate is painted blue"
MARCH, MAY, JULY = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 5, 7))


@pytest.fixture
def repainted(alice: Person) -> None:
    """Green since March; in May it became blue."""
    alice.tell("Something that makes the embedding model known.", user_id="nobody")
    EmbeddingModel.objects.update(duplicate_threshold=0.6)
    alice.tell(GREEN, user_id="u", occurred_at=MARCH)
    alice.tell(BLUE, user_id="u", occurred_at=MAY)


@pytest.mark.parametrize("ranking", ["hybrid", "linea", "vector", "keyword"])
def test_an_earlier_time_has_the_earlier_truth(alice: Person, repainted: None, ranking: str) -> None:
    def found(at: datetime) -> list[str]:
        return alice.finds("orchard gate", user_id="u", at=AsOf(valid_at=at), ranking=ranking)

    assert found(MARCH + timedelta(days=3)) == [GREEN]
    assert found(JULY) == [BLUE]
    assert found(MARCH - timedelta(days=3)) == []


def test_before_we_were_told_we_believed_otherwise(alice: Person, repainted: None) -> None:
    told = Memory.objects.get(content=BLUE).periods.get().from_at
    before = AsOf(known_at=told - timedelta(microseconds=1))
    assert alice.finds("orchard gate", user_id="u", at=before) == [GREEN]
    then = AsOf(valid_at=JULY, known_at=before.known_at)
    assert alice.finds("orchard gate", user_id="u", at=then) == [GREEN]


def test_a_correction_leaves_no_earlier_truth(alice: Person) -> None:
    wrong = alice.note(GREEN)
    review.edit(alice.scope, wrong.pk, {"content": BLUE})
    assert alice.finds("orchard gate", at=AsOf(valid_at=timezone.now())) == [BLUE]


def test_the_profile_travels_too(alice: Person, repainted: None) -> None:
    subject = Memory.objects.get(content=GREEN).subject_id
    assert subject is not None
    groups = profile(alice.scope, ProfileOptions(subject, AsOf(valid_at=MARCH))).groups
    assert [memory.content for memory in groups["facts"]] == [GREEN]


@pytest.mark.parametrize("seed", range(4))
def test_belief_at_any_instant_equals_a_replay(alice: Person, seed: int) -> None:
    chance, history = random.Random(seed), []
    for step in range(25):
        _act(alice, chance, step)
        history.append((timezone.now(), set(alice.live())))
    for instant, live in history:
        seen = Memory.objects.visible_to(alice.scope)
        at = AsOf(known_at=instant)
        then = seen.believed(alice.workspace.pk, at)
        assert set(then.values_list("content", flat=True)) == live
        assert set(alice.finds("note of this story", at=at, limit=100)) == live
        assert _told(alice, at) == live


def _told(alice: Person, at: AsOf) -> set[str]:
    """All that the profile says."""
    subject = Memory.objects.filter(subject__external_id="u").first()
    assert subject is not None
    assert subject.subject_id is not None
    groups = profile(alice.scope, ProfileOptions(subject.subject_id, at)).groups
    return {memory.content for group in groups.values() for memory in group}


def _act(alice: Person, chance: random.Random, step: int) -> None:
    """Something random that is possible now."""
    live = list(Memory.objects.live())
    gone = list(Memory.objects.filter(forgotten_at__isnull=False, superseded_by=None))
    decided = list(Supersession.objects.filter(state="applied", new__superseded_by=None))
    acts = ["note"] + ["edit", "forget"] * bool(live) + ["restore"] * bool(gone)
    match chance.choice(acts + ["undo"] * bool(decided)):
        case "note":
            alice.note(f"Note number {step} of this story", user_id="u")
        case "edit":
            changes = {"content": f"Edited at step {step}"}
            review.edit(alice.scope, chance.choice(live).pk, changes)
        case "forget":
            forget(alice.scope, chance.choice(live).pk)
        case "restore":
            review.restore(alice.scope, chance.choice(gone).pk)
        case "undo":
            review.undo(alice.scope, chance.choice(decided).pk)


def _as_listed(person: Person, known_at: datetime, user: str = "u") -> list[dict[str, Any]]:
    """The memories that a list, a search and a profile tell of that instant."""
    http, at = caller(person), known_at.isoformat()
    listed = http.get("/memories", knownAt=at, userId=user).body["results"]
    body = {"query": "orchard gate", "knownAt": at, "userId": user, "layers": ["memories"]}
    found = [hit["memory"] for hit in http.post("/memories/search", body).body["results"]]
    profile = http.get("/memories/profile", knownAt=at, userId=user).body
    return [*listed, *found, *profile["facts"], *profile["profile"]]


def test_a_belief_is_told_as_it_was_known_then(alice: Person, repainted: None) -> None:
    told = Memory.objects.get(content=BLUE).periods.get().from_at
    ends = ("isLatest", "supersededById", "validUntil")
    for memory in _as_listed(alice, told - timedelta(microseconds=1)):
        assert [memory["content"], *(memory[name] for name in ends)] == [GREEN, True, None, None]


@pytest.fixture
def moved(alice: Person) -> datetime:
    """Una moved from Rome to Berlin in May, and told so after the instant."""
    alice.say("I live in Rome.", user_id="una", occurred_at=MARCH)
    before = timezone.now()
    alice.say("I live in Rome.", user_id="una", metadata={"later": True})
    alice.say("I moved to Berlin.", user_id="una", occurred_at=MAY)
    return before


@pytest.mark.parametrize(
    ("field", "op", "value", "fits"),
    [
        ("validUntil", "exists", False, True),
        ("validUntil", "exists", True, False),
        ("validUntil", "lt", "2026-06-01", False),
        ("sourceCount", "eq", 1, True),
        ("sourceCount", "gt", 1, False),
        ("updatedAt", "gt", None, False),
        ("updatedAt", "lte", None, True),
        ("metadata.later", "exists", True, False),
        ("metadata.later", "exists", False, True),
    ],
)
def test_a_filter_reads_what_was_known_then(
    alice: Person, moved: datetime, field: str, op: str, value: Any, *, fits: bool
) -> None:
    wanted = {"field": field, "op": op, "value": moved.isoformat() if value is None else value}
    wish: dict[str, Any] = {"at": AsOf(known_at=moved), "user_id": "una"}
    (rome,) = alice.finds("Rome", **wish)
    found = alice.finds("Rome", filter=filters.parse(wanted, ("memories",)), **wish)
    assert found == ([rome] if fits else [])


def test_support_and_changes_are_told_as_they_were_known_then(alice: Person, moved: datetime) -> None:
    told = _as_listed(alice, moved, "una")
    assert [memory["sourceCount"] for memory in told] == [1] * 3
    assert [memory["validUntil"] for memory in told] == [None] * 3
    assert all(memory["createdAt"] <= memory["updatedAt"] for memory in told)
    assert all(datetime.fromisoformat(memory["updatedAt"]) <= moved for memory in told)
    rome = Memory.objects.exclude(superseded_by=None).get()
    assert (rome.source_count, rome.valid_until) == (2, MAY)


def test_support_that_a_corrected_version_inherited_is_told_of_then_too(alice: Person) -> None:
    alice.say("I live in Rome.", user_id="una")
    review.edit(alice.scope, Memory.objects.get().pk, {"content": "Una lives in Milan"})
    then, today = (AsOf(known_at=timezone.now()), AsOf())
    told = [alice.ask("Milan", user_id="una", at=at)[0].memory for at in (then, today)]
    assert told[0].known_source_count == told[1].source_count == 1


def test_what_was_forgotten_later_was_not_forgotten_then(alice: Person) -> None:
    noted = alice.note(GREEN, user_id="u", fact_type="fact")
    before = timezone.now()
    forget(alice.scope, noted.pk, "outdated")
    told = [(m["forgottenAt"], m["forgetReason"]) for m in _as_listed(alice, before)]
    assert told == [(None, None)] * 3


def test_a_chain_is_told_as_it_was_known_then(alice: Person, repainted: None) -> None:
    blue = Memory.objects.get(content=BLUE)
    then = (blue.periods.get().from_at - timedelta(microseconds=1)).isoformat()
    http = caller(alice)
    body = {"query": "orchard gate", "knownAt": then, "userId": "u", "include": ["chain"], "layers": ["memories"]}
    (hit,) = http.post("/memories/search", body).body["results"]
    asked = http.get(f"/memories/{blue.pk}/chain", knownAt=then).body["results"]
    assert hit["chain"] == asked
    ((memory, decision),) = [(link["memory"], link["supersession"]) for link in asked]
    assert (memory["content"], memory["isLatest"], decision) == (GREEN, True, None)
    today = http.get(f"/memories/{blue.pk}/chain").body["results"]
    assert [link["memory"]["content"] for link in today] == [GREEN, BLUE]


def test_what_was_held_for_a_person_is_in_no_chain_of_before(alice: Person) -> None:
    pinned = alice.note("My dog is called Rex", user_id="u", fact_type="fact")
    review.edit(alice.scope, pinned.pk, {"pinned": True})
    alice.say("My dog is called Bruno.", user_id="u")
    held, before = Supersession.objects.get(), timezone.now()
    review.approve(alice.scope, held.pk)
    path, then = f"/memories/{pinned.pk}/chain", before.isoformat()
    links = caller(alice).get(path, knownAt=then).body["results"]
    assert [link["memory"]["content"] for link in links] == ["My dog is called Rex"]


def test_words_that_came_later_are_not_cited(alice: Person) -> None:
    alice.say("I moved to Lisbon.", user_id="u")
    before = timezone.now()
    alice.say("I moved to Lisbon.", user_id="u")
    wish: dict[str, Any] = {"user_id": "u", "include": frozenset({"citations"})}
    (then,) = alice.ask("Lisbon", at=AsOf(known_at=before), **wish)
    (today,) = alice.ask("Lisbon", **wish)
    assert [len(hit.citations or ()) for hit in (then, today)] == [1, 2]


OPENS, CLOSES = "The harbour opens at nine.", "The harbour closes at ten."


def _beside(person: Person, at: AsOf) -> list[dict[str, list[str]]]:
    """The neighbours of each message about the harbour, in a search and in a context."""
    include = frozenset({"neighbours"})
    wish = SearchRequest("harbour", at=at, layers=("episodes",), include=include)
    told = search.search(person.scope, wish).hits, context(person.scope, wish).hits
    return [{h.row.content: [n.content for n in h.neighbours or ()] for h in hits} for hits in told]


def test_a_message_that_came_later_is_no_neighbour_of_before(alice: Person) -> None:
    alice.tell(OPENS, thread_id="t")
    before = timezone.now()
    alice.tell(CLOSES, thread_id="t")
    assert _beside(alice, AsOf(known_at=before)) == [{OPENS: []}] * 2
    both = {OPENS: [CLOSES], CLOSES: [OPENS]}
    assert _beside(alice, AsOf(known_at=timezone.now())) == [both] * 2


def test_what_was_said_later_is_no_neighbour_of_before(alice: Person) -> None:
    alice.tell(OPENS, thread_id="t", occurred_at=MARCH)
    alice.tell(CLOSES, thread_id="t", occurred_at=JULY)
    assert _beside(alice, AsOf(valid_at=MAY)) == [{OPENS: []}] * 2
    both = {OPENS: [CLOSES], CLOSES: [OPENS]}
    assert _beside(alice, AsOf(valid_at=JULY)) == [both] * 2


# an end that is told later, and one that is taken back


def ends(alice: Person, word: str, **at: str) -> list[str | None]:
    """Over HTTP: until when what holds the word is true, of what is believed."""
    rows = caller(alice).get("/memories", userId="ada", **at).body["results"]
    return [row["validUntil"] and row["validUntil"][:10] for row in rows if word in row["content"]]


def test_an_end_that_is_set_later_is_not_known_before(alice: Person) -> None:
    http = caller(alice)
    note = {"content": "The shed is let to Otto", "userId": "ada", "validFrom": "2026-01-01"}
    made = http.post("/memories", note | {"validFrom": "2026-01-01T00:00:00Z"}).body
    then = timezone.now().isoformat()
    changed = http.patch(f"/memories/{made['id']}", {"validUntil": "2026-03-01T00:00:00Z"})
    assert changed.status == 200
    later = "2026-05-01T00:00:00Z"
    assert ends(alice, "Otto", knownAt=then) == [None]
    assert ends(alice, "Otto", knownAt=then, validAt=later) == [None]
    assert ends(alice, "Otto", validAt=later) == []
    assert ends(alice, "Otto", validAt="2026-02-01T00:00:00Z") == ["2026-03-01"]
    asked = {"query": "Who is the shed let to?", "userId": "ada", "validAt": later}
    assert http.post("/memories/search", asked | {"knownAt": then}).body["count"] == 1
    assert http.post("/memories/search", asked).body["count"] == 0


DAY = (timezone.now() + timedelta(days=120)).strftime("%d %B %Y")
AFTER = (timezone.now() + timedelta(days=150)).isoformat()


@pytest.fixture
def planned(alice: Person) -> str:
    """The id of a plan that ends what is so today."""
    alice.say("I work at Nokia.", user_id="ada", thread_id="talk")
    alice.say(f"I will start at Ericsson on {DAY}.", user_id="ada", thread_id="talk")
    rows = caller(alice).get("/memories", userId="ada").body["results"]
    assert [bool(end) for end in ends(alice, "Nokia")] == [True]
    return str(next(row["id"] for row in rows if "Ericsson" in row["content"]))


def test_a_plan_that_is_taken_back_leaves_what_it_would_have_ended(alice: Person, planned: str) -> None:
    http = caller(alice)
    assert ends(alice, "Nokia", validAt=AFTER) == []
    http.delete(f"/memories/{planned}", reason="wrong")
    assert ends(alice, "Nokia") == [None]
    assert ends(alice, "Nokia", validAt=AFTER) == [None]
    assert http.post(f"/memories/{planned}/restore").status == 200
    assert [bool(end) for end in ends(alice, "Nokia")] == [True]


def test_a_plan_that_is_called_off_in_words_ends_nothing(alice: Person, planned: str) -> None:
    alice.say("I won't start at Ericsson after all.", user_id="ada", thread_id="talk")
    assert ends(alice, "Nokia") == [None]


def test_a_plan_that_is_put_off_moves_the_end(alice: Person, planned: str) -> None:
    later = timezone.now() + timedelta(days=200)
    said = f"I will start at Ericsson on {later.strftime('%d %B %Y')}."
    alice.say(said, user_id="ada", thread_id="talk")
    assert ends(alice, "Nokia") == [later.strftime("%Y-%m-%d")]
