"""Who holds a workspace's lock, and for how many rows: all its writers wait so long."""

import ast
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from memories.belief import cases, review
from memories.belief.cases import CaseDecision
from memories.belief.resolve import file_cases
from memories.belief.review import forget_all, subject_steps, taken_words, too_visible
from memories.belief.review.merge_people import SplitOff
from memories.belief.review.taken_words import MOST_DOCUMENTS
from memories.belief.touches import unsure
from memories.documents import document_store, index_revision, pipeline
from memories.documents.document_store import NewDocument
from memories.exchange import acts_again
from memories.index import due_vectors, rebuild, reembedding, repair, workspace_index
from memories.ingest import NewMessage, document_memories, judged_messages
from memories.models import Case, Document, Entry, FeatureSet, Intent, Layer, Memory, SubjectMerge
from memories.privacy import erase as erasing
from memories.privacy import masks, retention
from memories.privacy.erase import erasure_run, workspace_removal
from memories.profiles.features import consolidate, follow_sources, set_queue, sets, update
from memories.profiles.features.edit_features import NewFeature
from memories.profiles.features.edit_features import create as write_feature
from memories.reading import intents
from memories.worker import sweep
from memoryproject.postgres import visible
from tests.people import Person
from workspaces.models import Subject

forget = sys.modules["memories.belief.review.forget"]  # its room exports a function of this name
ROOT = Path(__file__).parents[2]
TAKING = {
    "workspace_index.lock",
    "lock",
    "alone",
    "rebuild.alone",
    "lock_set",
    "apply.lock_set",
}
ONE, CASE, STEP = 1, 100, 100  # memory with its chain; what stands in a case; claims of a step
# The most rows that each act writes for under the lock, before it commits: of memories, messages,
# passages, or whatever it is about. A word in the place of a number says on what it hangs.
ACTS: dict[str, int | str] = {
    "belief.cases.acts_by_hand._ask_again": ONE,
    "belief.cases.postpone_case.ask_pair": ONE,
    "belief.cases.undo_case.believed_no_more": CASE,
    "belief.cases.decide_case._begun": ONE,
    "belief.cases.decide_case.decide_case": CASE + taken_words.BATCH + taken_words.DOCUMENTS,
    "belief.cases.undo_case.undo_case": CASE + MOST_DOCUMENTS,
    "belief.cases.postpone_case.ask_case": ONE,
    "documents.document_store._change": document_store.MANY,
    "documents.document_store._show_memories": 2 * document_store.MANY,
    "documents.index_revision.RevisionSteps.locked": index_revision.OFF,
    "privacy.legal_holds.place": ONE,
    "privacy.erase.erasure_run._write_down": ONE,
    "privacy.erase.erasure_run.request_again": ONE,
    "privacy.erase.erasure_run._batch": erasure_run.PIECES,
    "privacy.retention._batch": retention.BATCH,
    "privacy.erase.workspace_removal.request": "keys, members and open sessions of the workspace",
    "privacy.erase.workspace_removal._batch": workspace_removal.BATCH,
    "privacy.erase.workspace_removal._finish": ONE,
    "profiles.features.apply.lock_set": "features of one batch of episodes",
    "profiles.features.undo_features.undo": ONE,
    "profiles.features.edit_features._do": ONE,
    "profiles.features.follow_sources._change": ONE,
    "profiles.features.follow_sources._add": ONE,
    "profiles.features.follow_sources.separate": "what the steps before it left, of one subject",
    "profiles.features.follow_sources.step_of_separation": follow_sources.AT_ONCE,
    "profiles.features.set_embedding._change_over": ONE,
    "profiles.features.sets.delete": ONE,
    "profiles.features.sets.go_on_deleting": max(sets.DELETED, sets.ROWS),
    "profiles.features.consolidate._apply_merged": consolidate.MERGED,
    "profiles.features.update._apply": "features of one batch of episodes",
    "index.due_vectors._store": due_vectors.BATCH,
    "index.rebuild.alone": rebuild.BATCH,
    "index.rebuild.rebuild": rebuild.BATCH,
    "index.rebuild.finish": rebuild.BATCH,
    "index.reembedding.change": "entries that came since the last of the passes before",
    "index.reembedding._store": reembedding.BATCH,
    "index.repair.repair": rebuild.BATCH,
    "ingest.document_memories._carry": document_memories.CARRIED_AT_ONCE,
    "ingest.judged_messages._messages": judged_messages.AT_ONCE * judged_messages.SENTENCES,
    "ingest.keep_sentences._write": judged_messages.AT_ONCE * judged_messages.SENTENCES,
    "ingest.process.SessionSteps._commit": STEP,
    "ingest.second_opinions._apply": unsure.AT_ONCE,
    "reading.intents.carry_out.carry_out": taken_words.BATCH + taken_words.DOCUMENTS,
    "reading.intents.carry_out._ask": taken_words.BATCH + taken_words.DOCUMENTS,
    "reading.intents.carry_out.undo": MOST_DOCUMENTS,
    "reading.intents.carry_out.withhold_again": taken_words.BATCH + taken_words.DOCUMENTS,
    "reading.intents.order_words.give_back": MOST_DOCUMENTS,
    "belief.resolve.write._behind_lock": rebuild.BATCH,
    "belief.review.approve.approve": ONE,
    "belief.review.approve.reject": ONE,
    "belief.review.approve.keep_both": ONE,
    "belief.review.undo.undo": ONE,
    "belief.review.undo.reopen": ONE,
    "belief.review.undo.redo": ONE,
    "belief.review.undo.restore": ONE,
    "belief.review.create._hold": ONE,
    "belief.review.edit.edit_all": CASE,
    "belief.review.forget.forget": ONE,
    "belief.review.forget.forget_all": forget.BATCH,
    "belief.review.forget.forget_expired": sweep.BATCH,
    "belief.review.misread.forget_misread": "what rules read of one sentence",
    "belief.review.merge_people._in_steps": follow_sources.AT_ONCE,
    "belief.review.merge_people.go_on": "cases of two subjects, facts of the last step",
    "belief.review.merge_people.merge_subjects": ONE,
    "belief.review.merge_duplicates.move": "the chains of the memories that a person chose",
    "belief.review.merge_duplicates.merge_duplicates": ONE,
    "belief.review.merge_people.separate": "decisions between what goes and what stays",
    "belief.review.merge_people.split": "decisions between what goes and what stays",
    "belief.review.merge_duplicates.part_duplicates": ONE,
    "belief.review.quarantine.accept": ONE,
    "belief.review.quarantine.dismiss": ONE,
    "belief.review.subject_steps.SubjectSteps.give": subject_steps.AT_ONCE,
    "belief.review.taken_words.give_back_in_steps": taken_words.BATCH,
    "belief.review.taken_words.mask_in_steps": taken_words.BATCH,
    "belief.review.too_visible._make_private": too_visible.MADE_PRIVATE,
    "profiles.summaries.talk_summaries.write": "summaries of one talk",
    "exchange.acts_again._mask": acts_again.BATCH,
    "exchange.acts_again._unmask": acts_again.BATCH,
    "teaching.learn_head._written": ONE,
    "worker.sweep.file_cases": file_cases.WAITING,
}


def takers() -> Iterator[str]:
    """Each function of the tree that takes the lock, by its module and name."""
    for path in sorted((ROOT / "memories").rglob("*.py")):
        source = path.read_text()
        module = path.relative_to(ROOT / "memories").with_suffix("").parts
        for name, call in _calls(ast.parse(source), ()):
            is_ours = call != "lock" or "workspace_index import lock" in source
            if call in TAKING and is_ours:
                yield ".".join((*module, *name))


def _calls(node: ast.AST, within: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for child in ast.iter_child_nodes(node):
        is_named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        if isinstance(child, ast.Call):
            yield within, ast.unparse(child.func)
        yield from _calls(child, (*within, child.name) if is_named else within)


def test_every_act_that_takes_the_lock_stands_here_with_the_most_rows_it_writes_for() -> None:
    assert sorted(set(takers())) == sorted(ACTS)


def test_no_act_that_has_a_number_writes_for_more_than_a_thousand_rows() -> None:
    assert max(rows for rows in ACTS.values() if isinstance(rows, int)) <= 1_000


# ---- shown: however much there is, no transaction under the lock writes more rows


ROWS = "select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_xact_user_tables"


@pytest.fixture
def under_lock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows that were written in each transaction that held the lock, by the database's count."""
    found: list[int] = []
    before: list[int] = []  # where the transaction holds it; other ones may not be told apart
    take, leave = workspace_index.lock, transaction.Atomic.__exit__

    def written() -> int:
        with connection.cursor() as cursor:
            cursor.execute(ROWS)
            return int(cursor.fetchone()[0])

    def lock(*given: Any) -> Any:
        before.append(written())
        return take(*given)

    def left(atomic: transaction.Atomic, *error: Any) -> None:
        if before and not connection.savepoint_ids and error[0] is None:
            found.append(written() - before[0])
            before.clear()
        leave(atomic, *error)

    monkeypatch.setattr(workspace_index, "lock", lock)
    for module in (rebuild, due_vectors, reembedding):
        monkeypatch.setattr(module, "lock", lock)
    monkeypatch.setattr(transaction.Atomic, "__exit__", left)
    return found


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> None:
    """A few rows are many, so that the tests are short."""
    settings.BLOB_DIR = tmp_path / "blobs"
    for module, name in (
        (index_revision, "BATCH"),
        (index_revision, "OFF"),
        (document_store, "MANY"),
        (masks, "MANY"),
        (erasure_run, "BATCH"),
        (erasure_run, "PIECES"),
        (retention, "BATCH"),
        (rebuild, "BATCH"),
        (due_vectors, "BATCH"),
        (reembedding, "BATCH"),
        (forget, "BATCH"),
        (too_visible, "MADE_PRIVATE"),
        (subject_steps, "AT_ONCE"),
        (taken_words, "BATCH"),
        (follow_sources, "AT_ONCE"),
        (sets, "DELETED"),
        (sets, "ROWS"),
    ):
        monkeypatch.setattr(module, name, 5)


def document(person: Person, passages: int, custom_id: str = "log") -> Document:
    beside = "the lighthouse keeper counts barrels of oil beside the harbour wall " * 10
    words = "\n\n".join(f"Day {n} of {passages}: {beside}." for n in range(passages))
    new = NewDocument(parts=[words.encode()], custom_id=custom_id, extract="none")
    return document_store.receive(person.scope, new).document


def read(person: Person, passages: int) -> Document:
    row = document(person, passages)
    return pipeline.run(row.pk) or row


SAID = ("amber birch cedar dahlia elm fern ginger hazel iris jasmine kale lotus maple nettle oak").split()


def say(person: Person, number: int) -> None:
    for n in range(number):
        person.say(f"My friend {SAID[n % 15].title()}{n} likes {SAID[-n % 15]} tea.", user_id="ada")


Act = Callable[[Person, int], Callable[[], object]]


def index_document(alice: Person, size: int) -> Callable[[], object]:
    row = document(alice, size)
    return lambda: pipeline.run(row.pk)


def replace_document(alice: Person, size: int) -> Callable[[], object]:
    read(alice, size)
    row = document(alice, size + 1)
    return lambda: pipeline.run(row.pk)


def read_document_anew(alice: Person, size: int) -> Callable[[], object]:
    row = read(alice, size)

    def act() -> None:
        document_store.reprocess(alice.scope, row.pk)
        pipeline.run(row.pk)

    return act


def show_document(alice: Person, size: int) -> Callable[[], object]:
    row = read(alice, size)

    def act() -> None:
        document_store.change(alice.scope, row.pk, {"visibility": "global"})
        pipeline.run(row.pk)

    return act


def erase_document(alice: Person, size: int) -> Callable[[], object]:
    row = read(alice, size)
    target = erasing.target_of(alice.scope, "document", row.pk)
    return lambda: erasing.run(erasing.request(alice.scope, target).pk)


def forget_memories(alice: Person, size: int) -> Callable[[], object]:
    say(alice, size)
    return lambda: forget_all(alice.scope, list(Memory.objects.values_list("pk", flat=True)))


def subject(person: Person, name: str) -> uuid.UUID:
    return Subject.objects.get(workspace=person.workspace, external_id=name).pk


def merge_people(alice: Person, size: int) -> Callable[[], object]:
    say(alice, size)
    alice.note("Grace has a red bicycle.", user_id="grace")
    ids = subject(alice, "ada"), subject(alice, "grace")
    return lambda: review.merge_subjects(alice.scope, *ids)


def separate_people(alice: Person, size: int) -> Callable[[], object]:
    merge_people(alice, size)()
    made = SubjectMerge.objects.get(workspace=alice.workspace)
    return lambda: review.separate(alice.scope, made.pk)


def split_people(alice: Person, size: int) -> Callable[[], object]:
    say(alice, size)
    own = Memory.objects.filter(workspace=alice.workspace)
    chosen = SplitOff(memory_ids=list(own.values_list("pk", flat=True)))
    return lambda: review.split(alice.scope, subject(alice, "ada"), "grace", chosen)


def order_to_forget(alice: Person, size: int) -> Callable[[], object]:
    """What an assistant told again so often."""
    alice.say("My salary is 73,500 euros.", user_id="ada", thread_id="work")
    for number in range(size):
        again = NewMessage(f"{number}: your salary of 73,500 euros is noted.", role="assistant")
        alice.say(again, user_id="ada", thread_id=f"work {number}")
    return lambda: alice.say("Please forget my salary.", user_id="ada", thread_id="work")


def take_an_order_back(alice: Person, size: int) -> Callable[[], object]:
    order_to_forget(alice, size)()
    order = Intent.objects.get(workspace=alice.workspace)
    assert order.state == Intent.State.DONE
    return lambda: intents.undo(alice.scope, order.pk)


def order_that_waits(alice: Person, size: int) -> Case:
    """One about a pinned memory, of which an assistant told again so often."""
    alice.say("My salary is 73,500 euros.", user_id="ada", thread_id="work")
    for memory in Memory.objects.filter(workspace=alice.workspace):
        review.edit(alice.scope, memory.pk, {"pinned": True})
    for number in range(size):
        again = NewMessage(f"{number}: your salary of 73,500 euros is noted.", role="assistant")
        alice.say(again, user_id="ada", thread_id=f"work {number}")
    alice.say("Please forget my salary.", user_id="ada", thread_id="work")
    return Case.objects.get(workspace=alice.workspace, kind=Case.Kind.INTENT)


def decide_an_order(alice: Person, size: int, what: str = "do") -> Callable[[], object]:
    case = order_that_waits(alice, size)
    return lambda: cases.decide_case(alice.scope, case.pk, CaseDecision(intent=what))


def undo_the_decision(alice: Person, size: int) -> Callable[[], object]:
    case = order_that_waits(alice, size)
    cases.decide_case(alice.scope, case.pk, CaseDecision(intent="do"))
    return lambda: cases.undo_case(alice.scope, case.pk)


def withhold_what_is_named(alice: Person, size: int) -> Callable[[], object]:
    """Among several people, what somebody else told: hidden until it is decided."""
    for name, words in (("Omar", "Morning, all."), ("Ravi", "Ravi's badge is NG-1188-C.")):
        alice.say(NewMessage(words, name=name), user_id="desk", thread_id="work")
    for number in range(size):
        again = NewMessage(f"{number}: NG-1188-C, noted.", role="assistant")
        alice.say(again, user_id="desk", thread_id=f"work {number}")
    purge = NewMessage("Please purge NG-1188-C from the shared memory.", name="Lena")
    return lambda: alice.say(purge, user_id="desk", thread_id="work")


def leave_an_order(alice: Person, size: int) -> Callable[[], object]:
    withhold_what_is_named(alice, size)()
    case = Case.objects.get(workspace=alice.workspace, kind=Case.Kind.INTENT)
    return lambda: cases.decide_case(alice.scope, case.pk, CaseDecision(intent="leave"))


def withhold_it_again(alice: Person, size: int) -> Callable[[], object]:
    leave_an_order(alice, size)()
    case = Case.objects.get(workspace=alice.workspace, kind=Case.Kind.INTENT)
    return lambda: cases.undo_case(alice.scope, case.pk)


def restore_a_memory(alice: Person, size: int) -> Callable[[], object]:
    order_to_forget(alice, size)
    memory = Memory.objects.live().get(workspace=alice.workspace)
    review.forget(alice.scope, memory.pk, "private")
    return lambda: review.restore(alice.scope, memory.pk)


def with_features(person: Person, size: int) -> FeatureSet:
    """What was taken in of so many messages, and as much that a person wrote."""
    say(person, size)
    set_queue.discover_sets(person.workspace.pk)
    own = FeatureSet.objects.get(workspace=person.workspace, subject__external_id="ada")
    set_queue.release(own.pk)
    update.update_set(own.pk)
    for number in range(size):
        new = NewFeature("identity", "home", f"home {number}", f"{SAID[number % 15]} {number}")
        write_feature(person.scope, own.key, new)
    return own


def delete_a_set(alice: Person, size: int) -> Callable[[], object]:
    own = with_features(alice, size)
    return lambda: sets.delete(alice.scope, own.key)


def merge_people_with_features(alice: Person, size: int) -> Callable[[], object]:
    with_features(alice, size)
    alice.note("Grace has a red bicycle.", user_id="grace")
    ids = subject(alice, "ada"), subject(alice, "grace")
    return lambda: review.merge_subjects(alice.scope, *ids)


def separate_people_with_features(alice: Person, size: int) -> Callable[[], object]:
    merge_people_with_features(alice, size)()
    made = SubjectMerge.objects.get(workspace=alice.workspace)
    return lambda: review.separate(alice.scope, made.pk)


def make_index_anew(alice: Person, size: int) -> Callable[[], object]:
    read(alice, size)
    space = workspace_index.index_of(alice.workspace.pk)
    Entry.objects.filter(layer=Layer.CHUNKS).update(live=False)
    return lambda: rebuild.rebuild(space, lambda _: None)


def repair_rows(alice: Person, size: int) -> Callable[[], object]:
    read(alice, size)
    space = workspace_index.index_of(alice.workspace.pk)
    Entry.objects.update(rules=1)
    repair.leave(space)
    return lambda: repair.run(alice.workspace.pk, 600.0)


GROWING: tuple[Act, ...] = (
    index_document,
    replace_document,
    read_document_anew,
    show_document,
    erase_document,
    forget_memories,
    make_index_anew,
    repair_rows,
    merge_people,
    separate_people,
    split_people,
    order_to_forget,
    take_an_order_back,
    decide_an_order,
    undo_the_decision,
    withhold_what_is_named,
    leave_an_order,
    withhold_it_again,
    restore_a_memory,
    delete_a_set,
    merge_people_with_features,
    separate_people_with_features,
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", GROWING, ids=lambda act: act.__name__)
def test_twice_as_much_is_twice_as_many_transactions_and_none_that_is_larger(
    act: Act, alice: Person, mallory: Person, under_lock: list[int]
) -> None:
    found = []
    for person, size in ((alice, 15), (mallory, 30)):
        with visible.only(person.workspace.pk):
            ready = act(person, size)
            under_lock.clear()
            ready()
        found.append((len(under_lock), max(under_lock)))
    (few, short), (many, long) = found
    assert many >= few + 2
    assert long <= short + 5
