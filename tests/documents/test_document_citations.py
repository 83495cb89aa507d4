"""What stands on a document, shown to whoever may see that: in search, context, facts, cases and on
the pages."""

from pathlib import Path
from typing import Any

import pytest

from memories.belief import review
from memories.documents import document_store
from memories.models import Case, Fact, Memory, MemorySession
from memories.search import SearchRequest
from memories.search.context import context
from tests.api_fixtures import caller
from tests.desk import member, page_of
from tests.documents.test_document_memories import FEE, HANDBOOK, change, learned
from tests.people import Person, bound_to_agent

pytestmark = pytest.mark.django_db(transaction=True)
CLAIM = "The annual fee is 120 dollars"
WHERE = {"kind": "heading", "ordinal": 2, "label": "Machines"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def asked(person: Person, **more: Any) -> list[dict[str, Any]]:
    body = {"query": "annual fee", "include": ["citations"], **more}
    results: list[dict[str, Any]] = caller(person).post("/memories/search", body).body["results"]
    return results


def test_a_hit_has_the_passage_as_its_source_and_citations_with_their_place(alice: Person) -> None:
    document = learned(alice)
    revision = document.revision
    assert revision is not None
    hit = asked(alice)[0]
    assert hit["memory"]["content"] == CLAIM
    source = hit["source"]
    assert source["text"] == revision.text[source["start"] : source["end"]]
    assert FEE in source["text"]
    assert (source["documentId"], source["chunkId"]) == (
        str(document.pk),
        str(revision.chunks.get().pk),
    )
    assert source["part"].items() >= WHERE.items()
    assert "episodeId" not in source
    [citation] = hit["citations"]
    assert citation["quote"] == revision.text[citation["start"] : citation["end"]]
    assert (citation["episodeId"], citation["documentId"]) == (None, str(document.pk))
    assert citation["part"].items() >= WHERE.items()


def test_source_and_facts_are_seen_by_whoever_sees_the_document(alice: Person, mallory: Person) -> None:
    owner, mate = (bound_to_agent(alice.workspace, name, "red") for name in ("owner", "mate"))
    outsider = bound_to_agent(alice.workspace, "outsider", "blue")
    document = learned(owner, visibility="team")
    for memory in Memory.objects.all():  # shown to more than its document is
        review.edit(alice.scope, memory.pk, {"visibility": "global"})
    for person, is_seen in ((alice, True), (owner, True), (mate, True), (outsider, False)):
        [hit] = asked(person, limit=1)
        assert ("source" in hit, bool(hit["citations"])) == (is_seen, is_seen)
        facts = caller(person).get("/facts").body["results"]
        assert bool(facts) == is_seen
        assert Fact.objects.visible_to(person.scope).exists() == is_seen
    assert not asked(mallory)
    assert not Fact.objects.visible_to(mallory.scope).exists()
    document_store.change(owner.scope, document.pk, {"visibility": "private"})
    assert "source" not in asked(mate, limit=1)[0]


def test_context_names_the_document_that_says_it(alice: Person) -> None:
    learned(alice)
    told = context(alice.scope, SearchRequest("What is the annual fee?"), floor=0.0)
    assert f"{CLAIM} (Handbook of the north office, Machines)" in told.text


def test_memories_are_filtered_by_their_documents_metadata(alice: Person) -> None:
    learned(alice, metadata={"shelf": "green"})
    wanted = {"field": "metadata.shelf", "op": "eq", "value": "green"}
    assert asked(alice, filter=wanted)
    assert not asked(alice, filter={**wanted, "value": "red"})


def test_a_case_quotes_the_document_by_its_title(alice: Person) -> None:
    alice.say("Ana lives in Berlin.", user_id="ada", visibility="private")
    learned(alice, "Ana lives in Lisbon now.", user_id="ada", title="Address book")
    case = caller(alice).get(f"/cases/{Case.objects.get().pk}").body
    by_role = {quote["role"]: quote for item in case["items"] for quote in item["quotes"]}
    assert by_role["document"]["name"] == "Address book"
    assert by_role["user"]["episodeId"]


def test_pages_of_document_memory_fact_and_session_lead_to_each_other(alice: Person, mallory: Person) -> None:
    document = learned(alice)
    memory = Memory.objects.get(content=CLAIM)
    fact = memory.facts.get()
    desk = member(alice.workspace)
    shown = desk.sees(page_of(document))
    assert f'<mark><a href="{page_of(fact)}"' in shown.replace("&quot;", '"')
    assert page_of(memory) in shown
    assert "is-asked" in desk.sees(page_of(document), fact=str(fact.pk))
    for row in (memory, fact):
        page = desk.sees(page_of(row))
        assert f"{page_of(document)}?fact={fact.pk}" in page
        assert "Machines" in page
    session = MemorySession.objects.get()
    assert page_of(document) in desk.sees(page_of(session))
    assert member(mallory.workspace).status(page_of(document)) == 404


def test_a_revision_that_was_replaced_is_shown_where_its_fact_is_asked_for(alice: Person) -> None:
    document = learned(alice)
    fact = Fact.objects.get(statement=CLAIM)
    change(alice, document, HANDBOOK.replace(FEE, ""))
    desk = member(alice.workspace)
    assert FEE.removesuffix(".") not in desk.sees(page_of(document)).split("Chunks")[0]
    assert "120 dollars" in desk.sees(page_of(document), fact=str(fact.pk))
    assert "Said until" in desk.sees(page_of(fact))


def test_memories_of_a_document_follow_its_visibility_unless_others_carry_them(
    alice: Person,
) -> None:
    owner, mate = (bound_to_agent(alice.workspace, name, "red") for name in ("owner", "mate"))
    document = learned(owner, visibility="team")
    assert CLAIM in mate.live()
    document_store.change(owner.scope, document.pk, {"visibility": "private"})
    assert not mate.live()
    assert CLAIM in owner.live()
    assert not [each for each in mate.finds("annual fee") if each == CLAIM]
