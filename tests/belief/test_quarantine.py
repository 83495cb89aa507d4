"""Facts without evidence: a person finds the words they stand on, or says no."""

import pytest
from django.utils import timezone

from memories.belief import review
from memories.errors import Conflict, Invalid, NotFound
from memories.models import Citation, Fact, Memory, Rejection
from tests.api_fixtures import caller
from tests.desk import member, page_of
from tests.factories import FactFactory
from tests.people import Person
from workspaces.models import AuditEntry, Role

TOLD = "We packed everything up. Graz is home since May, and the cat likes it."
QUOTE = "Graz is home since May"


def waiting(person: Person, statement: str = "Ana lives in Graz") -> Fact:
    """A fact in quarantine, of an ingest that tells TOLD."""
    session = person.say(TOLD, user_id="ana", extract="none")
    return FactFactory(
        workspace=person.workspace,
        session=session,
        subject=session.subject,
        agent=session.agent,
        statement=statement,
        category="identity",
        fact_type="fact",
        quarantined_at=timezone.now(),
        quarantine_reason="no evidence in the text",
    )


def gone(fact: Fact) -> bool:
    return not Fact.objects.filter(pk=fact.pk).exists()


def test_accepted_fact_is_believed_for_the_words_a_person_found(alice: Person) -> None:
    fact = waiting(alice)
    memory = review.accept(alice.scope, fact.pk, QUOTE)
    assert (memory.content, memory.source_count) == ("Ana lives in Graz", 1)
    assert alice.finds("where does Ana live", user_id="ana")[0] == "Ana lives in Graz"
    assert Citation.objects.get(fact__memory=memory).quote == QUOTE
    assert gone(fact)


def test_accepted_fact_replaces_what_it_contradicts(alice: Person) -> None:
    old = alice.note("Ana lives in Vienna", user_id="ana", category="identity")
    memory = review.accept(alice.scope, waiting(alice).pk, QUOTE)
    assert Memory.objects.get(pk=old.pk).superseded_by_id == memory.pk


def test_accepted_fact_supports_what_says_the_same(alice: Person) -> None:
    known = review.accept(alice.scope, waiting(alice).pk, QUOTE)
    again = review.accept(alice.scope, waiting(alice).pk, QUOTE)
    assert (again.pk, again.source_count) == (known.pk, 2)


def test_accepting_outranks_an_earlier_rejection(alice: Person) -> None:
    memory = alice.note("Ana lives in Graz", user_id="ana", category="identity")
    review.forget(alice.scope, memory.pk, reason="wrong")
    review.accept(alice.scope, waiting(alice).pk, QUOTE)
    assert "Ana lives in Graz" in alice.live()
    assert not Rejection.objects.exists()


def test_words_that_no_message_has_are_refused_and_the_fact_waits_on(alice: Person) -> None:
    fact = waiting(alice)
    with pytest.raises(Invalid, match="No message of this ingest") as refused:
        review.accept(alice.scope, fact.pk, "Ana moved to Graz")
    assert refused.value.field == "quote"
    assert not gone(fact)


def test_dismissed_fact_is_not_believed_and_waits_no_more(alice: Person) -> None:
    fact = waiting(alice)
    review.dismiss(alice.scope, fact.pk)
    fact.refresh_from_db()
    assert (fact.memory_id, fact.quarantined_at) == (None, None)
    assert "Ana lives in Graz" not in alice.live()


def test_what_was_decided_is_not_decided_again(alice: Person) -> None:
    fact = waiting(alice)
    review.dismiss(alice.scope, fact.pk)
    with pytest.raises(Conflict):
        review.accept(alice.scope, fact.pk, QUOTE)
    with pytest.raises(Conflict):
        review.dismiss(alice.scope, fact.pk)


def test_only_who_sees_a_fact_decides_it(alice: Person, bob: Person, carol: Person, mallory: Person) -> None:
    fact = waiting(alice)
    for stranger in (bob, carol, mallory):
        with pytest.raises(NotFound):
            review.accept(stranger.scope, fact.pk, QUOTE)
        with pytest.raises(NotFound):
            review.dismiss(stranger.scope, fact.pk)


def test_both_decisions_are_in_the_audit_log(alice: Person) -> None:
    review.accept(alice.scope, waiting(alice).pk, QUOTE)
    review.dismiss(alice.scope, waiting(alice, "Ana has a cat").pk)
    lines = AuditEntry.objects.filter(action__in=["accept", "dismiss"]).order_by("pk")
    assert [(line.action, line.actor) for line in lines] == [
        ("accept", alice.scope.actor),
        ("dismiss", alice.scope.actor),
    ]


def test_list_of_facts_keeps_quarantine_apart(alice: Person) -> None:
    fact, http = waiting(alice), caller(alice)
    held = http.get("/facts", quarantined="true").body["results"]
    assert [row["id"] for row in held] == [str(fact.pk)]
    assert str(fact.pk) not in {row["id"] for row in http.get("/facts").body["results"]}


def test_key_that_may_curate_decides_over_http(alice: Person) -> None:
    http = caller(alice)
    missing = http.post(f"/facts/{waiting(alice).pk}/accept", {"quote": "not there"})
    assert (missing.status, missing.fields) == (400, ["quote"])
    accepted = http.post(f"/facts/{waiting(alice).pk}/accept", {"quote": QUOTE})
    assert (accepted.status, accepted.body["content"]) == (200, "Ana lives in Graz")
    dismissed = http.post(f"/facts/{waiting(alice, 'Ana has a cat').pk}/dismiss")
    assert (dismissed.status, dismissed.body["memoryId"]) == (200, None)


def test_curator_reads_what_was_told_and_accepts_in_the_admin(alice: Person) -> None:
    fact, grace = waiting(alice), member(alice.workspace, Role.EDITOR)
    assert TOLD in grace.sees(page_of(fact))
    grace.does(fact, "accept", quote=QUOTE)
    assert "Ana lives in Graz" in alice.live()


def test_wrong_words_are_told_in_the_admin_and_nothing_is_lost(alice: Person) -> None:
    fact, grace = waiting(alice), member(alice.workspace, Role.EDITOR)
    answer = grace.does(fact, "accept", quote="Graz was never home")
    assert "No message of this ingest has these words" in answer.content.decode()
    assert not gone(fact)


def test_curator_dismisses_many_at_once(alice: Person) -> None:
    facts = [waiting(alice), waiting(alice, "Ana has a cat")]
    member(alice.workspace, Role.EDITOR).acts(Fact, "dismiss", *facts)
    assert not Fact.objects.exclude(quarantined_at=None).exists()


def test_viewer_and_outsider_decide_nothing(alice: Person, mallory: Person) -> None:
    fact = waiting(alice)
    for desk in (member(alice.workspace, Role.VIEWER), member(mallory.workspace)):
        assert desk.does(fact, "accept", quote=QUOTE).status_code in {403, 404}
        assert desk.does(fact, "dismiss").status_code in {403, 404}
    assert not gone(fact)
