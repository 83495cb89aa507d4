"""What waits for a person stands in cases: one of each subject and attribute."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from memories.belief import cases, resolve, review
from memories.belief.cases import CaseDecision
from memories.belief.cases.case_decision import Replaced
from memories.belief.resolve import CaseAbout, NewItem
from memories.errors import Conflict
from memories.meters import stored_metrics
from memories.models import Case, CaseItem, Fact, Memory, Supersession, rank_of, topic_of
from memories.worker import sweep
from tests.people import Person
from workspaces.models import AuditEntry, Subject

LIVED, LIVES, ALSO = "I live in Oslo.", "I live in Bergen.", "I live in Rome."


def pin(person: Person, content: str) -> Memory:
    memory = Memory.objects.get(content__contains=content)
    return review.edit(person.scope, memory.pk, {"pinned": True})


def home_waits(alice: Person) -> Case:
    """Oslo is pinned; Bergen and Rome wait."""
    alice.say(LIVED, user_id="u")
    pin(alice, "Oslo")
    alice.say(LIVES, user_id="u")
    alice.say(ALSO, user_id="u")
    return Case.objects.get()


def test_siblings_stand_in_one_case_with_what_they_contradict(alice: Person) -> None:
    case = home_waits(alice)
    assert (case.kind, case.state, case.attribute) == ("held", "open", "residence")
    contents = [item.memory.content.split()[-1].strip(".") for item in case.items.all()]
    assert sorted(contents) == ["Bergen", "Oslo", "Rome"]
    pairs = Supersession.objects.filter(state="pending")
    assert {pair.case_id for pair in pairs} == {case.pk}


def test_two_subjects_have_two_cases(alice: Person) -> None:
    for user in ("u", "v"):
        alice.say(LIVED, user_id=user)
    Memory.objects.update(pinned=True)
    for user in ("u", "v"):
        alice.say(LIVES, user_id=user)
    assert Case.objects.count() == 2


def test_a_claim_without_evidence_stands_in_a_case(alice: Person) -> None:
    session = alice.tell("Something.", user_id="u")
    [claim] = [
        resolve.Claim(
            statement="Ada lives in Lima",
            category="identity",
            fact_type="profile",
            visibility="private",
            method="llm",
            rule="",
            source="extracted",
            occurred_at=timezone.now(),
        )
    ]
    with transaction.atomic():
        resolve.quarantine(resolve.placement_of(session, [claim]), [(claim, "no")], session.pk)
    case = Case.objects.get()
    assert (case.kind, case.attribute) == ("quarantine", "residence")
    assert case.items.get().fact == Fact.objects.get(quarantined_at__isnull=False)


def test_the_sweep_files_what_older_versions_left(alice: Person) -> None:
    home_waits(alice)
    before = {(item.memory_id, item.why) for item in CaseItem.objects.all()}
    Case.objects.all().delete()
    assert sweep.file_cases() == 2
    case = Case.objects.get()
    assert {(item.memory_id, item.why) for item in case.items.all()} == before
    assert not Supersession.objects.filter(case=None).exists()
    assert sweep.file_cases() == 0


def test_a_case_that_was_put_off_wakes_when_its_time_has_come(alice: Person) -> None:
    home_waits(alice)
    Case.objects.update(state="snoozed", snoozed_until=timezone.now())
    sweep.file_cases()
    assert Case.objects.get().state == "open"


@pytest.mark.django_db(transaction=True)
def test_two_who_open_a_case_at_once_get_one(alice: Person) -> None:
    subject = Subject.objects.create(workspace=alice.workspace, external_id="u")
    about = CaseAbout(alice.workspace.pk, subject.pk, "residence", topic_of("user|residence|"))
    together, number = Barrier(6), 6

    def open_one(_: int) -> uuid.UUID:
        try:
            with transaction.atomic():
                together.wait(60)
                item = NewItem(timezone.now(), "slot:residence", intent_id=uuid.uuid4())
                return resolve.open_case(about, "contradiction", [item])
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        opened = set(threads.map(open_one, range(number)))
    case = Case.objects.get()
    assert (opened, case.version, case.items.count()) == ({case.pk}, number, number)


def test_cases_go_with_a_merged_subject_and_come_back(alice: Person) -> None:
    case = home_waits(alice)
    other = Subject.objects.create(workspace=alice.workspace, external_id="v")
    own = Subject.objects.get(external_id="u")
    merge = review.merge_subjects(alice.scope, own.pk, other.pk)
    assert Case.objects.get(pk=case.pk).subject == other
    review.separate(alice.scope, merge.pk)
    assert Case.objects.get(pk=case.pk).subject == own
    assert Case.objects.get(pk=case.pk).items.count() == 3


def test_two_cases_about_the_same_become_one_and_two_again(alice: Person) -> None:
    for user in ("u", "v"):
        alice.say(LIVED, user_id=user)
    Memory.objects.update(pinned=True)
    for user, text in (("u", LIVES), ("v", ALSO)):
        alice.say(text, user_id=user)
    subjects = [Subject.objects.get(external_id=name) for name in ("u", "v")]
    before = {case.subject: set(case.items.values_list("memory", flat=True)) for case in Case.objects.all()}
    merge = review.merge_subjects(alice.scope, subjects[0].pk, subjects[1].pk)
    one = Case.objects.get()
    assert (one.subject, one.items.count()) == (subjects[1], 4)
    assert set(Supersession.objects.filter(state="pending").values_list("case", flat=True)) == {one.pk}
    review.separate(alice.scope, merge.pk)
    after = {case.subject: set(case.items.values_list("memory", flat=True)) for case in Case.objects.undecided()}
    assert after == before
    for pair in Supersession.objects.filter(state="pending").select_related("case", "new"):
        assert pair.case is not None
        assert pair.case.subject_id == pair.new.subject_id


def test_a_decided_case_goes_with_its_memories(alice: Person) -> None:
    case = home_waits(alice)
    ids = tuple(case.items.values_list("memory", flat=True))
    cases.decide_case(alice.scope, case.pk, CaseDecision(keep=ids))
    review.move(alice.scope, list(ids), "w")
    assert Case.objects.get(pk=case.pk).subject == Subject.objects.get(external_id="w")
    cases.undo_case(alice.scope, case.pk)
    assert Supersession.objects.filter(state="pending").count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_is_told_what_the_other_did(alice: Person) -> None:
    case = home_waits(alice)
    by_place = {
        item.memory.content.split()[-1].strip("."): item.memory_id
        for item in case.items.select_related("memory")
        if item.memory
    }
    oslo, bergen, rome = (by_place[name] for name in ("Oslo", "Bergen", "Rome"))
    decisions = [
        CaseDecision(keep=(oslo,), forget=(bergen, rome)),
        CaseDecision(replace=(Replaced(oslo, rome),), forget=(bergen,)),
    ]
    together = Barrier(2)

    def decide(decision: CaseDecision) -> str:
        try:
            together.wait(60)
            cases.decide_case(alice.scope, case.pk, decision)
            return ""
        except Conflict as refusal:
            return str(refusal)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        refusals = list(threads.map(decide, decisions))
    assert sorted(map(bool, refusals)) == [False, True]
    won = refusals.index("")
    words = ("2 forgotten", "1 replaced, 1 forgotten")[won]
    assert f"{alice.scope.actor} decided it meanwhile" in max(refusals)
    assert words in max(refusals)
    assert list(Memory.objects.live().values_list("pk", flat=True)) == [(oslo, rome)[won]]
    assert AuditEntry.objects.filter(target_kind="case", action="decide").count() == 1


def test_what_is_served_more_often_is_decided_first(alice: Person) -> None:
    for user in ("u", "v"):
        alice.say(LIVED, user_id=user)
    Memory.objects.update(pinned=True)
    for user in ("u", "v"):
        alice.say(LIVES, user_id=user)
    last = Case.objects.order_by("rank")[0]
    assert last.subject
    before = last.risk_now
    for _ in range(20):
        assert alice.finds("Where do I live?", user_id=last.subject.external_id)
    stored_metrics.flush()
    last.refresh_from_db()
    assert Case.objects.order_by("-rank")[0] == last
    assert last.served == 20
    assert last.risk_now > before
    assert last.rank == pytest.approx(rank_of(last.risk, last.created_at, last.served))


def test_what_was_served_is_counted_once_though_other_counts_have_to_wait(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(rows: object) -> None:
        raise DatabaseError("away")

    case = home_waits(alice)
    alice.finds("Where do I live?", user_id="u")
    with monkeypatch.context() as patched:
        patched.setattr(stored_metrics, "add_figures", away)
        with pytest.raises(DatabaseError):
            stored_metrics.flush()
    stored_metrics.flush()
    case.refresh_from_db()
    assert case.served == 1


def test_a_case_that_more_comes_to_keeps_what_it_was_served(alice: Person) -> None:
    case = home_waits(alice)
    alice.finds("Where do I live?", user_id="u")
    stored_metrics.flush()
    alice.say("I live in Malmö.", user_id="u")
    case.refresh_from_db()
    assert case.served == 1
    assert case.rank == pytest.approx(rank_of(case.risk, case.created_at, 1))
