"""Other servers' routes: who is let in. mem0's: their shapes and their errors."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.belief import review
from memories.language.bounds import MOST_HITS
from memories.models import Document, Episode, Memory, MemorySession
from memories.settings.workspace_settings import settings_of
from tests.api_fixtures import Answer, Caller, anonymous, caller, member
from tests.client_routes import address_of, client_routes
from tests.people import Person, with_key
from workspaces.keys import KeyOptions, issue_server_key
from workspaces.models import AuditEntry, Subject, Workspace

ADA = {"filters": {"user_id": "ada"}}
SAID = {"messages": [{"role": "user", "content": "I prefer tea to coffee."}], "user_id": "ada"}
# A body for each method of each route; {} where none is read.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "v3/memories/add/"): SAID,
    ("POST", "v1/memories/"): SAID,
    ("PUT", "v1/memories/<str:row>/"): {"text": "Ada prefers coffee"},
    ("PUT", "v1/batch/"): {"memories": [{"memory_id": "ROW", "text": "Ada prefers coffee"}]},
    ("DELETE", "v1/batch/"): {"memories": [{"memory_id": "ROW"}]},
    ("PATCH", "api/v1/orgs/organizations/<str:organisation>/projects/<str:project>/"): {"custom_instructions": "Diets"},
    # supermemory's
    ("POST", "v3/documents"): {"content": "The box is full.", "containerTag": "ada"},
    ("POST", "v3/documents/file"): {"content": "The box is full.", "containerTag": "ada"},
    ("POST", "v3/documents/batch"): {"documents": ["The box is full."], "containerTag": "ada"},
    ("PATCH", "v3/documents/<str:name>"): {"content": "The box is full."},
    ("DELETE", "v3/documents/bulk"): {"containerTags": ["ada"]},
    ("POST", "v3/documents/list"): {"containerTags": ["ada"]},
    ("POST", "api/v2/memories/semantic/feature/get"): {"feature_id": str(uuid4())},
    ("POST", "v3/search"): {"q": "tea"},
    ("POST", "chat/v2"): {"messages": [{"role": "user", "content": "tea?"}]},
    ("POST", "v4/search"): {"q": "tea", "searchMode": "hybrid"},
    ("POST", "v4/profile"): {"containerTag": "ada", "q": "tea"},
    ("PATCH", "v4/memories"): {"containerTag": "ada", "id": "ROW", "newContent": "Likes milk"},
    ("DELETE", "v4/memories"): {"containerTag": "ada", "id": "ROW"},
}
READS_BY_POST = (
    "search/",
    "v2/memories/",
    "v3/memories/",
    "/search",
    "/list",
    "/profile",
    "projects/get",
    "count/get",
    "feature/get",
)


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def memory(http: Caller) -> Memory:
    http.post("//v3/memories/add/", SAID)
    return Memory.objects.get()


def calls(memory: Memory) -> list[tuple[str, str, Any]]:
    """Each method of each route: method, address, body."""
    found = []
    for method, pattern in client_routes():
        usual = {"query": "tea", **ADA} if method == "POST" else None
        body = BODIES.get((method, pattern), usual)
        if body and "id" in body:
            body = {**body, "id": str(memory.pk)}
        if body and "memories" in body:
            body = {"memories": [{**body["memories"][0], "memory_id": str(memory.pk)}]}
        query = "?user_id=ada" if pattern == "v1/memories/" else ""
        found.append((method, f"{address_of(pattern, memory)}{query}", body))
    return found


def asked(who: Caller, memory: Memory, *, add: bool = True) -> dict[str, Answer]:
    return {
        f"{method} {address}": who.call(method, address, body)
        for method, address, body in calls(memory)
        if add or body is not SAID
    }


def test_nobody_is_let_in_anywhere(memory: Memory, workspace: Workspace) -> None:
    answers = asked(anonymous(workspace), memory)
    assert len(answers) > 20
    for answer in answers.values():
        assert (answer.status, answer.headers["Content-Type"]) == (401, "application/json")
        assert answer.body["detail"]


def test_a_member_without_a_key_is_not_let_in(memory: Memory, workspace: Workspace) -> None:
    assert {a.status for a in asked(member(workspace, "owner"), memory).values()} == {401}


def test_a_server_key_is_none_of_a_workspace(memory: Memory, workspace: Workspace) -> None:
    _, text = issue_server_key("deploy", actor="test")
    who = Caller(workspace.slug, {"Authorization": f"Token {text}"})
    assert {answer.status for answer in asked(who, memory).values()} == {403}


def test_an_outsider_sees_and_changes_nothing(memory: Memory, mallory: Person) -> None:
    for name, answer in asked(caller(mallory), memory, add=False).items():
        assert "coffee" not in str(answer.body), name
    memory.refresh_from_db()
    assert memory.is_live


def test_another_teams_agent_sees_and_changes_nothing(memory: Memory, carol: Person) -> None:
    for name, answer in asked(caller(carol), memory, add=False).items():
        assert "coffee" not in str(answer.body), name
    memory.refresh_from_db()
    assert memory.is_live


def test_a_reading_key_reads_and_does_no_more(memory: Memory, alice: Person) -> None:
    who = caller(with_key(alice.workspace, KeyOptions("reader", ("read",))))
    for name, answer in asked(who, memory).items():
        method, _, address = name.partition(" ")
        reads = method == "GET" or (method == "POST" and address.endswith(READS_BY_POST))
        if "nothing" not in name:
            assert (answer.status in (200, 404)) == reads, name


def test_a_narrow_key_erases_nobody(memory: Memory, alice: Person) -> None:
    ada = Subject.objects.get(external_id="ada")
    own = caller(with_key(alice.workspace, KeyOptions("ada", subjects=(ada,))))
    assert own.delete("//v2/entities/user/ada/").status == 403


def test_a_memory_keeps_its_id_when_its_words_change(http: Caller, memory: Memory) -> None:
    address = f"//v1/memories/{memory.pk}/"
    new = http.call("PUT", address, {"text": "Ada prefers coffee", "metadata": {"by": "hand"}})
    assert (new.body["id"], new.body["memory"]) == (str(memory.pk), "Ada prefers coffee")
    assert http.get(address).body["metadata"] == {"by": "hand"}
    newest = Memory.objects.live().get()
    assert http.get(f"//v1/memories/{newest.pk}/").body["id"] == str(memory.pk)


def test_a_changed_mind_is_an_update_of_the_same_id(http: Caller) -> None:
    first = {"messages": [{"role": "user", "content": "I live in Lisbon."}], "user_id": "ada"}
    later = {"messages": [{"role": "user", "content": "I moved to Porto."}], "user_id": "ada"}
    [old] = http.post("//v3/memories/add/", first).body["results"]
    [new] = http.post("//v3/memories/add/", later).body["results"]
    assert (new["event"], new["id"]) == ("UPDATE", old["id"])


def test_expiration_is_of_a_whole_day_and_can_be_taken_back(http: Caller, memory: Memory) -> None:
    address = f"//v1/memories/{memory.pk}/"
    shown = http.call("PUT", address, {"expiration_date": "2999-12-31"}).body
    assert shown["expiration_date"] == "2999-12-31"
    assert http.call("PUT", address, {"expiration_date": None}).body["expiration_date"] is None


def test_app_timestamp_and_name_are_kept(http: Caller) -> None:
    message = {"role": "critic", "name": "Ada", "content": "I prefer tea to coffee."}
    body = {"messages": [message], "filters": {"user_id": "ada"}, "app_id": "shop"}
    http.post("//v3/memories/add/", {**body, "timestamp": 1_700_000_000, "org_id": "x"})
    [shown] = http.post("//v3/memories/", {"filters": {"app_id": "shop"}}).body["results"]
    assert (shown["app_id"], shown["metadata"]) == ("shop", {})
    assert http.delete("//v2/entities/app/shop/").status == 200
    assert http.delete("//v2/entities/app/shop/").status == 404


def test_what_the_worker_has_to_do_is_pending(http: Caller) -> None:
    long = {"role": "user", "content": "The river is long and the night is dark. " * 3000}
    body = {"messages": [long], "user_id": "ada", "expiration_date": "2999-12-31"}
    http.client.defaults["memoryproject.server.front"] = True
    answer = http.post("//v3/memories/add/", body).body
    session = MemorySession.objects.get()
    assert (answer["status"], answer["event_id"]) == ("PENDING", str(session.pk))
    assert "expiration_date is not kept" in answer["message"]


def test_who_was_waited_for_is_answered_or_was_erased(http: Caller, memory: Memory) -> None:
    def again(session: str) -> Answer:
        http.client.defaults["memoryproject.session"] = session
        return http.post("//v3/memories/add/", SAID)

    [done] = again(str(MemorySession.objects.get().pk)).body["results"]
    assert done["id"] == str(memory.pk)
    assert again("01a205c1-0000-7000-8000-000000000000").status == 409
    assert MemorySession.objects.count() == 1


def test_the_front_is_told_for_whom_to_wait(http: Caller) -> None:
    http.client.defaults["memoryproject.server.front"] = True
    long = {"role": "user", "content": "The river is long and the night is dark. " * 3000}
    assert http.post("//v3/memories/add/", {"messages": [long], "user_id": "ada"}).status == 200


@pytest.mark.parametrize(
    ("address", "body", "words"),
    [
        ("//v3/memories/add/", {"messages": []}, "messages"),
        ("//v3/memories/add/", {"messages": SAID["messages"]}, "Name whose it is"),
        ("//v3/memories/search/", {"query": "tea"}, "Name whose memories"),
        ("//v3/memories/search/", {"query": "", **ADA}, "query"),
        ("//v3/memories/search/", {"query": "x", "filters": {"mood": 1}}, "Known: AND, OR, NOT"),
        ("//v3/memories/search/", {"query": "x", "filters": {"user_id": {"like": 1}}}, "Known: eq"),
        ("//v3/memories/search/", {"query": "x", "filters": {"AND": []}}, "Must not be empty"),
        ("//v3/memories/search/", {"query": "x", "filters": {"AND": [1]}}, "Must be an object"),
        ("//v3/memories/search/", {"query": "x", "filters": {"metadata": 1}}, "Must be an object"),
        ("//v3/memories/", [], "Must be an object"),
        ("//v3/memories/?page=0", ADA, "page"),
    ],
)
def test_what_is_wrong_is_told_in_detail(http: Caller, address: str, body: Any, words: str) -> None:
    answer = http.post(address, body)
    assert (answer.status, answer.headers["Content-Type"]) == (400, "application/json")
    assert words in answer.body["detail"]


@pytest.mark.parametrize(
    "address",
    ["v1/exports/", "api/v1/webhooks/projects/p/", "api/v1/orgs/organizations/o/members/"],
)
def test_what_is_not_built_is_told_as_its_client_reads_it(http: Caller, address: str) -> None:
    told = http.get(f"//{address}")
    assert (told.status, told.headers["Content-Type"]) == (404, "application/json")
    assert told.body["detail"] == "This server does not have this route."


def test_instructions_and_categories_of_a_project_are_the_workspaces(http: Caller, alice: Person, bob: Person) -> None:
    own, other = alice.workspace.pk, uuid4()
    address = f"//api/v1/orgs/organizations/{own}/projects/{own}/"
    empty = {"name": alice.workspace.slug, "custom_instructions": "", "custom_categories": []}
    assert http.get(address, fields="custom_instructions").body == empty
    kinds = [{"diets": "what somebody eats"}]
    for change in ({"custom_instructions": "Only what helps the cook"}, {"custom_categories": kinds}):
        assert http.call("PATCH", address, change).status == 200
    known = {"custom_instructions": "Only what helps the cook", "custom_categories": kinds}
    assert http.get(address).body == {**empty, **known}
    told = settings_of(alice.scope).instructions.extract.splitlines()
    assert told == ["Only what helps the cook", 'Kinds of facts that matter: [{"diets": "what somebody eats"}]']
    too_long = http.call("PATCH", address, {"custom_instructions": "x" * 1_001})
    assert (too_long.status, "1000" in too_long.body["detail"]) == (400, True)
    assert http.get(f"//api/v1/orgs/organizations/{other}/projects/{other}/").status == 404
    assert caller(bob).call("PATCH", address, {"custom_instructions": "Mine"}).status == 403


def test_instructions_of_an_add_are_that_ingests_alone(http: Caller, alice: Person) -> None:
    own = {"custom_instructions": "diets", "includes": "allergies", "excludes": "tea"}
    answer = http.post("//v3/memories/add/", {**SAID, **own, "custom_categories": [{"food": "all of it"}]})
    assert answer.body["results"] == []
    [session] = MemorySession.objects.all()
    kinds = 'Kinds of facts that matter: [{"food": "all of it"}]'
    assert session.instructions == {"extract": f"diets\nallergies\n{kinds}", "ignore": "tea"}
    assert settings_of(alice.scope).instructions.extract == ""


def test_a_filter_has_its_depth(http: Caller) -> None:
    deep: Any = {"user_id": "ada"}
    for _ in range(12):
        deep = {"NOT": deep}
    answer = http.post("//v3/memories/", {"filters": deep})
    assert "Nested deeper" in answer.body["detail"]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"user_id": {"in": ["ada", "eve"]}}, 1),
        ({"user_id": {"ne": "ada"}}, 0),
        ({"user_id": "*"}, 1),
        ({"run_id": "*"}, 0),
        ({"keywords": "TEA"}, 1),
        ({"keywords": {"icontains": "milk"}}, 0),
        ({"NOT": {"user_id": "ada"}}, 0),
        ({"OR": [{"user_id": "eve"}, {"categories": {"in": ["preference"]}}]}, 1),
        ({"created_at": {"gt": "2999-01-01"}}, 0),
    ],
)
def test_filters_mean_what_they_say(http: Caller, memory: Memory, wanted: dict[str, Any], count: int) -> None:
    assert http.post("//v3/memories/", {"filters": wanted}).body["count"] == count


def test_version_one_lists_and_deletes_by_address(http: Caller, memory: Memory) -> None:
    assert http.get("//v1/memories/", user_id="ada").body["count"] == 1
    assert http.delete("//v1/memories/").status == 400
    assert http.delete("//v1/memories/", user_id="ada").status == 200
    assert Memory.objects.live().count() == 0


def test_what_is_no_entity_is_not_found(http: Caller, memory: Memory) -> None:
    for address in ("team/x/", "user/eve/", "run/x/", "agent/x/"):
        assert http.delete(f"//v2/entities/{address}").status == 404


def test_a_fault_of_ours_is_told_without_its_cause(http: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.compat.mem0.filter_of", lambda given: given.nothing)
    answer = http.post("//v3/memories/", ADA)
    assert (answer.status, answer.body["detail"]) == (500, "The server failed.")


def test_a_batch_changes_all_or_nothing(http: Caller, memory: Memory) -> None:
    message = {"role": "user", "content": "The box is full."}
    body = {"messages": [message], "user_id": "ada", "infer": False}
    [other] = http.post("//v3/memories/add/", body).body["results"]
    named = [{"memory_id": str(memory.pk), "text": "Ada prefers milk"}]
    unkept = [*named, {"memory_id": other["id"], "text": "x" * 2001}]
    assert http.call("PUT", "//v1/batch/", {"memories": unkept}).status == 400
    twice = [*named, {"memory_id": str(memory.pk), "text": "Ada prefers cocoa"}]
    assert http.call("PUT", "//v1/batch/", {"memories": twice}).status == 409
    assert not Memory.objects.filter(content__contains="milk").exists()
    both = [*named, {"memory_id": other["id"], "metadata": {"by": "hand"}}]
    assert http.call("PUT", "//v1/batch/", {"memories": both}).status == 200
    assert http.get(f"//v1/memories/{memory.pk}/").body["memory"] == "Ada prefers milk"
    assert http.get(f"//v1/memories/{other['id']}/").body["metadata"] == {"by": "hand"}


def test_many_are_deleted_by_as_many_statements_as_one(http: Caller, alice: Person) -> None:
    counts = []
    for number in (1, 12):
        for at in range(number):
            alice.note(f"The box {at} of {number} is full.", user_id="ada")
        with CaptureQueriesContext(connection) as sent:
            assert http.delete("//v1/memories/", user_id="ada").status == 200
        counts.append(len(sent))
        assert alice.live() == []
    assert counts[1] == counts[0]
    assert AuditEntry.objects.filter(action="forget").count() == 13


def test_entities_come_in_pages(http: Caller, alice: Person) -> None:
    for name in ("ada", "bob", "eve"):
        alice.note("The box is full.", user_id=name)
    first = http.get("//v1/entities/", page_size=2).body
    assert ([row["name"] for row in first["results"]], first["count"]) == (["ada", "bob"], 3)
    assert first["next"].endswith("?page=2&page_size=2")
    last = http.get("//v1/entities/", page=2, page_size=2).body
    assert ([row["name"] for row in last["results"]], last["next"]) == (["eve"], None)


def test_a_client_that_asks_for_no_page_gets_all_entities(http: Caller, alice: Person) -> None:
    names = [f"user-{at:03}" for at in range(MOST_HITS + 5)]
    for name in names:
        subject = Subject.objects.create(workspace=alice.workspace, external_id=name)
        memory = Memory(workspace=alice.workspace, subject=subject, content="The box is full.", category="other")
        Memory.objects.bulk_create([memory])
    whole = http.get("//v1/entities/").body
    assert ([row["name"] for row in whole["results"]], whole["next"]) == (names, None)


NOBODIES: tuple[Any, ...] = ("", " ", "null", "None", "undefined", None)


def deletions_of_nobody() -> Iterator[tuple[str, str, Any]]:
    """Yield each deletion of each client's door that names nobody: method, address, body. A new
    route of this kind has to be added to `BODIES`, or to the bodies here."""
    for method, pattern in client_routes():
        if method != "DELETE" and "delete" not in pattern or "<path:rest>" in pattern:
            continue
        known = BODIES.get((method, pattern))
        for nobody in NOBODIES:
            if "<" in pattern:
                yield method, re.sub(r"<(?!str:kind)[^>]+>", quote(str(nobody)), pattern), None
            elif pattern == "v1/memories/":
                yield method, f"{pattern}?user_id={quote(str(nobody))}", None
                yield method, f"{pattern}?agent_id={quote(str(nobody))}&user_id=ada", None
            elif known is not None:
                # Each id of the body in turn, alone in a list, in the list of an object, or plain.
                for name, value in known.items():
                    first = (
                        [{**value[0], **dict.fromkeys(value[0], nobody)}] if isinstance(value[0], dict) else [nobody]
                    )
                    yield method, pattern, {**known, name: first if isinstance(value, list) else nobody}
                yield method, pattern, {}
            else:
                yield method, pattern, dict.fromkeys(("project_id", "episodic_id", "semantic_id"), nobody)
                yield method, pattern, {f"{kind}_ids": [nobody] for kind in ("episodic", "semantic")}


def test_what_names_nobody_deletes_nothing_and_says_so(http: Caller, alice: Person, memory: Memory) -> None:
    http.post("//v3/documents", {"content": "The box is full.", "containerTag": "ada", "customId": "box"})
    message = {"content": "I like figs.", "metadata": {"user_id": "ada"}}
    assert http.post("//api/v2/memories", {"messages": [message]}).status == 200  # of the project without a name
    before = (len(alice.live()), Episode.objects.count(), Document.objects.count())
    tried = set()
    for method, address, body in deletions_of_nobody():
        body = json.loads(json.dumps(body).replace("ROW", str(memory.pk)))
        answer = http.call(method, f"//{address}".replace("<str:kind>", "user"), body)
        assert answer.status >= 400 or answer.body["success"] is False, (method, address, body, answer.body)
        tried.add((method, address.partition("?")[0]))
    assert (len(alice.live()), Episode.objects.count(), Document.objects.count()) == before
    assert len(tried) > 12
    assert "Nothing was deleted" in http.delete("//v1/memories/", user_id="eve").body["message"]


@pytest.mark.parametrize("wanted", [{"user_id": ""}, {"AND": [{"user_id": " "}]}, {"NOT": [{"run_id": None}]}])
def test_an_empty_id_is_refused_by_what_reads_too(http: Caller, memory: Memory, wanted: dict[str, Any]) -> None:
    answer = http.post("//v3/memories/", {"filters": wanted})
    assert (answer.status, "Is empty" in answer.body["detail"]) == (400, True)


def test_a_chain_begins_where_the_asker_may_see_it(http: Caller, alice: Person, bob: Person) -> None:
    first = alice.note("The plan is to ship in May.", visibility="private")
    new = review.edit(alice.scope, first.pk, {"content": "The plan is to ship in June."})
    review.edit(alice.scope, new.pk, {"visibility": "global"})
    wanted = {"filters": {"keywords": "plan"}}
    [all_of_it] = http.post("//v3/memories/", wanted).body["results"]
    [part_of_it] = caller(bob).post("//v3/memories/", wanted).body["results"]
    assert (all_of_it["id"], part_of_it["id"]) == (str(first.pk), str(new.pk))
    address = f"//v1/memories/{part_of_it['id']}/"
    assert caller(bob).get(address).body["id"] == part_of_it["id"]
