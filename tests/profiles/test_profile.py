"""A profile: memories by kind, features by category, what lasts and what moves, as text."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import Feature, FeatureChange, Memory
from tests.api_fixtures import Answer, Caller, caller
from tests.factories import MemoryFactory, SubjectFactory, TouchFactory, evidence
from tests.people import Person, with_key
from tests.privacy.test_masks import mask_words
from workspaces.keys import KeyOptions
from workspaces.models import Subject

PROFILE = "/memories/profile"


def say(http: Caller, *said: str) -> None:
    messages = [{"role": "user", "name": "Ada", "content": each} for each in said]
    http.post("/memories/ingest", {"userId": "ada", "messages": messages})
    http.post("/sets/user:ada/fold")


def asked(http: Caller, **wish: str) -> Answer:
    return http.get(PROFILE, userId="ada", **wish)


def values(answer: Answer) -> list[str]:
    tags = answer.body["features"].values()
    return [row["value"] for by_tag in tags for rows in by_tag.values() for row in rows]


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def test_features_stand_by_category_and_tag_with_their_words(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    (row,) = asked(http).body["features"]["identity"]["home"]
    assert (row["feature"], row["value"]) == ("home", "Lisbon")
    assert row["citations"][0]["quote"] == "I live in Lisbon."


def test_what_lasts_and_what_moves_are_told_apart(http: Caller) -> None:
    say(http, "I live in Lisbon.", "My goal is to run a marathon.")
    body = asked(http).body
    assert body["static"] == ["home: Lisbon"]
    assert len(body["dynamic"]) == 1
    assert "marathon" in body["dynamic"][0]


def test_the_profile_of_another_day_has_the_features_of_that_day(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    FeatureChange.objects.update(created_at=timezone.now() - timedelta(days=9))
    then = (timezone.now() - timedelta(days=1)).isoformat()
    say(http, "I live in Porto now.")
    assert values(asked(http)) == ["Porto"]
    assert values(asked(http, knownAt=then)) == ["Lisbon"]
    assert values(asked(http, knownAt="2020-01-01T00:00:00Z")) == []


@pytest.mark.parametrize("by", [{"format": "markdown"}, {}])
def test_it_is_a_text_for_a_prompt_where_that_is_asked(http: Caller, by: dict[str, str]) -> None:
    say(http, "I live in Lisbon.", "I am a backend engineer.")
    headers = {} if by else {"Accept": "text/markdown"}
    answer = http.call("GET", PROFILE, query={"userId": "ada", **by}, headers=headers)
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.body.decode()
    assert text.startswith("# ada\n")
    assert "## Identity\n\n" in text
    assert text.count("Lisbon") == 1


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("I love hiking in the hills at dawn.", "- loves hiking in the hills at dawn"),
        ("I live in Lisbon.", "- home: Lisbon"),
        ("I'm a big fan of live jazz.", "- is a big fan of live jazz"),
    ],
)
def test_a_line_says_nothing_twice(http: Caller, said: str, line: str) -> None:
    say(http, said)
    text = asked(http, format="markdown").body.decode()
    assert f"{line} (said {timezone.now():%Y-%m-%d})" in text.splitlines()


def test_a_line_says_since_when_and_when_it_was_last_said(http: Caller) -> None:
    for day in ("2026-03-02", "2026-05-04"):
        told = {"role": "user", "name": "Ada", "content": "I love tango.", "createdAt": f"{day}T12:00:00Z"}
        http.post("/memories/ingest", {"userId": "ada", "messages": [told]})
    http.post("/sets/user:ada/fold")
    text = asked(http, format="markdown").body.decode()
    assert "- loves tango (since 2026-03-02, last said 2026-05-04)" in text


def test_the_profile_of_one_speaker_tells_nothing_of_another(http: Caller) -> None:
    talk = (("Ada", "I love tango."), ("Ben", "I love chess."), ("Ben", "I live in Porto."))
    messages = [{"role": "user", "name": name, "content": content} for name, content in talk]
    for user in ("ada", "talk-7"):
        http.post("/memories/ingest", {"userId": user, "messages": messages})
        http.post(f"/sets/user:{user}/fold")
    body, text = asked(http).body, asked(http, format="markdown").body.decode()
    for told in (text, *body["static"], *body["dynamic"]):
        assert "chess" not in told
        assert "Porto" not in told
    assert "tango" in text
    parted = http.get(PROFILE, userId="talk-7", format="markdown").body.decode()
    of_ada, _, of_ben = parted.partition("## Ben: ")
    assert "## Ada: " in of_ada
    assert "chess" in of_ben
    assert "tango" not in of_ben


def test_what_was_said_again_stands_above_what_came_later(http: Caller) -> None:
    say(http, "I love tango.")
    say(http, "I love tango.")
    say(http, "I love rowing.")
    text = asked(http, format="markdown").body.decode()
    assert text.index("tango") < text.index("rowing")


def test_the_same_in_other_words_is_told_once(http: Caller) -> None:
    say(http, "I love tango and long walks by the river.", "I am a big fan of tango and walks by the river.")
    assert asked(http, format="markdown").body.decode().count("river") == 1


def test_what_was_said_does_not_become_markup(http: Caller) -> None:
    say(http, "My favourite sign is </memories> # [x](y).")
    text = asked(http, format="markdown").body.decode()
    assert "</memories>" not in text.replace("\\<", "")
    assert "[x](y)" not in text


def test_html_is_escaped(http: Caller) -> None:
    say(http, "My favourite sign is <img src=x onerror=alert(1)>.", "I love <script>chess</script>.")
    text = asked(http, format="markdown").body.decode()
    assert "<img" not in text
    assert "<script" not in text
    named = http.get(PROFILE, userId="<b>ann</b>", format="markdown").body.decode()
    assert "<b>" not in named


def test_it_is_made_again_only_when_something_changed(http: Caller) -> None:
    say(http, "I live in Lisbon.")
    first = asked(http)
    with CaptureQueriesContext(connection) as again:
        assert asked(http).body == first.body
    with CaptureQueriesContext(connection) as made:
        http.patch(f"/features/{first.body['features']['identity']['home'][0]['id']}", {"value": "Faro"})
        assert values(asked(http)) == ["Faro"]
    assert not any("memories_featurecitation" in query["sql"] for query in again)
    assert any("memories_featurecitation" in query["sql"] for query in made)


def test_what_was_written_while_a_clock_was_ahead_keeps_nothing_newer_back(http: Caller) -> None:
    rome, oslo = {"content": "Ada lives in Rome"}, {"content": "Ada lives in Oslo now"}
    say(http, "I prefer tea to coffee.")
    http.post("/memories", {**rome, "userId": "ada"})
    ahead = timezone.now() + timedelta(days=365)
    Memory.objects.filter(content__contains="tea").update(updated_at=ahead)
    Feature.objects.filter(value__contains="tea").update(updated_at=ahead)
    before = asked(http)
    http.post("/memories", {**oslo, "userId": "ada"})
    for answer in (asked(http), asked(http, format="markdown")):
        assert "Oslo" in str(answer.body)
    assert "Oslo" not in str(before.body)


def test_of_each_category_the_newest_features_are_told(http: Caller) -> None:
    say(http, "I live in Lisbon.", "I love jazz.")
    say(http, "I love tango.")
    say(http, "I love chess.")
    everything = values(asked(http))
    assert {"Lisbon", "loves jazz", "loves tango", "loves chess"} <= set(everything)
    few = values(asked(http, limit="2"))
    assert {"Lisbon", "loves tango", "loves chess"} <= set(few)
    assert "loves jazz" not in few


def test_nobody_is_told_what_another_agent_heard(alice: Person, bob: Person, carol: Person) -> None:
    about = {"userId": "ada", "messages": [{"role": "user", "content": "I live in Lisbon."}]}
    caller(bob).post("/memories/ingest", about)
    caller(alice).post("/sets/user:ada/fold")
    assert values(asked(caller(bob))) == ["Lisbon"]
    assert values(asked(caller(carol))) == []
    assert values(asked(caller(alice))) == ["Lisbon"]


def test_somebody_unknown_is_told_of_under_the_name_that_was_asked(http: Caller) -> None:
    for name in ("zed@example.org", "somebody-else"):
        assert http.get(PROFILE, userId=name).body["userId"] == name
        told = http.get(PROFILE, userId=name, format="markdown").body.decode()
        assert told.startswith(f"# {name}\n")


def test_a_key_limited_to_others_does_not_learn_a_name(http: Caller, alice: Person) -> None:
    own = Subject.objects.create(workspace=alice.workspace, external_id="bob")
    Subject.objects.create(workspace=alice.workspace, external_id="ada", name="Ada Lovelace")
    phone = caller(with_key(alice.workspace, KeyOptions("phone", subjects=(own,))))
    assert b"Lovelace" in asked(http, format="markdown").body
    assert b"Lovelace" not in asked(phone, format="markdown").body


def test_later_words_that_are_masked_stand_in_no_profile_that_was_asked_for_before(http: Caller, alice: Person) -> None:
    http.post("/memories/ingest", {"userId": "ada", "content": "I have a blue canoe."})
    http.post("/memories/ingest", {"userId": "ada", "content": "The canoe got sold to a friend, you know."})
    assert "sold to a friend" in str(asked(http).body)
    mask_words(alice, "sold to a friend")
    assert "sold to a friend" not in str(asked(http).body)


def test_a_line_that_later_words_question_says_so(http: Caller, alice: Person) -> None:
    subject = SubjectFactory(workspace=alice.workspace, external_id="ada", name="Ada")
    memory = MemoryFactory(workspace=alice.workspace, subject=subject, content="Ada keeps bees in the orchard")
    evidence(memory, "I keep bees in the orchard.")
    assert "questioned" not in asked(http, format="markdown").body.decode()
    TouchFactory(memory=memory, episode__content="The bees went to a farmer.")
    text = asked(http, format="markdown").body.decode()
    assert re.search(r'Ada keeps bees in the orchard \(.*, questioned since \d{4}-\d\d-\d\d: "The bees', text)


def test_a_feature_is_questioned_where_all_that_it_stands_on_is(http: Caller) -> None:
    say(http, "I love tango.")
    http.post("/sets/user:ada/fold")
    memory = Memory.objects.get()
    TouchFactory(memory=memory, episode__content="No more tango for me.", episode__occurred_at=timezone.now())
    assert "questioned since" in asked(http, format="markdown").body.decode()


def test_two_who_speak_in_a_talk_that_is_called_after_both_have_a_profile_each(http: Caller) -> None:
    talk = (("Ada", "I love tango."), ("Ben", "I love chess."))
    messages = [{"role": "user", "name": name, "content": content} for name, content in talk]
    http.post("/memories/ingest", {"userId": "ada-ben", "messages": messages})
    http.post("/sets/user:ada-ben/fold")
    text = http.get(PROFILE, userId="ada-ben", format="markdown").body.decode()
    of_ada, _, of_ben = text.partition("## Ben: ")
    assert "tango" in of_ada
    assert "chess" in of_ben
    assert "tango" not in of_ben
