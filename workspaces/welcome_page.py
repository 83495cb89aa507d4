"""The page at the root: who is logged in goes on to the admin, everybody else is told where they
are."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.generic import View


class WelcomePage(View):
    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return redirect("admin:index")
        answer: HttpResponse = render(request, "registration/welcome.html")
        return answer
