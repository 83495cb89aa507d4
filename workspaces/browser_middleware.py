"""What only browsers need: a session, who is logged in, messages. A request of the API that shows a
key proves itself by that alone, whatever cookies come with it, and goes past."""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth import middleware as auth
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from memoryproject.front.wire import TENANT
from workspaces.auth import presented_key

KEYED = "/api/v1/"
SEEN_AT = "seen_at"
WRITTEN_TIMES = 24  # in the time after which it ends


class PastKeys(MiddlewareMixin):
    def __call__(self, request: HttpRequest) -> Any:
        if is_keyed(request):
            return self.get_response(request)
        return super().__call__(request)


def is_keyed(request: HttpRequest) -> bool:
    """Whether `KeyAuthentication` alone decides who asks."""
    return request.path_info.startswith(KEYED) and presented_key(request.META) is not None


class SessionMiddleware(PastKeys, sessions.SessionMiddleware):
    """A session ends some hours after its last request: written anew now and then, and not at every
    request. Logging in sets SEEN_AT."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        session, now = request.session, int(time.time())
        if session.accessed and SESSION_KEY in session:
            unseen = abs(now - session.get(SEEN_AT, now))
            if unseen > settings.SESSION_COOKIE_AGE / WRITTEN_TIMES:
                session[SEEN_AT] = now
        return super().process_response(request, response)


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
