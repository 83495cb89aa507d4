"""Whoever may not see words learns nothing by sending guesses: right or wrong, the answer is the
same in status and words, and so is what is written."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from memories.documents import pipeline
from memories.models import MaskedSpan
from tests.api_fixtures import Answer, Caller, caller, member
from tests.handed_in import hand_in
from tests.people import Person, bound_to_agent, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Capability, Subject

pytestmark = pytest.mark.django_db(transaction=True)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r'"\d{4}-\d\d-\d\dT[^"]+"')
NUMBER = re.compile(r'"tookMs": [\d.e-]+|"requestId": "\w+"')
# Of these a row more or less tells nothing of what was said.
UNSEEN = {"AuditEntry", "ApiKey", "QueuedTask", "Blob", "OrmQ", "Task", "ChangeEvent"}
SAID = "My locker password is {}."
RIGHT, WRONG = "kite0417", "lamp9382"
Guess = Callable[[Caller, str, str], Answer]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


def rows() -> dict[str, int]:
    models = [*apps.get_app_config("memories").get_models(), *Subject._meta.apps.get_models()]
    return {
        model.__name__: model._default_manager.count()
        for model in models
        if model._meta.app_label in ("memories", "workspaces") and model.__name__ not in UNSEEN
    }


def told(answer: Answer, name: str) -> tuple[int, str]:
    """Without what each request has of its own, and the name that was asked."""
    text = json.dumps(answer.body, sort_keys=True, default=str)
    text = NUMBER.sub("", TIME.sub("TIME", UUID.sub("ID", text)))
    return answer.status, text.replace(name, "NAME")


def outcome(act: Callable[[], Answer], name: str) -> tuple[tuple[int, str], dict[str, int]]:
    before = rows()
    answer = act()
    for each in pipeline.due():
        pipeline.run(each)
    after = rows()
    return told(answer, name), {k: v - before[k] for k, v in after.items() if v != before[k]}


def alike(http: Caller, guess: Guess, right: tuple[str, str], wrong: tuple[str, str]) -> int:
    """The status of both guesses, each a name and what is said to stand under it."""
    one = outcome(lambda: guess(http, *right), right[0])
    other = outcome(lambda: guess(http, *wrong), wrong[0])
    assert one == other
    return one[0][0]


def ingested(http: Caller, name: str, words: str, **more: Any) -> Answer:
    message = {"role": "user", "content": words, "id": name}
    return http.post("/memories/ingest", {"messages": [message], "threadId": "t", **more})


def sent(http: Caller, name: str, words: str, **more: Any) -> Answer:
    return http.post("/documents", {"content": words, "customId": name, **more})


@pytest.fixture
def teammate(alice: Person, bob: Person) -> Caller:
    return caller(bound_to_agent(alice.workspace, "mate"))


@pytest.fixture
def annies(alice: Person) -> Caller:
    """A key that is limited to another subject."""
    annie = Subject.objects.create(workspace=alice.workspace, external_id="annie")
    return caller(with_key(alice.workspace, KeyOptions("annie", subjects=(annie,))))


def test_masked_words_of_a_message_are_not_found_by_its_id(alice: Person, bob: Person) -> None:
    """Of Bob's agent, which said it and sees the masked text alone."""
    agent, words = caller(bob), SAID.format(RIGHT)
    for name in ("m1", "m2"):
        assert ingested(agent, name, words).status == 201
    assert MaskedSpan.objects.exists()
    assert alike(agent, ingested, ("m1", words), ("m2", SAID.format(WRONG))) == 201
    plain = SAID.format("tomorrow")  # no guard takes it for a password
    assert alike(agent, ingested, ("m1", words), ("m2", plain)) == 201
    assert ingested(agent, "m1", SAID.format("longer-than-that")).status == 409
    assert ingested(caller(alice), "m1", SAID.format(WRONG)).status == 409
    assert ingested(caller(alice), "m1", words).status == 201


def test_forgotten_words_of_a_message_are_not_found_by_its_id(alice: Person, bob: Person) -> None:
    agent, horse = caller(bob), "I have a horse called {}."
    for name in ("Thunder", "Pepper!"):
        said = [
            {"role": "user", "content": horse.format("Thunder"), "id": name},
            {"role": "user", "content": "Forget that I have a horse called Thunder."},
        ]
        body = {"messages": said, "userId": "u1", "threadId": name, "extract": "patterns"}
        assert agent.post("/memories/ingest", body).status == 201
    assert MaskedSpan.objects.filter(kind="forgotten").exists()

    def again(http: Caller, name: str, words: str) -> Answer:
        return ingested(http, name, words, threadId=name, userId="u1")

    right = ("Thunder", horse.format("Thunder"))
    assert alike(agent, again, right, ("Pepper!", horse.format("Pepper!"))) == 201


def test_a_message_of_others_is_a_taken_id_and_no_more(
    alice: Person, bob: Person, carol: Person, mallory: Person, teammate: Caller, annies: Caller
) -> None:
    for name in ("m1", "m2"):
        assert ingested(caller(bob), name, "I live in Oslo.", userId="bodo").status == 201
        bare = {"messages": [{"role": "user", "content": "I live in Oslo.", "id": name}]}
        caller(bob).post("/memories/ingest", bare | {"userId": "bodo"})

    def without_thread(http: Caller, name: str, words: str) -> Answer:
        message = {"role": "user", "content": words, "id": name}
        own = {"userId": "annie"} if http is annies else {}
        return http.post("/memories/ingest", {"messages": [message], **own})

    for http in (teammate, caller(carol), annies):
        assert alike(http, without_thread, ("m1", "I live in Oslo."), ("m2", "Go home.")) == 409
    for http in (teammate, caller(carol)):
        assert alike(http, ingested, ("m1", "I live in Oslo."), ("m2", "Go home.")) == 409
    assert "Oslo" not in str(ingested(teammate, "m1", "Go home.").body)
    assert ingested(caller(mallory), "m1", "I live in Oslo.").body["memoriesCreated"] == 1
    assert ingested(caller(alice), "m1", "I live in Oslo.").status == 201


def test_masked_words_of_a_document_are_not_found_by_its_custom_id(alice: Person, bob: Person, carol: Person) -> None:
    text = "# Lockers\n\nThe locker password is {}.\n\nThe keeper is called Nils."
    for name in ("d1", "d2", "d3", "d4", "d5", "d6"):
        hand_in(alice, text.format(RIGHT), custom_id=name, visibility="global")
    ids = {one["customId"]: one["id"] for one in caller(alice).get("/documents").body["results"]}

    def changed(http: Caller, name: str, words: str) -> Answer:
        return http.patch(f"/documents/{ids[name]}", {"content": words})

    def after(http: Caller, name: str, words: str) -> Answer:
        """What it shows once it was sent and read."""
        return http.get(f"/documents/{ids[name]}", include="content,parts,steps")

    for number, http in ((1, caller(bob)), (3, caller(carol))):
        right, wrong = (f"d{number}", text.format(RIGHT)), (f"d{number + 1}", text.format(WRONG))
        assert alike(http, sent, right, wrong) == 202
        assert alike(http, after, right, wrong) == 200
        assert alike(http, changed, right, wrong) == 200
        assert alike(http, after, right, wrong) == 200
        assert RIGHT not in str(after(http, *right).body)
    told = sent(caller(alice), "d5", text.format(RIGHT)).body
    assert (told["unchanged"], told["revision"]) == (True, 1)
    assert sent(member(alice.workspace, "editor"), "d6", text.format(WRONG)).body["unchanged"] is False


def test_a_document_that_was_not_read_yet_tells_nobody_who_may_not_unmask_it(alice: Person, carol: Person) -> None:
    text = SAID.format(RIGHT)
    for name in ("d1", "d2"):
        sent(caller(alice), name, text, visibility="global")
    one, two = sent(caller(carol), "d1", text), sent(caller(carol), "d2", SAID.format(WRONG))
    assert told(one, "d1") == told(two, "d2")


def test_a_document_of_others_is_a_taken_custom_id_and_no_more(
    alice: Person, bob: Person, carol: Person, annies: Caller
) -> None:
    for name in ("d1", "d2"):
        hand_in(bob, "The keeper is called Nils.", custom_id=name, visibility="private")
    hers: Guess = lambda http, name, words: sent(http, name, words, userId="annie")  # noqa: E731
    for http, guess in ((caller(carol), sent), (annies, hers)):
        right, wrong = ("d1", "The keeper is called Nils."), ("d2", "Go home.")
        assert alike(http, guess, right, wrong) == 409


def test_a_kept_answer_tells_nobody_what_was_asked_where_it_is_masked(bob: Person) -> None:
    agent = caller(bob)

    def keyed(http: Caller, name: str, words: str) -> Answer:
        message = {"role": "user", "content": words}
        return http.post("/memories/ingest", {"messages": [message]}, Idempotency_Key=name)

    def document(http: Caller, name: str, words: str) -> Answer:
        return http.post("/documents", {"content": words}, Idempotency_Key=name)

    for act in (keyed, document):
        for name in (f"{act.__name__}1", f"{act.__name__}2"):
            assert act(agent, name, SAID.format(RIGHT)).status in (201, 202)
        for each in pipeline.due():
            pipeline.run(each)
        right, wrong = SAID.format(RIGHT), SAID.format(WRONG)
        first, second = f"{act.__name__}1", f"{act.__name__}2"
        assert alike(agent, act, (first, right), (second, wrong)) in (201, 202)
    keyed(agent, "plain", "I live in Oslo.")
    assert keyed(agent, "plain", "I live in Rome.").status == 409


def test_taken_names_are_one_answer_whosever_they_are(bob: Person, carol: Person, annies: Caller) -> None:
    for user in ("annie", "bodo"):
        ingested(caller(bob), f"m-{user}", "I live in Oslo.", userId=user, threadId=f"t-{user}")
        hand_in(bob, "Nils keeps it.", custom_id=f"d-{user}", container_tags=[f"s-{user}"])

    def of(user: str, who: Caller) -> list[Any]:
        own = {"userId": "annie"}
        asked = (
            who.post("/conversations", {"threadId": f"t-{user}", **own}),
            who.post("/spaces", {"containerTag": f"s-{user}"}),
        )
        return [told(answer, user) for answer in asked]

    for who in (caller(carol), annies):
        assert of("annie", who) == of("bodo", who)
        assert {status for status, _ in of("bodo", who)} == {409}


def test_counts_are_of_what_the_asker_sees(bob: Person, carol: Person, annies: Caller) -> None:
    ask = {"categories": ["identity"], "threadId": "t"}
    lists = ("memories", "facts", "episodes", "sessions", "conversations", "documents", "spaces")

    def counted(http: Caller) -> str:
        shown = [http.get(f"/{name}").body for name in lists]
        shown += [http.post("//v3/documents/list", {}).body, http.get("/inbox").body]
        shown.append(http.post("/memories/search", {"query": "Oslo", **ask}).body["results"])
        shown.append(http.get("/memories/profile", userId="bodo").body)
        return NUMBER.sub("", TIME.sub("TIME", json.dumps(shown)))

    strangers = (caller(carol), annies)
    before = [counted(http) for http in strangers]
    ingested(caller(bob), "m1", "I live in Oslo.", userId="bodo")
    hand_in(bob, "Nils keeps it.", user_id="bodo", container_tags=["shelf"], visibility="private")
    assert [counted(http) for http in strangers] == before


def test_a_narrow_key_without_curating_is_compared_with_the_masked_text(alice: Person) -> None:
    """Also one that is bound to no agent, as a viewer of the workspace is."""
    options = KeyOptions("writer", (Capability.READ, Capability.WRITE))
    http, words = caller(with_key(alice.workspace, options)), SAID.format(RIGHT)
    for name in ("m1", "m2"):
        ingested(http, name, words)
    assert alike(http, ingested, ("m1", words), ("m2", SAID.format(WRONG))) == 201
