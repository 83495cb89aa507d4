"""The routes of other servers, below the root: who proves that workspaces are apart reads them
here, for they stand in no schema."""

from django.urls import path

from memories.compat import (
    mem0_routes,
    memmachine_routes,
    supermemory_documents,
    supermemory_memories,
)
from memories.compat.client_view import UnknownView

urlpatterns = [
    path("v1/ping/", mem0_routes.PingView.as_view()),
    path("v3/memories/add/", mem0_routes.AddView.as_view()),
    path("v1/memories/", mem0_routes.MemoriesMem0View.as_view()),
    *(
        path(f"{version}/memories/search/", mem0_routes.SearchMem0View.as_view())
        for version in ("v1", "v2", "v3")
    ),
    path("v2/memories/", mem0_routes.ListMem0View.as_view()),
    path("v3/memories/", mem0_routes.ListMem0View.as_view()),
    path("v1/memories/<str:row>/", mem0_routes.MemoryMem0View.as_view()),
    path("v1/memories/<str:row>/history/", mem0_routes.HistoryMem0View.as_view()),
    path("v1/batch/", mem0_routes.BatchMem0View.as_view()),
    path("v1/entities/", mem0_routes.EntitiesMem0View.as_view()),
    *(
        path(f"{version}/entities/<str:kind>/<path:name>/", mem0_routes.EntityMem0View.as_view())
        for version in ("v1", "v2")
    ),
    path("v3/documents", supermemory_documents.SupermemoryDocumentsView.as_view()),
    path("v3/documents/file", supermemory_documents.SupermemoryDocumentsView.as_view()),
    path("v3/documents/batch", supermemory_documents.SupermemoryBatchView.as_view()),
    path("v3/documents/list", supermemory_documents.SupermemoryListView.as_view()),
    path("v3/documents/processing", supermemory_documents.SupermemoryProcessingView.as_view()),
    path("v3/documents/bulk", supermemory_documents.SupermemoryBulkView.as_view()),
    path("v3/documents/<str:name>", supermemory_documents.SupermemoryDocumentView.as_view()),
    path("chat/v2", supermemory_documents.SupermemoryChatView.as_view()),
    path("v3/search", supermemory_documents.SupermemorySearchView.as_view()),
    path("v3/connections/list", supermemory_documents.NoConnectionsView.as_view()),
    path("v4/search", supermemory_memories.SupermemoryRecallView.as_view()),
    path("v4/profile", supermemory_memories.SupermemoryProfileView.as_view()),
    path("v4/memories", supermemory_memories.SupermemoryMemoriesView.as_view()),
    path("api/v2/health", memmachine_routes.HealthView.as_view()),
    path("api/v2/projects", memmachine_routes.ProjectsView.as_view()),
    path("api/v2/projects/get", memmachine_routes.ProjectView.as_view()),
    path("api/v2/projects/list", memmachine_routes.ListProjectsView.as_view()),
    path("api/v2/projects/delete", memmachine_routes.DeleteProjectView.as_view()),
    path("api/v2/projects/episode_count/get", memmachine_routes.EpisodeCountView.as_view()),
    path("api/v2/memories", memmachine_routes.MemoriesMemMachineView.as_view()),
    path("api/v2/memories/search", memmachine_routes.SearchMemMachineView.as_view()),
    path("api/v2/memories/list", memmachine_routes.ListMemMachineView.as_view()),
    path("api/v2/memories/episodic/delete", memmachine_routes.DeleteEpisodicView.as_view()),
    path("api/v2/memories/semantic/delete", memmachine_routes.DeleteSemanticView.as_view()),
    path("api/v2/memories/semantic/feature", memmachine_routes.AddFeatureView.as_view()),
    path("api/v2/memories/semantic/feature/get", memmachine_routes.ReadFeatureView.as_view()),
    path(
        "api/v2/memories/semantic/feature/update",
        memmachine_routes.UpdateFeatureView.as_view(),
    ),
    path("api/v2/memories/semantic/set_id/get", memmachine_routes.SetOfUserView.as_view()),
    path("api/v2/memories/semantic/set_id/list", memmachine_routes.SetsOfUsersView.as_view()),
    *(
        path(f"{prefix}/<path:rest>", UnknownView.as_view())
        # The last two are mem0's, for its projects and webhooks.
        for prefix in (
            "v1",
            "v2",
            "v3",
            "v4",
            "chat",
            "api/v2",
            "api/v1/orgs",
            "api/v1/webhooks",
        )  # fmt: skip
    ),
]
