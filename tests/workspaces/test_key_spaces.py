"""A key that is limited to spaces: what it sees and writes of documents, and of what was read out
of them, at every door."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from memories.belief import review
from memories.documents.document_store import put_in_spaces
from memories.errors import NotFound
from memories.events.shown_events import visible_items
from memories.models import (
    AsOf,
    ChangeEvent,
    Document,
    DocumentSpace,
    Memory,
    Supersession,
    WorkspaceIndex,
)
from memories.privacy import erase
from memories.search import candidates
from memories.search.conditions import COUNTED
from tests.api_fixtures import Caller, caller, member
from tests.documents.test_document_memories import learn
from tests.handed_in import hand_in, look_for
from tests.mcp_caller import mcp_caller
from tests.people import Person, with_key
from workspaces.keys import KeyOptions, rotate_key, scope_for_key
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db(transaction=True)
NORTH = "# Handbook of the north\n\nThe annual fee is 120 dollars. Seals sleep on the pier."
SOUTH = "# Handbook of the south\n\nThe yearly price is 999 dollars. Penguins sleep on the pier."
WORD = "south"
QUERY = "What sleeps on the pier, and what is the annual fee of the handbook?"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture
def north(alice: Person) -> Person:
    return with_key(alice.workspace, KeyOptions("north", container_tags=("north",)))


@pytest.fixture
def both(alice: Person) -> dict[str, Document]:
    """A document of each space, with what was read out of it."""
    made = {}
    for tag, text in (("north", NORTH), ("south", SOUTH)):
        made[tag] = hand_in(
            alice,
            text,
            container_tags=[tag],
            custom_id=tag,
            filename=f"{tag}.md",
            visibility="global",
        )
        learn(made[tag])
    assert Memory.objects.count() >= 2
    return made


def read_everywhere(person: Person, both: dict[str, Document]) -> dict[str, str]:
    """All that a key gets to know of documents, by door."""
    http, shown = caller(person), {}
    for name in ("documents", "spaces", "memories", "facts", "sessions", "inbox", "cases"):
        told = http.get(f"/{name}")
        assert told.status == 200, told.body
        shown[name] = json.dumps(told.body)
    then = timezone.now().isoformat()
    for more in ({}, {"knownAt": then}):
        body = {"query": QUERY, "includeFullDocs": True, "includeSummary": True, **more}
        shown[f"document search {more}"] = json.dumps(http.post("/documents/search", body).body)
        for layers in (["chunks"], ["memories"], ["memories", "episodes", "chunks"]):
            for ranking in ("hybrid", "keyword", "vector", "linea"):
                ask = {"query": QUERY, "layers": layers, "ranking": ranking, **more}
                if ranking != "linea" or layers == ["memories"]:
                    ask |= {"include": ["citations", "chain", "source"]} if not more else {}
                    told = http.post("/memories/search", ask)
                    shown[f"search {layers} {ranking} {more}"] = json.dumps(told.body)
    for floor in (0, 0.1):
        ask = {"query": QUERY, "layers": ["chunks", "memories"], "floor": floor}
        shown[f"context {floor}"] = json.dumps(http.post("/memories/context", ask).body)
    ask = {"messages": [{"role": "user", "content": QUERY}], "mode": "simple"}
    shown["chat"] = json.dumps(http.post("/chat", ask).body)
    shown["v3 search"] = json.dumps(http.post("//v3/search", {"q": QUERY}).body)
    shown["v4 search"] = json.dumps(http.post("//v4/search", {"q": QUERY}).body)
    shown["v3 list"] = json.dumps(http.post("//v3/documents/list", {}).body)
    agent = mcp_caller(person)
    shown["searchDatabase"] = str(agent.tool("searchDatabase", query=QUERY).body)
    shown["search_memories"] = str(agent.tool("search_memories", query=QUERY).body)
    for tag, document in both.items():
        for more in ("", "/chunks", "/parts", "/revisions", "/file"):
            told = http.get(f"/documents/{document.pk}{more}")
            assert (told.status == 404) == (tag == WORD and WORD not in _tags(person)), more
    events = list(ChangeEvent.objects.all())
    assert events
    seen = visible_items(person.scope, events)
    assert both["north"].pk in seen or "north" not in _tags(person)
    shown["events"] = WORD if both["south"].pk in seen else ""
    return shown


def _tags(person: Person) -> tuple[str, ...]:
    return person.scope.container_tags or ("north", "south")


def leaks(shown: dict[str, str]) -> list[str]:
    words = ("the south", "999 dollars", "Penguins", "south.md")
    return [door for door, text in shown.items() if any(word in text for word in words)]


def test_it_sees_documents_of_its_spaces_and_what_was_read_out_of_them_alone(
    alice: Person, north: Person, both: dict[str, Document]
) -> None:
    shown = read_everywhere(north, both)
    assert leaks(shown) == []
    assert shown["events"] == ""
    for door in ("documents", "memories", "facts", "document search {}", "chat", "searchDatabase"):
        assert "Seals" in shown[door] or "120" in shown[door] or "north" in shown[door], door
    assert len(leaks(read_everywhere(alice, both))) > 20


def test_agents_and_outsiders_are_narrowed_by_it_as_well(
    alice: Person, bob: Person, mallory: Person, both: dict[str, Document]
) -> None:
    bound = KeyOptions("bob, north", agent=ApiKey.objects.get(name="bob").agent)
    narrow = with_key(alice.workspace, KeyOptions(bound.name, (), bound.agent, None, None, None, ("north",)))
    assert [hit.document.pk for hit in look_for(narrow, QUERY).hits] == [both["north"].pk]
    assert len(look_for(bob, QUERY).hits) == 2
    foreign = with_key(mallory.workspace, KeyOptions("n", container_tags=("north", "south")))
    assert look_for(foreign, QUERY).hits == []
    assert caller(foreign).get("/spaces").body["results"] == []


def test_a_memory_that_a_person_said_too_or_wrote_anew_follows_what_it_stands_on(
    alice: Person, north: Person, both: dict[str, Document]
) -> None:
    of_south = Memory.objects.filter(content__contains="999").first()
    assert of_south is not None
    review.edit(alice.scope, of_south.pk, {"content": "The yearly price is 998 dollars."})
    assert "998" in str(alice.live())
    assert "998" not in str(north.live())
    assert "998" not in str(north.finds("What is the yearly price?"))
    alice.tell("The ferry costs 7 dollars.")
    assert "The ferry costs 7 dollars." in north.live()


def test_it_writes_into_its_own_spaces_alone(alice: Person, north: Person, both: dict[str, Document]) -> None:
    http = caller(north)
    made = http.post("/documents", {"content": "The pier is long.", "mode": "sync"})
    assert made.status == 202
    path = f"/documents/{made.body['id']}"
    assert caller(alice).get(path).body["containerTags"] == ["north"]
    for tags in (["south"], ["north", "south"]):
        told = http.post("/documents", {"content": "x", "containerTags": tags})
        assert (told.status, told.fields) == (403, ["containerTags"])
        told = http.patch(path, {"containerTags": tags})
        assert (told.status, told.fields) == (403, ["containerTags"])
    taken = http.post("/documents", {"content": "Mine now.", "customId": "south"})
    assert (taken.status, taken.fields) == (409, ["customId"])
    assert http.post("/spaces", {"containerTag": "west"}).fields == ["containerTag"]
    assert http.post("//v3/documents", {"content": "x", "containerTag": "south"}).status == 403
    source = {"provider": "folder", "options": {"path": "/x"}, "containerTags": ["north"]}
    assert http.post("/connections", source).status == 403
    for path in ("/keys", "/audit", "/webhooks", "/connections"):
        told = http.get(path)
        assert told.status == 403 or not told.body["results"], path
    with pytest.raises(NotFound):
        erase.target_of(north.scope, "document", both["south"].pk)


def test_of_a_document_in_several_spaces_it_sees_and_changes_its_own(alice: Person, north: Person) -> None:
    row = hand_in(alice, NORTH, container_tags=["north", "south"]).pk
    several = with_key(alice.workspace, KeyOptions("n", container_tags=("north", "west")))
    assert caller(north).get(f"/documents/{row}").body["containerTags"] == ["north"]
    shown = caller(several).patch(f"/documents/{row}", {"containerTags": ["west"]}).body
    assert shown["containerTags"] == ["west"]
    stands = DocumentSpace.objects.filter(document=row).values_list("space__container_tag")
    assert sorted(stands) == [("south",), ("west",)]
    assert caller(several).post("/documents", {"content": "x"}).fields == ["containerTags"]


def test_a_key_is_limited_by_route_command_and_page_and_stays_so_when_rotated(
    alice: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    owner: Caller = member(alice.workspace, "owner")
    made = owner.post("/keys", {"name": "n", "containerTags": ["north"]}).body
    assert made["containerTags"] == ["north"]
    scope = scope_for_key(made["key"])
    assert scope is not None
    assert (scope.container_tags, scope.is_narrow) == (("north",), True)
    asked = Caller(alice.workspace.slug, {"Authorization": f"Bearer {made['key']}"})
    assert asked.get("").body["asker"]["containerTags"] == ["north"]
    for wrong in ([], ["no space"], "north"):
        assert owner.post("/keys", {"name": "n", "containerTags": wrong}).status == 400
    old = ApiKey.objects.get(pk=made["id"])
    assert rotate_key(old, actor="test")[0].container_tags == ["north"]
    call_command("createkey", "--workspace", alice.workspace.slug, "--space", "north", "west")
    told = capsys.readouterr()
    printed = scope_for_key(told.out.strip())
    assert printed is not None
    assert printed.container_tags == ("north", "west")
    assert "north, west" in told.err
    call_command("keys", "list", "--workspace", alice.workspace.slug)
    assert "spaces north, west" in capsys.readouterr().out


@pytest.mark.parametrize("most", [candidates.FEW, 0])
def test_in_a_large_layer_the_same_is_found_by_looking_up_a_space_and_by_looking_through_all(
    alice: Person, north: Person, both: dict[str, Document], most: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(candidates, "FEW", most)
    put_in_spaces(both["north"], ["pier"])  # stands in two
    before = timezone.now()
    hand_in(alice, SOUTH, custom_id="north", container_tags=["north"], visibility="global")
    text = NORTH.replace("Seals", "Auks")
    hand_in(alice, text, custom_id="north", visibility="global")

    def found() -> list[list[tuple[str, str]]]:
        ways: list[tuple[Person, dict[str, Any]]] = [
            (north, {}),
            (alice, {"container_tags": ("north", "pier")}),
            (north, {"container_tags": ("south",)}),
            (north, {"at": AsOf(known_at=before)}),
            (north, {"user_id": "nobody"}),
        ]
        return [
            [
                (str(hit.document.custom_id), passage.row.content)
                for hit in look_for(person, QUERY, **options).hits
                for passage in hit.passages
            ]
            for person, options in ways
        ]

    small = found()
    assert [{name for name, _ in rows} for rows in small] == [
        {"north"},
        {"north"},
        set(),
        {"north"},
        {"north"},
    ]
    assert "Auks" in str(small[0])
    assert "Seals" in str(small[3])
    WorkspaceIndex.objects.filter(workspace=alice.workspace).update(live_chunks=COUNTED + 1)
    assert found() == small
    for layers in (["chunks"], ["memories", "chunks"]):
        told = caller(north).post("/memories/search", {"query": QUERY, "layers": layers}).body
        assert "Auks" in str(told)
        assert WORD not in str(told)


def test_what_it_tells_meets_nothing_that_other_spaces_say(
    alice: Person, north: Person, both: dict[str, Document]
) -> None:
    of_south = Memory.objects.get(content__contains="999")
    before = (of_south.source_count, of_south.version, of_south.is_head)
    http = caller(north)
    for tell in (
        lambda: http.post("/memories", {"content": of_south.content, "visibility": "global"}),
        lambda: http.post("/memories/ingest", {"content": of_south.content, "extract": "none", "visibility": "global"}),
        lambda: http.post(
            "/memories/ingest",
            {"visibility": "global", "messages": [{"role": "user", "content": "The yearly price is 1001 dollars."}]},
        ),
    ):
        told = tell()
        assert told.status < 300, told.body
        assert str(of_south.pk) not in json.dumps(told.body)
    told = hand_in(north, "The yearly price is 1002 dollars.", custom_id="n2", visibility="global")
    learn(told)
    of_south.refresh_from_db()
    assert (of_south.source_count, of_south.version, of_south.is_head) == before
    assert not Supersession.objects.filter(old=of_south).exists()
    # Whoever is limited to no space meets it.
    alice.note(of_south.content, visibility="global")
    of_south.refresh_from_db()
    assert of_south.source_count == before[0] + 1


def test_it_forgets_nothing_of_other_spaces_and_reads_none_of_their_rejections(
    alice: Person, north: Person, both: dict[str, Document]
) -> None:
    of_south = Memory.objects.get(content__contains="999")
    north.say(f"Please forget that {of_south.content[0].lower()}{of_south.content[1:]}.")
    of_south.refresh_from_db()
    assert of_south.forgotten_at is None
    for memory in Memory.objects.filter(content__contains="dollars"):
        review.forget(alice.scope, memory.pk, "wrong", messages="keep")
    assert len(caller(alice).get("/rejections").body["results"]) == 2
    shown = json.dumps(caller(north).get("/rejections").body)
    assert len(json.loads(shown)["results"]) == 1
    assert "yearly" not in shown
