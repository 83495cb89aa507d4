"""Documents over HTTP: handed in, listed, read, searched, each by whom it may be."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from memories.documents import pipeline
from memories.index import workspace_index
from memories.ingest.ingest_request import AT_ONCE
from memories.models import Document, MaskedSpan, Revision
from memories.privacy import erase, masks
from memories.privacy.masks import MaskReason
from tests.api_fixtures import Answer, Caller, caller, member
from tests.handed_in import PUMPS, hand_in
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "How often does the copper pump need oil?"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def upload(http: Caller, name: str, data: bytes, said: Any = None, **headers: str) -> Answer:
    parts = [b'--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n' % (name.encode(), data)]
    if said is not None:
        text = said if isinstance(said, bytes) else json.dumps(said).encode()
        parts.append(b'--b\r\nContent-Disposition: form-data; name="document"\r\n\r\n%s\r\n' % text)
    body = b"".join([*parts, b"--b--\r\n"])
    return http.call("POST", "/documents", body, headers=headers, content_type="multipart/form-data; boundary=b")


def read_all() -> None:
    for each in pipeline.due():
        pipeline.run(each)


def test_a_document_is_handed_in_followed_and_found(alice: Person) -> None:
    http = caller(alice)
    told = http.post(
        "/documents",
        {"content": PUMPS, "customId": "p", "containerTags": ["north"], "metadata": {"a": 1}},
    )
    assert (told.status, told.body["status"], told.body["unchanged"]) == (202, "pending", False)
    read_all()
    path = f"/documents/{told.body['id']}"
    shown = http.get(path, include="content,parts,chunks,steps").body
    assert (shown["status"], shown["step"], shown["revision"]) == ("completed", "done", 1)
    assert shown["containerTags"] == ["north"]
    for piece in [*shown["chunks"], *http.get(f"{path}/chunks").body["results"]]:
        assert piece["content"] == shown["content"][piece["start"] : piece["end"]]
    assert [part["kind"] for part in http.get(f"{path}/parts").body["results"]] == ["heading"] * 2
    assert http.get(f"{path}/revisions").body["results"][0]["characters"] == len(shown["content"])
    found = http.post("/documents/search", {"query": QUESTION, "includeSummary": True}).body
    chunk = found["results"][0]["chunks"][0]
    assert chunk["content"] == shown["content"][chunk["start"] : chunk["end"]]
    assert (found["searchPath"], chunk["parts"][0]["label"]) == (
        "vector+keyword",
        "Pumps of the north",
    )
    again = http.post("/documents", {"content": PUMPS, "customId": "p"})
    assert (again.status, again.body["unchanged"]) == (200, True)
    assert http.get(path, include="nothing").status == 400
    full = {"query": QUESTION, "includeFullDocs": True, "scores": True, "recency": {"weight": 0.1}}
    assert "content" in http.post("/documents/search", full).body["results"][0]["document"]


def test_a_blank_query_is_refused_at_its_field(alice: Person) -> None:
    for query in ("", "  ", "\n\t"):
        answer = caller(alice).post("/documents/search", {"query": query})
        assert (answer.status, answer.fields) == (400, ["query"])


def test_a_document_is_read_and_found_as_it_was_then(alice: Person, bob: Person, mallory: Person) -> None:
    """Its words, pieces and title; what is masked now is masked then, and erased it is gone."""
    before = timezone.now().isoformat()
    old = "# Green gate\n\nThe gate of the orchard is painted green. Its keeper is Nils Holm."
    row = hand_in(alice, old, custom_id="gate", visibility="global").pk
    then = timezone.now().isoformat()
    hand_in(alice, "# Violet gate\n\nThe gate of the orchard is painted violet.", custom_id="gate")
    path = f"/documents/{row}"
    wish = {"query": "What colour is the gate of the orchard painted?", "knownAt": then}
    for http in (caller(alice), caller(bob)):
        shown = http.get(path, include="content,parts,chunks", knownAt=then).body
        assert (shown["revision"], shown["title"], shown["summary"]) == (1, "Green gate", "")
        assert shown["content"] == old
        assert [chunk["content"] for chunk in shown["chunks"]] == [old]
        for piece, name in (("chunks", "content"), ("parts", "label")):
            [one] = http.get(f"{path}/{piece}", knownAt=then).body["results"]
            assert "Green gate" in one[name]
            [now] = http.get(f"{path}/{piece}").body["results"]
            assert "Violet gate" in now[name]
        for body in (wish, wish | {"query": "xyzzy", "threshold": 0.9, "fallback": "recent"}):
            [hit] = http.post("/documents/search", body | {"includeFullDocs": True}).body["results"]
            assert (hit["document"]["title"], hit["document"]["content"]) == ("Green gate", old)
        [found] = http.post("/memories/search", wish | {"layers": ["chunks"]}).body["results"]
        assert (found["chunk"]["title"], "green" in found["chunk"]["content"]) == (
            "Green gate",
            True,
        )
        assert http.get(path, knownAt=before).status == 404
        assert not http.post("/documents/search", wish | {"knownAt": before}).body["results"]
    assert caller(mallory).get(path, knownAt=then).status == 404
    assert caller(alice).get(path, knownAt="yesterday").body["errors"][0]["field"] == "knownAt"
    revision = Revision.objects.get(number=1)
    place = revision.text.index("Nils Holm")
    space = workspace_index.index_of(alice.workspace.pk)
    with transaction.atomic():
        spans = {revision.pk: [(place, place + 9)]}
        masks.mask_documents(space, spans, MaskReason(MaskedSpan.Kind.FORGOTTEN))
    assert "Nils" not in str(caller(alice).get(path, include="content", knownAt=then).body)
    erase.run(erase.request(alice.scope, erase.target_of(alice.scope, "document", row)).pk)
    assert caller(alice).get(path, knownAt=then).status == 404
    for layer in ("documents", "memories"):
        body = wish | ({"layers": ["chunks"]} if layer == "memories" else {})
        assert not caller(alice).post(f"/{layer}/search", body).body["results"]


def test_a_file_is_uploaded_with_what_is_said_of_it_and_comes_back_as_it_was(alice: Person) -> None:
    http = caller(alice)
    told = upload(http, "../etc/pumps.md", PUMPS.encode(), {"userId": "ada", "title": "Ours"})
    assert told.status == 202
    read_all()
    shown = http.get(f"/documents/{told.body['id']}").body
    assert (shown["filename"], shown["title"], shown["userId"]) == ("pumps.md", "Ours", "ada")
    file = http.get(f"/documents/{told.body['id']}/file")
    assert file.headers["Content-Disposition"] == 'attachment; filename="pumps.md"'
    assert file.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in file.headers["Content-Security-Policy"]


def test_an_upload_sent_twice_with_a_key_is_one_document(alice: Person) -> None:
    http = caller(alice)
    first = upload(http, "a.txt", b"One.", Idempotency_Key="k")
    assert upload(http, "a.txt", b"One.", Idempotency_Key="k").body == first.body
    assert upload(http, "a.txt", b"Two.", Idempotency_Key="k").status == 409
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("said", "field"),
    [(b"{", "document"), ({"tital": "x"}, "tital"), ({"title": "a\0b"}, "document.title")],
)
def test_a_form_that_is_wrong_is_refused_by_field(alice: Person, said: Any, field: str) -> None:
    answer = upload(caller(alice), "a.txt", b"One.", said)
    assert (answer.status, answer.fields) == (400, [field])


def test_what_is_too_large_or_nothing_is_refused(alice: Person, settings: Any) -> None:
    http = caller(alice)
    settings.MAX_UPLOAD_BYTES = 100
    assert upload(http, "a.txt", b"x" * 200).status == 413
    assert http.post("/documents", {"title": "x"}).fields == ["content"]
    assert http.post("/documents", {"content": "x", "containerTags": ["a b"]}).status == 400
    empty = http.call("POST", "/documents", b"--b--\r\n", content_type="multipart/form-data; boundary=b")
    assert empty.fields == ["file"]


def test_many_are_kept_or_refused_each_by_itself(alice: Person, bob: Person) -> None:
    caller(alice).post("/documents", {"content": "x", "customId": "s", "visibility": "private"})
    documents = [
        {"content": "One."},
        {"title": "none"},
        {"content": "y", "customId": "s"},
        {"content": "z", "agentId": "carol"},
    ]
    results = caller(bob).post("/documents/batch", {"documents": documents}).body["results"]
    assert [each["status"] for each in results] == [202, 400, 409, 403]


def test_a_long_text_is_read_by_the_worker_also_where_its_sender_would_wait(alice: Person) -> None:
    text = "The pump hums in the night. " * (1 + AT_ONCE // 28)
    answer = caller(alice).post("/documents", {"content": text, "mode": "sync"})
    assert (answer.status, answer.body["status"]) == (202, "pending")


def test_lists_are_narrowed_by_status_space_and_words(alice: Person) -> None:
    http = caller(alice)
    http.post("/documents", {"content": PUMPS, "containerTags": ["north"], "mode": "sync"})
    http.post("/documents", {"content": " \n ", "userId": "ada", "mode": "sync"})
    [failed] = http.get("/documents", status="failed").body["results"]
    assert (failed["errorCode"], failed["userId"]) == ("no_text", "ada")
    assert len(http.get("/documents", containerTag="north", q="pumps").body["results"]) == 1
    assert http.post(f"/documents/{failed['id']}/retry").body["status"] == "pending"
    [done] = http.get("/documents", status="completed").body["results"]
    assert http.post(f"/documents/{done['id']}/retry").status == 409
    assert http.post(f"/documents/{done['id']}/reprocess").body["status"] == "pending"


def test_a_document_changes_its_name_shelf_and_readers(alice: Person, carol: Person) -> None:
    http = caller(alice)
    row = http.post("/documents", {"content": PUMPS, "mode": "sync"}).body["id"]
    assert caller(carol).get(f"/documents/{row}").status == 404
    changes = {"title": "Shared", "containerTags": ["all"], "visibility": "global", "metadata": {}}
    shown = http.patch(f"/documents/{row}", changes).body
    assert (shown["title"], shown["containerTags"]) == ("Shared", ["all"])
    assert caller(carol).get(f"/documents/{row}").status == 200
    assert caller(carol).post("/documents/search", {"query": QUESTION}).body["count"] == 1


def test_spaces_are_made_named_and_listed(alice: Person, bob: Person) -> None:
    http = caller(alice)
    made = http.post("/spaces", {"containerTag": "north", "name": "North"})
    assert made.status == 201
    assert http.post("/spaces", {"containerTag": "north"}).status == 409
    path = f"/spaces/{made.body['id']}"
    assert http.patch(path, {"name": "N"}).body["name"] == "N"
    assert http.get(path).body["containerTag"] == "north"
    assert caller(bob).get("/spaces").body["results"] == []
    caller(bob).post("/documents", {"content": "x", "containerTags": ["north"]})
    assert len(caller(bob).get("/spaces").body["results"]) == 1


PIECES = ("", "/chunks", "/parts", "/revisions", "/file")


def test_every_route_shows_a_private_document_to_its_owner_and_to_nobody_else(
    bob: Person, carol: Person, mallory: Person, alice: Person
) -> None:
    body = {"content": PUMPS, "visibility": "private", "mode": "sync", "containerTags": ["own"]}
    row = caller(bob).post("/documents", body).body["id"]
    mate = caller(mallory, alice.workspace)
    for http, status in (
        (caller(bob), 200),
        (caller(alice), 200),
        (caller(carol), 404),
        (mate, 404),
    ):
        assert [http.get(f"/documents/{row}{each}").status for each in PIECES] == [status] * 5
    for http in (caller(carol), caller(mallory)):
        assert http.get("/documents").body["results"] == []
        assert http.get("/spaces").body["results"] == []
        assert http.post("/documents/search", {"query": QUESTION}).body["count"] == 0
        ask = {"query": QUESTION, "layers": ["chunks"], "floor": 0}
        assert http.post("/memories/context", ask).body["chunkIds"] == []
        assert http.post(f"/documents/{row}/retry").status == 404
        assert http.post(f"/documents/{row}/reprocess").status == 404
        assert http.patch(f"/documents/{row}", {"title": "Mine"}).status in (403, 404)
    viewer = member(alice.workspace, "viewer")
    assert viewer.get(f"/documents/{row}").status == 200
    assert viewer.post("/documents", {"content": "x"}).status == 403


def test_the_search_of_memories_and_a_context_have_documents_with_their_place(
    alice: Person,
) -> None:
    http = caller(alice)
    http.post("/documents", {"content": PUMPS, "mode": "sync", "metadata": {"shelf": "b"}})
    ask = {"query": QUESTION, "layers": ["chunks"]}
    hit = http.post("/memories/search", ask).body["results"][0]
    assert (hit["layer"], hit["chunk"]["title"]) == ("chunks", "Pumps of the north")
    for field, value in (("metadata.shelf", "c"), ("type", "pdf")):
        narrowed = ask | {"filter": {"field": field, "op": "eq", "value": value}}
        assert http.post("/memories/search", narrowed).body["results"] == []
    mixed = http.post("/memories/search", ask | {"layers": ["memories", "episodes", "chunks"]})
    assert mixed.body["results"]
    packed = http.post("/memories/context", ask | {"floor": 0}).body
    assert "[c1]" in packed["text"]
    assert packed["text"].count("Pumps of the north") == 1
    assert packed["chunkIds"]


def test_a_document_is_erased_in_two_steps_with_its_proof(alice: Person) -> None:
    http = caller(alice)
    row = http.post("/documents", {"content": PUMPS, "mode": "sync"}).body["id"]
    assert http.get(f"/documents/{row}/erasure").body["plan"]["documents"] == 1
    assert http.delete(f"/documents/{row}", dryRun="true").body["plan"]["files"] == 1
    proof = http.delete(f"/documents/{row}").body["proof"]
    assert proof["clean"]
    assert proof["filesLeft"] == 0
    assert http.get(f"/documents/{row}").status == 404


def test_other_content_of_a_document_is_a_new_revision(alice: Person, bob: Person) -> None:
    http = caller(alice)
    body = {"content": PUMPS, "mode": "sync", "visibility": "private", "customId": "pumps"}
    row = http.post("/documents", body).body["id"]
    new = {"content": PUMPS.replace("oil", "grease"), "title": "Pumps"}
    shown = http.patch(f"/documents/{row}", new)
    assert (shown.status, shown.body["status"], shown.body["title"]) == (200, "pending", "Pumps")
    pipeline.run(Document.objects.get().pk)
    told = http.get(f"/documents/{row}", include="content").body
    assert (told["revision"], told["customId"], told["title"]) == (2, "pumps", "Pumps")
    assert "grease" in told["content"]
    assert http.patch(f"/documents/{row}", {"content": new["content"]}).body["status"] == "completed"
    assert http.patch(f"/documents/{row}", {"content": ""}).status == 400
    assert caller(bob).patch(f"/documents/{row}", {"content": "Mine."}).status in (403, 404)


def test_a_context_of_documents_serves_the_one_passage_that_holds_what_is_asked(
    alice: Person,
) -> None:
    hand_in(alice, "# Tide house\n\nThe tide gauge of Vardo is wound every evening by Solveig.")
    for number in range(12):
        hand_in(alice, f"# Birds\n\nThe heron comes at noon and stays until two, on pier {number}.")
    ask = {"layers": ["chunks"], "query": "Who winds the tide gauge?"}
    told = caller(alice).post("/memories/context", ask).body
    assert "Solveig" in told["text"]
    assert told["confidence"] >= 0.5
    off = caller(alice).post("/memories/context", ask | {"query": "Which opera is by Verdi?"}).body
    assert (off["text"], off["confidence"] < 0.16) == ("", True)


def test_words_and_an_address_are_not_both_taken(alice: Person) -> None:
    """Which of them was meant nobody would know."""
    both = {"content": PUMPS, "url": "https://example.org/pumps", "title": "Pumps"}
    for answer in (
        caller(alice).post("/documents", both),
        caller(alice).post("/documents", {**both, "mode": "sync"}),
    ):
        assert (answer.status, answer.fields) == (400, ["content", "url"])
    batch = caller(alice).post("/documents/batch", {"documents": [both, {"content": PUMPS}]})
    assert "url" in str(batch.body)
    assert not Document.objects.filter(title="Pumps").exists()
