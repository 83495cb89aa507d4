from django.urls import path

from memories.api import (
    connection_routes,
    conversation_and_chat_routes,
    document_routes,
    erasure_routes,
    event_and_webhook_routes,
    feature_routes,
    golden_routes,
    inbox_routes,
    ingest_routes,
    memory_routes,
    pattern_routes,
    search_routes,
    usage_and_audit_routes,
    workspace_changes_routes,
)
from workspaces.api.workspace_routes import SubjectView

OWN = "workspaces/<str:workspace>"
MEMORY = f"{OWN}/memories/<uuid:row>"
SET = f"{OWN}/sets/<str:key>"
FEATURE = f"{OWN}/features/<uuid:row>"
CASE = f"{OWN}/cases/<uuid:row>"
DOCUMENT = f"{OWN}/documents/<uuid:row>"
WEBHOOK = f"{OWN}/webhooks/<uuid:row>"
SUPERSESSION = f"{OWN}/supersessions/<uuid:row>"

Subject = erasure_routes.erases(SubjectView, "subject", "Subject")
Conversation = erasure_routes.erases(
    conversation_and_chat_routes.ConversationView, "conversation", "Conversation"
)
Episode = erasure_routes.erases(conversation_and_chat_routes.EpisodeView, "episode", "Episode")
CONNECTION = f"{OWN}/connections/<uuid:row>"
Document = erasure_routes.erases(document_routes.DocumentView, "document", "Document")

urlpatterns = [
    # Routes are tried in turn: first what is asked all day.
    path(f"{OWN}/memories/search", search_routes.SearchView.as_view()),
    path(f"{OWN}/memories/context", search_routes.ContextView.as_view()),
    path(f"{OWN}/memories/ingest", ingest_routes.IngestView.as_view()),
    path(f"{OWN}/documents/search", document_routes.DocumentSearchView.as_view()),
    path(f"{OWN}/documents", document_routes.DocumentsView.as_view()),
    path(f"{OWN}/connections", connection_routes.ConnectionsView.as_view()),
    path(CONNECTION, connection_routes.ConnectionView.as_view()),
    path(f"{CONNECTION}/sync", connection_routes.SyncConnectionView.as_view()),
    path(f"{CONNECTION}/test", connection_routes.TryConnectionView.as_view()),
    path(f"{CONNECTION}/runs", connection_routes.SyncRunsView.as_view()),
    path(f"{OWN}/documents/batch", document_routes.DocumentBatchView.as_view()),
    path(DOCUMENT, Document.as_view()),
    path(f"{DOCUMENT}/retry", document_routes.RetryDocumentView.as_view()),
    path(f"{DOCUMENT}/unmask", document_routes.UnmaskDocumentView.as_view()),
    path(f"{DOCUMENT}/reprocess", document_routes.ReprocessView.as_view()),
    path(f"{DOCUMENT}/chunks", document_routes.ChunksView.as_view()),
    path(f"{DOCUMENT}/parts", document_routes.PartsView.as_view()),
    path(f"{DOCUMENT}/revisions", document_routes.RevisionsView.as_view()),
    path(f"{DOCUMENT}/file", document_routes.FileView.as_view()),
    path(f"{DOCUMENT}/erasure", erasure_routes.plans("document", "Document").as_view()),
    path(f"{DOCUMENT}/events", event_and_webhook_routes.DocumentEventsView.as_view()),
    path(f"{OWN}/chat", conversation_and_chat_routes.ChatView.as_view()),
    path(f"{OWN}/events", event_and_webhook_routes.EventsView.as_view()),
    path(f"{OWN}/spaces", document_routes.SpacesView.as_view()),
    path(f"{OWN}/spaces/<uuid:row>", document_routes.SpaceView.as_view()),
    path("workspaces", workspace_changes_routes.CreatingWorkspacesView.as_view()),
    path(OWN, workspace_changes_routes.ChangingWorkspaceView.as_view()),
    path(f"{OWN}/export", workspace_changes_routes.ExportView.as_view()),
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
    path(f"{OWN}/webhooks", event_and_webhook_routes.WebhooksView.as_view()),
    path(WEBHOOK, event_and_webhook_routes.WebhookView.as_view()),
    path(f"{WEBHOOK}/rotate", event_and_webhook_routes.RotateWebhookView.as_view()),
    path(f"{WEBHOOK}/ping", event_and_webhook_routes.PingWebhookView.as_view()),
    path(f"{OWN}/deliveries", event_and_webhook_routes.DeliveriesView.as_view()),
    path(
        f"{OWN}/deliveries/<uuid:row>/redeliver", event_and_webhook_routes.RedeliverView.as_view()
    ),
    path(f"{OWN}/usage", usage_and_audit_routes.UsageView.as_view()),
    path(f"{OWN}/costs", usage_and_audit_routes.CostsView.as_view()),
    path(f"{OWN}/holds", erasure_routes.HoldsView.as_view()),
    path(f"{OWN}/holds/<uuid:row>/lift", erasure_routes.LiftHoldView.as_view()),
    path(f"{OWN}/erasures", erasure_routes.ErasuresView.as_view()),
    path(f"{OWN}/erasures/<uuid:row>", erasure_routes.ErasureView.as_view()),
    path(f"{OWN}/memories/extract", ingest_routes.PreviewView.as_view()),
    path(f"{OWN}/memories/profile", feature_routes.ProfileView.as_view()),
    path(f"{OWN}/memories/ranking", workspace_changes_routes.RankingView.as_view()),
    path(f"{OWN}/memories", memory_routes.MemoriesView.as_view()),
    path(MEMORY, memory_routes.MemoryView.as_view()),
    path(f"{MEMORY}/restore", memory_routes.RestoreView.as_view()),
    path(f"{MEMORY}/chain", memory_routes.ChainView.as_view()),
    path(f"{MEMORY}/facts", memory_routes.MemoryFactsView.as_view()),
    path(f"{OWN}/sessions", ingest_routes.SessionsView.as_view()),
    path(f"{OWN}/sessions/<uuid:row>", ingest_routes.SessionView.as_view()),
    path(f"{OWN}/sessions/<uuid:row>/retry", ingest_routes.RetryView.as_view()),
    path(f"{OWN}/facts", memory_routes.FactsView.as_view()),
    path(f"{OWN}/facts/<uuid:row>", memory_routes.FactView.as_view()),
    path(f"{OWN}/facts/<uuid:row>/accept", memory_routes.AcceptView.as_view()),
    path(f"{OWN}/facts/<uuid:row>/dismiss", memory_routes.DismissView.as_view()),
    path(f"{OWN}/episodes", conversation_and_chat_routes.EpisodesView.as_view()),
    path(f"{OWN}/episodes/<uuid:row>", Episode.as_view()),
    path(
        f"{OWN}/episodes/<uuid:row>/unmask",
        conversation_and_chat_routes.UnmaskEpisodeView.as_view(),
    ),
    path(f"{OWN}/conversations", conversation_and_chat_routes.ConversationsView.as_view()),
    path(f"{OWN}/conversations/<uuid:row>", Conversation.as_view()),
    path(
        f"{OWN}/conversations/<uuid:row>/episodes",
        conversation_and_chat_routes.ConversationEpisodesView.as_view(),
    ),
    path(
        f"{OWN}/conversations/<uuid:row>/context",
        conversation_and_chat_routes.ConversationContextView.as_view(),
    ),
    path(f"{OWN}/golden-questions", golden_routes.GoldenQuestionsView.as_view()),
    path(f"{OWN}/golden-questions/import", golden_routes.ImportGoldenQuestionsView.as_view()),
    path(f"{OWN}/golden-questions/<uuid:row>", golden_routes.GoldenQuestionView.as_view()),
    path(f"{OWN}/golden-runs", golden_routes.GoldenRunsView.as_view()),
    path(f"{OWN}/golden-runs/<uuid:row>", golden_routes.GoldenRunView.as_view()),
    path(f"{OWN}/audit", usage_and_audit_routes.AuditView.as_view()),
    path(f"{OWN}/patterns", pattern_routes.PatternsView.as_view()),
    path(f"{OWN}/misses", pattern_routes.MissesView.as_view()),
    path(f"{OWN}/rejections", pattern_routes.RejectionsView.as_view()),
    path(f"{OWN}/patterns/repeats", memory_routes.RepeatsView.as_view()),
    path(f"{OWN}/sets", feature_routes.SetsView.as_view()),
    path(SET, feature_routes.SetView.as_view()),
    path(f"{SET}/config", feature_routes.ConfigView.as_view()),
    path(f"{SET}/features", feature_routes.FeaturesOfSetView.as_view()),
    path(f"{SET}/fold", feature_routes.UpdateSetView.as_view()),
    path(f"{SET}/consolidate", feature_routes.ConsolidateView.as_view()),
    path(f"{SET}/changes", feature_routes.ChangesView.as_view()),
    path(f"{SET}/refusals", feature_routes.RefusalsView.as_view()),
    path(FEATURE, feature_routes.FeatureView.as_view()),
    path(f"{FEATURE}/history", feature_routes.FeatureHistoryView.as_view()),
    path(f"{FEATURE}/undo", feature_routes.UndoFeatureView.as_view()),
    path(f"{OWN}/cases", inbox_routes.CasesView.as_view()),
    path(CASE, inbox_routes.CaseView.as_view()),
    path(f"{CASE}/decide", inbox_routes.DecideCaseView.as_view()),
    path(f"{CASE}/undo", inbox_routes.UndoCaseView.as_view()),
    path(f"{CASE}/snooze", inbox_routes.SnoozeCaseView.as_view()),
    path(f"{CASE}/assign", inbox_routes.AssignCaseView.as_view()),
    path(f"{OWN}/inbox", inbox_routes.InboxView.as_view()),
    path(f"{OWN}/inbox/figures", inbox_routes.InboxFiguresView.as_view()),
    path(f"{OWN}/inbox/<uuid:row>/assign", inbox_routes.AssignInboxView.as_view()),
    path(f"{OWN}/inbox/<uuid:row>/snooze", inbox_routes.SnoozeInboxView.as_view()),
    path(f"{OWN}/inbox/<uuid:row>/leave", inbox_routes.LeaveInboxView.as_view()),
    path(f"{OWN}/verdicts", ingest_routes.VerdictsView.as_view()),
    path(f"{OWN}/intents", memory_routes.IntentsView.as_view()),
    path(f"{OWN}/intents/<uuid:row>/undo", memory_routes.UndoIntentView.as_view()),
    path(f"{OWN}/supersessions", inbox_routes.SupersessionsView.as_view()),
    path(SUPERSESSION, inbox_routes.SupersessionView.as_view()),
    path(f"{SUPERSESSION}/approve", inbox_routes.ApproveView.as_view()),
    path(f"{SUPERSESSION}/reject", inbox_routes.RejectView.as_view()),
    path(f"{SUPERSESSION}/keep-both", inbox_routes.KeepBothView.as_view()),
    path(f"{SUPERSESSION}/undo", inbox_routes.UndoView.as_view()),
    path(f"{SUPERSESSION}/redo", inbox_routes.RedoView.as_view()),
    path(f"{SUPERSESSION}/reopen", inbox_routes.ReopenView.as_view()),
]
