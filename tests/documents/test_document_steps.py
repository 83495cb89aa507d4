"""A long document is indexed in steps: each commits, none is long, nobody finds a half."""

from collections.abc import Callable
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from memories.belief import review
from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.documents.index_revision import BATCH, OFF, RevisionSteps
from memories.errors import ProviderError
from memories.index import due_vectors, rebuild, workspace_index
from memories.models import (
    AsOf,
    Chunk,
    Document,
    DocumentPart,
    DueVector,
    Entry,
    Layer,
    Memory,
    MemorySession,
    Passage,
    Revision,
    Vector,
    WorkspaceIndex,
)
from memories.models.index import APART
from memories.privacy import masks
from tests.handed_in import look_for
from tests.people import Person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def agrees() -> bool:
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())
    return True


def of_chunks() -> QuerySet[Entry]:
    return Entry.objects.filter(layer=Layer.CHUNKS)


def text(word: str, paragraphs: int = 260) -> str:
    """About as many passages as paragraphs."""
    beside = "the lighthouse keeper counts barrels of oil beside the harbour wall " * 10
    return "\n\n".join(f"{word} number {n}: {beside}." for n in range(paragraphs))


def keep(person: Person, words: str) -> Document:
    new = NewDocument(parts=[words.encode()], custom_id="log", extract="none")
    return document_store.receive(person.scope, new).document


def answers(person: Person, query: str, **options: Any) -> set[str]:
    """The first words of what is found."""
    hits = look_for(person, query, threshold=0.0, **options).hits
    return {passage.row.content.split()[0] for hit in hits for passage in hit.passages}


@pytest.fixture
def after_each_step(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What is asked after each step of a document."""
    asked: list[Callable[[], object]] = []
    done = pipeline.DocumentRun.step_done

    def ask(work: pipeline.DocumentRun, advance: Any) -> None:
        for each in asked:
            each()
        done(work, advance)

    monkeypatch.setattr(pipeline.DocumentRun, "step_done", ask)
    return asked


def test_search_finds_the_old_words_until_all_of_the_new_ones_are_there(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    pipeline.run(keep(alice, text("Oldword")).pk)
    found: list[set[str]] = []
    after_each_step.append(
        lambda: found.append(answers(alice, "lighthouse keeper barrels") | answers(alice, "Newword"))
    )
    pipeline.run(keep(alice, text("Newword")).pk)
    assert len(found) >= 4
    assert all(len(one) == 1 for one in found), found
    turned = [min(one) for one in found]
    assert turned == sorted(turned, reverse=True)
    assert {*turned} == {"Oldword", "Newword"}
    assert answers(alice, "Oldword") == {"Newword"}
    assert (
        not of_chunks()
        .filter(live=True)
        .exclude(item__in=Passage.objects.filter(revision__superseded_at=None).values("pk"))
    )
    assert agrees()


def test_no_step_touches_more_rows_than_a_batch(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the document is: counted are entries between two commits."""
    written: list[int] = []
    steps = ("write_next", "take_off_next", "show")
    for name in steps:
        original = getattr(RevisionSteps, name)

        def counted(own: RevisionSteps, *given: Any, original: Any = original) -> Any:
            before = {row.pk: row.live for row in of_chunks()}
            came = original(own, *given)
            after = {row.pk: row.live for row in of_chunks()}
            written.append(len(set(before.items()) ^ set(after.items())))
            return came

        monkeypatch.setattr(RevisionSteps, name, counted)
    for word in ("First", "Second"):
        pipeline.run(keep(alice, text(word)).pk)
    passages = Passage.objects.filter(revision__superseded_at=None).count()
    assert passages > 2 * BATCH
    assert len([number for number in written if number]) >= 2 * passages // BATCH
    assert max(written) <= max(BATCH, 2 * OFF)


def test_the_statements_of_a_step_are_as_many_however_long_the_text_is(alice: Person) -> None:
    """And the text itself is read once, not for each passage or step."""

    def asked_for(paragraphs: int) -> tuple[int, int, int]:
        kept = keep(alice, text("Word", paragraphs))
        with CaptureQueriesContext(connection) as caught:
            pipeline.run(kept.pk)
        statements = [query["sql"].lower() for query in caught]
        whole = [sql for sql in statements if 'memories_revision"."text"' in sql and "select" in sql[:7]]
        cut = [sql for sql in statements if "substring(" in sql]
        return len(statements), len(whole), len(cut)

    short, long = asked_for(130), asked_for(520)
    assert long[2] == short[2] == 0
    assert long[0] - short[0] < (short[0] + 20) * 4
    assert long[1] - short[1] <= 4 * 520 // due_vectors.BATCH


READ = """
select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
from pg_stat_xact_user_tables
"""


def test_a_step_asks_and_reads_as_much_however_many_were_done_before(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    """Counted by the database, whose statistics are those of before: of short documents."""

    def rows_read() -> int:
        with connection.cursor() as cursor:
            cursor.execute(READ)
            return int(cursor.fetchone()[0])

    for n in range(20):
        new = NewDocument(parts=[b"A short one."], custom_id=f"short {n}", extract="none")
        pipeline.run(document_store.receive(alice.scope, new).document.pk)
    with connection.cursor() as cursor:
        cursor.execute("analyze")
        # Plans of tables that were empty, or are small, read all of them.
        cursor.execute("discard plans; set local enable_seqscan = off")
    kept = keep(alice, text("Word", 1_200))
    asked: list[int] = []
    read: list[int] = []
    with CaptureQueriesContext(connection) as caught:
        after_each_step.append(lambda: (asked.append(len(caught)), read.append(rows_read())))
        pipeline.run(kept.pk)
    for counts in (asked, read):
        steps = [after - before for before, after in pairwise(counts)]
        assert len(steps) >= 10
        assert max(steps) - min(steps) <= max(steps) // 4, steps
    # Whatever plan the database makes, it has no more to join and to sort than a step is.
    chosen = [query["sql"] for query in caught if 'JOIN "memories_chunk"' in query["sql"]]
    assert chosen
    assert all('"ordinal" < ' in sql for sql in chosen)
    assert Passage.objects.count() * 12 > sum(after - before for before, after in pairwise(read))
    assert not DueVector.objects.exists()


def test_vectors_are_made_with_the_entries_and_due_where_the_embedder_fails_or_words_were_masked(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    embed = due_vectors.embed

    def failing(space: WorkspaceIndex, texts: Any) -> Any:
        asked.append(len(texts))
        if len(asked) == 2:
            raise ProviderError("It is not there.", permanent=False)
        return embed(space, texts)

    monkeypatch.setattr(due_vectors, "embed", failing)
    kept = keep(alice, text("Word"))
    pipeline.run(kept.pk)
    passages = Passage.objects.count()
    # A step, one that fails, after which it is not asked again before all entries are there.
    assert asked[:2] == [BATCH, BATCH]
    assert asked[2] == passages - BATCH
    assert not DueVector.objects.exists()
    assert Vector.objects.filter(layer=Layer.CHUNKS).values("entry_id").distinct().count() == passages
    assert agrees()


def test_a_step_that_was_done_lets_earlier_deaths_count_no_more(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    kept = keep(alice, text("Word", 220))
    Document.objects.update(attempts=pipeline.MAX_ATTEMPTS - 1)
    steps: list[None] = []

    def die() -> None:
        steps.append(None)
        if len(steps) == 2:
            raise KeyboardInterrupt

    after_each_step.append(die)
    with pytest.raises(KeyboardInterrupt):
        pipeline.run(kept.pk)
    assert Document.objects.get().attempts == 1


@pytest.mark.parametrize("last", range(1, 6))
def test_a_kill_between_two_steps_loses_nothing_and_doubles_nothing(
    last: int, alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    pipeline.run(keep(alice, text("Oldword", 220)).pk)
    kept = keep(alice, text("Newword", 220))
    left = [last]

    def die() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    after_each_step.append(die)
    try:
        pipeline.run(kept.pk)
    except KeyboardInterrupt:
        assert len(answers(alice, "lighthouse keeper barrels")) == 1
        Document.objects.update(lease_until=None)
        assert pipeline.run(kept.pk) is not None
    document = Document.objects.get(pk=kept.pk)
    assert document.state == "done"
    assert answers(alice, "lighthouse") == {"Newword"}
    assert Revision.objects.filter(document=document).count() == 2
    assert not Revision.objects.exclude(stage="").exists()
    assert Passage.objects.count() == of_chunks().count()
    assert not DueVector.objects.exists()
    live = WorkspaceIndex.objects.get().live_chunks
    assert live == of_chunks().filter(live=True).count()
    assert live == Passage.objects.filter(revision__superseded_at=None).count()
    assert agrees()


def test_a_turn_that_is_over_goes_on_where_it_was_and_reads_its_file_once(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    original = pipeline.DocumentRun.read_source
    monkeypatch.setattr(pipeline.DocumentRun, "read_source", lambda own: read.append(1) or original(own))
    kept = keep(alice, text("Word"))
    turns = 0
    while Document.objects.get(pk=kept.pk).state != "done":
        assert pipeline.run(kept.pk, seconds=0.0) is not None
        turns += 1
    assert (turns > 3, len(read)) == (True, 1)
    assert Document.objects.get(pk=kept.pk).attempts == 0
    assert agrees()


def test_new_words_that_come_in_the_middle_take_the_place_of_what_was_begun(
    alice: Person,
) -> None:
    pipeline.run(keep(alice, text("Oldword", 130)).pk)
    kept = keep(alice, text("Half"))
    pipeline.run(kept.pk, seconds=0.0)
    assert Revision.objects.filter(stage="coming").count() == 1
    keep(alice, text("Whole", 130))
    pipeline.run(kept.pk)
    assert answers(alice, "lighthouse") == {"Whole"}
    assert Revision.objects.count() == 2
    assert Passage.objects.count() == of_chunks().count()
    assert agrees()


def test_what_was_said_before_is_found_as_known_then_while_it_leaves(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    pipeline.run(keep(alice, text("Oldword", 130)).pk)
    then = AsOf(known_at=Revision.objects.get().created_at)
    found: list[set[str]] = []
    after_each_step.append(lambda: found.append(answers(alice, "lighthouse", at=then)))
    pipeline.run(keep(alice, text("Newword", 130)).pk)
    assert {frozenset(one) for one in found} == {frozenset({"Oldword"})}


def test_read_anew_its_old_entries_go_in_steps(alice: Person) -> None:
    kept = keep(alice, text("Word"))
    pipeline.run(kept.pk)
    before = Chunk.objects.count()
    with CaptureQueriesContext(connection) as caught:
        document_store.reprocess(alice.scope, kept.pk)
    assert not [query for query in caught if "memories_entry" in query["sql"]]
    assert answers(alice, "lighthouse") == set()
    assert pipeline.run(kept.pk) is not None
    assert (Chunk.objects.count(), Revision.objects.count()) == (before, 1)
    assert answers(alice, "lighthouse") == {"Word"}
    assert agrees()


def test_words_that_are_masked_between_two_steps_are_in_no_entry(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    """The text in memory is the one of before."""
    kept = keep(alice, text("Word") + "\n\nThe vault opens with Quokkazanzibar, they say.")

    def mask() -> None:
        row = Revision.objects.get()
        at = row.text.find("Quokkazanzibar")
        if row.indexed and at >= 0:
            space = workspace_index.index_of(alice.workspace.pk)
            why = masks.MaskReason("forgotten", "asked")
            masks.mask_documents(space, {row.pk: [(at, at + 14)]}, why)

    after_each_step.append(mask)
    pipeline.run(kept.pk)
    assert "Quokkazanzibar" not in Revision.objects.get().text
    assert agrees()


def test_a_visibility_that_changes_in_the_middle_holds_for_all_its_passages(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    kept = keep(alice, text("Word"))

    def change() -> None:
        if Document.objects.get(pk=kept.pk).visibility != "private":
            document_store.change(alice.scope, kept.pk, {"visibility": "private"})

    after_each_step.append(change)
    pipeline.run(kept.pk)
    while Document.objects.get(pk=kept.pk).state != "done":
        pipeline.run(kept.pk)
    assert set(of_chunks().values_list("visibility", flat=True)) == {0}
    assert agrees()


def test_what_passages_say_is_cut_out_of_their_text_once(alice: Person) -> None:
    pipeline.run(keep(alice, text("Word", 130)).pk)
    ids = list(Passage.objects.values_list("pk", flat=True))
    with CaptureQueriesContext(connection) as caught:
        items = rebuild.items_of_truth(Layer.CHUNKS, ids)
    assert [item.text for item in items] == [row.content for row in Passage.objects.filter(pk__in=ids).order_by("pk")]
    assert len([query for query in caught if '"memories_revision"."text"' in query["sql"]]) == 1


def mask(person: Person, revision: Revision, words: str, place: str = "text") -> None:
    at = getattr(revision, place).find(words)
    space = workspace_index.index_of(person.workspace.pk)
    why = masks.MaskReason("forgotten", "asked")
    masks.mask_documents(space, {revision.pk: [(at, at + len(words))]}, why)


def test_a_masked_title_of_a_long_document_leaves_its_entries_to_the_worker(
    alice: Person,
) -> None:
    """It lends its words to all passages: as many entries as the document has."""
    words = "Quokkazanzibar"
    new = NewDocument(parts=[f"{words} it was.\n\n{text('Word')}".encode()], title=words)
    kept = document_store.receive(alice.scope, new).document
    pipeline.run(kept.pk)
    before = set(of_chunks().values_list("pk", flat=True))
    mask(alice, Revision.objects.get(), words)
    assert set(of_chunks().values_list("pk", flat=True)) == before
    assert look_for(alice, words, threshold=0.0).hits == []
    assert pipeline.run(kept.pk) is not None
    assert not before & set(of_chunks().values_list("pk", flat=True))
    assert answers(alice, "lighthouse") == {"Word"}
    assert words not in Document.objects.get().title
    assert agrees()


def test_the_visibility_of_a_long_document_holds_at_once_and_its_entries_follow_in_steps(
    alice: Person, bob: Person, mallory: Person
) -> None:
    kept = keep(alice, text("Word"))
    pipeline.run(kept.pk)
    document_store.change(alice.scope, kept.pk, {"visibility": "global"})
    pipeline.run(kept.pk)
    assert answers(bob, "lighthouse") == {"Word"}
    document_store.change(alice.scope, kept.pk, {"visibility": "private"})
    assert answers(bob, "lighthouse") == set()
    then = AsOf(known_at=Revision.objects.get().created_at)
    assert answers(bob, "lighthouse", at=then) == set()
    pipeline.run(kept.pk)
    assert (answers(bob, "lighthouse"), answers(mallory, "lighthouse")) == (set(), set())
    assert answers(alice, "lighthouse") == {"Word"}
    assert set(of_chunks().values_list("visibility", flat=True)) == {0}
    assert agrees()


def test_what_is_forgotten_while_a_document_is_read_does_not_come_back_by_it(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.say("I have a dog named Behemoth.", user_id="ada")
    memory, cut = Memory.objects.get(), pipeline.cut

    def forget(*given: Any) -> Any:
        """Once the words were compared with what is forgotten, and before they are kept."""
        review.forget(alice.scope, memory.pk, "private")
        return cut(*given)

    monkeypatch.setattr(pipeline, "cut", forget)
    words = f"Ada has a dog named Behemoth.\n\n{text('Word', 130)}"
    kept = document_store.receive(
        alice.scope, NewDocument(parts=[words.encode()], user_id="ada", extract="none")
    ).document
    pipeline.run(kept.pk)
    shown = Document.objects.get(pk=kept.pk)
    assert (shown.state, Revision.objects.get().stage) == ("done", "")
    assert "Behemoth" not in Revision.objects.get().text + shown.summary
    assert "Behemoth" not in str(
        [
            passage.row.content
            for hit in look_for(alice, "dog named Behemoth", threshold=0).hits
            for passage in hit.passages
        ]
    )
    assert answers(alice, "lighthouse") == {"Word"}
    assert agrees()
    review.restore(alice.scope, memory.pk)
    assert words.split("\n")[0] in Revision.objects.get().text


def test_a_heading_that_is_forgotten_while_a_document_is_read_is_masked_as_its_text_is(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.say("I have a dog named Behemoth.", user_id="ada")
    memory, cut = Memory.objects.get(), pipeline.cut

    def forget(*given: Any) -> Any:
        review.forget(alice.scope, memory.pk, "private")
        return cut(*given)

    monkeypatch.setattr(pipeline, "cut", forget)
    heading = "Ada has a dog named Behemoth"
    words = f"# {heading}\n\nThe lighthouse keeper counts barrels.\n\n{text('Word', 130)}"
    new = NewDocument(parts=[words.encode()], user_id="ada", extract="none", title=heading)
    kept = document_store.receive(alice.scope, new).document
    pipeline.run(kept.pk)

    def names() -> str:
        parts = DocumentPart.objects.values_list("label", flat=True)
        titles = Document.objects.get().title, Revision.objects.get().title
        return " ".join([*titles, *parts, *Chunk.objects.values_list("heading", flat=True)])

    assert "Behemoth" not in names()
    assert "Behemoth" not in Revision.objects.get().text
    assert agrees()
    review.restore(alice.scope, memory.pk)
    assert names().count("Behemoth") >= 4  # document, revision, part, chunk
    assert agrees()


def test_what_is_learned_is_seen_by_whom_the_document_is_seen_by_then(
    alice: Person, after_each_step: list[Callable[[], object]]
) -> None:
    new = NewDocument(parts=[text("Word", 30).encode()], visibility="team")
    kept = document_store.receive(alice.scope, new).document
    after_each_step.append(lambda: document_store.change(alice.scope, kept.pk, {"visibility": "private"}))
    pipeline.run(kept.pk)
    assert MemorySession.objects.get().visibility == "private"


def test_a_long_document_is_put_apart_at_once_and_its_entries_follow_in_steps(
    alice: Person,
) -> None:
    pipeline.run(keep(alice, text("Word")).pk)
    new = NewDocument(parts=[text("Word").encode()], custom_id="log", extract="none", is_apart=True)
    with CaptureQueriesContext(connection) as caught:
        kept = document_store.receive(alice.scope, new).document
    assert not [query for query in caught if 'UPDATE "memories_entry"' in query["sql"]]
    assert answers(alice, "lighthouse") == set()
    pipeline.run(kept.pk)
    assert set(of_chunks().values_list("scope", flat=True)) == {APART}
    assert answers(alice, "lighthouse", document_ids=(str(kept.pk),)) == {"Word"}
    assert agrees()
