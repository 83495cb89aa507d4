from django.urls import path

from memories.api import (
    case_routes,
    conversation_routes,
    erasure_routes,
    fact_routes,
    feature_routes,
    ingest_routes,
    intent_routes,
    memory_routes,
    profile_routes,
    search_routes,
    session_routes,
    set_routes,
    supersession_routes,
    workspace_changes_routes,
)
from workspaces.api.subject_routes import SubjectView

OWN = "workspaces/<str:workspace>"
MEMORY = f"{OWN}/memories/<uuid:row>"
SET = f"{OWN}/sets/<str:key>"
FEATURE = f"{OWN}/features/<uuid:row>"
CASE = f"{OWN}/cases/<uuid:row>"
SUPERSESSION = f"{OWN}/supersessions/<uuid:row>"

Subject = erasure_routes.erases(SubjectView, "subject", "Subject")
Conversation = erasure_routes.erases(
    conversation_routes.ConversationView, "conversation", "Conversation"
)
Episode = erasure_routes.erases(conversation_routes.EpisodeView, "episode", "Episode")

urlpatterns = [
    # Routes are tried in turn: first what is asked all day.
    path(f"{OWN}/memories/search", search_routes.SearchView.as_view()),
    path(f"{OWN}/memories/context", search_routes.ContextView.as_view()),
    path(f"{OWN}/memories/ingest", ingest_routes.IngestView.as_view()),
    path("workspaces", workspace_changes_routes.CreatingWorkspacesView.as_view()),
    path(OWN, workspace_changes_routes.ChangingWorkspaceView.as_view()),
    path(f"{OWN}/subjects/<uuid:row>", Subject.as_view()),
    path(
        f"{OWN}/subjects/<uuid:row>/erasure", erasure_routes.plans("subject", "Subject").as_view()
    ),
    path(
        f"{OWN}/conversations/<uuid:row>/erasure",
        erasure_routes.plans("conversation", "Conversation").as_view(),
    ),
    path(
        f"{OWN}/episodes/<uuid:row>/erasure", erasure_routes.plans("episode", "Episode").as_view()
    ),
    path(f"{OWN}/erasures", erasure_routes.ErasuresView.as_view()),
    path(f"{OWN}/erasures/<uuid:row>", erasure_routes.ErasureView.as_view()),
    path(f"{OWN}/memories/extract", ingest_routes.PreviewView.as_view()),
    path(f"{OWN}/memories/profile", profile_routes.ProfileView.as_view()),
    path(f"{OWN}/memories/ranking", workspace_changes_routes.RankingView.as_view()),
    path(f"{OWN}/memories", memory_routes.MemoriesView.as_view()),
    path(MEMORY, memory_routes.MemoryView.as_view()),
    path(f"{MEMORY}/restore", memory_routes.RestoreView.as_view()),
    path(f"{MEMORY}/chain", memory_routes.ChainView.as_view()),
    path(f"{MEMORY}/facts", memory_routes.MemoryFactsView.as_view()),
    path(f"{OWN}/sessions", session_routes.SessionsView.as_view()),
    path(f"{OWN}/sessions/<uuid:row>", session_routes.SessionView.as_view()),
    path(f"{OWN}/sessions/<uuid:row>/retry", session_routes.RetryView.as_view()),
    path(f"{OWN}/facts", fact_routes.FactsView.as_view()),
    path(f"{OWN}/facts/<uuid:row>", fact_routes.FactView.as_view()),
    path(f"{OWN}/facts/<uuid:row>/accept", fact_routes.AcceptView.as_view()),
    path(f"{OWN}/facts/<uuid:row>/dismiss", fact_routes.DismissView.as_view()),
    path(f"{OWN}/episodes", conversation_routes.EpisodesView.as_view()),
    path(f"{OWN}/episodes/<uuid:row>", Episode.as_view()),
    path(f"{OWN}/episodes/<uuid:row>/unmask", conversation_routes.UnmaskEpisodeView.as_view()),
    path(f"{OWN}/conversations", conversation_routes.ConversationsView.as_view()),
    path(f"{OWN}/conversations/<uuid:row>", Conversation.as_view()),
    path(
        f"{OWN}/conversations/<uuid:row>/episodes",
        conversation_routes.ConversationEpisodesView.as_view(),
    ),
    path(
        f"{OWN}/conversations/<uuid:row>/context",
        conversation_routes.ConversationContextView.as_view(),
    ),
    path(f"{OWN}/patterns/repeats", fact_routes.RepeatsView.as_view()),
    path(f"{OWN}/sets", set_routes.SetsView.as_view()),
    path(SET, set_routes.SetView.as_view()),
    path(f"{SET}/config", set_routes.ConfigView.as_view()),
    path(f"{SET}/features", feature_routes.FeaturesOfSetView.as_view()),
    path(f"{SET}/fold", set_routes.FoldView.as_view()),
    path(f"{SET}/consolidate", set_routes.ConsolidateView.as_view()),
    path(f"{SET}/changes", set_routes.ChangesView.as_view()),
    path(f"{SET}/refusals", set_routes.RefusalsView.as_view()),
    path(FEATURE, feature_routes.FeatureView.as_view()),
    path(f"{FEATURE}/history", feature_routes.FeatureHistoryView.as_view()),
    path(f"{FEATURE}/undo", feature_routes.UndoFeatureView.as_view()),
    path(f"{OWN}/cases", case_routes.CasesView.as_view()),
    path(CASE, case_routes.CaseView.as_view()),
    path(f"{CASE}/decide", case_routes.DecideCaseView.as_view()),
    path(f"{CASE}/undo", case_routes.UndoCaseView.as_view()),
    path(f"{CASE}/snooze", case_routes.SnoozeCaseView.as_view()),
    path(f"{CASE}/assign", case_routes.AssignCaseView.as_view()),
    path(f"{OWN}/verdicts", session_routes.VerdictsView.as_view()),
    path(f"{OWN}/intents", intent_routes.IntentsView.as_view()),
    path(f"{OWN}/intents/<uuid:row>/undo", intent_routes.UndoIntentView.as_view()),
    path(f"{OWN}/supersessions", supersession_routes.SupersessionsView.as_view()),
    path(SUPERSESSION, supersession_routes.SupersessionView.as_view()),
    path(f"{SUPERSESSION}/approve", supersession_routes.ApproveView.as_view()),
    path(f"{SUPERSESSION}/reject", supersession_routes.RejectView.as_view()),
    path(f"{SUPERSESSION}/keep-both", supersession_routes.KeepBothView.as_view()),
    path(f"{SUPERSESSION}/undo", supersession_routes.UndoView.as_view()),
    path(f"{SUPERSESSION}/redo", supersession_routes.RedoView.as_view()),
    path(f"{SUPERSESSION}/reopen", supersession_routes.ReopenView.as_view()),
]
