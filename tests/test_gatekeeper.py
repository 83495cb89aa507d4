import pytest

from memories import gatekeeper


def skips(text: str, role: str = "user", kind: str = "user") -> bool:
    return gatekeeper.verdict(text, role, kind).skip


@pytest.mark.parametrize("text", ["", "  \n", "Hi!", "Thanks a lot!", "Ok, got it.", "Hello. Yes."])
def test_talk_without_content_is_passed_over(text: str) -> None:
    assert skips(text)


@pytest.mark.parametrize(
    "text", ["I prefer tea", "Thanks! I moved to Oslo last week.", "We always use Docker"]
)
def test_what_says_something_is_read(text: str) -> None:
    assert not skips(text)


def test_a_skip_has_a_reason_and_a_label() -> None:
    verdict = gatekeeper.verdict("Good morning!", "user", "user")
    assert verdict.reason
    assert verdict.label == "courtesy"
