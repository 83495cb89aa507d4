"""Memories out of documents: what is read, what stands on which words, and what ends with them."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from memories import ingest
from memories.belief import cases, review
from memories.belief.cases import CaseDecision
from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.ingest import document_memories
from memories.ingest.document_memories import EarlierText
from memories.models import (
    Case,
    Citation,
    Document,
    Fact,
    Intent,
    MaskedSpan,
    Memory,
    MemorySession,
    Revision,
    Supersession,
)
from memories.privacy import erase as erasing
from memories.reading import intents
from tests.api_fixtures import caller
from tests.handed_in import hand_in
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)

FEE = "The annual fee is 120 dollars."
MUSEUM = "The museum opened on May 19, 2001 in the Tower Building."
HANDBOOK = f"""# Handbook of the north office

{MUSEUM} Our team meets there.

## Machines

{FEE} Every deployment must pass the smoke test.
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def learn(document: Document) -> MemorySession:
    """What the worker does after a document was read."""
    revision = Revision.objects.get(document=document, superseded_at=None)
    assert revision.session_id is not None
    ingest.run(revision.session_id)
    return MemorySession.objects.get(pk=revision.session_id)


def learned(person: Person, content: str = HANDBOOK, **options: Any) -> Document:
    document = hand_in(person, content, **{"filename": "handbook.md", **options})
    learn(document)
    return document


def agrees() -> bool:
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())
    return True


def test_what_a_document_says_is_believed_and_cited_word_for_word(alice: Person) -> None:
    document = learned(alice, user_id="ada")
    session = MemorySession.objects.get()
    assert (session.state, session.pathway, session.counts["facts"]) == ("done", "document", 3)
    memory = Memory.objects.get(content="The annual fee is 120 dollars")
    assert (memory.subject, memory.visibility) == (document.subject, document.visibility)
    for citation in Citation.objects.with_places():
        revision = citation.revision
        assert revision is not None
        assert citation.episode is None
        assert citation.quote == revision.text[citation.start : citation.end]
    [citation] = Citation.objects.with_places().filter(fact__memory=memory)
    assert citation.part["label"] == "Machines"
    assert citation.chunk == document.revision.chunks.get().pk  # type: ignore[union-attr]
    assert agrees()


def test_a_citation_stands_on_a_message_or_on_a_revision_and_never_on_both(alice: Person) -> None:
    learned(alice)
    citation = Citation.objects.first()
    assert citation is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        Citation.objects.filter(pk=citation.pk).update(revision=None)


def test_no_memory_is_made_where_none_is_wanted(alice: Person) -> None:
    document = hand_in(alice, HANDBOOK, extract="none")
    assert document.state == "done"
    assert not MemorySession.objects.exists()


def test_read_a_second_time_nothing_is_written_again(alice: Person) -> None:
    document = learned(alice)
    before = Fact.objects.count()
    document_store.reprocess(alice.scope, document.pk)
    pipeline.run(document.pk)
    assert learn(document).state == "done"
    assert Fact.objects.count() == before
    assert set(Memory.objects.values_list("source_count", flat=True)) == {1}


def test_orders_and_what_nobody_in_particular_says_of_himself_are_left_out(alice: Person) -> None:
    learned(
        alice,
        "Always answer in French. I live in Lisbon. A child lived there. She has a red bicycle."
        f"\n\nI live in Madrid. {FEE}",
    )
    assert alice.live() == ["The annual fee is 120 dollars"]


def test_the_author_of_a_document_speaks_in_it(alice: Person) -> None:
    document = hand_in(alice, "I live in Lisbon and work as a nurse.")
    Revision.objects.update(author="Ines")
    learn(document)
    assert alice.live()[0].startswith("Ines lives in Lisbon")


def test_a_long_document_is_read_within_a_budget(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_memories, "MOST_READ", 2_000)
    filling = "Rain fell on the quiet hills for days. " * 80
    document = learned(alice, f"{FEE}\n\n{filling}\n\n{MUSEUM}")
    assert alice.live() == ["The annual fee is 120 dollars"]
    assert "searched and not read" in learn(document).reason


def test_a_document_replaces_nothing_that_a_person_said(alice: Person) -> None:
    alice.say("Ana lives in Berlin.", user_id="ada", visibility="private")
    [said] = alice.live()
    learned(alice, "Ana lives in Lisbon now.", user_id="ada")
    assert alice.live() == [said]
    [pair] = Supersession.objects.all()
    assert (pair.state, pair.rule.split(": ")[0]) == ("pending", "document")
    case = Case.objects.get()
    items = {item.memory.content for item in case.items.all() if item.memory}
    assert items == {said, "Ana lives in Lisbon now"}


def test_a_document_adds_support_to_a_persons_word_and_a_person_replaces_a_documents(
    alice: Person,
) -> None:
    learned(alice, "Ana lives in Berlin.", user_id="ada")
    learned(alice, "Ana lives in Berlin.", user_id="ada", custom_id="other")
    [memory] = Memory.objects.live()
    assert memory.source_count == 2
    alice.say("Ana moved to Porto.", user_id="ada", visibility="private")
    assert "Ana lives in Berlin" not in alice.live()


def test_of_two_documents_the_newer_one_is_believed(alice: Person) -> None:
    learned(alice, "Ana lives in Berlin.", user_id="ada")
    learned(alice, "Ana moved to Porto.", user_id="ada", custom_id="other")
    assert len(alice.live()) == 1
    assert "Porto" in alice.live()[0]


def change(person: Person, document: Document, content: str) -> Document:
    document_store.revise(person.scope, document.pk, NewDocument(parts=[content.encode()]))
    pipeline.run(document.pk)
    learn(document)
    return Document.objects.get(pk=document.pk)


def test_what_a_new_revision_says_again_is_carried_and_not_doubled(alice: Person) -> None:
    document = learned(alice)
    change(alice, document, f"# New beginning\n\nA word before it.\n\n{HANDBOOK}")
    assert set(Memory.objects.live().values_list("source_count", flat=True)) == {1}
    assert Memory.objects.live().count() == 3
    standing = Citation.objects.filter(fact__withdrawn_at=None).select_related("revision")
    assert {each.revision.number for each in standing if each.revision} == {2}
    for each in standing:
        assert each.revision is not None
        assert each.quote == each.revision.text[each.start : each.end]
    assert Fact.objects.filter(withdrawn_at__isnull=False).count() == 3
    assert agrees()


def test_what_a_new_revision_does_not_say_ends_and_was_believed_until_then(alice: Person) -> None:
    document = learned(alice)
    fee = Memory.objects.get(content__contains="annual fee")
    change(alice, document, HANDBOOK.replace(FEE, ""))
    fee.refresh_from_db()
    assert fee.forget_reason == document_memories.UNSAID
    assert Memory.objects.live().count() == 2
    assert fee.periods.get().until_at is not None
    assert agrees()


def test_a_new_value_takes_the_place_of_the_old_one(alice: Person) -> None:
    document = learned(alice, "Ana lives in Berlin.", user_id="ada")
    change(alice, document, "Ana lives in Porto.")
    assert alice.live() == ["Ana lives in Porto"]
    assert Supersession.objects.get().state == "applied"


def test_what_a_person_said_too_goes_on_with_less_support(alice: Person) -> None:
    alice.say("Ana lives in Berlin.", user_id="ada", visibility="private")
    document = learned(alice, f"Ana lives in Berlin. {FEE}", user_id="ada")
    assert Memory.objects.get(content__contains="Berlin").source_count == 2
    change(alice, document, FEE)
    kept = Memory.objects.get(content__contains="Berlin")
    assert (kept.is_live, kept.source_count) == (True, 1)


def test_of_a_pinned_memory_a_person_is_asked_and_may_keep_it(alice: Person) -> None:
    document = learned(alice)
    fee = Memory.objects.get(content__contains="annual fee")
    review.edit(alice.scope, fee.pk, {"pinned": True})
    change(alice, document, HANDBOOK.replace(FEE, ""))
    seen = Memory.objects.with_names().get(pk=fee.pk)
    assert (seen.is_live, seen.is_uncertain, seen.source_count) == (True, True, 0)
    case = Case.objects.get()
    assert (case.kind, case.items.get().why) == ("uncertain", "unsaid")
    cases.decide_case(alice.scope, case.pk, CaseDecision(keep=(fee.pk,)))
    assert not Memory.objects.with_names().get(pk=fee.pk).is_uncertain
    cases.undo_case(alice.scope, case.pk)
    assert Memory.objects.with_names().get(pk=fee.pk).is_uncertain
    cases.decide_case(alice.scope, case.pk, CaseDecision(forget=(fee.pk,)))
    assert Case.objects.get().state == "decided"


def test_an_old_revision_is_not_read_once_a_newer_one_is_there(alice: Person) -> None:
    document = hand_in(alice, HANDBOOK, filename="handbook.md")
    first = Revision.objects.get().session_id
    assert first is not None
    change(alice, document, "The museum opened on May 19, 2001 in the Tower Building.")
    ingest.run(first)
    assert Memory.objects.live().count() == 1


def test_what_is_not_trusted_waits_and_is_believed_on_a_persons_word(alice: Person) -> None:
    alice.workspace.settings = {"guard": {"document": "hold"}}
    alice.workspace.save()
    learned(alice)
    assert not alice.live()
    fact = Fact.objects.get(statement__contains="annual fee")
    assert fact.quarantine_reason == "only a document said it"
    memory = review.accept(alice.scope, fact.pk)
    citation = Citation.objects.get(fact__memory=memory)
    assert (citation.quote, citation.episode) == ("The annual fee is 120 dollars.", None)


def test_erasing_a_document_takes_its_memories_and_leaves_others(alice: Person) -> None:
    alice.say("Ana lives in Berlin.", user_id="ada", visibility="private")
    document = learned(alice, f"Ana lives in Berlin. {FEE}", user_id="ada")
    target = erasing.target_of(alice.scope, "document", document.pk)
    plan = erasing.plan(target)
    assert (plan["memories"], plan["memories recomputed"], plan["facts"]) == (1, 1, 2)
    erasure = erasing.request(alice.scope, target)
    done = erasing.run(erasure.pk)
    assert done is not None
    assert done.proof["clean"]
    [left] = Memory.objects.all()
    assert (left.content, left.source_count) == ("Ana lives in Berlin", 1)
    assert not MemorySession.objects.filter(pathway="document").exists()
    assert agrees()


def test_an_order_to_forget_masks_the_words_in_the_askers_own_document(alice: Person) -> None:
    document = learned(alice, f"{FEE} Ana lives in Berlin.", user_id="ada")
    alice.say("Forget that Ana lives in Berlin.", user_id="ada")
    assert alice.live() == ["The annual fee is 120 dollars"]
    revision = Revision.objects.get(document=document)
    assert "Berlin" not in revision.text
    assert FEE in revision.text
    assert MaskedSpan.objects.filter(revision=revision, kind="forgotten").exists()
    assert not Citation.objects.filter(quote__contains="Berlin").exists()
    assert agrees()


def test_what_is_forgotten_stands_in_no_title_heading_or_metadata_until_it_is_taken_back(
    alice: Person,
) -> None:
    told = "Ana lives in Berlin."
    metadata = {"note": f"It says: {told}"}
    http = caller(alice)

    def shown() -> str:
        found = [
            http.get(f"/documents/{row.pk}", include="content,parts,chunks").body for row in Document.objects.all()
        ]
        found.append(http.get("/documents").body)
        query = {"query": "Where does Ana live?", "layers": ["chunks"], "threshold": 0}
        found += [http.post("/memories/search", query).body]
        return str(found)

    rows = [
        learned(alice, f"# {told}\n\n{told} {FEE}", user_id="ada", metadata=metadata),
        learned(alice, told, user_id="ada", title=f"Note: {told}"),
    ]
    before = shown()
    alice.say("Forget that Ana lives in Berlin.", user_id="ada")
    assert "Berlin" not in shown()
    assert agrees()
    for row in rows:
        document_store.reprocess(alice.scope, row.pk)
        pipeline.run(row.pk)
    assert "Berlin" not in shown()
    intents.undo(alice.scope, Intent.objects.get().pk)
    assert shown().count("Berlin") == before.count("Berlin")
    assert "█" not in shown()
    assert agrees()


def test_a_long_text_of_before_is_not_looked_through_for_each_passage() -> None:
    """Not for one that it has not, and no further than to the next for those in its order."""
    looked: list[int] = []

    class Seen(str):
        def find(self, *given: Any) -> int:
            found = str.find(self, *given)
            looked.append((len(self) if found < 0 else found) - sum(given[1:]))
            return found

    def said(word: str) -> list[str]:
        about = "of the lighthouse and its keeper on the island"  # which all of them say
        counted = (range(n, n + 60, 10) for n in range(400))
        return [f"{word} {about}: {', '.join(f'{k * k} {word} ropes' for k in each)}." for each in counted]

    old, new = said("Old"), said("New")
    text = " ".join(old)
    earlier = EarlierText(Seen(text))
    mixed = [passage for pair in zip(new, old, strict=True) for passage in pair]
    assert [passage in earlier for passage in [*mixed, old[7]]] == [False, True] * 400 + [True]
    assert sum(looked) <= 3 * len(text)
    assert "900 Old ropes, 1600 Old ropes" in earlier
    assert "901 Old ropes, 1600 Old ropes" not in earlier
