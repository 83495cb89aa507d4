"""From messages to claims: patterns, then the configured models, each claim with its quotes."""

from memories.reading.extraction.extract import ExtractionRun, extract, warm_up
from memories.reading.extraction.extraction_types import (
    Extraction,
    ExtractOptions,
    Message,
    Missed,
    Skip,
    Span,
    speaker_of,
    visibility_of,
)
from memories.reading.extraction.labelled_speakers import with_voices
from memories.reading.extraction.model_claims import find_quote
from memories.reading.extraction.play import without_play

__all__ = [
    "Extraction",
    "ExtractionRun",
    "Message",
    "Missed",
    "Skip",
    "Span",
    "ExtractOptions",
    "extract",
    "find_quote",
    "speaker_of",
    "visibility_of",
    "warm_up",
    "with_voices",
    "without_play",
]
