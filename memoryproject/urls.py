from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import (
    SpectacularRedocView,
    SpectacularSwaggerSplitView,
)

from memories.api import metrics_page
from memoryproject.server import docs_page, health, schema_page
from workspaces import members
from workspaces.adminbase.login_pages import InvitationLink, WelcomePage
from workspaces.api.problems import unknown_route
from workspaces.oauth import oauth_pages as oauth

urlpatterns = [
    # Routes are tried in turn: the most frequent come first.
    path("api/v1/", include("memories.api.urls")),
    path("api/v1/", include("workspaces.api.urls")),
    path("", include("memories.compat.urls")),
    path("", WelcomePage.as_view()),
    path("admin/", admin.site.urls),
    # Browsers ask for it on pages that name no icon.
    path("favicon.ico", RedirectView.as_view(url="/static/memoryproject/logo.svg", permanent=True)),
    path("accounts/invitations", members.OwnInvitationsView.as_view(), name="invitations"),
    path(
        "accounts/invitations/<uuid:row>/<str:token>",
        members.InvitationView.as_view(),
        name="invitation",
    ),
    # Pages where somebody sets a password by a link.
    path(
        "accounts/password/<uidb64>/<token>",
        InvitationLink.as_view(),
        name="password_reset_confirm",
    ),
    path(
        "accounts/password/done",
        auth.PasswordResetCompleteView.as_view(),
        name="password_reset_complete",
    ),
    path(".well-known/oauth-authorization-server", oauth.ServerMetadata.as_view()),
    path(".well-known/oauth-protected-resource/mcp/oauth", oauth.ResourceMetadata.as_view(), name="oauth_resource"),
    path("oauth/register", oauth.Register.as_view()),
    path("oauth/authorize", oauth.Authorize.as_view()),
    path("oauth/consent", oauth.ConsentPage.as_view(), name="oauth_consent"),
    path("oauth/token", oauth.Token.as_view()),
    path("oauth/revoke", oauth.Revoke.as_view()),
    path("oauth/apps", oauth.ConnectedApps.as_view(), name="oauth_apps"),
    path("health/live", health.live),
    path("health/ready", health.ready, name="ready"),
    path("metrics", metrics_page.view),
    path("api/schema", schema_page.view, name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api_docs"),
    path("api/redoc", SpectacularRedocView.as_view(url_name="schema"), name="api_redoc"),
    path("docs", RedirectView.as_view(pattern_name="docs", permanent=True)),
    path("docs/", docs_page.view, name="docs"),
    path("docs/<path:path>", docs_page.view),
    # With DEBUG on, Django would answer an unknown route with a page of its own.
    path("api/<path:rest>", unknown_route),
]

handler400 = "workspaces.api.problems.bad_request"
handler403 = "workspaces.api.problems.forbidden"
handler404 = "workspaces.api.problems.page_not_found"
handler500 = "workspaces.api.problems.server_error"
