"""Who holds a workspace's lock, and for how many rows: all its writers wait so long."""

import ast
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from memories import erase as erasing
from memories import intents, masks, review, sweep
from memories.documents import document_store, pipeline, revision_steps
from memories.documents.document_store import NewDocument
from memories.erase import erasure_run, prune, workspace_removal
from memories.index import due_vectors, rebuild, reembedding, repair, workspace_index
from memories.ingest import NewMessage, document_memories
from memories.models import Document, Entry, Intent, Layer, Memory, SubjectMerge
from memories.resolve import file_cases
from memories.review import forget_all, subject_steps, taken_words, visibility
from memories.review.merge_and_separate import SplitOff
from memories.review.taken_words import MOST_DOCUMENTS, MOST_MESSAGES
from memories.transfer import acts_again
from memoryproject.postgres import visible
from tests.people import Person
from workspaces.models import Subject

forget = sys.modules["memories.review.forget"]  # its room exports a function of this name
ROOT = Path(__file__).parent.parent
TAKING = {
    "workspace_index.lock", "lock", "alone", "rebuild.alone", "lock_set", "apply.lock_set",
}  # fmt: skip
ONE, CASE, STEP = 1, 100, 100  # memory with its chain; what stands in a case; claims of a step
# The most rows that each act writes for under the lock, before it commits: of memories, messages,
# passages, or whatever it is about. A word in the place of a number says on what it hangs.
ACTS: dict[str, int | str] = {
    "cases.acts_by_hand._ask_again": ONE,
    "cases.case_acts.ask_pair": ONE,
    "cases.case_acts.believed_no_more": CASE,
    "cases.case_acts.decide_case": CASE,
    "cases.case_acts.undo_case": CASE,
    "cases.case_acts.ask_case": ONE,
    "documents.document_store._change": document_store.MANY,
    "documents.document_store._show_memories": 2 * document_store.MANY,
    "documents.revision_steps.RevisionSteps.locked": revision_steps.OFF,
    "erase.erasure_plan.place": ONE,
    "erase.erasure_run._write_down": ONE,
    "erase.erasure_run.request_again": ONE,
    "erase.erasure_run._batch": erasure_run.PIECES,
    "erase.prune._batch": prune.BATCH,
    "erase.workspace_removal.request": "keys, members and open sessions of the workspace",
    "erase.workspace_removal._batch": workspace_removal.BATCH,
    "erase.workspace_removal._finish": ONE,
    "features.apply.lock_set": "features of one batch of episodes",
    "features.features_by_hand.undo": ONE,
    "features.features_by_hand._do": ONE,
    "features.follow_sources._change": ONE,
    "features.follow_sources._add": ONE,
    "features.follow_sources.separate": "all that is about one subject",
    "features.set_embedding._change_over": ONE,
    "features.sets.delete": "features of one set, which go",
    "features.update._apply_merged": "features of one set",
    "features.update._apply": "features of one batch of episodes",
    "index.due_vectors._store": due_vectors.BATCH,
    "index.rebuild.alone": rebuild.BATCH,
    "index.rebuild.rebuild": rebuild.BATCH,
    "index.rebuild.finish": rebuild.BATCH,
    "index.reembedding.change": "entries that came since the last of the passes before",
    "index.reembedding._store": reembedding.BATCH,
    "index.repair.repair": rebuild.BATCH,
    "ingest.document_memories._carry": document_memories.CARRIED_AT_ONCE,
    "ingest.process.SessionSteps._commit": STEP,
    "intents.carry_out.carry_out": taken_words.BATCH + taken_words.DOCUMENTS,
    "intents.carry_out.give_back": MOST_DOCUMENTS,
    "intents.carry_out.mask_ahead": taken_words.BATCH,
    "intents.carry_out._ask": MOST_MESSAGES,
    "intents.carry_out.undo": MOST_DOCUMENTS,
    "resolve.write._behind_lock": rebuild.BATCH,
    "review.approve_and_undo.approve": ONE,
    "review.approve_and_undo.reject": ONE,
    "review.approve_and_undo.keep_both": ONE,
    "review.approve_and_undo.undo": ONE,
    "review.approve_and_undo.reopen": ONE,
    "review.approve_and_undo.redo": ONE,
    "review.approve_and_undo.restore": ONE,
    "review.create_and_edit._hold": ONE,
    "review.create_and_edit.edit_all": CASE,
    "review.forget.forget": ONE,
    "review.forget.forget_all": forget.BATCH,
    "review.forget.forget_expired": sweep.BATCH,
    "review.merge_and_separate.go_on": "cases and features of two subjects, facts of the last step",
    "review.merge_and_separate.merge_subjects": ONE,
    "review.merge_and_separate.move": "the chains of the memories that a person chose",
    "review.merge_and_separate.merge_duplicates": ONE,
    "review.merge_and_separate.separate": "decisions between what goes and what stays",
    "review.merge_and_separate.split": "decisions between what goes and what stays",
    "review.merge_and_separate.part_duplicates": ONE,
    "review.quarantine.accept": ONE,
    "review.quarantine.dismiss": ONE,
    "review.subject_steps.SubjectSteps.give": subject_steps.AT_ONCE,
    "review.taken_words.give_back_words": taken_words.BATCH,
    "review.taken_words.take_words": taken_words.BATCH,
    "review.visibility._make_private": visibility.MADE_PRIVATE,
    "summaries.talk_summaries.write": "summaries of one talk",
    "transfer.acts_again._mask": acts_again.BATCH,
    "transfer.acts_again._unmask": acts_again.BATCH,
    "sweep.file_cases": file_cases.WAITING,
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
        (revision_steps, "BATCH"), (revision_steps, "OFF"), (document_store, "MANY"),
        (masks, "MANY"), (erasure_run, "BATCH"), (erasure_run, "PIECES"), (prune, "BATCH"),
        (rebuild, "BATCH"), (due_vectors, "BATCH"), (reembedding, "BATCH"), (forget, "BATCH"),
        (visibility, "MADE_PRIVATE"), (subject_steps, "AT_ONCE"), (taken_words, "BATCH"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, 5)


def document(person: Person, passages: int, custom_id: str = "log") -> Document:
    beside = "the lighthouse keeper counts barrels of oil beside the harbour wall " * 10
    words = "\n\n".join(f"Day {n} of {passages}: {beside}." for n in range(passages))
    new = NewDocument(parts=[words.encode()], custom_id=custom_id, extract="none")
    return document_store.receive(person.scope, new).document


def read(person: Person, passages: int) -> Document:
    row = document(person, passages)
    return pipeline.run(row.pk) or row


SAID = (
    "amber birch cedar dahlia elm fern ginger hazel iris jasmine kale lotus maple nettle oak"
).split()


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
    index_document, replace_document, read_document_anew, show_document, erase_document,
    forget_memories, make_index_anew, repair_rows, merge_people, separate_people, split_people,
    order_to_forget, take_an_order_back,
)  # fmt: skip


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
