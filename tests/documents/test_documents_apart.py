"""What a program keeps for itself as documents: found by searches that name its space, told in
nobody's context, learned from by nobody, and written in a few statements."""

from memories.chat.sources import SourceFilter, Sources
from memories.documents.search_documents import DocumentSearch, search_documents
from memories.index import workspace_index
from memories.index.check import check_index
from memories.models import (
    Blob,
    Chunk,
    Document,
    DueVector,
    Entry,
    MemorySession,
    Passage,
    Revision,
)
from memories.search import SearchRequest
from memories.search.context import PACKED, context
from tests.api_fixtures import Caller, caller
from tests.mcp_caller import McpCaller
from tests.people import Person
from tests.statements_sent import sent

ITEM = '{"text": "Petra plays the zither in Graz"}'
QUESTION = "Who plays the zither?"


def kept(http: Caller, content: str = ITEM, name: str = "graph:users/petra", **more: object) -> str:
    body = {
        "customId": name,
        "content": content,
        "filename": "text.txt",
        "containerTags": ["graph"],
        "mode": "sync",
        "extract": "none",
        "isApart": True,
        **more,
    }
    answer = http.post("/documents", body)
    assert answer.body["status"] == "completed", answer.body
    return str(answer.body["id"])


def chunks(person: Person, **named: object) -> list[str]:
    """The words of the passages that a search in documents finds."""
    request = DocumentSearch("zither", threshold=0, **named)  # type: ignore[arg-type]
    hits = search_documents(person.scope, request).hits
    return [passage.row.content for hit in hits for passage in hit.passages]


def test_an_item_of_a_store_is_told_in_nobodys_context(alice: Person) -> None:
    alice.say("I keep bees.", user_id="ada")
    kept(caller(alice))
    for user in ("ada", "petra", ""):
        request = SearchRequest(QUESTION, limit=50, user_id=user, layers=PACKED)
        assert "zither" not in context(alice.scope, request, floor=0).text


def test_no_search_finds_it_that_does_not_name_it_or_its_space(alice: Person) -> None:
    own = kept(caller(alice))
    other = {"isApart": None, "containerTags": ["papers"]}
    kept(caller(alice), "The zither hangs in the hall.", "papers:hall", **other)
    assert chunks(alice) == ["The zither hangs in the hall."]
    assert alice.finds("zither", layers=("chunks",)) == ["The zither hangs in the hall."]
    assert chunks(alice, container_tags=("graph",)) == [ITEM]
    assert chunks(alice, document_ids=(own,)) == [ITEM]
    told = McpCaller(alice.key).tool("searchDatabase", query="zither").told
    assert [result["documentId"] == own for result in told["results"]] == [False]
    sources = Sources(alice.scope, SourceFilter())
    assert [one.text for one in sources.of_documents("zither", 5)] == ["The zither hangs in the hall."]
    newest = DocumentSearch("harpsichord", threshold=1, fallback="recent")
    found = search_documents(alice.scope, newest).hits
    assert own not in {str(hit.document.pk) for hit in found}


def test_an_outsider_finds_it_by_no_name(alice: Person, mallory: Person) -> None:
    own = kept(caller(alice))
    assert chunks(mallory, container_tags=("graph",)) == []
    assert chunks(mallory, document_ids=(own,)) == []


def test_a_save_is_a_row_of_each_kind_and_reads_in_no_child_process(alice: Person) -> None:
    http = caller(alice)
    kept(http, "Something before.", "graph:before")
    before = [model.objects.count() for model in KINDS]
    with sent() as asked:
        kept(http)
    assert [model.objects.count() - n for model, n in zip(KINDS, before, strict=True)] == [1] * 6
    assert MemorySession.objects.count() == 0
    assert len(asked) <= MOST
    row = Document.objects.get(custom_id="graph:users/petra")
    assert row.revision is not None
    assert row.revision.extractor == "plain"
    assert "embedding" not in {step["step"] for step in row.steps}
    assert DueVector.objects.count() == 2


KINDS = (Document, Revision, Chunk, Passage, Entry, Blob)
MOST = 60  # statements; of them 3 for the share of files, 2 for words that somebody had forgotten


def test_what_is_kept_is_word_by_word_what_was_sent(alice: Person) -> None:
    words = "# No heading\n<b>no markup</b>\n\n\n  two blanks before"
    own = kept(caller(alice), words)
    answer = caller(alice).get(f"/documents/{own}", include="content").body
    assert (answer["content"], answer["isApart"]) == (words, True)


def test_nothing_is_learned_of_it_whatever_was_asked(alice: Person) -> None:
    kept(caller(alice), "We decided to use Grafana for dashboards.", extract="auto")
    assert alice.live() == []
    assert MemorySession.objects.count() == 0


def test_what_was_kept_before_is_put_apart_when_it_is_saved_again(alice: Person) -> None:
    kept(caller(alice), isApart=False)
    assert chunks(alice) == [ITEM]
    caller(alice).post("/documents", {"customId": "graph:users/petra", "content": ITEM, "isApart": True})
    assert chunks(alice) == []
    assert chunks(alice, container_tags=("graph",)) == [ITEM]
    caller(alice).post("/documents", {"customId": "graph:users/petra", "content": ITEM})
    assert chunks(alice) == []
    index = workspace_index.index_of(alice.workspace.pk)
    assert check_index(index, lambda _: None).holds
