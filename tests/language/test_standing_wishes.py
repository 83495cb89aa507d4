"""Which sentences ask for something once and for all, and what of; and those that only look so."""

from datetime import UTC, datetime

import pytest

from memories.language.english import find_claims
from memories.language.english.standing_wishes import standing_wishes
from memories.language.english.statements.instruction_kinds import instruction_kinds, is_permission

AT = datetime(2026, 2, 6, 12, 30, tzinfo=UTC)
# A wish, what it is about (with the case in which it holds), and what is wanted.
WISHES = (
    ("Always answer in Finnish.", "language", "finnish"),
    ("Please reply to me in Welsh from now on.", "language", "welsh"),
    ("Answer in Danish, please.", "language", "danish"),
    ("From today on, speak Dutch with me.", "language", "dutch"),
    ("Always write to me in plain English.", "language", "english"),
    ("Always answer in Greek when I ask about recipes.", "language:ask-recipe", "greek"),
    ("I prefer brief answers.", "length", "short"),
    ("I want detailed explanations.", "length", "long"),
    ("Keep your replies concise.", "length", "short"),
    ("Could you keep replies below 80 words from now on?", "length", "short 80"),
    ("I'd like you to answer in detail.", "length", "long"),
    ("Keep it casual.", "formality", "informal"),
    ("Be formal with me.", "formality", "formal"),
    ("Please talk to me like an old friend.", "formality", "informal"),
    ("Use American spelling.", "spelling", "american"),
    ("Always use UK spelling.", "spelling", "british"),
    ("Stop using smileys.", "emoji", "no"),
    ("Never use tables.", "table", "no"),
    ("No bullet points, please.", "bullet", "no"),
    ("Avoid headings.", "heading", "no"),
    ("You should always name your sources.", "source", "yes"),
    ("Please add links to all answers.", "link", "yes"),
    ("Don't ask me clarifying questions.", "question", "no"),
    ("Skip the disclaimers.", "disclaimer", "no"),
    ("No more small talk.", "small-talk", "no"),
    ("From now on, end each answer with a recap.", "summary", "yes"),
    ("Always use metric units.", "units", "metric"),
    ("Use Celsius.", "degrees", "celsius"),
    ("I want all distances in miles.", "distance", "miles"),
    ("When I ask about code, write it in Kotlin.", "code", "kotlin"),
    ("Don't recommend seafood, I'm allergic to it.", "recommend-seafood", "no"),
    ("Always call me Captain.", "name", "captain"),
)
# Wishes of no kind of their own, or told by another attribute.
OTHERS = (
    "Please call me Dr. Falk.",
    "Call me Ines.",
    "If I ask for a film, only suggest comedies.",
    "Whenever I mention a book, tell me who translated it.",
    "Always round the figures when I ask about budgets.",
    "Make sure to check the opening hours when I ask for a museum.",
    "Always use Prettier.",
)
LOOK_ALIKES = (
    "Always soak the beans overnight, my uncle swears by it.",
    "My dentist said: never chew ice.",
    "Answer in Danish this once.",
    "Write a letter to my landlord. Keep it formal.",
    "Use bullet points. What are the moons of Jupiter?",
    "Use tables to compare the two phones.",
    "You should always wear a helmet.",
    "Never mind.",
    "Never give up!",
    "Always happy to help when I can.",
    "Whenever I hear the sea, I think of home.",
    "I always answer in Danish.",
    "She never uses emojis.",
    "Keep it up.",
    "Make it shorter.",
    "Don't suggest that.",
    "Stop asking and just show the plan now.",
    "If I want tea, I make it myself.",
    "Please remember that I work nights.",
    "Do you always answer in English?",
    "You can use tables again.",
    "You don't have to name sources anymore.",
)


@pytest.mark.parametrize(("text", "about", "wanted"), WISHES)
def test_a_wish_is_recognised_learned_and_told_by_its_kind(text: str, about: str, wanted: str) -> None:
    assert standing_wishes(text) == [(0, len(text))]
    claims = find_claims.extract(text, "", AT)
    wish = next(claim for claim in claims if claim.category == "instruction")
    assert (wish.fact_type, wish.unworthy) == ("system", "")
    assert [(kind.key, kind.value) for kind in instruction_kinds(wish.statement)] == [(about, wanted)]


@pytest.mark.parametrize("text", OTHERS)
def test_a_wish_of_no_kind_is_recognised_and_learned(text: str) -> None:
    assert standing_wishes(text) == [(0, len(text))]
    assert [claim.unworthy for claim in find_claims.extract(text, "", AT)] == [""]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_wish_is_none(text: str) -> None:
    assert standing_wishes(text) == []


@pytest.mark.parametrize(
    ("text", "about", "value"),
    [
        ("You can use tables again.", "table", "yes"),
        ("You don't have to name sources anymore.", "source", "no"),
        ("Feel free to recommend seafood again.", "recommend-seafood", "yes"),
    ],
)
def test_what_is_allowed_again_ends_a_wish_and_is_none(text: str, about: str, value: str) -> None:
    [claim] = find_claims.extract(text, "", AT)
    assert is_permission(claim.statement)
    assert [(kind.key, kind.value) for kind in instruction_kinds(claim.statement)] == [(about, value)]


def test_a_wish_in_other_words_is_about_the_same() -> None:
    said = ("Always answer in Dutch", "User wants answers in Dutch", "Reply in Dutch")
    assert {(kind.key, kind.value) for text in said for kind in instruction_kinds(text)} == {("language", "dutch")}


def test_the_sentences_are_told_and_not_the_message() -> None:
    text = "Hello! Never use tables. I live in Bergen. Stop using emojis."
    places = standing_wishes(text)
    assert [text[start:end] for start, end in places] == ["Never use tables.", "Stop using emojis."]
