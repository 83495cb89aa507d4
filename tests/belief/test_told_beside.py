"""What else a sentence says stays believed when the sentence is replaced."""

import pytest

from memories.belief import review
from memories.models import Citation, Memory, Supersession
from tests.people import Person

# What is said first and then, and what is believed of the first afterwards.
REPLACED = [
    ("I live in Bergen with my husband Tom.", "I moved to Stavanger.", ["husband is Tom"]),
    ("I live in Ghent with my wife Ines and our dog Bolt.", "I live in Bruges now.", ["wife is Ines"]),
    ("I live in Leeds, where my sister Nora lives too.", "I moved to York.", ["sister is Nora", "Nora lives in Leeds"]),
    ("I live in Leeds, where my parents live.", "I moved to York.", ["parents live in Leeds"]),
    ("I work at Quillon and live in Leeds.", "I moved to York.", ["works at Quillon"]),
    ("I live in Leeds and work at Quillon.", "I work at Brandt now.", ["lives in Leeds"]),
    ("I work at Quillon with my brother Paul.", "I work at Brandt now.", ["brother is Paul"]),
    ("I live in Leeds because of my job at Quillon.", "I moved to York.", ["works at Quillon"]),
    ("I moved to Leeds with my two children in May.", "I moved to York.", ["has two children"]),
    ("I live in Leeds with my cat Momo.", "I moved to York.", ["cat is Momo"]),
]
# What only looks so: nothing but the sentence itself is learned.
ALONE = [
    "I broke up with my boyfriend Tom.",
    "I lived in Leeds with my boyfriend Tom.",
    "I don't live with my boyfriend Tom any more.",
    "I want to live in Leeds with my girlfriend Ada.",
    "I work at Marks and Spencer.",
    "I live and work in Leeds.",
    "I live in Leeds and work there.",
]


@pytest.mark.parametrize(("first", "then", "kept"), REPLACED, ids=[row[0] for row in REPLACED])
def test_what_else_a_replaced_sentence_said_stays_believed(
    alice: Person, first: str, then: str, kept: list[str]
) -> None:
    alice.say(first, user_id="ada")
    before = alice.live()
    alice.say(then, user_id="ada")
    after = alice.live()
    assert len(set(before) - set(after)) == 1  # what was replaced, and no more
    for words in kept:
        assert any(words in content for content in after), after
        memory = Memory.objects.live().get(content__contains=words)
        [cited] = Citation.objects.filter(fact__memory=memory)
        assert cited.episode is not None
        assert cited.quote in first == cited.episode.content


@pytest.mark.parametrize("said", ALONE)
def test_what_only_looks_like_a_second_thing_is_none(alice: Person, said: str) -> None:
    alice.say(said, user_id="ada")
    assert len(alice.live()) <= 1


@pytest.mark.parametrize(("first", "then", "kept"), REPLACED, ids=[row[0] for row in REPLACED])
def test_undone_the_replacement_leaves_what_was_believed_before(
    alice: Person, first: str, then: str, kept: list[str]
) -> None:
    alice.say(first, user_id="ada")
    before = set(alice.live())
    alice.say(then, user_id="ada")
    review.undo(alice.scope, Supersession.objects.get().pk)
    assert before <= set(alice.live())


def test_said_again_a_second_thing_is_support(alice: Person) -> None:
    alice.say("I live in Bergen with my husband Tom.", user_id="ada")
    alice.say("My husband is Tom.", user_id="ada")
    assert len([content for content in alice.live() if "husband is Tom" in content]) == 1


def test_another_husband_replaces_the_first_alone(alice: Person) -> None:
    alice.say("I live in Bergen with my husband Tom.", user_id="ada")
    alice.say("I divorced Tom.", user_id="ada")
    assert not [content for content in alice.live() if content.endswith("husband is Tom")]
