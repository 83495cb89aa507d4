"""Checks beyond Django's own: new passwords that only lengthen a word that everybody tries, and the
number of tries."""

import re
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import get_hashers, identify_hasher
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from memoryproject.postgres import crossings
from workspaces.login import throttle
from workspaces.models import LoginAttempt, User

# Words of this product and of its pages.
SITE = frozenset(
    "admin administrator agent editor localhost login memory memoryproject owner passphrase passwd"
    " password postgres root secret server superuser user viewer welcome workspace".split()
)
LEAST = 4  # letters; shorter names and common words are ignored
ENOUGH = 6  # letters that no name and none of SITE accounts for
_beside = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_letters = re.compile(r"[^\W\d_]")
_word = re.compile(r"[^\W\d_]{2,}|\S+")
_disguised = str.maketrans("013457@$", "oleastas")


class ThrottledBackend(ModelBackend):
    """Django's own backend, with each try counted before anything is hashed. Raises TooEarly.

    Commands, which have no request, are not counted.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        if request is None or username is None or password is None:
            return super().authenticate(request, username, password, **kwargs)
        attempt = throttle.begin(request, LoginAttempt.Kind.PASSWORD, username)
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            attempt.succeeded()
            return user
        named = User.objects.filter(username=username).first()
        spend_as_long_as_others(named, password)
        attempt.failed(named)
        return None


def spend_as_long_as_others(user: User | None, password: str) -> None:
    """Spend one hash of each kind on a failed try, as long as older hashes exist. They take another
    time than new ones, and the time must not tell whether there is such an account."""
    preferred, *older = get_hashers()
    usable = user is not None and user.has_usable_password()
    spent = identify_hasher(user.password).algorithm if user and usable else preferred.algorithm
    for hasher in older:
        if crossings.any_password_begins(f"{hasher.algorithm}$"):
            missing = preferred if spent == hasher.algorithm else hasher
            missing.encode(password, missing.salt())


class GuessableWordsValidator:
    """Refuses a common password with digits or signs beside it, one that holds the username, and
    one of which little is left without names and the words of SITE."""

    def __init__(self) -> None:
        self.common = CommonPasswordValidator().passwords

    def validate(self, password: str, user: Any = None) -> None:
        """Raises ValidationError."""
        plain = password.casefold()
        core = _beside.sub("", plain)
        is_common = len(core) >= LEAST and core in self.common
        if is_common or core in SITE or core.translate(_disguised) in SITE:
            raise ValidationError(
                "This is a word that everybody tries, with digits or signs beside it.",
                code="password_is_common_word",
            )
        username = user.get_username().casefold() if user else ""
        if len(username) >= LEAST and username in plain:
            raise ValidationError("The password holds the username.", code="password_holds_username")
        email = getattr(user, "email", "").casefold()
        names = {*_word.findall(username), *_word.findall(email.partition("@")[0])}
        rest = spelled = plain.translate(_disguised)
        for word in sorted({*SITE, *(n for n in names if len(n) >= LEAST)}, key=len, reverse=True):
            rest = rest.replace(word, " ")
        if len(_letters.findall(rest)) < ENOUGH and rest != spelled:
            raise ValidationError(
                "Without names and words that everybody tries, little is left of this password.",
                code="password_of_guessable_words",
            )

    def get_help_text(self) -> str:
        return "Your password can\u2019t hold your username, or be a common word with digits beside it."
