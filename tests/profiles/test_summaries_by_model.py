"""Summaries of subjects, topics and talks that a model tells: held against what they cite, without
what is forgotten, and made again where it failed."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from memories.belief import review
from memories.belief.resolve import state_changes
from memories.index import workspace_index
from memories.models import DueSummary, Entry, Episode, Layer, Memory, ModelUse, TalkSummary
from memories.profiles.summaries import running_summary, subject_summaries, talk_summaries
from memories.profiles.summaries.subject_summaries import ModelTurn, NewTalkSummary, TalkAudience
from tests.api_fixtures import caller
from tests.people import Person
from tests.privacy.test_erasing import erase
from tests.privacy.test_masks import mask_words
from tests.profiles.test_talk_summaries import FACTS, GARDEN, make_all, of_subject, summaries_found, talk
from tests.wire_servers import chat_completion, failing, openai_error, serve_in_turn
from workspaces.models import Subject

pytestmark = pytest.mark.django_db
PATH = "/v1/chat/completions"


def answer(*lines: tuple[str, list[int]]) -> dict[str, Any]:
    told = [{"text": text, "messages": at, "earlier": []} for text, at in lines]
    return chat_completion(json.dumps({"lines": told}))


GOOD = answer(
    ("The user works as a carpenter, and their sister Ines lives in Porto.", [0, 1]),
    ("The user is a famous pilot.", [2]),
    ("The user sails.", []),
    ("The user likes milk.", [99]),
)


@pytest.fixture
def facts(alice: Person) -> Person:
    for text in FACTS:
        alice.say(text, user_id="mira")
    return alice


@pytest.fixture
def model(settings: Settings, httpserver: HTTPServer) -> HTTPServer:
    settings.EXTRACTION_MODEL = "small"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    return httpserver


def told_by(model: HTTPServer, settings: Settings, *answers: Any) -> list[dict[str, Any]]:
    """What the model is sent from now on; nothing that is said is read by it."""
    settings.EXTRACTION_PROVIDER = "openai"
    model.clear()
    return serve_in_turn(model, PATH, *answers)


def sent(body: dict[str, Any]) -> str:
    text: str = body["messages"][1]["content"]
    return text


def lines() -> list[dict[str, Any]]:
    [row] = TalkSummary.objects.filter(kind="subject")
    found: list[dict[str, Any]] = row.lines
    return found


def test_a_model_tells_what_is_known_and_each_line_cites_the_words_that_say_so(
    facts: Person, model: HTTPServer, settings: Settings
) -> None:
    bodies = told_by(model, settings, GOOD)
    make_all()
    assert len(bodies) == 1
    assert [text in sent(bodies[0]) for text in FACTS] == [True] * len(FACTS)
    [row] = TalkSummary.objects.filter(kind="subject")
    assert row.rule == "gpt-test-2026 beliefs-1"
    # What its words do not say is told in those words, and what cites nothing is thrown away.
    good = "The user works as a carpenter, and their sister Ines lives in Porto."
    assert row.content.splitlines() == [good, FACTS[2]]
    asked = {"query": "carpenter", "layers": ["summaries"], "include": ["citations"]}
    [hit] = caller(facts).post("/memories/search", asked | {"userId": "mira"}).body["results"]
    assert hit["summary"]["content"] == row.content
    assert [one["quote"] for one in hit["citations"]] == list(FACTS[:3])
    assert [one.purpose for one in ModelUse.objects.all()] == ["summaries"]


def test_a_model_is_asked_again_when_what_is_believed_has_changed_and_not_before(
    facts: Person, model: HTTPServer, settings: Settings
) -> None:
    bodies = told_by(model, settings, GOOD)
    make_all()
    before = TalkSummary.objects.get(kind="subject").pk
    talk_summaries.all_due(facts.workspace.pk)
    assert make_all() == 1
    assert (len(bodies), TalkSummary.objects.get(kind="subject").pk) == (1, before)
    settings.EXTRACTION_PROVIDER = ""
    facts.say("I work as a nurse now.", user_id="mira")
    bodies = told_by(model, settings, answer(("The user works as a nurse.", [4])))
    make_all()
    assert "carpenter" not in sent(bodies[0])
    assert [line["text"] for line in lines()] == ["The user works as a nurse."]


def test_where_the_model_fails_its_words_are_chosen_and_it_is_asked_again_later(
    facts: Person, model: HTTPServer, settings: Settings
) -> None:
    told_by(model, settings, failing(400, openai_error("busy")))
    made_of = subject_summaries.RULE
    make_all()
    assert TalkSummary.objects.get(kind="subject").rule == made_of
    assert not DueSummary.objects.exists()  # for good
    talk_summaries.all_due(facts.workspace.pk)
    told_by(model, settings, failing(500, openai_error("busy")))
    make_all()
    assert "Porto" in " ".join(of_subject(facts))
    row = DueSummary.objects.get()
    assert row.due_at > timezone.now()
    assert row.lease_until is None
    told_by(model, settings, GOOD)
    assert make_all() == 1
    assert "text" in lines()[0]
    assert not DueSummary.objects.exists()


def test_what_is_forgotten_or_held_reaches_no_model_and_is_told_no_more_at_once(
    alice: Person, model: HTTPServer, settings: Settings
) -> None:
    more = ("I live in Lyon.", "My dog is called Rex.", "I love chess.", "My brother is a baker.")
    told = [*FACTS[:3], FACTS[4], *more]
    alice.say(" ".join(told), "Oh.", "Well.", "So be it.", user_id="mira")  # all of one message
    told_by(model, settings, answer(("The user is allergic to wasps.", [2]), (MILK, [3])))
    make_all()
    index = workspace_index.index_of(alice.workspace.pk)
    wasps = Memory.objects.get(content__contains="wasps")
    review.forget(alice.scope, wasps.pk, reason="outdated")
    assert of_subject_lines(alice) == [MILK]
    state_changes.hold(index, Memory.objects.get(content__contains="milk"), timezone.now())
    bodies = told_by(model, settings, answer((FACTS[0], [0])))
    make_all()
    assert [word in sent(bodies[0]) for word in ("wasps", "milk", "Porto")] == [False, False, True]
    assert of_subject_lines(alice) == [FACTS[0]]
    told_by(model, settings, GOOD)
    subject = Subject.objects.get(external_id="mira")
    assert caller(alice).delete(f"/subjects/{subject.pk}").status in (200, 202, 204)
    assert not TalkSummary.objects.filter(subject=subject).exists()


MILK = "The user prefers oat milk over cream."


def of_subject_lines(person: Person) -> list[str]:
    hits = summaries_found(person, "wasps Porto boat milk", user_id="mira")
    own = [hit.summary for hit in hits if hit.summary and hit.summary.kind == "subject"]
    return [line for summary in own for line in summary.content.splitlines()]


def test_what_is_forgotten_while_the_model_answers_is_not_written(
    facts: Person, model: HTTPServer, settings: Settings
) -> None:
    told_by(model, settings, GOOD)
    subject = Subject.objects.get(external_id="mira")
    agent_id = Episode.objects.values_list("agent_id", flat=True)[0]
    audience = TalkAudience(subject.pk, agent_id)
    turn = ModelTurn.of(facts.workspace.pk)
    made = subject_summaries.of_subject(facts.workspace.pk, audience, turn)
    assert made[0].row.stands_on
    wasps = Memory.objects.get(content__contains="wasps")
    review.forget(facts.scope, wasps.pk, reason="wrong")
    DueSummary.objects.update(lease_until=timezone.now() + timedelta(minutes=5))
    row = DueSummary.objects.get()
    index = workspace_index.index_of(facts.workspace.pk)
    assert not talk_summaries.write(index, row, [audience], made)
    assert not TalkSummary.objects.exists()
    assert DueSummary.objects.get().due_at <= timezone.now()


def test_a_masked_word_reaches_no_model(alice: Person, model: HTTPServer, settings: Settings) -> None:
    alice.say("My cat is called Behemoth.", *GARDEN, *FACTS, user_id="mira", thread_id="garden")
    alice.say("Please forget what my cat is called.", user_id="mira", thread_id="garden")
    bodies = told_by(model, settings, answer((GARDEN[0], [1])), GOOD)
    make_all()
    assert len(bodies) == 2
    assert not any("Behemoth" in sent(body) for body in bodies)


@pytest.fixture(params=["", "garden"])
def summed(request: pytest.FixtureRequest, alice: Person, model: HTTPServer, settings: Settings) -> Person:
    """Facts that were told in no thread, or in one, and summed up by a model."""
    for text in FACTS:
        alice.say(text, user_id="mira", thread_id=request.param)
    told_by(model, settings, *[answer((PORTO, [0]), (BOAT, [3]))] * 2)
    make_all()
    settings.EXTRACTION_PROVIDER = ""
    assert [line["text"] for line in lines()] == [PORTO, BOAT]
    return alice


PORTO, BOAT = FACTS[0], FACTS[3]


def words_kept(word: str) -> list[str]:
    """What is kept of a word in summaries, and entries that are of no summary."""
    rows = TalkSummary.objects.all()
    kept = [str(row.lines) for row in rows if word in str(row.lines) + row.content]
    entries = Entry.objects.filter(layer=Layer.SUMMARIES)
    orphans = entries.exclude(item__in=rows.values("pk")).values_list("item", flat=True)
    return kept + [str(item) for item in orphans]


@pytest.mark.parametrize("how", ["erased", "masked"])
def test_a_models_line_goes_at_once_with_the_message_that_it_was_read_from(summed: Person, how: str) -> None:
    if how == "erased":
        assert erase(summed, "episode", Episode.objects.get(content=PORTO).pk).state == "done"
    else:
        mask_words(summed, PORTO)
    assert words_kept("Porto") == []
    assert not TalkSummary.objects.filter(kind="subject").exists()
    assert DueSummary.objects.filter(subject__external_id="mira").exists()
    make_all()
    assert words_kept("Porto") == []
    assert "boat" in " ".join(of_subject(summed))


def test_an_erased_subject_leaves_no_entry_of_a_summary_that_no_message_names_any_more(
    summed: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk_summaries, "start_again", lambda *_: 0)
    erase(summed, "subject", Subject.objects.get(external_id="mira").pk)
    assert not TalkSummary.objects.exists()
    assert not Entry.objects.filter(layer=Layer.SUMMARIES).exists()


def test_the_proof_of_an_erasure_reads_summaries_and_their_lines(
    summed: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk_summaries, "start_again", lambda *_: 0)
    proof = erase(summed, "episode", Episode.objects.get(content=PORTO).pk).proof
    assert not proof["clean"]
    assert proof["found"]["memories_talksummary.lines"] >= 1


def test_subjects_that_are_merged_and_two_again_are_found_by_their_own_summaries(
    summed: Person,
) -> None:
    for text in ("I live in Lyon.", "I love chess.", "My dog is called Rex.", "I drink tea."):
        summed.say(text, user_id="nora")
    make_all()
    mira, nora = (Subject.objects.get(external_id=name) for name in ("mira", "nora"))
    merge = review.merge_subjects(summed.scope, mira.pk, nora.pk)
    assert words_kept("Porto") == words_kept("Lyon") == []
    make_all()
    assert {"Porto", "Lyon"} <= set(" ".join(of_subject(summed, "nora")).replace(".", "").split())
    review.separate(summed.scope, merge.pk)
    assert words_kept("Porto") == words_kept("Lyon") == []
    assert of_subject(summed, "nora") == of_subject(summed, "mira") == []
    make_all()
    assert "Porto" not in " ".join(of_subject(summed, "nora"))
    assert "Lyon" not in " ".join(of_subject(summed, "mira"))
    assert "Porto" in " ".join(of_subject(summed, "mira"))


def test_a_topic_with_much_to_read_is_told_by_the_model(
    alice: Person, model: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    boat = ("I have a sailing boat.", "I love my sailing boat.", "I moor my sailing boat in Kiel.")
    for place, text in enumerate(boat):
        talk(alice, text, thread_id=f"t{place}")
        alice.say(f"My sister number {place} lives in Porto.", user_id="mira")
    bodies = told_by(model, settings, GOOD)
    make_all()
    [topic] = TalkSummary.objects.filter(kind="topic", name="sailing")
    assert topic.rule == subject_summaries.RULE
    monkeypatch.setattr(subject_summaries, "TOPIC_ROOM", 12)
    bodies = told_by(model, settings, answer(("The user moors a sailing boat in Kiel.", [0, 2])))
    talk_summaries.all_due(alice.workspace.pk)
    make_all()
    [topic] = TalkSummary.objects.filter(kind="topic", name="sailing")
    assert topic.content == "The user moors a sailing boat in Kiel."
    [own] = [sent(body) for body in bodies if '<topic>\n"sailing"\n</topic>' in sent(body)]
    assert [text in own for text in boat] == [True] * 3
    assert "sister" not in own
    hits = summaries_found(alice, "sailing boat Kiel", user_id="mira")
    [hit] = [hit for hit in hits if hit.summary and hit.summary.name == "sailing"]
    assert {one.quote for one in hit.citations or ()} <= set(boat)


def test_more_summaries_than_one_go_asks_for_are_due_at_once(
    facts: Person, model: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_summaries, "ASKED", 0)
    bodies = told_by(model, settings, GOOD)
    make_all()
    assert (bodies, TalkSummary.objects.get(kind="subject").stands_on) == ([], "")
    row = DueSummary.objects.get()
    assert (row.attempts, row.lease_until) == (0, None)
    assert row.due_at <= timezone.now()


def test_a_talk_that_the_model_failed_is_told_by_it_later_and_once(
    alice: Person, model: HTTPServer, settings: Settings
) -> None:
    talk(alice, *GARDEN)
    told_by(model, settings, chat_completion("no JSON"))
    make_all()
    assert DueSummary.objects.get().due_at > timezone.now()
    about_juice = ("Ines wants to press juice.", [2])
    bodies = told_by(model, settings, answer(about_juice), answer(("No.", [])))
    make_all()
    [row] = TalkSummary.objects.filter(kind="conversation")
    assert row.content == about_juice[0]
    wasps = Memory.objects.filter(content__contains="wasps").first()
    assert wasps is not None
    review.forget(alice.scope, wasps.pk, reason="outdated")
    bodies = told_by(model, settings, answer(about_juice))
    make_all()
    assert bodies
    assert not any("wasps" in sent(body) for body in bodies)
    asked_before = len(bodies)
    talk_summaries.all_due(alice.workspace.pk)
    make_all()
    assert len(bodies) == asked_before


def test_a_talk_that_the_model_fails_too_often_is_told_by_it_a_day_later(
    alice: Person, model: HTTPServer, settings: Settings
) -> None:
    talk(alice, *GARDEN)
    told_by(model, settings, chat_completion("no JSON"))
    DueSummary.objects.update(attempts=talk_summaries.MAX_ATTEMPTS - 1)
    make_all()
    row = DueSummary.objects.get()
    assert row.due_at > timezone.now() + timedelta(hours=23)
    assert row.attempts == 0


def being_made(person: Person) -> tuple[DueSummary, TalkAudience, list[NewTalkSummary]]:
    """What is known of a subject, made by who has claimed it and not written it yet."""
    DueSummary.objects.update(lease_until=timezone.now() + timedelta(minutes=5))
    row = DueSummary.objects.get()
    agent_id = Episode.objects.values_list("agent_id", flat=True)[0]
    audience = TalkAudience(row.subject_id, agent_id)
    turn = ModelTurn.of(person.workspace.pk)
    return row, audience, subject_summaries.of_subject(person.workspace.pk, audience, turn)


@pytest.mark.parametrize("by_model", [True, False])
def test_words_that_changed_while_a_summary_was_made_are_not_written(
    facts: Person, model: HTTPServer, settings: Settings, by_model: bool
) -> None:
    if by_model:
        told_by(model, settings, answer((PORTO, [0]), (BOAT, [3])))
    row, audience, made = being_made(facts)
    assert bool(made[0].row.stands_on) == by_model
    # As a mask does that finds no row of the summary that is being made.
    Episode.objects.filter(content=PORTO).update(content="█" * len(PORTO))
    index = workspace_index.index_of(facts.workspace.pk)
    assert not talk_summaries.write(index, row, [audience], made)
    assert words_kept("Porto") == []
    assert not TalkSummary.objects.filter(kind="subject").exists()
    assert DueSummary.objects.get().due_at <= timezone.now()


def test_a_model_is_asked_again_when_the_words_of_a_citation_have_changed(
    facts: Person, model: HTTPServer, settings: Settings
) -> None:
    bodies = told_by(model, settings, answer((PORTO, [0]), (BOAT, [3])))
    make_all()
    Episode.objects.filter(content=PORTO).update(content="█" * len(PORTO))
    talk_summaries.all_due(facts.workspace.pk)
    make_all()
    assert ["Porto" in sent(body) for body in bodies] == [True, False]
    assert words_kept("Porto") == []


def test_a_line_that_says_what_it_does_not_cite_is_told_in_the_words_that_it_cites(
    facts: Person, model: HTTPServer, settings: Settings
) -> None:
    told_by(model, settings, answer(("The user works as a carpenter in Porto.", [1])))
    make_all()
    [row] = TalkSummary.objects.filter(kind="subject")
    assert row.content == FACTS[1]


LONG = "The user works as a carpenter, has a sailing boat, and their sister Ines lives in Porto."


def test_a_line_that_has_no_room_takes_none_from_the_next(
    facts: Person, model: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_summaries, "ROOM", 14)
    told_by(model, settings, answer((LONG, [0, 1, 3]), (BOAT, [3])))
    make_all()
    assert [line["text"] for line in lines()] == [BOAT]


def test_where_no_line_has_room_its_words_are_told_and_the_model_is_not_asked_again(
    facts: Person, model: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_summaries, "ROOM", 14)
    bodies = told_by(model, settings, answer((LONG, [0, 1, 3])))
    make_all()
    assert set(" ".join(of_subject(facts)).split()) <= set(" ".join(FACTS).split())
    assert TalkSummary.objects.get(kind="subject").rule == subject_summaries.RULE
    talk_summaries.all_due(facts.workspace.pk)
    make_all()
    assert len(bodies) == 1
    assert TalkSummary.objects.filter(kind="subject").exists()


def test_what_is_said_while_the_model_answers_throws_its_answer_not_away(
    facts: Person, model: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = told_by(model, settings, answer((PORTO, [0]), (BOAT, [3])))
    answered = running_summary.answered

    def while_somebody_speaks(*asked: Any) -> Any:
        facts.say("I love chess.", user_id="mira", extract="patterns")
        return answered(*asked)

    monkeypatch.setattr(running_summary, "answered", while_somebody_speaks)
    assert make_all() == 1
    assert [line["text"] for line in lines()] == [PORTO, BOAT]
    row = DueSummary.objects.get()
    assert (row.lease_until, row.attempts) == (None, 0)
    assert row.due_at > timezone.now()  # a pause later
    monkeypatch.undo()
    make_all()
    assert ["chess" in sent(body) for body in bodies] == [False, True]
    assert not DueSummary.objects.exists()


@pytest.mark.parametrize("thread", ["", "garden"])
def test_no_model_is_asked_when_the_time_of_the_task_is_over_and_the_rest_is_due_at_once(
    alice: Person, model: HTTPServer, settings: Settings, thread: str
) -> None:
    alice.say(*FACTS, user_id="mira", thread_id=thread)
    bodies = told_by(model, settings, GOOD)
    DueSummary.objects.update(due_at=timezone.now())
    [due] = talk_summaries.due_rows()
    assert talk_summaries.make(due, 0.0) is not None
    assert bodies == []
    assert TalkSummary.objects.get(kind="subject").rule == subject_summaries.RULE
    row = DueSummary.objects.get()
    assert (row.lease_until, row.attempts) == (None, 0)
    assert row.due_at <= timezone.now()


@pytest.mark.parametrize(
    ("first", "is_asked_on"),
    [(chat_completion("no JSON"), True), (failing(401, openai_error("no such key")), False)],
)
def test_an_answer_that_cannot_be_read_stops_no_other_summary_and_a_model_out_of_reach_all(
    alice: Person,
    model: HTTPServer,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    first: Any,
    is_asked_on: bool,
) -> None:
    sisters = [f"My sister number {n} lives in Porto." for n in range(3)]
    for text in (*sisters, BOAT):
        alice.say(text, user_id="mira")
    monkeypatch.setattr(subject_summaries, "TOPIC_ROOM", 12)
    looked: list[int] = []
    texts_now = talk_summaries.texts_now

    def counted(workspace_id: Any, ids: Any) -> dict[int, str]:
        looked.append(len(ids))
        return texts_now(workspace_id, ids)

    monkeypatch.setattr(talk_summaries, "texts_now", counted)
    told_by(model, settings, first, answer((sisters[2], [2])))
    make_all()
    assert TalkSummary.objects.get(kind="subject").rule == subject_summaries.RULE
    [topic] = TalkSummary.objects.filter(kind="topic")
    assert bool(topic.stands_on) == is_asked_on
    assert len(looked) == 1  # once for all summaries
    assert DueSummary.objects.filter(due_at__gt=timezone.now()).exists() == is_asked_on
