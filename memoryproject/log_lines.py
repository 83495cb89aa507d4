"""Log lines: their fields, what the log leaves out, and characters that are never shown."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime

from memoryproject.postgres import visible

# Set while a request is answered; the server's own lines have none.
request_id: ContextVar[str] = ContextVar("request_id", default="-")
# workspaces.middleware writes one line for each answer: Django's own says less.
NOTED = frozenset({401, 403, 429, 503})
LONGEST_PATH, LONGEST_MESSAGE = 200, 2000  # characters: callers choose how long a path is


def with_context(record: logging.LogRecord) -> bool:
    """Keep every record, and add its request, and its workspace where the rows of one alone are
    visible. Django logs a request only when it has been answered."""
    about = getattr(getattr(record, "request", None), "META", {})
    record.request_id = about.get("REQUEST_ID") or request_id.get()
    shown = visible.setting().strip("{}")
    workspace = "" if shown == visible.EVERYTHING or "," in shown else shown
    record.workspace_id, record.beside = workspace, f" [{workspace}]" if workspace else ""
    return True


def without_trace_of_refusals(record: logging.LogRecord) -> bool:
    """Drop the traceback of an answer below 500: it is the caller's matter, and one line reports
    it."""
    status = getattr(record, "status_code", 500)
    if record.name == "django.request" and status in NOTED:
        return False
    if status < 500:
        record.exc_info = record.exc_text = None
    return True


def message_of(record: logging.LogRecord) -> str:
    text = record.getMessage()
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…"


def printable(text: str, keep: str = "") -> str:
    """`text` with JSON escapes in place of characters that control a terminal, end a line or are
    invisible; those of `keep` stay."""
    if text.isprintable():
        return text
    signs = (sign if sign.isprintable() or sign in keep else json.dumps(sign)[1:-1] for sign in text)
    return "".join(signs)


class TextLines(logging.Formatter):
    """A record as one printable line. Only for an exception more lines follow, which begin with
    blanks."""

    def format(self, record: logging.LogRecord) -> str:
        record.message, record.asctime = message_of(record), self.formatTime(record)
        lines = [self.formatMessage(record)]
        if record.exc_info:
            trace = self.formatException(record.exc_info).split("\n")
            lines += [f"    {line}" for line in trace]
        return "\n".join(map(printable, lines))


class JSONLines(logging.Formatter):
    """A record as one JSON object in a line: `time` (ISO 8601, UTC), `level`, `logger`, `requestId`
    and `workspaceId` (null where there is none), `message`, and `trace` for an exception."""

    def format(self, record: logging.LogRecord) -> str:
        about = getattr(record, "request_id", "-")
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "requestId": None if about == "-" else about,
            "workspaceId": getattr(record, "workspace_id", "") or None,
            "message": message_of(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return printable(json.dumps(line, ensure_ascii=False))
