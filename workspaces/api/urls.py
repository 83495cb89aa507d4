from django.urls import path

from workspaces.api.agent_routes import AgentsView, AgentView
from workspaces.api.key_routes import KeysView, KeyView, RotateKeyView
from workspaces.api.member_routes import InvitationsView, MembersView, MemberView, OneInvitationView
from workspaces.api.team_routes import TeamsView, TeamView
from workspaces.api.workspace_routes import SubjectsView

OWN = "workspaces/<str:workspace>"

urlpatterns = [
    path(f"{OWN}/agents", AgentsView.as_view()),
    path(f"{OWN}/agents/<uuid:row>", AgentView.as_view()),
    path(f"{OWN}/teams", TeamsView.as_view()),
    path(f"{OWN}/teams/<uuid:row>", TeamView.as_view()),
    path(f"{OWN}/subjects", SubjectsView.as_view()),
    path(f"{OWN}/keys", KeysView.as_view()),
    path(f"{OWN}/keys/<uuid:row>", KeyView.as_view()),
    path(f"{OWN}/keys/<uuid:row>/rotate", RotateKeyView.as_view()),
    path(f"{OWN}/members", MembersView.as_view()),
    path(f"{OWN}/members/<uuid:row>", MemberView.as_view()),
    path(f"{OWN}/invitations", InvitationsView.as_view()),
    path(f"{OWN}/invitations/<uuid:row>", OneInvitationView.as_view()),
]
