"""Which calls of the API may come over plain HTTP."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from workspaces.api.problems import Problem, page
from workspaces.login.client_address import is_of_this_machine

API = "/api/v1/"


class PlainHttpMiddleware:
    """Behind TLS: those of programs on the server's own machine, which find the address in the info
    file. Others are refused and not led on: their key went over the wire already."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if (
            settings.BEHIND_TLS_PROXY
            and request.path_info.startswith(API)
            and not request.is_secure()
            and not is_of_this_machine(request)
        ):
            return page(Problem(403, "Ask over https: this came in plain text."), request)
        return self.get_response(request)
