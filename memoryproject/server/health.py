"""Health endpoints for monitoring: is the process alive, and can it do its work?"""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse

from memories.meters import health_parts
from memoryproject.server.machine_health import Part, State, database, dated, disk, migrations

# Parts that need the database are checked only if it answers.
ROWS: tuple[Callable[[], Part | Sequence[Part]], ...] = (migrations, *health_parts.PARTS)


def live(request: HttpRequest) -> JsonResponse:
    """Tell that the process answers; nothing else is checked."""
    return JsonResponse({"status": "ok"})


def ready(request: HttpRequest) -> JsonResponse:
    """Show the state of each part; 503 where one has failed."""
    found = parts()
    shown = {"parts": [shape(part) for part in found]}
    failed = [part for part in found if part.state == State.FAILED]
    if not failed:
        return JsonResponse({"status": "ok", **shown})
    problem = {
        "type": "about:blank",
        "title": "Not ready",
        "status": 503,
        "detail": "; ".join(f"{part.name}: {part.detail}" for part in failed),
        "code": "not_ready",
        "errors": [],
        **shown,
    }
    return JsonResponse(problem, status=503, content_type="application/problem+json")


def parts() -> list[Part]:
    found = [database(), disk()]
    if found[0].value:
        for part in ROWS:
            # A part whose rows cannot be read has failed: the database may have gone since.
            try:
                result = part()
            except DatabaseError as error:
                result = Part(part.__name__, State.FAILED, str(error).strip().partition("\n")[0])
            found += [result] if isinstance(result, Part) else result
    return dated(found)


def shape(part: Part) -> dict[str, Any]:
    since = part.since.isoformat() if part.since else None
    return {"name": part.name, "state": part.state, "since": since, "detail": part.detail}
