"""What each line of the log has, what the log leaves out, and signs that no line shows."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime

from memoryproject.postgres import visible

# Set while a request is answered; lines of the server's own have none.
request_id: ContextVar[str] = ContextVar("request_id", default="-")
# Answers of which one line is written by workspaces.middleware: Django's own says less.
NOTED = frozenset({401, 403, 429, 503})
LONGEST_PATH, LONGEST_MESSAGE = 200, 2000  # characters: whoever asks chooses how long a path is


def with_context(record: logging.LogRecord) -> bool:
    """Keeps every record, and adds which request it is about, and which workspace where the rows
    of one alone are visible. What Django logs about a request is written when it has been
    answered."""
    about = getattr(getattr(record, "request", None), "META", {})
    record.request_id = about.get("REQUEST_ID") or request_id.get()
    shown = visible.setting().strip("{}")
    workspace = "" if shown == visible.EVERYTHING or "," in shown else shown
    record.workspace_id, record.beside = workspace, f" [{workspace}]" if workspace else ""
    return True


def without_trace_of_refusals(record: logging.LogRecord) -> bool:
    """An answer below 500 is the asker's matter: one line tells it, and where in the code it was
    refused is of no use to the operator."""
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
    """`text` with escapes, as JSON has them, in place of signs that a terminal obeys, that end a
    line or that nobody sees; those of `keep` stay."""
    if text.isprintable():
        return text
    signs = (
        sign if sign.isprintable() or sign in keep else json.dumps(sign)[1:-1] for sign in text
    )
    return "".join(signs)


class TextLines(logging.Formatter):
    """A record in a line of printable signs. Only where something was raised others follow, which
    begin with blanks."""

    def format(self, record: logging.LogRecord) -> str:
        record.message, record.asctime = message_of(record), self.formatTime(record)
        lines = [self.formatMessage(record)]
        if record.exc_info:
            trace = self.formatException(record.exc_info).split("\n")
            lines += [f"    {line}" for line in trace]
        return "\n".join(map(printable, lines))


class JSONLines(logging.Formatter):
    """One JSON object in a line: `time` (ISO 8601, UTC), `level`, `logger`, `requestId` and
    `workspaceId` (null where there is none), `message`, and `trace` where something was raised."""

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
