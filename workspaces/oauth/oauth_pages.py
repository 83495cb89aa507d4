"""Addresses of the authorization server: metadata, registration, consent, tokens, revocation, and the page of the
apps that somebody has connected."""

import json
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django import forms
from django.contrib.auth.views import redirect_to_login
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import get_script_prefix, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.provider import construct_redirect_uri
from mcp.server.auth.settings import ClientRegistrationOptions
from starlette.requests import Request

from memoryproject.postgres import crossings, visible
from memoryproject.server.front.callers import network_of
from workspaces.auth import as_uuid
from workspaces.keys import scope_for_key
from workspaces.login.throttle import client_address, digest_of
from workspaces.middleware import PLAIN
from workspaces.models import Membership, OAuthGrant, Subject, User
from workspaces.oauth import grants
from workspaces.oauth.provider import SCOPES, WANTED, Provider, client_of
from workspaces.permissions import ROLE_CAPABILITIES

RESOURCE = "/mcp/oauth"
CONSENT_LIVES = 600  # seconds
LARGEST = 100_000  # bytes of a registration or of a request for tokens
MAY = {
    "read": _("read"),
    "write": _("read, and tell it things"),
    "curate": _("read, tell it things, correct and forget"),
}
UP_TO = {"read": SCOPES[:1], "write": SCOPES[:2], "curate": SCOPES}


def base_of(request: HttpRequest) -> str:
    return request.build_absolute_uri(get_script_prefix()).rstrip("/")


def open_to_pages(response: HttpResponseBase) -> HttpResponseBase:
    """Let pages of other sites read the answer: it depends on no cookie."""
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Allow-Headers"] = "Authorization, Content-Type, MCP-Protocol-Version"
    return response


class OpenView(View):
    """An address that programs ask, without a cookie."""

    @method_decorator(csrf_exempt)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return open_to_pages(super().dispatch(request, *args, **kwargs))


class ServerMetadata(OpenView):
    """RFC 8414."""

    def get(self, request: HttpRequest, **_: Any) -> HttpResponse:
        base = base_of(request)
        return JsonResponse(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}/oauth/authorize",
                "token_endpoint": f"{base}/oauth/token",
                "registration_endpoint": f"{base}/oauth/register",
                "revocation_endpoint": f"{base}/oauth/revoke",
                "scopes_supported": list(SCOPES),
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
                "service_documentation": f"{base}/docs/",
            }
        )


class ResourceMetadata(OpenView):
    """RFC 9728."""

    def get(self, request: HttpRequest, **_: Any) -> HttpResponse:
        base = base_of(request)
        return JsonResponse(
            {
                "resource": f"{base}{RESOURCE}",
                "authorization_servers": [base],
                "scopes_supported": list(SCOPES),
                "bearer_methods_supported": ["header"],
                "resource_name": "memoryproject",
            }
        )


def handled(request: HttpRequest, handler: Any, body: bytes) -> HttpResponse:
    """Return what the SDK's handler makes of the request."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "method": request.method,
        "path": request.path,
        "query_string": request.META.get("QUERY_STRING", "").encode(),
        "headers": [
            (name.lower().encode(), str(request.META.get(key, "")).encode("latin-1", "replace"))
            for name, key in (("content-type", "CONTENT_TYPE"), ("authorization", "HTTP_AUTHORIZATION"))
            if request.META.get(key)
        ],
    }
    answer = async_to_sync(handler.handle)(Request(scope, receive))
    response = HttpResponse(bytes(answer.body), status=answer.status_code)
    for name, value in answer.headers.items():
        response[name] = value
    return response


class Register(OpenView):
    """RFC 7591. Every app is a public client, whose codes are bound by PKCE."""

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            wanted = json.loads(request.body[:LARGEST])
        except ValueError:
            wanted = None
        if isinstance(wanted, dict):
            wanted = {name: value for name, value in wanted.items() if value is not None}
            wanted |= {"token_endpoint_auth_method": "none", "scope": " ".join(SCOPES)}
        options = ClientRegistrationOptions(enabled=True, valid_scopes=list(SCOPES))
        handler = RegistrationHandler(Provider(digest_of(network_of(client_address(request)))), options)
        return handled(request, handler, json.dumps(wanted).encode())


class Authorize(View):
    """The address to which an app sends a person's browser; the page of consent follows."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return handled(request, AuthorizationHandler(Provider()), b"")


class Token(OpenView):
    """Changes codes and refresh tokens for tokens."""

    def post(self, request: HttpRequest) -> HttpResponse:
        provider = Provider()
        return handled(request, TokenHandler(provider, ClientAuthenticator(provider)), request.body[:LARGEST])


class Revoke(OpenView):
    """RFC 7009: ends the grant of a token, whichever of its two is given."""

    def post(self, request: HttpRequest) -> HttpResponse:
        client = client_of(request.POST.get("client_id", ""))
        if client is None:
            return JsonResponse({"error": "invalid_client"}, status=401)
        text = request.POST.get("token", "")
        grant = grants.grant_of(grants.REFRESH, text, client.pk)
        if grant is None and (scope := scope_for_key(text)):
            with visible.only(scope.workspace_id):
                grant = OAuthGrant.objects.filter(key=scope.key_id, client=client).select_related("key").first()
        if grant is not None:
            grants.end(grant)
        return HttpResponse()


class WorkspaceField(forms.ModelChoiceField):
    """A choice of the workspaces that a person is a member of."""

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.workspace)


class ConsentForm(forms.Form):
    """The choice of where, about whom and what an app may do."""

    workspace = WorkspaceField(Membership.objects.none(), label=_("In the workspace"), empty_label=None)
    person = forms.CharField(
        required=False,
        max_length=200,
        label=_("Only about the person"),
        help_text=_("Their id there. Empty: everybody."),
    )
    may = forms.ChoiceField(widget=forms.RadioSelect, label=_("It may"))

    def __init__(self, user: User, scopes: list[str], data: Any = None) -> None:
        rows = Membership.objects.filter(user=user).select_related("workspace").order_by("workspace__name")
        able = frozenset[str]().union(*(ROLE_CAPABILITIES[row.role] for row in rows))
        offered = [name for name, needed in UP_TO.items() if needed[-1] in able and needed[-1] in scopes]
        super().__init__(data, initial={"workspace": rows.first(), "may": offered[:2][-1] if offered else None})
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = rows
        may = self.fields["may"]
        assert isinstance(may, forms.ChoiceField)
        may.choices = [(name, MAY[name]) for name in offered]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        member, person, may = values.get("workspace"), values.get("person"), values.get("may")
        values["subject"] = None
        if member and person:
            values["subject"] = Subject.objects.filter(workspace=member.workspace_id, external_id=person).first()
            if values["subject"] is None:
                self.add_error("person", _("There is nobody of this id in the workspace."))
        if member and may and UP_TO[may][-1] not in ROLE_CAPABILITIES[member.role]:
            self.add_error("may", _("In this workspace you may not do that yourself."))
        return values


@method_decorator(never_cache, name="dispatch")
class ConsentPage(View):
    """The page on which a person lets an app in, or not."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(request.user, User) or request.user.must_change_password:
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        crossings.narrow_to_user(request.user.pk)
        try:
            self.wanted = signing.loads(request.GET.get("request", ""), salt=WANTED, max_age=CONSENT_LIVES)
        except signing.BadSignature:
            return render(request, "registration/consent_over.html", status=400)
        client = client_of(self.wanted["client"])
        if client is None:
            return render(request, "registration/consent_over.html", status=400)
        self.client = client
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, self._form(request, None))

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.POST.get("answer") != "allow":
            return self._back(request, error="access_denied")
        form = self._form(request, request.POST)
        if not form.is_valid():
            return self._page(request, form)
        values, wanted = form.cleaned_data, self.wanted
        given = grants.Consent(
            values["workspace"],
            values["subject"],
            tuple(UP_TO[values["may"]]),
            wanted["code_challenge"],
            wanted["redirect_uri"],
            wanted["redirect_uri_provided_explicitly"],
            wanted["resource"] or "",
        )
        return self._back(request, code=grants.consent(self.client, given))

    def _form(self, request: HttpRequest, data: Any) -> ConsentForm:
        user = request.user
        assert isinstance(user, User)
        return ConsentForm(user, self.wanted["scopes"] or list(SCOPES), data)

    def _page(self, request: HttpRequest, form: ConsentForm) -> HttpResponse:
        target = urlsplit(self.wanted["redirect_uri"])
        where = target.netloc or f"{target.scheme}:"
        context = {"client": self.client, "form": form, "where": where, "user": request.user}
        response = render(request, "registration/consent.html", context)
        # The answer to this form leads back to the app, which browsers count as a target of the form.
        source = f"{target.scheme}://{target.netloc}" if target.netloc else f"{target.scheme}:"
        response["Content-Security-Policy"] = PLAIN.replace("form-action 'self'", f"form-action 'self' {source}")
        return response

    def _back(self, request: HttpRequest, **answer: str) -> HttpResponse:
        response = HttpResponse(status=302)
        response["Location"] = construct_redirect_uri(
            self.wanted["redirect_uri"], **answer, state=self.wanted["state"], iss=base_of(request)
        )
        return response


@method_decorator(never_cache, name="dispatch")
class ConnectedApps(View):
    """The apps that somebody has connected, each with a button that ends it."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(request.user, User) or request.user.must_change_password:
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        crossings.narrow_to_user(request.user.pk)
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        assert isinstance(request.user, User)
        rows = [
            (grant, MAY[next(name for name in reversed(SCOPES) if name in grant.capabilities)])
            for grant in grants.of_user(request.user)
        ]
        return render(request, "registration/connected_apps.html", {"rows": rows})

    def post(self, request: HttpRequest) -> HttpResponse:
        assert isinstance(request.user, User)
        rows = OAuthGrant.objects.filter(user=request.user).select_related("key")
        grants.end(get_object_or_404(rows, pk=as_uuid(request.POST.get("app", ""))))
        return redirect("oauth_apps")
