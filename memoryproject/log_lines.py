"""What the log leaves out."""

import logging


def without_trace_of_refusals(record: logging.LogRecord) -> bool:
    """Keeps every record. An answer below 500 is the asker's matter: one line tells it, and where
    in the code it was refused is of no use to the operator."""
    if getattr(record, "status_code", 500) < 500:
        record.exc_info = record.exc_text = None
    return True
