"""Summaries as a layer of search: of conversations, of stretches of them, and of topics."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memories.belief import review
from memories.belief.resolve import state_changes
from memories.index import check, workspace_index
from memories.ingest import NewMessage
from memories.models import (
    Conversation,
    DueSummary,
    Entry,
    Episode,
    Intent,
    Layer,
    Memory,
    TalkSummary,
)
from memories.profiles.summaries import choose_sentences, talk_summaries
from memories.reading import intents
from memories.search import Hit
from memories.worker.sweep import sweep
from tests.api_fixtures import caller
from tests.people import Person, bound_to_agent
from workspaces.models import Subject

pytestmark = pytest.mark.django_db

GARDEN = (
    "I planted two apple trees behind the barn.",
    "The apple trees need water every evening in summer.",
    "My sister Ines wants to press apple juice in autumn.",
    "I bought a press from a farm near the river.",
    "The press stands in the cellar beside the boiler.",
    "I sold the old tractor to our neighbour Pieter.",
    "I am allergic to wasps, so Ines picks the apples.",
    "We filled forty bottles of juice on Saturday.",
    "I gave Pieter six bottles of juice as a present.",
)


def talk(person: Person, *texts: str, **about: str) -> Conversation:
    where = {"user_id": "mira", "thread_id": "garden"} | about
    person.say(*(NewMessage(text, name="Mira") for text in texts), extract="patterns", **where)
    return Conversation.objects.get(workspace=person.workspace, external_id=where["thread_id"])


def make_all() -> int:
    DueSummary.objects.update(due_at=timezone.now())
    return sum(talk_summaries.make(pk) is not None for pk in talk_summaries.due_rows())


def summaries_found(person: Person, query: str, **wish: Any) -> list[Hit]:
    return [hit for hit in person.ask(query, layers=("summaries",), include={"citations"}, **wish) if hit.summary]


def test_a_talk_is_summed_up_as_a_whole_and_in_stretches_that_cite_each_message(
    alice: Person,
) -> None:
    talk(alice, *GARDEN)
    assert make_all() == 1
    assert DueSummary.objects.count() == 0
    kinds = TalkSummary.objects.order_by("kind", "ordinal").values_list("kind", "ordinal")
    of_talk = [kind for kind, _ in kinds if kind not in talk_summaries.OF_SUBJECTS]
    assert of_talk == ["conversation", "stretch", "stretch"]
    hits = summaries_found(alice, "Who helps with the juice?", user_id="mira")
    stretch = next(hit for hit in hits if hit.summary.kind == "stretch")
    assert stretch.summary.content.splitlines() == list(GARDEN[:8])
    assert [one.quote for one in stretch.citations or ()] == list(GARDEN[:8])
    assert stretch.summary.thread_external == "garden"


def test_what_is_believed_about_a_topic_is_one_summary_across_conversations(alice: Person) -> None:
    told = ("I have a sailing boat.", "I love my sailing boat.", "I moor my sailing boat in Kiel.")
    for place, text in enumerate(told):
        talk(alice, text, "Good.", "Yes.", "Fine.", thread_id=f"t{place}")
    make_all()
    assert Memory.objects.count() >= 3
    [topic] = TalkSummary.objects.filter(kind="topic", name="sailing")
    assert [one in topic.content for one in ("love", "Kiel")] == [True, True]
    assert topic.conversation is None
    hits = summaries_found(alice, "sailing", user_id="mira")
    assert len({one.episode_id for hit in hits for one in hit.citations or ()}) >= 3


FACTS = (
    "My sister Ines lives in Porto.",
    "I work as a carpenter.",
    "I am allergic to wasps.",
    "I have a sailing boat.",
    "I prefer oat milk over cream.",
)


def of_subject(person: Person, user_id: str = "mira") -> list[str]:
    """The lines of what is known of a subject, by a search that whoever asks makes."""
    asked = {
        "query": "wasps allergic",
        "layers": ["summaries"],
        "userId": user_id,
        "filter": {"field": "kind", "op": "eq", "value": "subject"},
        "include": ["citations"],
    }
    hits = caller(person).post("/memories/search", asked).body["results"]
    for hit in hits:
        quotes = "\n".join(cited["quote"] for cited in hit["citations"])
        assert quotes == hit["summary"]["content"]
    return [line for hit in hits for line in hit["summary"]["content"].splitlines()]


@pytest.mark.parametrize("thread", ["", "garden"])
def test_what_is_known_of_a_subject_is_one_summary_with_its_citations(alice: Person, thread: str) -> None:
    for text in FACTS:  # one message a thread, or in none
        talk_id = f"{thread}{text[:6]}" if thread else ""
        alice.say(text, user_id="mira", thread_id=talk_id)
    make_all()
    [row] = TalkSummary.objects.filter(kind="subject")
    assert (row.subject and row.subject.external_id, row.conversation) == ("mira", None)
    assert all(word in " ".join(of_subject(alice)) for word in ("Porto", "carpenter", "wasps"))


def test_what_is_told_at_once_and_in_no_thread_is_summed_up(alice: Person) -> None:
    alice.say(*FACTS, user_id="mira")
    assert make_all() == 1
    assert "I work as a carpenter." in of_subject(alice)


def test_a_subjects_summary_follows_what_is_believed(alice: Person) -> None:
    alice.say(*FACTS, user_id="mira", thread_id="garden")
    make_all()
    assert "I work as a carpenter." in of_subject(alice)
    alice.say("I work as a nurse now.", user_id="mira", thread_id="garden")
    assert make_all() == 1
    said = " ".join(of_subject(alice))
    assert "nurse" in said
    assert "carpenter" not in said
    wasps = Memory.objects.get(content__contains="wasps")
    assert caller(alice).delete(f"/memories/{wasps.pk}", reason="outdated").status in (200, 204)
    assert "wasps" not in " ".join(of_subject(alice))  # at once
    assert make_all() == 1
    assert not any("wasps" in row.content for row in TalkSummary.objects.filter(kind="subject"))
    boat = Memory.objects.get(content__contains="sailing boat")
    edited = caller(alice).patch(f"/memories/{boat.pk}", {"content": "Mira has a rowing boat"})
    assert edited.status == 200
    assert make_all() == 1
    assert "sailing" not in " ".join(of_subject(alice))


def test_a_subjects_summary_is_seen_by_whom_all_of_it_is(alice: Person, bob: Person, mallory: Person) -> None:
    carol = bound_to_agent(alice.workspace, "carol-of-summaries")
    bob.say(*FACTS[:4], user_id="mira", thread_id="bobs")
    carol.say(*FACTS[1:], user_id="mira", thread_id="carols")
    make_all()
    assert TalkSummary.objects.filter(kind="subject").count() == 2
    assert "Porto" in " ".join(of_subject(bob))
    assert "oat milk" not in " ".join(of_subject(bob))
    assert "Porto" not in " ".join(of_subject(carol))
    assert {"Porto", "milk"} <= set(" ".join(of_subject(alice)).replace(".", "").split())
    assert of_subject(mallory) == []
    assert of_subject(alice, "somebody-else") == []


def test_what_waits_for_a_decision_or_is_erased_is_in_no_subjects_summary(alice: Person) -> None:
    alice.say(*FACTS, user_id="mira", thread_id="garden")
    make_all()
    subject = Subject.objects.get(external_id="mira")
    index = workspace_index.index_of(alice.workspace.pk)
    wasps = Memory.objects.get(content__contains="wasps")
    state_changes.hold(index, wasps, timezone.now())
    assert make_all() == 1
    assert "wasps" not in " ".join(of_subject(alice))
    assert caller(alice).delete(f"/subjects/{subject.pk}").status in (200, 202, 204)
    sweep()
    assert not TalkSummary.objects.filter(subject=subject).exists()
    assert of_subject(alice) == []


def test_topics_are_words_of_some_texts_and_not_of_most() -> None:
    texts = [f"The boat needs paint {n}." for n in range(4)] + [f"Rain fell {n}." for n in range(16)]
    assert choose_sentences.topics(texts) == {"paint": [0, 1, 2, 3]}
    assert choose_sentences.topics(["One boat.", "Two boats."]) == {}


def test_a_short_talk_has_no_summary_and_a_longer_one_is_due_again(alice: Person) -> None:
    talk(alice, *GARDEN[:3])
    assert not DueSummary.objects.exists()
    talk(alice, GARDEN[3])
    assert make_all() == 1
    before = set(TalkSummary.objects.values_list("pk", flat=True))
    assert make_all() == 0
    talk(alice, *GARDEN[4:])
    assert make_all() == 1
    after = set(TalkSummary.objects.values_list("pk", flat=True))
    assert not before & after


def test_what_says_the_same_stays_when_it_is_made_again(alice: Person) -> None:
    conversation = talk(alice, *GARDEN)
    make_all()
    before = set(TalkSummary.objects.values_list("pk", flat=True))
    talk_summaries.all_due(conversation.workspace_id)
    assert make_all() == 1
    assert set(TalkSummary.objects.values_list("pk", flat=True)) == before


def test_what_came_meanwhile_leaves_it_due(alice: Person) -> None:
    talk(alice, *GARDEN)
    row = DueSummary.objects.get()
    DueSummary.objects.update(due_at=timezone.now())
    index = workspace_index.index_of(alice.workspace.pk)
    assert talk_summaries.write(index, row, [], []) is False
    assert DueSummary.objects.exists()


def test_a_talk_that_kills_its_workers_is_put_off_for_a_day_and_logged(
    alice: Person, caplog: pytest.LogCaptureFixture
) -> None:
    talk(alice, *GARDEN)
    DueSummary.objects.update(attempts=talk_summaries.MAX_ATTEMPTS)
    assert make_all() == 1
    assert not TalkSummary.objects.exists()
    row = DueSummary.objects.get()
    assert row.attempts == 0
    assert row.due_at > timezone.now() + timedelta(hours=23)
    assert "Its worker died too often." in caplog.text
    sweep()
    row.refresh_from_db()
    assert row.due_at > timezone.now() + timedelta(hours=23)
    assert make_all() == 1
    assert TalkSummary.objects.exists()


def test_the_sweep_makes_what_is_due(alice: Person) -> None:
    talk(alice, *GARDEN)
    DueSummary.objects.update(due_at=timezone.now())
    assert sweep().talks == 1
    assert talk_summaries.make(alice.workspace.pk) is None


def test_index_and_truth_agree_and_the_index_is_made_anew(alice: Person) -> None:
    talk(alice, *GARDEN)
    make_all()
    index = workspace_index.index_of(alice.workspace.pk)
    agreement = check.check_index(index, lambda _: None)
    assert agreement.broken == {}
    assert agreement.summaries == TalkSummary.objects.count() == index.live_summaries


def test_a_message_that_is_forgotten_is_in_no_summary(alice: Person) -> None:
    alice.say("My cat is called Behemoth.", *GARDEN, user_id="mira", thread_id="garden")
    make_all()
    assert any("Behemoth" in hit.row.content for hit in summaries_found(alice, "cat"))
    alice.say("Please forget what my cat is called.", user_id="mira", thread_id="garden")
    intent = Intent.objects.get(kind="forget")
    assert intent.state == "done"
    assert summaries_found(alice, "Behemoth") == []
    assert make_all() == 2  # of the talk and of its subject
    found = summaries_found(alice, "cat Behemoth apples")
    assert found
    assert all("Behemoth" not in hit.row.content for hit in found)
    intents.undo(alice.scope, intent.pk)
    assert make_all() == 2
    assert any("Behemoth" in hit.row.content for hit in summaries_found(alice, "cat"))


def test_what_a_forgotten_memory_stood_on_is_told_no_more_at_once(alice: Person) -> None:
    talk(alice, *GARDEN)
    make_all()
    memory = Memory.objects.filter(content__contains="wasps").first()
    assert memory is not None
    review.forget(alice.scope, memory.pk, reason="outdated")
    assert all("wasps" not in hit.row.content for hit in summaries_found(alice, "apples wasps"))
    talk_summaries.all_due(alice.workspace.pk)
    make_all()
    assert not any("wasps" in row.content for row in TalkSummary.objects.all())


def test_what_is_erased_takes_its_summaries_with_it(alice: Person) -> None:
    conversation = talk(alice, *GARDEN)
    make_all()
    index = workspace_index.index_of(alice.workspace.pk)
    said = Episode.objects.filter(conversation=conversation)
    assert talk_summaries.start_again(index, said) > 0
    assert not Entry.objects.filter(layer=Layer.SUMMARIES).exists()
    assert not TalkSummary.objects.exists()
    assert talk_summaries.start_again(index, Episode.objects.none()) == 0


def test_summaries_are_found_by_whom_their_messages_are(alice: Person, bob: Person, mallory: Person) -> None:
    talk(alice, *GARDEN)
    make_all()
    assert summaries_found(alice, "apples")
    assert summaries_found(mallory, "apples") == []
    assert summaries_found(bob, "apples") == []  # what an agent hears is its own
    assert summaries_found(bound_to_agent(alice.workspace, "gardener"), "apples") == []


def test_summaries_are_served_with_their_citations_and_filtered_by_kind(alice: Person) -> None:
    talk(alice, *GARDEN)
    make_all()
    http = caller(alice)
    body: dict[str, Any] = {
        "query": "apple juice",
        "layers": ["summaries"],
        "include": ["citations"],
        "filter": {"field": "kind", "op": "eq", "value": "stretch"},
    }
    for ranking in ("hybrid", "keyword", "vector", "linea"):
        found = http.post("/memories/search", body | {"ranking": ranking}).body["results"]
        assert {hit["summary"]["kind"] for hit in found} <= {"stretch"}
    first = http.post("/memories/search", body).body["results"][0]
    assert first["summary"]["threadId"] == "garden"
    assert first["citations"][0]["factId"] is None
    assert first["citations"][0]["quote"] == GARDEN[0]
    past = body | {"knownAt": "2020-01-01T00:00:00Z"}
    assert http.post("/memories/search", past).body["results"] == []
    wrong = body | {"filter": {"field": "kind", "op": "eq", "value": "poem"}}
    assert http.post("/memories/search", wrong).status == 400
    told = {"query": "apple juice", "layers": ["summaries", "episodes"], "tokens": 2_000}
    packed = http.post("/memories/context", told).body
    assert packed["summaryIds"]
    assert "[s1]" in packed["text"]


def test_two_subjects_in_one_talk_have_summaries_of_their_own(alice: Person) -> None:
    talk(alice, *GARDEN[:4])
    talk(alice, *GARDEN[4:], user_id="pieter")
    make_all()
    subjects = {row.subject and row.subject.external_id for row in TalkSummary.objects.all()}
    assert subjects == {"mira", "pieter"}
    mine = Episode.objects.filter(subject__external_id="mira").count()
    assert mine == 4
