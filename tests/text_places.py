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
    # found and put together
    "search", "packContext", "readProfile", "ingest", "previewExtraction",
    "listSessions", "readSession", "retrySession",
    # features
    "readFeature", "editFeature", "endFeature", "readFeatureHistory", "undoFeature",
    "listFeatures", "createFeature", "listChangesOfSet", "listRefusalsOfSet",
    "listSets", "readSet", "createSet", "foldSet", "consolidateSet",
    # plans and proofs of erasures count, and tell no word
}  # fmt: skip
# What is masked is shown on purpose, to whoever may, with a line in the audit.
UNMASKING = {"unmaskEpisode"}
SILENT = {
    "listWorkspaces", "createWorkspace", "readWorkspace", "changeWorkspace", "removeWorkspace",
    "listAgents", "createAgent", "readAgent", "changeAgent", "listTeams", "createTeam", "readTeam",
    "changeTeam", "eraseConversation",
    "planConversationErasure", "eraseEpisode", "planEpisodeErasure", "listErasures", "readErasure",
    "listInvitations", "readInvitation", "revokeInvitation", "listKeys", "issueKey", "readKey",
    "revokeKey", "listMembers", "inviteMember", "readMember", "changeMember", "removeMember",
    "readRanking", "changeRanking", "deleteSet", "readSetConfig", "editSetConfig", "listSubjects",
    "readSubject", "eraseSubject", "planSubjectErasure", "countVerdicts",
}  # fmt: skip
# Tables with pages in the admin.
PAGES_SERVING = {
    "memories.Case", "memories.Conversation", "memories.Episode", "memories.Fact",
    "memories.Feature", "memories.FeatureSet", "memories.Intent", "memories.Memory",
    "memories.MemorySession", "memories.Miss",
    "memories.Rejection", "memories.Supersession", "memories.WorkspaceChange",
    "memories.WorkspacePattern", "memories.WorkspaceSlot", "workspaces.AuditEntry",
    "workspaces.Subject",
}  # fmt: skip
PAGES_SILENT = {
    "memories.Breaker", "memories.Erasure", "memories.EvaluationRun", "memories.IndexRepair",
    "memories.WorkerBeat", "workspaces.Agent", "workspaces.ApiKey", "workspaces.Invitation",
    "workspaces.LoginAttempt", "workspaces.Membership", "workspaces.ServerKey", "workspaces.User",
    "workspaces.Workspace", "workspaces.WorkspaceRemoval",
    "django_q.Failure", "django_q.OrmQ", "django_q.Schedule",
}  # fmt: skip
# Commands that print words of others; all others print counts.
COMMANDS_SERVING = {"search", "ingestfile", "erase", "checkvisibility"}
COMMANDS_SILENT = {
    "calibrate", "checkindex", "createkey", "createworkspace", "evaluate", "reembed", "reindex",
    "removeworkspace", "resetsecondfactor", "sweep", "up", "web", "work",
}  # fmt: skip
# Who hands words to somebody outside: prompts to models and texts to embedders leave by providers;
# tasks of the queue and lines of the log carry ids. Each reads rows, in which blocks stand.
SENDERS = {
    "memories/extraction/model_claims.py", "memories/features/batch.py",
    "memories/summaries/summarize.py", "memories/index/due.py", "memories/search/rank.py",
}  # fmt: skip
