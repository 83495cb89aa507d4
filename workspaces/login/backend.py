"""The one place where passwords are compared, for logging in and for whoever asks for one again."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import get_hashers, identify_hasher
from django.http import HttpRequest

from workspaces.login import throttle
from workspaces.models import LoginAttempt, User


class ThrottledBackend(ModelBackend):
    """Django's own, with each try counted before anything is hashed. Raises TooEarly.

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
    """Hashes of an older kind take another time than new ones. As long as there are any, whatever
    failed costs one hash of each kind: the time does not tell whether there is such an account."""
    preferred, *older = get_hashers()
    usable = user is not None and user.has_usable_password()
    spent = identify_hasher(user.password).algorithm if user and usable else preferred.algorithm
    for hasher in older:
        if User.objects.filter(password__startswith=f"{hasher.algorithm}$").exists():
            missing = preferred if spent == hasher.algorithm else hasher
            missing.encode(password, missing.salt())
