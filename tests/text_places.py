"""All places that serve or send words of messages or memories: the one list of them.

A new route, page, command or sender stands here, or a test fails; what stands here is walked after
a forgetting and an erasure, and must not show what went.
"""

# Operations of the API that answer words.
SERVING = {
    # messages
    "listEpisodes", "readEpisode", "listEpisodesOfConversation", "appendEpisodes",
    "listConversations", "readConversation", "readConversationContext", "createConversation",
    "changeConversation",
    # memories and what they stand on
    "listMemories", "createMemory", "readMemory", "editMemory", "forgetMemory", "restoreMemory",
    "readChain", "listFactsOfMemory", "listFacts", "readFact", "acceptFact", "dismissFact",
    "listSupersessions", "readSupersession", "approveSupersession", "keepBothMemories",
    "redoSupersession", "rejectSupersession", "reopenSupersession", "undoSupersession",
    "listIntents", "undoIntent", "listRepeats",
    "listCases", "readCase", "decideCase", "undoCase", "snoozeCase", "assignCase",
    "listInbox",
    # found and put together
    "search", "packContext", "readProfile", "ingest", "previewExtraction",
    "listSessions", "readSession", "retrySession",
    # features
    "readFeature", "editFeature", "endFeature", "readFeatureHistory", "undoFeature",
    "listFeatures", "createFeature", "listChangesOfSet", "listRefusalsOfSet",
    "listSets", "readSet", "createSet", "foldSet", "consolidateSet",
    # documents
    "createDocument", "createDocuments", "listDocuments", "readDocument", "changeDocument",
    "retryDocument", "reprocessDocument", "listChunks", "listParts", "listRevisions",
    "readDocumentFile", "searchDocuments", "chat",
    # the operator's lists
    "listAudit", "listPatterns", "listMisses", "listRejections",
    "listGoldenQuestions", "readGoldenQuestion", "addGoldenQuestion",
    # plans and proofs of erasures count, and tell no word
}  # fmt: skip
# Tools of MCP that answer words; beside them the profile as a resource, and the prompt.
TOOLS_SERVING = {
    "searchDatabase", "search_memories", "get_context", "get_profile", "add_memory",
    "explain_memory", "correct_memory",
}  # fmt: skip
TOOLS_SILENT = {"forget_memory"}
# Routes that other servers' clients ask.
ROUTES_SERVING = {
    "v1/memories/", "v1/memories/<str:row>/", "v1/memories/<str:row>/history/", "v2/memories/",
    "v3/memories/", "v3/memories/add/", *(f"v{n}/memories/search/" for n in (1, 2, 3)),
    "v3/documents", "v3/documents/<str:name>", "v3/documents/list", "v3/documents/processing",
    "v3/search", "v4/search", "v4/profile", "v4/memories", "chat/v2",
    "api/v2/memories", "api/v2/memories/search", "api/v2/memories/list",
    "api/v2/memories/semantic/feature/get",
}  # fmt: skip
ROUTES_SILENT = {
    "v1/ping/", "v1/batch/", "v1/entities/", "v1/entities/<str:kind>/<path:name>/",
    "v2/entities/<str:kind>/<path:name>/", *(f"v{n}/<path:rest>" for n in (1, 2, 3, 4)),
    "chat/<path:rest>",
    "api/v2/health", "api/v2/projects", "api/v2/memories/episodic/delete", "api/v2/<path:rest>",
    "api/v1/orgs/<path:rest>", "api/v1/webhooks/<path:rest>",
    *(f"api/v2/projects/{name}" for name in ("get", "list", "delete", "episode_count/get")),
    *(
        f"api/v2/memories/semantic/{name}"
        for name in ("delete", "feature", "feature/update", "set_id/get", "set_id/list")
    ),
    "v3/documents/file", "v3/documents/batch", "v3/documents/bulk", "v3/connections/list",
}  # fmt: skip
# What is masked is shown on purpose, to whoever may, with a line in the audit.
UNMASKING = {"unmaskEpisode", "unmaskDocument", "exportWorkspace"}
SILENT = {
    "listWorkspaces", "createWorkspace", "readWorkspace", "changeWorkspace", "removeWorkspace",
    "listCosts", "readUsage",
    "removeAgent", "rotateKey", "listHolds", "placeHold", "liftHold",
    "listAgents", "createAgent", "readAgent", "changeAgent", "listTeams", "createTeam", "readTeam",
    "changeTeam", "eraseConversation",
    "planConversationErasure", "eraseEpisode", "planEpisodeErasure", "listErasures", "readErasure",
    "listInvitations", "readInvitation", "revokeInvitation", "listKeys", "issueKey", "readKey",
    "revokeKey", "listMembers", "inviteMember", "readMember", "changeMember", "removeMember",
    "readRanking", "changeRanking", "deleteSet", "readSetConfig", "editSetConfig", "listSubjects",
    "readSubject", "eraseSubject", "planSubjectErasure", "countVerdicts", "eraseDocument",
    "importGoldenQuestions", "removeGoldenQuestion", "listGoldenRuns", "readGoldenRun",
    "runGoldenQuestions",
    "listConnections", "createConnection", "readConnection", "changeConnection",
    "removeConnection", "syncConnection", "testConnection", "listSyncRuns",
    "readInboxFigures", "assignInInbox", "snoozeInInbox", "leaveInInbox",
    "streamEvents", "streamDocumentEvents",  # ids and states
    "listWebhooks", "createWebhook", "readWebhook", "changeWebhook", "removeWebhook",
    "rotateWebhook", "pingWebhook", "listDeliveries", "redeliver",
    "planDocumentErasure", "listSpaces", "createSpace", "readSpace", "changeSpace",
}  # fmt: skip
# Tables with pages in the admin.
PAGES_SERVING = {
    "memories.Case", "memories.Conversation", "memories.Document", "memories.Episode",
    "memories.Fact",
    "memories.Feature", "memories.FeatureSet", "memories.Intent", "memories.Memory",
    "memories.MemorySession", "memories.Miss",
    "memories.Rejection", "memories.Space", "memories.Supersession", "memories.WorkspaceChange",
    "memories.WorkspacePattern", "memories.WorkspaceSlot", "workspaces.AuditEntry",
    "workspaces.Subject",
}  # fmt: skip
PAGES_SILENT = {
    "memories.Breaker", "memories.Connection", "memories.Erasure", "memories.EvaluationRun",
    "memories.IndexRepair", "memories.LongJob", "memories.ModelPrice",
    "memories.Webhook", "memories.WebhookDelivery",
    "memories.WorkerBeat", "workspaces.Agent", "workspaces.ApiKey", "workspaces.Invitation",
    "workspaces.LoginAttempt", "workspaces.Membership", "workspaces.ServerKey", "workspaces.User",
    "workspaces.Workspace", "workspaces.WorkspaceRemoval",
    "django_q.OrmQ",
}  # fmt: skip
# Commands that print words of others; all others print counts.
COMMANDS_SERVING = {
    "golden", "search", "ingestfile", "importmemories", "erase", "checkvisibility",
}  # fmt: skip
COMMANDS_SILENT = {
    "checkaudit", "keys", "members", "stats", "exportworkspace", "importworkspace",
    "backup", "restore", "prune", "migrate", "prove_isolation",
    "calibrate", "checkindex", "createkey", "createworkspace", "demo", "evaluate", "reembed",
    "reindex", "removeworkspace", "resetsecondfactor", "servemcp", "sweep", "up", "web", "work",
}  # fmt: skip
# Who hands words to somebody outside: prompts to models and texts to embedders leave by providers;
# tasks of the queue and lines of the log carry ids. Each reads rows, in which blocks stand.
SENDERS = {
    "memories/admin/playground_page.py",
    "memories/extraction/model_claims.py", "memories/intents/targets.py",
    "memories/features/update.py", "memories/summaries/running_summary.py",
    "memories/index/due_vectors.py", "memories/search/rank.py",
}  # fmt: skip
