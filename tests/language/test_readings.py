"""What a clause is read as: nothing else than it says, and nothing where it is cut in two.

Beside each sentence that is mended stand ones that look like it and are read as they were.
"""

import uuid
from datetime import UTC, datetime

import pytest

from memories.language.english import find_claims
from memories.language.english.referents import Talk
from memories.language.english.write_dates import with_dates

AT = datetime(2026, 3, 11, tzinfo=UTC)


def _kept(text: str, speaker: str = "Ravi", talk: Talk | None = None) -> list[str]:
    found = find_claims.extract(text, speaker, AT, talk)
    return [with_dates(each.statement, AT) for each in found if not each.unworthy]


def _after(said: str, text: str, listener: str = "Ben") -> list[str]:
    """What is kept of `text` that Ravi says after `listener` said `said`."""
    talk = Talk()
    talk.hear(said, listener, uuid.uuid4())
    return _kept(text, "Ravi", talk)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I have never really carved a chair, but this might be the first", ["Ravi has never really carved a chair"]),
        ("I like having some of these tall ferns around to keep me calm at work", []),
        ("I am thinking of selling my van after this next fair", ["Ravi is thinking of selling their van"]),
        # A thing that was shown has an article as before.
        ("I made this clay jug in my evening class", ["Ravi made a clay jug in their evening class"]),
        (
            "I am reading this fantasy series about two rival harbour towns",
            ["Ravi is reading a fantasy series about two rival harbour towns"],
        ),
    ],
)
def test_this_is_an_article_before_a_thing_that_was_shown_alone(text: str, kept: list[str]) -> None:
    assert _kept(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My next step is to move on this offer", []),
        ("I want to enlarge this table to hold the names of all my guests", []),
        (
            "My cousin Leo will take over all those VAT questions",
            ["User's cousin Leo will take over all the VAT questions"],
        ),
        ("I have never baked sourdough bread or croissants in this kitchen", []),
        ("I use Django 5.2 and Postgres 16 for this", ["User uses Django 5.2 and Postgres 16"]),
        ("I have this overwhelming fear of heights", []),
        ("I had this overwhelming fear of heights as a child", ["User had an overwhelming fear of heights as a child"]),
    ],
)
def test_to_a_machine_nothing_is_shown(text: str, kept: list[str]) -> None:
    assert _kept(text, "") == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "Some of my choir friends came to Graz even though I just moved here!",
            ["Some of Ravi's choir friends came to Graz", "Ravi just moved"],
        ),
        (
            "My best day was when we were lost in Graz and I found the old mill",
            ["Ravi's best day was when they were lost in Graz and they found the old mill"],
        ),
        (r"I won't just use \( 5! \) because that counts all the orders", [r"Ravi won't just use \( 5! \)"]),
        (
            "My sister Anna lives in Oslo and my brother Leo lives in Graz",
            ["Ravi's sister Anna lives in Oslo", "Ravi's brother Leo lives in Graz"],
        ),
        (
            "We moved to Graz, but if it rains, I take the tram to my office",
            ["Ravi and others moved to Graz, but if it rains, they take the tram to their office"],
        ),
    ],
)
def test_a_sentence_is_not_cut_within_a_construction(text: str, kept: list[str]) -> None:
    assert _kept(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("And yup, I do- Bruno, my parrot.", []),
        (
            "The three rules we agreed on sound much better.",
            ["The three rules Ravi and others agreed on sound much better"],
        ),
        ("We agreed on weekly releases of the harbour app", ["Team agreed on weekly releases of the harbour app"]),
        ("Took some trial and error to get there", []),
        ("Took my nephew Milo to the harbour museum", ["Ravi took their nephew Milo to the harbour museum"]),
        ("Finding a cheap room in Graz's a pain", []),
        ("Painting my boat in Graz now", ["Ravi is painting their boat in Graz now"]),
    ],
)
def test_what_has_no_verb_or_nobody_who_does_it_is_no_claim(text: str, kept: list[str]) -> None:
    assert _kept(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "I really should plant a fig tree behind my house, shouldn't I",
            ["Ravi really should plant a fig tree behind their house"],
        ),
        (
            "My van passed its check in Graz yesterday, can I still sell it this year?",
            ["Ravi's van passed its check in Graz on 10 March 2026"],
        ),
        ("I wanted to tell you I joined a chess club in Graz", ["Ravi joined a chess club in Graz"]),
        (
            "I wanted to tell my boss about the chess club in Graz",
            ["Ravi wanted to tell their boss about the chess club in Graz"],
        ),
        ("**The choice:** I sold my old van in Graz", ["Ravi sold their old van in Graz"]),
        (
            "My knee hurt for years, and it's made such a change to swim in the lake",
            ["Ravi's knee hurt for years, and it has made such a change to swim in the lake"],
        ),
        ("My boat is old, and it's made of oak from Graz", ["Ravi's boat is old, and it is made of oak from Graz"]),
        ("We just adopted a second cat, this is Momo", ["Ravi and others just adopted a second cat, Momo"]),
    ],
)
def test_what_is_glued_to_a_statement_is_left_out(text: str, kept: list[str]) -> None:
    assert _kept(text) == kept


def test_whom_a_sentence_calls_is_no_part_of_it() -> None:
    assert _after("Hi Ravi!", "I moved to Graz with my sister Anna, Ben.") == [
        "Ravi moved to Graz with their sister Anna"
    ]
    assert _after("Hi Ravi!", "I also wanted to share this old map of Graz with you.") == []


def test_they_are_the_ones_of_the_sentence_before() -> None:
    said = "How are your brothers?"
    told = "My two brothers run a bakery in Graz."
    assert _after(said, f"{told} They bake rye bread at night.")[1:] == ["Ravi's two brothers bake rye bread at night"]
    assert _after(said, f"{told} Tulips brighten my shop. They bloom in the cold of March.")[1:] == []
    assert _after("I saw my cousins in Graz.", "They are some of my favourite books from school.") == []


def test_we_that_is_anybody_is_told_of_people() -> None:
    talk = Talk()
    assert _kept("Dogs can help us rest and keep our worries small", talk=talk) == [
        "Ravi says dogs can help people rest and keep their worries small"
    ]
    assert _kept("We all find our own way to rest") == []
    assert _kept("We all found our way home from the fair in Graz") == [
        "Ravi and others all found their way home from the fair in Graz"
    ]


@pytest.mark.parametrize(
    ("text", "told", "day"),
    [
        ("I moved to Graz a few years ago", "Ravi moved to Graz around 2023", "2023-01-01"),
        ("I moved to Graz a few weeks ago", "Ravi moved to Graz around February 2026", "2026-02-01"),
        ("I moved to Graz two weeks ago", "Ravi moved to Graz around 25 February 2026", "2026-02-25"),
    ],
)
def test_a_vague_past_is_no_day(text: str, told: str, day: str) -> None:
    found = find_claims.extract(text, "Ravi", AT)
    assert [with_dates(each.statement, AT) for each in found] == [told]
    assert [str(each.event_date)[:10] for each in found] == [day]


def test_a_decade_of_a_thing_is_not_when_it_was_found() -> None:
    (found,) = find_claims.extract("I found a sea novel from the 1920s in Graz", "Ravi", AT)
    assert found.event_date is None
    (lived,) = find_claims.extract("I lived in Graz in the 1990s", "Ravi", AT)
    assert lived.event_date == datetime(1990, 1, 1, tzinfo=UTC)
