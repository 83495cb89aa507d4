"""Labelled lines of a file, stories of them told to a scratch workspace, and shares of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from memories import ingest
from memories.ingest import IngestRequest, NewMessage
from memories.models import MemorySession
from memories.transcripts import Unreadable
from workspaces.scope import Scope

Labelled = TypeVar("Labelled")


def read_lines(path: Path, make: Callable[[dict[str, Any]], Labelled], of: str, half: str = "") -> list[Labelled]:
    """Call `make` for each line of a JSONL file, or with `half` for the lines of that half alone.

    Raises Unreadable with the number of a line that is no `of`: it is no JSON, or `make` raises
    KeyError, TypeError or ValueError.
    """
    made = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not half or row.get("half") == half:
                made.append(make(row))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Unreadable(f"line {number} is no {of}: {error}") from error
    return made


def tell(scope: Scope, name: str, message: NewMessage) -> None:
    """Say one thing, to the subject and in the thread of that name; it is learned from at once, by
    patterns."""
    request = IngestRequest(
        messages=(message,),
        user_id=name,
        thread_id=name,
        extract=MemorySession.Extract.PATTERNS,
    )
    session = ingest.ingest(scope, request)
    if not session.is_final:
        ingest.run(session.pk)


def share(part: float, whole: float) -> float:
    """Return part / whole; 0 of nothing."""
    return part / whole if whole else 0.0
