"""The one place where passwords are compared, for logging in and for whoever asks for one again."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from workspaces.door import throttle
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
        if user is None:
            attempt.failed(User.objects.filter(username=username).first())
        else:
            attempt.succeeded()
        return user
