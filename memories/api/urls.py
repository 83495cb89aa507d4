from django.urls import path

from memories.api import (
    context,
    conversations,
    episodes,
    erasing,
    facts,
    features,
    ingest,
    memories,
    profile,
    ranking,
    repeats,
    search,
    sessions,
    sets,
    supersessions,
    verdicts,
    workspaces,
)
from workspaces.api.subjects import SubjectView

OWN = "workspaces/<str:workspace>"
MEMORY = f"{OWN}/memories/<uuid:row>"
SET = f"{OWN}/sets/<str:key>"
FEATURE = f"{OWN}/features/<uuid:row>"
SUPERSESSION = f"{OWN}/supersessions/<uuid:row>"

Subject = erasing.erases(SubjectView, "subject", "Subject")
Conversation = erasing.erases(conversations.ConversationView, "conversation", "Conversation")
Episode = erasing.erases(episodes.EpisodeView, "episode", "Episode")

urlpatterns = [
    # Routes are tried in turn: first what is asked all day.
    path(f"{OWN}/memories/search", search.SearchView.as_view()),
    path(f"{OWN}/memories/context", context.ContextView.as_view()),
    path(f"{OWN}/memories/ingest", ingest.IngestView.as_view()),
    path("workspaces", workspaces.CreatingWorkspacesView.as_view()),
    path(OWN, workspaces.ChangingWorkspaceView.as_view()),
    path(f"{OWN}/subjects/<uuid:row>", Subject.as_view()),
    path(f"{OWN}/subjects/<uuid:row>/erasure", erasing.plans("subject", "Subject").as_view()),
    path(
        f"{OWN}/conversations/<uuid:row>/erasure",
        erasing.plans("conversation", "Conversation").as_view(),
    ),
    path(f"{OWN}/episodes/<uuid:row>/erasure", erasing.plans("episode", "Episode").as_view()),
    path(f"{OWN}/erasures", erasing.ErasuresView.as_view()),
    path(f"{OWN}/erasures/<uuid:row>", erasing.ErasureView.as_view()),
    path(f"{OWN}/memories/extract", ingest.PreviewView.as_view()),
    path(f"{OWN}/memories/profile", profile.ProfileView.as_view()),
    path(f"{OWN}/memories/ranking", ranking.RankingView.as_view()),
    path(f"{OWN}/memories", memories.MemoriesView.as_view()),
    path(MEMORY, memories.MemoryView.as_view()),
    path(f"{MEMORY}/restore", memories.RestoreView.as_view()),
    path(f"{MEMORY}/chain", memories.ChainView.as_view()),
    path(f"{MEMORY}/facts", memories.MemoryFactsView.as_view()),
    path(f"{OWN}/sessions", sessions.SessionsView.as_view()),
    path(f"{OWN}/sessions/<uuid:row>", sessions.SessionView.as_view()),
    path(f"{OWN}/sessions/<uuid:row>/retry", sessions.RetryView.as_view()),
    path(f"{OWN}/facts", facts.FactsView.as_view()),
    path(f"{OWN}/facts/<uuid:row>", facts.FactView.as_view()),
    path(f"{OWN}/facts/<uuid:row>/accept", facts.AcceptView.as_view()),
    path(f"{OWN}/facts/<uuid:row>/dismiss", facts.DismissView.as_view()),
    path(f"{OWN}/episodes", episodes.EpisodesView.as_view()),
    path(f"{OWN}/episodes/<uuid:row>", Episode.as_view()),
    path(f"{OWN}/conversations", conversations.ConversationsView.as_view()),
    path(f"{OWN}/conversations/<uuid:row>", Conversation.as_view()),
    path(
        f"{OWN}/conversations/<uuid:row>/episodes",
        conversations.ConversationEpisodesView.as_view(),
    ),
    path(
        f"{OWN}/conversations/<uuid:row>/context",
        conversations.ConversationContextView.as_view(),
    ),
    path(f"{OWN}/patterns/repeats", repeats.RepeatsView.as_view()),
    path(f"{OWN}/sets", sets.SetsView.as_view()),
    path(SET, sets.SetView.as_view()),
    path(f"{SET}/config", sets.ConfigView.as_view()),
    path(f"{SET}/features", features.FeaturesOfSetView.as_view()),
    path(f"{SET}/fold", sets.FoldView.as_view()),
    path(f"{SET}/consolidate", sets.ConsolidateView.as_view()),
    path(f"{SET}/changes", sets.ChangesView.as_view()),
    path(f"{SET}/refusals", sets.RefusalsView.as_view()),
    path(FEATURE, features.FeatureView.as_view()),
    path(f"{FEATURE}/history", features.FeatureHistoryView.as_view()),
    path(f"{FEATURE}/undo", features.UndoFeatureView.as_view()),
    path(f"{OWN}/verdicts", verdicts.VerdictsView.as_view()),
    path(f"{OWN}/supersessions", supersessions.SupersessionsView.as_view()),
    path(SUPERSESSION, supersessions.SupersessionView.as_view()),
    path(f"{SUPERSESSION}/approve", supersessions.ApproveView.as_view()),
    path(f"{SUPERSESSION}/reject", supersessions.RejectView.as_view()),
    path(f"{SUPERSESSION}/keep-both", supersessions.KeepBothView.as_view()),
    path(f"{SUPERSESSION}/undo", supersessions.UndoView.as_view()),
    path(f"{SUPERSESSION}/redo", supersessions.RedoView.as_view()),
    path(f"{SUPERSESSION}/reopen", supersessions.ReopenView.as_view()),
]
