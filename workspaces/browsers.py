"""What only browsers need: a session, who is logged in, messages. A request of the API that shows a
key proves itself by that alone, whatever cookies come with it, and goes past."""

from typing import Any

from django.contrib.auth import middleware as auth
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from memoryproject.front.wire import TENANT
from workspaces.auth import presented_key

KEYED = "/api/v1/"


class PastKeys(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> Any:
        if is_keyed(request):
            return self.get_response(request)
        return super().__call__(request)


def is_keyed(request: HttpRequest) -> bool:
    """Whether `KeyAuthentication` alone decides who asks."""
    return request.path_info.startswith(KEYED) and presented_key(request.META) is not None


class SessionMiddleware(PastKeys, sessions.SessionMiddleware):
    pass


class AuthenticationMiddleware(PastKeys, auth.AuthenticationMiddleware):
    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Tell the front whose page it was, where the page has asked for that."""
        user = getattr(request, "_cached_user", None)
        if user is not None and user.is_authenticated:
            request.META[TENANT] = f"user:{user.pk}"
        return response


class MessageMiddleware(PastKeys, messages.MessageMiddleware):
    pass
