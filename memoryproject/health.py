"""For those who watch the server: is the process alive, and can it do its work?"""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse


def live(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


def ready(request: HttpRequest) -> JsonResponse:
    """The database answers and has the tables of this version; 503 with the reason otherwise."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return not_ready(f"database: {str(error).strip()}")
    if missing:
        return not_ready(f"{len(missing)} migrations are not applied")
    return JsonResponse({"status": "ok"})


def not_ready(reason: str) -> JsonResponse:
    problem = {"type": "about:blank", "title": "Not ready", "status": 503, "detail": reason}
    return JsonResponse(problem, status=503, content_type="application/problem+json")
