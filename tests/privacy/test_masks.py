"""Masked words are in no row, no index and no answer, and come back when the mask goes."""

from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from memories.belief import review
from memories.index import check, workspace_index
from memories.ingest import NewMessage
from memories.models import Citation, Episode, Fact, MaskedSpan, Memory, WorkspaceIndex
from memories.privacy import erase, masks
from memories.privacy.masks import MaskReason
from memories.reading.guard.masked_text import BLOCK, masked, places_of, text_at, unmasked, with_text_at
from tests.people import Person
from workspaces.models import AuditEntry, Subject

FORGOTTEN = MaskReason(MaskedSpan.Kind.FORGOTTEN, "asked to")
SECRET = MaskReason(MaskedSpan.Kind.SECRET, "password")


def space_of(person: Person) -> WorkspaceIndex:
    return workspace_index.index_of(person.workspace.pk)


def mask_words(person: Person, words: str, why: MaskReason = FORGOTTEN) -> list[MaskedSpan]:
    space = space_of(person)
    for memory in Memory.objects.filter(facts__citations__quote__contains=words).distinct():
        review.forget(person.scope, memory.pk, "asked to")
    with transaction.atomic():
        workspace_index.lock(space)
        spans = {
            row.pk: [(row.content.index(words), row.content.index(words) + len(words))]
            for row in Episode.objects.filter(content__contains=words)
        }
        made = masks.mask_episodes(space, spans, why)
        cited = Memory.objects.filter(facts__citations__quote__contains=BLOCK * len(words))
        made += masks.mask_memories(space, set(cited.values_list("pk", flat=True)), why)
    masks.fill(space, made)
    return made


def unmask(person: Person, made: list[MaskedSpan]) -> None:
    space = space_of(person)
    with transaction.atomic():
        workspace_index.lock(space)
        masks.unmask(person.scope, space, MaskedSpan.objects.filter(pk__in=[each.pk for each in made]))
    masks.fill(space, made)


def get(person: Person, path: str) -> str:
    headers: Any = {"HTTP_AUTHORIZATION": f"Bearer {person.key}"}
    answer = Client().get(f"/api/v1/workspaces/{person.workspace.slug}/{path}", **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def test_blocks_keep_every_place_and_words_come_back() -> None:
    text = "My salary is 91,000 a year. I like tea."
    hidden = masked(text, [(3, 9), (13, 19)])
    assert len(hidden) == len(text)
    assert hidden == f"My {BLOCK * 6} is {BLOCK * 6} a year. I like tea."
    assert unmasked(hidden, [(3, "salary"), (13, "91,000")]) == text


def test_words_are_found_anywhere_in_json() -> None:
    value = {"a/b": ["none", {"~": "the word, the word"}], "n": 3}
    places = list(places_of(value, ["word"]))
    assert places == [("/a~1b/1/~0", (4, 8)), ("/a~1b/1/~0", (14, 18))]
    assert text_at(value, places[0][0]) == "the word, the word"
    changed = with_text_at(value, places[0][0], "nothing")
    assert changed == {"a/b": ["none", {"~": "nothing"}], "n": 3}
    assert value["a/b"] == ["none", {"~": "the word, the word"}]


def test_masked_words_are_neither_served_nor_found(alice: Person) -> None:
    alice.say("I live in Lisbon. My cat is called Behemoth.", user_id="u1", thread_id="t1")
    alice.say("I work as a baker.", user_id="u1", thread_id="t1")
    mask_words(alice, "My cat is called Behemoth.")
    for path in (
        "episodes",
        "facts",
        "memories?live=false",
        "memories/profile?userId=u1",
        "sessions",
        "conversations",
        "sets",
    ):
        assert "Behemoth" not in get(alice, path), path
    for layers in (["memories"], ["episodes"], ["features"]):
        for ranking in ("hybrid", "keyword", "vector", "linea"):
            hits = alice.ask("Behemoth cat", layers=tuple(layers), ranking=ranking)
            assert not any("Behemoth" in hit.row.content for hit in hits)
    assert not alice.finds("Behemoth", layers=("episodes",), ranking="keyword")
    assert alice.finds("Lisbon", layers=("episodes",), ranking="keyword")


def test_quotes_stay_the_words_at_their_place(alice: Person) -> None:
    alice.say("I live in Lisbon. My cat is called Behemoth.", user_id="u1", thread_id="t1")
    made = mask_words(alice, "My cat is called Behemoth.")
    for row in Citation.objects.select_related("episode"):
        assert row.quote == row.episode.content[row.start : row.end]
    assert check.check_index(space_of(alice), lambda _: None).broken == {}
    unmask(alice, made)
    for row in Citation.objects.select_related("episode"):
        assert row.quote == row.episode.content[row.start : row.end]
    assert check.check_index(space_of(alice), lambda _: None).broken == {}


def test_all_is_as_before_when_the_mask_goes(alice: Person) -> None:
    alice.say("I live in Lisbon. My cat is called Behemoth.", user_id="u1", thread_id="t1")
    rows = [
        set(Memory.objects.values_list("content", flat=True)),
        set(Fact.objects.values_list("statement", flat=True)),
        list(Episode.objects.values_list("content", flat=True)),
    ]
    made = mask_words(alice, "My cat is called Behemoth.")
    assert set(Memory.objects.values_list("content", flat=True)) != rows[0]
    unmask(alice, made)
    assert rows == [
        set(Memory.objects.values_list("content", flat=True)),
        set(Fact.objects.values_list("statement", flat=True)),
        list(Episode.objects.values_list("content", flat=True)),
    ]
    assert alice.finds("Behemoth", layers=("episodes",), ranking="keyword")


def allow_secrets(alice: Person) -> None:
    """What a workspace allows is not masked by itself."""
    alice.workspace.settings = {"guard": {"allowed": ["password", "key"]}}
    alice.workspace.save()


def test_of_two_masks_one_goes_and_the_other_stays(alice: Person) -> None:
    allow_secrets(alice)
    alice.say("My password is hunter22 and my cat is Behemoth.", user_id="u1")
    first = mask_words(alice, "hunter22", SECRET)
    start = Episode.objects.get().content.index(" and my")
    space = space_of(alice)
    with transaction.atomic():
        workspace_index.lock(space)
        over = {Episode.objects.get().pk: [(0, start)]}
        second = masks.mask_episodes(space, over, FORGOTTEN)
    unmask(alice, first)
    assert Episode.objects.get().content == BLOCK * start + " and my cat is Behemoth."
    unmask(alice, second)
    assert Episode.objects.get().content == "My password is hunter22 and my cat is Behemoth."


def test_the_other_mask_stays_when_the_wider_one_goes(alice: Person) -> None:
    alice.say("My password is hunter22 and my cat is Behemoth.", user_id="u1")
    mask_words(alice, "hunter22", SECRET)
    space = space_of(alice)
    with transaction.atomic():
        workspace_index.lock(space)
        wider = masks.mask_episodes(space, {Episode.objects.get().pk: [(0, 47)]}, FORGOTTEN)
    unmask(alice, wider)
    assert Episode.objects.get().content == f"My password is {BLOCK * 8} and my cat is Behemoth."


def test_a_payload_that_repeats_the_words_is_masked_too(alice: Person) -> None:
    allow_secrets(alice)
    said = NewMessage(
        "The key is sk-abcdef0123.",
        role="tool",
        kind=Episode.Kind.TOOL_RESULT,
        payload={"output": {"rows": ["key sk-abcdef0123"]}},
    )
    alice.say(said, user_id="u1")
    made = mask_words(alice, "sk-abcdef0123", SECRET)
    assert Episode.objects.get().payload["output"] == {"rows": [f"key {BLOCK * 13}"]}
    unmask(alice, made)
    assert Episode.objects.get().payload["output"] == {"rows": ["key sk-abcdef0123"]}


def test_what_is_masked_from_the_start_is_never_written(alice: Person) -> None:
    episode = Episode(workspace_id=alice.workspace.pk, content="PIN 4711-22", payload={"input": "4711-22"})
    (first, second) = masks.of_new(episode, [(4, 11)], SECRET)
    assert episode.content == f"PIN {BLOCK * 7}"
    assert episode.payload == {"input": BLOCK * 7}
    assert (first.place, first.words, second.place) == ("content", "4711-22", "payload/input")


def test_a_message_that_is_sent_again_is_known_though_it_is_masked(alice: Person) -> None:
    said = NewMessage("My cat is called Behemoth.", id="m1")
    alice.say(said, user_id="u1", thread_id="t1")
    mask_words(alice, "My cat is called Behemoth.")
    again = alice.say(said, user_id="u1", thread_id="t1")
    assert again.counts["known"] == 1
    assert not alice.live()


def test_who_looks_at_masked_words_is_in_the_log(alice: Person) -> None:
    alice.say("My cat is called Behemoth.", user_id="u1")
    mask_words(alice, "My cat is called Behemoth.")
    assert masks.reveal(alice.scope, Episode.objects.get()) == "My cat is called Behemoth."
    line = AuditEntry.objects.get(action="reveal")
    assert (line.actor, line.before, line.after) == (alice.scope.actor, None, None)


@pytest.mark.parametrize("words", ["I live in Lisbon.", "My cat is called Behemoth."])
def test_an_erasure_takes_the_masked_words_with_it(alice: Person, words: str) -> None:
    alice.say("I live in Lisbon. My cat is called Behemoth.", user_id="u1", thread_id="t1")
    mask_words(alice, words)
    target = erase.target_of(alice.scope, "subject", Subject.objects.get().pk)
    finished = erase.run(erase.request(alice.scope, target).pk)
    assert finished is not None
    assert finished.proof["clean"]
    assert not MaskedSpan.objects.exists()
