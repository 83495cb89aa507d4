"""The audit log as a file, streamed: CSV for tables, JSONL for programs."""

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet

from workspaces.adminbase.actors import names_of
from workspaces.models import AuditEntry

CHUNK = 2_000
COLUMNS = (
    "id", "at", "workspace", "actor", "actor_name", "action", "target_kind", "target_id",
    "subject_id", "reason", "before", "after",
)  # fmt: skip
# A spreadsheet would take a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def as_csv(lines: QuerySet[AuditEntry]) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield writer.writerow(COLUMNS)
    for record in _records(lines):
        yield writer.writerow(_cell(record[name]) for name in COLUMNS)


def as_jsonl(lines: QuerySet[AuditEntry]) -> Iterator[str]:
    for record in _records(lines):
        yield json.dumps(record, ensure_ascii=False) + "\n"


FORMATS: dict[str, tuple[str, Callable[[QuerySet[AuditEntry]], Iterator[str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/x-ndjson", as_jsonl),
}


def _records(lines: QuerySet[AuditEntry]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    for line in lines.select_related("workspace").iterator(chunk_size=CHUNK):
        if line.actor not in names:
            names |= names_of([line.actor])
        yield {
            "id": str(line.pk),
            "at": line.created_at.isoformat(),
            "workspace": line.workspace.slug,
            "actor": line.actor,
            "actor_name": names.get(line.actor, line.actor),
            "action": line.action,
            "target_kind": line.target_kind,
            "target_id": str(line.target_id),
            "subject_id": str(line.subject_id) if line.subject_id else None,
            "reason": line.reason,
            "before": line.before,
            "after": line.after,
        }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(FORMULA) else text
