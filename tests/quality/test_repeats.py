"""Repeats: what several agents keep saying, counted, and told to those who may see it."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from memories.belief import review
from memories.language.english import find_claims, gatekeeper
from memories.models import Memory
from memories.quality.repeated_statements import Repeat, RepeatQuery, repeats
from tests.api_fixtures import Caller, caller
from tests.desk import desk_of, member
from tests.factories import UserFactory
from tests.people import Person, bound_to_agent
from workspaces.models import Workspace

CHECKS = "Reviews ask for null checks before every dereference"


@pytest.fixture
def dora(workspace: Workspace) -> Person:
    """An agent of Bob's team."""
    return bound_to_agent(workspace, "dora")


def told(person: Person, query: RepeatQuery | None = None) -> list[Repeat]:
    return repeats(person.scope, query or RepeatQuery())


def test_the_same_words_of_two_agents_are_counted_by_agent_and_session(
    alice: Person, bob: Person, dora: Person
) -> None:
    bob.tell(CHECKS, visibility="team")
    bob.tell(CHECKS.upper(), visibility="team")
    dora.tell(CHECKS, visibility="team")
    [repeat] = told(alice)
    assert (repeat.statement, repeat.count, repeat.sessions) == (CHECKS, 3, 3)
    shares = [(share.agent_id, share.count, share.sessions) for share in repeat.agents]
    assert shares == [("bob", 2, 2), ("dora", 1, 1)]


def test_private_memories_of_several_agents_meet_for_who_sees_them_all(
    alice: Person, bob: Person, carol: Person
) -> None:
    bob.tell(CHECKS)
    carol.tell(CHECKS)
    assert [len(repeat.agents) for repeat in told(alice)] == [2]
    assert told(bob) == told(carol) == []
    [own] = told(bob, RepeatQuery(min_agents=1, min_count=1))
    assert [share.agent_id for share in own.agents] == ["bob"]


def test_the_same_meaning_in_other_words_is_one_repeat(alice: Person, bob: Person, carol: Person) -> None:
    bob.tell("Reviewers want null checks before each pointer dereference.")
    carol.tell("Reviewers want null checks before any pointer dereference!")
    [repeat] = told(alice)
    assert (repeat.count, len(repeat.memory_ids)) == (2, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We deploy to production on Fridays", "We never deploy to production on Fridays"),
        ("Requests time out after 30 seconds", "Requests time out after 60 seconds"),
        ("The backend talks to Redis", "The backend talks to Kafka"),
    ],
)
def test_statements_that_differ_in_what_matters_are_no_repeat(
    alice: Person, bob: Person, carol: Person, one: str, other: str
) -> None:
    bob.tell(one)
    carol.tell(other)
    assert told(alice) == []


def test_what_one_agent_says_in_several_sessions_is_a_repeat(alice: Person, bob: Person) -> None:
    bob.tell("Reviews here ask to add null checks before using the user object")
    assert told(alice) == []
    bob.tell("Reviews here ask to add null checks before using the order object")
    [repeat] = told(alice)
    assert (repeat.count, repeat.sessions, len(repeat.agents)) == (2, 2, 1)
    assert told(alice, RepeatQuery(min_agents=2)) == []


def test_a_longer_wording_of_the_same_advice_is_one_repeat(alice: Person, bob: Person, carol: Person) -> None:
    bob.tell("Should add null check")
    carol.tell("Should add a null check before dereferencing the user")
    assert [repeat.count for repeat in told(alice)] == [2]


def test_what_was_forgotten_is_not_told(alice: Person, bob: Person, dora: Person) -> None:
    bob.tell(CHECKS, visibility="team")
    dora.tell(CHECKS, visibility="team")
    review.forget(alice.scope, Memory.objects.get().pk)
    assert told(alice) == []


def test_the_most_agreed_come_first_and_categories_are_told_apart(
    alice: Person, bob: Person, carol: Person, dora: Person
) -> None:
    for person in (bob, carol, dora):
        person.tell(CHECKS)
    for person in (bob, carol):
        person.tell("Tests run before each merge")
    assert [len(repeat.agents) for repeat in told(alice)] == [3, 2]
    assert len(told(alice, RepeatQuery(min_agents=3))) == 1
    assert told(alice, RepeatQuery(category="policy")) == []


def results(http: Caller, **query: object) -> list[str]:
    answer = http.get("/patterns/repeats", **query)
    assert answer.status == 200
    return [each["statement"] for each in answer.body["results"]]


def test_over_http_mates_see_their_teams_repeats_and_others_nothing(
    alice: Person, bob: Person, dora: Person, carol: Person
) -> None:
    bob.tell(CHECKS, visibility="team")
    dora.tell(CHECKS, visibility="team")
    assert results(caller(alice)) == results(caller(bob)) == [CHECKS]
    assert results(caller(carol)) == results(caller(carol), minAgents=1, minCount=1) == []


def test_over_http_an_outsider_finds_no_such_workspace(alice: Person, bob: Person, mallory: Person) -> None:
    bob.tell(CHECKS)
    assert caller(mallory, alice.workspace).get("/patterns/repeats").status == 404
    assert results(caller(mallory), minAgents=1, minCount=1) == []


@pytest.mark.parametrize("query", [{"minAgents": "0"}, {"limit": "101"}, {"category": "nonsense"}])
def test_over_http_a_wrong_parameter_is_named(alice: Person, query: dict[str, str]) -> None:
    answer = caller(alice).get("/patterns/repeats", **query)
    assert (answer.status, answer.fields) == (400, list(query))


def test_the_page_shows_a_members_own_workspaces_only(
    alice: Person, bob: Person, carol: Person, mallory: Person
) -> None:
    bob.tell(CHECKS)
    carol.tell(CHECKS)
    page = reverse("admin:memories_repeats")
    assert CHECKS in member(alice.workspace, "viewer").sees(page)
    outsider = member(mallory.workspace)
    assert CHECKS not in outsider.sees(page)
    assert CHECKS not in outsider.sees(page, workspace=alice.workspace.slug)
    assert desk_of(UserFactory()).status(page) == 302


def test_nits_and_questions_of_reviews_are_one_pattern_of_the_team(alice: Person, bob: Person) -> None:
    for comment in (
        "nit: missing null check on line 40",
        "Can you add a null check here?",
        "This function should add null check before reading user.name",
        "Looks good overall. Shouldn't load_order() have a null check too?",
        "Why is there no null check around the cache lookup?",
    ):
        bob.say(comment)
    [repeat] = told(alice)
    assert (repeat.statement, repeat.count, repeat.sessions) == ("Should add null check", 5, 5)
    assert Memory.objects.get().visibility == "team"


def test_what_reviewers_only_ask_is_counted_with_what_they_demand(alice: Person, bob: Person, dora: Person) -> None:
    for reviewer in (bob, dora):
        for comment in ("could this be None here?", "nit: missing null check on line 40"):
            reviewer.say(comment)
    [repeat] = told(alice)
    assert (repeat.statement, repeat.count) == ("Should add null check", 4)
    assert sorted(share.agent_id for share in repeat.agents) == ["bob", "dora"]


REVIEWS = """
Can this be null?
What if the account is None here?
what happens when `order` is null?
Is the cursor guaranteed to be non-null at this point?
Could `customer.address` be undefined?
this might be nil when the cache is cold
Potential null dereference here.
Won't this throw if the body is None?
Do we handle the None case?
nit: null check?
Null check missing here
you forgot to check for null
Please check for null before calling save()
Are we sure this is never null?
minor: guard against null input
question: can the session be null after logout?
This will crash if the profile is None.
L88: null check missing
line 12 - user may be null
`findUser` can return null, please handle it
Looks good overall. Could line 40 be None though?
unchecked null on line 17
isn't email nullable?
This assumes the session is never None.
Any chance `config` is None at startup?
Please make sure account isn't null before you read its balance
Line 40: could be None.
Consider checking for None.
Would this NPE on an empty cart?
Same comment as above: null check
Is there a reason we don't check for null?
NPE waiting to happen on line 73
"""
NO_REVIEWS = """
None of this matters
The null hypothesis was rejected
I could be wrong here
She said none of it was true
What does None mean in Python?
How do I check for null in SQL?
What is the difference between null and undefined?
Could you explain when a variable is None?
I added the null check
We already check for null in the caller
Can none of you come on Friday?
The contract was null and void
Should I use null or undefined in JavaScript?
Could you write a function that returns null?
The column is nullable by design
The match ended nil nil
What is a null check?
No null check needed here.
Did the null check help?
Who wrote the null check?
The null check passed in CI
There is no need for a null check
What happens if none of us can go?
"""


def lines(stories: str) -> list[str]:
    return stories.strip().split("\n")


@pytest.mark.parametrize("comment", lines(REVIEWS))
def test_a_review_that_points_asks_or_warns_demands_a_null_check(comment: str) -> None:
    [claim] = find_claims.extract(comment, "", datetime.now(UTC))
    assert (claim.statement, claim.unworthy) == ("Should add null check", "")
    assert not gatekeeper.verdict(comment, "user", "user").skip


@pytest.mark.parametrize("text", lines(NO_REVIEWS))
def test_talk_of_none_and_null_demands_nothing(text: str) -> None:
    claims = find_claims.extract(text, "", datetime.now(UTC))
    assert "Should add null check" not in [claim.statement for claim in claims]


@pytest.mark.parametrize("said", ["What is a null check?", "No null check needed here.", "Did the null check help?"])
def test_talk_of_a_check_demands_none(bob: Person, said: str) -> None:
    assert not bob.say(said).created_ids
