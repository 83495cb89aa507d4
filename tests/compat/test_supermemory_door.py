"""supermemory's routes: documents of containers, what is learned from them, and who sees it."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_httpserver import HTTPServer

from memories.documents import pipeline
from memories.models import Document, Memory, MemorySession, Revision
from memories.privacy import legal_holds
from tests.api_fixtures import Answer, Caller, caller
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

DOCUMENTS = "//v3/documents"
TEA = {"content": "I prefer tea to coffee.", "containerTag": "ada", "customId": "drinks"}


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def document(http: Caller) -> Document:
    return Document.objects.get(pk=http.post(DOCUMENTS, TEA).body["id"])


def search(who: Caller, **more: Any) -> Any:
    question = {"q": "tea or coffee", "searchMode": "hybrid", **more}
    return who.post("//v4/search", question).body["results"]


def test_a_teammates_narrow_key_and_an_outsider_see_no_document(
    document: Document, bob: Person, carol: Person, mallory: Person
) -> None:
    for person in (bob, carol, mallory):
        who = caller(person)
        assert who.get(f"{DOCUMENTS}/{document.pk}").status == 404
        assert who.get(f"{DOCUMENTS}/drinks").status == 404
        assert who.post(f"{DOCUMENTS}/list", {}).body["memories"] == []
        assert who.post("//v3/search", {"q": "tea or coffee"}).body["results"] == []
        assert search(who) == []
        assert who.patch(f"{DOCUMENTS}/{document.pk}", {"metadata": {}}).status == 404
        assert who.delete(f"{DOCUMENTS}/{document.pk}").status in (403, 404)
        gone = {"containerTag": "ada", "content": "User prefers tea to coffee"}
        assert who.call("DELETE", "//v4/memories", gone).status == 404
    assert Document.objects.filter(pk=document.pk).exists()
    assert Memory.objects.live().count() == 1


def test_a_key_of_a_subject_keeps_and_sees_its_own_and_erases_nothing(document: Document, alice: Person) -> None:
    ada = Subject.objects.get(external_id="ada")
    own = caller(with_key(alice.workspace, KeyOptions("ada", subjects=(ada,))))
    assert own.get(f"{DOCUMENTS}/drinks").body["id"] == str(document.pk)
    assert own.post(DOCUMENTS, {"content": "A box.", "containerTag": "eve"}).status == 403
    assert own.delete(f"{DOCUMENTS}/drinks").status == 403
    assert own.call("DELETE", f"{DOCUMENTS}/bulk", {"ids": ["drinks"]}).status == 403
    refused = own.post(f"{DOCUMENTS}/batch", {"documents": ["A box."], "containerTag": "eve"})
    assert refused.body["failed"] == 1


def test_the_same_custom_id_is_another_document_in_another_container(http: Caller, document: Document) -> None:
    again = http.post(DOCUMENTS, TEA).body["id"]
    other = http.post(DOCUMENTS, {**TEA, "containerTag": "eve"}).body["id"]
    loose = http.post(DOCUMENTS, {"content": "A box.", "customId": "loose"}).body["id"]
    assert again == str(document.pk) != other
    assert http.get(f"{DOCUMENTS}/loose").body["id"] == loose
    assert http.get(f"{DOCUMENTS}/{other}").body["customId"] == "drinks"
    assert MemorySession.objects.count() == 3


def test_what_is_under_way_is_listed_and_read_later(http: Caller) -> None:
    long = "The river is long and the night is dark. " * 3000
    added = http.post(DOCUMENTS, {"content": long, "containerTag": "ada"}).body
    assert added["status"] == "queued"
    assert MemorySession.objects.count() == 0
    for tags, count in (("ada", 1), ("eve", 0)):
        told = http.get(f"{DOCUMENTS}/processing", containerTags=tags).body
        assert (told["totalCount"], len(told["documents"])) == (count, count)
    listed = http.post(f"{DOCUMENTS}/list", {"includeContent": True}).body["memories"]
    assert listed[0]["content"] == ""
    pipeline.run(Document.objects.get().pk)
    assert http.get(f"{DOCUMENTS}/processing").body["totalCount"] == 0


def test_a_text_is_served_before_it_is_read_unless_a_secret_is_in_it(http: Caller) -> None:
    secret = "My bank password is Otter!2024."
    texts = {"plain": "The box is full.", "secret": secret}
    for name, text in texts.items():
        http.post(DOCUMENTS, {"content": text, "customId": name})
    Revision.objects.all().delete()
    Document.objects.update(state=Document.State.QUEUED)
    assert http.get(f"{DOCUMENTS}/plain").body["content"] == texts["plain"]
    assert http.get(f"{DOCUMENTS}/secret").body["content"] == ""


def test_a_file_comes_with_its_tags_as_one_text(http: Caller) -> None:
    file = SimpleUploadedFile("plan.md", b"# Plan\n\nPaint the bridge.")
    form = {"file": file, "containerTags": "ada", "metadata": '{"by": "hand"}'}
    answer = http.client.post("/v3/documents/file", form, headers=http.headers)
    assert answer.status_code == 200, answer.content
    told = http.get(f"{DOCUMENTS}/{answer.json()['id']}").body
    assert (told["containerTags"], told["metadata"]) == (["ada"], {"by": "hand"})
    assert told["customId"] is None


def test_a_change_of_metadata_and_containers_reads_nothing_anew(http: Caller, document: Document) -> None:
    changes = {"metadata": {"a": True}, "containerTags": ["ada", "shop"]}
    assert http.patch(f"{DOCUMENTS}/drinks", changes).status == 200
    told = http.get(f"{DOCUMENTS}/drinks").body
    assert (told["containerTags"], told["latestRevision"]) == (["ada", "shop"], 1)
    same = http.patch(f"{DOCUMENTS}/drinks", {"content": TEA["content"]})
    assert (same.status, MemorySession.objects.count()) == (200, 1)
    assert http.patch(f"{DOCUMENTS}/drinks", {"content": "I prefer milk."}).status == 200
    assert http.get(f"{DOCUMENTS}/drinks").body["latestRevision"] == 2
    gone = Document.objects.get().pk
    http.delete(f"{DOCUMENTS}/drinks")
    assert http.patch(f"{DOCUMENTS}/{gone}", {"content": "x"}).status == 404


def test_a_document_says_its_title_type_and_address(http: Caller) -> None:
    said = {"title": "On drinks", "url": "https://example.org/tea", "type": "webpage"}
    row = http.post(DOCUMENTS, {**TEA, **said}).body["id"]
    told = http.get(f"{DOCUMENTS}/{row}").body
    assert {name: told[name] for name in said} == said
    http.patch(f"{DOCUMENTS}/{row}", {"title": "On tea"})
    assert http.get(f"{DOCUMENTS}/{row}").body["title"] == "On tea"
    assert http.patch(f"{DOCUMENTS}/{row}", {"content": "https://example.org/"}).status == 400


@pytest.mark.parametrize("name", ["content", "url"])
def test_an_address_is_fetched_and_read_by_the_worker(http: Caller, httpserver: HTTPServer, name: str) -> None:
    page = "<html><body><p>The heron fishes at noon.</p></body></html>"
    httpserver.expect_request("/a").respond_with_data(page, content_type="text/html")
    url = f"http://localhost:{httpserver.port}/a"
    answer = http.post(DOCUMENTS, {name: url, "containerTag": "ada"})
    assert (answer.status, answer.body["status"]) == (200, "queued")
    pipeline.run(Document.objects.get().pk)
    told = http.get(f"{DOCUMENTS}/{answer.body['id']}").body
    assert (told["status"], told["url"], told["type"]) == ("done", url, "webpage")
    assert "The heron fishes at noon." in told["content"]


def test_the_chat_answers_out_of_a_container_or_of_named_documents(
    http: Caller, document: Document, mallory: Person
) -> None:
    other = {"content": "I prefer milk to tea.", "containerTag": "eve"}
    http.post(DOCUMENTS, other)
    ask = {"messages": [{"role": "user", "content": "Tea or coffee?"}], "mode": "simple"}
    for more in ({"containerTags": ["ada"]}, {"scopedDocumentIds": ["ada/drinks"]}):
        told = http.post("//chat/v2", {**ask, **more}).body
        assert "tea to coffee" in told["message"]
        assert "milk" not in told["message"]
        assert told["model"] is None
    again = {**ask, "conversationId": told["conversationId"]}
    assert http.post("//chat/v2", again).body["conversationId"] == told["conversationId"]
    assert caller(mallory).post("//chat/v2", again).status == 404
    assert caller(mallory).post("//chat/v2", ask).body["citations"] == []
    refused = http.post("//chat/v2", {**ask, "mode": "agentic"})
    assert (refused.status, refused.body["code"]) == (409, "no_model")
    assert http.get("//chat/v3").status == 404


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"AND": [{"key": "n", "value": "4"}]}, 1),
        ({"AND": [{"key": "n", "value": 4}]}, 1),
        ({"AND": [{"key": "open", "value": "true"}]}, 1),
        ({"OR": [{"key": "n", "value": "5"}, {"key": "open", "value": "false"}]}, 0),
        ({"key": "path", "value": "/memories/", "filterType": "string_contains"}, 1),
        ({"AND": [{"key": "n", "value": "4", "negate": "true"}]}, 0),
        ('{"AND": [{"key": "n", "value": "4"}]}', 1),
    ],
)
def test_lists_are_narrowed_by_metadata(http: Caller, filters: Any, count: int) -> None:
    metadata = {"n": 4, "open": True, "path": "/memories/a.md"}
    http.post(DOCUMENTS, {"content": "The box is full.", "metadata": metadata})
    listed = http.post(f"{DOCUMENTS}/list", {"filters": filters}).body
    assert listed["pagination"]["totalItems"] == count
    found = http.post("//v3/search", {"q": "box", "filters": filters}).body
    assert found["total"] == count


def number(op: str, value: Any) -> dict[str, Any]:
    return {"key": "n", "value": value, "filterType": "numeric", "numericOperator": op}


def deep() -> dict[str, Any]:
    tree: dict[str, Any] = {"key": "a", "value": "b"}
    for _ in range(12):
        tree = {"AND": [tree]}
    return tree


@pytest.mark.parametrize(
    ("address", "body", "words"),
    [
        (DOCUMENTS, {"content": ""}, "content"),
        (DOCUMENTS, {}, "Give the words"),
        (DOCUMENTS, {"content": "http://127.0.0.1/a"}, "does not read that address"),
        (DOCUMENTS, {"url": "file:///etc/passwd"}, "Give the words"),
        (DOCUMENTS, {"content": "x", "type": "novel"}, "type"),
        ("//chat/v2", {"messages": []}, "messages"),
        ("//chat/v2", {"messages": [{"role": "assistant", "content": "x"}]}, "the user's"),
        ("//chat/v2", {"messages": [{"role": "user", "content": "x"}], "mode": "hasty"}, "mode"),
        (DOCUMENTS, {"content": "x", "containerTag": "a b"}, "containerTag"),
        (f"{DOCUMENTS}/batch", {}, "documents"),
        (f"{DOCUMENTS}/list", {"filters": {"AND": "x"}}, "list of conditions"),
        (f"{DOCUMENTS}/list", {"filters": {"AND": [{"key": ""}]}}, "Needs AND, OR"),
        (f"{DOCUMENTS}/list", {"filters": deep()}, "Nested deeper"),
        (f"{DOCUMENTS}/list", {"filters": "{"}, "filters"),
        (
            f"{DOCUMENTS}/list",
            {"filters": {"key": "n", "value": "1", "filterType": "numeric"}},
            "",
        ),
        (
            f"{DOCUMENTS}/list",
            {
                "filters": {
                    "key": "n",
                    "value": "1",
                    "filterType": "numeric",
                    "numericOperator": ">",
                }
            },
            "narrowed by equal",
        ),
        ("//v3/search", {}, "Say what"),
        ("//v3/search", {"q": "x", "filters": number("=", "x")}, "Must be a number"),
        (
            "//v3/search",
            {
                "q": "x",
                "filters": {
                    "key": "n",
                    "value": 1,
                    "filterType": "numeric",
                    "numericOperator": "?",
                },
            },
            "Known: >",
        ),
        ("//v4/profile", {"containerTag": "ada", "filters": {"AND": []}}, "not narrowed"),
    ],
)
def test_what_is_wrong_is_told(http: Caller, address: str, body: Any, words: str) -> None:
    answer: Answer = http.post(address, body)
    assert (answer.status == 400) == bool(words), answer.body
    assert answer.headers["Content-Type"] == "application/json"
    assert words in str(answer.body.get("error"))


@pytest.mark.parametrize(
    ("method", "body", "words"),
    [
        ("PATCH", {"containerTag": "ada", "id": "x"}, "takes its place"),
        ("PATCH", {"containerTag": "ada", "newContent": "x"}, "exactly one"),
        ("DELETE", {"containerTag": "ada", "id": "x", "content": "y"}, "exactly one"),
    ],
)
def test_a_memory_is_named_once(http: Caller, method: str, body: Any, words: str) -> None:
    answer = http.call(method, "//v4/memories", body)
    assert (answer.status, words in answer.body["details"]) == (400, True)


def test_a_memory_is_changed_by_its_words_with_metadata(http: Caller, document: Document) -> None:
    body = {
        "containerTag": "ada",
        "content": "User prefers tea to coffee",
        "newContent": "Ada prefers milk",
        "metadata": {"by": "hand"},
    }
    new = http.call("PATCH", "//v4/memories", body).body
    assert (new["memory"], new["version"], new["metadata"]) == (
        "Ada prefers milk",
        2,
        {"by": "hand"},
    )
    same = {**body, "content": "Ada prefers milk"}
    assert http.call("PATCH", "//v4/memories", same).body["parentMemoryId"] is None


def test_what_is_held_by_law_stays(http: Caller, document: Document, alice: Person) -> None:
    legal_holds.place(alice.scope, Subject.objects.get(external_id="ada"), "a suit")
    assert http.delete(f"{DOCUMENTS}/drinks").status == 409
    assert http.call("DELETE", f"{DOCUMENTS}/bulk", {"ids": [], "containerTags": []}).status == 400
    assert Document.objects.filter(pk=document.pk).exists()


def test_search_is_of_some_containers_or_of_all(http: Caller, document: Document) -> None:
    assert len(search(http)) == 2
    assert len(search(http, containerTags=["ada", "eve"], searchMode="memories")) == 1
    assert search(http, containerTag="eve") == []
    strict = {"threshold": 1.0}
    assert search(http, **strict) == []
    wanted = {"key": "kind", "value": "list"}
    assert search(http, filters={"AND": [wanted]}) == []
    hit = http.post("//v3/search", {"q": "tea", "docId": "drinks", "chunkThreshold": 1.0}).body
    assert hit["results"] == []
