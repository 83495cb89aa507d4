"""Patterns proposed from one sentence: its frame stays, what varies becomes named parts."""

from datetime import UTC, datetime

import pytest

from memories.language.english import workspace_patterns
from memories.language.english.workspace_patterns import OwnPattern

AT = datetime(2026, 2, 6, tzinfo=UTC)


def finds(text: str, statement: str, other: str) -> list[str]:
    """What the pattern that is proposed from `text` finds in another text, said by Zed."""
    likely = workspace_patterns.proposal(text, [statement])
    pattern = OwnPattern("likely", "other", likely.regex, likely.template)
    assert workspace_patterns.faults(pattern, [likely.sentence], []) == []
    return [each.statement for each in workspace_patterns.find(pattern, other, "Zed", AT)]


@pytest.mark.parametrize(
    ("text", "statement", "other", "found"),
    [
        (
            "My canoe leaks badly.",
            "Uma's canoe leaks",
            "My old punt leaks badly",
            "Zed's old punt leaks",
        ),
        (
            "I restrung the viola on Monday!",
            "Uma restrung the viola",
            "Well. I restrung the harp on Friday.",
            "Zed restrung the harp",
        ),
        (
            "Choir meets at the town hall at 19:30.",
            "Uma's choir meets at the town hall at 19:30",
            "choir meets at the old mill at 20:00",
            "Zed's choir meets at the old mill at 20:00",
        ),
        ("Badge: 4711", "Uma's badge number is 4711", "Badge: 12", "Zed's badge number is 12"),
        ("The varnish is dry", "The varnish is dry", "The varnish is dry", "The varnish is dry"),
    ],
)
def test_a_proposal_finds_others_of_the_kind(text: str, statement: str, other: str, found: str) -> None:
    assert finds(text, statement, other) == [found]


@pytest.mark.parametrize("other", ["The varnish is thick", "My canoe is new", "I sold the viola"])
def test_a_proposal_keeps_a_frame_of_its_own(other: str) -> None:
    assert finds("My canoe leaks badly.", "Uma's canoe leaks", other) == []
    assert finds("The varnish is dry", "The varnish is dry", other) == []


def test_the_sentence_is_the_one_that_the_statement_stands_in() -> None:
    text = "What a long day we have had here! Restrung the viola. Do you play it?"
    assert workspace_patterns.proposal(text, ["Uma restrung the viola"]).sentence == "Restrung the viola"


@pytest.mark.parametrize(
    "text",
    ["", "...", "???", "(a+b)*[c]", "{x} {y}", "$5", "\\d+ \\w", "я иду", "my canoe " * 3_000],
)
def test_any_text_has_a_proposal(text: str) -> None:
    likely = workspace_patterns.proposal(text, ["Uma {knows} it"])
    assert len(likely.shape) <= workspace_patterns.LONGEST_SHAPE


def test_alike_sentences_have_one_shape() -> None:
    shapes = {workspace_patterns.shape(f"My {thing} needs a coat") for thing in ("canoe", "old shed", "Volvo")}
    assert shapes == {"my … needs …"}
