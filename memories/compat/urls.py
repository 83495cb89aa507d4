"""The routes of other servers, below the root. They are in no schema, so the check that workspaces
are isolated reads them here."""

from django.urls import path

from memories.compat import mem0, memmachine, supermemory
from memories.compat.client_view import UnknownView

urlpatterns = [
    path("v1/ping/", mem0.PingView.as_view()),
    path("v3/memories/add/", mem0.AddView.as_view()),
    path("v1/memories/", mem0.MemoriesMem0View.as_view()),
    *(path(f"{version}/memories/search/", mem0.SearchMem0View.as_view()) for version in ("v1", "v2", "v3")),
    path("v2/memories/", mem0.ListMem0View.as_view()),
    path("v3/memories/", mem0.ListMem0View.as_view()),
    path("v1/memories/<str:row>/", mem0.MemoryMem0View.as_view()),
    path("v1/memories/<str:row>/history/", mem0.HistoryMem0View.as_view()),
    path("v1/batch/", mem0.BatchMem0View.as_view()),
    path("v1/entities/", mem0.EntitiesMem0View.as_view()),
    *(path(f"{version}/entities/<str:kind>/<path:name>/", mem0.EntityMem0View.as_view()) for version in ("v1", "v2")),
    path("api/v1/orgs/organizations/<str:organisation>/projects/<str:project>/", mem0.Mem0ProjectView.as_view()),
    path("v3/documents", supermemory.SupermemoryDocumentsView.as_view()),
    path("v3/documents/file", supermemory.SupermemoryDocumentsView.as_view()),
    path("v3/documents/batch", supermemory.SupermemoryBatchView.as_view()),
    path("v3/documents/list", supermemory.SupermemoryListView.as_view()),
    path("v3/documents/processing", supermemory.SupermemoryProcessingView.as_view()),
    path("v3/documents/bulk", supermemory.SupermemoryBulkView.as_view()),
    path("v3/documents/<str:name>", supermemory.SupermemoryDocumentView.as_view()),
    path("chat/v2", supermemory.SupermemoryChatView.as_view()),
    path("v3/search", supermemory.SupermemorySearchView.as_view()),
    path("v3/connections/list", supermemory.NoConnectionsView.as_view()),
    path("v4/search", supermemory.SupermemoryRecallView.as_view()),
    path("v4/profile", supermemory.SupermemoryProfileView.as_view()),
    path("v4/memories", supermemory.SupermemoryMemoriesView.as_view()),
    path("api/v2/health", memmachine.HealthView.as_view()),
    path("api/v2/projects", memmachine.ProjectsView.as_view()),
    path("api/v2/projects/get", memmachine.ProjectView.as_view()),
    path("api/v2/projects/list", memmachine.ListProjectsView.as_view()),
    path("api/v2/projects/delete", memmachine.DeleteProjectView.as_view()),
    path("api/v2/projects/episode_count/get", memmachine.EpisodeCountView.as_view()),
    path("api/v2/memories", memmachine.MemoriesMemMachineView.as_view()),
    path("api/v2/memories/search", memmachine.SearchMemMachineView.as_view()),
    path("api/v2/memories/list", memmachine.ListMemMachineView.as_view()),
    path("api/v2/memories/episodic/delete", memmachine.DeleteEpisodicView.as_view()),
    path("api/v2/memories/semantic/delete", memmachine.DeleteSemanticView.as_view()),
    path("api/v2/memories/semantic/feature", memmachine.AddFeatureView.as_view()),
    path("api/v2/memories/semantic/feature/get", memmachine.ReadFeatureView.as_view()),
    path(
        "api/v2/memories/semantic/feature/update",
        memmachine.UpdateFeatureView.as_view(),
    ),
    path("api/v2/memories/semantic/set_id/get", memmachine.SetOfUserView.as_view()),
    path("api/v2/memories/semantic/set_id/list", memmachine.SetsOfUsersView.as_view()),
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
        )
    ),
]
