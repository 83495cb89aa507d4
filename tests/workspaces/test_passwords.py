"""Which new passwords are refused, and which are not."""

import pytest
from django.contrib.auth.password_validation import get_password_validators, validate_password
from django.core.exceptions import ValidationError

from memoryproject import settings
from workspaces.models import User

ANNA = User(username="annabel", email="annabel.stone@example.org")
VALIDATORS = get_password_validators(settings.AUTH_PASSWORD_VALIDATORS)


def faults(password: str, user: User = ANNA) -> str:
    try:
        validate_password(password, user, VALIDATORS)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


@pytest.mark.parametrize(
    "password",
    [
        "admin12345678",
        "ADMIN-2026-2026",
        "password12345",
        "p@ssw0rd123456",
        "12345password",
        "sunshine123456",
        "memoryproject1",
        "memoryproject2026!",
        "...qwertyuiop...",
    ],
)
def test_a_common_word_with_digits_beside_it_is_refused(password: str) -> None:
    assert "a word that everybody tries, with digits or signs beside it" in faults(password)


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("so-annabel-lives-here", "holds the username"),
        ("adminpassword1", "little is left"),
        ("password-admin-2026", "little is left"),
        ("stone-secret-99", "little is left"),
        ("ownerowner2026", "little is left"),
    ],
)
def test_names_and_words_of_the_site_do_not_make_a_password(password: str, fault: str) -> None:
    assert fault in faults(password)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery staple",
        "a long enough password",
        "kX9-2vQ7.mm41tz",
        "Zw3tschgenbaum!",
        "7294-8201-5512-q",
        "the stones of Venice",
        "\u304d\u3087\u3046\u306f\u3042\u3081\u304c\u3075\u308b\u304b\u3082\u3057\u308c\u306a\u3044",
    ],
)
def test_what_takes_more_than_a_word_list_is_taken(password: str) -> None:
    assert faults(password) == ""


def test_a_short_username_is_no_word_to_look_for() -> None:
    assert faults("a bobsleigh in June", User(username="bob", email="bob@example.org")) == ""
