"""From messages to claims: patterns, then the configured models, each claim with its quotes."""

from memories.extraction.extract import ExtractionRun, extract, warm_up
from memories.extraction.quotes import find_quote
from memories.extraction.values import (
    Extraction,
    Message,
    Missed,
    Skip,
    Span,
    Wish,
    speaker_of,
    type_of,
    visibility_of,
)

__all__ = [
    "Extraction",
    "ExtractionRun",
    "Message",
    "Missed",
    "Skip",
    "Span",
    "Wish",
    "extract",
    "find_quote",
    "speaker_of",
    "type_of",
    "visibility_of",
    "warm_up",
]
