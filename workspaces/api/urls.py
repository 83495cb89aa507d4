from django.urls import path

from workspaces.api.agents import AgentsView, AgentView
from workspaces.api.keys import KeysView, KeyView
from workspaces.api.members import InvitationsView, InvitationView, MembersView, MemberView
from workspaces.api.subjects import SubjectsView

OWN = "workspaces/<str:workspace>"

urlpatterns = [
    path(f"{OWN}/agents", AgentsView.as_view()),
    path(f"{OWN}/agents/<uuid:row>", AgentView.as_view()),
    path(f"{OWN}/subjects", SubjectsView.as_view()),
    path(f"{OWN}/keys", KeysView.as_view()),
    path(f"{OWN}/keys/<uuid:row>", KeyView.as_view()),
    path(f"{OWN}/members", MembersView.as_view()),
    path(f"{OWN}/members/<uuid:row>", MemberView.as_view()),
    path(f"{OWN}/invitations", InvitationsView.as_view()),
    path(f"{OWN}/invitations/<uuid:row>", InvitationView.as_view()),
]
